// The registry: what is registered, and how a call runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { CallError, OperationRegistry, ToolwireError, localEnvelope } = toolwire;

const NUMBER = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };

/** A registry with one operation. */
function registryWith(id, members, handler, options) {
  const registry = new OperationRegistry(options);
  registry.register(spec(id, members), handler);
  return registry;
}

const ids = (registry, options) =>
  registry.list(options).map(({ namespace, name }) => `${namespace}.${name}`);

test("AT-080: an operation is found with its handler, a specification without", () => {
  const registry = new OperationRegistry();
  const handler = () => 1;
  const given = spec("test.op", { title: "T", tags: ["x"], _meta: { a: 1 } });
  registry.register(given, handler);
  assert.deepEqual(registry.getSpec("test.op"), given);
  assert.equal("handler" in registry.getSpec("test.op"), false);
  assert.deepEqual(registry.get("test.op"), { ...given, handler });
  assert.deepEqual(registry.getByName("test", "op"), { ...given, handler });
  registry.registerSpec(spec("test.a.b"));
  assert.equal(registry.getByName("test", "a.b").name, "a.b");
  assert.equal(registry.getByName("test.a", "b"), undefined);
  assert.equal(registry.getHandler("test.op"), handler);
  registry.registerSpec(spec("test.bare"));
  assert.ok("handler" in registry.get("test.bare"));
  assert.equal(registry.getHandler("test.bare"), undefined);
  for (const id of ["test.none", "none", "", 3, undefined]) {
    assert.equal(registry.get(id), undefined);
    assert.equal(registry.getSpec(id), undefined);
    assert.equal(registry.getHandler(id), undefined);
  }
  given.title = "changed";
  assert.equal(registry.getSpec("test.op").title, "T");
  registry.register({ ...spec("test.own"), handler });
  assert.equal(registry.getHandler("test.own"), handler);
});

test("AT-081: an id is taken until it is replaced, and replacing drops the handler", async () => {
  const registry = registryWith("ns.op", {}, () => "old");
  const error = await failure(() => registry.register(spec("ns.op"), () => "new"));
  assert.ok(error instanceof ToolwireError);
  assert.deepEqual(
    [error.code, error.reason, error.operation],
    ["invalid_arguments", "operation_exists", "ns.op"],
  );
  assert.equal((await registry.execute("ns.op")).data, "old");
  registry.register(spec("ns.op"), () => "new", { replace: true });
  assert.equal((await registry.execute("ns.op")).data, "new");
  const bound = await failure(() => registry.registerHandler("ns.op", () => "late"));
  assert.equal(bound.reason, "operation_bound");
  registry.registerHandler("ns.op", () => "late", { replace: true });
  assert.equal((await registry.execute("ns.op")).data, "late");
  const unknown = await failure(() => registry.registerHandler("ns.none", () => 1));
  assert.equal(unknown.reason, "operation_unknown");
});

test("AT-082: a specification that replaces another does not run its handler", async () => {
  const registry = registryWith("ns.op", {}, () => "old");
  assert.equal((await failure(() => registry.registerSpec(spec("ns.op")))).code, "invalid_arguments");
  registry.registerSpec(spec("ns.op", { inputSchema: NUMBER }), { replace: true });
  const error = await failure(registry.execute("ns.op", { a: 1 }));
  assert.equal(error.code, "OPERATION_NOT_FOUND");
  registry.registerHandler("ns.op", () => "bound");
  assert.equal((await registry.execute("ns.op", { a: 1 })).data, "bound");
});

