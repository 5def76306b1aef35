// The tool gateway: rows and cases of the four tools, each by its id. Ids of operations are written
// `namespace.name`.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  CallError,
  OperationRegistry,
  ToolGateway,
  compileSchema,
  mcpEnvelope,
  registerDiscovery,
} from "toolwire";

const OPEN = { requiredScopes: [] };

function operation(id, more = {}) {
  const at = id.indexOf(".");
  return {
    namespace: id.slice(0, at),
    name: id.slice(at + 1),
    version: "1.0.0",
    type: "query",
    description: "",
    inputSchema: {},
    accessControl: OPEN,
    ...more,
  };
}

/** A registry of the cases: what is open, denied, hidden, and of other types. */
function registry() {
  const calls = [];
  const registry = new OperationRegistry({ now: () => 1_000 });
  const note = (id, output) => (input) => {
    calls.push([id, input]);
    return typeof output === "function" ? output(input) : output;
  };
  const add = (id, output, more) => registry.register(operation(id, more), note(id, output));
  add("fs.readFile", (input) => ({ read: input }), { description: "Reads a file" });
  add("mail.send", "sent", { type: "mutation" });
  add("echo.run", (input) => ({ input }), { type: "mutation", title: "Say it again", tags: ["loop"] });
  add("admin.secret", "secret", {
    description: "Classified",
    accessControl: { requiredScopes: ["admin"] },
    inputSchema: { type: "object", properties: { launchCode: { type: "string" } } },
  });
  add("int.x", "hidden", { visibility: "internal" });
  registry.register(operation("events.stream", { type: "subscription" }), async function* () {
    yield 1;
  });
  registry.registerSpec(operation("metrics.in", { type: "publish" }));
  return { registry, calls, add };
}

function setup(config) {
  const made = registry();
  return { ...made, gateway: new ToolGateway({ registry: made.registry, ...config }) };
}

const names = (result) => result.structuredContent.operations.map(({ name }) => name);

/** Everything a result has to be: text that repeats the structured content, which is an object. */
function wellFormed(result) {
  assert.deepEqual(Object.keys(result), ["content", "isError", "structuredContent"]);
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  assert.ok(result.structuredContent !== null && !Array.isArray(result.structuredContent));
  return result;
}

function failsWith(result, code, message) {
  wellFormed(result);
  assert.equal(result.isError, true);
  assert.equal(result.structuredContent.code, code);
  assert.equal(typeof result.structuredContent.retryable, "boolean");
  if (message !== undefined) {
    assert.match(result.structuredContent.message, message);
  }
  return result.structuredContent;
}

test("AT-218: exactly search, schema, call, batch, in that order", () => {
  const { gateway } = setup();
  assert.deepEqual(
    gateway.tools.map(({ name }) => name),
    ["search", "schema", "call", "batch"],
  );
  assert.ok(Object.isFrozen(gateway.tools[0].inputSchema));
  for (const tool of gateway.tools) {
    assert.equal(tool.inputSchema.type, "object");
    compileSchema(tool.inputSchema).free();
    assert.equal("outputSchema" in tool, tool.name !== "call");
    assert.deepEqual(typeof tool.annotations.readOnlyHint, "boolean");
  }
});

test("AT-221, AT-223: a search without a query shows all that may be called, and nothing else", async () => {
  const { gateway } = setup();
  for (const args of [undefined, null, {}, { query: "" }, { query: null }]) {
    const result = wellFormed(await gateway.handleCall("search", args));
    assert.equal(result.isError, false);
    assert.deepEqual(names(result), ["echo.run", "fs.readFile", "mail.send"]);
  }
});

test("AT-226: an entry has the operation's own description, else one made from what it is", async () => {
  const { gateway } = setup();
  const { structuredContent } = await gateway.handleCall("search", {});
  assert.deepEqual(structuredContent.operations[1], {
    name: "fs.readFile",
    description: "Reads a file",
    type: "query",
  });
  assert.equal(
    structuredContent.operations[2].description,
    "mutation operation `mail.send` in namespace `mail`",
  );
});

