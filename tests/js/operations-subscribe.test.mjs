// The call protocol's subscriptions (spec rows ).
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { toolwire } from "./support/toolwire.mjs";

const { CallError, PendingRequestMap, localEnvelope } = toolwire;

/** A map that notes what it sends. */
function mapWithLog(options = {}) {
  const events = [];
  const map = new PendingRequestMap({
    ...options,
    onEvent: (type, event) => {
      events.push({ type, ...event });
      return options.onEvent?.(type, event);
    },
  });
  const types = () => events.map(({ type }) => type);
  return { map, events, types, id: () => events[0].requestId };
}

/** A subscription whose request is sent and which waits for its first item. */
function opened(subscribeOptions, options) {
  const log = mapWithLog(options);
  const items = log.map.subscribe("ns.ticks", { n: 1 }, subscribeOptions);
  const first = items.next();
  const respond = (data) => log.map.respond(log.id(), localEnvelope(data, "ns.ticks"));
  return { ...log, items, first, respond };
}

async function dataOf(items) {
  const data = [];
  for await (const item of items) {
    data.push(item.data);
  }
  return data;
}

test("AT-135 envelopes in order, then done; no call.aborted", async () => {
  const { map, items, first, respond, types, id } = opened();
  assert.equal(map.getPendingCount(), 1);
  [1, 2, 3].forEach(respond);
  map.complete(id());
  assert.equal(map.getPendingCount(), 0);
  assert.equal((await first).value.data, 1);
  assert.deepEqual(await dataOf(items), [2, 3]);
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.ok(!types().includes("call.aborted"));
});

test("AT-136 a consumer that breaks sends call.aborted once", async () => {
  const { map, events } = mapWithLog({
    onEvent: (type, { requestId }) => {
      if (type === "call.requested") {
        for (const n of [1, 2, 3]) {
          map.respond(requestId, localEnvelope(n, "ns.ticks"));
        }
      }
    },
  });
  const items = map.subscribe("ns.ticks", 1);
  for await (const item of items) {
    assert.equal(item.data, 1);
    break;
  }
  const aborted = events.filter(({ type }) => type === "call.aborted");
  assert.deepEqual(aborted, [{ type: "call.aborted", requestId: events[0].requestId }]);
  assert.equal(map.getPendingCount(), 0);
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.deepEqual(await items.return("x"), { done: true, value: "x" });
});

test("AT-138 call.error: the iterator throws a CallError, after what came before it", async () => {
  const { map, items, first, respond, id, types } = opened();
  respond(1);
  respond(2);
  map.dispatch("call.error", { requestId: id(), code: "BUSY", message: "later", details: { k: 1 } });
  assert.equal((await first).value.data, 1);
  assert.equal((await items.next()).value.data, 2);
  await assert.rejects(items.next(), (error) => {
    assert.ok(error instanceof CallError);
    assert.deepEqual(error.toJSON(), { code: "BUSY", message: "later", retryable: false, details: { k: 1 } });
    return true;
  });
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.ok(!types().includes("call.aborted"));
});

test("AT-139 call.aborted by the other side ends the iteration without an error", async () => {
  const { map, items, first, respond, id, types } = opened();
  respond(1);
  respond(2);
  map.dispatch("call.aborted", { requestId: id() });
  assert.equal((await first).value.data, 1);
  assert.deepEqual(await dataOf(items), [2]);
  assert.ok(!types().includes("call.aborted"));
});

test("AT-140 idleTimeout: TIMEOUT with the time, and call.aborted", async () => {
  const { map, first, types, events } = opened({ idleTimeout: 30 });
  assert.equal(events[0].idleTimeout, 30);
  await assert.rejects(first, { code: "TIMEOUT", retryable: true, details: { idleTimeout: 30 } });
  assert.deepEqual(types(), ["call.requested", "call.aborted"]);
  assert.equal(map.getPendingCount(), 0);
});

