// The serving side of the call protocol (spec rows ), over the registry.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { toolwire } from "./support/toolwire.mjs";

const {
  CallError,
  OperationRegistry,
  PendingRequestMap,
  buildCallHandler,
  buildEnv,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
} = toolwire;

const NUMBERS = { type: "object", properties: { v: { type: "integer" } }, required: ["v"] };

/** A registry with one operation, `ns.op`. */
function registryOf(handler, spec = {}) {
  const registry = new OperationRegistry();
  registry.register(specOf(spec), handler);
  return registry;
}

function specOf(spec = {}) {
  return {
    namespace: "ns",
    name: "op",
    version: "1.0.0",
    type: "query",
    description: "For tests.",
    inputSchema: {},
    outputSchema: {},
    accessControl: { requiredScopes: [] },
    ...spec,
  };
}

/** A served registry: what the handler publishes, and how an event is given to it. */
function served(registry, mapOptions = {}) {
  const events = [];
  const callMap = new PendingRequestMap({
    ...mapOptions,
    onEvent: (type, event) => {
      events.push({ type, ...event });
      return mapOptions.onEvent?.(type, event);
    },
  });
  const handler = buildCallHandler({ registry, callMap });
  const handle = (event) => handler({ requestId: "r", operationId: "ns.op", input: {}, ...event });
  return { events, callMap, handler, handle };
}

/** A caller and a server in one process, over one map. */
function connected(registry, options) {
  const events = [];
  const map = new PendingRequestMap({
    ...options,
    onEvent: (type, event) => {
      events.push({ type, ...event });
      if (type === "call.requested") {
        handler(event);
      }
    },
  });
  const handler = buildCallHandler({ registry, callMap: map });
  return { map, events, types: () => events.map(({ type }) => type) };
}