test("AT-084, AT-378: handlers fit their type, or nothing is registered", async () => {
  const registry = new OperationRegistry();
  async function once() {}
  async function* stream() {}
  function* generator() {}
  const plain = () => {};
  for (const [type, handler, fits] of [
    ["query", once, true],
    ["mutation", plain, true],
    ["query", stream, false],
    ["mutation", generator, false],
    ["subscription", stream, true],
    ["subscription", plain, true],
    ["subscription", stream.bind(null), true],
    ["subscription", (...input) => stream(...input), true],
    ["subscription", once, false],
    ["publish", plain, false],
    ["query", 3, false],
    ["query", null, true],
  ]) {
    const attempt = () => registry.register(spec("ns.op", { type }), handler);
    if (fits) {
      attempt();
      assert.equal(registry.unregister("ns.op"), true);
    } else {
      const error = await failure(attempt);
      assert.deepEqual([error.reason, error.option], ["operation_handler", "handler"], type);
    }
    assert.deepEqual(registry.list(), []);
  }
  registry.register(spec("ns.op", { type: "publish" }));
  const error = await failure(() => registry.registerHandler("ns.op", plain));
  assert.equal(error.reason, "operation_handler");
});

test("AT-086: operations are listed in the order of registration", () => {
  const registry = new OperationRegistry();
  registry.registerAll(["b.1", "a.2", "c.3"].map((id) => spec(id)));
  registry.registerSpec(spec("a.2", { title: "again" }), { replace: true });
  for (let round = 0; round < 2; round += 1) {
    assert.deepEqual(ids(registry), ["b.1", "a.2", "c.3"]);
    assert.deepEqual(ids(registry, { identity: null }), ["b.1", "a.2", "c.3"]);
  }
});

test("AT-087, AT-094: ids lead back to one operation", async () => {
  const registry = new OperationRegistry();
  for (const [namespace, option] of [
    ["a.b", "namespace"],
    ["a/b", "namespace"],
    ["", "namespace"],
    [undefined, "namespace"],
  ]) {
    const error = await failure(() => registry.register({ ...spec("x.c"), namespace }, () => 1));
    assert.deepEqual([error.reason, error.option], ["spec_member", option]);
  }
  registry.register({ ...spec("x.y"), namespace: "a", name: "b.c" }, () => "dotted");
  assert.equal((await registry.execute("a.b.c")).data, "dotted");
  assert.equal(registry.get("list"), undefined);
  assert.equal((await failure(registry.execute("list"))).code, "OPERATION_NOT_FOUND");
});

test("AT-088, AT-089: a schema that does not compile is refused, named, with the reason", async () => {
  const registry = new OperationRegistry();
  for (const [members, reason, option, at] of [
    [{ inputSchema: "not a schema" }, "not_a_schema", "inputSchema", "/inputSchema"],
    [{ inputSchema: { required: "n" } }, "invalid_keyword", "inputSchema", "/inputSchema/required"],
    [{ outputSchema: { $ref: "#/x" } }, "unresolved_ref", "outputSchema", "/outputSchema/$ref"],
  ]) {
    const error = await failure(() => registry.register(spec("ns.op", members), () => 1));
    assert.ok(error instanceof ToolwireError);
    assert.deepEqual(
      [error.code, error.reason, error.operation, error.option, error.at],
      ["schema_error", reason, "ns.op", option, at],
    );
    assert.match(error.message, new RegExp(`Operation "ns.op", ${option}: `));
  }
  assert.deepEqual(registry.list(), []);
});

test("AT-093, AT-209: a slash reads as the dot, a leading one is ignored", async () => {
  const registry = registryWith("fs.readFile", {}, () => 1);
  for (const id of ["fs.readFile", "fs/readFile", "/fs/readFile", "/fs.readFile"]) {
    assert.equal(registry.getSpec(id).namespace, "fs");
    assert.equal((await registry.execute(id)).meta.operationId, "fs.readFile");
  }
});

