// Envelopes and the pipeline, on the host's own values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toolwire } from "./support/toolwire.mjs";

const {
  envelopeOfToolResult,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  runPipeline,
  unwrap,
  viewOfToolResult,
} = toolwire;

const OUTPUT = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const OPERATION = { id: "ns.op", outputSchema: OUTPUT };
const LOCAL = { source: "local", operationId: "ns.op", timestamp: 5 };

test("factories make the documented shapes around the very data", () => {
  const data = { n: 1 };
  const local = localEnvelope(data, "ns.op", 5);
  assert.equal(local.data, data);
  assert.deepEqual(local.meta, LOCAL);
  assert.ok(Math.abs(localEnvelope(1, "a.b").meta.timestamp - Date.now()) < 60_000);
  assert.deepEqual(
    httpEnvelope(data, {
      statusCode: 200,
      headers: { a: "1", b: ["2", "3"] },
      contentType: "text/plain",
      source: "local",
    }).meta,
    { source: "http", statusCode: 200, headers: { a: "1", b: "2, 3" }, contentType: "text/plain" },
  );
  const mcp = mcpEnvelope(data, { isError: false, content: [], structuredContent: undefined });
  assert.deepEqual(Object.keys(mcp.meta), ["source", "isError", "content"]);
  assert.equal(unwrap(mcp), data);
  for (const envelope of [local, mcp, localEnvelope(undefined, "a.b")]) {
    assert.ok(isResponseEnvelope(envelope));
  }
});

test("only an envelope is one, and asking runs nothing", () => {
  const fail = () => assert.fail("ran");
  for (const value of [
    undefined,
    null,
    1,
    [],
    { data: 1 },
    { meta: LOCAL },
    { data: 1, meta: { source: "ftp" } },
    { data: 1, meta: { ...LOCAL, timestamp: "5" } },
    { data: 1, meta: { source: "mcp", isError: false, content: [{ type: "text" }] } },
    Object.defineProperty({ data: 1 }, "meta", { get: fail }),
    { data: 1, meta: Object.defineProperty({ ...LOCAL }, "x", { get: fail, enumerable: true }) },
    new Proxy({}, { getOwnPropertyDescriptor: () => JSON.parse("{") }),
  ]) {
    assert.equal(isResponseEnvelope(value), false);
  }
  const getter = Object.defineProperty({ meta: LOCAL }, "data", { get: fail });
  assert.equal(isResponseEnvelope(getter), true);
});

const OFF = { now: 5, normalize: "off" };

test("a value is wrapped and judged, never changed", () => {
  const value = Object.freeze({ n: 1, more: 2 });
  const outcome = runPipeline(value, OPERATION, { now: 5 });
  assert.equal(outcome.envelope.data, value);
  assert.deepEqual(outcome.envelope.meta, LOCAL);
  assert.deepEqual(outcome.verdict, { verdict: "valid", valid: true, errors: [], truncated: false });
  assert.deepEqual(outcome.changes, []);
  assert.equal("violation" in outcome, false);
  const bad = runPipeline({ n: "x" }, OPERATION, OFF);
  assert.equal(bad.verdict.verdict, "invalid");
  assert.equal(bad.violation.kind, "schema");
  assert.equal(bad.violation.errors[0].instancePath, "/n");
  assert.deepEqual(bad.diagnostics, [{ code: "output_violation" }]);
});

test("an envelope passes through as the same object", () => {
  const foreign = { data: { n: 1 }, meta: { ...LOCAL } };
  assert.equal(runPipeline(foreign, OPERATION).envelope, foreign);
  const made = localEnvelope(undefined, "x.y", 1);
  assert.equal(runPipeline(made, { id: "ns.op" }).envelope, made);
  const always = { wrapAlways: true, ...OFF };
  assert.equal(runPipeline(foreign, OPERATION, always).envelope.data, foreign);
  assert.equal(runPipeline(made, { id: "ns.op" }, always).envelope, made);
});

