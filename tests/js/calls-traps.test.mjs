// What a trap of the main instance does to open requests.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const require = createRequire(import.meta.url);
const { guard, mainInstance } = require("../../pkg/cjs/lib/core.cjs");

const { OperationRegistry, PendingRequestMap, buildCallHandler, localEnvelope } = toolwire;

/** Retires the main instance, as anything does that is no fault the core throws on purpose. */
function trap() {
  const attempt = () =>
    guard(mainInstance(), () => {
      throw new WebAssembly.RuntimeError("unreachable");
    });
  assert.throws(attempt, { code: "core_trapped" });
}

test("open calls and subscriptions settle core_trapped, and the map lives on", async () => {
  const events = [];
  const map = new PendingRequestMap({
    onEvent: (type, event) => events.push({ type, ...event }),
  });
  const deadline = Date.now() + 60_000;
  const call = map.call("ns.op", 1, { deadline });
  const items = map.subscribe("ns.ticks", 1);
  const first = items.next();
  map.respond(events[1].requestId, localEnvelope(1, "ns.ticks"));
  map.respond(events[1].requestId, localEnvelope(2, "ns.ticks"));
  const sent = events.length;
  trap();
  assert.equal(map.getPendingCount(), 0);
  await assert.rejects(call, { code: "core_trapped" });
  assert.equal((await first).value.data, 1);
  assert.equal((await items.next()).value.data, 2);
  await assert.rejects(items.next(), { code: "core_trapped" });
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.equal(events.length, sent);
  const again = map.call("ns.op", 2);
  map.respond(events.at(-1).requestId, localEnvelope("again", "ns.op"));
  assert.equal((await again).data, "again");
  // Answers to what was lost are late.
  map.dispatch("call.responded", { requestId: events[0].requestId, output: localEnvelope(1, "x") });
  assert.deepEqual(map.ignored, { unknown: 1, malformed: 0 });
});

test("a request that is served is answered, and its operation told", async () => {
  const registry = new OperationRegistry();
  let signal;
  registry.register(spec("ns.op"), (_, context) => {
    ({ signal } = context);
    return new Promise(() => {});
  });
  const events = [];
  const callMap = new PendingRequestMap({
    onEvent: (type, event) => events.push({ type, ...event }),
  });
  const handler = buildCallHandler({ registry, callMap });
  const served = handler({ requestId: "r", operationId: "ns.op", input: {} });
  await turn();
  trap();
  await served;
  assert.ok(signal.aborted);
  const [{ type, requestId, code, details }] = events;
  assert.deepEqual([type, requestId, code], ["call.error", "r", "EXECUTION_ERROR"]);
  assert.equal(details.code, "core_trapped");
  assert.equal(events.length, 1);
});

test("maps that are forgotten keep nothing of an instance", async () => {
  const instance = mainInstance();
  const before = instance.onRetire.size;
  const maps = Array.from({ length: 50 }, () => new PendingRequestMap());
  maps.forEach((map) => map.dispatch("call.responded", {}));
  assert.equal(instance.onRetire.size, before + 50);
  maps.forEach((map) => map.free());
  assert.equal(instance.onRetire.size, before);
});
