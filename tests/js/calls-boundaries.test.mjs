// The call protocol over a worker thread and over a child process's standard streams.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { toolwire } from "./support/toolwire.mjs";

const { CallError, PendingRequestMap } = toolwire;

const fixture = (name) => fileURLToPath(new URL(`../fixtures/calls/${name}`, import.meta.url));

const gone = (what) => new CallError({ code: "EXECUTION_ERROR", message: `the ${what} is gone` });

function inWorker() {
  const worker = new Worker(fixture("worker.mjs"));
  const map = new PendingRequestMap({
    onEvent: (type, event) => worker.postMessage({ type, event }),
  });
  worker.on("message", ({ type, event }) => map.dispatch(type, event));
  worker.on("exit", () => map.failAll(gone("worker")));
  return { map, end: () => worker.terminate() };
}

function inChild() {
  const child = spawn(process.execPath, [fixture("child.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const map = new PendingRequestMap({
    onEvent: (type, event) => child.stdin.write(`${JSON.stringify({ type, event })}\n`),
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { type, event } = JSON.parse(line);
    map.dispatch(type, event);
  });
  const exited = once(child, "close").then(() => map.failAll(gone("process")));
  return {
    map,
    end: () => {
      child.stdin.end();
      return exited;
    },
  };
}

/** The first outcome of a question that is not undefined; gives up after five seconds. */
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

for (const [name, start] of [["a worker thread", inWorker], ["a child process", inChild]]) {
  test(`over ${name}`, async (t) => {
    const { map, end } = start();
    const seen = async () => (await map.call("far.seen", {})).data;
    t.after(end);

    await t.test("calls", async () => {
      const input = { text: "é\n😀", list: [1, null, { deep: true }] };
      assert.deepEqual((await map.call("far.echo", input)).data.input, input);
      const calls = Array.from({ length: 200 }, (_, n) => map.call("far.echo", n));
      const answers = await Promise.all(calls);
      assert.deepEqual(answers.map(({ data }) => data.input), answers.map((_, n) => n));
      assert.equal((await map.call("far.nothing")).data, null);
      assert.equal(map.getPendingCount(), 0);
    });

    await t.test("what is carried along", async () => {
      const options = {
        parentRequestId: "p",
        identity: { id: "u", scopes: ["a"], resources: { "doc:1": ["read"] } },
        metadata: { trace: "t" },
        deadline: Date.now() + 60_000,
      };
      const { requestId, ...rest } = (await map.call("far.context", {}, options)).data;
      assert.match(requestId, /^[0-9a-f]{32}$/);
      assert.deepEqual(rest, options);
    });

    await t.test("errors", async () => {
      await assert.rejects(map.call("far.fail", {}), (error) => {
        assert.ok(error instanceof CallError);
        const { code, message, details } = error;
        assert.deepEqual([code, message, details], ["LATER", "LATER: come back", { after: 3 }]);
        return true;
      });
      await assert.rejects(map.call("far.missing", {}), { code: "OPERATION_NOT_FOUND" });
      await assert.rejects(map.call("far.guarded", {}), { code: "ACCESS_DENIED" });
      const identity = { id: "u", scopes: ["key"] };
      assert.equal((await map.call("far.guarded", {}, { identity })).data, "in");
      await assert.rejects(map.call("far.strange", {}), { code: "EXECUTION_ERROR", details: { operationId: "far.strange", reason: "bigint" } });
      await assert.rejects(map.call("far.echo", { n: 5n }), { code: "EXECUTION_ERROR" });
    });

    await t.test("subscriptions", async () => {
      const data = [];
      for await (const item of map.subscribe("far.ticks", { count: 5 })) {
        data.push(item.data);
      }
      assert.deepEqual(data, [0, 1, 2, 3, 4]);
      const before = (await seen()).closed;
      for await (const { data } of map.subscribe("far.ticks", { ms: 1 })) {
        if (data === 3) {
          break;
        }
      }
      await eventually(async () => ((await seen()).closed > before ? true : undefined));
      const flood = map.subscribe("far.ticks", {}, { highWaterMark: 10 });
      await flood.next();
      const open = map.getPendingCount();
      await eventually(() => (map.getPendingCount() < open ? true : undefined));
      await assert.rejects(async () => {
        for await (const _ of flood);
      }, { code: "LIMIT" });
      await eventually(async () => ((await seen()).closed > before + 1 ? true : undefined));
    });

    await t.test("aborts and deadlines cross", async () => {
      const controller = new AbortController();
      const aborted = map.call("far.wait", { ms: 60_000 }, { signal: controller.signal });
      await seen();
      controller.abort();
      await assert.rejects(aborted, { code: "ABORTED" });
      const late = map.call("far.wait", { ms: 60_000 }, { deadline: Date.now() + 1_500 });
      await assert.rejects(late, { code: "TIMEOUT" });
      const told = await eventually(async () => {
        const { aborted } = await seen();
        return aborted.length >= 2 ? aborted : undefined;
      });
      assert.equal(told[0][1], "ABORTED");
      assert.match(told[1][1], /^(ABORTED|TIMEOUT)$/);
    });

    await t.test("the other side dies", async () => {
      const waiting = map.call("far.wait", { ms: 60_000 });
      const ticks = map.subscribe("far.ticks", { ms: 60_000 });
      await ticks.next();
      const dying = map.call("far.die", {});
      await assert.rejects(dying, { code: "EXECUTION_ERROR", message: /is gone/ });
      await assert.rejects(waiting, { code: "EXECUTION_ERROR" });
      await assert.rejects(ticks.next(), { code: "EXECUTION_ERROR" });
      assert.equal(map.getPendingCount(), 0);
    });
  });
}
