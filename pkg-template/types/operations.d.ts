import type { JsonSchema } from "./schema.js";

/** An error that an operation declares. */
export interface ErrorDefinition {
  code: string;
  description: string;
  /** Judges the `details` of an error with this code. */
  schema: JsonSchema;
  /** For hosts that serve operations over HTTP; not used here. */
  httpStatus?: number;
}

/** What any call may end with; every other code is an operation's own. */
export type CallErrorCode =
  /** There is no such operation, it has no handler, or this caller may not know of it. */
  | "OPERATION_NOT_FOUND"
  /** The caller may not use the operation. */
  | "ACCESS_DENIED"
  /** The input does not satisfy the operation's schema; `details.errors` says where. */
  | "VALIDATION_ERROR"
  /** A deadline passed. The one code that is retryable when nothing else is said. */
  | "TIMEOUT"
  /** The call was given up. */
  | "ABORTED"
  /** The handler failed, or the MCP server behind it. */
  | "EXECUTION_ERROR"
  /** Something that is no error was thrown. */
  | "UNKNOWN_ERROR"
  /** `execute` of a subscription, or `subscribe` of anything else. */
  | "INVALID_OPERATION_TYPE"
  /** A subscription's consumer was too slow. */
  | "LIMIT";

/** What `new CallError` takes. */
export interface CallErrorInit {
  code: CallErrorCode | (string & {});
  message?: string | undefined;
  /** Copied as JSON: what JSON cannot say becomes what `JSON.stringify` makes of it, or text. */
  details?: unknown;
  /** Whether trying again can help; by default only for `TIMEOUT`. */
  retryable?: boolean | undefined;
  /** What was thrown. Not enumerable; crosses no wire. */
  cause?: unknown;
}

/** A `CallError` as a plain object. */
export interface CallErrorJson {
  code: string;
  message: string;
  retryable: boolean;
  details?: unknown;
}

/**
 * What a call of an operation fails with. `instanceof` knows errors of other copies, versions and
 * realms of this package.
 */
export class CallError extends Error {
  constructor(init: CallErrorInit);
  constructor(code: string, message?: string, details?: unknown, retryable?: boolean);
  readonly code: string;
  readonly retryable: boolean;
  /** JSON, always: a copy of what was given. Absent when there is none. */
  readonly details?: any;
  toJSON(): CallErrorJson;
  /** The error that `toJSON` wrote: for crossing threads, where `structuredClone` drops members. */
  static fromJSON(json: CallErrorJson): CallError;
  /** The seven codes that any call may end with. */
  static readonly codes: string[];
}

/**
 * Anything thrown as a call error. A call error stays itself. An exception whose message is a
 * declared code, or begins with one before a colon, has that code (the first declared wins), else
 * `EXECUTION_ERROR`; its own `details` are kept, otherwise they name the kind of exception. What is
 * no error is `UNKNOWN_ERROR`. Of a `ToolwireError`, `timeout` becomes `TIMEOUT`, `aborted`
 * `ABORTED`, refused arguments `VALIDATION_ERROR`, all else `EXECUTION_ERROR`, retryable only if the
 * request provably never left; its facts are the details.
 */
export function mapError(error: unknown, errorSchemas?: readonly ErrorDefinition[]): CallError;
