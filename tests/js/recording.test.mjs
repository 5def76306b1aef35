// Recordings: what a session lived through, masked, lived once more.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { MemoryServer, rpcError } from "./support/memory-server.mjs";
import { nothingRuns, running } from "./support/servers.mjs";
import { node, toolwire } from "./support/toolwire.mjs";

const { ClientSession, Redacted, ToolwireError, connectStreams, limits, replay } = toolwire;

const NUMBERS = {
  name: "numbers",
  inputSchema: { type: "object", properties: { n: { type: "integer" } } },
  outputSchema: {
    type: "object",
    properties: { list: { type: "array", items: { type: "integer", minimum: 0 } } },
  },
};
const ECHO = { name: "echo", inputSchema: { type: "object" } };
const SECRET = "hunter2hunter2";

const encoder = new TextEncoder();

/** What the sessions of this process do while `live` runs: their frames and events. */
async function tapped(live) {
  const { pollEvent, takeOutput } = ClientSession.prototype;
  const seen = { output: [], events: [] };
  ClientSession.prototype.pollEvent = function () {
    const event = pollEvent.call(this);
    if (event !== undefined) {
      seen.events.push(event);
    }
    return event;
  };
  ClientSession.prototype.takeOutput = function () {
    const frame = takeOutput.call(this);
    if (frame !== undefined) {
      seen.output.push(frame);
    }
    return frame;
  };
  try {
    await live();
  } finally {
    Object.assign(ClientSession.prototype, { pollEvent, takeOutput });
  }
  return seen;
}

/** Everything there is to see of a value, what does not print included. */
function bare(value) {
  if (value instanceof Redacted) {
    return { redacted: bare(value.reveal()) };
  }
  if (value instanceof ToolwireError) {
    return { ...value.toJSON(), private: bare(value.private) };
  }
  if (Array.isArray(value) && value.length > 1000) {
    return JSON.stringify(value);
  }
  if (typeof value === "object" && value !== null && !(value instanceof Uint8Array)) {
    const names = Object.getOwnPropertyNames(value).filter((name) => name !== "length");
    return Object.fromEntries(
      names.map((name) => {
        const member = value[name];
        return [name, typeof member === "function" ? member.call(value) : bare(member)];
      }),
    );
  }
  return value;
}

function same(actual, expected) {
  assert.deepEqual(actual.output.map(String), expected.output.map(String));
  assert.deepEqual(actual.events.map(bare), expected.events.map(bare));
}

/** Runs `live` with a recorder, replays what it wrote twice, and gives lines and replay. */
async function relived(live) {
  const lines = [];
  const seen = await tapped(() => live((line) => lines.push(line)));
  assert.ok(lines.every((line) => !line.includes("\n")));
  assert.deepEqual(
    lines.filter((line) => JSON.parse(line).masked),
    [],
  );
  const replayed = replay(lines.join("\n"));
  same(replayed, seen);
  same(replay(encoder.encode(`${lines.join("\n")}\n`)), seen);
  return { lines, ...replayed };
}

