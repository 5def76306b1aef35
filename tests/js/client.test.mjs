// A client over in-memory streams: calls, handlers, deadlines, closing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer, rpcError } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { ToolwireError, connectStreams } = toolwire;

const ECHO = { name: "echo", inputSchema: { type: "object" } };

function echoServer(more = {}) {
  return new MemoryServer({
    tools: [ECHO],
    answer: (message) =>
      message.method === "tools/call"
        ? { content: [{ type: "text", text: JSON.stringify(message.params.arguments) }] }
        : undefined,
    ...more,
  });
}

async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof ToolwireError, String(error));
    return error;
  }
  return assert.fail("did not reject");
}

function turns(count) {
  return Array.from({ length: count }).reduce(
    (before) => before.then(() => new Promise(setImmediate)),
    Promise.resolve(),
  );
}

test("a client knows its server and calls its tools", async () => {
  const server = echoServer();
  const client = await connectStreams(server.options());
  assert.equal(client.server, "memory");
  assert.equal(client.protocolVersion, "2025-06-18");
  assert.equal(client.era, "legacy");
  assert.deepEqual(client.serverInfo, { name: "memory", version: "1" });
  assert.deepEqual(client.capabilities, { tools: {} });
  assert.deepEqual(client.tools, [ECHO]);
  assert.ok(Object.isFrozen(client.tools));
  assert.ok(Object.isFrozen(client.tools[0].inputSchema));
  const result = await client.callTool("echo", { a: 1 });
  assert.equal(result.content[0].text, '{"a":1}');
  assert.equal((await client.callTool("echo")).content[0].text, "{}");
  await client.close();
  assert.equal(await client.closed, undefined);
  assert.equal(server.terminated, 1);
});

test("bytes may be split anywhere and come as a web stream", async () => {
  const server = echoServer();
  const { readable: pipe, ...options } = server.options();
  const readable = new ReadableStream({
    async start(controller) {
      for await (const chunk of pipe) {
        for (const byte of chunk) {
          controller.enqueue(Uint8Array.of(byte));
        }
      }
      controller.close();
    },
  });
  const client = await connectStreams({ ...options, readable });
  const result = await client.callTool("echo", { text: "é€😀" });
  assert.equal(result.content[0].text, '{"text":"é€😀"}');
  await client.close();
});

test("arguments are copied when the call is made", async () => {
  const server = echoServer();
  const client = await connectStreams(server.options());
  const args = { a: 2, n: [{ v: 3 }] };
  const call = client.callTool("echo", args);
  args.a = 99;
  args.n[0].v = 99;
  assert.equal((await call).content[0].text, '{"a":2,"n":[{"v":3}]}');
  await client.close();
});

test("many calls settle in whatever order their answers come", async () => {
  const held = [];
  const server = echoServer({
    answer: (message) => {
      held.push(message);
    },
  });
  const client = await connectStreams(server.options());
  const calls = Array.from({ length: 50 }, (_, n) => client.callTool("echo", { n }));
  await turns(3);
  for (const { id, params } of held.reverse()) {
    server.say({ jsonrpc: "2.0", id, result: { content: [], structuredContent: params.arguments } });
  }
  const results = await Promise.all(calls);
  assert.deepEqual(
    results.map((result) => result.structuredContent.n),
    Array.from({ length: 50 }, (_, n) => n),
  );
  await client.close();
});

test("failures are typed, and what the server wrote is private", async () => {
  const server = echoServer({ answer: () => rpcError(-32000, "SECRET", { more: "SECRET" }) });
  const client = await connectStreams(server.options());
  const failed = await rejection(client.callTool("echo", {}));
  assert.equal(failed.code, "tool_failed");
  assert.equal(failed.reason, "remote");
  assert.equal(failed.rpcCode, -32000);
  assert.equal(failed.private.reveal().message, "SECRET");
  assert.ok(!JSON.stringify(failed).includes("SECRET"));
  assert.ok(!failed.stack.includes("SECRET"));
  assert.equal((await rejection(client.callTool("nope", {}))).code, "tool_not_found");
  const unfit = await rejection(client.callTool("echo", { when: new Date() }));
  assert.equal(unfit.code, "protocol_error");
  assert.deepEqual(unfit.private.reveal(), { reason: "prototype", path: "arguments.when" });
  // An unknown tool is said before bad arguments.
  assert.equal((await rejection(client.callTool("nope", []))).code, "tool_not_found");
  const badTime = await rejection(client.callTool("echo", {}, { timeoutMs: 0 }));
  assert.equal(badTime.code, "invalid_arguments");
  assert.equal(badTime.option, "timeoutMs");
  await client.close();
});

