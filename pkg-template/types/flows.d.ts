import type { Client, ClientCallOptions } from "./client.js";
import type { JsonSchema } from "./schema.js";
import type { ContentBlock } from "./session.js";

/** Options of `flowsOf`. */
export interface FlowOptions {
  /** In the place of `mcp/<server>`. */
  namePrefix?: string;
  /** Exact tool names; default and empty: all. */
  include?: string[];
  /** Exact tool names; wins over `include`. */
  exclude?: string[];
  /** What each flow declares that it may do; default nothing. */
  capabilities?: string[];
  /**
   * True: an empty `namePrefix` throws `protocol_error` "empty_name_prefix", a name in `include`
   * that the catalog does not have throws `tool_not_found` "include_missing". Default false.
   */
  checked?: boolean;
}

/**
 * The tools of a client, as they stand now, as flows for a workflow engine. Any object with
 * `server`, `tools` and `callTool` will do.
 */
export function flowsOf(
  client: Pick<Client, "server" | "tools" | "callTool">,
  options?: FlowOptions,
): FlowSource;

/** The flows of one client. */
export interface FlowSource {
  /** The prefix: `mcp/<server>`. */
  readonly name: string;
  /** One for each tool, in the order of the catalog. */
  bindings(): FlowBinding[];
}

/** One tool as a flow: what it is, and the call. */
export interface FlowBinding {
  readonly descriptor: FlowDescriptor;
  /** Calls the tool. Rejects with a `ToolwireError`. */
  call(input: Record<string, unknown>, options?: ClientCallOptions): Promise<FlowResult>;
}

/** What a flow is. Frozen. */
export interface FlowDescriptor {
  /** `<prefix>/<tool>`. */
  readonly name: string;
  /** A sentence of ours that names tool and server, then the server's words, attributed. */
  readonly description: string;
  /** The tool's input schema, by value. */
  readonly inputDocument: JsonSchema;
  /** The tool's output schema, by value. */
  readonly outputDocument?: JsonSchema;
  readonly annotations?: { readonly [name: string]: unknown };
  readonly capabilities: readonly string[];
  /** What may happen: anything, and it cannot be undone. */
  readonly effects: {
    readonly reads: readonly string[];
    readonly writes: readonly string[];
    readonly mode: string;
    readonly onConflict: string;
    readonly tier: string;
  };
}

/** What a flow answers: the result of its tool, without findings. */
export interface FlowResult {
  content: ContentBlock[];
  isError: boolean;
  /** Absent when there is none. */
  structuredContent?: unknown;
}
