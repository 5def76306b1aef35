/**
 * Serves the page and the built package on this machine alone. Invariant: only files below `www/`
 * and `pkg/` are answered, whatever path is asked for.
 */

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const served = ["www", "pkg"].map((name) => path.join(root, name) + path.sep);
const types = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** The file a request means, or undefined. */
async function fileOf(url) {
  let name;
  try {
    name = decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    return undefined;
  }
  if (name.includes("\0")) return undefined;
  const file = path.join(root, name.endsWith("/") ? `${name}index.html` : name);
  if (!served.some((folder) => file.startsWith(folder))) return undefined;
  const facts = await stat(file).catch(() => undefined);
  return facts?.isFile() ? file : undefined;
}

async function answer(request, response) {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  if (request.url === "/") {
    response.writeHead(302, { location: "/www/" }).end();
    return;
  }
  const file = await fileOf(request.url);
  if (file === undefined) {
    response.writeHead(404, { "content-type": "text/plain" }).end("not found\n");
    return;
  }
  const type = types[path.extname(file)] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
  if (request.method === "HEAD") response.end();
  else createReadStream(file).on("error", () => response.destroy()).pipe(response);
}

/** Starts the server; port 0 takes any free one. Gives the page's address and how to stop. */
async function serve(port) {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const url = `http://localhost:${server.address().port}/www/`;
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
