// `createHttpHandler`, both eras: the official SDK's clients over real HTTP, and requests by hand.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from "@modelcontextprotocol/client";
import { listen } from "./support/http.mjs";
import { until } from "./support/processes.mjs";

const require = createRequire(new URL("../../pkg/package.json", import.meta.url));
const { connectHttp, createHttpHandler } = require("toolwire/web");
const { ToolwireError } = require("toolwire");

const text = (words) => ({ content: [{ type: "text", text: words }] });

/** A server with what the tests look at. */
function gateway() {
  const state = { started: 0, aborted: 0, calls: 0 };
  return {
    state,
    serverInfo: { name: "http", version: "1.0.0" },
    tools: [
      { name: "echo" },
      { name: "größe" },
      { name: "steps" },
      { name: "slow" },
      { name: "who" },
      { name: "list", outputSchema: { type: "array" } },
      { name: "secretive" },
      { name: "late" },
    ],
    async handleCall(name, args, identity, { signal, progress }) {
      state.calls += 1;
      switch (name) {
        case "echo":
          return { structuredContent: args };
        case "steps":
          for (let step = 1; step <= 3; step += 1) {
            progress(step, 3);
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          return text("done");
        case "slow":
          state.started += 1;
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          state.aborted += 1;
          return text("stopped");
        case "who":
          return text(identity ?? "nobody");
        case "list":
          return { structuredContent: [1, 2] };
        case "secretive":
          throw new Error("password=hunter2");
        case "late":
          await new Promise((resolve) => setTimeout(resolve, 1_200));
          return text("late");
      }
      return text(name);
    },
  };
}

const identify = (request) => request.headers.get("authorization") ?? undefined;

const LINES = [
  { line: "v1", Client: ClientV1, Transport: TransportV1 },
  { line: "v2", Client: ClientV2, Transport: TransportV2 },
  {
    line: "v2, modern",
    Client: ClientV2,
    Transport: TransportV2,
    options: { versionNegotiation: { mode: "auto" } },
    modern: true,
  },
];

for (const { line, Client, Transport, options: more, modern = false } of LINES) {
  describe(`the official client ${line}`, () => {
    async function connected(t, options = {}) {
      const served = gateway();
      const handler = createHttpHandler(served, { identify });
      const url = await listen(t, handler);
      const client = new Client({ name: "c", version: "1" }, { ...more, ...options });
      t.after(() => client.close());
      const requestInit = { headers: { authorization: "Bearer me" } };
      const transport = new Transport(url, { requestInit });
      await client.connect(transport);
      return { client, transport, handler, state: served.state, served };
    }

    const requestOptions = (options) => (line === "v1" ? [undefined, options] : [options]);

    test("lists, calls and ends", async (t) => {
      const { client, transport } = await connected(t);
      assert.equal(client.getServerVersion().name, "http");
      assert.equal((await client.listTools()).tools.length, 8);
      const echoed = await client.callTool({ name: "echo", arguments: { a: ["é"] } });
      assert.deepEqual(echoed.structuredContent, { a: ["é"] });
      assert.equal((await client.callTool({ name: "größe" })).content[0].text, "größe");
      const { structuredContent } = await client.callTool({ name: "list" });
      assert.deepEqual(structuredContent, modern ? [1, 2] : { result: [1, 2] });
      assert.equal((await client.callTool({ name: "who" })).content[0].text, "Bearer me");
      const secretive = await client.callTool({ name: "secretive" });
      assert.deepEqual(secretive.content, [{ type: "text", text: "The tool failed" }]);
      await assert.rejects(client.callTool({ name: "nothing" }));
      assert.equal(transport.sessionId === undefined, modern);
      if (!modern) {
        await transport.terminateSession();
        await assert.rejects(client.callTool({ name: "who" }));
      }
    });

    test("is told of progress, by a stream", async (t) => {
      const { client } = await connected(t);
      const seen = [];
      await client.callTool(
        { name: "steps" },
        ...requestOptions({ onprogress: ({ progress }) => seen.push(progress) }),
      );
      assert.deepEqual(seen, [1, 2, 3]);
      assert.equal((await client.callTool({ name: "late" })).content[0].text, "late");
    });

    test("gives calls up", async (t) => {
      const { client, state } = await connected(t);
      const abort = new AbortController();
      const call = client.callTool({ name: "slow" }, ...requestOptions({ signal: abort.signal }));
      const rejected = assert.rejects(call);
      await until(() => state.started === 1);
      abort.abort("enough");
      await rejected;
      await until(() => state.aborted === 1);
    });

    test("learns that the tools changed", async (t) => {
      let onChanged;
      const told = new Promise((resolve) => {
        onChanged = (error, tools) => resolve(tools);
      });
      const { handler, served } = await connected(t, {
        listChanged: { tools: { autoRefresh: true, debounceMs: 0, onChanged } },
      });
      handler.setTools([...served.tools, { name: "new" }]);
      assert.ok((await told).some((tool) => tool.name === "new"));
    });

    test("many calls at once", async (t) => {
      const { client } = await connected(t);
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, n) => client.callTool({ name: "echo", arguments: { n } })),
      );
      assert.deepEqual(
        results.map(({ structuredContent }) => structuredContent.n),
        Array.from({ length: 200 }, (_, n) => n),
      );
    });
  });
}