test("AT-095: a hidden operation is unknown to whoever is named, be it nobody", async () => {
  const registry = registryWith("secret.op", { visibility: "internal" }, () => "ran");
  for (const named of [identity("admin"), undefined, null]) {
    const error = await failure(registry.execute("secret.op", {}, { identity: named }));
    assert.deepEqual(error.toJSON(), {
      code: "OPERATION_NOT_FOUND",
      message: "operation not found: secret.op",
      retryable: false,
      details: { operationId: "secret.op" },
    });
    const unknown = await failure(registry.execute("secret.none", {}, { identity: named }));
    assert.equal(
      JSON.stringify(unknown).replaceAll("secret.none", "secret.op"),
      JSON.stringify(error),
    );
  }
  // The host itself, acting for nobody.
  assert.equal((await registry.execute("secret.op")).data, "ran");
  assert.deepEqual(ids(registry), ["secret.op"]);
  assert.deepEqual(ids(registry, { identity: identity("admin") }), []);
  assert.deepEqual(ids(registry, { identity: undefined }), []);
});

test("AT-096: access is checked before the input", async () => {
  const members = { accessControl: { requiredScopes: ["a"] }, inputSchema: NUMBER };
  const registry = registryWith("ns.op", members, () => assert.fail("ran"));
  assert.equal((await failure(registry.execute("ns.op", { a: "x" }))).code, "ACCESS_DENIED");
});

test("AT-097: an operation is called as its type is", async () => {
  const registry = new OperationRegistry();
  registry.register(spec("ns.ticks", { type: "subscription" }), async function* () {});
  registry.register(spec("ns.ask"), () => 1);
  registry.register(spec("ns.take", { type: "publish" }));
  for (const attempt of [
    () => registry.execute("ns.ticks", {}),
    () => collect(registry.subscribe("ns.ask", {})),
    () => registry.execute("ns.take", {}),
    () => collect(registry.subscribe("ns.take", {})),
  ]) {
    const error = await failure(attempt);
    assert.deepEqual([error.code, error.retryable], ["INVALID_OPERATION_TYPE", false]);
  }
});

test("AT-099: a refused input is located and not told", async () => {
  const registry = registryWith("ns.op", { inputSchema: NUMBER }, () => assert.fail("ran"));
  const error = await failure(registry.execute("ns.op", { a: "x", secret: "S" }));
  assert.ok(error instanceof CallError);
  assert.deepEqual([error.code, error.retryable], ["VALIDATION_ERROR", false]);
  assert.deepEqual(
    error.details.errors.map(({ instancePath, schemaPath, keyword }) => ({
      instancePath,
      schemaPath,
      keyword,
    })),
    [{ instancePath: "/a", schemaPath: "/properties/a/type", keyword: "type" }],
  );
  assert.equal(error.details.operationId, "ns.op");
  assert.ok(!JSON.stringify(error).includes('"S"') && !JSON.stringify(error).includes('"x"'));
  for (const input of [undefined, () => 1, new Date(0), { a: { b: Symbol("s") } }, { a: NaN }]) {
    const refused = await failure(registry.execute("ns.op", input));
    assert.equal(refused.code, "VALIDATION_ERROR");
    assert.equal(refused.details.errors[0].keyword, "json");
  }
});

test("AT-101: output that violates its schema is handed on and reported", async () => {
  const outputSchema = { type: "object", properties: { a: { minimum: 5 } }, required: ["a"] };
  const registry = registryWith("ns.op", { outputSchema }, () => ({ a: 1 }));
  const warnings = [];
  registry.onWarning(() => {
    throw new Error("a listener's own affair");
  });
  const off = registry.onWarning((event) => warnings.push(event));
  const data = { a: 1 };
  registry.registerHandler("ns.op", () => data, { replace: true });
  const envelope = await registry.execute("ns.op", {}, { requestId: "r" });
  assert.deepEqual(envelope.data, { a: 1 });
  const [warning] = warnings;
  assert.deepEqual(
    [warning.type, warning.operationId, warning.requestId, warning.verdict],
    ["output", "ns.op", "r", "invalid"],
  );
  assert.equal(warning.errors[0].instancePath, "/a");
  off();
  await registry.execute("ns.op");
  assert.equal(warnings.length, 1);
});

