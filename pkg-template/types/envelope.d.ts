import type { Change, JsonSchema, JsonText, ValidationError, Verdict } from "./schema.js";
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

export type ResponseMeta = LocalMeta | HttpMeta | McpMeta;

/** Returned by a handler in this process, at a time in epoch milliseconds. */
export interface LocalMeta {
  source: "local";
  operationId: string;
  timestamp: number;
}

export interface HttpMeta {
  source: "http";
  statusCode: number;
  headers: Record<string, string>;
  contentType: string;
}

export interface McpMeta {
  source: "mcp";
  isError: boolean;
  content: ContentBlock[];
  structuredContent?: unknown;
  _meta?: { [name: string]: unknown };
}

/** An envelope around what a local handler returned; `timestamp` defaults to now. */
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

/** True if the value is an envelope. Runs no code of the value. */
export function isResponseEnvelope(value: unknown): value is ResponseEnvelope;

/** The envelope's data. */
export function unwrap<T>(envelope: ResponseEnvelope<T>): T;

export interface PipelineOptions {
  /**
   * How data is made to fit before it is judged. Only "off" (default) is available; another mode
   * throws `invalid_arguments`.
   */
  normalize?: "cast" | "cast-0.34" | "defaults" | "off";
  /** Wrap even what looks like an envelope, unless a factory of this package made it. */
  wrapAlways?: boolean;
  /** Epoch milliseconds of the envelope made now; default `Date.now()`. */
  now?: number;
}

export interface PipelineOutcome {
  /** The very object that came in, if that was an envelope. */
  envelope: ResponseEnvelope;
  /** "unchecked" if nothing was judged, with `reason`. */
  verdict: Verdict;
  /** What normalizing changed. */
  changes: Change[];
  violation?: { kind: ViolationKind; errors: ValidationError[] };
  contentProblems: ContentProblem[];
  diagnostics: { code: string; at?: string }[];
}

/**
 * Runs what a handler returned through the pipeline: an envelope is handed on, anything else
 * wrapped; then it is judged by the output schema. A violation is reported, never thrown; data that
 * is not JSON has the verdict "unknown" with reason "not_json".
 */
export function runPipeline(
  result: unknown,
  operation: { id: string; outputSchema?: JsonSchema },
  options?: PipelineOptions,
): PipelineOutcome;

/**
 * Runs a tool's result, an object or its JSON text, through the pipeline: structured content is the
 * data, else the content. Under `validation: "enforce"` (default) a violation throws
 * `invalid_response`.
 */
export function envelopeOfToolResult(
  result: ToolResult | object | JsonText,
  tool: Pick<ToolDescription, "name" | "outputSchema">,
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

/**
 * A tool's result as one text for a model. "content_first": its text blocks, else its structured
 * content as JSON. "structured_first": the reverse. "both": both, the structured content not if a
 * text block is equal JSON.
 */
export function viewOfToolResult(
  result: Pick<ToolResult, "content"> & { structuredContent?: unknown },
  view: "content_first" | "structured_first" | "both",
): string;
