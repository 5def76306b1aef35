// The operation cases of envelopes, by their ids. What a handler returns is run through the pipeline,
// as `execute` does it.
import assert from "node:assert/strict";
import { test } from "node:test";

import { toolwire } from "./support/toolwire.mjs";

const {
  ResponseEnvelopeSchema,
  compileSchema,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  runPipeline,
  unwrap,
} = toolwire;

const MCP = {
  data: { t: 22 },
  meta: {
    source: "mcp",
    isError: false,
    content: [{ type: "text", text: "22" }],
    structuredContent: { t: 22 },
  },
};

function executed(returned, id = "ns.op") {
  return runPipeline(returned, { id }).envelope;
}

test("AT-002: null is wrapped", () => {
  const envelope = executed(null);
  assert.equal(envelope.data, null);
  assert.equal(envelope.meta.source, "local");
});

test("AT-003: undefined stays undefined in process and is null on a wire", () => {
  const envelope = executed(undefined, "ns.voidOp");
  assert.ok(Object.hasOwn(envelope, "data"));
  assert.equal(envelope.data, undefined);
  assert.ok(isResponseEnvelope(envelope));
  const wire = JSON.parse(JSON.stringify(envelope));
  assert.deepEqual(wire, { data: null, meta: envelope.meta });
  assert.ok(isResponseEnvelope(wire));
  const clone = structuredClone(envelope);
  assert.ok(Object.hasOwn(clone, "data") && clone.data === undefined);
  assert.ok(isResponseEnvelope(clone));
  assert.deepEqual(Object.keys(envelope), ["data", "meta"]);
  assert.deepEqual(JSON.parse(JSON.stringify(localEnvelope(undefined, "a.b", 1))).data, null);
});

test("AT-005: an MCP envelope is handed on without a wrapper", () => {
  const returned = structuredClone(MCP);
  assert.equal(executed(returned), returned);
  assert.deepEqual(executed(returned).meta, MCP.meta);
});

test("AT-006: an HTTP envelope is handed on", () => {
  const meta = {
    source: "http",
    statusCode: 200,
    headers: { "content-type": "text/plain" },
    contentType: "text/plain",
  };
  assert.deepEqual(executed({ data: "body", meta }), { data: "body", meta });
});

const LOCAL = { source: "local", operationId: "ns.op", timestamp: 1_700_000_000_000 };

for (const [id, value, expected] of [
  ["AT-008", undefined, false],
  ["AT-012", [1, 2], false],
  ["AT-013", {}, false],
  ["AT-015", { meta: { source: "local" } }, false],
  ["AT-016", { data: 1, meta: null }, false],
  ["AT-019", { data: 1, meta: { source: "local", timestamp: 1 } }, false],
  ["AT-020", { data: 1, meta: { source: "local", operationId: 5, timestamp: 1 } }, false],
  ["AT-021", { data: 1, meta: { source: "local", operationId: "a" } }, false],
  ["AT-024", { data: 1, meta: { source: "http", statusCode: "200" } }, false],
  ["AT-025", { data: 1, meta: { source: "mcp", content: [] } }, false],
  ["AT-026", { data: 1, meta: { source: "mcp", isError: "true", content: [] } }, false],
  ["AT-029", { data: { x: 1 }, meta: LOCAL }, true],
  ["AT-031", MCP, true],
  ["AT-032", { data: 1, meta: { source: "http", statusCode: 200 } }, false],
]) {
  test(`${id}: ${JSON.stringify(value)} is ${expected ? "an" : "no"} envelope`, () => {
    assert.equal(isResponseEnvelope(value), expected);
    // The guard equals the schema.
    if (value !== undefined) {
      assert.equal(compileSchema(ResponseEnvelopeSchema).isValid(value), expected);
    }
  });
}

test("AT-036: members that were not given are absent", () => {
  const { meta } = mcpEnvelope("r", { isError: false, content: [] });
  assert.deepEqual(Object.keys(meta), ["source", "isError", "content"]);
});

test("AT-038: unwrap gives the data", () => {
  const data = { x: 1 };
  assert.equal(unwrap({ data, meta: LOCAL }), data);
});

test("what is no envelope cannot be unwrapped, and factories refuse what would be none", () => {
  for (const junk of [undefined, null, 1, "x", [], {}, { data: 1 }, { data: 1, meta: {} }]) {
    assert.throws(() => unwrap(junk), {
      name: "ToolwireError",
      code: "invalid_arguments",
      reason: "not_an_envelope",
    });
    assert.equal(isResponseEnvelope(junk), false);
  }
  const http = { statusCode: 200, headers: {}, contentType: "text/plain" };
  for (const [option, make] of [
    ["operationId", () => localEnvelope(1)],
    ["operationId", () => localEnvelope(1, 5)],
    ["timestamp", () => localEnvelope(1, "a.b", NaN)],
    ["timestamp", () => localEnvelope(1, "a.b", "5")],
    ["meta", () => httpEnvelope(1)],
    ["meta", () => httpEnvelope(1, null)],
    ["meta", () => httpEnvelope(1, "x")],
    ["statusCode", () => httpEnvelope(1, { ...http, statusCode: "200" })],
    ["headers", () => httpEnvelope(1, { ...http, headers: undefined })],
    ["headers", () => httpEnvelope(1, { ...http, headers: { a: 1 } })],
    ["contentType", () => httpEnvelope(1, { ...http, contentType: undefined })],
    ["meta", () => mcpEnvelope(1)],
    ["isError", () => mcpEnvelope(1, {})],
    ["content", () => mcpEnvelope(1, { isError: true, content: "x" })],
    ["_meta", () => mcpEnvelope(1, { isError: true, content: [], _meta: 1 })],
  ]) {
    assert.throws(make, { name: "ToolwireError", code: "invalid_arguments", option });
  }
});

