// Arguments of the wrong type: refused by typed errors, never a trap, and no code of theirs runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { toolwire } from "./support/toolwire.mjs";

const { ClientSession, LineReader, classifyLine, compileSchema, coreInfo, runPipeline } = toolwire;

const encoder = new TextEncoder();

const revoked = (() => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
})();

const ran = [];
const STRANGE = {
  bigint: 5n,
  symbol: Symbol("x"),
  object: {},
  "function": () => 1,
  "object that runs": {
    valueOf: () => ran.push("valueOf"),
    toString: () => ran.push("toString"),
  },
  "revoked proxy": revoked,
};

const CALLS = {
  connect: [0],
  receive: [new Uint8Array(1), 0],
  work: [10, 0],
  end: [0],
  exited: [1, 0],
  writeFailed: [0],
  advance: [0],
  callTool: ["t", {}, undefined, 0],
  request: ["x", {}, undefined, 0],
  notify: ["x", {}, 0],
  refreshTools: [0],
  respond: [1, { result: 1 }, 0],
  cancel: [1, "r", 0],
  stderr: [new Uint8Array(1), 0],
  stderrEnded: [0],
  close: [0],
};

/** What these positions take beside plain values. */
const IS_JSON = new Set(["callTool 1", "request 1", "notify 1", "respond 1"]);
const IS_OPTIONS = new Set(["callTool 2", "request 2"]);

function refusedOrDone(action, label) {
  try {
    action();
  } catch (error) {
    assert.equal(error.name, "ToolwireError", `${label}: ${error}`);
    assert.notEqual(error.code, "core_trapped", label);
  }
}

test("a session refuses arguments of the wrong type and lives on", () => {
  const { restarts } = coreInfo();
  for (const [method, args] of Object.entries(CALLS)) {
    for (const [index] of args.entries()) {
      for (const [kind, strange] of Object.entries(STRANGE)) {
        const label = `${method} ${index}`;
        const session = new ClientSession({ server: "s", era: "legacy" });
        const given = args.map((argument, at) => (at === index ? strange : argument));
        if (IS_JSON.has(label) || IS_OPTIONS.has(label)) {
          refusedOrDone(() => session[method](...given), `${label} ${kind}`);
        } else if (!(kind === "bigint" && typeof args[index] === "string")) {
          assert.throws(
            () => session[method](...given),
            { code: "invalid_arguments", reason: "option_invalid" },
            `${label} ${kind}`,
          );
        }
        assert.equal(session.state, "idle", `${label} ${kind}`);
        session.free();
      }
    }
  }
  assert.equal(coreInfo().restarts, restarts);
  assert.deepEqual(ran, []);
});

test("options of the wrong type are named", () => {
  const { restarts } = coreInfo();
  for (const strange of Object.values(STRANGE)) {
    for (const option of ["profile", "validation", "numbers", "requireTools", "era"]) {
      assert.throws(() => new ClientSession({ server: "s", [option]: strange }), {
        code: "protocol_error",
        option,
      });
    }
    assert.throws(() => compileSchema({}, { dialect: strange }), {
      code: "invalid_arguments",
      option: "dialect",
    });
  }
  const throws = {
    server: "s",
    get profile() {
      throw new Error("no");
    },
  };
  assert.throws(() => new ClientSession(throws), { code: "protocol_error", option: "profile" });
  assert.equal(coreInfo().restarts, restarts);
  assert.deepEqual(ran, []);
});

test("the parts refuse what is not bytes, text or a number", () => {
  const { restarts } = coreInfo();
  const reader = new LineReader();
  for (const strange of [undefined, null, 5, "text", {}, [], new ArrayBuffer(1), revoked]) {
    assert.throws(() => reader.push(strange), { code: "invalid_arguments" });
    if (strange !== "text") {
      assert.throws(() => classifyLine(strange), { code: "invalid_arguments" });
    }
  }
  for (const id of [Symbol("x"), {}, revoked]) {
    assert.throws(() => runPipeline({}, { id }), { code: "invalid_arguments", option: "id" });
  }
  assert.throws(() => new LineReader({ maxFrameBytes: 5n }), { code: "invalid_arguments" });
  reader.push(encoder.encode("still here\n"));
  assert.equal(Buffer.from(reader.next()).toString(), "still here");
  reader.free();
  assert.equal(coreInfo().restarts, restarts);
});

test("bytes of another realm are bytes", () => {
  const foreign = vm.runInNewContext("Uint8Array.from([123, 125, 10])");
  const reader = new LineReader();
  reader.push(foreign);
  assert.equal(Buffer.from(reader.next()).toString(), "{}");
  reader.free();
  assert.equal(compileSchema(foreign).validateJson(foreign).valid, true);
});

test("clients, options and budgets that are none are refused by typed errors", () => {
  const { flowsOf, snapshotJson } = toolwire;
  const { restarts } = coreInfo();
  const refusal = { code: "invalid_arguments" };
  const client = { server: "s", tools: [], callTool() {} };
  for (const strange of [undefined, null, 7, 5n, Symbol("x"), [], () => 1, revoked]) {
    assert.throws(() => flowsOf(strange), refusal);
    assert.throws(() => flowsOf({ ...client, server: strange }), refusal);
  }
  for (const strange of [undefined, null, 7, "text", {}, revoked]) {
    assert.throws(() => flowsOf({ ...client, tools: strange }), refusal);
  }
  assert.throws(() => flowsOf(client, revoked), refusal);
  assert.throws(() => snapshotJson({}, revoked), refusal);
  for (const [option, values] of Object.entries({
    maxBytes: ["8", 5n, Symbol("x"), {}, revoked],
    root: ["array", 7, revoked],
    undefinedMembers: ["keep", true, revoked],
    bigint: ["number", revoked],
  })) {
    for (const value of values) {
      assert.throws(() => snapshotJson({}, { [option]: value }), { ...refusal, option });
    }
  }
  assert.equal(snapshotJson({}, null), "{}");
  assert.equal(coreInfo().restarts, restarts);
});