test("AT-141 every item restarts the idle timeout", async () => {
  let clock = 0;
  const { map, items, first, respond, types } = opened({ idleTimeout: 100 }, { now: () => clock });
  for (let n = 0; n < 5; n += 1) {
    clock += 60;
    respond(n);
  }
  assert.equal(map.getPendingCount(), 1);
  assert.equal((await first).value.data, 0);
  clock += 99;
  map.dispatch("call.responded", {});
  assert.equal(map.getPendingCount(), 1);
  clock += 1;
  map.dispatch("call.responded", {});
  assert.equal(map.getPendingCount(), 0);
  const rest = [];
  await assert.rejects(async () => {
    for await (const { data } of items) {
      rest.push(data);
    }
  }, { code: "TIMEOUT" });
  assert.deepEqual(rest, [1, 2, 3, 4]);
  assert.equal(types().at(-1), "call.aborted");
});

test("AT-142 without idleTimeout it never times out", async () => {
  for (const idleTimeout of [undefined, null, Infinity]) {
    let clock = 0;
    const { map, events, respond, first } = opened({ idleTimeout }, { now: () => clock });
    assert.ok(!("idleTimeout" in events[0]));
    clock = 1e15;
    respond(1);
    assert.equal((await first).value.data, 1);
    assert.equal(map.getPendingCount(), 1);
    map.free();
  }
  const { map } = mapWithLog();
  for (const idleTimeout of [0, -1, NaN, "5"]) {
    assert.throws(() => map.subscribe("ns.ticks", 1, { idleTimeout }), { option: "idleTimeout" });
  }
});

test("AT-143 nothing is sent before the first pull", async () => {
  const { map, events } = mapWithLog();
  const items = map.subscribe("ns.ticks", 1);
  await pause(1);
  assert.deepEqual(events, []);
  assert.equal(map.getPendingCount(), 0);
  assert.equal(items[Symbol.asyncIterator](), items);
  assert.deepEqual(await items.return(), { done: true, value: undefined });
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.deepEqual(events, []);
});

test("a consumer that is too slow: what is there comes, then LIMIT", async () => {
  for (const [highWaterMark, limit] of [[undefined, 1_024], [2, 2], [1, 1]]) {
    const { map, items, first, respond, types } = opened({ highWaterMark });
    respond("first");
    for (let n = 0; n < limit; n += 1) {
      respond(n);
    }
    assert.equal(map.getPendingCount(), 1);
    respond("one too many");
    assert.equal(map.getPendingCount(), 0);
    assert.equal(types().filter((type) => type === "call.aborted").length, 1);
    assert.equal((await first).value.data, "first");
    const got = [];
    await assert.rejects(async () => {
      for await (const { data } of items) {
        got.push(data);
      }
    }, { code: "LIMIT", details: { highWaterMark: limit } });
    assert.deepEqual(got, Array.from({ length: limit }, (_, n) => n));
  }
  const { map } = mapWithLog();
  for (const highWaterMark of [0, -1, 1.5, "9"]) {
    assert.throws(() => map.subscribe("ns.ticks", 1, { highWaterMark }), { option: "highWaterMark" });
  }
});

test("a consumer that keeps up has no limit", async () => {
  const { map, respond, items, first, id } = opened({ highWaterMark: 1 });
  let next = first;
  for (let n = 0; n < 5_000; n += 1) {
    respond(n);
    assert.equal((await next).value.data, n);
    next = items.next();
  }
  map.complete(id());
  assert.deepEqual(await next, { done: true, value: undefined });
});

test("pulls may overlap", async () => {
  const { map, respond, items, first, id } = opened({ highWaterMark: 1 });
  const pulls = [first, items.next(), items.next(), items.next(), items.next()];
  [0, 1, 2].forEach(respond);
  map.emitError(id(), "BUSY", "later");
  const settled = await Promise.allSettled(pulls);
  assert.deepEqual(
    settled.map(({ value, reason }) => reason?.code ?? value.value?.data),
    [0, 1, 2, "BUSY", undefined],
  );
});

