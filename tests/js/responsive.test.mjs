// A result that takes long to judge: timers run meanwhile, and a signal ends it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const TOOL = {
  name: "rows",
  inputSchema: { type: "object" },
  outputSchema: {
    type: "object",
    properties: {
      rows: {
        type: "array",
        items: {
          type: "object",
          properties: { id: { type: "integer" }, tags: { items: { enum: ["a", "b", "c"] } } },
          required: ["id", "tags"],
        },
      },
    },
  },
};

/** A result whose reading and judging takes some hundred milliseconds. */
const RESULT = JSON.stringify({
  content: [],
  structuredContent: {
    rows: Array.from({ length: 250_000 }, (_, id) => ({ id, tags: ["a", "b", "c", "a"] })),
  },
});

async function connected() {
  const server = new MemoryServer({ tools: [TOOL], answer: () => undefined });
  const client = await toolwire.connectStreams(server.options());
  return { server, client };
}

async function sendResult(server) {
  while (server.got("tools/call").length === 0) {
    await new Promise(setImmediate);
  }
  const { id } = server.got("tools/call").at(-1);
  server.received.length = 0;
  server.raw(`{"jsonrpc":"2.0","id":${id},"result":${RESULT}}\n`);
}

test("timers run while a result is judged", async () => {
  const { server, client } = await connected();
  const call = client.callTool("rows", {});
  await sendResult(server);
  const started = performance.now();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  const result = await call;
  const took = performance.now() - started;
  clearInterval(timer);
  assert.equal(result.verdict, "valid");
  // Slices of about 4 ms: a timer of 1 ms fires between each two.
  assert.ok(ticks >= 5, `${ticks} ticks in ${took} ms`);
  await client.close();
});

test("a signal stops the judging of a result", async () => {
  const { server, client } = await connected();
  const abort = new AbortController();
  const call = client.callTool("rows", {}, { signal: abort.signal });
  await sendResult(server);
  // Judged to the end in one go, the call would settle before the timer fires.
  setTimeout(() => abort.abort(), 1);
  await assert.rejects(call, { code: "aborted" });
  // The connection goes on.
  const next = client.request("anything", {});
  while (server.got("anything").length === 0) {
    await new Promise(setImmediate);
  }
  server.say({ jsonrpc: "2.0", id: server.got("anything")[0].id, result: { ok: 1 } });
  assert.deepEqual(await next, { ok: 1 });
  await client.close();
});

test("a close stops the judging of a result", async () => {
  const { server, client } = await connected();
  const call = client.callTool("rows", {});
  await sendResult(server);
  setTimeout(() => client.close(), 25);
  await assert.rejects(call, { code: "connection_closed", reason: "scope_closed" });
});

test("another connection is served meanwhile", async () => {
  const busy = await connected();
  const other = new MemoryServer({
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    answer: () => ({ content: [] }),
  });
  const client = await toolwire.connectStreams(other.options());
  const call = busy.client.callTool("rows", {});
  await sendResult(busy.server);
  let over = false;
  call.then(() => {
    over = true;
  });
  await client.callTool("t", {});
  assert.equal(over, false);
  await call;
  await Promise.all([client.close(), busy.client.close()]);
});

test("a signal that takes all the work away lets the reading go on", async () => {
  const { server, client } = await connected();
  for (let delay = 0; delay < 4; delay += 1) {
    const abort = new AbortController();
    const call = client.callTool("rows", {}, { signal: abort.signal });
    await sendResult(server);
    // Somewhere between the reading of the line and the end of its judging.
    setTimeout(() => abort.abort(), 20 + delay * 60);
    await call.catch(() => {});
    const next = client.request("anything", {}, { timeoutMs: 10_000 });
    while (server.got("anything").length === 0) {
      await new Promise(setImmediate);
    }
    const { id } = server.got("anything")[0];
    server.received.length = 0;
    server.say({ jsonrpc: "2.0", id, result: { delay } });
    assert.deepEqual(await next, { delay });
  }
  await client.close();
});
