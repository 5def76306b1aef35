/**
 * Owns `ToolwireStdioTransport`: a server's process as a transport of the official SDK's clients, in
 * its first and its second line. Framing, bounds and the classes of lines are the core's; starting
 * the process, its environment and its end are those of `connect`.
 *
 * Invariants: what is handed on is one well-formed JSON-RPC message; a malformed reply fails the
 * request that it answers, and nothing else; `onclose` is called once, when nothing of the server
 * is left.
 */

import { numberOf } from "../lib/arguments.js";
import { LineReader, classifyLine, limits } from "../lib/parts.js";
import { errorFor, sentence } from "../lib/sentences.js";
import { planLaunch } from "../node/launch.js";
import { StdioTransport } from "../node/stdio-transport.js";

/** What a request is told whose answer cannot be used; the SDK's clients reject with it. */
const INTERNAL_ERROR = -32603;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class ToolwireStdioTransport {
  onclose;
  onerror;
  onmessage;
  sessionId;

  #plan;
  #maxOutbound;
  #transport;
  #reader;
  #maxFrame;
  #state = "new";
  #closing;
  #observed = false;
  #ignored = { noise: 0, malformed: 0 };
  #tooLong = 0;

  constructor(options) {
    const named =
      typeof options === "object" && options !== null ? { server: "stdio", ...options } : options;
    this.#plan = planLaunch(named);
    this.#maxFrame = bound(named, "maxFrameBytes");
    this.#maxOutbound = bound(named, "maxOutboundFrameBytes");
  }

  get pid() {
    return this.#transport?.pid ?? null;
  }

  get ignored() {
    return { ...this.#ignored, tooLong: this.#tooLong };
  }

  async start() {
    if (this.#state !== "new") {
      throw errorFor({ code: "invalid_arguments", reason: "already_started" });
    }
    this.#state = "open";
    this.#reader = new LineReader({ maxFrameBytes: this.#maxFrame });
    this.#transport = new StdioTransport(this.#plan);
    try {
      await this.#transport.start(this.#sink());
    } catch (error) {
      this.#state = "closed";
      this.#reader.free();
      throw error;
    }
  }

  async send(message) {
    const { server } = this.#plan;
    if (this.#state !== "open") {
      throw errorFor({ code: "connection_closed", reason: "scope_closed", server });
    }
    let frame;
    try {
      frame = encoder.encode(`${JSON.stringify(message)}\n`);
    } catch {
      throw errorFor({ code: "protocol_error", reason: "args_not_json", server });
    }
    if (frame.length > this.#maxOutbound) {
      const { method } = message;
      const limit = this.#maxOutbound;
      throw errorFor({ code: "limit", reason: "outbound_frame_too_long", server, method, limit });
    }
    await this.#transport.write(frame);
  }

  close() {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish() {
    const started = this.#state === "open";
    this.#state = "closed";
    if (started) {
      await this.#transport.close();
      this.#reader.free();
    }
    this.#tell("onclose");
  }

  /** What the process reports to. Its end, however it comes about, ends the transport. */
  #sink() {
    const over = () => {
      if (this.#state === "open") {
        this.close();
      }
    };
    return {
      receive: (chunk) => this.#take(() => this.#reader.push(chunk)),
      ready: async () => {},
      end: () => {
        this.#take(() => this.#reader.end());
        over();
      },
      exited: over,
      writeFailed: over,
      stderr() {},
      stderrEnded() {},
    };
  }

  #take(feed) {
    if (this.#state !== "open") {
      return;
    }
    feed();
    for (let line; this.#state === "open" && (line = this.#reader.next()) !== undefined; ) {
      this.#read(line);
    }
    if (this.#state === "open" && this.#reader.skipped > this.#tooLong) {
      this.#tooLong = this.#reader.skipped;
      this.#complain({ reason: "frame_too_long", limit: this.#maxFrame });
    }
  }

  #read(line) {
    const { kind, reason } = classifyLine(line);
    if (kind === "noise") {
      this.#ignored.noise += 1;
    } else if (kind === "malformed") {
      this.#ignored.malformed += 1;
      this.#complain({ reason });
      const id = answeredBy(line);
      if (id !== undefined) {
        const message = sentence(reason, this.#plan.server, {});
        this.#tell("onmessage", { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } });
      }
    } else if (kind === "uncorrelated") {
      this.#complain({ reason: "reply_no_id" });
    } else {
      if (!this.#observed) {
        // What it started so far is its own; afterwards nobody could tell.
        this.#observed = true;
        this.#transport.observe();
      }
      this.#tell("onmessage", JSON.parse(decoder.decode(line)));
    }
  }

  #complain(facts) {
    const { server } = this.#plan;
    this.#tell("onerror", errorFor({ code: "protocol_error", server, ...facts }));
  }

  /** Calls a listener. What one throws is told to `onerror`, and must not stop the reading. */
  #tell(listener, argument) {
    try {
      this[listener]?.(argument);
    } catch (error) {
      if (listener !== "onerror") {
        this.#tell("onerror", error);
      }
    }
  }
}

/** The id of the request that a malformed reply means, if it can be read. */
function answeredBy(line) {
  try {
    const { id, method } = JSON.parse(decoder.decode(line));
    const isId = typeof id === "string" || Number.isSafeInteger(id);
    return method === undefined && isId ? id : undefined;
  } catch {
    return undefined;
  }
}

function bound(options, name) {
  const value = options[name] ?? limits.contain[name];
  numberOf(value, name);
  return value;
}

export { ToolwireStdioTransport };