for (const era of ["auto", "modern", "legacy"]) {
  test(`this package's client, ${era}`, async (t) => {
    const served = gateway();
    const handler = createHttpHandler(served, { identify });
    const url = await listen(t, handler);
    const headers = { authorization: "Bearer me" };
    const client = await connectHttp({ server: "http", url, era, headers });
    t.after(() => client.close());
    assert.equal(client.era, era === "auto" ? "modern" : era);
    assert.equal(client.tools.length, 8);
    const echoed = await client.callTool("echo", { a: ["é"] });
    assert.deepEqual(echoed.structuredContent, { a: ["é"] });
    assert.equal((await client.callTool("größe")).content[0].text, "größe");
    assert.equal((await client.callTool("who")).content[0].text, "Bearer me");
    const listed = await client.callTool("list");
    assert.equal(listed.verdict, "valid");
    assert.deepEqual(listed.structuredContent, era === "legacy" ? { result: [1, 2] } : [1, 2]);
    const seen = [];
    await client.callTool("steps", {}, { onProgress: ({ progress }) => seen.push(progress) });
    assert.deepEqual(seen, [1, 2, 3]);
    const abort = new AbortController();
    const rejected = assert.rejects(client.callTool("slow", {}, { signal: abort.signal }), {
      code: "aborted",
    });
    await until(() => served.state.started === 1);
    abort.abort();
    await rejected;
    await until(() => served.state.aborted === 1);
    const changed = new Promise((resolve) => {
      client.onToolsChanged(({ added }) => resolve(added));
    });
    handler.setTools([...served.tools, { name: "new" }]);
    assert.deepEqual(await changed, ["new"]);
  });
}

test("arguments in headers, as this package's client writes them", async (t) => {
  const inputSchema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Limit" },
      deep: { type: "object", properties: { flag: { type: "boolean", "x-mcp-header": "Flag" } } },
    },
  };
  const served = { tools: [{ name: "t", inputSchema }], handleCall: () => text("ok") };
  const handler = createHttpHandler(served);
  const url = await listen(t, handler);
  const client = await connectHttp({ server: "http", url });
  t.after(() => client.close());
  for (const args of [
    {},
    { region: "eu", limit: 42, deep: { flag: false } },
    { region: " süd ", limit: -1 },
    { region: "=?base64?x?=", limit: null },
    { region: "", deep: {} },
  ]) {
    assert.equal((await client.callTool("t", args)).content[0].text, "ok", JSON.stringify(args));
  }
});

const URL_HERE = "http://localhost:3000/mcp";
const JSON_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

function modernRequest(method, params = {}, headers = {}, id = 1) {
  const message = { jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...META, ...params._meta } } };
  const name = params.name === undefined ? {} : { "mcp-name": params.name };
  return new Request(URL_HERE, {
    method: "POST",
    headers: {
      ...JSON_HEADERS,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...name,
      ...headers,
    },
    body: JSON.stringify(message),
  });
}

