// What a hostile server, or a host in an odd moment, does to a client over a pair of streams.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { ToolwireError, connectStreams } = toolwire;

const ECHO = { name: "echo", inputSchema: { type: "object" } };

/** How a promise settles, which it must. */
function settled(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: "never settled" })), 5_000);
  });
  const outcome = promise.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer));
}

test("requests that wait behind the line that ends the session settle with it", async () => {
  const server = new MemoryServer({ tools: [ECHO] });
  const client = await connectStreams(server.options({ profile: "strict" }));
  server.raw(`{"jsonrpc":"2.0","method":7,"x":[${"1,".repeat(400_000)}1]}\n`);
  await new Promise(setImmediate);
  const controller = new AbortController();
  const waiting = [
    client.callTool("echo", {}, { signal: controller.signal }),
    client.request("x/y"),
    client.notify("notifications/a"),
    client.refreshTools(),
  ];
  const over = await client.closed;
  assert.ok(over instanceof ToolwireError);
  for (const promise of waiting) {
    assert.equal((await settled(promise)).error, over);
  }
  controller.abort();
});

test("closing within a listener gives the promise of the end", async () => {
  const server = new MemoryServer({ tools: [ECHO] });
  const client = await connectStreams(server.options());
  let closing;
  client.onNotification(() => {
    closing = client.close();
  });
  server.say({ jsonrpc: "2.0", method: "notifications/x" });
  await client.closed;
  assert.ok(closing instanceof Promise);
  assert.deepEqual(await settled(closing), { value: undefined });
  assert.deepEqual(await settled(client.close()), { value: undefined });
  assert.equal(server.terminated, 1);
});
