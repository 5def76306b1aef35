// Servers written for `fetch`, behind `node:http`.
import { Readable } from "node:stream";

/** A fetch-shaped handler behind `node:http`. */
export function behindHttp(handler) {
  return async (incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const body = method === "GET" || method === "DELETE" ? undefined : Readable.toWeb(incoming);
    const request = new Request(`http://${headers.host}${url}`, {
      method,
      headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
      body,
      duplex: "half",
    });
    const response = await handler(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) {
      outgoing.end();
      return;
    }
    Readable.fromWeb(response.body).on("error", () => {}).pipe(outgoing);
  };
}
