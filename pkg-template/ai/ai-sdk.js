/**
 * Owns `aiTools`: tools as the AI SDK takes them. Nothing of that library is imported: its schemas
 * are recognised by a registered symbol.
 */

import { ToolwireError } from "../lib/errors.js";
import { compileSchema } from "../lib/schema.js";
import { formatErrors } from "../lib/verdict.js";
import { boundTools, omitted, partsOf, textOf } from "./bound-tools.js";

const SCHEMA = Symbol.for("vercel.ai.schema");

function aiTools(clients, options) {
  const { tools } = boundTools(clients, options);
  return Object.fromEntries(tools.map((tool) => [tool.alias, aiTool(tool)]));
}

function aiTool(tool) {
  return {
    type: "dynamic",
    ...(tool.description !== undefined && { description: tool.description }),
    ...(tool.title !== undefined && { title: tool.title }),
    metadata: { server: tool.client.server, tool: tool.name },
    inputSchema: inputSchema(tool),
    execute: (input, { abortSignal } = {}) =>
      tool.client.callTool(tool.name, input, { ...tool.callOptions, signal: abortSignal }),
    toModelOutput: ({ output }) => modelOutput(output),
  };
}

/** A schema of the AI SDK's that this package judges, compiled when it is first needed. */
function inputSchema({ inputSchema: document, schema }) {
  let compiled;
  return {
    [SCHEMA]: true,
    _type: undefined,
    jsonSchema: document,
    validate(value) {
      compiled ??= compiledOrNone(schema);
      const verdict = compiled.schema?.validate(value);
      return verdict?.verdict === "invalid"
        ? { success: false, error: new Error(formatErrors(verdict.errors, { audience: "model" })) }
        : { success: true, value };
    },
  };
}

/** A schema that does not compile is no reason to refuse a call: the server judges it. */
function compiledOrNone(schema) {
  try {
    return { schema: schema === undefined ? undefined : compileSchema(schema) };
  } catch (error) {
    if (error instanceof ToolwireError) {
      return {};
    }
    throw error;
  }
}

function modelOutput(result) {
  if (result.isError) {
    return { type: "error-text", value: textOf(result) };
  }
  const parts = partsOf(result);
  return parts.length === 1 && parts[0].text !== undefined
    ? { type: "text", value: parts[0].text }
    : { type: "content", value: parts.map(contentPart) };
}

function contentPart(part) {
  if (part.text !== undefined) {
    return { type: "text", text: part.text };
  }
  const { data, mediaType } = part;
  if (mediaType.startsWith("image/")) {
    return { type: "image-data", data, mediaType };
  }
  return mediaType.includes("/")
    ? { type: "file-data", data, mediaType }
    : { type: "text", text: omitted(part) };
}

export { aiTools };
