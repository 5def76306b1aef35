// The call protocol's map: what settles a call, and what is sent (spec rows ).
import assert from "node:assert/strict";
import { EventEmitter, getEventListeners } from "node:events";
import { mock, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { toolwire } from "./support/toolwire.mjs";

const { CallError, PendingRequestMap, ToolwireError, localEnvelope } = toolwire;

const ENVELOPE = Object.freeze({
  data: { x: 1 },
  meta: { source: "local", operationId: "ns.op", timestamp: 1_700_000_000_000 },
});

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
  const ids = () => events.filter(({ type }) => type === "call.requested").map((e) => e.requestId);
  const types = () => events.map(({ type }) => type);
  return { map, events, ids, types };
}

/** A call that nobody answered yet, and its id. */
function opened(options, callOptions) {
  const log = mapWithLog(options);
  const call = log.map.call("ns.op", { n: 1 }, callOptions);
  return { ...log, call, id: log.ids()[0] };
}

test("AT-115 call resolves with exactly the envelope it is answered with", async () => {
  const { map, call, id } = opened();
  assert.equal(map.getPendingCount(), 1);
  map.respond(id, ENVELOPE);
  assert.equal(map.getPendingCount(), 0);
  assert.equal(await call, ENVELOPE);
});

test("call resolves with an envelope, whoever answers", async () => {
  const { map, call, id } = opened();
  map.dispatch("call.responded", { requestId: id, output: ENVELOPE });
  assert.ok(toolwire.isResponseEnvelope(await call));
});

test("call.responded carries an envelope", () => {
  const { map, events, id, call } = opened();
  const envelope = localEnvelope({ ok: true }, "ns.op");
  map.respond(id, envelope);
  assert.deepEqual(events.at(-1), { type: "call.responded", requestId: id, output: envelope });
  return call;
});

// AT-116, AT-118 and what else is no envelope.
for (const [name, raw] of [
  ["AT-116", { result: "raw" }],
  ["AT-118", "raw string"],
  ["nothing", undefined],
  ["null", null],
  ["data without meta", { data: 1 }],
  ["an envelope's array", [ENVELOPE]],
  ["a proxy that throws", new Proxy({}, { getOwnPropertyDescriptor() { throw new Error("no"); } })],
]) {
  test(`respond refuses raw values: ${name}`, async () => {
    const { map, events, call, id } = opened();
    assert.throws(() => map.respond(id, raw), /envelope/);
    assert.throws(() => map.respond(id, raw), (error) => error instanceof ToolwireError);
    assert.equal(events.length, 1);
    assert.equal(map.getPendingCount(), 1);
    map.respond(id, ENVELOPE);
    assert.equal(await call, ENVELOPE);
  });
}

test("AT-120 abort publishes call.aborted once and rejects with ABORTED", async () => {
  const { map, events, call, id } = opened();
  map.abort(id);
  map.abort(id);
  assert.deepEqual(events.slice(1), [{ type: "call.aborted", requestId: id }]);
  assert.equal(map.getPendingCount(), 0);
  await assert.rejects(call, (error) => error instanceof CallError && error.code === "ABORTED");
});

test("AT-121 abort of an unknown id is nothing", () => {
  const { map, events } = mapWithLog();
  map.abort("nobody");
  assert.deepEqual(events, []);
});

test("AT-125 a deadline that passes rejects with TIMEOUT and tells the other side", async () => {
  const deadline = Date.now() + 250;
  const { map, events, call, id } = opened({}, { deadline });
  assert.equal(events[0].deadline, deadline);
  await assert.rejects(call, { code: "TIMEOUT", retryable: true, details: { deadline } });
  assert.ok(Date.now() >= deadline);
  assert.deepEqual(events.slice(1), [{ type: "call.aborted", requestId: id }]);
  assert.equal(map.getPendingCount(), 0);
});

test("a deadline of 0 has passed: nothing is sent", async () => {
  for (const deadline of [0, -5, -Infinity, Date.now() - 1]) {
    const { map, events, call } = opened({}, { deadline });
    await assert.rejects(call, { code: "TIMEOUT" });
    assert.deepEqual(events, []);
    assert.equal(map.getPendingCount(), 0);
  }
});

