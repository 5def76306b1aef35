// The shape of a tool's result, and how its numbers are read.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const TOOL = {
  name: "t",
  inputSchema: { type: "object" },
  outputSchema: { type: "object", properties: { n: { type: "integer" } } },
};

async function resultOf(json, options, callOptions) {
  const server = new MemoryServer({ tools: [TOOL] });
  const client = await toolwire.connectStreams(server.options(options));
  const call = client.callTool("t", {}, callOptions);
  while (server.got("tools/call").length === 0) {
    await new Promise(setImmediate);
  }
  const { id } = server.got("tools/call")[0];
  server.raw(`{"jsonrpc":"2.0","id":${id},"result":${json}}\n`);
  try {
    return await call;
  } finally {
    await client.close();
  }
}

test("a result has exactly the members a host copies", async () => {
  const text = '{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":1},"other":2}';
  const result = await resultOf(text);
  assert.deepEqual(Object.keys(result), ["content", "isError", "structuredContent"]);
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  const twin = {
    content: [{ type: "text", text: "x" }],
    isError: false,
    structuredContent: { n: 1 },
  };
  assert.deepStrictEqual(result, twin);
  assert.deepStrictEqual(structuredClone(result), twin);
  assert.equal(JSON.stringify(result), JSON.stringify(twin));
  assert.equal(result.verdict, "valid");
  assert.equal(result.rawJson(), text);
  assert.deepEqual(result.violations, []);
  assert.deepEqual(result.contentProblems, []);
});

test("structured content that is not there is undefined, and present", async () => {
  const result = await resultOf('{"content":[],"isError":true}');
  assert.deepEqual(Object.keys(result), ["content", "isError", "structuredContent"]);
  assert.equal(result.structuredContent, undefined);
  assert.equal(result.isError, true);
  assert.equal(result.verdict, "unchecked");
});

test("_meta follows when it was sent, except in strict", async () => {
  const text = '{"content":[],"_meta":{"a":1}}';
  const result = await resultOf(text);
  assert.deepEqual(Object.keys(result), ["content", "isError", "structuredContent", "_meta"]);
  const strict = await resultOf(text, { profile: "strict" });
  assert.deepEqual(Object.keys(strict), ["content", "isError", "structuredContent"]);
  assert.equal("_meta" in (await resultOf('{"content":[],"_meta":null}')), false);
});

test("a violation is reported with its path, or fails the call and keeps it private", async () => {
  const text = '{"content":[],"structuredContent":{"n":"SECRET"}}';
  const result = await resultOf(text, { validation: "report" });
  assert.equal(result.verdict, "invalid");
  assert.equal(result.violation, "schema");
  assert.equal(result.violations[0].instancePath, "/n");
  assert.equal(result.violations[0].keyword, "type");
  assert.deepEqual(result.structuredContent, { n: "SECRET" });
  const off = await resultOf(text, {}, { validation: "off" });
  assert.equal(off.verdict, "unchecked");
  await assert.rejects(resultOf(text), (error) => {
    assert.equal(error.code, "invalid_response");
    assert.equal(
      error.message,
      'MCP server "memory" returned structuredContent that its own outputSchema rejects: ' +
        "expected integer; property path withheld",
    );
    assert.deepEqual(error.private.reveal().structuredContent, { n: "SECRET" });
    assert.ok(!JSON.stringify(error).includes("SECRET"));
    return true;
  });
});

test("blocks that are no blocks are left out and listed", async () => {
  const result = await resultOf('{"content":[{"type":"text","text":"a"},7,{"type":"text"}]}');
  assert.deepEqual(result.content, [{ type: "text", text: "a" }]);
  assert.deepEqual(
    result.contentProblems.map(({ index, reason }) => [index, reason]),
    [
      [1, "not_an_object"],
      [2, "missing_text"],
    ],
  );
});

test("integers beyond 2^53 are read as asked for, and stay exact in the raw text", async () => {
  const text =
    '{"content":[],"structuredContent":{"n":9007199254740993,"s":"9007199254740993\\"1234567890123456789",' +
    '"f":12345678901234567890.5,"e":1e20,"small":-12,"list":[-9007199254740993,true,false,null,{}],' +
    '"__proto__":{"big":10000000000000000}}}';
  const structured = async (numbers) => (await resultOf(text, {}, { numbers })).structuredContent;
  assert.deepEqual(await structured("number"), JSON.parse(text).structuredContent);
  for (const [numbers, whole] of [
    ["bigint", BigInt],
    ["string", String],
  ]) {
    const expected = JSON.parse(text).structuredContent;
    expected.n = whole("9007199254740993");
    expected.list[0] = whole("-9007199254740993");
    expected["__proto__"].big = whole("10000000000000000");
    const value = await structured(numbers);
    assert.deepStrictEqual(value.list, expected.list);
    assert.deepStrictEqual(Object.entries(value), Object.entries(expected));
    assert.ok(Object.hasOwn(value, "__proto__"));
  }
  const result = await resultOf(text);
  assert.ok(result.rawJson().includes('"n":9007199254740993,'));
});

test("results outlive the client", async () => {
  const result = await resultOf('{"content":[{"type":"text","text":"kept"}]}');
  assert.equal(result.content[0].text, "kept");
  assert.ok(result.rawJson().includes("kept"));
});

test("very many blocks that are no blocks are left out in linear time", async () => {
  const count = 200_000;
  const before = process.cpuUsage();
  const result = await resultOf(`{"content":[${"0,".repeat(count)}{"type":"text","text":"x"}]}`);
  const { user, system } = process.cpuUsage(before);
  assert.deepEqual(result.content, [{ type: "text", text: "x" }]);
  // Searching the list for each block took 20 s and more.
  assert.ok(user + system < 5e6, `${user + system} µs`);
});
