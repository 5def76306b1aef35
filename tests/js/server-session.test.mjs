// `ServerSession` as its facade shows it, and `serveStreams` with this package's client in memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { until } from "./support/processes.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { ServerSession, ToolwireError, connectStreams, serveStreams } = toolwire;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const OPTIONS = {
  serverInfo: { name: "s", version: "1", extra: undefined },
  tools: [{ name: "t", description: undefined, inputSchema: { type: "object" }, problems: [] }],
};

/** A session that takes messages and gives all it says. */
class Host {
  constructor(options = {}) {
    this.session = new ServerSession({ ...OPTIONS, ...options });
    this.sent = [];
    this.events = [];
  }

  say(...messages) {
    for (const message of messages) {
      const text = typeof message === "string" ? message : JSON.stringify(message);
      this.session.receive(encoder.encode(`${text}\n`), 0);
    }
    this.drain();
  }

  drain() {
    while (this.session.hasWork) {
      this.session.work(1_000, 0);
    }
    for (let frame; (frame = this.session.takeOutput()) !== undefined; ) {
      this.sent.push(JSON.parse(decoder.decode(frame)));
    }
    for (let event; (event = this.session.pollEvent()) !== undefined; ) {
      this.events.push(event);
    }
  }

  begin() {
    this.say(
      { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", clientInfo: { name: "c" } } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
    );
    return this;
  }

  call(argumentsJson, id = 1) {
    this.say(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t","arguments":${argumentsJson},"_meta":{"progressToken":"p","k":1}}}`);
    return this.events.at(-1);
  }
}

test("a call is an event, its answer a frame", () => {
  const host = new Host().begin();
  assert.deepEqual(host.events, [
    { type: "initialized", protocolVersion: "2025-11-25", clientInfo: { name: "c" }, capabilities: {} },
  ]);
  assert.equal(host.session.protocolVersion, "2025-11-25");
  const call = host.call('{"a": [1.0], "__proto__": {"x": 1}}');
  assert.deepEqual(Object.keys(call), ["type", "token", "name", "arguments", "meta", "protocolVersion"]);
  assert.equal(call.argumentsJson, '{"a": [1.0], "__proto__": {"x": 1}}');
  assert.deepEqual(call.arguments.a, [1]);
  assert.ok(Object.hasOwn(call.arguments, "__proto__"));
  assert.deepEqual(call.meta, { progressToken: "p", k: 1 });
  host.session.progress(call.token, 0.5, 1, undefined, 0);
  const result = { content: [], isError: false, structuredContent: undefined };
  host.session.respond(call.token, { result }, 0);
  host.session.respond(call.token, { result }, 0);
  host.drain();
  assert.deepEqual(host.sent.slice(1), [
    { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "p", progress: 0.5, total: 1 } },
    { jsonrpc: "2.0", id: 1, result: { content: [], isError: false } },
  ]);
  host.session.free();
});

test("large integers are read as asked for, and written as they are", () => {
  const host = new Host({ numbers: "bigint" }).begin();
  const call = host.call('{"n":9007199254740993}');
  assert.equal(call.arguments.n, 9007199254740993n);
  host.session.respond(call.token, { result: { structuredContent: { n: call.arguments.n } } }, 0);
  while (host.session.hasWork) {
    host.session.work(1_000, 0);
  }
  assert.match(decoder.decode(host.session.takeOutput()), /"n":9007199254740993\}/);
  host.session.free();
});

test("what is refused is named", () => {
  const refuses = (options, option, index) =>
    assert.throws(
      () => new ServerSession({ ...OPTIONS, ...options }),
      (error) =>
        error instanceof ToolwireError &&
        error.code === "protocol_error" &&
        error.option === option &&
        error.index === index,
    );
  refuses({ serverInfo: undefined }, "serverInfo");
  refuses({ serverInfo: { name: "x" } }, "serverInfo");
  refuses({ tools: "x" }, "tools");
  refuses({ tools: [{ name: "a" }, { name: "a" }] }, "tools", 1);
  refuses({ tools: [{ name: "a", inputSchema: () => {} }] }, "tools");
  refuses({ revisions: ["x"] }, "revisions");
  refuses({ revisions: 7 }, "revisions");
  refuses({ maxOpenCalls: "7" }, "maxOpenCalls");
  refuses({ cacheScope: "mine" }, "cacheScope");
  refuses({ numbers: "roman" }, "numbers");
  refuses({ instructions: {} }, "instructions");
  const host = new Host().begin();
  assert.throws(() => host.session.setTools([7], 0), { option: "tools", index: 0 });
  assert.throws(() => host.session.respond(1, { result: { a: () => {} } }, 0), { code: "invalid_arguments" });
  assert.throws(() => host.session.respond(1, undefined, 0), { option: "outcome" });
  assert.throws(() => host.session.receive("text", 0), { option: "chunk" });
  assert.throws(() => host.session.log(undefined, "loud", undefined, 1, 0), { option: "level" });
  host.session.free();
  host.session.free();
  assert.throws(() => host.session.work(1, 0), { code: "freed" });
});

test("diagnostics hide what a client wrote", () => {
  const host = new Host();
  host.say("secret");
  const [event] = host.events;
  assert.equal(event.code, "noise_line");
  assert.doesNotMatch(inspect(event), /secret/);
  assert.equal(event.detail.reveal(), "secret");
  host.session.free();
});

