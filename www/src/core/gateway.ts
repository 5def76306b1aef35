/** A registry of example operations, behind a gateway. Made when it is first asked for. */

import { CallError, type Identity, type OperationSpec, OperationRegistry, ToolGateway } from "toolwire/slim";
import type { GatewayAnswer, GatewayInput, GatewayOverview } from "./protocol.js";

type Example = OperationSpec & { handler: (input: any, context: any) => unknown };

const object = (properties: object, required: readonly string[] = Object.keys(properties)): object => ({ type: "object", properties, required });
const text = { type: "string", minLength: 1 };

const notes = new Map([
  ["n1", { id: "n1", title: "Release notes", body: "Three verdicts, no eval." }],
  ["n2", { id: "n2", title: "Groceries", body: "Olives, bread, oranges." }],
]);

function note(id: string): object {
  const found = notes.get(id);
  if (found === undefined) throw new CallError({ code: "NOTE_GONE", message: "no such note", details: { id } });
  return found;
}

function example(
  id: string,
  type: OperationSpec["type"],
  description: string,
  inputSchema: object,
  handler: Example["handler"],
  more: Partial<OperationSpec> = {},
): Example {
  const [namespace = "", name = ""] = id.split(".");
  const accessControl = { requiredScopes: [] };
  return { namespace, name, version: "1.0.0", type, description, inputSchema: inputSchema as OperationSpec["inputSchema"], accessControl, handler, ...more } as Example;
}

const gone = [{ code: "NOTE_GONE", description: "The note does not exist", schema: object({ id: text }) as never }];

const examples: readonly Example[] = [
  example("text.count", "query", "Counts the words of a text", object({ text: { type: "string" } }), ({ text: given }) => ({ words: given.split(/\s+/).filter(Boolean).length }), {
    outputSchema: object({ words: { type: "integer" } }) as never,
    tags: ["words", "length"],
  }),
  example("text.slug", "query", "Makes a text fit for a URL", object({ text }), ({ text: given }) => given.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")),
  example("weather.now", "query", "The weather in a city", object({ city: text }), ({ city }) => ({ city, celsius: "21" }), {
    outputSchema: object({ city: text, celsius: { type: "number" } }) as never,
  }),
  example("notes.list", "query", "Lists all notes", { type: "object" }, () => ({ notes: [...notes.values()].map(({ id, title }) => ({ id, title })) }), {
    accessControl: { requiredScopes: ["notes:read"] },
  }),
  example("notes.read", "query", "Reads one note", object({ id: text }), ({ id }) => note(id), {
    accessControl: { requiredScopes: [], resourceType: "note", resourceAction: "read" },
    resourceIdPath: "/id",
    errorSchemas: gone,
  }),
  example("notes.erase", "mutation", "Erases a note for good", object({ id: text }), ({ id }) => ({ erased: note(id) }), {
    accessControl: { requiredScopes: ["notes:write"] },
    errorSchemas: gone,
    annotations: { destructiveHint: true },
  }),
  example("notes.digest", "query", "Counts the words of all notes, by calling other operations", { type: "object" }, async (_input, { env }) => {
    const { data } = await env.notes.list({});
    let words = 0;
    for (const { title } of data.notes) words += (await env.text.count({ text: title })).data.words;
    return { notes: data.notes.length, words };
  }, { authority: { label: "digest", scopes: ["notes:read"] } }),
  example("admin.reindex", "mutation", "Builds the search index anew", { type: "object" }, () => ({ indexed: notes.size }), {
    accessControl: { requiredScopes: ["notes:write", "admin"] },
  }),
  example("admin.secrets", "query", "Reads what only other operations may read", { type: "object" }, () => ({ pepper: "hidden" }), {
    visibility: "internal",
  }),
  example("jobs.slow", "query", "Takes longer than the gateway waits", { type: "object" }, (_input, { signal }) => new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  })),
];

let made: { registry: OperationRegistry; gateway: ToolGateway } | undefined;

function theGateway(): { registry: OperationRegistry; gateway: ToolGateway } {
  if (made === undefined) {
    const registry = new OperationRegistry();
    registry.registerAll(examples);
    made = { registry, gateway: new ToolGateway({ registry, callTimeoutMs: 1_000, batchTimeoutMs: 3_000 }) };
  }
  return made;
}

function demands({ accessControl, visibility }: OperationSpec): string {
  if (visibility === "internal") return "other operations only";
  const { requiredScopes, resourceType, resourceAction } = accessControl;
  const parts = [...requiredScopes, ...(resourceType ? [`${resourceAction ?? "any action"} on ${resourceType}`] : [])];
  return parts.length === 0 ? "everyone" : parts.join(" and ");
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

/** What there is: the four tools, and the operations behind them. */
export function overview(): GatewayOverview {
  const { registry, gateway } = theGateway();
  const operations = registry.list();
  const tools = gateway.tools.map(({ name, description, inputSchema }) => ({ name, description: description ?? "", inputSchema }));
  const listed = operations.filter(({ visibility }) => visibility !== "internal");
  const direct = listed.map(({ namespace, name, description, inputSchema, outputSchema }) => ({ name: `${namespace}.${name}`, description, inputSchema, outputSchema }));
  return {
    tools,
    operations: operations.map((spec) => ({
      id: `${spec.namespace}.${spec.name}`,
      description: spec.description,
      type: spec.type,
      visibility: spec.visibility ?? "external",
      access: demands(spec),
    })),
    bytes: { gateway: bytesOf(gateway.tools), direct: bytesOf(direct) },
  };
}

/** Runs one tool as each identity. */
export async function answerGateway({ tool, args, identities }: GatewayInput, signal: AbortSignal): Promise<GatewayAnswer[]> {
  const { gateway } = theGateway();
  const given: unknown = JSON.parse(args);
  const asked = identities.map(async ({ name, json }): Promise<GatewayAnswer> => {
    const started = performance.now();
    let identity: Identity | undefined;
    try {
      identity = json === "" ? undefined : (JSON.parse(json) as Identity);
    } catch {
      return { name, result: undefined, refusal: "The identity is not JSON.", bytes: 0, ms: 0 };
    }
    const { content, isError, structuredContent } = await gateway.handleCall(tool, given, identity, { signal });
    const result = { content, isError, structuredContent } as GatewayAnswer["result"];
    return { name, result, refusal: undefined, bytes: bytesOf(result), ms: performance.now() - started };
  });
  return Promise.all(asked);
}