test("AT-102: a domain code passes, declared or not; its details are judged if declared", async () => {
  const thrown = new CallError({ code: "WEIRD", message: "m", retryable: true, details: { n: "x" } });
  const registry = registryWith("ns.op", {}, () => {
    throw thrown;
  });
  assert.equal(await failure(registry.execute("ns.op")), thrown);
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  const schema = { type: "object", properties: { n: { type: "integer" } } };
  registry.register(
    spec("ns.declared", { errorSchemas: [{ code: "WEIRD", description: "d", schema }] }),
    () => {
      throw thrown;
    },
  );
  // The error stays what the handler said: a mismatch is reported, as a mismatch of output is.
  assert.equal(await failure(registry.execute("ns.declared")), thrown);
  const [warning] = warnings;
  assert.deepEqual(
    [warning.type, warning.operationId, warning.code, warning.verdict],
    ["error_details", "ns.declared", "WEIRD", "invalid"],
  );
  assert.deepEqual(warning.errors[0].params, { type: "integer" });
  registry.registerHandler("ns.declared", () => {
    throw new Error("WEIRD: said so");
  }, { replace: true });
  const named = await failure(registry.execute("ns.declared"));
  assert.deepEqual([named.code, named.message], ["WEIRD", "WEIRD: said so"]);
});

test("AT-356: types are four words, and no others", async () => {
  const registry = new OperationRegistry();
  for (const type of ["query", "mutation", "subscription", "publish"]) {
    registry.register(spec(`ns.${type}`, { type }));
  }
  for (const type of ["sub", "pub", "Query", "", null]) {
    const error = await failure(() => registry.register(spec("ns.op", { type })));
    assert.deepEqual([error.reason, error.option], ["spec_member", "type"]);
  }
  assert.equal(registry.list().length, 4);
});

test("AT-358, AT-359: what a specification may leave out, and what not", async () => {
  const registry = new OperationRegistry();
  registry.register(spec("ns.least"));
  registry.register(spec("ns.e", { errorSchemas: [{ code: "E", description: "d", schema: {} }] }));
  for (const name of [
    ...["namespace", "name", "version", "description", "type", "inputSchema", "accessControl"],
  ]) {
    const { [name]: _, ...rest } = spec("ns.op");
    const error = await failure(() => registry.register(rest));
    assert.deepEqual([error.code, error.reason, error.option], ["invalid_arguments", "spec_member", name]);
  }
  for (const entry of [
    { description: "d", schema: {} },
    { code: "E", schema: {} },
    { code: "E", description: "d", schema: {}, httpStatus: "404" },
  ]) {
    const error = await failure(() => registry.register(spec("ns.op", { errorSchemas: [entry] })));
    assert.equal(error.option, "errorSchemas");
  }
  const misspelt = await failure(() => registry.register(spec("ns.op", { visiblity: "internal" })));
  assert.deepEqual([misspelt.reason, misspelt.target], ["spec_unknown", "visiblity"]);
  for (const value of [undefined, null, 3, "ns.op"]) {
    assert.equal((await failure(() => registry.register(value))).code, "invalid_arguments");
  }
  assert.deepEqual(ids(registry), ["ns.least", "ns.e"]);
});

test("AT-363: a list is registered whole, in order, or not at all", async () => {
  const registry = new OperationRegistry();
  const handler = () => 1;
  const bad = spec("c.3", { inputSchema: { type: "x" } });
  for (const last of [bad, spec("a.1"), { ...spec("d.4", { type: "publish" }), handler }]) {
    const list = [{ ...spec("a.1"), handler }, spec("b.2"), last];
    const error = await failure(() => registry.registerAll(list));
    assert.equal(error.index, 2);
    assert.deepEqual(registry.list(), []);
  }
  registry.registerAll([{ ...spec("a.1"), handler }, spec("b.2")]);
  assert.deepEqual(ids(registry), ["a.1", "b.2"]);
  assert.equal(registry.getHandler("a.1"), handler);
});

test("AT-371: the package loads without adapters", () => {
  // Entries and their platforms: tests/packaging and entries.test.mjs. Here: it is in the root.
  assert.equal(typeof OperationRegistry, "function");
  assert.equal(typeof toolwire.buildEnv, "function");
});

