/**
 * `toolwire/ai`: tools of MCP servers as models are shown them, by the AI SDK (`ai` on npm, version
 * 5 and newer), by OpenAI's and by Anthropic's packages. None of these is imported: the shapes agree.
 */
import type { Client, ClientCallOptions, JsonSchema, ToolResult } from "./index.js";

export { init, initSync, ToolwireError } from "./index.js";

/** What tools come from: a client, or any object like one. */
export interface ToolSource {
  readonly server: string;
  readonly tools: Client["tools"];
  callTool(
    name: string,
    args?: Record<string, unknown>,
    options?: ClientCallOptions,
  ): Promise<ToolResult>;
}

/** Options of all forms. */
export interface ToolOptions {
  /** Names of tools as their servers write them; default all. */
  include?: readonly string[];
  /** Likewise, left out; wins over `include`. */
  exclude?: readonly string[];
  /** Characters of an alias, at least 16; default 64, which all providers take. */
  maxLength?: number;
  /** Options of every call: times, validation, progress. */
  call?: ClientCallOptions;
}

/** An alias and the tool that it stands for. */
export interface ToolOrigin {
  server: string;
  tool: string;
}

/**
 * Aliases for names that a provider refuses. A name of letters, digits, `_` and `-` within
 * `maxLength` (64) is its own alias. In others each other character becomes `_`, what is too long is
 * cut, and eight digits made of the whole name follow. Two names never share an alias, and the same
 * set of names has the same aliases in every process, in whatever order it is given.
 *
 * Throws `invalid_arguments` with `option`: "names" for what is no text, "maxLength" below 16.
 */
export function toolAliases(
  names: Iterable<string>,
  options?: Pick<ToolOptions, "maxLength">,
): {
  /** Undefined for a name that was not given. */
  aliasOf(name: string): string | undefined;
  /** Undefined for an alias of none of them. */
  nameOf(alias: string): string | undefined;
};

/** A part of a result for the AI SDK. */
export type AiContentPart =
  | { type: "text"; text: string }
  | { type: "image-data"; data: string; mediaType: string }
  | { type: "file-data"; data: string; mediaType: string };

/** What a model of the AI SDK is shown of a result. */
export type AiModelOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | { type: "content"; value: AiContentPart[] };

/** A tool for `generateText({ tools })` and its like. */
export interface AiTool {
  type: "dynamic";
  description?: string;
  title?: string;
  /** Where it comes from; not sent to the model. */
  metadata: { server: string; tool: string };
  /**
   * A schema of the AI SDK's, judged by this package: no code is generated. A schema that does not
   * compile refuses nothing.
   */
  inputSchema: any;
  /**
   * Calls the tool. Resolves with `isError: true` when the tool says that it failed; rejects with a
   * `ToolwireError`, of which the AI SDK makes an error for the model.
   */
  execute(
    input: any,
    options: { toolCallId: string; messages: any[]; abortSignal?: AbortSignal },
  ): Promise<ToolResult>;
  /** Text and media as such; a failure as an error. */
  toModelOutput(options: { output: any }): AiModelOutput;
}

/**
 * The tools of a client, as they stand now, for the AI SDK: an object by alias. With a list of
 * clients the names are `<server>__<tool>`.
 *
 * Throws `invalid_arguments`, option "client", for what is no client and for two of the same name.
 */
export function aiTools(
  clients: ToolSource | readonly ToolSource[],
  options?: ToolOptions,
): { [alias: string]: AiTool };

/** Tools for one kind of API: what a request lists, and what runs the calls that come back. */
export interface ProviderTools<Definition, Call, Answer> {
  /** For the `tools` of a request. */
  readonly tools: Definition[];
  /** Which tool an alias stands for; undefined for none. */
  toolOf(alias: string): ToolOrigin | undefined;
  /**
   * Runs one call that a model asked for; gives what to send back. A name that there is not,
   * arguments that are no object, a tool that failed and a server that failed are answers for the
   * model, in fixed words or in the tool's own. Rejects only when `signal` gave the call up.
   */
  callTool(call: Call, options?: ClientCallOptions): Promise<Answer>;
}

/** The input schema of a tool as providers take it: an object that lists its properties. */
export type ParametersSchema = {
  [keyword: string]: unknown;
  type: "object";
  properties: { [name: string]: JsonSchema };
};

/** A tool of OpenAI's Chat Completions. */
export interface OpenAiTool {
  type: "function";
  function: { name: string; description?: string; parameters: ParametersSchema };
}

/** A tool of OpenAI's Responses. */
export interface OpenAiResponsesTool {
  type: "function";
  name: string;
  description?: string;
  parameters: ParametersSchema;
  strict: false;
}

/** A tool of Anthropic's Messages. */
export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: ParametersSchema;
}

/** For OpenAI's Chat Completions. Media in results are named, not sent: the API takes text. */
export function openaiTools(
  clients: ToolSource | readonly ToolSource[],
  options?: ToolOptions,
): ProviderTools<
  OpenAiTool,
  { id: string; function: { name: string; arguments: string } },
  { role: "tool"; tool_call_id: string; content: string }
>;

/** For OpenAI's Responses. Images in results are sent, other media named. */
export function openaiResponsesTools(
  clients: ToolSource | readonly ToolSource[],
  options?: ToolOptions,
): ProviderTools<
  OpenAiResponsesTool,
  { call_id: string; name: string; arguments: string },
  {
    type: "function_call_output";
    call_id: string;
    output:
      | string
      | (
          | { type: "input_text"; text: string }
          | { type: "input_image"; image_url: string; detail: "auto" }
        )[];
  }
>;

/** For Anthropic's Messages. JPEG, PNG, GIF and WebP in results are sent, other media named. */
export function anthropicTools(
  clients: ToolSource | readonly ToolSource[],
  options?: ToolOptions,
): ProviderTools<
  AnthropicTool,
  { id: string; name: string; input: unknown },
  {
    type: "tool_result";
    tool_use_id: string;
    content:
      | string
      | (
          | { type: "text"; text: string }
          | {
              type: "image";
              source: {
                type: "base64";
                media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
                data: string;
              };
            }
        )[];
    is_error: boolean;
  }
>;
