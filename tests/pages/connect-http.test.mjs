/** A page connects to a server of another origin and calls its tools, in both eras. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { chromium } from "playwright-core";
import { eraServer } from "../fixtures/sdk/eras.mjs";
import { behindHttp } from "../js/support/behind-http.mjs";

const packageFolder = fileURLToPath(new URL("../../pkg/", import.meta.url));
const servers = [];
const handler = createMcpHandler(() => eraServer());
let browser;
let pages;
let endpoint;

/** Listens on a free port; gives the origin. */
async function listening(onRequest) {
  const server = createServer(onRequest);
  servers.push(server);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

/** The package's modules, and an empty page. */
async function servePackage({ url }, response) {
  if (url === "/") {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>t</title>");
    return;
  }
  try {
    const text = await readFile(packageFolder + url.slice(1));
    response.writeHead(200, { "content-type": "text/javascript" }).end(text);
  } catch {
    response.writeHead(404).end();
  }
}

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
  pages = await listening(servePackage);
  endpoint = `${await listening(behindHttp(serveMcp))}/mcp`;
  browser = await chromium.launch({
    executablePath: process.env.TOOLWIRE_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
});

after(async () => {
  await browser?.close();
  await handler.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

for (const era of ["auto", "legacy"]) {
  test(`a page connects (era: ${era}), lists and calls`, async () => {
    const page = await browser.newPage();
    await page.goto(pages);
    const seen = await page.evaluate(
      async ({ url, chosen }) => {
        const { connectHttp } = await import("/esm/entry/web.js");
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
