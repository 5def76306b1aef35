/**
 * Owns tools as Anthropic's Messages API takes them.
 */

import { boundTools, omitted, partsOf, runCall } from "./bound-tools.js";
import { originOf } from "./openai.js";

/** The images that a result may hold. */
const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

function anthropicTools(clients, options) {
  const { tools, find } = boundTools(clients, options);
  return Object.freeze({
    tools: tools.map(({ alias, description, inputSchema }) => ({
      name: alias,
      ...(description !== undefined && { description }),
      input_schema: inputSchema,
    })),
    toolOf: (alias) => originOf(find(alias)),
    async callTool(call, callOptions) {
      const { problem, result } = await runCall(find(call.name), call.input ?? {}, callOptions);
      return {
        type: "tool_result",
        tool_use_id: call.id,
        content: problem ?? partsOf(result).map(blockOf).filter(({ text }) => text !== ""),
        is_error: problem !== undefined || result.isError,
      };
    },
  });
}

/** A block of the API; it refuses texts that are empty. */
function blockOf(part) {
  if (part.text !== undefined) {
    return { type: "text", text: part.text };
  }
  const { data, mediaType } = part;
  return IMAGES.has(mediaType)
    ? { type: "image", source: { type: "base64", media_type: mediaType, data } }
    : { type: "text", text: omitted(part) };
}

export { anthropicTools };