test("the handler's return is captured, wrapped, normalized, validated", async () => {
  const registry = new OperationRegistry({ now: () => 7, newId: () => "id" });
  let seen;
  registry.register(spec("ns.op", { inputSchema: NUMBER, outputSchema: NUMBER }), (input, context) => {
    seen = { input, context };
    return { a: input.a + 1 };
  });
  const envelope = await registry.execute("ns.op", { a: 1 }, { metadata: { k: 1 }, trusted: true });
  assert.deepEqual(envelope, {
    data: { a: 2 },
    meta: { source: "local", operationId: "ns.op", timestamp: 7 },
  });
  assert.deepEqual(Object.keys(seen.context).sort(), ["metadata", "requestId", "signal"]);
  assert.equal(seen.context.requestId, "id");
  assert.equal(seen.context.signal.aborted, false);
  for (const returned of [undefined, null, 0, "", [1], Promise.resolve(5)]) {
    registry.register(spec("ns.any"), () => returned, { replace: true });
    const { data, meta } = await registry.execute("ns.any");
    assert.equal(data, await returned);
    assert.equal(meta.source, "local");
  }
});

test("adapter envelopes pass through", async () => {
  const registry = new OperationRegistry();
  for (const returned of [
    localEnvelope({ t: 1 }, "other.op", 3),
    { data: "body", meta: { source: "http", statusCode: 200, headers: {}, contentType: "text/plain" } },
    { data: { t: 1 }, meta: { source: "mcp", isError: true, content: [] } },
  ]) {
    registry.register(spec("ns.op"), async () => returned, { replace: true });
    assert.equal(await registry.execute("ns.op"), returned);
  }
  const wrapping = new OperationRegistry({ wrapAlways: true });
  const lookalike = { data: 1, meta: { source: "mcp", isError: false, content: [] } };
  wrapping.register(spec("ns.op"), () => lookalike);
  assert.equal((await wrapping.execute("ns.op")).data, lookalike);
});

test("input that is judged arrives as it was judged, input that is not by reference", async () => {
  let seen;
  const registry = registryWith("ns.any", {}, (input) => {
    seen = input;
  });
  const live = { f() {}, at: new Date(0) };
  await registry.execute("ns.any", live);
  assert.equal(seen, live);
  const take = (input) => {
    seen = input;
  };
  registry.register(spec("ns.judged", { inputSchema: { type: "object" } }), take);
  const input = { a: [1], __proto__: null, u: undefined };
  await registry.execute("ns.judged", input);
  assert.deepEqual(seen, { a: [1] });
  assert.notEqual(seen.a, input.a);
  await registry.execute("ns.judged", { n: 12345678901234567890n });
  assert.deepEqual(seen, { n: 12345678901234567890n });
  let reads = 0;
  const twoFaced = new Proxy(
    { a: 1 },
    {
      getOwnPropertyDescriptor: (target, key) => ({
        ...Reflect.getOwnPropertyDescriptor(target, key),
        value: (reads += 1) === 1 ? 1 : "changed",
      }),
    },
  );
  registry.register(spec("ns.number", { inputSchema: NUMBER }), take);
  await registry.execute("ns.number", twoFaced);
  assert.deepEqual(seen, { a: 1 });
});

test("exceptions become call errors", async () => {
  const registry = registryWith("ns.op", {}, undefined);
  for (const [thrown, code, message] of [
    [new Error("boom"), "EXECUTION_ERROR", "boom"],
    [42, "UNKNOWN_ERROR", "42"],
    [undefined, "UNKNOWN_ERROR", "undefined"],
    [new ToolwireError({ code: "timeout", message: "late" }), "TIMEOUT", "late"],
  ]) {
    for (const handler of [
      () => {
        throw thrown;
      },
      () => Promise.reject(thrown),
    ]) {
      registry.registerHandler("ns.op", handler, { replace: true });
      const error = await failure(registry.execute("ns.op"));
      assert.ok(error instanceof CallError);
      assert.deepEqual([error.code, error.message], [code, message]);
    }
  }
});