/** A promise that the handler of an operation settles by hand. */
function parts() {
  let resolve;
  let reject;
  const promise = new Promise((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

test("AT-150 exactly one call.responded, whose output is what execute gives", async () => {
  const registry = registryOf(() => ({ v: 1 }), { outputSchema: NUMBERS });
  const { events, handle } = served(registry);
  assert.equal(await handle(), undefined);
  const expected = await registry.execute("ns.op", {});
  assert.equal(events.length, 1);
  const { type, requestId, output } = events[0];
  assert.deepEqual([type, requestId], ["call.responded", "r"]);
  assert.deepEqual(output.data, expected.data);
  assert.deepEqual({ ...output.meta, timestamp: 0 }, { ...expected.meta, timestamp: 0 });
});

test("the handler's return is captured, wrapped, normalized, validated, published", async () => {
  const warnings = [];
  const registry = registryOf(() => ({ v: "7", extra: true }), { outputSchema: NUMBERS });
  registry.onWarning((warning) => warnings.push(warning));
  const { events, handle } = served(registry);
  await handle();
  const [{ type, output }] = events;
  assert.equal(type, "call.responded");
  assert.ok(isResponseEnvelope(output));
  assert.equal(output.meta.source, "local");
  assert.equal(output.meta.operationId, "ns.op");
  // What does not fit is replaced as TypeBox's cast does; undeclared members are kept.
  assert.deepEqual(output.data, { v: 0, extra: true });
  assert.equal(warnings.length, 1);
  assert.equal(warnings[0].operationId, "ns.op");
  assert.deepEqual(warnings[0].changes.map(({ path }) => path), ["/v"]);
});

test("adapter envelopes pass through", async () => {
  const content = [{ type: "text", text: "4" }];
  const envelope = mcpEnvelope({ words: 4 }, { isError: false, content });
  const { events, handle } = served(registryOf(() => envelope, { outputSchema: NUMBERS }));
  await handle();
  assert.equal(events[0].output, envelope);
  const { map } = connected(registryOf(() => envelope));
  assert.equal(await map.call("ns.op", {}), envelope);
});

test("AT-151 exceptions become call.error", async () => {
  for (const handler of [
    () => { throw new Error("x"); },
    async () => { throw new Error("x"); },
  ]) {
    const { events, handle } = served(registryOf(handler));
    assert.equal(await handle(), undefined);
    assert.equal(events.length, 1);
    const { type, requestId, code, message, retryable } = events[0];
    assert.deepEqual([type, requestId, code, message, retryable], ["call.error", "r", "EXECUTION_ERROR", "x", false]);
  }
});

test("declared errors keep their code, and call errors their details", async () => {
  const errorSchemas = [{ code: "GONE", description: "It is gone.", schema: {} }];
  const declared = served(registryOf(() => { throw new Error("GONE: long ago"); }, { errorSchemas }));
  await declared.handle();
  assert.deepEqual([declared.events[0].code, declared.events[0].message], ["GONE", "GONE: long ago"]);
  const details = { after: 3 };
  const own = served(registryOf(() => { throw new CallError({ code: "BUSY", message: "m", details, retryable: true }); }));
  await own.handle();
  assert.deepEqual(own.events, [
    { type: "call.error", requestId: "r", code: "BUSY", message: "m", details, retryable: true },
  ]);
});

test("AT-152 an operation that is not there", async () => {
  const { events, handle } = served(registryOf(() => 1));
  await handle({ operationId: "ns.missing" });
  assert.equal(events.length, 1);
  assert.deepEqual([events[0].type, events[0].code], ["call.error", "OPERATION_NOT_FOUND"]);
  assert.deepEqual(events[0].details, { operationId: "ns.missing" });
});

test("AT-153 a specification without a handler", async () => {
  const registry = new OperationRegistry();
  registry.registerSpec(specOf());
  const { events, handle } = served(registry);
  await handle();
  assert.deepEqual(events.map(({ type, code }) => [type, code]), [["call.error", "OPERATION_NOT_FOUND"]]);
});

test("AT-154 access is denied; nothing in an event makes it trusted", async () => {
  let ran = 0;
  const registry = registryOf(() => { ran += 1; }, { accessControl: { requiredScopes: ["a"] } });
  for (const event of [
    {},
    { trusted: true, context: { trusted: true } },
    { metadata: { trusted: true }, identity: { id: "u", scopes: ["b"], trusted: true } },
  ]) {
    const { events, handle } = served(registry);
    await handle(event);
    assert.deepEqual(events.map(({ type, code }) => [type, code]), [["call.error", "ACCESS_DENIED"]]);
  }
  assert.equal(ran, 0);
  const { events, handle } = served(registry);
  await handle({ identity: { id: "u", scopes: ["a"] } });
  assert.deepEqual([events[0].type, ran], ["call.responded", 1]);
});

test("an input that fails its schema is answered with VALIDATION_ERROR", async () => {
  const { events, handle } = served(registryOf(() => 1, { inputSchema: NUMBERS }));
  await handle({ input: { v: "x" } });
  assert.deepEqual(events.map(({ type, code }) => [type, code]), [["call.error", "VALIDATION_ERROR"]]);
});

test("AT-156 a result that is no JSON is answered with a clear code", async () => {
  const cycle = {};
  cycle.self = cycle;
  for (const [value, reason] of [
    [cycle, "cycle"],
    [{ n: 5n }, "bigint"],
    [() => 1, "function"],
    [{ deep: [{ f() {} }] }, "function"],
    [Symbol("s"), "symbol"],
    [{ ratio: NaN }, "non_finite"],
    [new (class { f = () => 1; })(), "function"],
    [{ toJSON() { throw new Error("no"); }, when: new Date(0) }, "function"],
  ]) {
    const { events, handle, callMap } = served(registryOf(() => value));
    assert.equal(await handle(), undefined);
    assert.equal(events.length, 1);
    const { type, code, details } = events[0];
    assert.deepEqual([type, code, details], ["call.error", "EXECUTION_ERROR", { operationId: "ns.op", reason }]);
    assert.equal(callMap.getPendingCount(), 0);
  }
  // What a transport can write is sent as it is.
  for (const value of [undefined, null, new Date(0), { a: [undefined] }, new (class { x = 1; })(), "", 0]) {
    const { events, handle } = served(registryOf(() => value));
    await handle();
    assert.equal(events[0].type, "call.responded");
  }
});

test("AT-362 the context carries what the event does, and a signal", async () => {
  let context;
  const { handle } = served(registryOf((_, given) => { context = given; }));
  const event = {
    parentRequestId: "p",
    identity: { id: "u", scopes: [] },
    metadata: { k: 1 },
  };
  await handle({ ...event, trusted: true });
  const { signal, env, ...rest } = context;
  assert.deepEqual(rest, { requestId: "r", ...event });
  assert.ok(signal instanceof AbortSignal);
  assert.ok(!signal.aborted);
  const deadline = Date.now() + 60_000;
  await handle({ deadline });
  assert.equal(context.deadline, deadline);
});

test("AT-134 metadata reaches the handler's context", async () => {
  const { map } = connected(registryOf((_, { metadata }) => metadata));
  const span = { trace: "t", started: new Date(0) };
  assert.deepEqual((await map.call("ns.op", {}, { metadata: span })).data, span);
});

test("call without a callMap returns the envelope and throws the mapped error", async () => {
  const errorSchemas = [{ code: "GONE", description: "It is gone.", schema: {} }];
  const registry = registryOf(
    ({ fail }) => {
      if (fail) {
        throw new Error("GONE: long ago");
      }
      return { v: 1 };
    },
    { errorSchemas },
  );
  const handler = buildCallHandler({ registry });
  const event = { requestId: "r", operationId: "ns.op", input: {} };
  const envelope = await handler(event);
  assert.ok(isResponseEnvelope(envelope));
  assert.deepEqual(envelope.data, { v: 1 });
  await assert.rejects(handler({ ...event, input: { fail: true } }), (error) => {
    assert.ok(error instanceof CallError);
    return error.code === "GONE";
  });
  await assert.rejects(handler({ ...event, operationId: "ns.missing" }), { code: "OPERATION_NOT_FOUND" });
  // Two with one id are two calls.
  assert.equal((await Promise.all([handler(event), handler(event)])).length, 2);
});

test("without a callMap too, deadlines hold and subscriptions are of another type", async () => {
  const handler = buildCallHandler({ registry: registryOf(() => new Promise(() => {})) });
  const event = { requestId: "r", operationId: "ns.op", input: {} };
  await assert.rejects(handler({ ...event, deadline: 0 }), { code: "TIMEOUT" });
  const alive = setTimeout(() => {}, 10_000);
  await assert.rejects(handler({ ...event, deadline: Date.now() + 10 }), { code: "TIMEOUT" });
  clearTimeout(alive);
  const ticks = registryOf(async function* () {}, { type: "subscription" });
  await assert.rejects(buildCallHandler({ registry: ticks })(event), { code: "INVALID_OPERATION_TYPE" });
});

test("a subscription responds for each item and completes", async () => {
  async function* ticks({ n }) {
    for (let v = 0; v < n; v += 1) {
      yield { v };
    }
  }
  const registry = registryOf(ticks, { type: "subscription", outputSchema: NUMBERS });
  const { events, handle } = served(registry);
  await handle({ input: { n: 3 } });
  assert.deepEqual(events.map(({ type }) => type), [...Array(3).fill("call.responded"), "call.completed"]);
  assert.deepEqual(events.slice(0, 3).map(({ output }) => output.data.v), [0, 1, 2]);
  const { map } = connected(registry);
  const data = [];
  for await (const item of map.subscribe("ns.op", { n: 4 })) {
    data.push(item.data.v);
  }
  assert.deepEqual(data, [0, 1, 2, 3]);
  assert.equal(map.getPendingCount(), 0);
});

test("a producer that throws ends with call.error and no call.completed", async () => {
  async function* failing() {
    yield 1;
    throw new Error("dry");
  }
  const { events, handle } = served(registryOf(failing, { type: "subscription" }));
  await handle();
  assert.deepEqual(events.map(({ type }) => type), ["call.responded", "call.error"]);
  assert.equal(events[1].message, "dry");
});

test("AT-136, AT-137 a consumer that breaks closes the producer", async () => {
  const closed = parts();
  let signal;
  async function* ticks(_, context) {
    ({ signal } = context);
    try {
      for (let v = 0; ; v += 1) {
        yield v;
        await pause(1);
      }
    } finally {
      closed.resolve();
    }
  }
  const { map, types } = connected(registryOf(ticks, { type: "subscription" }));
  for await (const { data } of map.subscribe("ns.op", {})) {
    if (data === 1) {
      break;
    }
  }
  assert.ok(signal.aborted);
  await closed.promise;
  assert.equal(types().filter((type) => type === "call.aborted").length, 1);
  assert.ok(!types().includes("call.completed") && !types().includes("call.error"));
  assert.equal(map.getPendingCount(), 0);
});

test("AT-144, AT-145, AT-146 subscribe runs each item through the pipeline", async () => {
  const envelope = localEnvelope({ v: 2 }, "ns.other", 1_700_000_000_000);
  const registry = registryOf(async function* () {
    yield { v: 1 };
    yield envelope;
    yield { v: "3", extra: true };
  }, { type: "subscription", outputSchema: NUMBERS });
  const before = Date.now();
  const items = [];
  for await (const item of registry.subscribe("ns.op", {})) {
    items.push(item);
  }
  assert.equal(items[0].meta.source, "local");
  assert.equal(items[0].meta.operationId, "ns.op");
  assert.ok(items[0].meta.timestamp >= before);
  assert.equal(items[1], envelope);
  assert.deepEqual(items[2].data, { v: 0, extra: true });
  const plain = registryOf(() => 5, { type: "subscription" });
  await assert.rejects(plain.subscribe("ns.op", {}).next(), (error) => {
    assert.equal(error.code, "EXECUTION_ERROR");
    return /async iterable/.test(error.message);
  });
});

test("call.aborted reaches the operation's signal, and nothing is answered", async () => {
  let context;
  const { events, callMap, handle } = served(registryOf((_, given) => {
    context = given;
    return new Promise(() => {});
  }));
  const done = handle();
  await turn();
  callMap.dispatch("call.aborted", { requestId: "r" });
  assert.ok(context.signal.aborted);
  assert.equal(context.signal.reason.code, "ABORTED");
  assert.equal(await done, undefined);
  assert.deepEqual(events, []);
});

test("what an operation does after it was given up is nobody's concern", async () => {
  for (const outcome of ["resolve", "reject"]) {
    const late = parts();
    const { events, callMap, handle } = served(registryOf(() => late.promise));
    const done = handle();
    await turn();
    callMap.dispatch("call.aborted", { requestId: "r" });
    await done;
    late[outcome](new Error("late"));
    await turn();
    assert.deepEqual(events, []);
  }
});

test("a deadline ends the operation with TIMEOUT on the serving side", async () => {
  let context;
  const { events, handle } = served(registryOf((_, given) => {
    context = given;
    return new Promise(() => {});
  }));
  const deadline = Date.now() + 250;
  const alive = setTimeout(() => {}, 10_000);
  await handle({ deadline });
  clearTimeout(alive);
  assert.ok(context.signal.aborted);
  assert.equal(context.signal.reason.code, "TIMEOUT");
  assert.deepEqual(events.map(({ type, code, retryable, details }) => [type, code, retryable, details]), [
    ["call.error", "TIMEOUT", true, { deadline }],
  ]);
});

test("a deadline that has passed runs nothing", async () => {
  let ran = 0;
  const { events, handle } = served(registryOf(() => { ran += 1; }));
  await handle({ deadline: 5 });
  assert.equal(ran, 0);
  assert.deepEqual(events.map(({ type, code }) => [type, code]), [["call.error", "TIMEOUT"]]);
});

test("in one map a call that times out stops its operation, and is settled once", async () => {
  let signal;
  const { map, types } = connected(registryOf((_, context) => {
    ({ signal } = context);
    return new Promise(() => {});
  }));
  await assert.rejects(map.call("ns.op", {}, { deadline: Date.now() + 250 }), { code: "TIMEOUT" });
  assert.ok(signal.aborted);
  await turn();
  assert.deepEqual(types(), ["call.requested", "call.aborted"]);
});

test("giving up a call gives up what its operation called", async () => {
  const registry = new OperationRegistry();
  const signals = [];
  registry.register(specOf({ name: "outer" }), (_, { requestId, signal }) => {
    signals.push(signal);
    return map.call("ns.inner", {}, { parentRequestId: requestId });
  });
  registry.register(specOf({ name: "inner" }), (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => {});
  });
  const { map, events } = connected(registry);
  const controller = new AbortController();
  const call = map.call("ns.outer", {}, { signal: controller.signal });
  while (signals.length < 2) {
    await pause(1);
  }
  assert.equal(map.getPendingCount(), 2);
  assert.equal(events[1].parentRequestId, events[0].requestId);
  controller.abort();
  await assert.rejects(call, { code: "ABORTED" });
  assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true]);
  assert.equal(map.getPendingCount(), 0);
  assert.equal(events.filter(({ type }) => type === "call.aborted").length, 2);
});

