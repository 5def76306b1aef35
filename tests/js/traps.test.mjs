// What a trap does, with the build whose core can be made to trap.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { inspect } from "node:util";
import v8 from "node:v8";
import vm from "node:vm";
import { MemoryServer } from "./support/memory-server.mjs";

const require = createRequire(new URL("../../target/pkg-traps/package.json", import.meta.url));
const toolwire = require("./cjs/entry/index.cjs");
const { guard, instances, mainInstance } = require("./cjs/lib/core.cjs");

const { ClientSession, LineReader, ToolwireError, compileSchema, connectStreams, coreInfo } =
  toolwire;

/** The instance made last. */
function newest() {
  return [...instances].at(-1);
}

/** Makes an instance panic; gives the error of whoever was inside. */
function trap(instance) {
  try {
    guard(instance, (glue) => glue.testTrap());
  } catch (error) {
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.code, "core_trapped");
    return error;
  }
  return assert.fail("did not trap");
}

function drain(session) {
  const events = [];
  for (let event = session.pollEvent(); event !== undefined; event = session.pollEvent()) {
    events.push(event);
  }
  return events;
}

test("a trap is an error that keeps the panic's words private", () => {
  const error = trap(mainInstance());
  assert.match(error.private.reveal().panic, /trapped on purpose/);
  assert.match(error.private.reveal().panic, /panic\.rs:\d+/);
  for (const shown of [error.message, JSON.stringify(error), inspect(error)]) {
    assert.ok(!shown.includes("on purpose"));
  }
});

test("schemas compile themselves anew after a trap", async () => {
  const schema = compileSchema({ type: "integer" });
  const before = coreInfo().restarts;
  trap(mainInstance());
  assert.equal(schema.isValid(1), true);
  assert.equal(schema.validate("x").verdict, "invalid");
  assert.equal((await schema.validateJsonAsync("2")).verdict, "valid");
  assert.equal(coreInfo().restarts, before + 1);
  trap(mainInstance());
  schema.free();
  assert.throws(() => schema.isValid(1), { code: "freed" });
});

test("what was under way in the main instance ends core_trapped", async () => {
  const schema = compileSchema({ items: { type: "integer" } });
  const judging = schema.validateJsonAsync(JSON.stringify(Array.from({ length: 300_000 }, () => 1)));
  const reader = new LineReader();
  trap(mainInstance());
  await assert.rejects(judging, { code: "core_trapped" });
  assert.throws(() => reader.push(new Uint8Array(1)), { code: "core_trapped" });
  reader.free();
  assert.equal(schema.isValid([1]), true);
});

test("a session's trap settles what is open, then it is closed; others live", () => {
  const session = new ClientSession({ server: "a", era: "legacy" });
  const instance = newest();
  const other = new ClientSession({ server: "b", era: "legacy" });
  assert.notEqual(newest(), instance);
  session.connect(0);
  const handles = [session.request("x", {}, undefined, 1), session.notify("y", {}, 1)];
  const error = trap(instance);
  session.receive(new Uint8Array(3), 2);
  session.work(1000, 2);
  assert.equal(session.hasWork, false);
  assert.equal(session.takeOutput(), undefined);
  assert.equal(session.nextDeadline, undefined);
  assert.equal(session.state, "closed");
  const events = drain(session);
  assert.deepEqual(
    events.map(({ type, handle }) => [type, handle]),
    [...handles.map((handle) => ["settled", handle]), ["closed", undefined]],
  );
  assert.ok(events.every((event) => event.error === error));
  assert.throws(() => session.callTool("t", {}, undefined, 3), { code: "core_trapped" });
  assert.deepEqual(drain(session), []);
  session.free();
  session.free();
  assert.throws(() => session.pollEvent(), { code: "freed" });
  other.connect(0);
  assert.ok(other.takeOutput().length > 0);
  other.free();
  const third = new ClientSession({ server: "c" });
  assert.equal(third.state, "idle");
  third.free();
});

test("a client's calls fail, it closes, and its results stay", async () => {
  const server = new MemoryServer({
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    answer: ({ params }) =>
      params.arguments.hold ? undefined : { content: [{ type: "text", text: "kept" }] },
  });
  const client = await connectStreams(server.options());
  const instance = newest();
  const result = await client.callTool("t", {});
  const call = client.callTool("t", { hold: true });
  const error = trap(instance);
  await assert.rejects(call, (thrown) => thrown === error);
  assert.equal(await client.closed, error);
  await assert.rejects(client.callTool("t", {}), (thrown) => thrown === error);
  assert.equal(server.terminated, 1);
  assert.equal(result.content[0].text, "kept");
  assert.ok(result.rawJson().includes("kept"));
});

test("past 64 live instances sessions share one, and fall together", () => {
  const sessions = Array.from({ length: 70 }, (_, n) => new ClientSession({ server: `s${n}` }));
  assert.ok(instances.size <= 65, `${instances.size} instances`);
  const shared = newest();
  const error = trap(shared);
  const fallen = sessions.filter((session) => session.state === "closed");
  assert.ok(fallen.length >= 2);
  for (const session of fallen) {
    assert.deepEqual(drain(session), [{ type: "closed", error }]);
  }
  const another = new ClientSession({ server: "another" });
  assert.equal(another.state, "idle");
  for (const session of [...sessions, another]) {
    session.free();
  }
  assert.ok(instances.size <= 1, `${instances.size} instances left`);
});

test("sessions that are forgotten give their instance back", async () => {
  v8.setFlagsFromString("--expose-gc");
  const collect = vm.runInNewContext("gc");
  const before = instances.size;
  (() => {
    for (let n = 0; n < 5; n += 1) {
      new ClientSession({ server: "forgotten" }).connect(0);
    }
  })();
  assert.equal(instances.size, before + 5);
  for (let turn = 0; turn < 20 && instances.size > before; turn += 1) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(instances.size, before);
});

test("a serving session's trap gives up what is open, then it is closed", () => {
  const { ServerSession } = toolwire;
  const session = new ServerSession({
    serverInfo: { name: "s", version: "1" },
    tools: [{ name: "t" }],
  });
  const instance = newest();
  const say = (message) => session.receive(new TextEncoder().encode(`${JSON.stringify(message)}\n`), 0);
  say({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  say({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } });
  session.work(10_000, 0);
  const [call] = drain(session);
  assert.equal(call.type, "call");
  const error = trap(instance);
  assert.deepEqual(drain(session), [
    { type: "cancelled", token: call.token },
    { type: "closed", error },
  ]);
  session.respond(call.token, { result: {} }, 0);
  session.receive(new Uint8Array(1), 0);
  assert.deepEqual([session.hasWork, session.takeOutput(), session.isClosed], [false, undefined, true]);
  session.free();
});
