/**
 * Owns `toolwire gateway`: every configured server behind the four tools, as one stdio server.
 * Status goes to stderr; stdout belongs to the protocol.
 */
import { OperationRegistry, ToolGateway, coreInfo } from "toolwire";
import { serveStdio } from "toolwire/node";
import { EXIT, UsageError } from "./exit.mjs";
import { ManagedServer } from "./managed-server.mjs";
import { line } from "./safe-text.mjs";
import { NO_SERVERS, entriesOf, recorded } from "./servers.mjs";

/** How long a search waits for servers that are starting. */
const SEARCH_WAIT_MS = 10_000;

async function gateway({ terminal, stop, command, options }) {
  const entries = recorded(await entriesOf(options, command), options);
  if (entries.length === 0) {
    throw new UsageError(NO_SERVERS);
  }
  const registry = new OperationRegistry();
  const status = new Status(terminal);
  registry.onWarning((warning) => status.warn(warning));
  const servers = new Servers(entries, registry, status, options);
  const giveUp = () => servers.close();
  stop.signal.addEventListener("abort", giveUp, { once: true });
  try {
    if (options.requireAll) {
      await servers.startAll();
    }
    stop.signal.throwIfAborted();
    const serving = serveStdio(served(registry, servers, options), { signal: stop.signal });
    status.say(
      `serving ${entries.length === 1 ? "1 server" : `${entries.length} servers`} through 4 tools`,
    );
    await serving.closed;
    return EXIT.FINE;
  } finally {
    await servers.close();
    registry.free();
  }
}

/** The gateway, with whoever a call needs started first. */
function served(registry, servers, { callTimeout }) {
  const { version } = coreInfo();
  const tools = new ToolGateway({
    registry,
    serverInfo: { name: "toolwire-gateway", version },
    ...(callTimeout === undefined ? {} : { callTimeoutMs: callTimeout }),
  });
  return {
    serverInfo: tools.serverInfo,
    instructions: tools.instructions,
    tools: tools.tools,
    async handleCall(tool, args, identity, context) {
      await servers.prepare(tool, args, context?.signal);
      const answer = await tools.handleCall(tool, args, identity, context);
      return servers.explained(tool, args, answer);
    },
  };
}

/** All servers of the configuration. */
class Servers {
  #byNamespace = new Map();

  constructor(entries, registry, status, { include, exclude }) {
    for (const entry of entries) {
      const namespace = entry.server.replace(/[./\s]/gu, "_");
      if (this.#byNamespace.has(namespace)) {
        throw new UsageError(`two servers would both be called ${line(namespace)}`);
      }
      const server = new ManagedServer(entry, status);
      this.#byNamespace.set(namespace, server);
      registry.importClient(server, {
        namespace,
        visibility: "external",
        ...selection(entry, namespace, { include, exclude }),
      });
    }
  }

  get #all() {
    return [...this.#byNamespace.values()];
  }