test("a handler that never settles is left behind", async () => {
  let told;
  const registry = registryWith("ns.op", {}, (_, { signal }) => {
    signal.addEventListener("abort", () => {
      told = signal.reason;
    });
    return new Promise(() => {});
  });
  const controller = new AbortController();
  const running = failure(registry.execute("ns.op", {}, { signal: controller.signal }));
  controller.abort();
  const error = await running;
  assert.deepEqual([error.code, error.retryable], ["ABORTED", false]);
  assert.equal(told, error);
  const late = await failure(registry.execute("ns.op", {}, { signal: controller.signal }));
  assert.equal(late.code, "ABORTED");
  const given = new CallError({ code: "TIMEOUT", message: "elsewhere" });
  const timed = registry.execute("ns.op", {}, { signal: AbortSignal.abort(given) });
  assert.equal(await failure(timed), given);
  const dead = await failure(registry.execute("ns.op", {}, { deadline: Date.now() + 20 }));
  assert.deepEqual([dead.code, dead.retryable], ["TIMEOUT", true]);
  for (const deadline of [0, -5]) {
    assert.equal((await failure(registry.execute("ns.op", {}, { deadline }))).code, "TIMEOUT");
  }
  for (const context of [{ signal: 3 }, { deadline: "soon" }, { deadline: NaN }]) {
    const refused = await failure(registry.execute("ns.op", {}, context));
    assert.equal(refused.details.code, "invalid_arguments");
  }
});

test("a handler that is aborted before it starts is not run", async () => {
  const registry = registryWith("ns.op", {}, () => assert.fail("ran"));
  const error = await failure(registry.execute("ns.op", {}, { signal: AbortSignal.abort() }));
  assert.equal(error.code, "ABORTED");
});

test("hostile results cost their call alone", async () => {
  const registry = registryWith("ns.op", { outputSchema: NUMBER }, undefined);
  const fail = () => {
    throw new Error("hostile");
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const returned of [
    Object.defineProperty({}, "a", { get: fail, enumerable: true }),
    Object.defineProperty({ data: 1 }, "meta", { get: fail, enumerable: true }),
    new Proxy({}, { ownKeys: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail }),
    new Map(),
  ]) {
    registry.registerHandler("ns.op", () => returned, { replace: true });
    assert.equal((await registry.execute("ns.op")).data, returned);
  }
  for (const handler of [
    () => ({ then: fail }),
    () => proxy,
    () => Promise.reject(proxy),
    () => {
      throw new Proxy({}, { get: fail, getPrototypeOf: fail });
    },
  ]) {
    registry.registerHandler("ns.op", handler, { replace: true });
    const error = await failure(registry.execute("ns.op"));
    assert.ok(["EXECUTION_ERROR", "UNKNOWN_ERROR"].includes(error.code));
    assert.equal(typeof JSON.stringify(error), "string");
  }
  registry.registerHandler("ns.op", () => ({ a: 1 }), { replace: true });
  assert.equal((await registry.execute("ns.op")).data.a, 1);
});

test("a subscription's items go through the same pipeline", async () => {
  const registry = new OperationRegistry({ now: () => 9 });
  const passing = localEnvelope({ a: 0 }, "ns.other", 1);
  const warnings = [];
  registry.onWarning(({ verdict }) => warnings.push(verdict));
  const outputSchema = { type: "object", properties: { a: { maximum: 5 } } };
  registry.register(spec("ns.ticks", { type: "subscription", outputSchema }), async function* () {
    yield { a: 1 };
    yield passing;
    yield { a: 6 };
  });
  const items = await collect(registry.subscribe("ns.ticks"));
  assert.deepEqual(items[0].meta, { source: "local", operationId: "ns.ticks", timestamp: 9 });
  assert.equal(items[1], passing);
  assert.deepEqual(items[2].data, { a: 6 });
  assert.deepEqual(warnings, ["invalid"]);
});

