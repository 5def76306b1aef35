/// <reference lib="esnext.disposable" />

import type { Redacted, ToolwireError } from "./errors.js";
import type {
  CacheHint,
  CallOptions,
  Numbers,
  RequestOptions,
  SessionOptions,
  ToolDescription,
  ToolProblem,
  ToolResult,
} from "./session.js";

/**
 * Serves a request of the server's. What it returns, or resolves to, is the result; nothing counts
 * as `{}`. If it throws, the server gets -32603 and fixed words; an error with an integer `rpcCode`
 * sends that number and its own message. `signal` fires when the server gives the request up or
 * the connection closes.
 */
export type RequestHandler = (params: any, context: { signal: AbortSignal }) => unknown;

/** Options of hosts, beside those of the session. */
export interface HostOptions {
  /**
   * By method: "sampling/createMessage", "elicitation/create", "roots/list". They imply the
   * capabilities, `elicitation` forms alone; for URLs give `capabilities` `{ elicitation: { form:
   * {}, url: {} } }`. What an accepted form leaves out takes its default, and content that the form
   * refuses is not sent: the server gets an error, and `onDiagnostic` is told.
   */
  handlers?: { readonly [method: string]: RequestHandler };
  /**
   * Gets each line of a recording of the session, without its end: JSON, secrets masked, for
   * `replay`. Called shortly after what it tells of, the last time before the client has closed. If
   * it throws or rejects, the recording ends there and `onDiagnostic` is told; the session goes on.
   */
  record?: (line: string) => void;
  /** Gives connecting up. Has no effect once connected. */
  signal?: AbortSignal;
  /** Gets what is worth an operator's notice. What it throws is ignored. */
  onDiagnostic?: (event: {
    server: string;
    source: string;
    code: string;
    detail: Redacted<string>;
    truncated: boolean;
  }) => void;
}

/** Options of a walk through pages; times are those of each request. */
export interface PageOptions extends RequestOptions {
  /** The most pages that are asked for; default 256. */
  maxPages?: number;
  signal?: AbortSignal | undefined;
  numbers?: Numbers;
}

/** Options of one call through a client. */
export interface ClientCallOptions extends CallOptions {
  /** Gives the call up, also while its result is judged: it rejects `aborted`. */
  signal?: AbortSignal | undefined;
  /** Gets each progress notification. What it throws is ignored. */
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** A connected server. What its listeners throw is ignored. */
export interface Client {
  readonly server: string;
  /** The catalog, frozen; replaced when a new one was read. */
  readonly tools: readonly ToolDescription[];
  /** What is odd about the catalog. */
  readonly problems: readonly ToolProblem[];
  /** How long the catalog may be kept, if the server says so. */
  readonly toolsCache?: CacheHint;
  readonly protocolVersion: string;
  readonly era: "legacy" | "modern";
  readonly serverInfo?: object;
  readonly capabilities: object;
  readonly instructions?: string;
  /**
   * Calls a tool. The arguments (default `{}`) are copied before this returns. Resolves with
   * `isError: true` when the tool says that it failed. Rejects with a `ToolwireError`.
   */
  callTool<T = unknown>(
    name: string,
    args?: Record<string, unknown>,
    options?: ClientCallOptions,
  ): Promise<ToolResult<T>>;
  /** Reads the catalog anew. */
  refreshTools(): Promise<readonly ToolDescription[]>;
  /** Any other request: prompts, resources, completion … Resolves with the parsed result. */
  request<T = unknown>(
    method: string,
    params?: object,
    options?: RequestOptions & {
      numbers?: Numbers;
      signal?: AbortSignal | undefined;
      onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
    },
  ): Promise<T>;
  /**
   * The pages of a list, one request each: prompts/list, resources/list … Ends without a cursor,
   * after `maxPages` (256) pages, and when a cursor repeats and brings nothing new.
   */
  pages(method: string, params?: object, options?: PageOptions): AsyncGenerator<any, void>;
  /**
   * The items of all pages. `items` names the member that holds them, for methods other than
   * prompts/list, resources/list, resources/templates/list, tools/list and tasks/list.
   */
  requestAll(
    method: string,
    params?: object,
    options?: PageOptions & { items?: string },
  ): Promise<any[]>;
  /**
   * Sends a notification; resolves when it has left. A server of the modern era gets none from a
   * client: it rejects with reason "notification_not_allowed" then.
   */
  notify(method: string, params?: object): Promise<void>;
  /**
   * Tells of each catalog that differs from the last by a tool: its names by what became of them.
   * The function given back ends it.
   */
  onToolsChanged(
    listener: (event: {
      tools: readonly ToolDescription[];
      added: string[];
      removed: string[];
      changed: string[];
    }) => void,
  ): () => void;
  /** Tells of each notification of the server's. The function given back ends it. */
  onNotification(listener: (event: { method: string; params?: unknown }) => void): () => void;
  /**
   * Serves a method from now on; the capabilities must declare it. In the modern era it serves the
   * questions that requests are answered with.
   */
  handle(method: string, handler: RequestHandler): () => void;
  /** Resolves when the connection is over: with what ended it, or undefined after `close`. */
  readonly closed: Promise<ToolwireError | undefined>;
  /** Ends the connection and what carries it. May be called again. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Options of `connectStreams`. */
export interface StreamOptions extends SessionOptions, HostOptions {
  /** The server's output. Read only as fast as it is processed; cancelled at the end. */
  readable: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>;
  /** Writes one frame. The next one waits for its promise; a rejection ends the connection. */
  write(frame: Uint8Array): void | Promise<void>;
  /** Resolves with the exit code of what runs the server, null if it has none. */
  exited?: Promise<number | null>;
  /** Ends what carries the bytes; called once, `close()` waits for it. */
  terminate?(): void | Promise<void>;
}

/**
 * Connects over any pair of byte streams: `docker exec`, ssh, Electron, a worker in the page.
 * Rejects with what ended the handshake, when `terminate` is done.
 */
export function connectStreams(options: StreamOptions): Promise<Client>;