  /** Starts every server now; the first failure is thrown. */
  async startAll() {
    await Promise.all(this.#all.map((server) => server.start()));
  }

  /** Has the servers running that a call of a gateway's tool needs, or tried. */
  async prepare(tool, args, signal) {
    const needed = this.#neededBy(tool, args);
    const tried = Promise.all(needed.map((server) => server.tryStart()));
    const waits = [tried];
    let timer;
    if (tool === "search") {
      // What is slow to start is found by the next search; the others need not wait for it.
      waits.push(new Promise((resolve) => (timer = setTimeout(resolve, SEARCH_WAIT_MS))));
    }
    if (signal !== undefined) {
      waits.push(
        new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true })),
      );
    }
    await Promise.race(waits);
    clearTimeout(timer);
  }

  /** The answer, with what it is silent about because a server is away. */
  explained(tool, args, answer) {
    switch (tool) {
      case "search": {
        const away = this.#neededBy(tool, args)
          .filter((server) => !server.isRunning)
          .map(({ server }) => line(server));
        const text = `Servers that do not run now, whose operations may be missing: ${away.join(", ")}`;
        return away.length === 0
          ? answer
          : { ...answer, content: [...answer.content, { type: "text", text }] };
      }
      case "batch":
        return answer.isError ? answer : this.#explainedBatch(args.calls, answer);
      default: {
        const [id] = [args?.operation, args?.name].filter((value) => typeof value === "string");
        const error = answer.isError ? this.#awayError(id, answer.structuredContent) : undefined;
        return error === undefined ? answer : { ...structured(error), isError: true };
      }
    }
  }

  #explainedBatch(calls, answer) {
    const results = answer.structuredContent.results.map((entry, index) => {
      const error = entry.isError
        ? this.#awayError(calls[index]?.operation, entry.error)
        : undefined;
      return error === undefined ? entry : { isError: true, error };
    });
    return { ...structured({ results }), isError: false };
  }

  /** An operation may well be there, of a server that never ran yet. */
  #awayError(id, error) {
    const [server] = error?.code === "NOT_FOUND" ? this.#of([id]) : [];
    if (server === undefined || server.isKnown) {
      return undefined;
    }
    const message = `the server of this operation does not run: ${line(server.server)}`;
    return { code: "EXECUTION_ERROR", message, retryable: true };
  }

  #neededBy(tool, args) {
    const { namespace, name, operation, calls } =
      typeof args === "object" && args !== null ? args : {};
    switch (tool) {
      case "search":
        return typeof namespace === "string" ? this.#of([`${namespace}.`]) : this.#all;
      case "schema":
        return this.#of([name, operation]);
      case "call":
        return this.#of([operation]);
      case "batch":
        return this.#of(Array.isArray(calls) ? calls.map((one) => one?.operation) : []);
      default:
        return [];
    }
  }

  #of(ids) {
    const named = ids
      .filter((id) => typeof id === "string")
      .map((id) => /^\/?([^./]*)[./]/.exec(id)?.[1]);
    return [...new Set(named)].map((namespace) => this.#byNamespace.get(namespace)).filter(Boolean);
  }

  async close() {
    await Promise.all(this.#all.map((server) => server.close()));
  }
}

function structured(value) {
  return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
}

/** Which tools of a server are shown: as its entry says, and of `server.tool` as the options say. */
function selection(entry, namespace, { include, exclude = [] }) {
  const own = (names) =>
    names
      .filter((name) => name.startsWith(`${namespace}.`))
      .map((name) => name.slice(namespace.length + 1));
  const hidden = [...(entry.exclude ?? []), ...own(exclude)];
  const chosen = include === undefined ? entry.include : own(include);
  return {
    // In an entry an empty list is all; of the options one that names none of a server's is none.
    ...(chosen === undefined || (include === undefined && chosen.length === 0)
      ? {}
      : { include: chosen }),
    exclude: hidden,
  };
}

/** What is told of the servers while it goes on, a line each. */
class Status {
  #terminal;

  constructor(terminal) {
    this.#terminal = terminal;
  }

  say(text) {
    const { errorColors, json } = this.#terminal;
    if (json) {
      this.#terminal.note(JSON.stringify({ time: new Date().toISOString(), message: text }));
    } else {
      this.#terminal.note(`${errorColors.dim(new Date().toISOString().slice(11, 19))} ${text}`);
    }
  }

  /** `state` is "starting", "running", "down", "failed" or "stopped". */
  server(name, state, detail = "") {
    const { errorColors, json } = this.#terminal;
    if (json) {
      const time = new Date().toISOString();
      this.#terminal.note(
        JSON.stringify({ time, server: line(name), state, detail: line(detail) }),
      );
      return;
    }
    const paint =
      { running: errorColors.green, starting: errorColors.cyan, stopped: errorColors.dim }[state] ??
      errorColors.red;
    this.say(`${paint("●")} ${line(name)} ${state}${detail === "" ? "" : `: ${line(detail)}`}`);
  }

  warn(warning) {
    if (warning.type === "import") {
      this.server(
        warning.server,
        "running",
        `the tool ${line(warning.tool)} is left out: ${warning.error?.message ?? ""}`,
      );
    }
  }
}

export { gateway };