test("the serving side may give a request up: the caller is told", async () => {
  const { events, callMap, handle } = served(registryOf(() => new Promise(() => {})));
  const done = handle();
  callMap.abort("r");
  await done;
  assert.deepEqual(events, [{ type: "call.aborted", requestId: "r" }]);
});

test("an idle producer is stopped by the event's idleTimeout", async () => {
  const registry = registryOf(async function* () {
    yield 1;
    await new Promise(() => {});
  }, { type: "subscription" });
  const { events, handle } = served(registry);
  const alive = setTimeout(() => {}, 10_000);
  await handle({ idleTimeout: 250 });
  clearTimeout(alive);
  assert.deepEqual(events.map(({ type, code, details }) => [type, code, details]), [
    ["call.responded", undefined, undefined],
    ["call.error", "TIMEOUT", { idleTimeout: 250 }],
  ]);
});

test("a request that is delivered twice is answered once", async () => {
  let ran = 0;
  const { events, handle } = served(registryOf(async () => {
    ran += 1;
    await turn();
  }));
  const malformed = handle({ deadline: "soon" });
  await Promise.all([handle(), handle(), handle({ identity: "u" }), malformed]);
  assert.equal(ran, 1);
  assert.deepEqual(
    events.map(({ type, code }) => code ?? type),
    ["VALIDATION_ERROR", "call.responded"],
  );
});

