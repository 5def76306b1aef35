// The sans-IO session: the drain contract, by hand.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { toolwire } from "./support/toolwire.mjs";

const { ClientSession, Redacted, ToolwireError } = toolwire;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A session and what came of it; `slice` bounds each piece of work, `split` each chunk. */
class Bench {
  sent = [];
  events = [];

  constructor(options, { slice = Infinity, split = Infinity } = {}) {
    this.session = new ClientSession({ server: "s", era: "legacy", ...options });
    this.slice = slice;
    this.split = split;
  }

  say(message, now) {
    const text = typeof message === "string" ? message : JSON.stringify(message);
    const bytes = encoder.encode(`${text}\n`);
    for (let start = 0; start < bytes.length; start += this.split) {
      this.session.receive(bytes.subarray(start, start + this.split), now);
      this.drain(now);
    }
  }

  drain(now) {
    while (this.session.hasWork) {
      this.session.work(this.slice, now);
    }
    for (let frame = this.session.takeOutput(); frame; frame = this.session.takeOutput()) {
      assert.equal(frame.at(-1), 0x0a);
      this.sent.push(JSON.parse(decoder.decode(frame)));
    }
    for (let event = this.session.pollEvent(); event; event = this.session.pollEvent()) {
      this.events.push(event);
    }
  }

  ready(tools = [{ name: "t", inputSchema: { type: "object" } }]) {
    this.session.connect(0);
    this.drain(0);
    const result = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "x", version: "1" },
      instructions: "be kind",
    };
    this.say({ jsonrpc: "2.0", id: 1, result }, 1);
    this.say({ jsonrpc: "2.0", id: 2, result: { tools } }, 2);
    return this;
  }

  taken(type) {
    const found = this.events.filter((event) => event.type === type);
    this.events = this.events.filter((event) => event.type !== type);
    return found;
  }
}

test("a session goes from idle to ready to closed", () => {
  const bench = new Bench();
  assert.equal(bench.session.state, "idle");
  assert.equal(bench.session.nextDeadline, undefined);
  bench.ready();
  assert.equal(bench.session.state, "ready");
  assert.equal(bench.session.protocolVersion, "2025-06-18");
  const [tools] = bench.taken("tools");
  assert.deepEqual(tools.added, ["t"]);
  assert.deepEqual(tools.tools, [{ name: "t", inputSchema: { type: "object" } }]);
  assert.ok(Object.isFrozen(tools.tools) && Object.isFrozen(tools.tools[0].inputSchema));
  assert.equal(bench.session.tools, bench.session.tools);
  assert.deepEqual(bench.session.tools, tools.tools);
  assert.deepEqual(bench.taken("ready"), [
    {
      type: "ready",
      protocolVersion: "2025-06-18",
      era: "legacy",
      serverInfo: { name: "x", version: "1" },
      capabilities: { tools: {} },
      instructions: "be kind",
    },
  ]);
  bench.session.close(3);
  bench.drain(3);
  assert.equal(bench.session.state, "closed");
  assert.deepEqual(bench.taken("closed"), [{ type: "closed", error: undefined }]);
  assert.deepEqual(bench.events, []);
  bench.session.free();
});

test("a call settles once, with its handle", () => {
  const bench = new Bench().ready();
  bench.events = [];
  const handle = bench.session.callTool("t", { a: 1 }, undefined, 3);
  bench.drain(3);
  const { id, params } = bench.sent.at(-1);
  assert.equal(params.name, "t");
  assert.deepEqual(params.arguments, { a: 1 });
  assert.ok(bench.session.nextDeadline > 3);
  bench.say({ jsonrpc: "2.0", id, result: { content: [] } }, 4);
  bench.say({ jsonrpc: "2.0", id, result: { content: [] } }, 4);
  const settled = bench.taken("settled");
  assert.equal(settled.length, 1);
  assert.equal(settled[0].handle, handle);
  assert.equal(settled[0].ok, true);
  assert.deepEqual(settled[0].result.content, []);
  bench.session.free();
});

