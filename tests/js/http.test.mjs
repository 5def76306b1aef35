// `connectHttp` against servers of the official SDK, both lines, over real sockets; and what goes
// wrong between the two.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { eraServer } from "../fixtures/sdk/eras.mjs";
import { behindHttp } from "./support/behind-http.mjs";
import { HttpServer, event, events, json, reply } from "./support/http-server.mjs";
import { node, toolwire, web } from "./support/toolwire.mjs";

const { connectHttp } = web;
const textOf = ({ content }) => content[0].text;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Listens on a free port until the test is over; gives the URL. */
async function listening(t, onRequest) {
  const server = createServer(onRequest);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

/** A server of the SDK's first line, with sessions. */
function sessionsOfV1(seen) {
  const transports = new Map();
  return async (incoming, outgoing) => {
    seen.push({ method: incoming.method, headers: incoming.headers });
    let transport = transports.get(incoming.headers["mcp-session-id"]);
    if (transport === undefined && incoming.headers["mcp-session-id"] !== undefined) {
      outgoing.writeHead(404).end();
      return;
    }
    if (transport === undefined) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => transports.set(id, transport),
        onsessionclosed: (id) => transports.delete(id),
      });
      await serverOfV1().connect(transport);
    }
    await transport.handleRequest(incoming, outgoing);
  };
}

function serverOfV1() {
  const capabilities = { tools: { listChanged: true } };
  const server = new ServerV1({ name: "v1", version: "1.0.0" }, { capabilities });
  let grown = false;
  const tool = (name) => ({ name, inputSchema: { type: "object" } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...["echo", "ask", "grow", "steps"].map(tool), ...(grown ? [tool("new")] : [])],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const text = (words) => ({ content: [{ type: "text", text: words }] });
    if (params.name === "ask") {
      const answer = await server.elicitInput({
        message: "?",
        requestedSchema: { type: "object", properties: { n: { type: "integer", default: 7 } } },
      });
      return text(JSON.stringify(answer));
    }
    if (params.name === "grow") {
      grown = true;
      // Not in reply to anything: it takes the stream of its own.
      await server.sendToolListChanged();
      return text("grown");
    }
    if (params.name === "steps") {
      for (const progress of [1, 2]) {
        const progressToken = extra._meta?.progressToken;
        const method = "notifications/progress";
        await extra.sendNotification({ method, params: { progressToken, progress, total: 2 } });
      }
      return text("done");
    }
    return text(JSON.stringify(params.arguments));
  });
  return server;
}

test("a server of the SDK's first line: session, own stream, questions, progress, DELETE", async (t) => {
  const seen = [];
  const url = await listening(t, sessionsOfV1(seen));
  const client = await connectHttp({
    server: "v1",
    url,
    handlers: { "elicitation/create": () => ({ action: "accept", content: {} }) },
  });
  assert.equal(client.era, "legacy");
  assert.equal(client.protocolVersion, "2025-11-25");
  assert.equal(textOf(await client.callTool("echo", { a: "é" })), '{"a":"é"}');
  assert.deepEqual(JSON.parse(textOf(await client.callTool("ask"))).content, { n: 7 });
  const steps = [];
  await client.callTool("steps", {}, { onProgress: ({ progress }) => steps.push(progress) });
  assert.deepEqual(steps, [1, 2]);
  await pause(100);
  const changed = new Promise((resolve) => client.onToolsChanged(resolve));
  await client.callTool("grow");
  assert.deepEqual((await changed).added, ["new"]);
  await client.close();
  assert.equal(seen.at(-1).method, "DELETE");
  assert.equal(seen.filter(({ method }) => method === "GET").length, 1);
  const later = seen.filter(({ headers }) => headers["mcp-session-id"] !== undefined);
  assert.ok(later.every(({ headers }) => headers["mcp-protocol-version"] === "2025-11-25"));
});

