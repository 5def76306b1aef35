/// <reference lib="esnext.disposable" />

import type { JsonText } from "./schema.js";
import type { Profile, SessionEvent } from "./session.js";

/** Splits a byte stream into lines: LF ends one, a CR before it is dropped, blank ones vanish. */
export class LineReader {
  constructor(options?: {
    /** Bytes of one line; default that of the profile. */
    maxFrameBytes?: number;
    /** "strict": an over-long line ends the reading. "contain" (default): it is skipped. */
    profile?: Profile;
  });
  /** Takes bytes. In "strict" throws `protocol_error` "frame_too_long" at an over-long line. */
  push(chunk: Uint8Array): void;
  /** The stream ended: an unterminated last line counts. */
  end(): void;
  /** The next line without its terminator. */
  next(): Uint8Array | undefined;
  /** How many over-long lines were skipped. */
  readonly skipped: number;
  free(): void;
  [Symbol.dispose](): void;
}

/** What one line is, as JSON-RPC 2.0. */
export function classifyLine(line: JsonText, options?: { profile?: Profile }): LineClass;

/** What `classifyLine` finds. */
export interface LineClass {
  /** "noise": no message at all. "malformed": claims to be one and is none, see `reason`. */
  kind:
    | "noise"
    | "request"
    | "notification"
    | "result"
    | "error"
    | "uncorrelated"
    | "malformed";
  id?: string | number;
  method?: string;
  /** The number of an error. */
  rpcCode?: number;
  reason?: string;
}

/**
 * Copies a value as JSON text without running any of its code: no getter, no `toJSON`. Throws
 * `protocol_error` with reason "args_not_json" or "args_root_not_object"; `error.private.reveal()`
 * has `{ reason, path }`.
 */
export function snapshotJson(
  value: unknown,
  options?: {
    /** What the text may take, about its bytes; default 1_048_576. */
    maxBytes?: number;
    /** Whether the root must be an object (default) or may be anything. */
    root?: "object" | "any";
    /** Whether `undefined` members are refused (default) or left out. */
    undefinedMembers?: "refuse" | "omit";
    /** Whether bigints are refused (default) or written as their digits. */
    bigint?: "refuse" | "digits";
  },
): string;

/** Every limit and its default: milliseconds, bytes or counts; `Infinity` is none. */
export interface Limits {
  readonly connectTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  readonly probeTimeoutMs: number;
  readonly probeHedgeMs: number;
  readonly requestTimeoutMs: number;
  readonly maxTotalTimeoutMs: number;
  readonly maxFrameBytes: number;
  readonly maxOutboundFrameBytes: number;
  readonly queueCapacity: number;
  readonly maxTools: number;
  readonly maxToolNameBytes: number;
  readonly maxToolDocumentBytes: number;
  readonly maxCatalogPages: number;
  readonly maxCatalogBytes: number;
  readonly maxTokens: number;
  readonly maxDiagnosticBytes: number;
  readonly maxStderrBytes: number;
  readonly maxPeerRequests: number;
  readonly maxInputRounds: number;
  readonly maxDepth: number;
  readonly maxErrors: number;
  readonly maxSteps: number;
  readonly maxSubschemas: number;
  readonly maxSchemaBytes: number;
  readonly shutdownGraceMs: number;
}

/** The defaults of both profiles. */
export const limits: { readonly strict: Limits; readonly contain: Limits };

/**
 * Lets the session of a recording live once more: what it sent, frame by frame, and everything it
 * reported. The same recording gives the same each time; one in which nothing was masked gives what
 * the recorded session gave. Members that a later version added are ignored.
 *
 * Throws `invalid_arguments`, reason "recording_invalid", with `at` the number of the line, from 1.
 */
export function replay(
  recording: string | Uint8Array,
  options?: {
    /** Steps that the replay may take; default 4,000,000,000. Beyond it throws `limit`. */
    maxSteps?: number;
  },
): {
  output: Uint8Array[];
  events: SessionEvent[];
};

/** What the core says of itself. */
export function coreInfo(): {
  version: string;
  /** The commit it was built from, if that is known. */
  gitRevision: string;
  /** Protocol revisions it speaks, newest first. */
  revisions: string[];
  /** Dialects of JSON Schema it compiles, newest first; values of `SchemaOptions.dialect`. */
  dialects: string[];
  /** The Unicode version of its tables. */
  unicode: string;
  /** Linear memory of all live instances. */
  memoryBytes: number;
  /** How many instances were retired because they trapped. */
  restarts: number;
};

/** Where a WebAssembly file can come from. */
export type WasmSource = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

/**
 * Makes the core ready. Needed only for `toolwire/slim`; harmless elsewhere. Calls that overlap
 * share one promise; after a failure it can be called again.
 */
export function init(
  input?: WasmSource | Promise<WasmSource> | { module: WasmSource | Promise<WasmSource> },
): Promise<void>;

/** The same at once, from bytes or a compiled module. */
export function initSync(
  input?:
    | ArrayBuffer
    | ArrayBufferView
    | WebAssembly.Module
    | { module: ArrayBuffer | ArrayBufferView | WebAssembly.Module },
): void;
