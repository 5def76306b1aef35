/** What the page asks of the worker that holds the core, and what it is told. */

import type { Change, SchemaProblem, ToolResult, ValidationError } from "toolwire/slim";
import type { Place } from "./locate.js";

export type Dialect = "2020-12" | "2019-09" | "draft-07" | "draft-06" | "draft-04";
export type Keywords = "full" | "structural";

export interface Info {
  version: string;
  dialects: string[];
  revisions: string[];
  unicode: string;
}

export interface ValidateInput {
  /** Texts in UTF-8; they are handed over, not copied. */
  schema: Uint8Array;
  value: Uint8Array;
  dialect: Dialect;
  formats: "annotate" | "assert";
}

/** A violation with its places in both texts, where they could be found. */
export interface PlacedError extends ValidationError {
  value: Place | undefined;
  schema: Place | undefined;
}

/** What one set of keywords makes of the value. */
export type Judgement =
  | {
      state: "judged";
      verdict: "valid" | "invalid" | "unknown" | "unchecked";
      reason: string | undefined;
      errors: PlacedError[];
      truncated: boolean;
      problems: (SchemaProblem & { place: Place | undefined })[];
      dialect: string;
      compileMs: number;
      judgeMs: number;
    }
  | { state: "refused"; message: string; code: string; reason: string | undefined; at: string | undefined; place: Place | undefined };

export interface ValidateOutput {
  full: Judgement;
  structural: Judgement;
}

export interface FitInput extends ValidateInput {
  mode: "cast" | "cast-0.34" | "defaults";
}

export type FitOutput =
  | { state: "fitted"; text: string; changes: Change[]; ms: number; same: boolean }
  | { state: "refused"; message: string };

/** Settings of a simulated session. */
export interface SessionSettings {
  profile: "contain" | "strict";
  era: "auto" | "legacy" | "modern";
  validation: "enforce" | "report" | "off";
  /** "" is every revision that the profile knows. */
  revision: string;
  lenientIds: boolean;
  requestTimeoutMs: number;
}

export interface SessionInput {
  settings: SessionSettings;
  /** The name of a server in the page, or undefined if the script has the server's lines. */
  server: string | undefined;
  script: string;
}

export interface Note {
  /** The event's type, or the code of a diagnostic. */
  kind: string;
  tone: "valid" | "invalid" | "unknown" | "plain";
  text: string;
}

export interface PendingRequest {
  id: string;
  method: string;
  since: number;
}

/** One thing that happened, and what the core made of it. */
export interface Step {
  t: number;
  kind: "out" | "in" | "host" | "time";
  text: string;
  /** Of an incoming line: how the core reads it. */
  reading: { kind: string; reason: string | undefined } | undefined;
  notes: Note[];
  pending: PendingRequest[];
  state: string;
  deadline: number | undefined;
  /** Of an incoming line: its line of the transcript, from 0. */
  line: number | undefined;
}

export interface SessionOutput {
  steps: Step[];
  /** The whole run as a script that needs no server. */
  transcript: string;
  /** Lines of the script that could not be read, from 1. */
  faults: { line: number; message: string }[];
  truncated: boolean;
  ms: number;
}

export interface PipelineInput {
  kind: "handler" | "tool";
  value: string;
  schema: string;
  normalize: "" | "cast" | "cast-0.34" | "defaults" | "off";
  wrapAlways: boolean;
  validation: "enforce" | "report" | "off";
  requireStructured: boolean;
  parseTextFallback: boolean;
  protocolVersion: string;
}

export interface PipelineStep {
  name: "detect" | "wrap" | "normalize" | "validate";
  tone: "valid" | "invalid" | "unknown" | "plain";
  headline: string;
  details: string[];
}

export interface PipelineOutput {
  steps: PipelineStep[];
  envelope: string | undefined;
  error: string | undefined;
}

export interface GatewayInput {
  tool: string;
  args: string;
  /** JSON of an identity, or "" for nobody. */
  identities: { name: string; json: string }[];
}

export interface GatewayAnswer {
  name: string;
  result: ToolResult | undefined;
  refusal: string | undefined;
  bytes: number;
  ms: number;
}

export interface GatewayOverview {
  tools: { name: string; description: string; inputSchema: unknown }[];
  operations: { id: string; description: string; type: string; visibility: string; access: string }[];
  /** Bytes of the four tools, and of all operations listed one by one. */
  bytes: { gateway: number; direct: number };
}

/** Every question, its input and its answer. */
export interface Questions {
  validate: [ValidateInput, ValidateOutput];
  fit: [FitInput, FitOutput];
  session: [SessionInput, SessionOutput];
  pipeline: [PipelineInput, PipelineOutput];
  overview: [undefined, GatewayOverview];
  gateway: [GatewayInput, GatewayAnswer[]];
}

export type Question = keyof Questions;

export type ToWorker = { id: number; question: Question; input: unknown } | { cancel: number };
/** Beside the answers a worker says once whether its core could be loaded. */
export type FromWorker =
  | { info: Info }
  | { down: string }
  | { id: number; answer: unknown }
  | { id: number; cancelled: true }
  | { id: number; fault: string };