test("what cannot be called settles, what cannot be asked throws", () => {
  const bench = new Bench().ready();
  const handle = bench.session.callTool("nope", {}, undefined, 3);
  bench.drain(3);
  const [settled] = bench.taken("settled");
  assert.equal(settled.handle, handle);
  assert.equal(settled.ok, false);
  assert.equal(settled.error.code, "tool_not_found");
  for (const timeoutMs of [0, -1, NaN, "5", null]) {
    assert.throws(() => bench.session.callTool("t", {}, { timeoutMs }, 3), {
      code: "invalid_arguments",
      option: "timeoutMs",
    });
  }
  assert.throws(() => bench.session.callTool("t", {}, { validation: "maybe" }, 3), {
    code: "invalid_arguments",
    option: "validation",
  });
  for (const meta of [[], "x", { f() {} }]) {
    assert.throws(() => bench.session.callTool("t", {}, { meta }, 3), {
      code: "invalid_arguments",
      option: "meta",
    });
  }
  assert.throws(() => bench.session.request("x", { f() {} }, undefined, 3), {
    code: "protocol_error",
    reason: "args_not_json",
  });
  bench.session.free();
});

test("options are checked in order and named", () => {
  const refused = (options) => {
    try {
      new ClientSession({ server: "s", ...options });
    } catch (error) {
      assert.ok(error instanceof ToolwireError);
      assert.equal(error.code, "protocol_error");
      return [error.reason, error.option];
    }
    return assert.fail("not refused");
  };
  const limit = "option_not_positive_integer";
  assert.deepEqual(refused({ maxTools: 0.5, queueCapacity: -1 }), [limit, "maxTools"]);
  assert.deepEqual(refused({ maxFrameBytes: 2 ** 53 }), [limit, "maxFrameBytes"]);
  assert.deepEqual(refused({ requestTimeoutMs: "100" }), [limit, "requestTimeoutMs"]);
  assert.deepEqual(refused({ profile: "lenient" }), ["option_invalid", "profile"]);
  assert.deepEqual(refused({ validation: true }), ["option_invalid", "validation"]);
  assert.deepEqual(refused({ clientInfo: { name: 1 } }), ["option_invalid", "clientInfo"]);
  assert.deepEqual(refused({ server: undefined }), ["option_invalid", "server"]);
  assert.deepEqual(refused({ tools: [() => 1] }), ["option_invalid", "tools"]);
  new ClientSession({ server: "s", maxCatalogBytes: Infinity, unknown: 1 }).free();
});

test("the host's option objects are read once, before anything crosses", () => {
  let reads = 0;
  const session = new ClientSession({
    get server() {
      reads += 1;
      return "s";
    },
    era: "legacy",
  });
  assert.equal(reads, 1);
  session.free();
});

test("how input is split and work is sliced changes nothing", () => {
  const run = (ways) => {
    const bench = new Bench({}, ways).ready([
      { name: "t", inputSchema: { type: "object" }, outputSchema: { items: { type: "string" } } },
    ]);
    bench.session.callTool("t", {}, undefined, 3);
    bench.session.callTool("t", {}, { validation: "report" }, 3);
    bench.drain(3);
    bench.say("noise é", 4);
    bench.say({ jsonrpc: "2.0", method: "notifications/x", params: { a: 1 } }, 4);
    bench.say({ jsonrpc: "2.0", id: "q", method: "ping" }, 5);
    const result = { content: [{ type: "text", text: "é😀" }], structuredContent: { a: [1, "x"] } };
    bench.say({ jsonrpc: "2.0", id: 3, result }, 6);
    bench.say({ jsonrpc: "2.0", id: 4, result }, 6);
    bench.session.end(7);
    bench.drain(7);
    bench.session.stderrEnded(7);
    bench.session.advance(1000);
    bench.drain(1000);
    bench.session.free();
    const events = bench.events.map((event) => JSON.stringify(event));
    return { sent: bench.sent, events };
  };
  const whole = run({});
  const types = new Set(whole.events.map((event) => JSON.parse(event).type));
  for (const type of ["ready", "tools", "diagnostic", "notification", "settled", "closed"]) {
    assert.ok(types.has(type), type);
  }
  for (const ways of [{ slice: 1 }, { slice: 7, split: 1 }, { split: 3 }, { slice: 100, split: 64 }]) {
    assert.deepEqual(run(ways), whole);
  }
});