test("a deadline fires, and the late answer harms nobody", async () => {
  const held = [];
  const server = echoServer({
    answer: (message) => {
      if (message.params?.arguments?.hold) {
        held.push(message.id);
        return undefined;
      }
      return { content: [] };
    },
  });
  const client = await connectStreams(server.options());
  const late = await rejection(client.callTool("echo", { hold: true }, { timeoutMs: 20 }));
  assert.equal(late.code, "timeout");
  assert.equal(late.ms, 20);
  server.say({ jsonrpc: "2.0", id: held[0], result: { content: [] } });
  assert.deepEqual((await client.callTool("echo", {})).content, []);
  assert.equal(server.got("notifications/cancelled").length, 1);
  await client.close();
});

test("no deadline is too far for a timer", async () => {
  const server = echoServer();
  const client = await connectStreams(
    server.options({ requestTimeoutMs: Number.MAX_SAFE_INTEGER, maxTotalTimeoutMs: Infinity }),
  );
  const result = await client.callTool("echo", {}, { timeoutMs: 2 ** 40 });
  assert.equal(result.isError, false);
  await client.close();
});

test("a signal gives a call up and tells the server", async () => {
  const server = echoServer({ answer: () => undefined });
  const client = await connectStreams(server.options());
  const abort = new AbortController();
  const call = client.callTool("echo", {}, { signal: abort.signal });
  await turns(2);
  abort.abort();
  assert.equal((await rejection(call)).code, "aborted");
  await turns(2);
  assert.equal(server.got("notifications/cancelled").length, 1);
  const sent = server.got("tools/call").length;
  const never = await rejection(client.callTool("echo", {}, { signal: AbortSignal.abort() }));
  assert.equal(never.code, "aborted");
  await turns(2);
  assert.equal(server.got("tools/call").length, sent);
  await client.close();
});

test("progress reaches its call, and a listener that throws stops nothing", async () => {
  const server = echoServer({
    answer: (message, self) => {
      const { progressToken } = message.params._meta;
      const params = { progressToken, progress: 1, total: 2, message: "half" };
      self.say({ jsonrpc: "2.0", method: "notifications/progress", params });
      return { content: [] };
    },
  });
  const client = await connectStreams(server.options());
  const seen = [];
  await client.callTool(
    "echo",
    {},
    {
      onProgress: (progress) => {
        seen.push(progress);
        throw new Error("listener");
      },
    },
  );
  assert.deepEqual(seen, [{ progress: 1, total: 2, message: "half" }]);
  await client.close();
});

test("notifications and new catalogs are told until the listener leaves", async () => {
  const server = echoServer({
    initialized: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: "memory", version: "1" },
    },
  });
  const client = await connectStreams(server.options());
  const notes = [];
  const leave = client.onNotification((note) => notes.push(note));
  const message = { jsonrpc: "2.0", method: "notifications/message", params: { data: "x" } };
  server.say(message);
  await turns(3);
  assert.deepEqual(notes, [{ method: "notifications/message", params: { data: "x" } }]);
  leave();
  server.say(message);
  const changes = [];
  client.onToolsChanged((change) => changes.push(change));
  server.tools = [ECHO, { name: "more", inputSchema: { type: "object" } }];
  const tools = await client.refreshTools();
  assert.equal(tools.length, 2);
  assert.equal(client.tools, tools);
  assert.deepEqual(changes[0].added, ["more"]);
  // Read anew without a difference: nothing is told.
  await client.refreshTools();
  assert.equal(changes.length, 1);
  server.tools = [ECHO];
  await client.refreshTools();
  assert.deepEqual(changes[1].removed, ["more"]);
  assert.equal(notes.length, 1);
  await client.close();
});

test("handlers answer the server's requests", async () => {
  const server = echoServer();
  const client = await connectStreams(
    server.options({
      handlers: {
        "roots/list": () => ({ roots: [{ uri: "file:///a" }] }),
        "sampling/createMessage": async (params) => {
          const { content } = await client.callTool("echo", params);
          return { model: "m", role: "assistant", content: content[0] };
        },
        "elicitation/create": () => {
          throw new Error("SECRET of the host");
        },
      },
    }),
  );
  const declared = server.got("initialize")[0].params.capabilities;
  assert.deepEqual(Object.keys(declared).sort(), ["elicitation", "roots", "sampling"]);
  for (const [id, method] of Object.entries({
    a: "roots/list",
    b: "sampling/createMessage",
    c: "elicitation/create",
    d: "unknown/method",
    e: "ping",
  })) {
    server.say({ jsonrpc: "2.0", id, method, params: {} });
  }
  await turns(10);
  const answers = Object.fromEntries(
    server.received
      .filter((message) => message.method === undefined)
      .map((message) => [message.id, message]),
  );
  assert.deepEqual(answers.a.result, { roots: [{ uri: "file:///a" }] });
  assert.deepEqual(answers.b.result.content, { type: "text", text: "{}" });
  assert.equal(answers.c.error.code, -32603);
  assert.ok(!JSON.stringify(answers.c).includes("SECRET"));
  assert.equal(answers.d.error.code, -32601);
  assert.deepEqual(answers.e.result, {});
  await client.close();
});