test("what cannot be judged is unknown, what need not be is unchecked", () => {
  const map = new Map();
  const unfit = runPipeline(map, OPERATION);
  assert.equal(unfit.envelope.data, map);
  assert.equal(unfit.verdict.verdict, "unknown");
  assert.equal(unfit.verdict.reason, "not_json");
  const unchecked = runPipeline(map, { id: "ns.op" });
  assert.equal(unchecked.verdict.verdict, "unchecked");
  assert.equal(runPipeline(undefined, { id: "ns.op" }).envelope.data, undefined);
  const odd = runPipeline(1, { id: "ns.op", outputSchema: { type: 7 } });
  assert.equal(odd.verdict.verdict, "unknown");
  assert.equal(odd.diagnostics[0].code, "schema_uncompilable");
  for (const normalize of ["other", "", 7, null]) {
    assert.throws(() => runPipeline(1, OPERATION, { normalize }), {
      code: "invalid_arguments",
      option: "normalize",
    });
  }
});

test("a tool's result becomes an envelope by its structured content, else its content", () => {
  const tool = { name: "t", outputSchema: OUTPUT };
  const result = { content: [{ type: "text", text: "x" }], structuredContent: { n: 1 } };
  const outcome = envelopeOfToolResult(result, tool);
  assert.equal(outcome.envelope.data, result.structuredContent);
  assert.equal(outcome.verdict.verdict, "valid");
  assert.deepEqual(outcome.envelope.meta, {
    source: "mcp",
    isError: false,
    content: result.content,
    structuredContent: { n: 1 },
  });
  const fromText = envelopeOfToolResult(JSON.stringify(result), tool);
  assert.deepEqual(fromText.envelope, outcome.envelope);
  const fromBytes = envelopeOfToolResult(new TextEncoder().encode(JSON.stringify(result)), tool);
  assert.deepEqual(fromBytes.envelope, outcome.envelope);

  const plain = { content: [{ type: "text", text: '{"n":2}' }, 7] };
  const kept = envelopeOfToolResult(plain, { name: "t" });
  assert.deepEqual(kept.envelope.data, [plain.content[0]]);
  assert.deepEqual(kept.contentProblems, [{ index: 1, reason: "not_an_object" }]);
  const single = { content: [{ type: "text", text: '{"n":2}' }] };
  const parsed = envelopeOfToolResult(single, tool, { parseTextFallback: true });
  assert.deepEqual(parsed.envelope.data, { n: 2 });
});

test("a violation is thrown or reported, and what arrived is private", () => {
  const tool = { name: "t", outputSchema: OUTPUT };
  const result = { content: [], structuredContent: { n: "SECRET" } };
  assert.throws(
    () => envelopeOfToolResult(result, tool),
    (error) => {
      assert.equal(error.code, "invalid_response");
      assert.ok(!JSON.stringify(error).includes("SECRET"));
      assert.ok(JSON.stringify(error.private.reveal()).includes("SECRET"));
      return true;
    },
  );
  const reported = envelopeOfToolResult(result, tool, { validation: "report" });
  assert.equal(reported.violation.kind, "schema");
  const off = envelopeOfToolResult(result, tool, { validation: "off" });
  assert.equal(off.verdict.verdict, "unchecked");
  for (const text of ["{", "[]", Uint8Array.of(0xff)]) {
    assert.throws(() => envelopeOfToolResult(text, tool), { name: "ToolwireError" });
  }
});

test("a result is one text for a model", () => {
  const result = { content: [{ type: "text", text: "four" }], structuredContent: { words: 4 } };
  assert.equal(viewOfToolResult(result, "content_first"), "four");
  assert.equal(viewOfToolResult(result, "structured_first"), '{"words":4}');
  assert.equal(viewOfToolResult(result, "both"), 'four\n{"words":4}');
  assert.throws(() => viewOfToolResult(result, "none"), { code: "invalid_arguments" });
});
