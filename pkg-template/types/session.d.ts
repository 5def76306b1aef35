/// <reference lib="esnext.disposable" />

import type { Redacted, ToolwireError } from "./errors.js";
import type { JsonSchema, ValidationError } from "./schema.js";

/**
 * How faults of the peer are met. "contain" (default): each is contained to the smallest thing it
 * concerns. "strict": they end the connection, as the reference client of the "smthrs" family does.
 */
export type Profile = "contain" | "strict";

/** Options of a session. Limits are positive safe integers; `Infinity` where one may be none. */
export interface SessionOptions {
  /** The server's name in messages and flow names. */
  server: string;
  /** Who the client says it is; default this package and its version. */
  clientInfo?: { name: string; version: string; title?: string };
  /** The client's MCP capabilities; default none, for hosts what their handlers imply. */
  capabilities?: object;
  profile?: Profile;
  /**
   * Which era is spoken. "auto" (default) finds out; "legacy" opens with `initialize` and tries
   * nothing else; "modern" fails with a server that is not. "strict" is always legacy: "modern" is
   * refused there with `protocol_error`, reason "era_unsupported".
   */
  era?: "auto" | "legacy" | "modern";
  /** Protocol revisions offered and accepted, newest first; default all known. */
  revisions?: string[];
  /** What an earlier `ready` event said of this server: under "auto" it is not found out anew. */
  prior?: { era: "legacy" | "modern"; protocolVersion: string };
  /**
   * False if the host cannot start the server again: no `respawn` event is emitted then. Default
   * true; hosts of this package set it themselves.
   */
  respawn?: boolean;
  /** A catalog the host already has: none is read at connect. */
  tools?: readonly ToolDescription[];
  /**
   * What a violation of a tool's own output schema leads to. "enforce" (default): the call fails
   * with `invalid_response`. "report": it succeeds with `verdict` "invalid" and `violations`.
   * "off": nothing is judged.
   */
  validation?: Validation;
  /** What an output that cannot be judged leads to; default "accept", with a diagnostic. */
  onUnknown?: "accept" | "reject";
  /** Keywords of tool schemas that count; default "full", in "strict" "structural". */
  keywords?: "full" | "structural";
  /**
   * Whether `format` in tool schemas is checked, in outputs and (with `checkArguments`) arguments;
   * default "annotate": it is not. Without effect under `keywords: "structural"`.
   */
  formats?: "annotate" | "assert";
  /** Refuse a server without the tools capability; default false, in "strict" true. */
  requireTools?: boolean;
  /** Structured content must be there when an output schema is declared; default false. */
  requireStructured?: boolean;
  /** Judge arguments by the tool's input schema before sending; default false. */
  checkArguments?: boolean;
  /** Accept the string "1" as the id 1 of a reply; default false, in "strict" true. */
  lenientIds?: boolean;
  /** How integers beyond 2^53 in results are read; default "number", which may round them. */
  numbers?: Numbers;
  /** Milliseconds from `connect` to `ready`; default 60_000, in "strict" none. */
  connectTimeoutMs?: number;
  /** Milliseconds of each step of the handshake; default 10_000. */
  handshakeTimeoutMs?: number;
  /** Milliseconds for the answer to the era probe; default 10_000. */
  probeTimeoutMs?: number;
  /** Milliseconds of silence after which `initialize` is tried beside the probe; default 500. */
  probeHedgeMs?: number;
  /** Milliseconds of a request without a sign of life; default 120_000. */
  requestTimeoutMs?: number;
  /** Milliseconds of a request whatever happens; default 600_000, in "strict" none. */
  maxTotalTimeoutMs?: number;
  /** Bytes of one inbound line; default 16_777_216, in "strict" 1_048_576. */
  maxFrameBytes?: number;
  /** Bytes of one outbound line; default 1_048_576. */
  maxOutboundFrameBytes?: number;
  /** Outbound frames not yet taken; default 64. */
  queueCapacity?: number;
  /** Tools of one catalog; default 4_096, in "strict" 256. */
  maxTools?: number;
  /** UTF-8 bytes of a tool's name; default 128. */
  maxToolNameBytes?: number;
  /** UTF-8 bytes of a tool's description and schemas; default 1_048_576, in "strict" 65_536. */
  maxToolDocumentBytes?: number;
  /** Pages of one catalog; default 256, in "strict" 32. */
  maxCatalogPages?: number;
  /** Bytes of all pages of one catalog; default 67_108_864, in "strict" none. */
  maxCatalogBytes?: number;
  /** Values and names in one frame; default 4_194_304, in "strict" none. */
  maxTokens?: number;
  /** Bytes of one diagnostic's detail; default 16_384. */
  maxDiagnosticBytes?: number;
  /** Bytes kept of the server's stderr; default 8_192, in "strict" 2_048. */
  maxStderrBytes?: number;
  /** Requests of the server's that wait for `respond`; default 256. */
  maxPeerRequests?: number;
  /** Questions that one request may be answered with, one after another; default 10. */
  maxInputRounds?: number;
}