test("AT-229: discovery operations are not listed", async () => {
  const { gateway, registry } = setup();
  registerDiscovery(registry);
  const result = await gateway.handleCall("search", { query: "services" });
  assert.deepEqual(names(result), []);
  // They are operations all the same.
  const listed = await gateway.handleCall("call", { operation: "services.list" });
  assert.equal(listed.structuredContent.operations.length, 5);
});

test("finding: the query filter is honoured and never widens", async () => {
  const { gateway } = setup();
  for (const [query, expected] of [
    ["FS", ["fs.readFile"]],
    ["readfile", ["fs.readFile"]],
    ["reads FILE", ["fs.readFile"]],
    ["again", ["echo.run"]],
    ["LOOP", ["echo.run"]],
    ["secret", []],
    ["classified", []],
    ["int.x", []],
    ["stream", []],
    ["file nothing", []],
  ]) {
    assert.deepEqual(names(await gateway.handleCall("search", { query })), expected, query);
  }
  const admin = { id: "a", scopes: ["admin"] };
  assert.deepEqual(names(await gateway.handleCall("search", { query: "secret" }, admin)), [
    "admin.secret",
  ]);
  for (const query of [1, true, {}, []]) {
    failsWith(await gateway.handleCall("search", { query }), "INVALID_INPUT", /query must be a string/);
  }
});

test("a search is narrowed by namespace and type, and comes in pages", async () => {
  const { gateway } = setup({ pageSize: 2 });
  assert.deepEqual(names(await gateway.handleCall("search", { namespace: "fs" })), ["fs.readFile"]);
  assert.deepEqual(names(await gateway.handleCall("search", { type: "mutation" })), [
    "echo.run",
    "mail.send",
  ]);
  const first = await gateway.handleCall("search", {});
  assert.deepEqual(names(first), ["echo.run", "fs.readFile"]);
  const { nextCursor: cursor } = first.structuredContent;
  const second = await gateway.handleCall("search", { cursor });
  assert.deepEqual(names(second), ["mail.send"]);
  assert.equal("nextCursor" in second.structuredContent, false);
  failsWith(await gateway.handleCall("search", { cursor: "x" }), "INVALID_INPUT", /unknown cursor/);
});

test("finding: subscription and publish operations are excluded, and a call says why", async () => {
  const { gateway } = setup();
  for (const type of ["subscription", "publish"]) {
    assert.deepEqual(names(await gateway.handleCall("search", { type })), []);
  }
  for (const operation of ["events.stream", "metrics.in"]) {
    const error = failsWith(
      await gateway.handleCall("call", { operation }),
      "INVALID_OPERATION_TYPE",
    );
    assert.equal(error.retryable, false);
  }
});

test("AT-230: schema shows the specification, under either name of the argument", async () => {
  const { gateway } = setup();
  const shown = wellFormed(await gateway.handleCall("schema", { name: "fs.readFile" }));
  assert.equal(shown.isError, false);
  const { name, namespace, type, version, description, visibility } = shown.structuredContent;
  assert.deepEqual(
    { name, namespace, type, version, description, visibility },
    {
      name: "fs.readFile",
      namespace: "fs",
      type: "query",
      version: "1.0.0",
      description: "Reads a file",
      visibility: "external",
    },
  );
  assert.deepEqual(shown.structuredContent.inputSchema, {});
  assert.equal("handler" in shown.structuredContent, false);
  assert.equal("authority" in shown.structuredContent, false);
  assert.deepEqual(await gateway.handleCall("schema", { operation: "fs.readFile" }), shown);
});

test("AT-211, AT-232: a denied schema is FORBIDDEN and leaks none", async () => {
  const { gateway } = setup();
  const result = await gateway.handleCall("schema", { name: "admin.secret" }, { id: "u", scopes: [] });
  failsWith(result, "FORBIDDEN");
  assert.doesNotMatch(JSON.stringify(result), /launchCode|Classified/);
});