function post(message, headers = {}, url = URL_HERE) {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return new Request(url, { method: "POST", headers: { ...JSON_HEADERS, ...headers }, body });
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};

async function opened(handler) {
  const response = await handler(post(INITIALIZE));
  assert.equal(response.status, 200);
  const id = response.headers.get("mcp-session-id");
  assert.match(id, /^[\x21-\x7e]+$/);
  await response.json();
  const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };
  const headers = { "mcp-session-id": id };
  assert.equal((await handler(post(initialized, headers))).status, 202);
  return headers;
}

async function statusAndCode(response) {
  const body = await response.text();
  return [response.status, body === "" ? undefined : JSON.parse(body).error?.code];
}

test("hosts and origins that nobody named are kept out", async () => {
  const closed = createHttpHandler(gateway());
  const status = async (handler, url, origin) => {
    const headers = origin === undefined ? {} : { origin };
    const message = { jsonrpc: "2.0", id: 1, method: "ping" };
    return (await handler(post(message, headers, url))).status;
  };
  assert.notEqual(await status(closed, "http://127.0.0.1:1/"), 403);
  assert.notEqual(await status(closed, "http://[::1]:1/"), 403);
  assert.notEqual(await status(closed, URL_HERE, "http://localhost:5173"), 403);
  assert.equal(await status(closed, "http://evil.example/"), 403);
  assert.equal(await status(closed, "http://localhost.evil.example/"), 403);
  assert.equal(await status(closed, URL_HERE, "http://evil.example"), 403);
  assert.equal(await status(closed, URL_HERE, "null"), 403);
  assert.equal(await status(closed, URL_HERE, "file://localhost"), 403);
  const named = createHttpHandler(gateway(), {
    allowedHosts: ["mcp.example"],
    allowedOrigins: ["https://app.example"],
  });
  assert.notEqual(await status(named, "https://mcp.example/x", "https://app.example"), 403);
  assert.notEqual(await status(named, "https://mcp.example:8443/x"), 403);
  assert.equal(await status(named, "https://mcp.example/x", "https://other.example"), 403);
  assert.equal(await status(named, URL_HERE), 403);
  const spoofed = post({}, { host: "evil.example" });
  if (spoofed.headers.get("host") !== null) {
    assert.equal((await closed(spoofed)).status, 403);
  }
  const open = createHttpHandler(gateway(), { allowedHosts: "any", allowedOrigins: "any" });
  assert.notEqual(await status(open, "http://evil.example/", "http://evil.example"), 403);
});

test("a page of an allowed origin may ask and read", async () => {
  const handler = createHttpHandler(gateway());
  const origin = "http://localhost:5173";
  const preflight = { origin, "access-control-request-headers": "mcp-param-region, x-other" };
  const asked = await handler(new Request(URL_HERE, { method: "OPTIONS", headers: preflight }));
  assert.equal(asked.status, 204);
  assert.equal(asked.headers.get("access-control-allow-origin"), origin);
  assert.match(asked.headers.get("access-control-allow-headers"), /mcp-method.*mcp-param-region$/);
  const answered = await handler(post(INITIALIZE, { origin }));
  assert.equal(answered.headers.get("access-control-allow-origin"), origin);
  assert.match(answered.headers.get("access-control-expose-headers"), /mcp-session-id/);
  assert.equal((await handler(post(INITIALIZE))).headers.get("access-control-allow-origin"), null);
  handler.close();
});

test("requests that carry no message are refused", async () => {
  const handler = createHttpHandler(gateway(), { maxBodyBytes: 100 });
  const request = (init) => handler(new Request(URL_HERE, init)).then((response) => response.status);
  assert.equal(await request({ method: "PUT", body: "x" }), 405);
  assert.equal(await request({ method: "GET", headers: { accept: "text/event-stream" } }), 405);
  assert.equal(await request({ method: "DELETE" }), 405);
  assert.equal(await request({ method: "POST", body: "{}", headers: { accept: "text/html", "content-type": "application/json" } }), 406);
  assert.equal(await request({ method: "POST", body: "{}", headers: { "content-type": "text/plain" } }), 415);
  assert.equal(await request({ method: "POST", headers: { ...JSON_HEADERS, "content-type": "application/json; charset=utf-8" }, body: "x".repeat(101) }), 413);
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(64)) });
  assert.equal(await request({ method: "POST", headers: JSON_HEADERS, body: endless, duplex: "half" }), 413);
  assert.deepEqual(await statusAndCode(await handler(post("{"))), [400, -32700]);
  assert.deepEqual(await statusAndCode(await handler(post("[]"))), [400, -32600]);
});