test("a deadline is by the clock the map was given, which does not run backwards", async () => {
  let clock = 1_000;
  const { map, events, call, id } = opened({ now: () => clock }, { deadline: 1_100 });
  clock = 1_099;
  map.dispatch("call.responded", { requestId: "other", output: ENVELOPE });
  clock = 5;
  map.dispatch("call.responded", { requestId: "other", output: ENVELOPE });
  assert.equal(map.getPendingCount(), 1);
  // The time has come although no timer fired yet: the answer is late.
  clock = 1_100;
  map.dispatch("call.responded", { requestId: id, output: ENVELOPE });
  await assert.rejects(call, { code: "TIMEOUT", details: { deadline: 1_100 } });
  assert.equal(events.at(-1).type, "call.aborted");
});

test("deadlines beyond what a timer can wait are waited for", async (t) => {
  const month = 2_592_000_000;
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 0 });
  t.after(() => mock.timers.reset());
  const { map, call } = opened({}, { deadline: month });
  const other = map.call("ns.op", 1, { deadline: 1e300 });
  mock.timers.tick(2_147_483_647);
  await Promise.resolve();
  assert.equal(map.getPendingCount(), 2);
  mock.timers.tick(month - 2_147_483_647);
  await assert.rejects(call, { code: "TIMEOUT" });
  assert.equal(map.getPendingCount(), 1);
  map.free();
  await assert.rejects(other, { code: "freed" });
});

test("no deadline, null and Infinity are none; what is no time is refused", async () => {
  for (const deadline of [undefined, null, Infinity]) {
    const { map, events, id, call } = opened({}, { deadline });
    assert.ok(!("deadline" in events[0]));
    map.respond(id, ENVELOPE);
    await call;
  }
  for (const deadline of [NaN, "5", 5n, {}]) {
    const { events, call } = opened({}, { deadline });
    await assert.rejects(call, { code: "invalid_arguments", option: "deadline" });
    assert.deepEqual(events, []);
  }
});

test("AT-127 an error for an unknown id is ignored and counted", () => {
  const { map, events } = mapWithLog();
  map.dispatch("call.error", { requestId: "r", code: "X", message: "m" });
  assert.deepEqual(events, []);
  assert.deepEqual(map.ignored, { unknown: 1, malformed: 0 });
});

test("AT-130 responses out of order each settle their own call", async () => {
  const { map, ids } = mapWithLog();
  const calls = [map.call("ns.a", 1), map.call("ns.b", 2)];
  const [first, second] = ids();
  map.respond(second, localEnvelope("b", "ns.b"));
  map.respond(first, localEnvelope("a", "ns.a"));
  assert.deepEqual((await Promise.all(calls)).map(({ data }) => data), ["a", "b"]);
});

test("AT-134 metadata, identity, parent and deadline are carried", () => {
  const identity = { id: "u", scopes: ["s"] };
  const options = {
    metadata: { trace: "t" },
    identity,
    parentRequestId: "p",
    deadline: Date.now() + 60_000,
  };
  const { map, events, call, id } = opened({ newId: () => "r1" }, options);
  assert.deepEqual(events, [
    { type: "call.requested", requestId: "r1", operationId: "ns.op", input: { n: 1 }, ...options },
  ]);
  map.respond(id, ENVELOPE);
  return call;
});

test("AT-366 two maps, each the other's transport: an id of the other is not touched", async () => {
  const first = new PendingRequestMap({ onEvent: (type, event) => cross(second, type, event) });
  const second = new PendingRequestMap({ onEvent: (type, event) => cross(first, type, event) });
  function cross(to, type, event) {
    if (type === "call.requested") {
      queueMicrotask(() => to.respond(event.requestId, localEnvelope(event.input, "ns.op")));
    } else {
      to.dispatch(type, event);
    }
  }
  const untouched = new PendingRequestMap({ onEvent() {} });
  const waiting = untouched.call("ns.op", 0);
  assert.equal((await first.call("ns.op", 7)).data, 7);
  assert.equal((await second.call("ns.op", 8)).data, 8);
  assert.deepEqual([first, second, untouched].map((map) => map.getPendingCount()), [0, 0, 1]);
  untouched.free();
  await assert.rejects(waiting, { code: "freed" });
});