test("any async iterable is a subscription, anything else a failure", async () => {
  const registry = new OperationRegistry();
  async function* source() {
    yield 1;
  }
  const byHand = () => {
    let left = 1;
    return {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: left-- === 0, value: 1 }),
      }),
    };
  };
  for (const handler of [source, byHand, () => source(), () => Promise.resolve(source())]) {
    registry.register(spec("ns.s", { type: "subscription" }), handler, { replace: true });
    const items = await collect(registry.subscribe("ns.s"));
    assert.deepEqual(items.map(({ data }) => data), [1]);
  }
  for (const returned of [1, undefined, [1], { [Symbol.asyncIterator]: 3 }]) {
    registry.register(spec("ns.s", { type: "subscription" }), () => returned, { replace: true });
    const error = await failure(collect(registry.subscribe("ns.s")));
    assert.equal(error.code, "EXECUTION_ERROR");
    assert.match(error.message, /async iterable/);
    assert.deepEqual(error.details, { operationId: "ns.s" });
  }
});

test("a subscription begins at the first pull and ends its source when it is left", async () => {
  const registry = new OperationRegistry();
  const events = [];
  registry.register(spec("ns.s", { type: "subscription" }), async function* (input, { signal }) {
    events.push("begun");
    signal.addEventListener("abort", () => events.push("aborted"));
    try {
      yield 1;
      yield 2;
    } finally {
      events.push("closed");
    }
  });
  registry.subscribe("ns.s");
  const items = registry.subscribe("ns.s");
  assert.deepEqual(events, []);
  for await (const item of items) {
    assert.equal(item.data, 1);
    break;
  }
  assert.deepEqual(events, ["begun", "aborted", "closed"]);
  assert.deepEqual(await items.next(), { value: undefined, done: true });
  events.length = 0;
  await collect(registry.subscribe("ns.s"));
  assert.deepEqual(events, ["begun", "closed"]);
});

test("a subscription that owes an item can be left and given up", async () => {
  const registry = new OperationRegistry();
  registry.register(spec("ns.s", { type: "subscription" }), async function* () {
    yield 1;
    await new Promise(() => {});
  });
  const items = registry.subscribe("ns.s");
  await items.next();
  const pending = items.next();
  await items.return();
  assert.equal((await pending).done, true);
  const controller = new AbortController();
  const { signal } = controller;
  const given = registry.subscribe("ns.s", {}, { signal });
  await given.next();
  const waiting = failure(given.next());
  controller.abort();
  assert.equal((await waiting).code, "ABORTED");
  assert.equal((await given.next()).done, true);
});

test("a subscription's failure is its last word", async () => {
  const registry = new OperationRegistry();
  const errorSchemas = [{ code: "GONE", description: "d", schema: {} }];
  registry.register(spec("ns.s", { type: "subscription", errorSchemas }), async function* () {
    yield 1;
    throw new Error("GONE: away");
  });
  const items = registry.subscribe("ns.s");
  await items.next();
  assert.equal((await failure(items.next())).code, "GONE");
  assert.equal((await items.next()).done, true);
  assert.equal((await failure(collect(registry.subscribe("ns.none")))).code, "OPERATION_NOT_FOUND");
});