test("the server's requests wait for an answer", () => {
  const bench = new Bench({ capabilities: { roots: {} } }).ready();
  bench.events = [];
  bench.say({ jsonrpc: "2.0", id: "r", method: "roots/list", params: { a: 1 } }, 3);
  bench.say({ jsonrpc: "2.0", id: 7, method: "roots/list" }, 3);
  bench.say({ jsonrpc: "2.0", id: 8, method: "sampling/createMessage" }, 3);
  const requests = bench.taken("request");
  assert.deepEqual(
    requests.map(({ token, ...rest }) => rest),
    [
      { type: "request", method: "roots/list", params: { a: 1 } },
      { type: "request", method: "roots/list" },
    ],
  );
  bench.session.respond(requests[1].token, { result: { roots: [] } }, 4);
  bench.session.respond(requests[0].token, { error: { code: -1, message: "no", data: [1] } }, 4);
  bench.session.respond(99, { result: {} }, 4);
  bench.drain(4);
  const answers = bench.sent.filter((message) => message.method === undefined);
  assert.deepEqual(answers.find(({ id }) => id === 7).result, { roots: [] });
  assert.deepEqual(answers.find(({ id }) => id === "r").error, {
    code: -1,
    message: "no",
    data: [1],
  });
  assert.equal(answers.find(({ id }) => id === 8).error.code, -32601);
  assert.throws(() => bench.session.respond(1, { result: { f() {} } }, 5), {
    code: "invalid_arguments",
  });
  bench.session.free();
});

test("nothing the server wrote shows in an event or an error", () => {
  const bench = new Bench().ready([
    {
      name: "t",
      inputSchema: { type: "object" },
      outputSchema: { type: "object", properties: { SECRET: { type: "integer" } } },
    },
  ]);
  bench.events = [];
  bench.session.stderr(encoder.encode("SECRET on stderr\n"), 3);
  bench.session.callTool("t", {}, undefined, 3);
  bench.session.callTool("t", {}, undefined, 3);
  bench.session.request("resources/list", {}, undefined, 3);
  bench.drain(3);
  bench.say("SECRET noise", 3);
  bench.say({ jsonrpc: "2.0", id: 3, result: { structuredContent: { SECRET: "SECRET" } } }, 3);
  const error = { code: -32602, message: "SECRET tool unknown", data: "SECRET" };
  bench.say({ jsonrpc: "2.0", id: 4, error }, 3);
  bench.say({ jsonrpc: "2.0", id: 5, error }, 3);
  bench.say({ jsonrpc: "2.0", id: null, error }, 3);
  bench.session.callTool("t", {}, undefined, 4);
  bench.drain(4);
  bench.session.exited(9, 5);
  bench.session.stderrEnded(5);
  bench.session.end(5);
  bench.drain(5);
  const errors = bench.events.filter((event) => event.error !== undefined);
  assert.ok(errors.length >= 5);
  assert.ok(bench.events.some((event) => event.detail instanceof Redacted));
  for (const event of bench.events) {
    const shown = [JSON.stringify(event), inspect(event, { depth: 9, showHidden: true })];
    if (event.error !== undefined) {
      shown.push(event.error.message, event.error.stack, String(event.error));
    }
    assert.ok(!shown.join("\n").includes("SECRET"), shown[0]);
  }
  const closed = bench.events.at(-1);
  assert.equal(closed.error.exitCode, 9);
  assert.ok(JSON.stringify(closed.error.private.reveal()).includes("SECRET on stderr"));
  bench.session.free();
});
