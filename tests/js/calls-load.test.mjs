// Many calls: nothing grows, and what a call costs is printed.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { performance } from "node:perf_hooks";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import v8 from "node:v8";
import vm from "node:vm";
import { toolwire } from "./support/toolwire.mjs";

const { OperationRegistry, PendingRequestMap, buildCallHandler, coreInfo } = toolwire;

const CALLS = 100_000;
const AT_A_TIME = 100;

const INPUT = {
  type: "object",
  properties: { text: { type: "string" }, times: { type: "integer", minimum: 0 } },
  required: ["text"],
};
const OUTPUT = {
  type: "object",
  properties: { words: { type: "integer" } },
  required: ["words"],
};

const count = ({ text }) => ({ words: text.split(" ").length });

function registryOf(handler, spec) {
  const registry = new OperationRegistry();
  registry.register(
    {
      namespace: "load",
      name: "count",
      version: "1.0.0",
      type: "query",
      description: "Counts words.",
      inputSchema: INPUT,
      outputSchema: OUTPUT,
      accessControl: { requiredScopes: ["count"] },
      ...spec,
    },
    handler,
  );
  return registry;
}

/** Two maps that are each other's transport, and the listeners of what waits. */
function connected(registry) {
  const client = new PendingRequestMap({
    onEvent: (type, event) => {
      if (type === "call.requested") {
        handler(event);
      } else {
        server.dispatch(type, event);
      }
    },
  });
  const server = new PendingRequestMap({ onEvent: (type, event) => client.dispatch(type, event) });
  const handler = buildCallHandler({ registry, callMap: server });
  return { client, server };
}

const identity = { id: "u", scopes: ["count"] };
const input = { text: "durable flows release notes", times: 2 };

async function inBatches(total, one) {
  for (let done = 0; done < total; done += AT_A_TIME) {
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, n) => one(done + n)));
  }
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

test(`${CALLS} calls through registry, maps and pipeline leave nothing behind`, async (t) => {
  const { client, server } = connected(registryOf(async (given) => count(given)));
  const { signal } = new AbortController();
  const one = async (n) => {
    const options = { identity, signal, metadata: { n }, deadline: Date.now() + 60_000 };
    const { data } = await client.call("load.count", input, options);
    assert.equal(data.words, 4);
  };
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc");
  const heap = async () => {
    await turn();
    collect();
    return process.memoryUsage().heapUsed;
  };
  await inBatches(5_000, one);
  const before = { memory: coreInfo().memoryBytes, timers: timers(), heap: await heap() };
  const busy = process.cpuUsage();
  const start = performance.now();
  await inBatches(CALLS, one);
  const seconds = (performance.now() - start) / 1_000;
  const { user, system } = process.cpuUsage(busy);
  const each = ((user + system) / CALLS).toFixed(1);
  t.diagnostic(`${Math.round(CALLS / seconds)} calls a second, ${AT_A_TIME} at a time; ${each} µs of processor time each`);
  assert.equal(client.getPendingCount(), 0);
  assert.equal(server.getPendingCount(), 0);
  assert.equal(coreInfo().memoryBytes, before.memory);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.equal(timers(), before.timers);
  const grown = (await heap()) - before.heap;
  assert.ok(grown < 2_000_000, `${grown} bytes of JavaScript grew`);
  assert.deepEqual(client.ignored, { unknown: 0, malformed: 0 });
  assert.deepEqual(server.ignored, { unknown: 0, malformed: 0 });
});

test("what one local call costs beside the bare handler", async (t) => {
  const bare = async (given) => count(given);
  const registry = registryOf(bare);
  const map = new PendingRequestMap({
    onEvent: (type, event) => {
      if (type === "call.requested") {
        handler(event);
      }
    },
  });
  const handler = buildCallHandler({ registry, callMap: map });
  const ways = {
    "await handler()": () => bare(input),
    "registry.execute": () => registry.execute("load.count", input, { identity }),
    "call through one map": () => map.call("load.count", input, { identity }),
  };
  for (const [name, call] of Object.entries(ways)) {
    for (let n = 0; n < 1_000; n += 1) {
      await call();
    }
    // Processor time: other programs on the machine do not count.
    const before = process.cpuUsage();
    const calls = 5_000;
    for (let n = 0; n < calls; n += 1) {
      await call();
    }
    const { user, system } = process.cpuUsage(before);
    t.diagnostic(`${name}: ${((user + system) / calls).toFixed(1)} µs`);
  }
  assert.equal(map.getPendingCount(), 0);
});

test("a long subscription leaves nothing behind", async () => {
  const items = 50_000;
  const registry = registryOf(
    async function* () {
      for (let n = 0; n < items; n += 1) {
        yield { words: n };
      }
    },
    { type: "subscription" },
  );
  const { client, server } = connected(registry);
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc");
  let early;
  let seen = 0;
  for await (const { data } of client.subscribe("load.count", input, { identity, idleTimeout: 60_000 })) {
    assert.equal(data.words, seen);
    seen += 1;
    if (seen === 5_000 || seen === items) {
      collect();
      const used = process.memoryUsage().heapUsed;
      early ??= used;
      assert.ok(used - early < 2_000_000, `${used - early} bytes of JavaScript grew`);
    }
  }
  assert.equal(seen, items);
  await turn();
  assert.deepEqual([client.getPendingCount(), server.getPendingCount()], [0, 0]);
});

test("calls that are given up leave nothing behind", async () => {
  const signals = new Set();
  const { client, server } = connected(
    registryOf((_, { signal }) => {
      signals.add(signal);
      return new Promise(() => {});
    }),
  );
  const before = { memory: 0, timers: timers() };
  const outcomes = new Map();
  for (let n = 0; n < 3_000; n += 1) {
    const controller = new AbortController();
    const how = n % 3;
    const options = { identity, signal: controller.signal };
    if (how === 1) {
      options.deadline = Date.now() + 5;
    }
    const call = client.call("load.count", input, options);
    if (how === 0) {
      controller.abort();
    } else if (how === 2) {
      client.failAll(new Error("gone"));
      server.failAll(new Error("gone"));
    }
    const { code } = await call.then(assert.fail, (error) => error);
    outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
    assert.equal(getEventListeners(controller.signal, "abort").length, 0);
    if (n === 300) {
      before.memory = coreInfo().memoryBytes;
    }
  }
  await turn();
  assert.equal(client.getPendingCount(), 0);
  assert.ok(outcomes.get("ABORTED") >= 1_000 && outcomes.get("TIMEOUT") >= 900, [...outcomes].join());
  assert.ok([...signals].every(({ aborted }) => aborted));
  assert.equal(coreInfo().memoryBytes, before.memory);
  assert.equal(timers(), before.timers);
});
