/**
 * Owns the tools of an MCP server as operations of a registry, kept in step with its catalog.
 * Invariant: one tool that cannot be an operation costs the others nothing; it is reported.
 */

import { plainOptions, refused } from "./arguments.js";
import { checkAccess } from "./access.js";
import { doorOf } from "./doors.js";
import { pick } from "./options.js";
import { errorFor } from "./sentences.js";
import { copyJson } from "./snapshot.js";

/** What calls of imported operations fail with, beside what any call may. */
const ERRORS = [
  {
    code: "EXECUTION_ERROR",
    description: "The server refused the call, answered badly, or is gone",
    schema: { type: "object" },
  },
  { code: "TIMEOUT", description: "The server did not answer in time", schema: { type: "object" } },
];

/** A tool's copy, only to see whether it changed. */
const COPY = { budget: 134_217_728, maxDepth: 65_536, omitUndefined: true, bigintDigits: true };

/** A name that would be lost in an id, or collapse with another: nothing is trimmed. */
const UNUSABLE = /[/\s]/u;

/** One server's import. */
class Import {
  #door;
  #settings;
  /** By id: the tool as text, and whether it is registered. */
  #known = new Map();
  #unlisten;

  constructor(door, client, settings) {
    this.client = client;
    this.namespace = settings.namespace;
    this.closed = false;
    this.#door = door;
    this.#settings = settings;
    this.#unlisten = client.onToolsChanged?.(() => this.sync());
    client.closed?.then?.(
      () => {
        this.closed = true;
      },
      () => {
        this.closed = true;
      },
    );
  }

  /** Registers what the catalog has now; gives the ids in its order. */
  sync() {
    const known = this.#known;
    const wanted = new Map();
    for (const tool of this.#settings.select(this.client.tools)) {
      wanted.set(`${this.namespace}.${tool.name}`, tool);
    }
    const gone = [...known].filter(([id, { isIn }]) => isIn && !wanted.has(id)).map(([id]) => id);
    if (gone.length > 0) {
      this.#door.remove(gone);
    }
    this.#known = new Map();
    for (const [id, tool] of wanted) {
      const { text } = copyJson(tool, COPY);
      const before = known.get(id);
      const isSame = before !== undefined && before.text === text;
      this.#known.set(id, isSame ? before : { text, isIn: this.#add(id, tool, before?.isIn) });
    }
    return [...this.#known].filter(([, { isIn }]) => isIn).map(([id]) => id);
  }

  /** Follows the catalog no further. */
  stop() {
    this.#unlisten?.();
  }

  /** Ends the import and takes its operations out. */
  end() {
    this.stop();
    this.#door.remove([...this.#known].filter(([, { isIn }]) => isIn).map(([id]) => id));
    this.#known = new Map();
  }

  #add(id, tool, replace) {
    const { name } = tool;
    const { client } = this;
    const handler = (input, { signal }) => client.callTool(name, input, { signal });
    try {
      if (name === "" || UNUSABLE.test(name)) {
        const { server } = client;
        throw errorFor({ code: "invalid_arguments", reason: "tool_name_forbidden", server });
      }
      const spec = this.#settings.specOf(tool, client);
      this.#door.add([{ spec, handler }], { imported: true, replace });
      return true;
    } catch (error) {
      if (replace) {
        this.#door.remove([id]);
      }
      this.#door.warn({ type: "import", server: client.server, tool: name, operationId: id, error });
      return false;
    }
  }
}

function importClient(registry, client, options) {
  const door = doorOf(registry);
  if (typeof client?.callTool !== "function" || !Array.isArray(client.tools)) {
    throw refused("client");
  }
  const settings = settingsOf(client, options);
  for (const earlier of [...door.imports]) {
    // The same server again, or one whose connection is over: its place is free.
    if (earlier.namespace === settings.namespace && (earlier.client === client || earlier.closed)) {
      earlier.end();
      door.imports.delete(earlier);
    }
  }
  const imported = new Import(door, client, settings);
  door.imports.add(imported);
  return imported.sync();
}

function settingsOf(client, options) {
  const picked = pick(options, ["include", "exclude", "accessControl"]);
  const { namespace = `${client.server}`.replace(/[./\s]/gu, "_"), visibility = "internal" } =
    plainOptions(pick(options, ["namespace", "visibility"]));
  if (typeof namespace !== "string" || namespace === "" || /[./]/u.test(namespace)) {
    throw refused("namespace");
  }
  if (visibility !== "internal" && visibility !== "external") {
    throw refused("visibility");
  }
  const accessControl = { requiredScopes: [], ...picked.accessControl };
  checkAccess(accessControl);
  const [include, exclude] = ["include", "exclude"].map((option) => namesOf(picked, option));
  return {
    namespace,
    // A catalog has tools with names; a client that is not ours may have anything.
    select: (tools) =>
      tools.filter((tool) => {
        const name = tool?.name;
        return typeof name === "string" && (include?.has(name) ?? true) && !exclude?.has(name);
      }),
    specOf: (tool, { serverInfo }) => ({
      ...documented(tool),
      namespace,
      name: tool.name,
      version: typeof serverInfo?.version === "string" ? serverInfo.version : "1.0.0",
      type: "mutation",
      inputSchema: tool.inputSchema ?? { type: "object" },
      errorSchemas: ERRORS,
      visibility,
      accessControl,
    }),
  };
}

function namesOf(picked, option) {
  const names = picked[option];
  if (names === undefined) {
    return undefined;
  }
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) {
    throw refused(option);
  }
  return new Set(names);
}

/** What a server says of a tool, as far as it is what a specification may hold. */
function documented({ title, description, annotations, outputSchema, _meta }) {
  const spec = { description: typeof description === "string" ? description : "" };
  if (typeof title === "string") {
    spec.title = title;
  }
  if (outputSchema !== undefined) {
    spec.outputSchema = outputSchema;
  }
  for (const [name, value] of Object.entries({ annotations, _meta })) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      spec[name] = value;
    }
  }
  return spec;
}

export { importClient };
