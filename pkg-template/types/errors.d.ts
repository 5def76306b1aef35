/** What kind of failure it is. Closed: a new kind is a new major version. */
export type ErrorCode =
  /** A server's process could not be started. */
  | "spawn_failed"
  /** The connection ended, by either side. */
  | "connection_closed"
  /** A deadline passed. */
  | "timeout"
  /** The peer or the caller broke the protocol; also bad session options and bad tool arguments. */
  | "protocol_error"
  /** The server has no tool of that name. */
  | "tool_not_found"
  /** The server answered a tool call with a JSON-RPC error. */
  | "tool_failed"
  /** A result does not have the shape it must have, or violates the tool's own output schema. */
  | "invalid_response"
  /** A schema does not compile. */
  | "schema_error"
  /** Arguments, options of a call, a value that is not JSON, or a configuration are refused. */
  | "invalid_arguments"
  /** The caller gave up. */
  | "aborted"
  /** A bound of the caller's own was met. */
  | "limit"
  /** The WebAssembly instance failed and was retired; the next use gets a new one. */
  | "core_trapped"
  /** The object was used after `free()`. */
  | "freed";

/** Facts that an error may carry as members of its own. Never prose of the peer. */
export interface ErrorFacts {
  /** The number of a JSON-RPC error. */
  rpcCode?: number | undefined;
  /** The exit code of the server's process. */
  exitCode?: number | undefined;
  /** The name of the option that is refused. */
  option?: string | undefined;
  /** The method of the request that failed. */
  method?: string | undefined;
  /** Milliseconds of the bound that was met. */
  ms?: number | undefined;
  /** Another bound that was met, in its own unit. */
  limit?: number | undefined;
  /** Index of a catalog entry or content block, from 0. */
  index?: number | undefined;
  /** Where: a JSON Pointer into the caller's own document, or the number of a recording's line. */
  at?: string | number | undefined;
  /** Protocol revisions that the server named and this package knows. */
  supported?: string[] | undefined;
  /** The status of an HTTP response. */
  status?: number | undefined;
  /** What the caller named: a command, a URL, a file. */
  target?: string | undefined;
  /** The name of an environment variable. */
  variable?: string | undefined;
  /** The id of an operation of the host's own. */
  operation?: string | undefined;
}

/** What `new ToolwireError` takes. */
export interface ToolwireErrorInit extends ErrorFacts {
  code: ErrorCode;
  message?: string | undefined;
  /** The configured name of the server. */
  server?: string | undefined;
  /** A stable slug: the innermost reason. */
  reason?: string | undefined;
  /** Whether trying again can help; default false. */
  retryable?: boolean | undefined;
  /** What only the host may see. */
  private?: unknown;
}

/**
 * The one error type this package throws and rejects with.
 *
 * `message` is a fixed sentence: it quotes numbers, option names, method names and the configured
 * server name, and nothing a server wrote, so it may be shown to a model. What the server sent is
 * in `private`.
 *
 * `instanceof` knows errors of other copies, versions and realms of this package.
 */
export class ToolwireError extends Error implements ErrorFacts {
  constructor(init: ToolwireErrorInit);
  readonly code: ErrorCode;
  readonly reason?: string;
  readonly server?: string;
  readonly retryable: boolean;
  readonly rpcCode?: number;
  readonly exitCode?: number;
  readonly option?: string;
  readonly method?: string;
  readonly ms?: number;
  readonly limit?: number;
  readonly index?: number;
  readonly at?: string | number;
  readonly supported?: string[];
  readonly status?: number;
  readonly target?: string;
  readonly variable?: string;
  readonly operation?: string;
  /**
   * What the peer sent, violations with their paths, the end of stderr: members differ by reason.
   * Not enumerable; absent from `toJSON()`, printing and `structuredClone`.
   */
  readonly private: Redacted<unknown> | undefined;
  /** Everything but `private` and the stack. */
  toJSON(): ToolwireErrorJson;
  /** The error that `toJSON` wrote: for crossing threads, where `structuredClone` drops members. */
  static fromJSON(json: ToolwireErrorJson): ToolwireError;
}

/** A `ToolwireError` as a plain object. */
export interface ToolwireErrorJson extends ErrorFacts {
  name: "ToolwireError";
  code: ErrorCode;
  message: string;
  server?: string;
  reason?: string;
  retryable: boolean;
}

/**
 * A value that does not get printed by accident: it prints, inspects, serialises and coerces as
 * `<redacted>`.
 */
export class Redacted<T> {
  constructor(value: T);
  /** The value itself. */
  reveal(): T;
  toString(): string;
  toJSON(): string;
}

/**
 * An error as text for a human at a terminal: its sentence, a hint by reason, the exit code, the
 * end of the server's stderr, the JSON Pointer. Unlike `message` it may hold what a server wrote
 * (control characters removed): do not give it to a model.
 */
export function explain(error: unknown): string;
