// The call protocol through Redis Streams, by docs/redis-adapter.mjs and several processes.
import assert from "node:assert/strict";
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "redis";
import { callThrough } from "../../docs/redis-adapter.mjs";

const HANDLER = fileURLToPath(new URL("../fixtures/calls/redis-handler.mjs", import.meta.url));

const isInstalled = spawnSync("redis-server", ["--version"]).status === 0;
const skip = isInstalled ? false : "redis-server is not installed: nothing was run through it";

/** A Redis server of our own, in a folder of its own, reached by a socket file. */
async function startRedis() {
  const folder = mkdtempSync(join(tmpdir(), "toolwire-redis-"));
  const path = join(folder, "redis.sock");
  const options = ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"];
  const server = spawn("redis-server", [...options, "--dir", folder], { stdio: "ignore" });
  const exited = once(server, "exit");
  const redis = createClient({ socket: { path, reconnectStrategy: () => 20 } });
  redis.on("error", () => {}); // until the server listens
  await redis.connect();
  const end = async () => {
    redis.destroy();
    server.kill();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  return { redis, path, end };
}

async function startHandler(path, name) {
  const child = fork(HANDLER, [path, name]);
  await once(child, "message");
  return child;
}

async function stopHandler(child) {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

async function eventually(ask) {
  for (let n = 0; n < 500; n += 1) {
    const answer = await ask();
    if (answer !== undefined) {
      return answer;
    }
    await pause(10);
  }
  return assert.fail("did not come about");
}

test("through Redis Streams", { skip }, async (t) => {
  const { redis, path, end } = await startRedis();
  const name = "toolwire-test";
  const handlers = await Promise.all([1, 2, 3].map(() => startHandler(path, name)));
  const { map, stop } = await callThrough(redis, name);
  t.after(async () => {
    await stop();
    await Promise.all(handlers.map(stopHandler));
    await end();
  });

  await t.test("handlers share the work, and each request is answered once", async () => {
    const calls = Array.from({ length: 300 }, (_, n) => map.call("far.echo", n));
    const answers = (await Promise.all(calls)).map(({ data }) => data);
    assert.deepEqual(answers.map(({ input }) => input), answers.map((_, n) => n));
    const pids = new Set(answers.map(({ pid }) => pid));
    assert.ok(pids.size >= 2, `${pids.size} processes served`);
    assert.deepEqual(map.ignored, { unknown: 0, malformed: 0 });
    assert.equal(map.getPendingCount(), 0);
  });

  await t.test("several callers each get their own answers", async () => {
    const other = await callThrough(redis, name);
    const calls = [map, other.map].map((caller, n) => caller.call("far.echo", n));
    assert.deepEqual((await Promise.all(calls)).map(({ data }) => data.input), [0, 1]);
    assert.deepEqual(other.map.ignored, { unknown: 0, malformed: 0 });
    await other.stop();
  });

  await t.test("identity and metadata cross, and errors come back", async () => {
    const options = { identity: { id: "u", scopes: ["key"] }, metadata: { trace: "t" } };
    assert.deepEqual((await map.call("far.context", {}, options)).data.metadata, { trace: "t" });
    assert.equal((await map.call("far.guarded", {}, options)).data, "in");
    await assert.rejects(map.call("far.guarded", {}), { code: "ACCESS_DENIED" });
    await assert.rejects(map.call("far.fail", {}), { code: "LATER", details: { after: 3 } });
  });

  await t.test("subscriptions cross, and a consumer that leaves closes the producer", async () => {
    const data = [];
    for await (const item of map.subscribe("far.ticks", { count: 4 })) {
      data.push(item.data);
    }
    assert.deepEqual(data, [0, 1, 2, 3]);
    const closed = async () => {
      const all = await Promise.all(Array.from({ length: 12 }, () => map.call("far.seen", {})));
      return Math.max(...all.map(({ data: seen }) => seen.closed));
    };
    for await (const item of map.subscribe("far.ticks", { ms: 1 })) {
      if (item.data === 2) {
        break;
      }
    }
    await eventually(async () => ((await closed()) >= 1 ? true : undefined));
  });

  await t.test("aborts and deadlines cross", async () => {
    const controller = new AbortController();
    const aborted = map.call("far.wait", { ms: 60_000 }, { signal: controller.signal });
    const late = map.call("far.wait", { ms: 60_000 }, { deadline: Date.now() + 2_000 });
    setTimeout(() => controller.abort(), 1_000);
    await assert.rejects(aborted, { code: "ABORTED" });
    await assert.rejects(late, { code: "TIMEOUT", retryable: true });
    const reasons = new Map();
    await eventually(async () => {
      const all = await Promise.all(Array.from({ length: 6 }, () => map.call("far.seen", {})));
      for (const [id, reason] of all.flatMap(({ data }) => data.aborted)) {
        reasons.set(id, reason);
      }
      return reasons.size === 2 ? true : undefined;
    });
  });

  await t.test("a handler process that is killed: a typed outcome, and the others go on", async () => {
    const victim = handlers[0];
    const calls = Array.from({ length: 10 }, () => map.call("far.wait", { ms: 1_500 }));
    const settled = Promise.allSettled(calls);
    await eventually(async () => {
      const pending = await redis.xPending(`${name}:requests`, "handlers");
      return pending.pending === 10 ? true : undefined;
    });
    await stopHandler(victim);
    const outcomes = await settled;
    const failed = outcomes.filter(({ status }) => status === "rejected");
    assert.ok(failed.length >= 1 && failed.length <= 4, `${failed.length} failed`);
    for (const { reason } of failed) {
      assert.deepEqual([reason.code, reason.retryable], ["EXECUTION_ERROR", false]);
    }
    const pids = new Set();
    for (let n = 0; n < 20; n += 1) {
      pids.add((await map.call("far.echo", n)).data.pid);
    }
    assert.ok(!pids.has(victim.pid));
    assert.equal(map.getPendingCount(), 0);
  });

  await t.test("with nobody to serve: TIMEOUT, and what was aborted never runs", async () => {
    await Promise.all(handlers.map(stopHandler));
    await assert.rejects(map.call("far.echo", 1, { deadline: Date.now() + 100 }), { code: "TIMEOUT" });
    const controller = new AbortController();
    const unwanted = map.call("far.die", {}, { signal: controller.signal });
    await pause(50);
    controller.abort();
    await assert.rejects(unwanted, { code: "ABORTED" });
    const waiting = map.call("far.echo", "at last");
    await pause(50);
    handlers.push(await startHandler(path, name));
    assert.equal((await waiting).data.input, "at last");
  });
});
