/**
 * Owns the tools of one or more clients as a model is shown them, and the calls that a model makes
 * of them. Invariant: what a model does wrong (a name that there is not, arguments that are no
 * object) and what a tool or its server does wrong is an answer for the model, made of the tool's
 * own content or of fixed words; only the host's own signal makes a call reject.
 */

import { refused } from "../lib/arguments.js";
import { viewOfToolResult } from "../lib/envelope.js";
import { ToolwireError } from "../lib/errors.js";
import { pick } from "../lib/options.js";
import { aliasesOf } from "./aliases.js";

/** Between the name of a server and that of its tool, where tools of several servers are shown. */
const SEPARATOR = "__";

const OPTIONS = ["include", "exclude", "maxLength", "call"];

/** `{ tools, find }`: each tool has `alias`, `client`, `name`, `description`, `inputSchema`. */
function boundTools(clients, options) {
  const { include, exclude, maxLength, call } = pick(options, OPTIONS);
  const several = Array.isArray(clients);
  const chosen = [];
  for (const client of several ? clients : [clients]) {
    const { server, tools } = pick(client, ["server", "tools"]);
    if (typeof server !== "string" || !Array.isArray(tools)) {
      throw refused("client");
    }
    for (const tool of tools.filter(selected(include, exclude))) {
      const shown = several ? `${server}${SEPARATOR}${tool.name}` : tool.name;
      chosen.push({ key: JSON.stringify([server, tool.name]), shown, client, tool });
    }
  }
  const keys = new Set(chosen.map(({ key }) => key));
  if (keys.size !== chosen.length) {
    throw refused("client");
  }
  const { aliasOf, keyOf } = aliasesOf(
    chosen.map(({ key, shown }) => [key, shown]),
    maxLength,
  );
  const tools = chosen.map(({ key, client, tool }) => ({
    alias: aliasOf(key),
    client,
    name: tool.name,
    title: tool.title,
    description: tool.description ?? tool.title,
    inputSchema: parametersOf(tool.inputSchema),
    schema: tool.inputSchema,
    callOptions: call,
  }));
  const byKey = new Map(chosen.map(({ key }, index) => [key, tools[index]]));
  return { tools, find: (alias) => byKey.get(keyOf(alias)) };
}

function selected(include, exclude) {
  const wanted = include === undefined ? undefined : new Set(include);
  const unwanted = new Set(exclude);
  return ({ name }) => (wanted === undefined || wanted.has(name)) && !unwanted.has(name);
}

/** The schema in the form that every provider takes: an object that says so and has `properties`. */
function parametersOf(schema) {
  const document = typeof schema === "object" && schema !== null ? schema : {};
  return { ...document, type: "object", properties: document.properties ?? {} };
}

/** Runs what a model asked for: `{ result }`, or `{ problem }` in fixed words. */
async function runCall(tool, args, options) {
  if (tool === undefined) {
    return { problem: "There is no tool of that name." };
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    return { problem: "The arguments are not a JSON object." };
  }
  const merged = { ...tool.callOptions, ...options };
  try {
    return { result: await tool.client.callTool(tool.name, args, merged) };
  } catch (error) {
    if (!(error instanceof ToolwireError) || merged.signal?.aborted) {
      throw error;
    }
    return { problem: `${error.message}.` };
  }
}

/** The arguments of a call that came as text; undefined if they are not JSON. */
function argumentsOf(text) {
  if (text === "" || text === undefined) {
    return {};
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A result in parts: `{ text }`, or `{ data, mediaType }` with base64. What has no part of its own is
 * named in a text.
 */
function partsOf(result) {
  if (!result.content.some(({ type }) => type !== "text")) {
    return [{ text: viewOfToolResult(result, "content_first") }];
  }
  return result.content.map((block) => {
    switch (block.type) {
      case "text":
        return { text: block.text };
      case "image":
      case "audio":
        return { data: block.data, mediaType: block.mimeType };
      case "resource":
        return resourcePart(block.resource);
      case "resource_link":
        return { text: `${block.title ?? block.name ?? "resource"}: ${block.uri}` };
      default:
        return { text: "(content of a kind that cannot be shown)" };
    }
  });
}

function resourcePart(resource) {
  if (typeof resource?.text === "string") {
    return { text: resource.text };
  }
  if (typeof resource?.blob === "string") {
    return { data: resource.blob, mediaType: resource.mimeType ?? "application/octet-stream" };
  }
  return { text: "(a resource without content)" };
}

/** A result as text alone. */
function textOf(result) {
  return partsOf(result)
    .map((part) => part.text ?? omitted(part))
    .join("\n");
}

/** What stands for data that a provider does not take. */
function omitted({ mediaType }) {
  return `(${mediaType} that cannot be shown)`;
}

export { argumentsOf, boundTools, omitted, partsOf, runCall, textOf };
