/**
 * `toolwire/web`: MCP over Streamable HTTP, by the `fetch` API alone: browsers, workers, Node, Deno,
 * Bun.
 *
 * Times are milliseconds, sizes bytes. Everything here rejects and throws `ToolwireError` only.
 */
import type {
  Client,
  HostOptions,
  Redacted,
  ServedTool,
  ServingOptions,
  SessionOptions,
  ToolServer,
} from "./index.js";

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

/** Options of `createHttpHandler`. */
export interface HttpHandlerOptions<Identity = unknown> extends ServingOptions {
  /** Default the server's own, else this package and its version. */
  serverInfo?: { name: string; version: string; [name: string]: unknown };
  /**
   * Whose request this is: passed to `handleCall`; default nobody's. A `Response` refuses the
   * request (401 and the like). Asked for each request; what it throws is answered with 500.
   */
  identify?(
    request: Request,
  ): Identity | undefined | Response | Promise<Identity | undefined | Response>;
  /**
   * Hosts that requests may be for, each with a port or, for all ports, without: against DNS
   * rebinding. Default those of the machine itself, "localhost", "127.0.0.1" and "[::1]", so a
   * server that others reach must name its own. "any" switches the check off.
   */
  allowedHosts?: readonly string[] | "any";
  /**
   * Origins of pages that may ask, beside those on an allowed host. They get CORS headers. Requests
   * without `Origin` come from programs and are let in. "any" switches the check off.
   */
  allowedOrigins?: readonly string[] | "any";
  /** Bytes of one request's body; default 4_194_304. */
  maxBodyBytes?: number;
  /** Sessions of clients before revision 2026-07-28; default 256. The one idle longest makes room. */
  maxSessions?: number;
  /** Milliseconds after which an idle session is forgotten; default 1_800_000. */
  sessionIdleMs?: number;
  /** Gets what is worth an operator's notice. What it throws is ignored. */
  onDiagnostic?: (event: {
    source: string;
    code: string;
    detail: Redacted<string>;
    truncated: boolean;
  }) => void;
}

/** Answers requests of MCP clients. Never rejects. */
export interface HttpHandler {
  (request: Request): Promise<Response>;
  /** Serves other tools from now on, and tells who wants to know. */
  setTools(tools: readonly ServedTool[]): void;
  /** Ends every session and stream; later requests are answered with 503. */
  close(): void;
}

/**
 * MCP over Streamable HTTP as a function from `Request` to `Response`, in both eras: messages of
 * revision 2026-07-28 by themselves, clients of earlier ones in sessions. It needs `fetch`'s classes
 * alone: Node 20, workers, Deno, Bun.
 *
 * Abort `request.signal` when a client leaves, or cancel the response's body, so that its call is
 * given up. Throws for options that are not what they must be.
 */
export function createHttpHandler<Identity = unknown>(
  server: ToolServer<Identity>,
  options?: HttpHandlerOptions<Identity>,
): HttpHandler;
