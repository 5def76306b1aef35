import type { Identity, OperationRegistry } from "./operations.js";
import type { ToolDescription, ToolResult } from "./session.js";

/** What a gateway is made with. */
export interface ToolGatewayConfig {
  /** The operations it shows. They may change at any time. */
  registry: OperationRegistry;
  /** What a server that serves the gateway calls itself. */
  serverInfo?: { name: string; version: string; title?: string };
  /** What a server tells a client about the tools; a sentence on the four tools by default. */
  instructions?: string;
  /** Most calls in one batch; beyond it the whole batch is refused. Default 100. */
  maxBatch?: number;
  /** Milliseconds that one operation may take, or Infinity. Default 30,000. */
  callTimeoutMs?: number;
  /** Milliseconds that one batch may take, or Infinity. Default 120,000. */
  batchTimeoutMs?: number;
  /** Calls of a batch that run at the same time. Default 8. */
  batchConcurrency?: number;
  /** Operations on one page of a search. Default 100. */
  pageSize?: number;
  /** A clock that does not run backwards, in milliseconds, for the batch's time. */
  now?: () => number;
  /** Makes the id of each call's request. */
  newId?: () => string;
}

/**
 * The operations of a registry behind four tools, for a model: `search`, `schema`, `call` and
 * `batch`.
 *
 * Subscriptions and operations to publish to are not listed; hidden operations answer as unknown
 * ones. A tool's failure is a result with `isError: true` and `structuredContent` of
 * `{code, message, retryable, details?}`; codes are those of `CallError`, but for
 * `OPERATION_NOT_FOUND` (`NOT_FOUND`), `ACCESS_DENIED` (`FORBIDDEN`), `VALIDATION_ERROR`
 * (`INVALID_INPUT`), `ABORTED` and `UNKNOWN_ERROR` (`INTERNAL`).
 */
export class ToolGateway {
  /** Throws `invalid_arguments` with the `option` that is not what it must be. */
  constructor(config: ToolGatewayConfig);
  /** The four tools, frozen. */
  readonly tools: readonly ToolDescription[];
  readonly serverInfo: { name: string; version: string; title?: string } | undefined;
  readonly instructions: string;
  /**
   * Runs one of the tools for a caller; without an identity the caller is nobody. Never rejects.
   * `structuredContent` is an object, or undefined where an MCP tool behind an operation gave none.
   */
  handleCall(
    tool: string,
    args?: unknown,
    identity?: Identity,
    options?: {
      /** Gives the call up; the operations that run are told by their own signal. */
      signal?: AbortSignal | undefined;
    },
  ): Promise<ToolResult>;
}