test("`cast` fills what is missing on execute, and says so", async () => {
  const outputSchema = {
    type: "object",
    properties: {
      result: { type: "string" },
      count: { type: "number" },
      unit: { type: "string", default: "ms" },
    },
    required: ["result", "count", "unit"],
  };
  const returned = Object.freeze({ result: "ok", more: 1 });
  const warnings = [];
  const data = async (options) => {
    const registry = registryWith("ns.op", { outputSchema }, () => returned, options);
    registry.onWarning((event) => warnings.push(event));
    return (await registry.execute("ns.op")).data;
  };
  assert.deepEqual(await data(), { result: "ok", more: 1, count: 0, unit: "ms" });
  assert.equal(warnings[0].verdict, "valid");
  assert.deepEqual(warnings[0].changes.map(({ path }) => path).sort(), ["/count", "/unit"]);
  assert.deepEqual(await data({ normalize: "defaults" }), { result: "ok", more: 1, unit: "ms" });
  assert.equal(await data({ normalize: "off" }), returned);
  assert.equal(warnings.at(-1).verdict, "invalid");
  assert.equal((await failure(data({ normalize: "some" }))).details.option, "normalize");
  // AT-047: what cannot be mended is handed on with the warning.
  const open = { type: "object", properties: { n: { type: "number", exclusiveMinimum: 0 } }, required: ["n"] };
  const registry = registryWith("ns.op", { outputSchema: open }, () => ({}));
  registry.onWarning((event) => warnings.push(event));
  assert.deepEqual((await registry.execute("ns.op")).data, { n: 0 });
  assert.equal(warnings.at(-1).verdict, "invalid");
  // AT-049: an envelope that is mended is a new one.
  const envelope = localEnvelope({}, "ns.other", 1);
  registry.registerHandler("ns.op", () => envelope, { replace: true });
  const mended = await registry.execute("ns.op");
  assert.deepEqual([mended.data, mended.meta, envelope.data], [{ n: 0 }, envelope.meta, {}]);
});

test("a thousand operations are listed in no time", () => {
  const registry = new OperationRegistry();
  const list = Array.from({ length: 1000 }, (_, index) =>
    spec(`ns.op${index}`, {
      inputSchema: NUMBER,
      accessControl: { requiredScopes: [`s${index % 10}`] },
    }),
  );
  registry.registerAll(list);
  const started = performance.now();
  for (let round = 0; round < 10; round += 1) {
    assert.equal(registry.list({ identity: identity("s1", "s2") }).length, 200);
    assert.equal(registry.list().length, 1000);
  }
  const spent = (performance.now() - started) / 10;
  assert.ok(spent < 100, `${spent} ms a list`);
});

test("a registry that was freed says so", async () => {
  const registry = registryWith("ns.op", { outputSchema: NUMBER }, () => ({ a: 1 }));
  registry.free();
  registry.free();
  for (const attempt of [
    () => registry.list(),
    () => registry.list({ identity: null }),
    () => registry.get("ns.op"),
    () => registry.register(spec("ns.b")),
  ]) {
    assert.equal((await failure(attempt)).code, "freed");
  }
  for (const attempt of [() => registry.execute("ns.op"), () => collect(registry.subscribe("ns.op"))]) {
    const error = await failure(attempt);
    assert.deepEqual([error.code, error.details.code], ["EXECUTION_ERROR", "freed"]);
  }
});

test("null in a context is nothing", async () => {
  const registry = registryWith("ns.op", {}, (_, context) => Object.keys(context).sort());
  const context = { requestId: null, parentRequestId: null, metadata: null, deadline: null, signal: null };
  assert.deepEqual((await registry.execute("ns.op", {}, context)).data, ["requestId", "signal"]);
});

test("options are refused by name", async () => {
  for (const option of ["now", "newId"]) {
    const error = await failure(() => new OperationRegistry({ [option]: 3 }));
    assert.equal(error.option, option);
  }
  const registry = new OperationRegistry();
  assert.equal((await failure(() => registry.onWarning(3))).option, "listener");
  assert.equal((await failure(() => registry.registerAll(3))).option, "list");
});

test("a schema of a library may carry symbols", async () => {
  const inputSchema = { ...NUMBER, [Symbol.for("TypeBox.Kind")]: "Object" };
  const registry = registryWith("ns.op", { inputSchema }, ({ a }) => a);
  assert.equal((await registry.execute("ns.op", { a: 3 })).data, 3);
  const error = await failure(() => registry.register(spec("ns.f", { inputSchema: { f() {} } })));
  assert.deepEqual([error.reason, error.option, error.operation], ["not_json", "inputSchema", "ns.f"]);
});
