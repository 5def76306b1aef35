// Many at once, and many in a row: everything settles once, and nothing stays behind.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MemoryServer } from "./support/memory-server.mjs";
import { assertNothingRuns, options } from "./support/servers.mjs";
import { node, toolwire } from "./support/toolwire.mjs";

const { connectStreams } = toolwire;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

const COUNTED = {
  name: "count",
  inputSchema: { type: "object" },
  outputSchema: {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  },
};

function countingServer(more) {
  return new MemoryServer({
    tools: [COUNTED],
    answer: (message) => {
      const { n } = message.params.arguments;
      return { content: [], structuredContent: { n: n % 10 === 0 ? String(n) : n } };
    },
    ...more,
  });
}

/** Bytes that buffers and WebAssembly memories hold, after a forced collection. */
async function external() {
  for (let round = 0; round < 5; round += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().external;
}

test("10,000 concurrent calls on one session settle once each", async (t) => {
  const calls = 10_000;
  const held = [];
  const server = countingServer();
  const answer = server.answer;
  // Nothing is answered before all were asked, and then in reverse order.
  server.answer = (message) => {
    held.push([message.id, answer(message)]);
    return undefined;
  };
  const client = await connectStreams(server.options());
  const settled = new Uint8Array(calls);
  const started = performance.now();
  const all = Array.from({ length: calls }, (_, n) =>
    client.callTool("count", { n }).then(
      (result) => {
        settled[n] += 1;
        assert.equal(result.structuredContent.n, n);
        return "valid";
      },
      (error) => {
        settled[n] += 1;
        assert.equal(error.reason, "output_schema_violation");
        return "refused";
      },
    ),
  );
  while (held.length < calls) {
    await new Promise(setImmediate);
  }
  for (const [id, result] of held.reverse()) {
    server.say({ jsonrpc: "2.0", id, result });
  }
  const outcomes = await Promise.all(all);
  const ms = performance.now() - started;
  await client.close();
  assert.ok(settled.every((count) => count === 1));
  assert.equal(outcomes.filter((outcome) => outcome === "refused").length, calls / 10);
  t.diagnostic(`${calls} calls in ${Math.round(ms)} ms, ${Math.round((calls / ms) * 1000)} a second`);
});

test("1,000 sessions opened and closed leave no memory behind", async (t) => {
  const session = async (n) => {
    const client = await connectStreams(countingServer().options());
    assert.equal((await client.callTool("count", { n })).structuredContent.n, n);
    await client.close();
  };
  // What the engine keeps for good is there after the first few.
  for (let n = 1; n <= 9; n += 1) {
    await session(n);
  }
  const before = await external();
  for (let n = 0; n < 1_000; n += 1) {
    await session((n % 9) + 1);
  }
  const after = await external();
  const grown = after - before;
  t.diagnostic(`external memory: ${before} bytes before, ${after} after (${grown} more)`);
  // One instance holds over a megabyte: a leak of every hundredth would show.
  assert.ok(grown < 8_000_000, `${grown} bytes stayed`);
});

test("200 sessions at once share instances and all answer", async () => {
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => connectStreams(countingServer().options())),
  );
  const results = await Promise.all(clients.map((client, n) => client.callTool("count", { n: n * 10 + 1 })));
  assert.deepEqual(results.map((result) => result.structuredContent.n), clients.map((_, n) => n * 10 + 1));
  await Promise.all(clients.map((client) => client.close()));
});

test("50 servers started and closed leave no process and no descriptor", async (t) => {
  const descriptors = () => {
    try {
      return readdirSync("/proc/self/fd").length;
    } catch {
      return 0;
    }
  };
  const round = () =>
    Promise.all(
      Array.from({ length: 5 }, async () => {
        const client = await node.connect(options("well-behaved"));
        await client.close();
      }),
    );
  await round();
  const before = descriptors();
  for (let n = 0; n < 10; n += 1) {
    await round();
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  const after = descriptors();
  t.diagnostic(`descriptors: ${before} before, ${after} after`);
  assert.ok(after <= before + 2, `${after - before} descriptors stayed`);
  await assertNothingRuns();
});