test("what meta says beside its own members stays outside, and _meta and newer members stay", () => {
  const spoofed = httpEnvelope(1, {
    statusCode: 200,
    headers: { "x-a": ["1", "2"], __proto__: null },
    contentType: "a/b",
    source: "local",
  });
  assert.deepEqual(spoofed.meta, {
    source: "http",
    statusCode: 200,
    headers: { "x-a": "1, 2" },
    contentType: "a/b",
  });
  const block = {
    type: "resource_link",
    uri: "u",
    name: "n",
    title: "t",
    size: 5,
    icons: [{ src: "s" }],
    annotations: { priority: 1 },
    _meta: { a: 1 },
  };
  const { meta } = mcpEnvelope(1, { isError: false, content: [block], _meta: { b: 2 } });
  assert.deepEqual(meta, { source: "mcp", isError: false, content: [block], _meta: { b: 2 } });
  const { envelope } = toolwire.envelopeOfToolResult(
    { content: [block], _meta: { b: 2 } },
    { name: "t" },
  );
  assert.deepEqual(envelope.meta.content, [block]);
  assert.deepEqual(envelope.meta._meta, { b: 2 });
});

/** Every value inside a document, as the path of keys that leads there. */
function pathsOf(document) {
  const found = [];
  const waiting = [[]];
  while (waiting.length > 0) {
    const path = waiting.pop();
    const value = path.reduce((inner, key) => inner[key], document);
    if (typeof value === "object" && value !== null) {
      for (const key of Object.keys(value)) {
        found.push([...path, key]);
        waiting.push([...path, key]);
      }
    }
  }
  return found;
}

test("the guard accepts exactly what the schema accepts", () => {
  const schema = compileSchema(ResponseEnvelopeSchema);
  const blocks = [
    { type: "text", text: "t" },
    { type: "image", data: "", mimeType: "m" },
    { type: "audio", data: "", mimeType: "m" },
    { type: "resource", resource: { uri: "u", text: "t" } },
    { type: "resource_link", uri: "u", name: "n" },
    { type: "newer", x: 1 },
  ];
  const seeds = [
    { data: { x: [1] }, meta: LOCAL },
    { data: 1, meta: { source: "http", statusCode: 1, headers: { a: "b" }, contentType: "c" } },
    { data: null, meta: { ...MCP.meta, _meta: { a: 1 } } },
    ...blocks.map((block) => ({ data: 0, meta: { source: "mcp", isError: true, content: [block] } })),
  ];
  const others = [null, true, 1.5, "", "text", "local", "http", "mcp", [], {}, [{}], { uri: "u" }];
  let judged = 0;
  let accepted = 0;
  const compare = (value) => {
    judged += 1;
    accepted += isResponseEnvelope(value);
    assert.equal(isResponseEnvelope(value), schema.isValid(value), JSON.stringify(value));
  };
  for (const seed of seeds) {
    compare(seed);
    for (const path of pathsOf(seed)) {
      for (const other of [...others, undefined]) {
        const value = structuredClone(seed);
        const key = path.at(-1);
        const parent = path.slice(0, -1).reduce((inner, step) => inner[step], value);
        if (other !== undefined) {
          parent[key] = structuredClone(other);
        } else if (Array.isArray(parent)) {
          parent.splice(Number(key), 1);
        } else {
          delete parent[key];
        }
        compare(value);
      }
    }
  }
  assert.ok(judged > 800 && accepted > 100, `${judged} judged, ${accepted} accepted`);
});

test("event schemas are frozen and share the envelope's", () => {
  const { CallEventSchema, ResponseMetaSchema } = toolwire;
  assert.equal(CallEventSchema["call.responded"].properties.output, ResponseEnvelopeSchema);
  assert.equal(ResponseEnvelopeSchema.properties.meta, ResponseMetaSchema);
  assert.ok(Object.isFrozen(ResponseMetaSchema.anyOf[0].properties));
  const requestId = "r1";
  const output = localEnvelope(1, "ns.op", 5);
  const identity = { id: "u", scopes: ["a"], resources: { "doc:1": ["read"] } };
  const requested = { requestId, operationId: "ns.op", input: {} };
  for (const [type, event, expected] of [
    ["call.requested", requested, true],
    ["call.requested", { ...requested, identity, deadline: 5, metadata: { a: 1 } }, true],
    ["call.requested", { ...requested, identity: { id: "u" } }, false],
    ["call.requested", { requestId, operationId: "ns.op" }, false],
    ["call.responded", { requestId, output }, true],
    ["call.responded", { requestId, output: { data: 1 } }, false],
    ["call.completed", { requestId }, true],
    ["call.aborted", {}, false],
    ["call.error", { requestId, code: "X", message: "m", details: [1], retryable: true }, true],
    ["call.error", { requestId, code: 5, message: "m" }, false],
  ]) {
    assert.equal(compileSchema(CallEventSchema[type]).isValid(event), expected, type);
  }
  assert.deepEqual(Object.keys(CallEventSchema), [
    "call.requested",
    "call.responded",
    "call.completed",
    "call.aborted",
    "call.error",
  ]);
});
