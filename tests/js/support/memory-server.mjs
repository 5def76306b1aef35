// A server in this process, at the other end of a pair of streams. It says what it is told to say.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const INITIALIZED = {
  protocolVersion: "2025-06-18",
  capabilities: { tools: {} },
  serverInfo: { name: "memory", version: "1" },
};

/** A queue of chunks that can be iterated. */
class Pipe {
  #chunks = [];
  #wake;
  #ended = false;
  cancelled = false;

  push(chunk) {
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end() {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        while (this.#chunks.length > 0) {
          yield this.#chunks.shift();
        }
        if (this.#ended) {
          return;
        }
        await new Promise((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.cancelled = true;
    }
  }
}

/**
 * A server. `answer(message, server)` is asked for each request that is no part of the handshake;
 * what it returns is the result, an `Error` with `rpc` an error reply, undefined silence. `tools` is
 * the whole catalog, or answers each request for a page of it.
 */
export class MemoryServer {
  received = [];
  pipe = new Pipe();
  terminated = 0;

  constructor({ tools = [], answer = () => undefined, initialized = INITIALIZED } = {}) {
    this.tools = tools;
    this.answer = answer;
    this.initialized = initialized;
  }

  /** Options for `connectStreams`. */
  options(more = {}) {
    return {
      server: "memory",
      era: "legacy",
      readable: this.pipe,
      write: (frame) => this.#take(frame),
      terminate: () => {
        this.terminated += 1;
        this.pipe.end();
      },
      ...more,
    };
  }

  say(message) {
    this.pipe.push(encoder.encode(`${JSON.stringify(message)}\n`));
  }

  raw(text) {
    this.pipe.push(typeof text === "string" ? encoder.encode(text) : text);
  }

  /** The messages of one method, in order. */
  got(method) {
    return this.received.filter((message) => message.method === method);
  }

  #take(frame) {
    const message = JSON.parse(decoder.decode(frame));
    this.received.push(message);
    if (message.method === undefined || message.id === undefined) {
      return;
    }
    const result = this.#result(message);
    if (result === undefined) {
      return;
    }
    const reply = { jsonrpc: "2.0", id: message.id };
    this.say(result instanceof Error ? { ...reply, error: result.rpc } : { ...reply, result });
  }

  #result(message) {
    if (message.method === "initialize") {
      return this.initialized;
    }
    if (message.method === "tools/list") {
      return typeof this.tools === "function" ? this.tools(message) : { tools: this.tools };
    }
    return this.answer(message, this);
  }
}

/** An error reply. */
export function rpcError(code, message, data) {
  return Object.assign(new Error(message), { rpc: { code, message, data } });
}