test("events may come back over a bus that all share: nothing happens twice", async () => {
  const bus = new EventEmitter();
  const join = () => {
    const map = new PendingRequestMap({
      onEvent: (type, event) => bus.emit("event", type, event),
    });
    bus.on("event", (type, event) => map.dispatch(type, event));
    return map;
  };
  const [caller, server] = [join(), join()];
  bus.on("event", (type, event) => {
    if (type === "call.requested") {
      server.respond(event.requestId, localEnvelope("once", event.operationId));
    }
  });
  assert.equal((await caller.call("ns.op", 1)).data, "once");
  const aborted = caller.call("ns.op", 1);
  await aborted;
  assert.equal(caller.getPendingCount(), 0);
});

test("completed without a response rejects a call with ABORTED, on either side", async () => {
  for (const complete of [
    (map, id) => map.complete(id),
    (map, id) => map.dispatch("call.completed", { requestId: id }),
  ]) {
    const { map, call, id } = opened();
    complete(map, id);
    await assert.rejects(call, { code: "ABORTED", message: "completed without a response" });
  }
});

test("an error of the other side rejects with its code, message and details", async () => {
  const { map, events, call, id } = opened();
  map.dispatch("call.error", { requestId: id, code: "BUSY", message: "later", details: { n: 2 }, retryable: true });
  await assert.rejects(call, (error) => {
    assert.ok(error instanceof CallError);
    assert.deepEqual(error.toJSON(), { code: "BUSY", message: "later", retryable: true, details: { n: 2 } });
    return true;
  });
  assert.equal(events.length, 1);
});

test("emitError publishes and settles what waits here", async () => {
  const { map, events, call, id } = opened();
  map.emitError(id, "BUSY", "later", { when: 5n }, true);
  assert.deepEqual(events.at(-1), {
    type: "call.error", requestId: id, code: "BUSY", message: "later", details: { when: "5" }, retryable: true,
  });
  await assert.rejects(call, { code: "BUSY", retryable: true });
  map.emitError("unknown", "X", "m");
  assert.deepEqual(events.at(-1), { type: "call.error", requestId: "unknown", code: "X", message: "m" });
});

test("undefined data stays undefined here and is null in the event", async () => {
  const { map, events, call, id } = opened();
  const envelope = localEnvelope(undefined, "ns.op");
  map.respond(id, envelope);
  assert.equal(await call, envelope);
  assert.equal((await call).data, undefined);
  const { output } = JSON.parse(JSON.stringify(events.at(-1)));
  assert.equal(output.data, null);
  assert.ok(toolwire.isResponseEnvelope(output));
  assert.equal(envelope.data, undefined);
});

test("the first response wins; what comes later is harmless", async () => {
  const { map, call, id } = opened();
  map.dispatch("call.responded", { requestId: id, output: ENVELOPE });
  for (const type of ["call.responded", "call.error", "call.completed", "call.aborted"]) {
    map.dispatch(type, { requestId: id, output: localEnvelope(2, "x"), code: "X", message: "m" });
  }
  assert.equal(await call, ENVELOPE);
  assert.deepEqual(map.ignored, { unknown: 4, malformed: 0 });
});

test("a malformed event settles the call it names and no other", async () => {
  const trapdoor = (id) => ({ requestId: id, get output() { throw new Error("read"); } });
  for (const [type, event, at] of [
    ["call.responded", (id) => ({ requestId: id, output: { raw: 1 } }), "/output"],
    ["call.responded", (id) => ({ requestId: id }), "/output"],
    ["call.responded", (id) => ({ requestId: id, output: { data: 1, meta: { source: "local" } } }), "/output"],
    ["call.responded", trapdoor, ""],
    ["call.responded", (id) => ({ requestId: id, output: { get data() { throw 1; }, meta: ENVELOPE.meta } }), ""],
    ["call.error", (id) => ({ requestId: id, code: 5, message: "m" }), "/code"],
    ["call.error", (id) => ({ requestId: id, code: "X" }), "/message"],
    ["call.error", (id) => ({ requestId: id, code: "X", message: "m", retryable: "yes" }), "/retryable"],
  ]) {
    const { map, events, call, id } = opened();
    const other = map.call("ns.other", 1);
    map.dispatch(type, event(id));
    await assert.rejects(call, { code: "EXECUTION_ERROR", details: { at } });
    assert.equal(map.ignored.malformed, 1);
    assert.equal(map.getPendingCount(), 1);
    assert.equal(events.at(-1).type, "call.aborted");
    map.free();
    await assert.rejects(other, { code: "freed" });
  }
});

