// A client's tools as flows: rows R74 to R81.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { connectStreams, flowsOf } = toolwire;

const TOOLS = ["first", "second", "third"].map((name) => ({
  name,
  description: `about ${name}`,
  inputSchema: { type: "object", properties: { a: { const: 12345678901234567 } } },
}));
const CLIENT = { server: "catalog", tools: TOOLS, callTool: () => assert.fail("called") };

function names(options) {
  return flowsOf(CLIENT, options)
    .bindings()
    .map(({ descriptor }) => descriptor.name);
}

test("flows are named after the server, in the catalog's order", () => {
  assert.equal(flowsOf(CLIENT).name, "mcp/catalog");
  assert.deepEqual(names(), ["mcp/catalog/first", "mcp/catalog/second", "mcp/catalog/third"]);
  assert.deepEqual(names({ namePrefix: "r/c" }), ["r/c/first", "r/c/second", "r/c/third"]);
  assert.deepEqual(names({ include: ["third", "first"], exclude: ["third", "nope"] }), [
    "mcp/catalog/first",
  ]);
});

test("a checked projection refuses what the other ignores", () => {
  assert.deepEqual(names({ include: ["nope", "first"] }), ["mcp/catalog/first"]);
  assert.throws(() => names({ include: ["nope", "first"], checked: true }), {
    code: "tool_not_found",
    reason: "include_missing",
  });
  assert.throws(() => names({ namePrefix: "", checked: true }), {
    code: "protocol_error",
    reason: "empty_name_prefix",
  });
  assert.throws(() => names({ include: "first" }), { code: "invalid_arguments" });
});

test("a descriptor is a frozen copy that says what may happen", () => {
  const [{ descriptor }] = flowsOf(CLIENT, { capabilities: ["net:get:x"] }).bindings();
  assert.deepEqual(descriptor.inputDocument, TOOLS[0].inputSchema);
  assert.notEqual(descriptor.inputDocument, TOOLS[0].inputSchema);
  assert.ok(Object.isFrozen(descriptor.inputDocument.properties));
  assert.ok(descriptor.description.includes("about first"));
  assert.ok(descriptor.description.indexOf("catalog") < descriptor.description.indexOf("about"));
  assert.deepEqual(descriptor.capabilities, ["net:get:x"]);
  assert.deepEqual(descriptor.effects, {
    reads: ["**"],
    writes: ["**"],
    mode: "expected",
    onConflict: "serialize",
    tier: "irreversible",
  });
});

test("a flow's call is the tool's, without what is not there", async () => {
  const server = new MemoryServer({
    tools: TOOLS,
    answer: ({ params }) =>
      params.arguments.structured
        ? { content: [], structuredContent: { x: 1 }, _meta: { hidden: 1 } }
        : { content: [{ type: "text", text: params.name }] },
  });
  const client = await connectStreams(server.options());
  const [first, second] = flowsOf(client).bindings();
  assert.deepStrictEqual(await first.call({}), {
    content: [{ type: "text", text: "first" }],
    isError: false,
  });
  assert.deepStrictEqual(await second.call({ structured: true }), {
    content: [],
    isError: false,
    structuredContent: { x: 1 },
  });
  await client.close();
  await assert.rejects(first.call({}), { code: "connection_closed" });
});
