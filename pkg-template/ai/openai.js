/**
 * Owns tools as OpenAI takes them: in Chat Completions, and in Responses.
 */

import { argumentsOf, boundTools, omitted, partsOf, runCall, textOf } from "./bound-tools.js";

function openaiTools(clients, options) {
  const { tools, find } = boundTools(clients, options);
  return Object.freeze({
    tools: tools.map(({ alias, description, inputSchema }) => ({
      type: "function",
      function: {
        name: alias,
        ...(description !== undefined && { description }),
        parameters: inputSchema,
      },
    })),
    toolOf: (alias) => originOf(find(alias)),
    async callTool(call, callOptions) {
      const { name, arguments: text } = call.function;
      const ran = await runCall(find(name), argumentsOf(text), callOptions);
      const content = ran.problem ?? textOf(ran.result);
      return { role: "tool", tool_call_id: call.id, content };
    },
  });
}

function openaiResponsesTools(clients, options) {
  const { tools, find } = boundTools(clients, options);
  return Object.freeze({
    tools: tools.map(({ alias, description, inputSchema }) => ({
      type: "function",
      name: alias,
      ...(description !== undefined && { description }),
      parameters: inputSchema,
      // A strict schema must name every member and allow no other; few tools' do.
      strict: false,
    })),
    toolOf: (alias) => originOf(find(alias)),
    async callTool(call, callOptions) {
      const ran = await runCall(find(call.name), argumentsOf(call.arguments), callOptions);
      const output = ran.problem ?? responsesOutput(ran.result);
      return { type: "function_call_output", call_id: call.call_id, output };
    },
  });
}

function responsesOutput(result) {
  const parts = partsOf(result);
  return parts.every(({ text }) => text !== undefined)
    ? parts.map(({ text }) => text).join("\n")
    : parts.map(outputItem);
}

function outputItem(part) {
  if (part.text !== undefined) {
    return { type: "input_text", text: part.text };
  }
  const { data, mediaType } = part;
  return mediaType.startsWith("image/")
    ? { type: "input_image", image_url: `data:${mediaType};base64,${data}`, detail: "auto" }
    : { type: "input_text", text: omitted(part) };
}

/** Which tool of which server an alias stands for. */
function originOf(tool) {
  return tool && { server: tool.client.server, tool: tool.name };
}

export { openaiResponsesTools, openaiTools, originOf };
