/// <reference lib="esnext.disposable" />

import type { Redacted, ToolwireError } from "./errors.js";
import type { JsonSchema } from "./schema.js";
import type { Numbers } from "./session.js";

/** A tool that is served. Members beside these are sent as they are; `problems` is not. */
export interface ServedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Default, and where it names no type: an object. */
  readonly inputSchema?: JsonSchema;
  /**
   * For clients before revision 2026-07-28, which know objects only, a schema whose root is not of
   * type "object" becomes one of `{ result }`, and values of the tool are wrapped alike.
   */
  readonly outputSchema?: JsonSchema;
  readonly annotations?: object;
  readonly icons?: readonly unknown[];
  readonly _meta?: object;
}

/** What a call comes to. Members that are undefined are not sent. */
export interface ServedResult {
  /**
   * Default: the structured value as text, or nothing. A result with `resultType` "input_required"
   * (revision 2026-07-28 alone) has `inputRequests` or `requestState` instead.
   */
  content?: readonly unknown[];
  isError?: boolean;
  structuredContent?: unknown;
  _meta?: object;
  [name: string]: unknown;
}

/** The numbers that bound a serving session: positive safe integers, `Infinity` where it says so. */
export interface ServerLimits {
  /** Bytes of one inbound line; default 16_777_216. A longer one is skipped and answered -32700. */
  maxFrameBytes?: number;
  /** Bytes of one outbound line; default 16_777_216. A longer answer becomes an error. */
  maxOutboundFrameBytes?: number;
  /** Outbound frames not yet taken; default 64. While one more waits nothing is read. */
  queueCapacity?: number;
  /** Values and names in one frame; default 4_194_304; `Infinity` for none. */
  maxTokens?: number;
  /**
   * Calls that are not answered yet, or whose answer was not taken; default 1_024. The next one is
   * answered -32603.
   */
  maxOpenCalls?: number;
  /** Open `subscriptions/listen` requests; default 64. */
  maxSubscriptions?: number;
  /** Messages in one array (revision 2025-03-26); default 64. */
  maxBatch?: number;
  /** Tools on one page of `tools/list`; default 500. */
  pageSize?: number;
  /** Milliseconds until a call that is not answered fails; default none. */
  callTimeoutMs?: number;
  /** Bytes of one diagnostic's detail; default 16_384. */
  maxDiagnosticBytes?: number;
}

/** What a server says of itself and how it is served, whatever carries it. */
export interface ServingOptions extends ServerLimits {
  /** What a model should know about the server. */
  instructions?: string;
  /** Protocol revisions that are served; default all known, of both eras. */
  revisions?: string[];
  /** Offer log messages; default false. */
  logging?: boolean;
  /** Milliseconds for which a client may keep a list (revision 2026-07-28); default 0. */
  cacheTtlMs?: number;
  /** Who may keep it; default "private". */
  cacheScope?: "public" | "private";
  /** How integers beyond 2^53 in arguments are read; default "number", which may round them. */
  numbers?: Numbers;
}

/** Options of `ServerSession`. */
export interface ServerSessionOptions extends ServingOptions {
  /** Name, version, and what else there is to say (`title`, `icons`, `websiteUrl`). */
  serverInfo: { name: string; version: string; [name: string]: unknown };
  tools: readonly ServedTool[];
}

/** What happened in a `ServerSession`. */
export type ServerEvent =
  | {
      /** A client calls a tool: answer it by `respond`. */
      type: "call";
      token: number;
      /** The name of a tool of yours. */
      name: string;
      /** An object; `{}` if none came. Not judged by the tool's `inputSchema`. */
      arguments: Record<string, unknown>;
      /** The arguments as they arrived. Not enumerable. */
      readonly argumentsJson: string;
      meta?: { readonly [name: string]: unknown };
      /** The revision that the call is answered under. */
      protocolVersion: string;
      /** The exchange it came by, after `receiveMessage`. */
      exchange?: number;
      /** Answers to what an earlier result asked (revision 2026-07-28). */
      inputResponses?: { readonly [name: string]: unknown };
      /** What an earlier result gave to be brought back. Check that it is yours. */
      requestState?: string;
    }
  /** A call is given up: no answer goes out any more. */
  | { type: "cancelled"; token: number }
  /** The handshake of a legacy client is done. */
  | { type: "initialized"; protocolVersion: string; clientInfo?: object; capabilities: object }
  /** A client wants log messages from this level on. */
  | { type: "log_level"; level: LogLevel }
  | {
      type: "diagnostic";
      source: string;
      code: string;
      detail: Redacted<string>;
      truncated: boolean;
    }
  /** Nothing follows. */
  | { type: "closed"; error: ToolwireError | undefined };