test("AT-237, AT-238, AT-264: outputs that are no object are wrapped", async () => {
  const { gateway, add } = setup();
  const outputs = { nil: null, yes: true, none: undefined, list: [1], text: "x", object: { a: 1 } };
  for (const [name, output] of Object.entries(outputs)) {
    add(`out.${name}`, output);
    const expected = name === "object" ? { a: 1 } : { result: output ?? null };
    const alone = wellFormed(await gateway.handleCall("call", { operation: `out.${name}` }));
    assert.deepEqual(alone.structuredContent, expected);
    assert.equal(alone.isError, false);
    const batch = await gateway.handleCall("batch", { calls: [{ operation: `out.${name}` }] });
    assert.deepEqual(batch.structuredContent, { results: [{ isError: false, output: expected }] });
  }
});

test("an output that is no JSON is an error, not a loss", async () => {
  const { gateway, add } = setup();
  add("out.map", new Map([[1, 2]]));
  const cycle = {};
  cycle.self = cycle;
  add("out.cycle", cycle);
  for (const operation of ["out.map", "out.cycle"]) {
    failsWith(await gateway.handleCall("call", { operation }), "EXECUTION_ERROR");
  }
});

test("AT-241: input defaults to {}", async () => {
  const { gateway, calls } = setup();
  for (const args of [{ operation: "echo.run" }, { operation: "echo.run", input: null }]) {
    const { structuredContent } = await gateway.handleCall("call", args);
    assert.deepEqual(structuredContent, { input: {} });
  }
  assert.deepEqual(calls.map(([, input]) => input), [{}, {}]);
});

test("AT-242, AT-243, AT-245, AT-246, AT-248, G07: argument errors word for word, never retryable", async () => {
  const { gateway, calls } = setup();
  const prefix = "invalid arguments: ";
  for (const [tool, args, message] of [
    ["call", undefined, "operation is required and must be a string"],
    ["call", null, "operation is required and must be a string"],
    ["call", {}, "missing required field operation"],
    ["call", { operation: 7 }, "operation must be a string, got a number"],
    ["call", { operation: null }, "operation must be a string, got null"],
    ["call", { operation: true }, "operation must be a string, got a boolean"],
    ["call", { operation: [] }, "operation must be a string, got an array"],
    ["call", { operation: {} }, "operation must be a string, got an object"],
    ["schema", {}, "name is required and must be a string"],
    ["schema", { name: 1 }, "name is required and must be a string"],
    ["batch", {}, "calls is required and must be an array"],
    ["batch", undefined, "calls is required and must be an array"],
  ]) {
    const error = failsWith(await gateway.handleCall(tool, args), "INVALID_INPUT");
    assert.equal(error.message, prefix + message);
    assert.equal(error.retryable, false);
  }
  assert.deepEqual(calls, []);
});

test("AT-250: what the caller may not call is FORBIDDEN", async () => {
  const { gateway, calls } = setup();
  for (const identity of [undefined, null, { id: "u", scopes: [] }, "admin", { scopes: ["admin"] }]) {
    failsWith(await gateway.handleCall("call", { operation: "admin.secret" }, identity), "FORBIDDEN");
  }
  assert.deepEqual(calls, []);
});

test("AT-251: the discovery operation shows no hidden specification", async () => {
  const { gateway, registry } = setup();
  registerDiscovery(registry);
  const input = { name: "int.x" };
  failsWith(await gateway.handleCall("call", { operation: "services.schema", input }), "NOT_FOUND");
  const denied = { name: "admin.secret" };
  failsWith(
    await gateway.handleCall("call", { operation: "services.schema", input: denied }),
    "FORBIDDEN",
  );
});

test("AT-253: input that is no object is refused", async () => {
  const { gateway, calls } = setup();
  for (const input of ["text", 1, true, []]) {
    failsWith(
      await gateway.handleCall("call", { operation: "echo.run", input }),
      "INVALID_INPUT",
      /input must be an object/,
    );
  }
  assert.deepEqual(calls, []);
});

