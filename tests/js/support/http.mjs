// A handler of fetch's kind behind Node's HTTP server.
import http from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Serves until the test ends; gives the address. */
export async function listen(t, handler) {
  const server = http.createServer((incoming, outgoing) => {
    serve(handler, incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    handler.close?.();
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return new URL(`http://127.0.0.1:${server.address().port}/mcp`);
}

async function serve(handler, incoming, outgoing) {
  const abort = new AbortController();
  outgoing.on("close", () => abort.abort());
  const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    signal: abort.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming), duplex: "half" } : {}),
  });
  const response = await handler(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  if (response.body === null) {
    outgoing.end();
  } else {
    await pipeline(Readable.fromWeb(response.body), outgoing);
  }
}