/** Levels of log messages, from the least grave to the gravest. */
export type LogLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";

/**
 * One client of a tool server, sans-IO: bytes and times come in; frames, events and the next
 * deadline come out. It serves both eras on one pipe: a request whose `_meta` names a revision is
 * answered under that one, every other under the one that `initialize` agreed on.
 *
 * After any input: `work` while `hasWork`, `takeOutput` (or `takeMessage`) while the transport takes
 * bytes, `pollEvent` until undefined; then sleep until `nextDeadline` and call `advance`.
 *
 * `now` is milliseconds of any clock that does not run backwards. It owns WebAssembly memory:
 * `free()` it. A trap in the core gives up what is open, then `closed` follows.
 */
export class ServerSession {
  /** Throws `protocol_error` naming the `option` that is refused, for `tools` with its `index`. */
  constructor(options: ServerSessionOptions);
  /** Bytes of the client's, split anywhere. They are copied. */
  receive(chunk: Uint8Array, now: number): void;
  /**
   * One message that came by itself (HTTP). Gives its exchange, which its answers name. With
   * `headers` it is judged by itself, as revision 2026-07-28 is, and they must say what it says;
   * without them the session has one client, which begins with `initialize`.
   */
  receiveMessage(
    json: Uint8Array,
    now: number,
    headers?: {
      /** `MCP-Protocol-Version`. */
      protocolVersion?: string;
      /** `Mcp-Method`. */
      method?: string;
      /** `Mcp-Name`, decoded. */
      name?: string;
      /** `Mcp-Param-*` by the rest of the name, decoded; null for one that cannot be. */
      params?: { readonly [name: string]: string | null };
    },
  ): number;
  /** The peer of an exchange is gone: its calls are given up. */
  abandon(exchange: number, now: number): void;
  readonly hasWork: boolean;
  /**
   * An answer waits for room in the outbound queue: nothing is read until a frame is taken. A host
   * should give the session no more bytes meanwhile.
   */
  readonly isBlocked: boolean;
  /** Reads and answers what is queued, in about so many steps. */
  work(maxSteps: number, now: number): void;
  /** The client's output ended. Open calls may still be answered, then `closed` follows. */
  end(now: number): void;
  /** The client is gone. */
  writeFailed(now: number): void;
  /** Time passed; deadlines fire here. */
  advance(now: number): void;
  readonly nextDeadline: number | undefined;
  /** Answers a call. A token that is not open is ignored. Throws `not_json` for a bad outcome. */
  respond(
    token: number,
    outcome:
      | { result: ServedResult }
      | { error: { code: number; message: string; data?: unknown } },
    now: number,
  ): void;
  /**
   * Tells how far a call has come, if its client asked for that. Progress that does not rise, and
   * progress for which there is no room, is not sent.
   */
  progress(
    token: number,
    progress: number,
    total: number | undefined,
    message: string | undefined,
    now: number,
  ): void;
  /**
   * Sends a log message with a call, or (legacy) for the whole session, if `logging` is on and its
   * client wants that level.
   */
  log(
    token: number | undefined,
    level: LogLevel,
    logger: string | undefined,
    data: unknown,
    now: number,
  ): void;
  /** Serves other tools from now on, and tells who wants to know. */
  setTools(tools: readonly ServedTool[], now: number): void;
  /** Ends the session at once: open calls are given up, what was not taken is dropped. */
  close(now: number): void;
  /** One frame for the client, its line end included. */
  takeOutput(): Uint8Array | undefined;
  /** One message for a host that sends each by itself. */
  takeMessage(): OutgoingMessage | undefined;
  pollEvent(): ServerEvent | undefined;
  /** The revision that `initialize` agreed on. */
  readonly protocolVersion: string | undefined;
  readonly isClosed: boolean;
  /** Gives the memory back. May be called again; any other use throws `freed`. */
  free(): void;
  [Symbol.dispose](): void;
}