test("dispatch throws at nothing", () => {
  const { map } = mapWithLog();
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const hostile = new Proxy({}, {
    get() { throw new Error("get"); },
    getOwnPropertyDescriptor() { throw new Error("descriptor"); },
    ownKeys() { throw new Error("keys"); },
  });
  const types = ["call.responded", "call.error", "call.requested", "call.aborted", "x", "", 5, null, Symbol("s")];
  const events = [undefined, null, 1, "r", [], {}, revoked.proxy, hostile, { requestId: 5 },
    { requestId: "" }, { requestId: "\ud800" }, { requestId: "r".repeat(100_000) },
    { get requestId() { throw new Error("id"); } }];
  for (const type of types) {
    for (const event of events) {
      map.dispatch(type, event);
    }
  }
  assert.equal(map.ignored.malformed, types.length * events.length);
  assert.equal(map.ignored.unknown, 0);
});

test("a signal aborts, before and while", async () => {
  const early = mapWithLog();
  const reason = new Error("enough");
  await assert.rejects(
    early.map.call("ns.op", 1, { signal: AbortSignal.abort(reason) }),
    (error) => error.code === "ABORTED" && error.cause === reason,
  );
  assert.deepEqual(early.events, []);
  const controller = new AbortController();
  const { map, events, call, id } = opened({}, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(call, (error) => error.code === "ABORTED" && error.cause === reason);
  assert.deepEqual(events.slice(1), [{ type: "call.aborted", requestId: id }]);
  assert.equal(map.getPendingCount(), 0);
});

test("a signal is let go when the call settles", async () => {
  const controller = new AbortController();
  const { map, ids } = mapWithLog();
  for (let n = 0; n < 5; n += 1) {
    const call = map.call("ns.op", n, { signal: controller.signal });
    assert.equal(getEventListeners(controller.signal, "abort").length, 1);
    map.respond(ids().at(-1), ENVELOPE);
    await call;
  }
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("requests that share a signal share its listener", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const { map, ids } = mapWithLog();
  const calls = Array.from({ length: 30 }, (_, n) => map.call("ns.op", n, { signal }));
  assert.equal(getEventListeners(signal, "abort").length, 1);
  map.respond(ids()[0], ENVELOPE);
  assert.equal(await calls[0], ENVELOPE);
  assert.equal(getEventListeners(signal, "abort").length, 1);
  controller.abort();
  const settled = await Promise.allSettled(calls.slice(1));
  assert.ok(settled.every(({ reason }) => reason.code === "ABORTED"));
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.equal(map.getPendingCount(), 0);
});

test("giving a request up gives up what was called for it", async () => {
  const { map, events, ids } = mapWithLog();
  const root = map.call("ns.root", 1);
  const child = map.call("ns.child", 1, { parentRequestId: ids()[0] });
  const grandchild = map.call("ns.grandchild", 1, { parentRequestId: ids()[1] });
  const other = map.call("ns.other", 1, { parentRequestId: "elsewhere" });
  map.abort(ids()[0]);
  for (const call of [root, child, grandchild]) {
    await assert.rejects(call, { code: "ABORTED" });
  }
  const aborted = () => events.filter(({ type }) => type === "call.aborted").map((e) => e.requestId);
  assert.deepEqual(aborted(), ids().slice(0, 3));
  // A root that is served elsewhere: its descendants here are given up all the same.
  map.dispatch("call.aborted", { requestId: "elsewhere" });
  await assert.rejects(other, { code: "ABORTED" });
  assert.deepEqual(aborted(), ids());
  assert.equal(map.getPendingCount(), 0);
});

test("a child inherits an earlier deadline of the request it is made for", () => {
  const { map, events, ids } = mapWithLog({ now: () => 0 });
  const swallow = (call) => call.catch(() => {});
  swallow(map.call("ns.root", 1, { deadline: 50 }));
  swallow(map.call("ns.child", 1, { parentRequestId: ids()[0] }));
  swallow(map.call("ns.child", 1, { parentRequestId: ids()[0], deadline: 20 }));
  swallow(map.call("ns.child", 1, { parentRequestId: ids()[1], deadline: 90 }));
  assert.deepEqual(events.map(({ deadline }) => deadline), [50, 50, 20, 50]);
  map.free();
});

test("what a listener throws for a request fails the call", async () => {
  const broken = new Error("no transport");
  for (const onEvent of [() => { throw broken; }, () => Promise.reject(broken)]) {
    const { map, call } = opened({ onEvent });
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof CallError);
      assert.equal(error.code, "EXECUTION_ERROR");
      assert.equal(error.cause, broken);
      return true;
    });
    assert.equal(map.getPendingCount(), 0);
    map.abort("x");
  }
  // A transport that knows more says it.
  const refusing = () => { throw new CallError({ code: "CONNECTION_CLOSED", retryable: true }); };
  await assert.rejects(opened({ onEvent: refusing }).call, { code: "CONNECTION_CLOSED", retryable: true });
});

