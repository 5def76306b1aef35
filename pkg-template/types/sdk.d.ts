/**
 * `toolwire/sdk`: adapters for the official MCP SDK, `@modelcontextprotocol/sdk` (version 1) and
 * `@modelcontextprotocol/client` and `server` (version 2). Neither is imported: the shapes agree.
 */
import type { SchemaOptions } from "./index.js";

export { init, initSync, ToolwireError } from "./index.js";

/** What a validator of the SDK answers. */
export type ValidatorResult<T> =
  | {
      valid: true;
      /** The very value that was given. */
      data: T;
      errorMessage: undefined;
    }
  | {
      valid: false;
      data: undefined;
      /** Fixed words, keywords and counts: no value, no property name, nothing of the schema. */
      errorMessage: string;
    };

/** Options of `ToolwireJsonSchemaValidator`: those of schemas, and one more. */
export interface ValidatorOptions extends SchemaOptions {
  /**
   * What becomes of a schema that does not compile. "throw" (default): `getValidator` throws
   * `ToolwireError` "schema_error"; version 2 of the SDK then refuses that tool's calls, version 1
   * fails the whole `listTools`. "report": the validator finds every value invalid and says why, so
   * that in version 1 too only the calls of that tool fail.
   */
  onUncompilable?: "throw" | "report";
}

/**
 * The `jsonSchemaValidator` option of the SDK's `Client` and `Server`: JSON Schema without `eval`,
 * synchronous, each schema in a registry of its own. A schema object is compiled once, and what was
 * compiled is released when the object is.
 *
 * A value that cannot be judged (`maxSteps`) is not valid; `errorMessage` says that it was not
 * judged. Formats are annotations; a schema without `$schema` is read
 * as JSON Schema 2020-12 unless `dialect` says otherwise.
 */
export class ToolwireJsonSchemaValidator {
  constructor(options?: ValidatorOptions);
  getValidator<T>(schema: object): (input: unknown) => ValidatorResult<T>;
}

/** Options of `ToolwireStdioTransport`: how a server is started, and bounds. */
export interface StdioTransportOptions {
  /** A name of yours for the server, in messages of errors; default "stdio". */
  server?: string;
  command: string;
  args?: string[];
  cwd?: string | URL;
  /**
   * The server's own variables. From this process's environment it gets only PATH, HOME, USER, LANG,
   * LC_*, TERM, TMPDIR and SHELL (on Windows also what programs there need).
   */
  env?: Record<string, string>;
  /**
   * "tail" (default): read and dropped. "inherit": it is the host's. A function: it gets the raw
   * bytes; what it throws is ignored.
   */
  stderr?: "tail" | "inherit" | ((chunk: Uint8Array) => void);
  /**
   * Milliseconds that the server may take to end after its input has ended, before its processes are
   * asked to (SIGTERM), and killed 1,000 ms later; default 2500.
   */
  shutdownGraceMs?: number;
  /** Bytes of one line of the server's; default 16_777_216. A longer one is skipped. */
  maxFrameBytes?: number;
  /** Bytes of one message to the server; default 1_048_576. A longer one rejects `limit`. */
  maxOutboundFrameBytes?: number;
}

/**
 * A transport for the SDK's `Client`, in the place of its `StdioClientTransport`: lines are bounded
 * and may be mixed with other output, the environment is chosen, and `close` ends everything that the
 * server started. Node, Deno and Bun have it; elsewhere `start` rejects `spawn_failed`, reason
 * "no_processes".
 *
 * Throws `protocol_error` with the `option` that is not what it must be.
 */
export class ToolwireStdioTransport {
  constructor(options: StdioTransportOptions);
  /** Called once, when nothing of the server is left. */
  onclose?: () => void;
  /** What is odd about what the server sent: `protocol_error` with a `reason`. None ends it. */
  onerror?: (error: Error) => void;
  /** One JSON-RPC message. A reply that is malformed arrives as an error for its request. */
  onmessage?: (message: any, extra?: any) => void;
  sessionId?: string;
  /** Starts the server. Rejects `spawn_failed`; a second time `invalid_arguments`. */
  start(): Promise<void>;
  /**
   * Sends one message; resolves when the pipe took it. Rejects `connection_closed` when there is no
   * server, `limit` when the message is too long, `protocol_error` when it is not JSON.
   */
  send(message: any, options?: any): Promise<void>;
  /** Ends the server and what it started. May be called again. */
  close(): Promise<void>;
  /** The server's process; null before it runs and when it has ended. */
  readonly pid: number | null;
  /** Lines that were no message, not a correct one, and longer than `maxFrameBytes`. */
  readonly ignored: { noise: number; malformed: number; tooLong: number };
}
