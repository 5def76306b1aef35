import type { Change, JsonSchema, JsonText, Schema, ValidationError, Verdict } from "./schema.js";
import type {
  ContentBlock,
  ContentProblem,
  ToolDescription,
  ToolResult,
  Validation,
  ViolationKind,
} from "./session.js";

/** Data and where it came from. */
export interface ResponseEnvelope<T = unknown> {
  data: T;
  meta: ResponseMeta;
}

/** Where an envelope comes from. */
export type ResponseMeta = LocalMeta | HttpMeta | McpMeta;

/** Returned by a handler in this process, at a time in epoch milliseconds. */
export interface LocalMeta {
  source: "local";
  operationId: string;
  timestamp: number;
}

/** Where an envelope of an HTTP response comes from. */
export interface HttpMeta {
  source: "http";
  statusCode: number;
  headers: Record<string, string>;
  contentType: string;
}

/** Where an envelope of a tool's result comes from. */
export interface McpMeta {
  source: "mcp";
  isError: boolean;
  content: ContentBlock[];
  structuredContent?: unknown;
  _meta?: { [name: string]: unknown };
}

/**
 * An envelope around what a local handler returned; `timestamp` (epoch milliseconds) defaults to now.
 *
 * The factories throw `invalid_arguments` with `option` for a member that is missing or of another
 * type. Data that is `undefined` stays that in this process and in a structured clone, and is `null`
 * in `JSON.stringify`.
 */
export function localEnvelope<T>(
  data: T,
  operationId: string,
  timestamp?: number,
): ResponseEnvelope<T>;

/** An envelope around a response's body. Values of a repeated header are joined by commas. */
export function httpEnvelope<T>(
  data: T,
  meta: {
    statusCode: number;
    headers: Record<string, string | readonly string[]>;
    contentType: string;
  },
): ResponseEnvelope<T>;

/** An envelope around a tool's result. */
export function mcpEnvelope<T>(
  data: T,
  meta: {
    isError: boolean;
    content: ContentBlock[];
    structuredContent?: unknown;
    _meta?: { [name: string]: unknown };
  },
): ResponseEnvelope<T>;

/**
 * True if the value is an envelope: exactly what `ResponseEnvelopeSchema` accepts. Never throws, and
 * runs no code of the value.
 */
export function isResponseEnvelope(value: unknown): value is ResponseEnvelope;

/** The envelope's data. Throws `invalid_arguments`, reason "not_an_envelope", for anything else. */
export function unwrap<T>(envelope: ResponseEnvelope<T>): T;

/** Options of `runPipeline`. */
export interface PipelineOptions {
  /**
   * How data is made to fit before it is judged: `Schema.cast` in one of its modes,
   * `Schema.applyDefaults`, or not at all. Default: "cast" for local data whose output schema says
   * something (absent, `true` and `{}` do not), "off" for envelopes of HTTP and MCP and for tool
   * results. Never done to a failed tool's result, nor to one without structured content.
   */
  normalize?: "cast" | "cast-0.34" | "defaults" | "off" | undefined;
  /** Wrap even what looks like an envelope, unless a factory of this package made it. */
  wrapAlways?: boolean;
  /** Epoch milliseconds of the envelope made now; default `Date.now()`. */
  now?: number;
}

/** What `runPipeline` came to: the envelope, and what was found on the way. */
export interface PipelineOutcome {
  /**
   * The very object that came in, if that was an envelope; if its data was normalized, a new one with
   * its meta.
   */
  envelope: ResponseEnvelope;
  /** On the data as it is in the envelope. "unchecked" if nothing was judged, with `reason`. */
  verdict: Verdict;
  /** What normalizing changed. */
  changes: Change[];
  violation?: { kind: ViolationKind; errors: ValidationError[] };
  contentProblems: ContentProblem[];
  /**
   * What is worth an operator's notice: "output_violation", "output_unknown", "schema_uncompilable",
   * "not_normalized" (with `at`, a JSON Pointer into the schema) and, of tool results, what a session
   * reports of them.
   */
  diagnostics: { code: string; at?: string }[];
}

/**
 * Runs what a handler returned through the pipeline: detect, wrap, normalize, validate. An envelope is
 * handed on, anything else wrapped; its data is made to fit and judged by the output schema. A
 * violation is reported, never thrown. Data that is not JSON is handed on as it is, with the verdict
 * "unknown" and reason "not_json"; data that cannot be made to fit is too, with the diagnostic
 * "not_normalized".
 *
 * The result is read as JSON and none of its code runs. Without a schema that says something it is not
 * looked at. Give the schema compiled if it is used often. Throws `invalid_arguments` with `option`
 * for arguments of other types.
 */
export function runPipeline(
  result: unknown,
  operation: { id: string; outputSchema?: JsonSchema | Schema | undefined },
  options?: PipelineOptions,
): PipelineOutcome;

/**
 * Runs a tool's result, an object or its JSON text, through the pipeline: structured content is the
 * data, else the content. Under `validation: "enforce"` (default) a violation throws
 * `invalid_response`.
 */
export function envelopeOfToolResult(
  result: ToolResult | object | JsonText,
  tool: { name: string; outputSchema?: JsonSchema | Schema | undefined },
  options?: Pick<PipelineOptions, "normalize"> & {
    /** The protocol revision the result came in; default: the newest with a handshake. */
    protocolVersion?: string;
    validation?: Validation;
    /** Structured content must be there when an output schema is declared; default false. */
    requireStructured?: boolean;
    /** Without structured content, a single text block that is JSON is the data; default false. */
    parseTextFallback?: boolean;
  },
): PipelineOutcome;

/** The schema of an envelope: accepts exactly what `isResponseEnvelope` does. Frozen. */
export const ResponseEnvelopeSchema: JsonSchema & object;

/** The schema of an envelope's `meta`. Frozen. */
export const ResponseMetaSchema: JsonSchema & object;

/** The schemas of call events by type. Frozen. */
export const CallEventSchema: {
  readonly [Type in
    | "call.requested"
    | "call.responded"
    | "call.completed"
    | "call.aborted"
    | "call.error"]: JsonSchema & object;
};

/**
 * A tool's result as one text for a model. "content_first": its text blocks, else its structured
 * content as JSON. "structured_first": the reverse. "both": both, the structured content not if a
 * text block is equal JSON.
 */
export function viewOfToolResult(
  result: Pick<ToolResult, "content"> & { structuredContent?: unknown },
  view: "content_first" | "structured_first" | "both",
): string;