test("a handler's signal fires when the server gives up or the connection ends", async () => {
  const server = echoServer();
  const signals = [];
  const client = await connectStreams(
    server.options({
      handlers: {
        "roots/list": (params, { signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      },
    }),
  );
  server.say({ jsonrpc: "2.0", id: 1, method: "roots/list" });
  server.say({ jsonrpc: "2.0", id: 2, method: "roots/list" });
  await turns(4);
  assert.equal(signals.length, 2);
  server.say({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
  await turns(4);
  assert.deepEqual(
    signals.map((signal) => signal.aborted),
    [true, false],
  );
  await client.close();
  assert.ok(signals[1].aborted);
});

test("the end of the stream settles everything with one error", async () => {
  const server = echoServer({ answer: () => undefined });
  let exit;
  const exited = new Promise((resolve) => {
    exit = resolve;
  });
  const client = await connectStreams(server.options({ exited }));
  const calls = [client.callTool("echo", {}), client.request("ping2", {})];
  server.pipe.end();
  setTimeout(exit, 20, 3);
  const errors = await Promise.all(calls.map(rejection));
  const closed = await client.closed;
  assert.equal(closed.code, "connection_closed");
  assert.equal(closed.exitCode, 3);
  assert.ok(errors.every((error) => error === closed));
  assert.equal(await rejection(client.callTool("echo", {})), closed);
  assert.equal(server.terminated, 1);
});

test("closing settles what is open, once, and may be repeated", async () => {
  const server = echoServer({ answer: () => undefined });
  const client = await connectStreams(server.options());
  const call = client.callTool("echo", {});
  await Promise.all([client.close(), client.close(), client.close()]);
  const error = await rejection(call);
  assert.equal(error.code, "connection_closed");
  assert.equal(error.reason, "scope_closed");
  assert.equal((await rejection(client.callTool("echo", {}))).reason, "scope_closed");
  assert.equal(server.terminated, 1);
  assert.ok(server.pipe.cancelled);
});

test("a write that fails ends the connection", async () => {
  const server = echoServer();
  const options = server.options();
  let broken = false;
  const client = await connectStreams({
    ...options,
    write: (frame) => (broken ? Promise.reject(new Error("EPIPE")) : options.write(frame)),
  });
  broken = true;
  const error = await rejection(client.callTool("echo", {}));
  assert.equal(error.code, "connection_closed");
  assert.equal(error.reason, "stdin_closed");
});

test("frames wait for the one before them", async () => {
  const server = echoServer();
  const options = server.options();
  let writing = 0;
  let most = 0;
  const client = await connectStreams({
    ...options,
    write: async (frame) => {
      writing += 1;
      most = Math.max(most, writing);
      await new Promise(setImmediate);
      writing -= 1;
      options.write(frame);
    },
  });
  await Promise.all(Array.from({ length: 10 }, () => client.callTool("echo", {})));
  assert.equal(most, 1);
  await client.close();
});

test("an answer that waited for room holds nothing up once it has left", async () => {
  const server = echoServer();
  const client = await connectStreams(server.options({ queueCapacity: 1 }));
  const pings = Array.from({ length: 5 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  server.raw(pings.map((ping) => `${JSON.stringify(ping)}\n`).join(""));
  await turns(3);
  const answered = server.received.filter(({ method }) => method === undefined);
  assert.deepEqual(
    answered.map(({ id }) => id),
    [0, 1, 2, 3, 4],
  );
  await client.close();
});

test("a server that asks and does not read is not read on for ever", async () => {
  const server = echoServer();
  const options = server.options({ queueCapacity: 2, requestTimeoutMs: 150 });
  let stalled = false;
  const write = (frame) => (stalled ? new Promise(() => {}) : options.write(frame));
  let taken = 0;
  const ping = new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  async function* flood() {
    for await (const chunk of options.readable) {
      yield chunk;
      if (stalled) {
        break;
      }
    }
    for (;;) {
      taken += 1;
      yield ping;
    }
  }
  const client = await connectStreams({ ...options, write, readable: flood() });
  stalled = true;
  server.say({ jsonrpc: "2.0", method: "notifications/x" });
  await turns(50);
  // One is being written, two are queued, one waits for room: the rest stays in the pipe.
  assert.ok(taken > 2 && taken < 8, `${taken} were read`);
  await client.close();
});

test("a failed or given up handshake leaves nothing running", async () => {
  const silent = new MemoryServer();
  silent.initialized = undefined;
  const timeout = await rejection(connectStreams(silent.options({ connectTimeoutMs: 30 })));
  assert.equal(timeout.code, "timeout");
  assert.equal(silent.terminated, 1);

  const given = new MemoryServer();
  given.initialized = undefined;
  const abort = new AbortController();
  const connecting = connectStreams(given.options({ signal: abort.signal }));
  setTimeout(() => abort.abort(), 10);
  assert.equal((await rejection(connecting)).code, "aborted");
  assert.equal(given.terminated, 1);

  const odd = new MemoryServer({ initialized: { protocolVersion: "1999-01-01", capabilities: {} } });
  const unsupported = await rejection(connectStreams(odd.options()));
  assert.equal(unsupported.reason, "init_version_unsupported");
  assert.ok(!JSON.stringify(unsupported).includes("1999"));
  assert.equal(odd.terminated, 1);
});

test("options are refused before anything starts", async () => {
  let started = false;
  const readable = {
    [Symbol.asyncIterator]() {
      started = true;
    },
  };
  const options = { server: "s", readable, write() {}, maxTools: 0 };
  const error = await rejection(connectStreams(options));
  assert.equal(error.code, "protocol_error");
  assert.equal(error.option, "maxTools");
  assert.equal(started, false);
});

test("diagnostics name the server and hide what was seen", async () => {
  const seen = [];
  const server = echoServer();
  const client = await connectStreams(
    server.options({
      onDiagnostic: (event) => {
        seen.push(event);
        throw new Error("observer");
      },
    }),
  );
  server.raw("SECRET noise\n");
  await turns(3);
  assert.equal(seen[0].server, "memory");
  assert.equal(seen[0].code, "noise_line");
  assert.equal(seen[0].detail.reveal(), "SECRET noise");
  assert.ok(!JSON.stringify(seen[0]).includes("SECRET"));
  assert.equal((await client.callTool("echo", {})).isError, false);
  await client.close();
});

test("a client can be disposed of where the host knows how", async () => {
  if (typeof Symbol.asyncDispose !== "symbol") {
    return;
  }
  const server = echoServer();
  const client = await connectStreams(server.options());
  await client[Symbol.asyncDispose]();
  assert.equal(server.terminated, 1);
});

test("a handler whose result is no JSON still answers the server", async () => {
  const cyclic = {};
  cyclic.self = cyclic;
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const fail = (thrown) => () => {
    throw thrown;
  };
  const handlers = [() => cyclic, () => new Map(), () => Symbol("x"), fail(proxy)];
  for (const handler of handlers) {
    const server = echoServer();
    const client = await connectStreams(
      server.options({ handlers: { "sampling/createMessage": handler } }),
    );
    server.say({ jsonrpc: "2.0", id: "q", method: "sampling/createMessage", params: {} });
    await turns(5);
    const answer = server.received.find((message) => message.id === "q");
    assert.equal(answer?.error.code, -32603);
    assert.equal((await client.callTool("echo")).isError, false);
    await client.close();
  }
});

test("a stream of something else than bytes is named as the fault", async () => {
  const server = echoServer();
  const readable = (async function* strings() {
    yield "{}";
  })();
  const error = await rejection(connectStreams({ ...server.options(), readable }));
  assert.equal(error.code, "invalid_arguments");
  assert.equal(error.option, "chunk");
});

test("options of the host's that are of no use are refused by typed errors", async () => {
  const error = await rejection(connectStreams(undefined));
  assert.equal(error.code, "protocol_error");
  const server = echoServer();
  const client = await connectStreams(server.options({ signal: null, exited: null }));
  assert.equal((await rejection(client.callTool("echo", {}, { signal: 5 }))).option, "signal");
  assert.equal((await rejection(client.callTool(Symbol("x")))).option, "name");
  assert.equal((await client.callTool("echo", {}, null)).isError, false);
  await client.close();
});

test("giving a call up while its result is judged holds up no other", async () => {
  const numbers = {
    name: "numbers",
    inputSchema: { type: "object" },
    outputSchema: {
      type: "object",
      properties: { list: { type: "array", items: { type: "integer", minimum: 0 } } },
    },
  };
  const list = Array.from({ length: 400_000 }, (_, n) => n);
  const server = new MemoryServer({
    tools: [ECHO, numbers],
    answer: ({ params }) => ({
      content: [],
      structuredContent: params.name === "numbers" ? { list } : {},
    }),
  });
  const client = await connectStreams(server.options({ requestTimeoutMs: 5_000 }));
  for (let count = 0; count < 10; count += 1) {
    const abort = new AbortController();
    const given = rejection(client.callTool("numbers", {}, { signal: abort.signal })).catch(() => {});
    await turns(count);
    abort.abort();
    await given;
    assert.equal((await client.callTool("echo")).isError, false, `after ${count} turns`);
  }
  await client.close();
});
