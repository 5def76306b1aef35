/** A page connects to a server of another origin and calls its tools, in both eras. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { eraServer } from "../fixtures/sdk/eras.mjs";
import { behindHttp } from "../js/support/behind-http.mjs";
import { startPages } from "./pages.mjs";

const handler = createMcpHandler(() => eraServer());
let pages;
let server;
let endpoint;

/** What a server has to say so that pages of other origins may talk to it. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, POST, DELETE",
  "access-control-allow-headers": "*, authorization",
  "access-control-expose-headers": "mcp-session-id, www-authenticate",
};

async function serveMcp(request) {
  if (request.method === "OPTIONS") {
    return new Response(null, { status: 204, headers: CORS });
  }
  const response = await handler.fetch(request);
  for (const [name, value] of Object.entries(CORS)) {
    response.headers.set(name, value);
  }
  return response;
}

before(async () => {
  pages = await startPages();
  server = createServer(behindHttp(serveMcp));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${server.address().port}/mcp`;
});

after(async () => {
  await pages?.stop();
  await handler.close();
  server?.closeAllConnections();
  server?.close();
});

for (const era of ["auto", "legacy"]) {
  test(`a page connects (era: ${era}), lists and calls`, async () => {
    const page = await pages.open();
    const seen = await page.evaluate(
      async ({ url, chosen }) => {
        const { connectHttp } = await import("/pkg/esm/entry/web.js");
        const client = await connectHttp({ server: "page", url, era: chosen });
        const { content } = await client.callTool("where", { region: "Zürich" });
        const names = client.tools.map(({ name }) => name);
        const spoken = client.era;
        await client.close();
        return { spoken, names, content };
      },
      { url: endpoint, chosen: era },
    );
    assert.deepEqual(seen, {
      spoken: era === "auto" ? "modern" : "legacy",
      names: ["zero", "ask", "grow", "where"],
      content: [{ type: "text", text: "Zürich" }],
    });
    await page.close();
  });
}
