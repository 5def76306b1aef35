// `toolwire/ai` as the AI SDK's, OpenAI's and Anthropic's own packages take it. Checked, never run.
import type Anthropic from "@anthropic-ai/sdk";
import { generateText, type LanguageModel, type ToolSet } from "ai";
import type OpenAI from "openai";
import type { Client, ToolGateway } from "toolwire";
import {
  aiTools,
  anthropicTools,
  openaiResponsesTools,
  openaiTools,
  toolAliases,
  type ToolSource,
} from "toolwire/ai";

declare const client: Client;
declare const gateway: ToolGateway;
declare const model: LanguageModel;
declare const openai: OpenAI;
declare const anthropic: Anthropic;

export async function aiSdk(): Promise<string> {
  const tools: ToolSet = aiTools([client], { include: ["a"], maxLength: 40, call: { timeoutMs: 1 } });
  const { text } = await generateText({ model, tools, prompt: "go" });
  return text;
}

export async function chat(): Promise<void> {
  const { tools, callTool, toolOf } = openaiTools(client);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "go" }];
  const { choices } = await openai.chat.completions.create({ model: "m", messages, tools });
  for (const call of choices[0]?.message.tool_calls ?? []) {
    if (call.type === "function") {
      const origin: { server: string; tool: string } | undefined = toolOf(call.function.name);
      void origin;
      messages.push(await callTool(call, { signal: new AbortController().signal }));
    }
  }
}

export async function responses(): Promise<void> {
  const { tools, callTool } = openaiResponsesTools(client);
  const input: OpenAI.Responses.ResponseInput = [];
  const { output } = await openai.responses.create({ model: "m", input, tools });
  for (const item of output) {
    if (item.type === "function_call") {
      input.push(await callTool(item));
    }
  }
}

export async function messages(): Promise<Anthropic.ToolResultBlockParam[]> {
  const { tools, callTool } = anthropicTools(client);
  const answer = await anthropic.messages.create({ model: "m", max_tokens: 1, messages: [], tools });
  const calls = answer.content.filter((block) => block.type === "tool_use");
  return Promise.all(calls.map((call) => callTool(call)));
}

export const source: ToolSource = {
  server: "gateway",
  tools: gateway.tools,
  callTool: (name, args, options) => gateway.handleCall(name, args, { id: "me", scopes: [] }, options),
};

const { aliasOf, nameOf } = toolAliases(["a.b"]);
export const alias: string | undefined = aliasOf("a.b");
export const name: string | undefined = nameOf("a_b");

// @ts-expect-error: lengths are numbers.
aiTools(client, { maxLength: "64" });
// @ts-expect-error: tools come from something that calls them.
anthropicTools({ server: "a", tools: [] });