test("AT-254: an unknown argument is refused, and not repeated", async () => {
  const { gateway } = setup();
  const result = await gateway.handleCall("call", { operation: "echo.run", extraordinary: 1 });
  failsWith(result, "INVALID_INPUT", /call takes no argument but operation, input/);
  assert.doesNotMatch(JSON.stringify(result), /extraordinary/);
});

test("AT-255: an operation's own error passes whole", async () => {
  const { gateway, add } = setup();
  const error = {
    code: "RATE_LIMITED",
    message: "slow",
    retryable: true,
    details: { retry_after: 3 },
  };
  add("slow.down", () => {
    throw new CallError(error);
  });
  const result = await gateway.handleCall("call", { operation: "slow.down" });
  failsWith(result, "RATE_LIMITED");
  assert.deepEqual(result.structuredContent, error);
});

test("codes of the call protocol read as the gateway's", async () => {
  const { gateway, add } = setup();
  add("strict.op", "x", { inputSchema: { type: "object", required: ["a"] } });
  add("fails.plain", () => {
    throw new Error("broke");
  });
  add("fails.text", () => {
    throw "broke";
  });
  add("fails.aborted", () => {
    throw new CallError("ABORTED", "gone");
  });
  for (const [operation, code] of [
    ["none.such", "NOT_FOUND"],
    ["strict.op", "INVALID_INPUT"],
    ["fails.plain", "EXECUTION_ERROR"],
    ["fails.text", "INTERNAL"],
    ["fails.aborted", "INTERNAL"],
  ]) {
    failsWith(await gateway.handleCall("call", { operation }), code);
  }
  const invalid = await gateway.handleCall("call", { operation: "strict.op", input: { b: "given" } });
  assert.equal(invalid.structuredContent.details.errors[0].keyword, "required");
  assert.doesNotMatch(JSON.stringify(invalid), /given/);
});

test("AT-257, AT-258, AT-260, AT-261: how many a batch takes", async () => {
  const { gateway, calls } = setup();
  const empty = await gateway.handleCall("batch", { calls: [] });
  assert.deepEqual(wellFormed(empty).structuredContent, { results: [] });
  assert.equal(empty.isError, false);
  failsWith(await gateway.handleCall("batch", { calls: "nope" }), "INVALID_INPUT");
  const many = (count) => Array.from({ length: count }, () => ({ operation: "echo.run" }));
  const error = failsWith(await gateway.handleCall("batch", { calls: many(101) }), "INVALID_INPUT");
  assert.equal(error.message, "batch exceeds the maximum of 100 operations");
  assert.deepEqual(calls, []);
  const full = await gateway.handleCall("batch", { calls: many(100) });
  assert.equal(full.structuredContent.results.length, 100);
  assert.equal(calls.length, 100);
});

test("AT-263: an entry that is none fails alone", async () => {
  const { gateway } = setup();
  const { structuredContent, isError } = await gateway.handleCall("batch", {
    calls: ["not-an-object", { operation: "mail.send" }, { operation: "echo.run", more: 1 }],
  });
  assert.equal(isError, false);
  const [first, second, third] = structuredContent.results;
  assert.equal(first.error.code, "INVALID_INPUT");
  assert.equal(first.error.retryable, false);
  assert.deepEqual(second, { isError: false, output: { result: "sent" } });
  assert.equal(third.error.code, "INVALID_INPUT");
});

