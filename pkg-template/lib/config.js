/**
 * Owns `parseConfig`: a text that lists servers, read into entries that can be connected to. Two
 * forms: an array of entries (rows R05, R82 to R84), taken word for word, and the object with
 * `mcpServers` that many hosts share, in whose strings `${NAME}` stands for a variable.
 *
 * Invariant: entries hold known members with values of the right kind, and an error names the
 * file, the server, the place and the variable, never a value.
 */
import { ToolwireError } from "./errors.js";
import { sentence } from "./sentences.js";

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

const text = (value) => typeof value === "string";
const filled = (value) => text(value) && value !== "";
const flag = (value) => typeof value === "boolean";
const count = (value) => Number.isSafeInteger(value) && value > 0;
const texts = (value) => Array.isArray(value) && value.every(text);
const record = (value) => isObject(value) && Object.values(value).every(text);
const oneOf =
  (...words) =>
  (value) =>
    words.includes(value);

const SHARED = {
  server: filled,
  include: texts,
  exclude: texts,
  namePrefix: text,
  clientInfo: (value) => isObject(value) && filled(value.name) && text(value.version),
  profile: oneOf("contain", "strict"),
  era: oneOf("auto", "legacy", "modern"),
  revisions: texts,
  validation: oneOf("enforce", "report", "off"),
  onUnknown: oneOf("accept", "reject"),
  keywords: oneOf("full", "structural"),
  formats: oneOf("annotate", "assert"),
  numbers: oneOf("number", "bigint", "string"),
  requireTools: flag,
  requireStructured: flag,
  checkArguments: flag,
  lenientIds: flag,
  connectTimeoutMs: count,
  handshakeTimeoutMs: count,
  probeTimeoutMs: count,
  probeHedgeMs: count,
  requestTimeoutMs: count,
  maxTotalTimeoutMs: count,
  maxFrameBytes: count,
  maxOutboundFrameBytes: count,
  queueCapacity: count,
  maxTools: count,
  maxToolNameBytes: count,
  maxToolDocumentBytes: count,
  maxCatalogPages: count,
  maxCatalogBytes: count,
  maxTokens: count,
  maxDiagnosticBytes: count,
  maxStderrBytes: count,
  maxPeerRequests: count,
  maxInputRounds: count,
};

const STDIO = {
  ...SHARED,
  command: filled,
  args: texts,
  cwd: filled,
  env: record,
  stderr: oneOf("tail", "inherit"),
  shutdownGraceMs: (value) => value === 0 || count(value),
};

const HTTP = {
  ...SHARED,
  url: isEndpoint,
  headers: record,
  bearerTokenEnv: (value) => text(value) && VARIABLE.test(value),
};

/**
 * The entries of a configuration, in its order. Throws a ToolwireError `invalid_arguments` with
 * reason `config_not_entries` or `config_token_unset`; `at` is a JSON Pointer into the text.
 *
 * @param options `env`: where variables are read, by default the process's environment, if there
 *   is one; `source`: what the text is called in messages, such as its path
 */
function parseConfig(json, options = {}) {
  const reader = new Reader(options.env ?? globalThis.process?.env ?? {}, options.source);
  let document;
  try {
    document = JSON.parse(json.startsWith("\ufeff") ? json.slice(1) : json);
  } catch {
    throw reader.notEntries("");
  }
  if (Array.isArray(document)) {
    return document.map((entry, index) => reader.entry(entry, `/${index}`));
  }
  if (isObject(document) && isObject(document.mcpServers)) {
    return Object.entries(document.mcpServers)
      .filter(([, entry]) => !(isObject(entry) && entry.disabled === true))
      .map(([name, entry]) => reader.namedEntry(name, entry));
  }
  throw reader.notEntries("");
}

class Reader {
  #env;
  #prefix;

  constructor(env, source) {
    this.#env = env;
    this.#prefix = source === undefined ? "" : `${source}: `;
  }

  /** An entry of the array form. */
  entry(entry, at) {
    if (!isObject(entry)) {
      throw this.notEntries(at);
    }
    const overHttp = Object.hasOwn(entry, "url");
    if (overHttp === Object.hasOwn(entry, "command")) {
      throw this.notEntries(at);
    }
    const known = overHttp ? HTTP : STDIO;
    for (const required of overHttp ? ["server"] : ["server", "args"]) {
      if (!Object.hasOwn(entry, required)) {
        throw this.notEntries(at);
      }
    }
    const read = {};
    for (const member of Object.keys(known)) {
      if (Object.hasOwn(entry, member)) {
        if (!known[member](entry[member])) {
          const server = filled(entry.server) ? entry.server : undefined;
          throw this.notEntries(`${at}/${member}`, server);
        }
        read[member] = entry[member];
      }
    }
    return overHttp ? this.#withToken(read, at) : read;
  }

  /** An entry of the `mcpServers` form: its key is the server's name, and `args` may be absent. */
  namedEntry(name, entry) {
    const at = `/mcpServers/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!isObject(entry)) {
      throw this.notEntries(at);
    }
    const completed = Object.hasOwn(entry, "command") ? { args: [], ...entry } : { ...entry };
    completed.server = name;
    for (const member of ["command", "args", "cwd", "env", "url", "headers"]) {
      if (Object.hasOwn(completed, member)) {
        completed[member] = this.#expand(completed[member], name, `${at}/${member}`);
      }
    }
    return this.entry(completed, at);
  }

  notEntries(at, server) {
    return this.#refusal("config_not_entries", { server, at });
  }

  /** A string, or the strings of an array or record, with their variables. Other values stay. */
  #expand(value, server, at) {
    const one = (item) =>
      text(item)
        ? item.replace(REFERENCE, (_, variable, fallback) =>
            this.#lookUp(variable, fallback, server, at),
          )
        : item;
    if (Array.isArray(value)) {
      return value.map(one);
    }
    if (isObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, one(item)]));
    }
    return one(value);
  }

  #lookUp(variable, fallback, server, at) {
    const value = this.#env[variable];
    // With a fallback an empty variable counts as unset, as in a shell.
    if (value === undefined || (value === "" && fallback !== undefined)) {
      if (fallback === undefined) {
        throw this.#unset(variable, server, at);
      }
      return fallback;
    }
    return value;
  }

  /** Reads the token once; what an entry carries is a function, which nothing prints. */
  #withToken(entry, at) {
    const variable = entry.bearerTokenEnv;
    if (variable === undefined) {
      return entry;
    }
    const token = this.#env[variable];
    if (token === undefined || token === "") {
      throw this.#unset(variable, entry.server, `${at}/bearerTokenEnv`);
    }
    return { ...entry, authProvider: async () => token };
  }

  #unset(variable, server, at) {
    return this.#refusal("config_token_unset", { server, at, variable });
  }

  /** A sentence of the core's table, with the text's name before it and the place behind it. */
  #refusal(reason, facts) {
    const { server, at, variable } = facts;
    const place = at === "" ? "" : ` (at ${at})`;
    const message = this.#prefix + sentence(reason, server, { variable }) + place;
    return new ToolwireError({ code: "invalid_arguments", reason, message, ...facts });
  }
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An absolute http or https URL without user or password. */
function isEndpoint(value) {
  if (!text(value)) {
    return false;
  }
  let url;
  try {
    url = new URL(value);
  } catch {
    return false;
  }
  const speaksHttp = url.protocol === "http:" || url.protocol === "https:";
  return speaksHttp && url.username === "" && url.password === "";
}

export { parseConfig };
