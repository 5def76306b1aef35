/**
 * `toolwire/web`: MCP over Streamable HTTP, by the `fetch` API alone: browsers, workers, Node, Deno,
 * Bun.
 *
 * Times are milliseconds, sizes bytes. Everything here rejects and throws `ToolwireError` only.
 */
import type { Client, HostOptions, SessionOptions } from "./index.js";

export { init, initSync, ToolwireError } from "./index.js";

/** Where a server is, and how it is talked to. */
export interface HttpOptions extends SessionOptions, HostOptions {
  /** An absolute http or https URL without user or password. */
  url: string | URL;
  /** Default the global `fetch`. */
  fetch?: (url: URL, init: RequestInit) => Promise<Response>;
  /** Headers of every request. Those of the protocol and of `authProvider` win. */
  headers?: Record<string, string> | Headers | [string, string][];
  /**
   * Gives the bearer token of each message; nothing for none. Asked once a message; when the server
   * refuses it with 401 once more, with the response's WWW-Authenticate as `challenge` (not in
   * "strict"), and the message is sent again if the token is another one. What it throws is what
   * the message rejects with, and nothing is sent.
   */
  authProvider?: (context?: { challenge?: string }) => Promise<string | undefined>;
}

/**
 * Connects over Streamable HTTP, in either era. In the legacy one the session id is kept, a stream
 * that breaks off is taken up again with Last-Event-ID, the server's own stream is read, and
 * `close()` sends DELETE (waiting at most 1,000 ms).
 *
 * Redirects are followed within the origin, if they keep the method (307, 308), at most three; in
 * browsers, where they cannot be seen, none are. Bodies and events are read up to `maxFrameBytes`.
 *
 * Rejects with `protocol_error` and `option` for an option that is not what it must be (reason
 * "bad_endpoint_url" for the URL), with `connection_closed`, reason "unreachable" when there is no
 * response, with `protocol_error`, reason "http_status" and `status` for a status that is an error,
 * and with whatever ends the handshake.
 */
export function connectHttp(options: HttpOptions): Promise<Client>;
