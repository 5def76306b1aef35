// The official SDK's OAuth behind `authProvider`, as docs/oauth.md shows it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { ClientCredentialsProvider } from "@modelcontextprotocol/client";
import { tokensOf } from "../fixtures/oauth/token-provider.mjs";
import { web } from "./support/toolwire.mjs";

const text = (path) => readFileSync(new URL(path, import.meta.url), "utf8");

test("the document shows what is tested", () => {
  assert.ok(text("../../docs/oauth.md").includes(text("../fixtures/oauth/token-provider.mjs")));
});

/** An authorization server and a protected MCP server in one. */
async function protectedServer(t) {
  const issued = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) {
      body += chunk;
    }
    const origin = `http://127.0.0.1:${server.address().port}`;
    const send = (value, status = 200, headers = {}) => {
      outgoing.writeHead(status, { "content-type": "application/json", ...headers });
      outgoing.end(JSON.stringify(value));
    };
    const { pathname } = new URL(incoming.url, origin);
    if (pathname === "/.well-known/oauth-protected-resource/mcp") {
      send({ resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ["call"] });
    } else if (pathname === "/.well-known/oauth-authorization-server") {
      send({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        grant_types_supported: ["client_credentials"],
        token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      });
    } else if (pathname === "/token") {
      const token = `token-${issued.length + 1}`;
      issued.push({ token, body, authorization: incoming.headers.authorization });
      send({ access_token: token, token_type: "Bearer", expires_in: 3600 });
    } else if (pathname !== "/mcp") {
      send({}, 404);
    } else if (incoming.headers.authorization !== `Bearer ${issued.at(-1)?.token}`) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      send({}, 401, { "www-authenticate": `Bearer resource_metadata="${metadata}", scope="call"` });
    } else {
      answer(body, incoming.method, send, outgoing);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, issued };
}

function answer(body, method, send, outgoing) {
  if (method !== "POST") {
    outgoing.writeHead(405).end();
    return;
  }
  const { id, method: called } = JSON.parse(body);
  const results = {
    "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
    "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
    "tools/call": { content: [] },
  };
  send({ jsonrpc: "2.0", id, result: { resultType: "complete", ...results[called] } });
}

test("a challenge leads to a token, which is kept and renewed", async (t) => {
  const { url, issued } = await protectedServer(t);
  const provider = new ClientCredentialsProvider({
    clientId: "client",
    clientSecret: "secret",
    expectedIssuer: new URL(url).origin,
  });
  const options = { server: "protected", url, authProvider: tokensOf(provider, url) };
  const client = await web.connectHttp(options);
  assert.deepEqual((await client.callTool("t")).content, []);
  assert.equal(issued.length, 1);
  assert.equal(new URLSearchParams(issued[0].body).get("grant_type"), "client_credentials");
  assert.equal(new URLSearchParams(issued[0].body).get("scope"), "call");
  // The server wants another one: it is got while the call waits.
  issued.push({ token: "revoked" });
  assert.deepEqual((await client.callTool("t")).content, []);
  assert.equal(issued.length, 3);
  await client.close();
});

test("what OAuth fails with is what the connect rejects with", async (t) => {
  const { url } = await protectedServer(t);
  const provider = new ClientCredentialsProvider({
    clientId: "client",
    clientSecret: "secret",
    expectedIssuer: "https://other.example",
  });
  const options = { server: "protected", url, authProvider: tokensOf(provider, url) };
  await assert.rejects(web.connectHttp(options), (error) => error.code !== "connection_closed");
});