/** What a violation of a tool's own output schema leads to; see `SessionOptions.validation`. */
export type Validation = "enforce" | "report" | "off";

/** How integers beyond 2^53 are read: as doubles, as bigints, or as their digits. */
export type Numbers = "number" | "bigint" | "string";

/** Times of one request. A bad one throws `invalid_arguments` at once. */
export interface RequestOptions {
  /** Milliseconds without a sign of life; default `requestTimeoutMs`; `Infinity` for none. */
  timeoutMs?: number;
  /** Milliseconds whatever happens; default the session's; `Infinity` for none. */
  maxTotalTimeoutMs?: number;
  /** Whether progress restarts `timeoutMs`; default true, in "strict" never. */
  resetTimeoutOnProgress?: boolean;
}

/** Options of one tool call. */
export interface CallOptions extends RequestOptions {
  /** Default the session's. */
  validation?: Validation;
  /** Default the session's. */
  numbers?: Numbers;
  /** Joins the request's `_meta`. Not sent in "strict". */
  meta?: object;
}

/** A tool as its server describes it. Frozen. */
export interface ToolDescription {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  /** Absent only in "contain", with the problem "missing". */
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: { readonly [name: string]: unknown };
  readonly icons?: readonly unknown[];
  readonly _meta?: { readonly [name: string]: unknown };
  readonly problems?: readonly ToolProblem[];
}

/** A finding about a catalog entry. */
export interface ToolProblem {
  /** Index of the entry, from 0. */
  readonly index: number;
  readonly name?: string;
  readonly part: "entry" | "inputSchema" | "outputSchema";
  readonly code:
    | "not_an_object"
    | "no_name"
    | "name_too_long"
    | "name_forbidden"
    | "duplicate"
    | "too_large"
    | "missing"
    | "root_type_missing"
    | "root_not_object"
    | "uncompilable"
    | "bad_header";
  /** A JSON Pointer into the part. */
  readonly at?: string;
  /** True if the entry is not listed. */
  readonly skipped: boolean;
}

/** One block of a tool's content. Blocks of unknown type are handed out as they are. */
export type ContentBlock =
  | TextContent
  | MediaContent
  | ResourceLinkContent
  | EmbeddedResourceContent;

/** What every block of content may carry. */
interface BlockMembers {
  annotations?: { [name: string]: unknown };
  _meta?: { [name: string]: unknown };
}

/** Text. */
export interface TextContent extends BlockMembers {
  type: "text";
  text: string;
}

/** An image or a sound, its bytes in base64. */
export interface MediaContent extends BlockMembers {
  type: "image" | "audio";
  data: string;
  mimeType: string;
}

/** A resource by its address. */
export interface ResourceLinkContent extends BlockMembers {
  type: "resource_link";
  uri: string;
  name: string;
  [member: string]: unknown;
}

/** A resource within the result. */
export interface EmbeddedResourceContent extends BlockMembers {
  type: "resource";
  resource: { uri: string; mimeType?: string; text?: string; blob?: string; [member: string]: unknown };
}

/**
 * What a tool answered. A plain object: `content`, `isError`, `structuredContent` and, when sent,
 * `_meta` are its only enumerable members, so it can be copied, compared and sent. The others are
 * this package's findings; they do not survive copying.
 */