test("a malformed request is answered if it has an id", async () => {
  const { events, callMap, handler, handle } = served(registryOf(() => 1));
  const hostile = new Proxy({}, { getOwnPropertyDescriptor() { throw new Error("no"); } });
  for (const [event, at] of [
    [{ operationId: undefined }, "/operationId"],
    [{ operationId: 5 }, "/operationId"],
    [{ deadline: "soon" }, "/deadline"],
    [{ idleTimeout: -1 }, "/idleTimeout"],
    [{ identity: "root" }, "/identity"],
    [{ identity: { id: "u", scopes: "all" } }, "/identity"],
    [{ identity: hostile }, "/identity"],
    [{ identity: { id: "u", scopes: hostile } }, "/identity"],
    [{ identity: { get id() { return "u"; }, scopes: [] } }, ""],
    [{ parentRequestId: 7 }, "/parentRequestId"],
    [{ metadata: "m" }, "/metadata"],
  ]) {
    await handle(event);
    const { type, requestId, code, details } = events.pop();
    assert.deepEqual([type, requestId, code, details], ["call.error", "r", "VALIDATION_ERROR", { at }]);
  }
  const before = callMap.ignored.malformed;
  const nameless = [undefined, null, 5, "r", {}, { requestId: 5 }, { requestId: "" }, hostile];
  for (const event of nameless) {
    assert.equal(await handler(event), undefined);
  }
  assert.deepEqual(events, []);
  assert.equal(callMap.ignored.malformed, before + nameless.length);
  const bare = buildCallHandler({ registry: registryOf(() => 1) });
  await assert.rejects(bare({ requestId: "r" }), { code: "VALIDATION_ERROR", details: { at: "/operationId" } });
  await assert.rejects(bare(null), { code: "VALIDATION_ERROR" });
});