test("a repeated response is an item of its own; what comes after the end is counted", async () => {
  const { map, respond, items, first, id } = opened();
  respond("same");
  respond("same");
  map.complete(id());
  map.dispatch("call.responded", { requestId: id(), output: localEnvelope(1, "x") });
  map.dispatch("call.completed", { requestId: id() });
  assert.equal((await first).value.data, "same");
  assert.deepEqual(await dataOf(items), ["same"]);
  assert.deepEqual(map.ignored, { unknown: 2, malformed: 0 });
});

test("a malformed item ends the subscription, and the producer is told", async () => {
  const { map, items, first, respond, id, types } = opened();
  respond(1);
  map.dispatch("call.responded", { requestId: id(), output: "raw" });
  assert.equal((await first).value.data, 1);
  await assert.rejects(items.next(), { code: "EXECUTION_ERROR", details: { at: "/output" } });
  assert.equal(types().at(-1), "call.aborted");
});

test("abort ends the iteration without an error, and what waited is dropped", async () => {
  const { map, items, first, respond, id, types } = opened();
  [1, 2, 3].forEach(respond);
  map.abort(id());
  assert.equal((await first).value.data, 1);
  assert.deepEqual(await dataOf(items), []);
  assert.equal(types().filter((type) => type === "call.aborted").length, 1);
});

test("a signal ends the iteration with ABORTED", async () => {
  const controller = new AbortController();
  const { map, items, first, respond, types } = opened({ signal: controller.signal });
  respond(1);
  assert.equal((await first).value.data, 1);
  const next = items.next();
  controller.abort(new Error("enough"));
  await assert.rejects(next, (error) => error.code === "ABORTED" && error.cause.message === "enough");
  assert.deepEqual(await items.next(), { done: true, value: undefined });
  assert.equal(types().at(-1), "call.aborted");
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
  const late = map.subscribe("ns.ticks", 1, { signal: controller.signal });
  const sent = types().length;
  await assert.rejects(late.next(), { code: "ABORTED" });
  assert.deepEqual(await late.next(), { done: true, value: undefined });
  assert.equal(types().length, sent);
});

test("a deadline holds for a subscription too", async () => {
  const { map, first, types } = opened({ deadline: Date.now() + 250 });
  await assert.rejects(first, { code: "TIMEOUT" });
  assert.equal(types().at(-1), "call.aborted");
  await assert.rejects(map.subscribe("ns.ticks", 1, { deadline: 0 }).next(), { code: "TIMEOUT" });
  assert.equal(types().length, 2);
});

test("throw() leaves like return() and hands the error back", async () => {
  const { items, first, respond, types } = opened();
  respond(1);
  await first;
  const error = new Error("consumer");
  await assert.rejects(items.throw(error), error);
  assert.equal(types().at(-1), "call.aborted");
  assert.deepEqual(await items.next(), { done: true, value: undefined });
});

test("a transport that refuses the request fails the first pull", async () => {
  const { items, first } = opened({}, { onEvent: () => { throw new Error("down"); } });
  await assert.rejects(first, { code: "EXECUTION_ERROR", message: "down" });
  assert.deepEqual(await items.next(), { done: true, value: undefined });
});

test("giving up what a subscription was made for ends it", async () => {
  const { map, events } = mapWithLog();
  const root = map.call("ns.root", 1);
  const parentRequestId = events[0].requestId;
  const next = map.subscribe("ns.ticks", 1, { parentRequestId }).next();
  map.abort(parentRequestId);
  await assert.rejects(root, { code: "ABORTED" });
  assert.deepEqual(await next, { done: true, value: undefined });
  assert.equal(events.filter(({ type }) => type === "call.aborted").length, 2);
  assert.equal(map.getPendingCount(), 0);
});

test("free ends what is open", async () => {
  const { map, items, first, respond } = opened();
  respond(1);
  map.free();
  assert.equal((await first).value.data, 1);
  await assert.rejects(items.next(), { code: "freed" });
  await assert.rejects(map.subscribe("ns.ticks", 1).next(), { code: "freed" });
});