export interface ToolResult<T = unknown> {
  content: ContentBlock[];
  /** True if the tool says that it failed; the call itself succeeded. */
  isError: boolean;
  /**
   * Exactly as sent; undefined if nothing was. `T` is the type that you say it has: under `validation:
   * "enforce"` the tool's own schema holds for it, unless `isError` is true.
   */
  structuredContent: T | undefined;
  _meta?: { [name: string]: unknown };
  /** How the structured content compares with the tool's output schema. */
  readonly verdict: "valid" | "invalid" | "unknown" | "unchecked";
  /** Why the verdict is "unknown" or "unchecked". */
  readonly verdictReason: string | undefined;
  /** What kind of violation was found under `validation: "report"`. */
  readonly violation: ViolationKind | undefined;
  /** The violations of a "schema" violation. */
  readonly violations: readonly ValidationError[];
  /** True if there are more. */
  readonly truncated: boolean;
  /** Content blocks that were left out, or that are of an unknown kind. */
  readonly contentProblems: readonly ContentProblem[];
  /** The result's JSON text as it arrived: exact numbers, repeated members. */
  rawJson(): string;
}

/** How a result breaks what its tool declares. */
export type ViolationKind =
  | "schema"
  | "missing_structured_content"
  | "non_object_structured_content"
  | "bad_content_block"
  | "malformed_result";

/** What is odd about one block of a result. */
export interface ContentProblem {
  /** Index of the block as sent, from 0. */
  index: number;
  reason: "not_an_object" | "missing_type" | "unknown_type" | "missing_text" | "missing_member";
}

/** How long a catalog may be kept, the least that its pages allow. */
export interface CacheHint {
  /** Milliseconds from when it was read, at most a day; 0 is not at all. */
  readonly ttlMs: number;
  /** Whether every client may share it, or this one alone keep it. */
  readonly scope: "public" | "private";
}

/** A message for a transport that sends each by itself. */
export interface OutMessage {
  /** Its JSON text, UTF-8. */
  json: Uint8Array;
  /** HTTP headers that belong to it. Those of the transport itself are not among them. */
  headers: [string, string][];
  /** Names the message in `receiveMessage` and `replyEnded`; that of the request if it is one. */
  handle?: number;
  /** True for a request. */
  expectsReply: boolean;
}

/** How the exchange of one message ended. */
export interface ReplyOutcome {
  /** The HTTP status, if there was a response. */
  status?: number;
  /** There was none. */
  unreachable?: boolean;
  /** Why the response could not be read, or what its status means. */
  reason?:
    | "egress_denied"
    | "frame_too_long"
    | "http_content_type"
    | "session_ended"
    | "session_id";
}

/** What a session reports. */
export type SessionEvent =
  | {
      /**
       * The first catalog stands, or none is to be read. Comes a second time only if a server says
       * late, and before the first request, that it is of the other era.
       */
      type: "ready";
      protocolVersion: string;
      era: "legacy" | "modern";
      serverInfo?: object;
      capabilities: object;
      instructions?: string;
    }
  | {
      /** A catalog was read; names that are new, gone and changed since the last one. */
      type: "tools";
      tools: readonly ToolDescription[];
      problems: readonly ToolProblem[];
      added: string[];
      removed: string[];
      changed: string[];
      cache?: CacheHint;
    }
  | { type: "settled"; handle: number; ok: true; result: ToolResult | unknown }
  | { type: "settled"; handle: number; ok: false; error: ToolwireError }
  | { type: "progress"; handle: number; progress: number; total?: number; message?: string }
  | { type: "notification"; method: string; params?: unknown }
  | {
      /**
       * The server asks, by a request of its own or in answer to one of ours; answer with
       * `respond`. Only methods the capabilities declare.
       */
      type: "request";
      token: number;
      method: string;
      params?: object;
    }
  | {
      /** The question is void; an answer is ignored. */
      type: "request_cancelled";
      token: number;
    }
  | {
      /** Something an operator may want to know. */
      type: "diagnostic";
      source: string;
      code: string;
      detail: Redacted<string>;
      truncated: boolean;
    }
  | { type: "uncorrelated_error"; rpcCode: number }
  | {
      /** Start the server again and call `connect`. Until then no other input counts. */
      type: "respawn";
    }
  | {
      /** A message taken by `takeMessage` is given up: close what waits for its answer. */
      type: "abandoned";
      handle: number;
    }
  | {
      /** The last event. No error after `close`. */
      type: "closed";
      error: ToolwireError | undefined;
    };