test("a server of the SDK's second line: no handshake, headers, questions, subscription", async (t) => {
  const seen = [];
  const handler = createMcpHandler(() => eraServer());
  t.after(() => handler.close());
  const url = await listening(
    t,
    behindHttp((request) => {
      seen.push(Object.fromEntries(request.headers));
      return handler.fetch(request);
    }),
  );
  const client = await connectHttp({
    server: "v2",
    url,
    handlers: { "elicitation/create": () => ({ action: "accept", content: { count: 5 } }) },
  });
  assert.equal(client.era, "modern");
  assert.equal((await client.callTool("zero")).structuredContent, 0);
  assert.equal(textOf(await client.callTool("where", { region: "Zürich " })), "Zürich ");
  const where = seen.find((headers) => headers["mcp-name"] === "where");
  assert.equal(where["mcp-method"], "tools/call");
  assert.equal(where["mcp-param-region"], "=?base64?WsO8cmljaCA=?=");
  assert.equal(JSON.parse(textOf(await client.callTool("ask"))).asked.content.count, 5);
  assert.equal((await client.requestAll("prompts/list")).length, 3);
  await pause(100);
  const changed = new Promise((resolve) => client.onNotification(resolve));
  handler.notify.toolsChanged();
  assert.equal((await changed).method, "notifications/tools/list_changed");
  await client.close();
  assert.ok(seen.every((headers) => headers["mcp-session-id"] === undefined));
});

test("connectAll connects to what has a url", async (t) => {
  const handler = createMcpHandler(() => eraServer());
  const url = await listening(t, behindHttp((request) => handler.fetch(request)));
  const [entry] = node.parseConfig(JSON.stringify([{ server: "web", url, bearerTokenEnv: "T" }]), {
    env: { T: "secret" },
  });
  const gone = { server: "none", url: "http://127.0.0.1:1/" };
  const { clients, failures } = await node.connectAll([entry, gone]);
  assert.deepEqual(clients.map(({ server, era }) => [server, era]), [["web", "modern"]]);
  assert.deepEqual(failures.map(({ server, error }) => [server, error.reason]), [
    ["none", "unreachable"],
  ]);
  await clients[0].close();
});

test("an endpoint must be a web address without credentials", async () => {
  for (const url of ["ftp://h.test/", "https://u:p@h.test/", "mcp", undefined]) {
    await assert.rejects(connectHttp({ server: "s", url, fetch: () => assert.fail() }), {
      code: "protocol_error",
      reason: "bad_endpoint_url",
    });
  }
  // Numbers are checked first.
  await assert.rejects(connectHttp({ server: "s", url: "mcp", maxTools: 0 }), { option: "maxTools" });
  await assert.rejects(connectHttp(undefined), { code: "protocol_error" });
});

test("what cannot be reached says so and no more", async () => {
  const server = new HttpServer();
  const failing = async () => {
    throw new TypeError("fetch failed: secret.internal");
  };
  await assert.rejects(connectHttp(server.options({ fetch: failing })), (error) => {
    assert.equal(error.code, "connection_closed");
    assert.equal(error.reason, "unreachable");
    assert.doesNotMatch(JSON.stringify(error), /secret/);
    return true;
  });
});

test("a stream that breaks off is taken up where it broke off", async () => {
  let broken = 0;
  const server = new HttpServer({
    openingHeaders: { "mcp-session-id": "s" },
    answer: ({ method, headers, message }) => {
      if (message?.method === "tools/call") {
        broken = message.id;
        return events("id: e1\nretry: 30\ndata: \n\n");
      }
      if (method === "GET" && headers["last-event-id"] === "e1") {
        return events(["id: e2\n", event(reply(broken, { content: [] }))]);
      }
      return undefined;
    },
  });
  const client = await connectHttp(server.options());
  assert.deepEqual((await client.callTool("t", {})).content, []);
  const get = server.requests.find(({ headers }) => headers["last-event-id"] !== undefined);
  assert.equal(get.headers["mcp-session-id"], "s");
  await client.close();
  // One that nobody can take up fails the call.
  const mute = new HttpServer({
    answer: ({ message }) =>
      message?.method === "tools/call" ? events("id: e1\nretry: 1\ndata: \n\n") : undefined,
  });
  const other = await connectHttp(mute.options());
  await assert.rejects(other.callTool("t", {}), { reason: "unanswered" });
  await other.close();
});

test("redirects are followed within the origin, with the method and the token", async () => {
  const answer = ({ url, message }) => {
    if (message?.method !== "tools/call") {
      return undefined;
    }
    const target = message.params.arguments.to;
    return url.endsWith("/mcp") && target !== undefined
      ? new Response(null, { status: 307, headers: { location: target } })
      : undefined;
  };
  const server = new HttpServer({ answer });
  const client = await connectHttp(server.options({ authProvider: async () => "secret" }));
  assert.deepEqual((await client.callTool("t", { to: "/other" })).content, []);
  assert.equal(server.requests.at(-1).url, "https://h.test/other");
  assert.equal(server.requests.at(-1).headers.authorization, "Bearer secret");
  const before = server.requests.length;
  await assert.rejects(client.callTool("t", { to: "https://evil.test/mcp" }), {
    reason: "http_status",
    status: 307,
  });
  assert.equal(server.requests.length, before + 1);
  await assert.rejects(client.callTool("t", { to: "https://h.test/mcp" }), { status: 307 });
  await client.close();
});