test("what a listener throws for an abort is nobody's; for a response its sender's", async () => {
  let fails = false;
  const { map, call, id } = opened({ onEvent: () => { if (fails) throw new Error("down"); } });
  const second = map.call("ns.op", 2);
  fails = true;
  map.abort(id);
  await assert.rejects(call, { code: "ABORTED" });
  assert.throws(() => map.respond("x", ENVELOPE), { message: "down" });
  assert.throws(() => map.complete("x"), { message: "down" });
  map.free();
  await assert.rejects(second, { code: "freed" });
});

test("listeners may use the map", async () => {
  let map;
  const outcomes = [];
  map = new PendingRequestMap({
    newId: (() => { let n = 0; return () => `r${n++}`; })(),
    onEvent: (type, event) => {
      if (type === "call.requested" && event.input > 0) {
        // Answered before `call` returns, and another call made in between.
        outcomes.push(map.call("ns.op", event.input - 1).then(({ data }) => data));
        map.respond(event.requestId, localEnvelope(event.input, "ns.op"));
      } else if (type === "call.requested") {
        map.abort(event.requestId);
      } else if (type === "call.aborted") {
        map.abort(event.requestId);
        map.dispatch("call.error", { requestId: event.requestId, code: "X", message: "" });
      }
    },
  });
  assert.equal((await map.call("ns.op", 3)).data, 3);
  const settled = await Promise.allSettled(outcomes);
  assert.deepEqual(settled.map(({ value, reason }) => value ?? reason.code), ["ABORTED", 1, 2]);
  assert.equal(map.getPendingCount(), 0);
});

test("so many requests and no more are open at once", async () => {
  const { map, ids } = mapWithLog({ maxPending: 2 });
  const calls = [map.call("ns.op", 1), map.call("ns.op", 2)];
  await assert.rejects(map.call("ns.op", 3), { code: "LIMIT", retryable: true, details: { maxPending: 2 } });
  await assert.rejects(map.subscribe("ns.op", 3).next(), { code: "LIMIT" });
  map.respond(ids()[0], ENVELOPE);
  const third = map.call("ns.op", 3);
  map.respond(ids()[1], ENVELOPE);
  map.respond(ids()[2], ENVELOPE);
  await Promise.all([...calls, third]);
  for (const maxPending of [0, -1, 1.5, "9", {}]) {
    assert.throws(() => new PendingRequestMap({ maxPending }), { option: "maxPending" });
  }
});

test("an id that is open already refuses the second request", async () => {
  const { map, events, call } = opened({ newId: () => "same" });
  await assert.rejects(map.call("ns.op", 2), { code: "invalid_arguments", option: "newId" });
  assert.equal(events.length, 1);
  map.respond("same", ENVELOPE);
  assert.equal(await call, ENVELOPE);
  for (const newId of [() => 5, () => "", () => "\udc00", () => "é".repeat(513)]) {
    await assert.rejects(opened({ newId }).call, { option: "newId" });
  }
});

