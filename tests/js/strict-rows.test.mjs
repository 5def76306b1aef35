// Rows of system C that its case file tells in prose: each test names the case.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { MemoryServer, rpcError } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { ClientSession, compileSchema, connectStreams, flowsOf } = toolwire;
const OBJECT = { type: "object" };
const ADD = {
  name: "add",
  inputSchema: OBJECT,
  outputSchema: { type: "object", properties: { v: { type: "number" } } },
};

async function open(t, answer, more = {}) {
  const server = new MemoryServer({ tools: [ADD], answer });
  const client = await connectStreams(server.options({ profile: "strict", ...more }));
  t.after(() => client.close());
  return { server, client };
}

const failure = (promise) => promise.then(assert.fail, (error) => error);

/** A strict session past its handshake, by hand: its time is what the test says. */
function ready(options = {}) {
  const session = new ClientSession({ server: "s", profile: "strict", ...options });
  const events = [];
  const frames = [];
  const drain = () => {
    for (let frame; (frame = session.takeOutput()) !== undefined; ) {
      frames.push(JSON.parse(new TextDecoder().decode(frame)));
    }
    while (session.hasWork) {
      session.work(1_000, 0);
    }
    for (let event; (event = session.pollEvent()) !== undefined; ) {
      events.push(event);
    }
  };
  const say = (message, at) => {
    session.receive(new TextEncoder().encode(`${JSON.stringify(message)}\n`), at);
    drain();
  };
  session.connect(0);
  drain();
  const initialized = { protocolVersion: "2025-06-18", capabilities: { tools: {} } };
  say({ jsonrpc: "2.0", id: 1, result: initialized }, 0);
  drain();
  say({ jsonrpc: "2.0", id: 2, result: { tools: [ADD] } }, 0);
  drain();
  assert.equal(session.state, "ready");
  const settled = () => events.filter((event) => event.type === "settled");
  return { session, events, frames, drain, say, settled };
}

test("C-021: the limits and the offered revisions cannot be changed by a consumer", () => {
  assert.ok(Object.isFrozen(toolwire.limits) && Object.isFrozen(toolwire.limits.strict));
  const { frames } = ready();
  assert.equal(frames[0].params.protocolVersion, "2025-06-18");
  assert.deepEqual(frames[0].params.capabilities, {});
});

test("C-226: writes to the catalog change no later call", async (t) => {
  const { client } = await open(t, () => ({ structuredContent: { v: "wrong" } }));
  for (const write of [
    () => (client.tools.length = 0),
    () => (client.tools[0].name = "z"),
    () => (client.tools[0].outputSchema.properties.v.type = "string"),
  ]) {
    assert.throws(write, TypeError);
  }
  assert.equal((await failure(client.callTool("add"))).reason, "output_schema_violation");
});

test("C-302: 10,000 elements against an enum of 10,000 are far from quadratic", () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index);
  const schema = compileSchema({ items: { enum: numbers } }, { keywords: "structural" });
  const started = process.cpuUsage();
  assert.equal(schema.validate(numbers.map(() => 9_999)).verdict, "valid");
  assert.ok(process.cpuUsage(started).user < 1_000_000);
});

test("C-303: a timer stops a judgement that is under way", async () => {
  const members = Array.from({ length: 1_000 }, (_, index) => `m${index}`);
  const schema = compileSchema({ items: { enum: members } }, { keywords: "structural" });
  const text = `[${Array.from({ length: 1_000_000 }, () => '"m999"').join(",")}]`;
  const abort = new AbortController();
  setTimeout(() => abort.abort(), 5);
  const error = await failure(schema.validateJsonAsync(text, { signal: abort.signal }));
  assert.equal(error.code, "aborted");
});

test("C-305: an accepted value is returned unchanged", async (t) => {
  const { client } = await open(t, () => ({ structuredContent: { z: 1, b: "2" } }));
  const { structuredContent } = await client.callTool("add");
  assert.equal(JSON.stringify(structuredContent), '{"z":1,"b":"2"}');
});

test("C-393, C-447, C-453: remote words reach the observer alone; the number is told", async (t) => {
  const events = [];
  const { client } = await open(t, () => rpcError(-32000, "SECRET-1", "SECRET-2"), {
    onDiagnostic: (event) => events.push(event),
  });
  const error = await failure(client.callTool("add"));
  assert.equal(error.rpcCode, -32000);
  assert.match(error.message, /tools\/call.*-32000/);
  const event = events.find(({ source }) => source === "remote-error");
  for (const shown of [error.message, inspect(error), JSON.stringify(error), JSON.stringify(event)]) {
    assert.ok(!shown.includes("SECRET"), shown);
  }
  assert.deepEqual(JSON.parse(event.detail.reveal()), {
    code: -32000,
    message: "SECRET-1",
    data: "SECRET-2",
  });
});

test("C-440: arguments are copied when the call is made", async (t) => {
  const { server, client } = await open(t, () => ({ content: [] }));
  const args = { a: 2, n: [{ v: 3 }] };
  const call = client.callTool("add", args);
  args.a = 99;
  args.n[0].v = 99;
  await call;
  assert.deepEqual(server.got("tools/call")[0].params.arguments, { a: 2, n: [{ v: 3 }] });
});

test("C-445, C-446: waiting for stderr ends with a shorter deadline, or with close", () => {
  const short = ready({ requestTimeoutMs: 10 });
  short.session.callTool("add", {}, undefined, 0);
  short.drain();
  short.session.exited(0, 0);
  short.drain();
  assert.deepEqual(short.settled(), []);
  short.session.advance(10);
  short.drain();
  assert.equal(short.settled()[0].error.code, "timeout");

  const closed = ready();
  closed.session.callTool("add", {}, undefined, 0);
  closed.drain();
  closed.session.close(10);
  closed.drain();
  const [{ error }] = closed.settled();
  assert.deepEqual([error.code, error.reason], ["connection_closed", "scope_closed"]);
});

test("C-455: an observer that throws changes nothing", async (t) => {
  const { client } = await open(t, () => rpcError(-32000, "x"), {
    onDiagnostic: () => {
      throw new Error("observer");
    },
  });
  assert.equal((await failure(client.callTool("add"))).code, "tool_failed");
});

test("C-460: a withheld stderr text is marked, and none of it told", () => {
  const { session, settled, drain } = ready();
  session.stderr(new TextEncoder().encode("boom SECRET\n"), 0);
  session.callTool("add", {}, undefined, 0);
  drain();
  session.exited(3, 1);
  session.stderrEnded(2);
  drain();
  const [{ error }] = settled();
  assert.equal(error.exitCode, 3);
  assert.match(error.message, /stderr/);
  assert.ok(!/boom|SECRET/.test(`${error.message}${inspect(error)}${JSON.stringify(error)}`));
});

test("C-474, C-476, C-477: flows ask for no capability, omit what is absent, fail safely", async (t) => {
  let answer = () => ({ content: [] });
  const { client } = await open(t, (message) => answer(message));
  const [binding] = flowsOf(client).bindings();
  // DESIGN.md 5.5 decides otherwise than C: none unless the host names some.
  assert.deepEqual(binding.descriptor.capabilities, []);
  assert.deepEqual(await binding.call({}), { content: [], isError: false });
  assert.ok(!("structuredContent" in (await binding.call({}))));
  answer = () => rpcError(-32000, "remote text");
  const error = await failure(binding.call({}));
  assert.equal(error.code, "tool_failed");
  assert.ok(!error.message.includes("remote text"));
});