test("a refused token is asked for once more", async () => {
  const challenge = 'Bearer resource_metadata="https://h.test/meta"';
  const server = new HttpServer({
    answer: ({ headers, method }) =>
      method === "POST" && headers.authorization !== "Bearer good"
        ? new Response(null, { status: 401, headers: { "www-authenticate": challenge } })
        : undefined,
  });
  const contexts = [];
  const client = await connectHttp(
    server.options({
      authProvider: async (context) => {
        contexts.push(context);
        return context === undefined && contexts.length === 1 ? "stale" : "good";
      },
    }),
  );
  assert.deepEqual(contexts.slice(0, 2), [undefined, { challenge }]);
  await client.close();
  await assert.rejects(connectHttp(server.options({ authProvider: async () => "bad" })), {
    code: "protocol_error",
    reason: "http_status",
    status: 401,
  });
});

test("giving a call up closes its exchange; a legacy server is told as well", async () => {
  for (const era of ["legacy", "modern"]) {
    let closed = 0;
    const server = new HttpServer({
      answer: ({ message, signal }) => {
        if (message?.method === "server/discover") {
          const result = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
          return json(reply(message.id, result));
        }
        return message?.method === "tools/call"
          ? new Promise((_, reject) => {
              signal.addEventListener("abort", () => {
                closed += 1;
                reject(signal.reason);
              });
            })
          : undefined;
      },
    });
    const client = await connectHttp(server.options({ era }));
    const abort = new AbortController();
    const call = client.callTool("t", {}, { signal: abort.signal });
    await pause(20);
    abort.abort();
    await assert.rejects(call, { code: "aborted" });
    await pause(20);
    assert.equal(closed, 1, era);
    assert.equal(server.got("notifications/cancelled").length, era === "legacy" ? 1 : 0);
    await client.close();
  }
});

test("a body past the bound is read no further", async () => {
  let pulled = 0;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          pulled += 1;
          controller.enqueue(new Uint8Array(1_000).fill(0x20));
        },
      }),
      { headers: { "content-type": "application/json" } },
    );
  const server = new HttpServer({
    answer: ({ message }) => (message?.method === "tools/call" ? endless() : undefined),
  });
  const client = await connectHttp(server.options({ maxFrameBytes: 10_000 }));
  await assert.rejects(client.callTool("t", {}), { reason: "frame_too_long" });
  assert.ok(pulled < 20, String(pulled));
  await client.close();
});

test("a lost session ends the connection", async () => {
  const server = new HttpServer({
    openingHeaders: { "mcp-session-id": "s" },
    answer: ({ message }) =>
      message?.method === "tools/call" ? new Response(null, { status: 404 }) : undefined,
  });
  const client = await connectHttp(server.options());
  await assert.rejects(client.callTool("t", {}), { reason: "session_ended" });
  assert.equal((await client.closed).reason, "session_ended");
  assert.equal(server.requests.filter(({ method }) => method === "DELETE").length, 0);
});

test("a connection over HTTP is recorded and replayed to the byte", async () => {
  const lines = [];
  const server = new HttpServer({
    answer: ({ message }) =>
      message?.method === "tools/call" && message.params.arguments.fail === true
        ? new Response(null, { status: 500 })
        : undefined,
  });
  const client = await connectHttp(server.options({ record: (line) => lines.push(line) }));
  await client.callTool("t", { a: 1 });
  await assert.rejects(client.callTool("t", { fail: true }), { status: 500 });
  await client.close();
  const { output, events: told } = toolwire.replay(lines.join("\n"));
  const sent = output.map((bytes) => JSON.parse(new TextDecoder().decode(bytes)));
  assert.deepEqual(sent, server.requests.filter(({ message }) => message).map(({ message }) => message));
  const settled = told.filter(({ type }) => type === "settled");
  assert.deepEqual(settled.map(({ ok, error }) => error?.status ?? ok), [true, 500]);
});