test("finding: a batch answers exactly as its description and output schema say", async () => {
  const { gateway } = setup();
  const batch = gateway.tools[3];
  assert.match(batch.description, /\{results: \[\{isError: false, output\} or \{isError: true, error/);
  const schema = compileSchema(batch.outputSchema);
  for (const args of [
    { calls: [] },
    { calls: [{ operation: "mail.send" }, { operation: "none.such" }, {}] },
    { calls: 1 },
  ]) {
    const { structuredContent } = await gateway.handleCall("batch", args);
    assert.equal(schema.validate(structuredContent).verdict, "valid");
  }
  const { structuredContent } = await gateway.handleCall("batch", {
    calls: [{ operation: "mail.send" }, { operation: "none.such" }],
  });
  assert.deepEqual(
    structuredContent.results.map((entry) => Object.keys(entry)),
    [
      ["isError", "output"],
      ["isError", "error"],
    ],
  );
});

test("finding: every structured content is an object, and fits the tool's output schema", async () => {
  const { gateway, registry } = setup();
  registerDiscovery(registry);
  const schemas = new Map(
    gateway.tools
      .filter(({ outputSchema }) => outputSchema !== undefined)
      .map(({ name, outputSchema }) => [name, compileSchema(outputSchema)]),
  );
  for (const [tool, args] of [
    ["search", {}],
    ["search", { query: 1 }],
    ["schema", { name: "fs.readFile" }],
    ["schema", { name: "services.schema" }],
    ["schema", { name: "none.such" }],
    ["schema", undefined],
    ["call", { operation: "mail.send" }],
    ["call", []],
    ["batch", { calls: [1] }],
    ["bogus", {}],
  ]) {
    const { structuredContent } = wellFormed(await gateway.handleCall(tool, args));
    const verdict = schemas.get(tool)?.validate(structuredContent).verdict ?? "valid";
    assert.equal(verdict, "valid", tool);
  }
});

test("finding: argument errors are full call errors with retryable", async () => {
  const { gateway } = setup();
  for (const [tool, args] of [
    ["search", { query: 1 }],
    ["schema", null],
    ["call", 5],
    ["batch", "x"],
  ]) {
    const { structuredContent } = await gateway.handleCall(tool, args);
    assert.deepEqual(Object.keys(structuredContent), ["code", "message", "retryable"]);
    assert.equal(structuredContent.retryable, false);
  }
});

test("AT-267: the identity of the call decides", async () => {
  const { gateway } = setup();
  const call = (identity) => gateway.handleCall("call", { operation: "admin.secret" }, identity);
  assert.equal((await call({ id: "a", scopes: ["admin"] })).structuredContent.result, "secret");
  failsWith(await call(undefined), "FORBIDDEN");
});

test("G01, G02, G03: one decision at every entry point", async () => {
  const { gateway, registry, calls } = setup();
  registerDiscovery(registry);
  const identities = {
    nobody: undefined,
    user: { id: "u1", scopes: ["user"] },
    admin: { id: "a1", scopes: ["admin"] },
  };
  const operations = ["fs.readFile", "admin.secret", "int.x", "none.such"];
  const expected = {
    nobody: ["ok", "FORBIDDEN", "NOT_FOUND", "NOT_FOUND"],
    user: ["ok", "FORBIDDEN", "NOT_FOUND", "NOT_FOUND"],
    admin: ["ok", "ok", "NOT_FOUND", "NOT_FOUND"],
  };
  const codeOf = ({ isError, structuredContent }) => (isError ? structuredContent.code : "ok");
  for (const [who, identity] of Object.entries(identities)) {
    const listed = names(await gateway.handleCall("search", {}, identity));
    for (const [index, operation] of operations.entries()) {
      const decision = expected[who][index];
      const at = `${who} ${operation}`;
      assert.equal(listed.includes(operation), decision === "ok", at);
      assert.equal(codeOf(await gateway.handleCall("schema", { name: operation }, identity)), decision, at);
      assert.equal(codeOf(await gateway.handleCall("call", { operation }, identity)), decision, at);
      const batch = await gateway.handleCall("batch", { calls: [{ operation }] }, identity);
      const [entry] = batch.structuredContent.results;
      assert.equal(entry.isError ? entry.error.code : "ok", decision, at);
      const input = { name: operation };
      const meta = await gateway.handleCall("call", { operation: "services.schema", input }, identity);
      assert.equal(codeOf(meta), decision, at);
    }
  }
  // Only the administrator's calls, alone and in the batch, ever ran it.
  assert.equal(calls.filter(([id]) => id === "admin.secret").length, 2);
  assert.equal(calls.some(([id]) => id === "int.x"), false);
  // G02: nothing hints at what is not shown.
  const shown = JSON.stringify(await gateway.handleCall("search", { query: "" }));
  assert.doesNotMatch(shown, /secret|Classified|int\.x/);
  // G03: an empty set is a list.
  const empty = new OperationRegistry();
  const none = await new ToolGateway({ registry: empty }).handleCall("search", {});
  assert.deepEqual(none.structuredContent, { operations: [] });
});

test("hidden equals unknown, byte for byte", async () => {
  const { gateway } = setup();
  for (const [tool, argsOf] of [
    ["schema", (id) => ({ name: id })],
    ["call", (id) => ({ operation: id })],
    ["batch", (id) => ({ calls: [{ operation: id }] })],
  ]) {
    const hidden = JSON.stringify(await gateway.handleCall(tool, argsOf("int.x")));
    const unknown = JSON.stringify(await gateway.handleCall(tool, argsOf("int.y")));
    assert.equal(hidden.replaceAll("int.x", "int.y"), unknown);
  }
});

test("a tool that is none of the four is an error result", async () => {
  const { gateway } = setup();
  failsWith(await gateway.handleCall("bogus", {}), "NOT_FOUND");
});

test("an MCP tool's result passes through; in a batch a failure becomes an error", async () => {
  const { gateway, add } = setup();
  const content = [{ type: "text", text: "no", annotations: { priority: 1 } }];
  add("tool.ok", mcpEnvelope({ a: 1 }, { isError: false, content, structuredContent: { a: 1 } }));
  add("tool.bare", mcpEnvelope(content, { isError: false, content }));
  add("tool.list", mcpEnvelope([1], { isError: false, content, structuredContent: [1] }));
  add("tool.failed", mcpEnvelope(content, { isError: true, content, structuredContent: { why: 1 } }));
  const call = (operation) => gateway.handleCall("call", { operation });
  assert.deepEqual(await call("tool.ok"), { content, isError: false, structuredContent: { a: 1 } });
  assert.deepEqual(await call("tool.bare"), {
    content,
    isError: false,
    structuredContent: undefined,
  });
  assert.deepEqual((await call("tool.list")).structuredContent, { result: [1] });
  assert.deepEqual(await call("tool.failed"), {
    content,
    isError: true,
    structuredContent: { why: 1 },
  });
  const batch = await gateway.handleCall("batch", {
    calls: ["ok", "bare", "failed"].map((name) => ({ operation: `tool.${name}` })),
  });
  const [ok, bare, failed] = batch.structuredContent.results;
  assert.deepEqual(ok, { isError: false, output: { a: 1 } });
  assert.deepEqual(bare, { isError: false, output: { result: content } });
  assert.equal(failed.error.code, "EXECUTION_ERROR");
  assert.deepEqual(failed.error.details, { content, structuredContent: { why: 1 } });
});

test("a call has its time, and a batch has its own", async () => {
  const silent = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  const registry = new OperationRegistry();
  const seen = [];
  registry.register(operation("slow.op"), (input, context) => {
    seen.push(context.signal);
    return silent(input, context);
  });
  const quick = new ToolGateway({ registry, callTimeoutMs: 20 });
  const timed = failsWith(await quick.handleCall("call", { operation: "slow.op" }), "TIMEOUT");
  assert.equal(timed.retryable, true);
  assert.equal(seen[0].aborted, true);
  const bounded = new ToolGateway({ registry, batchTimeoutMs: 40, batchConcurrency: 2 });
  const calls = Array.from({ length: 6 }, () => ({ operation: "slow.op" }));
  const { structuredContent } = await bounded.handleCall("batch", { calls });
  assert.deepEqual(
    structuredContent.results.map(({ error }) => error.code),
    new Array(6).fill("TIMEOUT"),
  );
  // Two ran; the others never began.
  assert.equal(seen.length, 3);
});

test("a batch runs so many at a time, answers in order, and an abort ends all", async () => {
  const registry = new OperationRegistry();
  let running = 0;
  let most = 0;
  registry.register(operation("work.op"), async ({ wait }) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setTimeout(resolve, wait));
    running -= 1;
    return { wait };
  });
  const gateway = new ToolGateway({ registry, batchConcurrency: 3 });
  const waits = [30, 1, 20, 2, 10, 3, 5];
  const calls = waits.map((wait) => ({ operation: "work.op", input: { wait } }));
  const { structuredContent } = await gateway.handleCall("batch", { calls });
  assert.deepEqual(
    structuredContent.results.map(({ output }) => output.wait),
    waits,
  );
  assert.equal(most, 3);
  const abort = new AbortController();
  const pending = gateway.handleCall(
    "batch",
    { calls: [{ operation: "work.op", input: { wait: 60_000 } }] },
    undefined,
    { signal: abort.signal },
  );
  abort.abort();
  const aborted = await pending;
  assert.equal(aborted.structuredContent.results[0].error.code, "INTERNAL");
});

test("bad configuration is refused by name", () => {
  const { registry: made } = registry();
  for (const [option, value] of [
    ["registry", undefined],
    ["registry", {}],
    ["maxBatch", 0],
    ["maxBatch", 1.5],
    ["batchConcurrency", "8"],
    ["pageSize", Number.NaN],
    ["callTimeoutMs", 0],
    ["batchTimeoutMs", -1],
    ["now", 1],
    ["newId", "x"],
    ["serverInfo", { name: 1n, cycle: new Map() }],
    ["instructions", 1],
  ]) {
    assert.throws(() => new ToolGateway({ registry: made, [option]: value }), {
      code: "invalid_arguments",
      option,
    });
  }
});

test("hostile arguments and identities come to error results", async () => {
  const { gateway } = setup();
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const hostile = [
    { get operation() { throw new Error("no"); } },
    revoked.proxy,
    Object.create({ operation: "mail.send" }),
    { operation: "mail.send", toJSON: () => ({}) },
    new Map(),
    10n,
    Symbol("x"),
    () => 1,
  ];
  for (const args of hostile) {
    failsWith(await gateway.handleCall("call", args), "INVALID_INPUT");
  }
  for (const identity of [revoked.proxy, { get scopes() { throw new Error("no"); } }, 7]) {
    failsWith(await gateway.handleCall("call", { operation: "admin.secret" }, identity), "FORBIDDEN");
  }
  for (const tool of [Object.create(null), undefined, 1, "search\ud800", "__proto__"]) {
    failsWith(await gateway.handleCall(tool, {}), "NOT_FOUND");
  }
});

test("load: a thousand operations, ten thousand mixed calls", async () => {
  const registry = new OperationRegistry();
  registry.registerAll(
    Array.from({ length: 1_000 }, (_, index) => ({
      ...operation(`area${index % 20}.op${index}`, { description: `Does thing ${index}` }),
      handler: (input) => ({ index, ...input }),
    })),
  );
  const gateway = new ToolGateway({ registry });
  const started = performance.now();
  let answered = 0;
  const one = async (index) => {
    const id = `area${index % 20}.op${index % 1_000}`;
    const made = [
      ["search", { query: `thing ${index % 1_000}` }],
      ["schema", { name: id }],
      ["call", { operation: id, input: { index } }],
      ["batch", { calls: [{ operation: id }, { operation: "none.such" }] }],
    ][index % 4];
    const result = await gateway.handleCall(...made);
    assert.equal(result.isError, false);
    answered += 1;
  };
  for (let index = 0; index < 10_000; index += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, offset) => one(index + offset)));
  }
  assert.equal(answered, 10_000);
  const seconds = (performance.now() - started) / 1_000;
  console.log(`10,000 gateway calls over 1,000 operations: ${Math.round(10_000 / seconds)} a second`);
});