/**
 * One connection to one MCP server, without the connection: bytes and times go in; frames, events
 * and the next deadline come out.
 *
 * After any input: `work` while `hasWork`, `takeOutput` while the transport takes bytes,
 * `pollEvent` until undefined; then sleep until `nextDeadline` and call `advance`. How work is
 * sliced changes neither output nor events.
 *
 * `now` is milliseconds of any clock that does not run backwards. It owns WebAssembly memory:
 * `free()` it. A trap in the core settles what is open with `core_trapped`, then `closed` follows.
 */
export class ClientSession {
  /** Throws `protocol_error` naming the `option` that is refused. */
  constructor(options: SessionOptions);
  /** Starts the handshake; after `respawn`, again. */
  connect(now: number): void;
  /** Bytes of the server's stdout, split anywhere. They are copied. */
  receive(chunk: Uint8Array, now: number): void;
  /**
   * One message of the server's, where the transport does not frame. `inReplyTo` is the handle of
   * the message of ours that it came in reply to, if the transport tells: what is no JSON-RPC, or
   * answers another request, fails that one then. The bytes are copied.
   */
  receiveMessage(json: Uint8Array, now: number, inReplyTo?: number): void;
  /**
   * Nothing follows in reply to a message: a request that was not answered fails. Throws
   * `invalid_arguments` for an outcome that is none.
   */
  replyEnded(handle: number, outcome: ReplyOutcome, now: number): void;
  /** True while a request that was taken by `takeMessage` is not answered. */
  awaits(handle: number): boolean;
  readonly hasWork: boolean;
  /**
   * An answer to the server waits for room in the outbound queue: no line is read until a frame is
   * taken or `requestTimeoutMs` is over. A host should give the session no more bytes meanwhile.
   */
  readonly isBlocked: boolean;
  /** Reads, judges and compiles what is queued, in about so many steps. */
  work(maxSteps: number, now: number): void;
  /** stdout ended. */
  end(now: number): void;
  /** The process ended. Report it before `end` when both are known within 250 ms. */
  exited(code: number | null, now: number): void;
  /** stdin is closed. */
  writeFailed(now: number): void;
  /** Time passed; deadlines fire here. */
  advance(now: number): void;
  /**
   * Calls a tool; gives the handle that one `settled` event will name. The arguments are copied
   * before this returns. Throws `invalid_arguments` for an option; everything else settles.
   */
  callTool(name: string, args: unknown, options: CallOptions | undefined, now: number): number;
  /** Sends any request; its result is the parsed `result`. */
  request(
    method: string,
    params: object | undefined,
    options: (RequestOptions & { numbers?: Numbers }) | undefined,
    now: number,
  ): number;
  /** Sends a notification; settles when its frame is taken. */
  notify(method: string, params: object | undefined, now: number): number;
  /** Reads the catalog anew; settles when it stands. */
  refreshTools(now: number): number;
  /** Answers a `request` event. A token that is not open is ignored. */
  respond(
    token: number,
    outcome:
      | { result: unknown }
      | { error: { code: number; message: string; data?: unknown } },
    now: number,
  ): void;
  /** Gives a request up: it settles `aborted`. The reason goes to the server. */
  cancel(handle: number, reason: string | undefined, now: number): void;
  /** Bytes of the server's stderr. */
  stderr(chunk: Uint8Array, now: number): void;
  stderrEnded(now: number): void;
  /** Ends the session at once: everything open settles. */
  close(now: number): void;
  /** One frame for the server's stdin, its line end included. Taking it marks it dispatched. */
  takeOutput(): Uint8Array | undefined;
  /**
   * One message to be sent by itself, in the place of `takeOutput`: a host uses one of the two.
   * Taking it marks it dispatched.
   */
  takeMessage(): OutMessage | undefined;
  pollEvent(): SessionEvent | undefined;
  /** When `advance` is due. */
  readonly nextDeadline: number | undefined;
  readonly state: "idle" | "connecting" | "ready" | "closed";
  readonly protocolVersion: string | undefined;
  readonly tools: readonly ToolDescription[];
  /** Gives the memory back. May be called again; any other use throws `freed`. */
  free(): void;
  [Symbol.dispose](): void;
}
