/**
 * Owns one server behind the gateway: started when it is first needed, started again when it ended,
 * after a pause that doubles. To the registry it is one client, whatever process is behind it.
 *
 * Invariant: at most one process or attempt at a time, and none after `close`.
 */
import { ToolwireError } from "toolwire";
import { connectAll } from "toolwire/node";
import { numbered } from "./servers.mjs";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/** A server that ran so long has recovered. */
const STEADY_MS = 60_000;

class ManagedServer {
  #entry;
  #status;
  #client;
  #opening;
  #listeners = new Set();
  #stopping = new AbortController();
  #pause = FIRST_PAUSE_MS;
  #retryAt = 0;
  #timer;
  #starts = 0;
  #known = false;
  #closing;

  constructor(entry, status) {
    this.#entry = entry;
    this.#status = status;
    this.server = entry.server;
    /** The last catalog known; it stays while the server is away. */
    this.tools = [];
    this.serverInfo = undefined;
  }

  get isRunning() {
    return this.#client !== undefined;
  }

  /** Its tools were read once. */
  get isKnown() {
    return this.#known;
  }

  onToolsChanged(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async callTool(name, args, options) {
    const client = await this.start();
    return client.callTool(name, args, options);
  }

  /** The running client. Rejects if the server does not start, or is in its pause. */
  async start() {
    if (this.#client !== undefined) {
      return this.#client;
    }
    if (this.#opening === undefined && performance.now() < this.#retryAt) {
      throw this.#away();
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** The same for those who only want it tried. */
  async tryStart() {
    await this.start().catch(() => {});
  }

  close() {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end() {
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await this.#opening?.catch(() => {});
    await this.#client?.close();
  }

  async #open() {
    clearTimeout(this.#timer);
    this.#starts += 1;
    this.#status.server(this.server, "starting");
    let client;
    try {
      const record = numbered(this.#entry.record, this.#starts);
      client = await open({ ...this.#entry, record }, this.#stopping.signal);
    } catch (error) {
      this.#failed("failed", error);
      throw error;
    }
    const since = performance.now();
    if (this.#stopping.signal.aborted) {
      // It was ready at the very moment at which everything ended.
      await client.close();
      this.#stopping.signal.throwIfAborted();
    }
    this.#client = client;
    this.#known = true;
    this.serverInfo = client.serverInfo;
    client.onToolsChanged(() => this.#show(client));
    client.closed.then((error) => this.#ended(error, since));
    this.#show(client);
    const count = client.tools.length;
    this.#status.server(
      this.server,
      "running",
      `${count === 1 ? "1 tool" : `${count} tools`}, ${client.era} ${client.protocolVersion}`,
    );
    return client;
  }

  #show(client) {
    this.tools = client.tools;
    for (const listener of this.#listeners) {
      listener();
    }
  }

  #ended(error, since) {
    this.#client = undefined;
    if (this.#stopping.signal.aborted) {
      this.#status.server(this.server, "stopped");
      return;
    }
    if (performance.now() - since > STEADY_MS) {
      this.#pause = FIRST_PAUSE_MS;
    }
    this.#failed("down", error);
  }

  /** Tells it, and tries again later. */
  #failed(state, error) {
    if (this.#stopping.signal.aborted) {
      return;
    }
    const pause = this.#pause;
    this.#pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    this.#retryAt = performance.now() + pause;
    const why = error instanceof ToolwireError ? error.message : "the connection ended";
    this.#status.server(this.server, state, `${why}; next try in ${pause / 1000} s`);
    this.#timer = setTimeout(() => {
      this.#retryAt = 0;
      this.tryStart();
    }, pause);
  }

  #away() {
    const seconds = Math.max(1, Math.ceil((this.#retryAt - performance.now()) / 1000));
    return new ToolwireError({
      code: "connection_closed",
      reason: "server_down",
      server: this.server,
      message: `MCP server ${JSON.stringify(this.server)} is not running; it is started again in ${seconds} s`,
      retryable: true,
    });
  }
}

async function open(entry, signal) {
  const { clients, failures } = await connectAll([entry], { signal });
  if (failures.length > 0) {
    throw failures[0].error;
  }
  return clients[0];
}

export { ManagedServer };