test("the modern era is judged message by message", async () => {
  const served = gateway();
  const handler = createHttpHandler(served);
  const told = async (request) => statusAndCode(await handler(request));
  const discovered = await (await handler(modernRequest("server/discover"))).json();
  assert.equal(discovered.result.supportedVersions[0], "2026-07-28");
  assert.equal(discovered.result.resultType, "complete");
  assert.deepEqual(await told(modernRequest("tools/list")), [200, undefined]);
  assert.deepEqual(await told(modernRequest("ping")), [404, -32601]);
  assert.deepEqual(await told(modernRequest("tools/list", {}, { "mcp-method": "tools/call" })), [400, -32020]);
  assert.deepEqual(await told(modernRequest("tools/call", { name: "echo" }, { "mcp-name": "who" })), [400, -32020]);
  assert.deepEqual(await told(modernRequest("tools/call", { name: "echo" })), [200, undefined]);
  const base64 = `=?base64?${Buffer.from("größe").toString("base64")}?=`;
  assert.deepEqual(await told(modernRequest("tools/call", { name: "größe" }, { "mcp-name": base64 })), [200, undefined]);
  const other = { _meta: { "io.modelcontextprotocol/protocolVersion": "2031-01-01" } };
  assert.deepEqual(await told(modernRequest("tools/list", other)), [400, -32020]);
  assert.deepEqual(await told(modernRequest("tools/list", other, { "mcp-protocol-version": "2031-01-01" })), [400, -32022]);
  const bare = post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" });
  assert.deepEqual(await told(bare), [400, -32602]);
  // Two clients may use the same id at the same time.
  const both = await Promise.all([1, 2].map((n) => handler(modernRequest("tools/call", { name: "echo", arguments: { n } }))));
  assert.deepEqual(await Promise.all(both.map(async (response) => (await response.json()).result.structuredContent)), [{ n: 1 }, { n: 2 }]);
  const notification = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  assert.equal((await handler(post(notification, { "mcp-protocol-version": "2026-07-28" }))).status, 202);
  handler.close();
  assert.equal((await handler(modernRequest("tools/list"))).status, 503);
});

test("arguments that headers repeat are compared", async () => {
  const inputSchema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      limit: { type: "integer", "x-mcp-header": "Limit" },
    },
  };
  const handler = createHttpHandler({ tools: [{ name: "t", inputSchema }], handleCall: () => text("ok") });
  const told = async (args, headers) =>
    (await statusAndCode(await handler(modernRequest("tools/call", { name: "t", arguments: args }, headers))))[1];
  const base64 = (value) => `=?base64?${Buffer.from(value).toString("base64")}?=`;
  assert.equal(await told({}, {}), undefined);
  assert.equal(await told({ region: "eu", limit: 5 }, { "mcp-param-region": "eu", "mcp-param-limit": "5" }), undefined);
  assert.equal(await told({ region: "süd" }, { "mcp-param-region": base64("süd") }), undefined);
  for (const wrong of [undefined, "nord", base64("nord"), "=?base64?c8O8ZA?=", "=?base64?***?="]) {
    const headers = wrong === undefined ? {} : { "mcp-param-region": wrong };
    assert.equal(await told({ region: "süd" }, headers), -32020, wrong);
  }
  handler.close();
});