/** A message of a server for a transport that sends each by itself. */
export interface OutgoingMessage {
  /** The message, without a line end; undefined if the exchange ends without one. */
  json: Uint8Array | undefined;
  /** The exchange it belongs to; undefined for what concerns the whole session. */
  exchange: number | undefined;
  /** Nothing follows in its exchange. */
  ends: boolean;
  /** The status of an HTTP response that begins with it. */
  status: number;
}

/** What a call comes with. */
export interface CallContext {
  /** Fires when the client gives the call up, or the serving ends. */
  signal: AbortSignal;
  protocolVersion: string;
  /** Tells the client how far the call has come, if it wants to know. */
  progress(progress: number, total?: number, message?: string): void;
  /** Sends a log message with this call, if `logging` is on and the client wants that level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  meta?: { readonly [name: string]: unknown };
  inputResponses?: { readonly [name: string]: unknown };
  requestState?: string;
}

/** What can be served: a `ToolGateway`, or an object of yours. */
export interface ToolServer<Identity = unknown> {
  readonly tools: readonly ServedTool[];
  /**
   * Answers one call. The arguments are an object and not judged. What it throws or rejects becomes
   * a result with `isError: true` and fixed words: the sentence of a `ToolwireError`, else "The tool
   * failed". An error with an integer `rpcCode` is sent as a JSON-RPC error with its message.
   */
  handleCall(
    tool: string,
    args: any,
    identity: Identity | undefined,
    context: CallContext,
  ): ServedResult | Promise<ServedResult>;
  readonly serverInfo?: { name: string; version: string; [name: string]: unknown };
  readonly instructions?: string;
  /** Tells when `tools` changed. The function given back ends it. */
  onToolsChanged?(listener: () => void): () => void;
}

/** Options of a host that serves over streams. */
export interface ServeOptions<Identity = unknown> extends ServingOptions {
  /** Default the server's own, else this package and its version. */
  serverInfo?: { name: string; version: string; [name: string]: unknown };
  /** Whose calls these are: passed to `handleCall`. */
  identity?: Identity;
  /** Ends the serving, as `close()` does. */
  signal?: AbortSignal;
  /** Milliseconds for open calls when the client's output has ended, or at `close()`; 2_500. */
  shutdownGraceMs?: number;
  /** Gets what is worth an operator's notice. What it throws is ignored. */
  onDiagnostic?: (event: {
    source: string;
    code: string;
    detail: Redacted<string>;
    truncated: boolean;
  }) => void;
}

/** A server that runs. */
export interface ServerHandle {
  /**
   * Resolves when the serving is over and what could be written was: with undefined after the
   * client's output ended or `close()`, else with what ended it. Never rejects.
   */
  readonly closed: Promise<ToolwireError | undefined>;
  /** Serves other tools from now on. */
  setTools(tools: readonly ServedTool[]): void;
  /**
   * Reads no more, aborts open calls and waits `shutdownGraceMs` at most for what they still
   * answer. May be called again.
   */
  close(): Promise<ToolwireError | undefined>;
  [Symbol.asyncDispose](): Promise<ToolwireError | undefined>;
}

/**
 * Serves tools over any pair of byte streams: in memory, a socket, a worker. Throws for options that
 * are not what they must be.
 */
export function serveStreams<Identity = unknown>(
  server: ToolServer<Identity>,
  options: ServeOptions<Identity> & {
    /** The client's output. Read only as fast as it is processed; cancelled at the end. */
    readable: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;
    /** Writes one frame. The next one waits for its promise; a rejection ends the serving. */
    write(frame: Uint8Array): void | Promise<void>;
    /** Ends what carries the bytes; called once. */
    terminate?(): void | Promise<void>;
  },
): ServerHandle;