test("the identity that is checked is the one that is passed on", async () => {
  let reads = 0;
  const scopes = new Proxy([], {
    get(target, name) {
      reads += name === "includes";
      return name === "includes" ? () => true : Reflect.get(target, name);
    },
  });
  const registry = registryOf(() => 1, { accessControl: { requiredScopes: ["admin"] } });
  const { events, handle } = served(registry);
  await handle({ identity: { id: "u", scopes } });
  assert.equal(events[0].code, "ACCESS_DENIED");
  assert.equal(reads, 0);
});

test("things that are no errors are thrown", async () => {
  const hostile = new Proxy({}, {
    get() { throw new Error("get"); },
    getPrototypeOf() { throw new Error("prototype"); },
    getOwnPropertyDescriptor() { throw new Error("descriptor"); },
  });
  for (const thrown of [42, undefined, null, "text", {}, hostile, Symbol("s"), 5n]) {
    const { events, handle } = served(registryOf(() => { throw thrown; }));
    await handle();
    assert.equal(events.length, 1);
    assert.deepEqual([events[0].type, events[0].code], ["call.error", "UNKNOWN_ERROR"]);
    JSON.stringify(events[0]);
  }
});

test("a transport that fails is told once more, and then left", async () => {
  for (const onEvent of [
    () => { throw new Error("down"); },
    async () => { throw new Error("down"); },
  ]) {
    const query = served(registryOf(() => 1), { onEvent });
    await query.handle();
    const ticks = registryOf(async function* () { yield 1; yield 2; }, { type: "subscription" });
    const stream = served(ticks, { onEvent });
    await stream.handle();
    assert.deepEqual(stream.events.map(({ type }) => type), ["call.responded", "call.error"]);
  }
});