test("a client that leaves gives its call up, in the modern era alone", async () => {
  const served = gateway();
  const handler = createHttpHandler(served);
  const progressing = await handler(modernRequest("tools/call", { name: "slow" }));
  assert.match(progressing.headers.get("content-type"), /event-stream/);
  assert.equal(served.state.started, 1);
  await progressing.body.cancel();
  await until(() => served.state.aborted === 1);
  const headers = await opened(handler);
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow" } };
  const kept = await handler(post(call, headers));
  await kept.body.cancel();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual([served.state.started, served.state.aborted], [2, 1]);
  assert.equal((await handler(new Request(URL_HERE, { method: "DELETE", headers }))).status, 204);
  await until(() => served.state.aborted === 2);
});

test("a listener is acknowledged, told and completed", async () => {
  const handler = createHttpHandler(gateway());
  const response = await handler(
    modernRequest("subscriptions/listen", { notifications: { toolsListChanged: true } }, {}, "sub"),
  );
  handler.setTools([{ name: "x" }]);
  handler.close();
  const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("event: message"));
  const messages = events.map((event) => JSON.parse(event.split("data: ")[1]));
  assert.deepEqual(
    messages.map((message) => message.method ?? message.result.resultType),
    ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed", "complete"],
  );
  assert.equal(messages[1].params._meta["io.modelcontextprotocol/subscriptionId"], "sub");
});

test("sessions are found, bounded and forgotten", async () => {
  const handler = createHttpHandler(gateway(), { maxSessions: 2 });
  const first = await opened(handler);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const told = async (request) => statusAndCode(await handler(request));
  assert.deepEqual(await told(post(list, first)), [200, undefined]);
  assert.deepEqual(await told(post(list, { ...first, "mcp-protocol-version": "2025-11-25" })), [200, undefined]);
  assert.equal((await told(post(list, { ...first, "mcp-protocol-version": "1999-01-01" })))[0], 400);
  assert.equal((await told(post(list, { "mcp-session-id": "x" })))[0], 404);
  assert.deepEqual(await told(post(list)), [400, -32602]);
  const stream = () =>
    new Request(URL_HERE, { headers: { ...first, accept: "text/event-stream" } });
  const events = await handler(stream());
  assert.equal(events.status, 200);
  assert.equal((await handler(stream())).status, 409);
  // One with an open stream is not idle: the other makes room.
  const second = await opened(handler);
  await opened(handler);
  assert.equal((await told(post(list, second)))[0], 404);
  assert.deepEqual(await told(post(list, first)), [200, undefined]);
  await events.body.cancel();
  const bad = { ...INITIALIZE, params: {} };
  const refusal = await handler(post(bad));
  assert.equal(refusal.headers.get("mcp-session-id"), null);
  handler.close();
  const brief = createHttpHandler(gateway(), { sessionIdleMs: 20 });
  const idle = await opened(brief);
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal((await statusAndCode(await brief(post(list, idle))))[0], 404);
});

test("who asks is found out for each request", async () => {
  const handler = createHttpHandler(gateway(), {
    identify(request) {
      const who = request.headers.get("authorization");
      return who === null ? new Response(null, { status: 401 }) : who;
    },
  });
  assert.equal((await handler(modernRequest("tools/list"))).status, 401);
  const names = await Promise.all(
    ["a", "b"].map(async (authorization) => {
      const request = modernRequest("tools/call", { name: "who" }, { authorization });
      return (await (await handler(request)).json()).result.content[0].text;
    }),
  );
  assert.deepEqual(names, ["a", "b"]);
  const broken = createHttpHandler(gateway(), {
    identify() {
      throw new Error("secret");
    },
  });
  const response = await broken(modernRequest("tools/list"));
  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /secret/);
});

test("wrong options are told at once", () => {
  const refuses = (run, option) =>
    assert.throws(run, (error) => error instanceof ToolwireError && error.option === option);
  refuses(() => createHttpHandler({}), "gateway");
  refuses(() => createHttpHandler(gateway(), { allowedHosts: "localhost" }), "allowedHosts");
  refuses(() => createHttpHandler(gateway(), { maxSessions: 0 }), "maxSessions");
  refuses(() => createHttpHandler(gateway(), { pageSize: -1 }), "pageSize");
  refuses(() => createHttpHandler({ ...gateway(), tools: [7] }), "tools");
});