test("single messages go by their exchange", () => {
  const { session } = new Host();
  const body = encoder.encode('{"jsonrpc":"2.0","id":1,"method":"ping"}');
  const exchange = session.receiveMessage(body, 0);
  session.work(1_000, 0);
  const { json, ...rest } = session.takeMessage();
  assert.deepEqual(JSON.parse(decoder.decode(json)), { jsonrpc: "2.0", id: 1, result: {} });
  assert.deepEqual(rest, { exchange, ends: true, status: 200 });
  assert.equal(session.takeMessage(), undefined);
  const other = session.receiveMessage(body, 0, { protocolVersion: "2026-07-28" });
  session.work(1_000, 0);
  assert.deepEqual([other, session.takeMessage().status], [exchange + 1, 400]);
  session.free();
});

/** A client and a server in this process. */
async function pair(t, server, serving = {}, connecting = {}) {
  const toServer = new TransformStream();
  const toClient = new TransformStream();
  const inbound = toServer.writable.getWriter();
  const outbound = toClient.writable.getWriter();
  const handle = serveStreams(server, {
    readable: toServer.readable,
    write: (frame) => outbound.write(frame),
    terminate: () => outbound.close().catch(() => {}),
    ...serving,
  });
  const client = await connectStreams({
    server: "memory",
    readable: toClient.readable,
    write: (frame) => inbound.write(frame),
    terminate: () => inbound.close().catch(() => {}),
    ...connecting,
  });
  t.after(() => client.close());
  return { handle, client };
}

test("a client and a server in one process", async (t) => {
  const seen = [];
  const server = {
    tools: [{ name: "add", outputSchema: { type: "object", required: ["sum"] } }],
    handleCall(tool, { a, b }, identity, { progress }) {
      seen.push([tool, identity]);
      progress(1, 1);
      return { structuredContent: { sum: a + b } };
    },
  };
  const { handle, client } = await pair(t, server, { identity: "me", serverInfo: { name: "n", version: "2" } });
  assert.deepEqual(client.serverInfo, { name: "n", version: "2" });
  const told = [];
  const result = await client.callTool("add", { a: 1, b: 2 }, { onProgress: (p) => told.push(p.progress) });
  assert.deepEqual(result.structuredContent, { sum: 3 });
  assert.equal(result.verdict, "valid");
  assert.deepEqual([seen, told], [[["add", "me"]], [1]]);
  const changed = new Promise((resolve) => {
    client.onToolsChanged(({ added, removed }) => resolve([added, removed]));
  });
  handle.setTools([{ name: "other" }]);
  assert.deepEqual(await changed, [["other"], ["add"]]);
  assert.equal(await handle.close(), undefined);
  assert.equal((await client.closed).reason, "stdout_closed");
});

test("a server with tools that change tells of it by itself", async (t) => {
  let listener;
  let ended = 0;
  const server = {
    tools: [{ name: "a" }],
    handleCall: () => ({}),
    onToolsChanged(changed) {
      listener = changed;
      return () => {
        ended += 1;
      };
    },
  };
  const { handle, client } = await pair(t, server);
  // Behind the request that subscribes, in the modern era.
  await client.callTool("a");
  const changed = new Promise((resolve) => {
    client.onToolsChanged(({ added }) => resolve(added));
  });
  server.tools = [{ name: "a" }, { name: "b" }];
  listener();
  assert.deepEqual(await changed, ["b"]);
  await handle.close();
  assert.equal(ended, 1);
});

test("whatever a handler does, its call is answered", async (t) => {
  const circle = {};
  circle.self = circle;
  const outcomes = {
    throws: () => {
      throw new Error("secret");
    },
    rejects: () => Promise.reject(new Error("secret")),
    nothing: () => undefined,
    text: () => "text",
    circle: () => ({ structuredContent: circle }),
    typed: () => {
      throw new ToolwireError({ code: "timeout", message: "A fixed sentence" });
    },
    coded: () => {
      throw Object.assign(new Error("said on purpose"), { rpcCode: -32050 });
    },
  };
  const server = {
    tools: Object.keys(outcomes).map((name) => ({ name })),
    handleCall: (tool) => outcomes[tool](),
  };
  const { client } = await pair(t, server);
  const said = async (name) => {
    const result = await client.callTool(name);
    assert.equal(result.isError, true);
    return result.content[0].text;
  };
  for (const name of ["throws", "rejects", "circle"]) {
    assert.equal(await said(name), "The tool failed");
  }
  assert.equal(await said("typed"), "A fixed sentence");
  for (const name of ["nothing", "text"]) {
    await assert.rejects(client.callTool(name), { code: "tool_failed", rpcCode: -32603 });
  }
  await assert.rejects(client.callTool("coded"), (error) => {
    assert.equal(error.rpcCode, -32050);
    return true;
  });
});

test("the end aborts what is open, within the grace", async (t) => {
  let signal;
  const server = {
    tools: [{ name: "slow" }],
    handleCall: (tool, args, identity, context) => {
      signal = context.signal;
      return new Promise(() => {});
    },
  };
  const stop = new AbortController();
  const { handle, client } = await pair(t, server, { shutdownGraceMs: 50, signal: stop.signal });
  const rejected = assert.rejects(client.callTool("slow"), { code: "connection_closed" });
  await until(() => signal !== undefined);
  assert.equal(signal.aborted, false);
  stop.abort();
  assert.equal(signal.aborted, true);
  assert.equal(await handle.closed, undefined);
  await rejected;
});

test("streams that are none are refused", () => {
  const server = { tools: [], handleCall: () => ({}) };
  const write = () => {};
  assert.throws(() => serveStreams(server, { write }), { option: "readable" });
  assert.throws(() => serveStreams(server, { readable: [] }), { option: "write" });
  assert.throws(() => serveStreams(server), { option: "options" });
  assert.throws(() => serveStreams({}, { readable: new ReadableStream(), write }), { option: "gateway" });
});
