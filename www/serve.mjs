/**
 * Serves the built playground on this machine alone, under the policy it must hold under. Invariant:
 * only files below `www/dist/` are answered, whatever path is asked for.
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("dist/", import.meta.url));
const types = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** As in `index.html`; workers take theirs from the answer that brings them. */
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'";

/** The file a request means, or undefined. */
async function fileOf(url, under) {
  let name;
  try {
    name = decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return undefined;
  }
  if (name.includes("\0") || !name.startsWith(under)) return undefined;
  const asked = name.slice(under.length);
  const file = path.join(root, asked === "" || asked.endsWith("/") ? `${asked}index.html` : asked);
  if (!file.startsWith(root)) return undefined;
  const facts = await stat(file).catch(() => undefined);
  return facts?.isFile() ? file : undefined;
}

async function answer(request, response, under, told) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const file = await fileOf(request.url, under);
  if (file === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
    return;
  }
  told?.(file);
  const type = types[path.extname(file)] ?? "application/octet-stream";
  const headers = { "content-type": type, "cache-control": "no-store", "content-security-policy": policy };
  response.writeHead(200, headers);
  if (request.method === "HEAD") response.end();
  else createReadStream(file).on("error", () => response.destroy()).pipe(response);
}

/**
 * Starts the server; port 0 takes any free one. `under` is the folder of the address that the site
 * stands in; `told` is told of each file that is answered. Gives the page's address and how to stop.
 */
async function serve(port, under = "/", told = undefined) {
  const server = createServer((request, response) => {
    answer(request, response, under, told).catch(() => response.destroy());
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const url = `http://localhost:${server.address().port}${under}`;
  const stop = () => new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return { url, stop };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const wanted = Number(process.env.PORT ?? 8321);
  const { url } = await serve(wanted).catch((error) => {
    if (error.code !== "EADDRINUSE") throw error;
    return serve(0);
  });
  console.log(`\n    ${url}\n\n    stop with Ctrl-C`);
}

export { serve };
