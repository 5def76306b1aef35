// `serveStdio` as a process of its own, with clients that mean well: the official SDK's of both
// lines and this package's.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { until } from "./support/processes.mjs";
import { assertNothingRuns, fixture, options, textOf } from "./support/servers.mjs";
import { node } from "./support/toolwire.mjs";

test.after(assertNothingRuns);

const LINES = [
  { line: "v1", Client: ClientV1, Transport: TransportV1 },
  { line: "v2", Client: ClientV2, Transport: TransportV2 },
  {
    line: "v2, modern",
    Client: ClientV2,
    Transport: TransportV2,
    options: { versionNegotiation: { mode: "auto" } },
    modern: true,
  },
];

for (const { line, Client, Transport, options: more, modern = false } of LINES) {
  describe(`the official client ${line}`, () => {
    async function connected(t, onListChanged) {
      const client = new Client(
        { name: "serving-test", version: "1.0.0" },
        onListChanged === undefined
          ? more
          : { ...more, listChanged: { tools: { autoRefresh: true, debounceMs: 0, onChanged: onListChanged } } },
      );
      t.after(() => client.close());
      const transport = new Transport({
        command: process.execPath,
        args: [fixture("serving")],
        stderr: "ignore",
      });
      await client.connect(transport);
      return client;
    }

    test("lists and calls", async (t) => {
      const client = await connected(t);
      const version = client.getServerVersion();
      assert.equal(version.name, "serving");
      assert.equal(client.getInstructions(), "Call echo.");
      if (modern) {
        assert.equal(client.getNegotiatedProtocolVersion?.() ?? "2026-07-28", "2026-07-28");
      }
      const { tools } = await client.listTools();
      assert.equal(tools.length, 10);
      const echoed = await client.callTool({ name: "echo", arguments: { a: [1, "é\u2028"] } });
      assert.deepEqual(echoed.structuredContent, { a: [1, "é\u2028"] });
      const counted = await client.callTool({ name: "word_count", arguments: { text: "a b c" } });
      assert.deepEqual(counted.structuredContent, { words: 3 });
      const words = await client.callTool({ name: "words", arguments: { text: "a b" } });
      assert.deepEqual(words.structuredContent, modern ? ["a", "b"] : { result: ["a", "b"] });
      assert.equal(words.content[0].text, '["a","b"]');
      assert.equal(textOf(await client.callTool({ name: "who" })), "owner");
    });

    test("reads failures, and nothing secret", async (t) => {
      const client = await connected(t);
      const failed = await client.callTool({ name: "fail" });
      assert.equal(failed.isError, true);
      const secretive = await client.callTool({ name: "secretive" });
      assert.deepEqual(secretive.content, [{ type: "text", text: "The tool failed" }]);
      assert.equal(secretive.isError, true);
      await assert.rejects(client.callTool({ name: "nothing" }), (error) => {
        assert.equal(error.code, -32602);
        return true;
      });
    });

    test("is told of progress", async (t) => {
      const client = await connected(t);
      const seen = [];
      await client.callTool(
        { name: "steps", arguments: { count: 5 } },
        ...(line === "v1" ? [undefined] : []),
        { onprogress: ({ progress, total, message }) => seen.push([progress, total, message]) },
      );
      assert.deepEqual(
        seen,
        [1, 2, 3, 4, 5].map((step) => [step, 5, `step ${step}`]),
      );
    });

    test("gives calls up", async (t) => {
      const client = await connected(t);
      const abort = new AbortController();
      const call = client.callTool(
        { name: "slow" },
        ...(line === "v1" ? [undefined] : []),
        { signal: abort.signal },
      );
      const state = async () => textOf(await client.callTool({ name: "aborted" }));
      const rejected = assert.rejects(call);
      await until(async () => (await state()) === "1 0");
      abort.abort("enough");
      await rejected;
      await until(async () => (await state()) === "1 1");
    });

    test("learns that the tools changed", async (t) => {
      let changed;
      const told = new Promise((resolve) => {
        changed = (error, tools) => resolve({ error, tools });
      });
      const client = await connected(t, changed);
      await client.callTool({ name: "grow" });
      const { tools } = await told;
      assert.ok(tools.some((tool) => tool.name === "grown"));
    });
  });
}

for (const era of ["auto", "modern", "legacy"]) {
  test(`this package's client does the same, ${era}`, (t) => sameByOurs(t, era));
}

async function sameByOurs(t, era) {
  const client = await node.connect(options("serving", { era }));
  t.after(() => client.close());
  // A server that is slow to start is asked both ways, and speaks what opened the pipe last.
  assert.ok(era === "auto" || client.era === era);
  assert.equal(client.serverInfo.name, "serving");
  assert.equal(client.tools.length, 10);
  assert.deepEqual(client.problems, []);
  const big = await client.callTool("echo", { n: 2 ** 53 - 1, "": null });
  assert.deepEqual(big.structuredContent, { n: 2 ** 53 - 1, "": null });
  const counted = await client.callTool("word_count", { text: "a b c" });
  assert.equal(counted.verdict, "valid");
  const words = await client.callTool("words", { text: "a b" });
  assert.equal(words.verdict, "valid");
  const value = ["a", "b"];
  assert.deepEqual(words.structuredContent, client.era === "legacy" ? { result: value } : value);
  const seen = [];
  await client.callTool("steps", { count: 3 }, { onProgress: ({ progress }) => seen.push(progress) });
  assert.deepEqual(seen, [1, 2, 3]);
  const abort = new AbortController();
  const call = client.callTool("slow", {}, { signal: abort.signal });
  const rejected = assert.rejects(call, { code: "aborted" });
  await until(async () => textOf(await client.callTool("aborted")) === "1 0");
  abort.abort();
  await rejected;
  await until(async () => textOf(await client.callTool("aborted")) === "1 1");
  const changed = new Promise((resolve) => {
    client.onToolsChanged(({ added }) => resolve(added));
  });
  await client.callTool("grow");
  assert.deepEqual(await changed, ["grown"]);
}

test("10,000 calls over one pipe are each answered once", async (t) => {
  const client = await node.connect(options("serving"));
  t.after(() => client.close());
  const total = 10_000;
  let next = 0;
  let wrong = 0;
  const worker = async () => {
    while (next < total) {
      const n = next;
      next += 1;
      const { structuredContent } = await client.callTool("echo", { n });
      wrong += structuredContent.n === n ? 0 : 1;
    }
  };
  await Promise.all(Array.from({ length: 100 }, worker));
  assert.equal(wrong, 0);
  assert.equal(next, total);
});