test("ids are 128 random bits", async () => {
  const { map, ids } = mapWithLog();
  const calls = Array.from({ length: 600 }, () => map.call("ns.op", 1));
  for (const id of ids()) {
    assert.match(id, /^[0-9a-f]{32}$/);
    map.respond(id, ENVELOPE);
  }
  assert.equal(new Set(ids()).size, 600);
  await Promise.all(calls);
});

test("options that cannot be used are refused before anything is sent", async () => {
  const hostile = { get deadline() { throw new Error("read"); } };
  for (const [options, option] of [
    [{ identity: "u" }, "identity"],
    [{ metadata: [] }, "metadata"],
    [{ parentRequestId: 5 }, "parentRequestId"],
    [{ signal: {} }, "signal"],
    [hostile, "deadline"],
  ]) {
    const { events, call } = opened({}, options);
    await assert.rejects(call, { code: "invalid_arguments", option });
    assert.deepEqual(events, []);
  }
  const { map } = mapWithLog();
  for (const operationId of [undefined, "", 5, null, {}]) {
    await assert.rejects(map.call(operationId, 1), { option: "operationId" });
  }
  for (const option of ["onEvent", "now", "newId"]) {
    assert.throws(() => new PendingRequestMap({ [option]: 5 }), { option });
  }
  await assert.rejects(opened({ now: () => "late" }).call, { option: "now" });
  assert.throws(() => map.respond(5, ENVELOPE), { option: "requestId" });
});

test("a map needs no options and no listener", async () => {
  const map = new PendingRequestMap();
  const call = map.call("ns.op");
  assert.equal(map.getPendingCount(), 1);
  map.free();
  map.free();
  await assert.rejects(call, { code: "freed" });
  await assert.rejects(map.call("ns.op"), { code: "freed" });
  map.dispatch("call.responded", {});
  assert.equal(map.getPendingCount(), 0);
});

test("no timer keeps a process alive for a map where nothing waits", async () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const { map, ids } = mapWithLog();
  const call = map.call("ns.op", 1, { deadline: Date.now() + 60_000 });
  map.respond(ids()[0], ENVELOPE);
  await call;
  await pause(1);
  const after = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  assert.equal(after, before);
});

test("failAll settles everything when the other side is gone; the map lives on", async () => {
  const { map, events, ids, call } = opened();
  const next = map.subscribe("ns.ticks", 1).next();
  map.failAll(new CallError({ code: "EXECUTION_ERROR", message: "the worker is gone" }));
  await assert.rejects(call, { code: "EXECUTION_ERROR", message: "the worker is gone" });
  await assert.rejects(next, { code: "EXECUTION_ERROR" });
  assert.deepEqual(events.map(({ type }) => type), ["call.requested", "call.requested"]);
  assert.equal(map.getPendingCount(), 0);
  const again = map.call("ns.op", 1);
  map.respond(ids().at(-1), ENVELOPE);
  assert.equal(await again, ENVELOPE);
});

test("a clock that fails later leaves nothing stuck", async () => {
  let broken = false;
  const now = () => {
    if (broken) {
      throw new Error("clock");
    }
    return 1_000;
  };
  const { map, call, id } = opened({ now }, { deadline: 2_000 });
  broken = true;
  await assert.rejects(map.call("ns.op", 2), { message: "clock" });
  assert.equal(map.getPendingCount(), 1);
  assert.throws(() => map.respond(id, ENVELOPE), { message: "clock" });
  map.dispatch("call.responded", { requestId: id, output: ENVELOPE });
  broken = false;
  map.respond(id, ENVELOPE);
  assert.equal(await call, ENVELOPE);
});

test("what only looks like a signal cannot leave a request open", async () => {
  const { map, ids, events } = mapWithLog();
  const deaf = { addEventListener() { throw new Error("deaf"); } };
  await assert.rejects(map.call("ns.op", 1, { signal: deaf }), { message: "deaf" });
  assert.deepEqual([map.getPendingCount(), events.length], [0, 0]);
  const sticky = { aborted: false, addEventListener() {}, removeEventListener() { throw new Error("sticky"); } };
  const call = map.call("ns.op", 1, { signal: sticky });
  map.respond(ids()[0], ENVELOPE);
  assert.equal(await call, ENVELOPE);
});