function turns(count) {
  return Array.from({ length: count }).reduce(
    (before) => before.then(() => new Promise(setImmediate)),
    Promise.resolve(),
  );
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** A server that echoes, and does what a call's arguments ask for. */
function busyServer() {
  return new MemoryServer({
    tools: [ECHO, NUMBERS],
    answer: (message, self) => {
      const wish = message.params?.arguments ?? {};
      if (wish.progress) {
        const { progressToken } = message.params._meta;
        const params = { progressToken, progress: 1, total: 2, message: "half" };
        self.say({ jsonrpc: "2.0", method: "notifications/progress", params });
      }
      if (wish.silent || message.method === "silent") {
        return undefined;
      }
      if (wish.fail) {
        return rpcError(-32000, "it failed", { more: [1] });
      }
      if (message.method === "tools/call") {
        const structuredContent = { list: wish.list ?? [1] };
        return { content: [{ type: "text", text: JSON.stringify(wish) }], structuredContent };
      }
      return { got: message.method };
    },
  });
}

const settle = (promise) =>
  promise.then(
    () => undefined,
    (error) => error,
  );

async function liveBusily(server, options) {
  const client = await connectStreams({
    ...options,
    capabilities: { sampling: {} },
    handlers: { "sampling/createMessage": ({ n }) => ({ n: n + 1 }) },
  });
  await client.callTool("echo", { a: [1, 1e300, -0.5, 1e20, "é€😀\ud800\u2028"], b: null });
  await client.callTool("echo", { progress: true }, { onProgress() {} });
  await client.callTool("echo", {}, { meta: { "x/y": 9007199254740993n }, timeoutMs: Infinity });
  await settle(client.callTool("echo", { fail: true }));
  await settle(client.callTool("nope", {}));
  await settle(client.callTool("echo", { when: new Date(0) }));
  await settle(client.callTool("echo", []));
  await settle(client.callTool("echo", {}, { timeoutMs: 0 }));
  await settle(client.callTool("numbers", { list: [-1] }));
  await settle(client.callTool("numbers", { list: [-1] }, { validation: "report" }));
  await settle(client.callTool("echo", { silent: true }, { timeoutMs: 5 }));
  const abort = new AbortController();
  const given = settle(client.callTool("echo", { silent: true }, { signal: abort.signal }));
  await turns(2);
  abort.abort();
  await given;
  await client.request("prompts/list", { cursor: "x" });
  await client.notify("notifications/roots/list_changed");
  for (const method of ["sampling/createMessage", "roots/list", "ping"]) {
    server.say({ jsonrpc: "2.0", id: `${method}-1`, method, params: { n: 1 } });
  }
  server.say({ jsonrpc: "2.0", id: null, error: { code: -1, message: "odd" } });
  server.say({ jsonrpc: "2.0", id: 99, result: {} });
  server.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info" } });
  server.raw("noise\r\n\n{\n\xff\n");
  server.raw(Uint8Array.of(0xff, 0xfe, 0x0a));
  await turns(5);
  server.tools = [{ ...ECHO, title: "Echo" }, { name: "new", inputSchema: { type: "object" } }];
  await client.refreshTools();
  server.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await pause(120);
  const last = settle(client.callTool("echo", { silent: true }));
  await turns(2);
  await client.close();
  await last;
}

test("everything a session does is lived again, frame by frame and event by event", async () => {
  const { lines, events } = await relived(async (record) => {
    const server = busyServer();
    await liveBusily(server, server.options({ record, connectTimeoutMs: Infinity }));
  });
  const header = JSON.parse(lines[0]);
  assert.equal(header.toolwire, 1);
  assert.equal(header.options.server, "memory");
  assert.equal(header.options.connectTimeoutMs, "Infinity");
  const kinds = new Set(lines.slice(1).map((line) => JSON.parse(line).in));
  for (const kind of ["connect", "chunk", "call", "request", "notify", "refresh", "respond"]) {
    assert.ok(kinds.has(kind), kind);
  }
  for (const kind of ["cancel", "advance", "take", "close"]) {
    assert.ok(kinds.has(kind), kind);
  }
  const types = new Set(events.map((event) => event.type));
  for (const type of ["ready", "tools", "settled", "progress", "notification", "request"]) {
    assert.ok(types.has(type), type);
  }
  for (const type of ["diagnostic", "uncorrelated_error", "closed"]) {
    assert.ok(types.has(type), type);
  }
});

test("bytes that come one by one are lived again", async () => {
  await relived(async (record) => {
    const server = busyServer();
    const { readable: pipe, ...options } = server.options({ record });
    const readable = (async function* () {
      for await (const chunk of pipe) {
        for (const byte of chunk) {
          yield Uint8Array.of(byte);
        }
      }
    })();
    await liveBusily(server, { ...options, readable });
  });
});

test("a strict session is lived again, to its end by an over-long line", async () => {
  const { events } = await relived(async (record) => {
    const server = busyServer();
    const options = { record, profile: "strict", maxFrameBytes: 500 };
    const client = await connectStreams(server.options(options));
    await client.callTool("echo", {});
    const open = settle(client.callTool("echo", { silent: true }));
    await turns(2);
    server.raw("x".repeat(400));
    await turns(2);
    server.raw("x".repeat(400));
    await client.closed;
    await open;
  });
  assert.equal(events.at(-1).error.reason, "frame_too_long");
});

test("over-long lines are lived again without being kept", async () => {
  const { lines } = await relived(async (record) => {
    const server = busyServer();
    const client = await connectStreams(server.options({ record, maxFrameBytes: 1000 }));
    const open = settle(client.callTool("echo", { silent: true }));
    await turns(2);
    const { id } = server.got("tools/call")[0];
    server.raw(`{"jsonrpc":"2.0","id":${id},"result":"`);
    for (let count = 0; count < 100; count += 1) {
      server.raw("y".repeat(900));
    }
    server.raw('"}\n');
    assert.equal((await open).reason, "frame_too_long");
    await client.callTool("echo", {});
    await client.close();
  });
  assert.ok(lines.join("").length < 10_000);
});

test("full queues, slow writes and withdrawn frames are lived again", async () => {
  for (const profile of ["contain", "strict"]) {
    const { events } = await relived(async (record) => {
      const server = busyServer();
      const { write, ...options } = server.options({ record, profile, queueCapacity: 2 });
      let slow = false;
      const slowly = async (frame) => {
        if (slow) {
          await pause(2);
        }
        write(frame);
      };
      const client = await connectStreams({ ...options, write: slowly });
      slow = true;
      const abort = new AbortController();
      const calls = Array.from({ length: 8 }, (_, n) =>
        settle(client.callTool("echo", { n }, n % 3 === 1 ? { signal: abort.signal } : {})),
      );
      for (let id = 0; id < 6; id += 1) {
        server.say({ jsonrpc: "2.0", id, method: "ping" });
      }
      await turns(1);
      abort.abort();
      await Promise.all(calls);
      await pause(30);
      await client.close();
    });
    const codes = new Set(events.map((event) => event.error?.code));
    assert.ok(codes.has("aborted"), profile);
    assert.equal(codes.has("limit"), profile === "contain");
  }
});

test("what was cut short in the middle of work is lived again", async () => {
  const list = Array.from({ length: 400_000 }, (_, n) => n);
  let amid = 0;
  for (const end of ["abort", "close", "call"]) {
    const { lines, events } = await relived(async (record) => {
      const server = busyServer();
      const client = await connectStreams(server.options({ record, maxOutboundFrameBytes: 1e8 }));
      const abort = new AbortController();
      const judged = settle(client.callTool("numbers", { list }, { signal: abort.signal }));
      await turns(3);
      if (end === "abort") {
        abort.abort();
        await judged;
      }
      const other = settle(client.callTool("echo", {}));
      if (end === "close") {
        await client.close();
      }
      await judged;
      await other;
      await client.close();
    });
    const settled = events.filter((event) => event.type === "settled");
    const codes = { abort: ["aborted", undefined], call: [undefined, undefined] };
    const closed = ["connection_closed", "connection_closed"];
    assert.deepEqual(
      settled.map((event) => event.error?.code),
      codes[end] ?? closed,
    );
    amid += lines.filter((line) => JSON.parse(line).done !== undefined).length;
  }
  assert.ok(amid > 0, "work was left");
});

test("a server as a process is lived again, its stderr and its end included", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolwire-"));
  const record = join(folder, "recording.jsonl");
  const program = `
    process.stderr.write("starting");
    let rest = "";
    process.stdin.on("data", (text) => {
      const lines = (rest + text).split("\\n");
      rest = lines.pop();
      for (const line of lines) {
        const { id, method, params } = JSON.parse(line);
        const say = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        const tools = [{ name: "t", inputSchema: { type: "object" } }];
        if (method === "initialize") say({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } });
        if (method === "tools/list") say({ tools });
        if (method === "tools/call" && params.arguments.exit) { process.stderr.write("\\ngoing \\u20ac"); setTimeout(() => process.exit(7), 30); }
        else if (method === "tools/call") say({ content: [] });
      }
    });`;
  try {
    const live = await tapped(async () => {
      const client = await node.connect({
        server: "p",
        era: "legacy",
        command: process.execPath,
        args: ["-e", program],
        env: { API_TOKEN: SECRET },
        record,
      });
      await client.callTool("t", {});
      await client.callTool("t", { exit: true }).catch(() => {});
      assert.equal((await client.closed).exitCode, 7);
      await client.close();
    });
    const bytes = await readFile(record);
    assert.equal((await stat(record)).mode & 0o777, process.platform === "win32" ? 0o666 : 0o600);
    assert.ok(!bytes.includes(SECRET) && !bytes.includes("masked"));
    same(replay(bytes), live);
    same(replay(bytes), live);
    const { error } = live.events.at(-1);
    assert.match(JSON.stringify(bare(error)), /starting going \u20ac/);
    await nothingRuns();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a stream of the host's gets every line and stays open", async () => {
  const chunks = [];
  const stream = new Writable({
    write(chunk, _, done) {
      setTimeout(() => {
        chunks.push(chunk);
        done();
      }, 1);
    },
  });
  const quickstart = fileURLToPath(new URL("../../docs/quickstart/server.mjs", import.meta.url));
  const start = { server: "q", command: process.execPath, args: [quickstart] };
  const client = await node.connect({ ...start, record: stream });
  await client.callTool("word_count", { text: "a b" });
  await client.close();
  const { events } = replay(Buffer.concat(chunks));
  assert.equal(events.at(-1).type, "closed");
  assert.deepEqual(
    events.find((event) => event.type === "settled").result.structuredContent,
    { words: 2 },
  );
  assert.equal(stream.writableEnded, false);
  assert.equal(stream.listenerCount("error"), 0);
});

test("a recorder that fails is told once and stops nothing", async () => {
  const failures = [
    () => {
      throw new Error("full");
    },
    async () => {
      throw new Error("full");
    },
  ];
  for (const fail of failures) {
    const told = [];
    let lines = 0;
    const server = busyServer();
    const record = (line) => {
      lines += 1;
      return lines > 2 ? fail(line) : undefined;
    };
    const onDiagnostic = (event) => told.push(event);
    const client = await connectStreams(server.options({ record, onDiagnostic }));
    const result = await client.callTool("echo", { a: 1 });
    assert.equal(result.content[0].text, '{"a":1}');
    await client.close();
    const losses = told.filter(({ detail }) => detail.reveal() === "recording_failed");
    assert.equal(losses.length, 1);
    assert.equal(losses[0].source, "transport");
    assert.ok(lines < 10);
  }
});

test("a destination that cannot be opened is refused before anything starts", async () => {
  const before = await running();
  const start = { server: "q", command: process.execPath, args: ["-e", "setInterval(() => {}, 9)"] };
  const unwritable = await settle(node.connect({ ...start, record: join(tmpdir(), "no/such/dir/x") }));
  assert.ok(unwritable instanceof ToolwireError);
  assert.equal(unwritable.code, "invalid_arguments");
  assert.equal(unwritable.reason, "recording_unwritable");
  assert.equal(unwritable.option, "record");
  assert.equal(unwritable.private.reveal().code, "ENOENT");
  assert.ok(!unwritable.message.includes("no/such"));
  for (const record of [5, {}, "", null]) {
    const refused = await settle(node.connect({ ...start, record }));
    assert.equal(refused.code, "protocol_error");
    assert.equal(refused.option, "record");
  }
  const server = busyServer();
  const refused = await settle(connectStreams(server.options({ record: "path" })));
  assert.equal(refused.option, "record");
  assert.deepEqual(await running(), before);
});

test("a stream that breaks ends the recording alone", async () => {
  const stream = new Writable({
    write(chunk, _, done) {
      done(new Error("disk full"));
    },
  });
  const told = [];
  const quickstart = fileURLToPath(new URL("../../docs/quickstart/server.mjs", import.meta.url));
  const client = await node.connect({
    server: "q",
    command: process.execPath,
    args: [quickstart],
    record: stream,
    onDiagnostic: (event) => told.push(event.detail.reveal()),
  });
  assert.equal((await client.callTool("word_count", { text: "a" })).isError, false);
  await client.close();
  assert.deepEqual(
    told.filter((detail) => detail === "recording_failed"),
    ["recording_failed"],
  );
});

/** A recording as text, with whatever is encoded in it. */
function shown(lines) {
  const decoded = lines.map((line) => {
    const { data } = JSON.parse(line);
    return data === undefined ? "" : Buffer.from(data, "base64").toString();
  });
  return `${lines.join("\n")}\n${decoded.join("")}`;
}

test("secrets are in no line, encoded or not, and what follows is of the same kind", async () => {
  const vendor = "ghp_0123456789abcdefghij0123";
  const schema = {
    type: "object",
    properties: { apiKey: { type: "string", default: SECRET }, n: { type: "integer" } },
    required: ["apiKey"],
  };
  for (const split of [1, 7, Infinity]) {
    const server = new MemoryServer({
      tools: [{ name: "login", inputSchema: schema, outputSchema: schema }],
      answer: ({ method }) =>
        method === "tools/call"
          ? {
              content: [{ type: "text", text: `Authorization: Bearer ${SECRET}\nuse ${vendor}` }],
              structuredContent: { apiKey: SECRET, n: 1 },
            }
          : { credentials: { user: SECRET, pin: 12_344_321 }, url: `https://u:${SECRET}@h/` },
    });
    const lines = [];
    const live = await tapped(async () => {
      const { readable: pipe, ...options } = server.options();
      const readable = (async function* () {
        for await (const chunk of pipe) {
          for (let start = 0; start < chunk.length; start += split) {
            yield chunk.subarray(start, start + split);
          }
        }
      })();
      const client = await connectStreams({
        ...options,
        readable,
        clientInfo: { name: "host", version: vendor },
        capabilities: { experimental: { token: SECRET }, roots: {} },
        handlers: { "roots/list": () => ({ roots: [], password: SECRET }) },
        record: (line) => lines.push(line),
      });
      await client.callTool("login", { apiKey: SECRET, n: 2 }, { meta: { token: SECRET } });
      await client.request("x/y", { password: SECRET, list: ["--token", SECRET] });
      await client.notify("notifications/x", { secret: SECRET });
      server.say({ jsonrpc: "2.0", id: 1, method: "roots/list", params: { apiKey: SECRET } });
      server.raw(`export API_KEY=${SECRET}\n`);
      server.raw(`-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\n-----END RSA PRIVATE KEY-----\n`);
      await turns(200);
      await pause(20);
      await client.close();
    });
    const text = shown(lines);
    assert.ok(!text.includes(SECRET) && !text.includes(vendor), text);
    assert.ok(!text.includes("12344321"));
    assert.ok(lines.some((line) => JSON.parse(line).masked === true));
    const first = replay(lines.join("\n"));
    same(replay(lines.join("\n")), first);
    const kinds = ({ type, ok, code, method }) => ({ type, ok, code, method });
    assert.deepEqual(first.events.map(kinds), live.events.map(kinds));
    assert.equal(first.output.length, live.output.length);
    const result = first.events.find((event) => event.type === "settled").result;
    assert.deepEqual(result.structuredContent, { apiKey: "[REDACTED]", n: 1 });
    assert.equal(result.verdict, "valid");
  }
});

test("stderr is masked however it is cut", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolwire-"));
  const record = join(folder, "recording.jsonl");
  const text = `API_KEY=${SECRET}\\nplain \\x1b[1mPASS\\x1b[0mWORD=${SECRET} and ghp_0123456789abcdef01`;
  const program = `
    const text = "${text}";
    let at = 0;
    const more = () => at < text.length
      ? process.stderr.write(text.slice(at, at += 3), () => setTimeout(more, 1))
      : setTimeout(() => process.exit(3), 5);
    more();`;
  try {
    const options = { server: "p", command: process.execPath, args: ["-e", program], record };
    const error = await settle(node.connect({ ...options, era: "legacy" }));
    assert.equal(error.exitCode, 3);
    const bytes = await readFile(record);
    const all = shown(bytes.toString().trimEnd().split("\n"));
    assert.ok(!all.includes("hunter2") && !all.includes("456789"), all);
    const { events } = replay(bytes);
    const again = events.at(-1).error;
    assert.equal(again.reason, "exited");
    assert.match(again.private.reveal().stderr, /API_KEY=\[REDACTED\]/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a session whose options are not the defaults is the same session again", async () => {
  const { lines } = await relived(async (record) => {
    const server = busyServer();
    const tools = [{ name: "echo", inputSchema: { type: "object", const: 9007199254740993n } }];
    const prior = { era: "legacy", protocolVersion: "2025-06-18" };
    const options = { record, prior, tools, numbers: "bigint", validation: "report", maxTools: 5 };
    const client = await connectStreams(server.options(options));
    await client.callTool("echo", { a: 1 });
    await client.close();
  });
  assert.ok(lines[0].includes("9007199254740993"));
  assert.deepEqual(JSON.parse(lines[0]).options.prior, {
    era: "legacy",
    protocolVersion: "2025-06-18",
  });
});

const HEADER = '{"toolwire":1,"options":{"server":"s","era":"legacy"}}';

test("a recording can be written by hand", () => {
  const data = Buffer.from(
    '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},' +
      '"serverInfo":{"name":"x","version":"1"}}}\n',
  ).toString("base64");
  const { output, events } = replay(
    [
      HEADER,
      "",
      '{"t":0,"in":"connect","later":[1]}',
      `{"t":1,"in":"chunk","data":"${data}"}`,
      '{"t":2,"in":"request","method":"ping"}',
      '{"t":200000,"in":"advance"}',
      '{"t":200001,"in":"close"}',
    ].join("\r\n"),
  );
  const methods = output.map((frame) => JSON.parse(Buffer.from(frame)).method);
  assert.deepEqual(methods, [
    "initialize",
    "notifications/initialized",
    "ping",
    "notifications/cancelled",
  ]);
  assert.equal(events.find((event) => event.type === "settled").error.code, "timeout");
  assert.equal(events.at(-1).type, "closed");
});

test("garbage is refused with its line", () => {
  const refused = (recording, line) => {
    assert.throws(
      () => replay(recording),
      (error) =>
        error instanceof ToolwireError &&
        error.code === "invalid_arguments" &&
        error.reason === "recording_invalid" &&
        error.at === line &&
        error.message.includes(`${line}`),
      `${recording}`.slice(0, 80),
    );
  };
  for (const nothing of ["", "\n\n", undefined, 5, {}, null, [], new Uint8Array(0)]) {
    refused(nothing, 1);
  }
  for (const bad of ["x", "5", "null", "[]", '"a"', "{}", Uint8Array.of(0xff, 0, 1)]) {
    refused(bad, 1);
  }
  refused('{"toolwire":2,"options":{"server":"s"}}', 1);
  refused('{"toolwire":1}', 1);
  refused('{"toolwire":1,"options":{}}', 1);
  refused('{"toolwire":1,"options":{"server":"s","maxTools":-1}}', 1);
  refused('\n{"toolwire":1,"options":{"server":"s","profile":"lax"}}', 2);
  const bad = [
    "{}",
    "x",
    '{"t":0}',
    '{"t":0,"in":"toString"}',
    '{"t":0,"in":5}',
    '{"in":"connect"}',
    '{"t":"0","in":"connect"}',
    '{"t":0,"in":"connect","done":"x"}',
    '{"t":0,"in":"connect","done":0.5}',
    '{"t":0,"in":"chunk"}',
    '{"t":0,"in":"chunk","data":"?"}',
    '{"t":0,"in":"chunk","data":"abc"}',
    '{"t":0,"in":"stderr","data":{}}',
    '{"t":0,"in":"exited","code":"1"}',
    '{"t":0,"in":"call"}',
    '{"t":0,"in":"call","name":"x","options":5}',
    '{"t":0,"in":"call","name":"x","refused":{"reason":1}}',
    '{"t":0,"in":"request","method":{}}',
    '{"t":0,"in":"notify","params":{}}',
    '{"t":0,"in":"respond","token":"1","result":{}}',
    '{"t":0,"in":"respond","token":1,"error":{"code":"x"}}',
    '{"t":0,"in":"cancel","handle":1.5}',
    '{"t":0,"in":"cancel","handle":1,"reason":7}',
  ];
  for (const line of bad) {
    refused(`${HEADER}\n{"t":0,"in":"connect"}\n${line}\n`, 3);
  }
});

test("hostile recordings end in events or in a refusal, soon", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const bytes = (text) => Buffer.from(text).toString("base64");
  const lines = [
    `{"t":0,"in":"call","name":"x","arguments":{"a":${deep}}}`,
    `{"t":0,"in":"request","method":"x","params":{"a":[[1e999]]}}`,
    `{"t":0,"in":"respond","token":4294967297,"result":${deep}}`,
    '{"t":0,"in":"cancel","handle":-1}',
    '{"t":0,"in":"exited","code":1e15}',
    '{"t":1e308,"in":"advance","done":9007199254740991}',
    '{"t":-5,"in":"connect"}',
    '{"in":"take"}',
    `{"t":0,"in":"chunk","data":"${bytes(`${deep}\n`)}"}`,
    `{"t":0,"in":"call","name":"__proto__","arguments":{"__proto__":{"x":1}},"options":{"meta":5}}`,
    '{"t":0,"in":"call","name":"x","options":{"timeoutMs":"NaN","numbers":[]}}',
    '{"t":0,"in":"stderrEnded"}',
    '{"t":0,"in":"end"}',
    '{"t":0,"in":"connect"}',
  ];
  const started = performance.now();
  for (const paced of ['"paced":true,', ""]) {
    for (const limit of [1, 1e15]) {
      const header = `{${paced}"toolwire":1,"options":{"server":"s","maxFrameBytes":${limit},"queueCapacity":1}}`;
      for (const line of lines) {
        for (const recording of [
          [header, line],
          [header, '{"t":0,"in":"connect"}', line, line, '{"t":1,"in":"close"}', line],
        ]) {
          try {
            const { output, events } = replay(recording.join("\n"));
            assert.ok(output.length + events.length < 50);
            assert.ok(events.every((event) => event.error?.code !== "core_trapped"));
          } catch (error) {
            assert.equal(error.reason, "recording_invalid", `${error.stack}\n${line.slice(0, 100)}`);
          }
        }
      }
    }
  }
  assert.ok(performance.now() - started < 20_000);
  assert.equal(toolwire.coreInfo().restarts, 0);
  assert.equal(limits.contain.maxFrameBytes, 16_777_216);
});
