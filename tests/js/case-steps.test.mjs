/**
 * Steps of the case formats that no case of the two files uses. Each is shown by a case of its own
 * that passes, and that fails when the step is left out.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { loadPackage } from "../cases/package.mjs";
import { runCase } from "../cases/runner.mjs";

const toolwire = loadPackage();
const TOOLS = [{ name: "a", inputSchema: { type: "object" } }];

/** The case passes as it is, and not without the steps that `isStep` picks. */
function needs(line, isStep) {
  assert.deepEqual(runCase(line, toolwire), { status: "passed" });
  const side = Object.hasOwn(line, "in") ? "in" : "input";
  const steps = line[side].steps.filter((step) => !isStep(step));
  assert.ok(steps.length < line[side].steps.length, "the case has such a step");
  const without = { ...line, [side]: { ...line[side], steps } };
  assert.equal(runCase(without, toolwire).status, "failed");
}

function client(steps, out) {
  return { id: "step", kind: "session", in: { steps }, out, modelled: true };
}

function field(steps, expected, more = {}) {
  const input = { protocol: "2025-11-25", state: "ready", steps, ...more };
  return { id: "step", kind: "session", input, expected };
}

const call = { host: "call", h: "a", name: "t", arguments: {} };
const frame = (id) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "a", arguments: {} },
});

for (const [verb, why] of [
  ["eof", "stdout_closed"],
  ["stdin_closed", "stdin_closed"],
  ["close", "scope_closed"],
]) {
  test(`client session: ${verb} ends what is open`, () => {
    const error = { code: "connection_closed", why };
    const outcomes = { connect: "ok", x: { error } };
    const steps = [["ready", TOOLS], ["call", "x", "a", {}], [verb]];
    needs(client(steps, { sent: [frame(3)], outcomes, diag: [] }), ([one]) => one === verb);
  });
}

test("client session: an exit without a number", () => {
  const error = { code: "connection_closed", why: "exited", exit: null };
  const outcomes = { connect: "ok", x: { error } };
  const steps = [["ready", TOOLS], ["call", "x", "a", {}], ["exit", null]];
  const line = client(steps, { sent: [frame(3)], outcomes, diag: [] });
  // How C words an exit without a number is not in its public cases, so only the code is compared.
  delete error.why;
  needs(line, ([one]) => one === "exit");
});

test("client session: unstall lets the queue go", () => {
  const steps = [
    ["ready", TOOLS],
    ["stall"],
    ["call", "x", "a", {}],
    ["call", "y", "a", {}],
    ["unstall"],
  ];
  const line = client(steps, {
    sent: [frame(3), frame(4)],
    outcomes: { connect: "ok" },
    diag: [],
  });
  needs(line, ([one]) => one === "unstall");
});

test("field session: cancel aborts a call and tells the server", () => {
  const expected = {
    settles: { a: { err: { kind: "cancelled" } } },
    sends: [{ method: "tools/call" }, { method: "notifications/cancelled" }],
    state: "ready",
  };
  needs(field([call, { host: "cancel", h: "a" }], expected), ({ host }) => host === "cancel");
});

test("field session: close ends what is open", () => {
  const expected = { settles: { a: { err: { kind: "closed" } } }, state: "closed" };
  needs(field([call, { host: "close" }], expected), ({ host }) => host === "close");
});

test("field session: a line is filled up past the bound, and the next one counts", () => {
  const reply = '{"jsonrpc":"2.0","id":${a},"result":{"content":[]}}\n';
  const steps = [
    call,
    { recvFill: { byte: "61", count: 5_000 } },
    { recv: "\n" },
    { recv: reply, perByte: true },
  ];
  const expected = { settles: { a: { ok: true } }, diags: { frame_too_long: 1 }, state: "ready" };
  const line = field(steps, expected, { config: { maxLineBytes: 1_000 } });
  needs(line, ({ recvFill }) => recvFill !== undefined);
  needs(line, ({ perByte }) => perByte === true);
});

test("field session: every page is answered with the same cursor", () => {
  const result = { tools: [{ name: "x", inputSchema: { type: "object" } }], nextCursor: "same" };
  const steps = [{ host: "listTools", h: "l" }, { recvEach: { h: "l", times: 40, result } }];
  const expected = {
    settles: { l: { ok: true, names: ["x"] } },
    diags: { repeated_cursor: 1 },
    sends: [{ method: "tools/list", params: "no cursor" }, { params: { cursor: "same" } }],
  };
  needs(field(steps, expected), ({ recvEach }) => recvEach !== undefined);
});

test("field session: blocked writes fill the queue, and the rest is refused", () => {
  const steps = [
    { host: "blockWrites" },
    { host: "callMany", h: "m", count: 64, name: "t", arguments: {} },
    call,
  ];
  const expected = {
    settles: { a: { err: { kind: "outbound_full" } } },
    pending: ["m"],
    sendsExclude: [{ method: "tools/call" }],
  };
  const line = field(steps, expected);
  needs(line, ({ host }) => host === "blockWrites");
  needs(line, ({ host }) => host === "callMany");
});

test("field session: fixed bytes get the real ids", () => {
  const reply = '{"jsonrpc":"2.0","id":7,"result":{"content":[]}}\n';
  const steps = [call, { recvHex: Buffer.from(reply).toString("hex") }];
  const line = field(steps, { settles: { a: { ok: true } } }, { firstRequestId: 7 });
  needs(line, ({ recvHex }) => recvHex !== undefined);
});

test("what must not be found is looked for", () => {
  const outbound = { lastBytesExclude: ["ff"] };
  assert.equal(runCase(field([call], { outbound }), toolwire).status, "passed");
  outbound.lastBytesExclude.push("0a");
  assert.equal(runCase(field([call], { outbound }), toolwire).status, "failed");

  const sendsExclude = [{ method: "tools/list" }];
  assert.equal(runCase(field([call], { sendsExclude }), toolwire).status, "passed");
  sendsExclude.push({ method: "tools/call", params: { name: "t" } });
  assert.equal(runCase(field([call], { sendsExclude }), toolwire).status, "failed");
});
