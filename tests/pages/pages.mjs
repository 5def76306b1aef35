// Owns pages that run tests: a browser, and a server on this machine for the built package and for
// the modules that tests share with pages. Invariant: nothing outside the named folders is served.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../../", import.meta.url));
const SERVED = /^\/(pkg|tests\/recordings|tests\/schema-suite)\/[\w./-]+$/;
const TYPES = { mjs: "text/javascript", js: "text/javascript", json: "application/json" };

/**
 * Starts the browser and the server. `texts` are served beside the files, by their paths. Gives
 * `open()`, which opens an empty page, and `stop()`.
 */
async function startPages(texts = {}) {
  const server = createServer(async ({ url }, response) => {
    const own = url === "/" ? "<!doctype html><title>tests</title>" : texts[url];
    try {
      if (own === undefined && (!SERVED.test(url) || url.includes(".."))) {
        throw new Error("not served");
      }
      const body = own ?? (await readFile(root + url.slice(1)));
      const type = url === "/" ? "text/html" : (TYPES[url.split(".").at(-1)] ?? "text/plain");
      response.writeHead(200, { "content-type": `${type}; charset=utf-8` }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const browser = await chromium.launch({
    executablePath: process.env.TOOLWIRE_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  return {
    open: async () => {
      const page = await browser.newPage();
      await page.goto(address);
      return page;
    },
    stop: async () => {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

export { startPages };