test("a producer is asked for the next item when the transport has taken the last", async () => {
  const sent = [];
  let produced = 0;
  const registry = registryOf(async function* () {
    for (; produced < 3; produced += 1) {
      yield produced;
    }
  }, { type: "subscription" });
  const { handle } = served(registry, {
    onEvent: (type) => {
      if (type === "call.responded") {
        const taken = parts();
        sent.push(taken);
        return taken.promise;
      }
    },
  });
  const done = handle();
  for (let n = 0; n < 3; n += 1) {
    await pause(2);
    assert.deepEqual([sent.length, produced], [n + 1, n]);
    sent[n].resolve();
  }
  await done;
});

test("so many requests are served at once", async () => {
  const waiting = parts();
  const { events, handle } = served(registryOf(() => waiting.promise), { maxPending: 2 });
  const both = [handle({ requestId: "a" }), handle({ requestId: "b" })];
  await handle({ requestId: "c" });
  assert.deepEqual(events.map(({ requestId, code, retryable }) => [requestId, code, retryable]), [["c", "LIMIT", true]]);
  waiting.resolve(1);
  await Promise.all(both);
  await handle({ requestId: "c" });
  assert.equal(events.at(-1).type, "call.responded");
});

test("a handler needs a registry, and a map that is one", () => {
  const registry = registryOf(() => 1);
  for (const config of [undefined, {}, { registry: {} }, { registry: null }]) {
    assert.throws(() => buildCallHandler(config), { code: "invalid_arguments", option: "registry" });
  }
  assert.throws(() => buildCallHandler({ registry, callMap: {} }), { option: "callMap" });
});

test("a map of somebody else's is answered through", async () => {
  const events = [];
  const callMap = {
    respond: (id, output) => events.push(["respond", id, output.data]),
    emitError: (id, code) => events.push(["error", id, code]),
    complete: (id) => events.push(["complete", id]),
  };
  const registry = registryOf(() => 1);
  registry.register(specOf({ name: "ticks", type: "subscription" }), async function* () { yield 2; });
  const handler = buildCallHandler({ registry, callMap });
  for (const operationId of ["ns.op", "ns.ticks", "ns.missing"]) {
    await handler({ requestId: operationId, operationId, input: {} });
  }
  assert.deepEqual(events, [
    ["respond", "ns.op", 1],
    ["respond", "ns.ticks", 2],
    ["complete", "ns.ticks"],
    ["error", "ns.missing", "OPERATION_NOT_FOUND"],
  ]);
});

test("failAll gives up what is served, and answers nobody", async () => {
  let signal;
  const { events, callMap, handle } = served(registryOf((_, context) => {
    ({ signal } = context);
    return new Promise(() => {});
  }));
  const done = handle();
  await turn();
  callMap.failAll(new Error("the peer is gone"));
  await done;
  assert.ok(signal.aborted);
  assert.deepEqual(events, []);
});

test("env over a map: the composing operation's authority, its deadline, hidden operations", async () => {
  const registry = new OperationRegistry();
  const authority = { label: "outer", scopes: ["key"] };
  registry.register(specOf({ name: "outer", authority }), (input, context) => {
    const env = buildEnv({ registry, context, callMap: map });
    return env.ns.inner(input);
  });
  const inner = specOf({
    name: "inner",
    visibility: "internal",
    accessControl: { requiredScopes: ["key"] },
  });
  registry.register(inner, (input, { identity, parentRequestId, deadline }) => ({
    input,
    identity,
    parentRequestId,
    deadline,
  }));
  const { map, events } = connected(registry);
  const deadline = Date.now() + 60_000;
  const { data } = await map.call("ns.outer", { n: 1 }, { deadline });
  const { requestId } = events[0];
  const expected = { id: "outer", scopes: ["key"], resources: {} };
  assert.deepEqual(data, { input: { n: 1 }, identity: expected, parentRequestId: requestId, deadline });
  // From outside it is unknown, also to whoever repeats what a nested call said.
  await assert.rejects(map.call("ns.inner", {}, { identity: expected }), { code: "OPERATION_NOT_FOUND" });
  const nested = events.find(({ operationId }) => operationId === "ns.inner");
  const { events: answers, handler } = served(registry);
  await handler(structuredClone(nested));
  assert.equal(answers[0].code, "OPERATION_NOT_FOUND");
});
