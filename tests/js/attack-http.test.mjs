// What hostile clients do to `createHttpHandler`, and hostile servers to `connectHttp`.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HttpServer, events } from "./support/http-server.mjs";
import { EventStream, Gathered } from "./support/internals.mjs";
import { web } from "./support/toolwire.mjs";

const { connectHttp, createHttpHandler } = web;

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const BOTH = "application/json, text/event-stream";

/** A gateway with a tool that never answers and one that repeats. */
function gateway() {
  const aborted = [];
  return {
    aborted,
    tools: [{ name: "slow" }, { name: "echo" }],
    handleCall(name, args, identity, { signal }) {
      if (name === "echo") {
        return { content: [], structuredContent: args };
      }
      signal.addEventListener("abort", () => aborted.push(name));
      return new Promise(() => {});
    },
  };
}

function post(message, headers = {}, init = {}) {
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", accept: BOTH, ...headers },
    body: JSON.stringify(message),
    ...init,
  });
}

function modern(method, params = {}, { id = 1, headers = {}, ...init } = {}) {
  const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta: META } };
  const said = { "mcp-protocol-version": "2026-07-28", "mcp-method": method };
  if (params.name !== undefined) {
    said["mcp-name"] = params.name;
  }
  return post(message, { ...said, ...headers }, init);
}

const initialize = (protocolVersion) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "c", version: "1" } },
});

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: "too late" })), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

describe("clients of a handler", () => {
  for (const accept of ["application/json", BOTH]) {
    test(`one that leaves early ends the wait for its response (${accept})`, async (t) => {
      const served = gateway();
      const handler = createHttpHandler(served);
      t.after(() => handler.close());
      const control = new AbortController();
      const more = { headers: { accept }, signal: control.signal };
      const response = handler(modern("tools/call", { name: "slow", arguments: {} }, more));
      await new Promise(setImmediate);
      control.abort();
      assert.equal((await within(500, response)).status, 499);
      assert.deepEqual(served.aborted, ["slow"]);
    });
  }

  test("one of a session that leaves early ends the wait, not the call", async (t) => {
    const served = gateway();
    const handler = createHttpHandler(served);
    t.after(() => handler.close());
    const opened = await handler(post(initialize("2025-06-18")));
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") };
    const control = new AbortController();
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "slow" } };
    const response = handler(post(call, session, { signal: control.signal }));
    await new Promise(setImmediate);
    control.abort();
    assert.equal((await within(500, response)).status, 499);
    assert.deepEqual(served.aborted, []);
  });

  test("one that is gone before its message was read costs no call", async (t) => {
    const served = gateway();
    const handler = createHttpHandler(served);
    t.after(() => handler.close());
    const request = modern("tools/call", { name: "slow", arguments: {} });
    const gone = new Proxy(request, {
      get(target, name) {
        const value = name === "signal" ? AbortSignal.abort() : Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    assert.equal((await within(500, handler(gone))).status, 499);
    assert.deepEqual(served.aborted, []);
  });

  test("a refusal of the host's own reaches a page, whatever kind of response it is", async (t) => {
    for (const [refusal, status] of [
      [() => Response.redirect("http://localhost/login"), 302],
      [() => Response.error(), 500],
    ]) {
      const handler = createHttpHandler(gateway(), { identify: refusal });
      t.after(() => handler.close());
      const origin = "http://localhost:9";
      const response = await handler(modern("tools/list", {}, { headers: { origin } }));
      assert.equal(response.status, status);
      assert.equal(response.headers.get("access-control-allow-origin"), origin);
    }
  });

  test("no session is shared where every client needs one", async (t) => {
    const handler = createHttpHandler(gateway(), { revisions: ["2025-03-26"] });
    t.after(() => handler.close());
    const said = { "mcp-protocol-version": "2026-07-28" };
    const opened = await handler(post(initialize("2025-03-26"), said));
    assert.ok(opened.headers.get("mcp-session-id"));
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "echo" } };
    for (const message of [call, [call]]) {
      assert.equal((await handler(post(message, said))).status, 400);
    }
  });
});


describe("bytes in many pieces", () => {
  const MANY = 1_000_000;

  test("cost no object each", () => {
    const gathered = new Gathered();
    for (let at = 0; at < MANY; at += 1) {
      gathered.add(Uint8Array.of(at % 251));
    }
    const whole = gathered.take();
    assert.equal(whole.length, MANY);
    assert.ok(whole.buffer.byteLength <= 2 * MANY);
    assert.ok(whole.every((byte, at) => byte === at % 251));
    assert.equal(gathered.length, 0);
  });

  test("nor do lines without data", () => {
    const stream = new EventStream(MANY);
    const line = new TextEncoder().encode("data\n");
    const before = process.memoryUsage().rss;
    for (let at = 0; at < MANY; at += 1) {
      stream.push(line);
    }
    assert.ok(process.memoryUsage().rss - before < 100_000_000);
    const [event] = stream.push(Uint8Array.of(10));
    assert.equal(event.length, MANY - 1);
  });
});

test("a server that ends every stream at once is not asked without pause", async () => {
  let asked = 0;
  const server = new HttpServer({
    answer: ({ method }) => {
      asked += method === "GET" ? 1 : 0;
      return method === "GET" ? events("retry: 0\n\n") : undefined;
    },
  });
  const client = await connectHttp(server.options());
  await new Promise((resolve) => setTimeout(resolve, 450));
  await client.close();
  assert.ok(asked >= 1 && asked <= 6, String(asked));
});
