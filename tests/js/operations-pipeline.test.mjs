// The operation cases of the pipeline, by their ids, and the pipeline on live values.
import assert from "node:assert/strict";
import { test } from "node:test";

import { failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { OperationRegistry, compileSchema, envelopeOfToolResult, localEnvelope, runPipeline } = toolwire;

const OUTPUT = {
  type: "object",
  properties: { result: { type: "string" }, count: { type: "number" } },
  required: ["result", "count"],
};

/** What executing an operation gives whose handler returns this, and the warnings about it. */
async function execute(outputSchema, returned, options) {
  const registry = new OperationRegistry(options);
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  registry.register(spec("ns.op", { outputSchema }), () => returned);
  return { envelope: await registry.execute("ns.op", {}), warnings };
}

test("AT-040: without a handler there is no operation", async () => {
  const registry = new OperationRegistry();
  registry.registerSpec(spec("test.op"));
  const error = await failure(registry.execute("test.op", {}));
  assert.equal(error.code, "OPERATION_NOT_FOUND");
  assert.equal(error.details.operationId, "test.op");
  assert.match(error.message, /handler/);
});

test("AT-041: access is checked before the input, and the handler is not called", async () => {
  const registry = new OperationRegistry();
  const accessControl = { requiredScopes: ["admin"] };
  const inputSchema = { type: "object", required: ["a"] };
  const handler = () => assert.fail("called");
  registry.register(spec("test.op", { accessControl, inputSchema }), handler);
  for (const who of [undefined, identity()]) {
    const error = await failure(registry.execute("test.op", 5, { identity: who }));
    assert.equal(error.code, "ACCESS_DENIED");
  }
});

test("AT-043: what is missing is filled, and that is told", async () => {
  const { envelope, warnings } = await execute(OUTPUT, { result: "ok" });
  assert.deepEqual(envelope.data, { result: "ok", count: 0 });
  assert.deepEqual(warnings[0].changes, [{ path: "/count", kind: "created" }]);
  assert.equal(warnings[0].verdict, "valid");
});

// The row wants `{"result":"","count":0}`: that is `cast-0.34`. `cast`, the default, keeps what is
// not declared.
test("AT-044: fabricating is told, and losing members is asked for", async () => {
  const { envelope } = await execute(OUTPUT, { unexpected: "field" });
  assert.deepEqual(envelope.data, { unexpected: "field", result: "", count: 0 });
  const exact = await execute(OUTPUT, { unexpected: "field" }, { normalize: "cast-0.34" });
  assert.deepEqual(exact.envelope.data, { result: "", count: 0 });
  assert.deepEqual(exact.warnings[0].changes.map((change) => `${change.kind} ${change.path}`).sort(), [
    "created /count",
    "created /result",
    "removed /unexpected",
  ]);
});

// The row has no normalizing as the default; here it is asked for.
test("AT-045: without normalizing the data stays and the violation is a warning", async () => {
  const { envelope, warnings } = await execute(OUTPUT, { result: "ok" }, { normalize: "off" });
  assert.deepEqual(envelope.data, { result: "ok" });
  const [{ instancePath, keyword, params }] = warnings[0].errors;
  assert.deepEqual([instancePath, keyword, params.missingProperty], ["", "required", "count"]);
});

test("AT-046: an unknown schema neither changes nor judges", async () => {
  const data = { anything: 1, extra: [2] };
  for (const unknown of [{}, true, undefined]) {
    const { envelope, warnings } = await execute(unknown, data);
    assert.equal(envelope.data, data);
    assert.deepEqual(warnings, []);
    const outcome = runPipeline(data, { id: "ns.op", outputSchema: unknown });
    assert.equal(outcome.verdict.verdict, "unchecked");
    assert.deepEqual(outcome.changes, []);
  }
});

test("AT-047: what is made may still be invalid, and nothing is thrown", async () => {
  const schema = {
    type: "object",
    properties: { n: { type: "number", exclusiveMinimum: 0 } },
    required: ["n"],
  };
  const { envelope, warnings } = await execute(schema, {});
  assert.deepEqual(envelope.data, { n: 0 });
  assert.equal(warnings[0].verdict, "invalid");
  assert.ok(warnings[0].errors.length >= 1);
});

// The row has a policy that throws; output validation only warns, and the warning is data.
test("AT-048: output validation never throws, and shows", async () => {
  const schema = { type: "object", properties: { result: { const: 4 } } };
  const { envelope, warnings } = await execute(schema, { result: 5 });
  assert.deepEqual(envelope.data, { result: 5 });
  assert.equal(warnings[0].verdict, "invalid");
  const outcome = runPipeline({ result: 5 }, { id: "ns.op", outputSchema: schema });
  assert.equal(outcome.verdict.verdict, "invalid");
  assert.equal(outcome.violation.kind, "schema");
});

test("AT-049: an envelope made before is never changed; normalizing makes a new one", async () => {
  const made = localEnvelope({ result: "ok" }, "other.op", 5);
  const before = structuredClone(made);
  const { envelope } = await execute(OUTPUT, made);
  assert.notEqual(envelope, made);
  assert.deepEqual(envelope.data, { result: "ok", count: 0 });
  assert.equal(envelope.meta, made.meta);
  assert.deepEqual(made, before);
  const valid = Object.freeze(localEnvelope({ result: "ok", count: 1 }, "other.op"));
  assert.equal((await execute(OUTPUT, valid)).envelope, valid);
});

test("envelopes of MCP and HTTP are judged and left alone unless asked", () => {
  const operation = { id: "ns.op", outputSchema: OUTPUT };
  const data = { result: "ok" };
  const http = toolwire.httpEnvelope(data, { statusCode: 200, headers: {}, contentType: "a/b" });
  const content = [{ type: "text", text: "x", _meta: { kept: true } }];
  const mcp = toolwire.mcpEnvelope(data, { isError: false, content, structuredContent: data });
  for (const envelope of [http, mcp]) {
    const left = runPipeline(envelope, operation);
    assert.equal(left.envelope, envelope);
    assert.equal(left.verdict.verdict, "invalid");
    const cast = runPipeline(envelope, operation, { normalize: "cast" });
    assert.deepEqual(cast.envelope.data, { result: "ok", count: 0 });
    assert.equal(cast.envelope.meta, envelope.meta);
    assert.equal(cast.verdict.verdict, "valid");
  }
  for (const [reason, meta] of [
    ["is_error", { isError: true, content, structuredContent: data }],
    ["no_structured_content", { isError: false, content }],
  ]) {
    const envelope = toolwire.mcpEnvelope(content, meta);
    const outcome = runPipeline(envelope, operation, { normalize: "cast" });
    assert.equal(outcome.envelope, envelope);
    assert.equal(outcome.verdict.verdict, "unchecked");
    assert.equal(outcome.verdict.reason, reason);
  }
});

test("each mode does what it says", () => {
  const outputSchema = {
    type: "object",
    properties: { a: { type: "number", default: 7 }, b: { type: "string" } },
    required: ["b"],
  };
  for (const [normalize, expected, kinds] of [
    ["off", { b: 5, more: 1 }, []],
    ["defaults", { b: 5, more: 1, a: 7 }, ["default /a"]],
    ["cast", { b: "", more: 1 }, ["replaced /b"]],
    ["cast-0.34", { b: "" }, ["replaced /b", "removed /more"]],
  ]) {
    const outcome = runPipeline({ b: 5, more: 1 }, { id: "a.b", outputSchema }, { normalize });
    assert.deepEqual(outcome.envelope.data, expected);
    const changed = outcome.changes.map(({ kind, path }) => `${kind} ${path}`);
    assert.deepEqual(changed.sort(), kinds.sort());
  }
  const valid = { b: "x", more: 1 };
  for (const normalize of ["off", "cast", "cast-0.34", undefined]) {
    const outcome = runPipeline(valid, { id: "a.b", outputSchema }, { normalize });
    assert.equal(outcome.envelope.data, valid);
  }
});

test("a compiled schema is used as it is", () => {
  const outputSchema = compileSchema(OUTPUT);
  const operation = { id: "ns.op", outputSchema };
  assert.deepEqual(runPipeline({}, operation).envelope.data, { result: "", count: 0 });
  const value = { result: "", count: 1 };
  const outcome = runPipeline(value, operation);
  assert.equal(outcome.envelope.data, value);
  assert.equal(outcome.verdict.verdict, "valid");
  outputSchema.free();
  assert.throws(() => runPipeline(value, operation), { code: "freed" });
});

test("what needs no check is not looked at", () => {
  const trap = new Proxy(
    {},
    {
      ownKeys: () => assert.fail("listed"),
      get: () => assert.fail("read"),
    },
  );
  for (const value of [trap, new Map(), () => 1, Symbol("s"), 5n]) {
    for (const outputSchema of [undefined, true, {}]) {
      assert.equal(runPipeline(value, { id: "a.b", outputSchema }).envelope.data, value);
    }
  }
  const { envelope, verdict } = runPipeline(trap, { id: "a.b" }, { now: 5 });
  assert.deepEqual(envelope.meta, { source: "local", operationId: "a.b", timestamp: 5 });
  assert.deepEqual(verdict, {
    verdict: "unchecked",
    valid: false,
    errors: [],
    truncated: false,
    reason: "no_schema",
  });
});

test("hostile values have typed outcomes, and none of their code runs", () => {
  const fail = () => assert.fail("ran");
  const cycle = {};
  cycle.self = cycle;
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  class Result {
    result = "ok";
    count = 1;
  }
  const inherited = Object.create({ result: "ok", count: 1 });
  for (const value of [
    cycle,
    revoked,
    new Result(),
    inherited,
    new Date(0),
    NaN,
    Symbol("s"),
    fail,
    { get result() { return fail(); } },
    { toJSON: fail },
    Object.defineProperty({}, "result", { get: fail, enumerable: true }),
    new Proxy({}, { ownKeys: () => { throw new Error("no"); } }),
    { data: 1, get meta() { return fail(); } },
  ]) {
    const outcome = runPipeline(value, { id: "ns.op", outputSchema: OUTPUT });
    assert.equal(outcome.envelope.data, value);
    assert.equal(outcome.envelope.meta.source, "local");
    assert.equal(outcome.verdict.verdict, "unknown");
    assert.equal(outcome.verdict.reason, "not_json");
    assert.deepEqual(outcome.changes, []);
    assert.deepEqual(outcome.diagnostics, [{ code: "output_unknown" }]);
  }
  // An accessor in the place of an envelope's data is not run either.
  const meta = { source: "local", operationId: "a.b", timestamp: 1 };
  const lazy = Object.defineProperty({ meta }, "data", { get: fail, enumerable: true });
  const outcome = runPipeline(lazy, { id: "ns.op", outputSchema: OUTPUT });
  assert.equal(outcome.envelope, lazy);
  assert.equal(outcome.verdict.verdict, "unknown");
  // Names of prototypes are ordinary names.
  const named = JSON.parse('{"result":5,"count":1,"__proto__":{"polluted":1}}');
  const { data } = runPipeline(named, { id: "ns.op", outputSchema: OUTPUT }).envelope;
  assert.equal(JSON.stringify(data), '{"result":"","count":1,"__proto__":{"polluted":1}}');
  assert.equal({}.polluted, undefined);
});

test("undefined stays undefined unless the schema has something else in mind", () => {
  for (const outputSchema of [undefined, {}, { type: "null" }, { type: ["object", "null"] }]) {
    const { envelope, changes } = runPipeline(undefined, { id: "a.b", outputSchema });
    assert.ok(Object.hasOwn(envelope, "data"));
    assert.equal(envelope.data, undefined);
    assert.deepEqual(changes, []);
  }
  const made = runPipeline(undefined, { id: "a.b", outputSchema: OUTPUT });
  assert.deepEqual(made.envelope.data, { result: "", count: 0 });
  assert.deepEqual(made.changes, [{ path: "", kind: "created" }]);
  const off = { normalize: "off" };
  const judged = runPipeline(undefined, { id: "a.b", outputSchema: OUTPUT }, off);
  assert.equal(judged.envelope.data, undefined);
  assert.equal(judged.verdict.verdict, "invalid");
});

test("look-alikes are wrapped when asked, ours are let through", () => {
  const foreign = { data: 1, meta: { source: "local", operationId: "a.b", timestamp: 1 } };
  assert.equal(runPipeline(foreign, { id: "c.d" }).envelope, foreign);
  const wrapped = runPipeline(foreign, { id: "c.d" }, { wrapAlways: true }).envelope;
  assert.equal(wrapped.data, foreign);
  const ours = runPipeline(1, { id: "a.b" }).envelope;
  assert.equal(runPipeline(ours, { id: "c.d" }, { wrapAlways: true }).envelope, ours);
  const cast = runPipeline({}, { id: "a.b", outputSchema: OUTPUT }).envelope;
  assert.equal(runPipeline(cast, { id: "c.d" }, { wrapAlways: true }).envelope, cast);
});

test("what cannot be cast is handed on and told", () => {
  const outputSchema = {
    type: "object",
    properties: { s: { type: "string", pattern: "^a+$" } },
    required: ["s"],
  };
  const value = { s: 5 };
  const outcome = runPipeline(value, { id: "a.b", outputSchema });
  assert.equal(outcome.envelope.data, value);
  assert.equal(outcome.verdict.verdict, "invalid");
  assert.deepEqual(outcome.diagnostics, [
    { code: "not_normalized", at: "/properties/s" },
    { code: "output_violation" },
  ]);
});

test("junk in the place of arguments is refused", () => {
  for (const [option, run] of [
    ["operation", () => runPipeline(1)],
    ["operation", () => runPipeline(1, null)],
    ["id", () => runPipeline(1, { id: {} })],
    ["normalize", () => runPipeline(1, { id: "a" }, { normalize: "convert" })],
    ["now", () => runPipeline(1, { id: "a" }, { now: "5" })],
    ["tool", () => envelopeOfToolResult({ content: [] })],
  ]) {
    assert.throws(run, { name: "ToolwireError", code: "invalid_arguments", option });
  }
});

test("a tool's structured content is normalized when asked", () => {
  const tool = { name: "t", outputSchema: OUTPUT };
  const result = { content: [], structuredContent: { result: "ok", extra: 1 } };
  assert.throws(() => envelopeOfToolResult(result, tool), { code: "invalid_response" });
  const cast = envelopeOfToolResult(result, tool, { normalize: "cast" });
  assert.deepEqual(cast.envelope.data, { result: "ok", extra: 1, count: 0 });
  assert.deepEqual(cast.envelope.meta.structuredContent, result.structuredContent);
  assert.deepEqual(cast.changes, [{ path: "/count", kind: "created" }]);
  const text = JSON.stringify(result);
  const exact = envelopeOfToolResult(text, tool, { normalize: "cast-0.34" });
  assert.deepEqual(exact.envelope.data, { result: "ok", count: 0 });
  const compiled = { name: "t", outputSchema: compileSchema(OUTPUT) };
  assert.deepEqual(
    envelopeOfToolResult(text, compiled, { normalize: "cast" }).envelope,
    cast.envelope,
  );
});
