// The gateway over a real pipe: a registry of local operations and of the tools of real MCP servers,
// for the official SDK's clients of both lines and for this package's own.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { assertNothingRuns, fixture } from "./support/servers.mjs";
import { node } from "./support/toolwire.mjs";

test.after(assertNothingRuns);

const folder = mkdtempSync(join(tmpdir(), "toolwire-gateway-"));
writeFileSync(join(folder, "note.txt"), "remember the milk");

function program(name) {
  const at = fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/${name}/`, import.meta.url));
  if (!existsSync(at)) {
    return undefined;
  }
  const { bin } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
  return join(at, Object.values(bin)[0]);
}

const everything = program("server-everything");
const filesystem = program("server-filesystem");
const memory = program("server-memory");
const skip = everything && filesystem && memory ? false : "the npm servers are not installed";

const servers = [
  { server: "everything", args: [everything] },
  { server: "files", args: [filesystem, folder] },
  { server: "hidden", args: [memory] },
];

/** Each client, as the same two functions. */
const CLIENTS = {
  "the official client v1": async (args) => {
    const client = new ClientV1({ name: "test", version: "1.0.0" });
    await client.connect(
      new TransportV1({ command: process.execPath, args, stderr: "ignore", env: process.env }),
    );
    const { tools } = await client.listTools();
    return {
      tools,
      call: (name, input, options) => client.callTool({ name, arguments: input }, undefined, options),
      close: () => client.close(),
    };
  },
  "the official client v2": async (args) => {
    const client = new ClientV2({ name: "test", version: "1.0.0" });
    await client.connect(
      new TransportV2({ command: process.execPath, args, stderr: "ignore", env: process.env }),
    );
    const { tools } = await client.listTools();
    return {
      tools,
      call: (name, input, options) => client.callTool({ name, arguments: input }, options),
      close: () => client.close(),
    };
  },
  "this package's client": async (args) => {
    const client = await node.connect({ server: "gateway", command: process.execPath, args });
    return {
      tools: client.tools,
      call: (name, input, options) => client.callTool(name, input, options),
      close: () => client.close(),
    };
  },
};

for (const [who, connected] of Object.entries(CLIENTS)) {
  test(`${who} lists, searches, reads, calls and batches`, { skip }, async (t) => {
    const { tools, call, close } = await connected([fixture("gateway"), JSON.stringify(servers)]);
    t.after(close);
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["search", "schema", "call", "batch"],
    );

    const found = await call("search", { query: "read text file" });
    const names = found.structuredContent.operations.map(({ name }) => name);
    assert.ok(names.includes("files.read_text_file"), names.join());
    // The server that was imported as internal is not there, under any name.
    for (const query of ["", "hidden", "knowledge graph"]) {
      const all = await call("search", { query });
      assert.doesNotMatch(JSON.stringify(all.structuredContent), /"hidden\./);
    }
    const denied = await call("call", { operation: "hidden.read_graph" });
    assert.equal(denied.structuredContent.code, "NOT_FOUND");

    const schema = await call("schema", { name: "files.read_text_file" });
    assert.equal(schema.structuredContent.inputSchema.properties.path.type, "string");

    const path = join(folder, "note.txt");
    const read = await call("call", { operation: "files.read_text_file", input: { path } });
    assert.equal(read.isError, false);
    assert.match(read.content[0].text, /remember the milk/);
    const outside = { path: join(folder, "..", "..", "etc", "passwd") };
    const refused = await call("call", { operation: "files.read_text_file", input: outside });
    assert.equal(refused.isError, true);

    const input = { text: "a b c" };
    const batch = await call("batch", {
      calls: [
        { operation: "text.count", input },
        { operation: "everything.echo", input: { message: "hello" } },
        { operation: "vault.open" },
        { operation: "none.such" },
        { operation: "files.read_text_file", input: outside },
      ],
    });
    const [count, echo, vault, none, file] = batch.structuredContent.results;
    assert.deepEqual(count, { isError: false, output: { result: 3 } });
    assert.match(JSON.stringify(echo), /hello/);
    assert.deepEqual(vault, { isError: false, output: { result: "open" } });
    assert.equal(none.error.code, "NOT_FOUND");
    assert.equal(file.error.code, "EXECUTION_ERROR");
    assert.ok(Array.isArray(file.error.details.content));
  });

  test(`${who} gives a call up, and the operation is told`, async (t) => {
    const { call, close } = await connected([fixture("gateway")]);
    t.after(close);
    const abort = new AbortController();
    const waiting = call("call", { operation: "slow.wait" }, { signal: abort.signal });
    const rejected = assert.rejects(waiting);
    await new Promise((resolve) => setTimeout(resolve, 50));
    abort.abort();
    await rejected;
    const after = await call("call", { operation: "text.count", input: { text: "a" } });
    assert.deepEqual(after.structuredContent, { result: 1 });
  });

  test(`${who} is refused what is none of the four`, async (t) => {
    const { call, close } = await connected([fixture("gateway")]);
    t.after(close);
    // AT-266: the specification's answer, an error of the protocol. The own client knows before it asks.
    await assert.rejects(call("bogus", {}), (error) => {
      assert.ok(error.code === -32602 || error.code === "tool_not_found", String(error.code));
      return true;
    });
  });
}

test("AT-219, AT-268, G03: what a server of the gateway says of itself", async (t) => {
  const client = await node.connect({
    server: "gateway",
    command: process.execPath,
    args: [fixture("gateway")],
  });
  t.after(() => client.close());
  assert.deepEqual(client.serverInfo, { name: "gateway", version: "1.0.0" });
  assert.ok(client.capabilities.tools);
  for (const word of ["search", "schema", "call", "batch"]) {
    assert.match(client.instructions, new RegExp(`\`${word}\``));
  }
  await assert.rejects(client.request("tools/list", { cursor: "bogus" }), { rpcCode: -32602 });
  const { tools } = await client.request("tools/list");
  assert.equal(tools.length, 4);
});

test("a thousand operations, ten thousand mixed calls over one pipe: each answered once", async (t) => {
  const operations = 1_000;
  const client = await node.connect({
    server: "gateway",
    command: process.execPath,
    args: ["--expose-gc", fixture("gateway"), "[]", String(operations)],
    queueCapacity: 1_024,
  });
  t.after(() => client.close());
  const memory = async () => {
    const used = await client.callTool("call", { operation: "process.memory" });
    return used.structuredContent.result;
  };
  const id = (index) => `area${index % 20}.op${index % operations}`;
  const kinds = [
    (index) => ["search", { query: `thing ${index % operations}` }],
    (index) => ["schema", { name: id(index) }],
    (index) => ["call", { operation: id(index), input: { text: "a b" } }],
    (index) => ["batch", { calls: [{ operation: id(index) }, {}] }],
  ];
  let answered = 0;
  let before;
  for (let index = 0; index < 10_000; index += 100) {
    const calls = Array.from({ length: 100 }, (_, offset) =>
      client.callTool(...kinds[offset % 4](index + offset)),
    );
    for (const { isError } of await Promise.all(calls)) {
      assert.equal(isError, false);
      answered += 1;
    }
    if (index === 2_000) {
      // By now everything is warm: what comes after must not add up.
      before = await memory();
    }
  }
  assert.equal(answered, 10_000);
  const grown = (await memory()) - before;
  console.log(`${answered} calls over ${operations} operations: ${Math.round(grown / 1_024)} KiB more`);
  assert.ok(grown < 64 * 1_048_576, `${grown} bytes more`);
});
