/**
 * Owns how calls of a client become calls of the host's `handleCall`, for every transport.
 * Invariants: one answer for each call; what a handler throws stays here, and its client reads fixed
 * words; a call that was given up is aborted and its outcome dropped.
 */

import { refused } from "./arguments.js";
import { ToolwireError } from "./errors.js";
import { pick } from "./options.js";
import { coreInfo } from "./parts.js";
import { serverLimitNames } from "./server-session.js";

const FAILED = "The tool failed";

class CallRunner {
  #gateway;
  #feed;
  #identity;
  #open = new Map();

  /** `feed` gives the session an input and drains it; `identity` is that of every call. */
  constructor(gateway, feed, identity) {
    this.#gateway = gateway;
    this.#feed = feed;
    this.#identity = identity;
  }

  async call(event, identity = this.#identity) {
    const { token } = event;
    const abort = new AbortController();
    this.#open.set(token, abort);
    let outcome;
    try {
      // A turn of its own: the handler may call back into the session.
      await undefined;
      if (abort.signal.aborted && !this.#open.has(token)) {
        return;
      }
      const context = this.#context(event, abort.signal);
      outcome = {
        result: await this.#gateway.handleCall(event.name, event.arguments, identity, context),
      };
    } catch (error) {
      outcome = outcomeOf(error);
    }
    if (!this.#open.delete(token)) {
      return;
    }
    this.#feed((session, at) => {
      try {
        session.respond(token, outcome, at);
      } catch {
        // What the handler gave is no JSON, and that is its failure: the client gets an answer.
        session.respond(token, { result: errorResult(FAILED) }, at);
      }
    });
  }

  /** The client gave a call up, or it took too long. */
  cancel(token) {
    const abort = this.#open.get(token);
    this.#open.delete(token);
    abort?.abort();
  }

  /** Tells every handler to stop; what they still answer goes out if it can. */
  abortAll() {
    for (const abort of [...this.#open.values()]) {
      abort.abort();
    }
  }

  #context(event, signal) {
    const { token, meta, protocolVersion, inputResponses, requestState } = event;
    const context = { signal, protocolVersion };
    context.progress = (progress, total = undefined, message = undefined) => {
      if (this.#open.has(token)) {
        this.#feed((session, at) => session.progress(token, progress, total, message, at));
      }
    };
    context.log = (level, data, logger = undefined) => {
      if (this.#open.has(token)) {
        this.#feed((session, at) => session.log(token, level, logger, data, at));
      }
    };
    for (const [name, value] of Object.entries({ meta, inputResponses, requestState })) {
      if (value !== undefined) {
        context[name] = value;
      }
    }
    return context;
  }
}

/** What a client reads of a handler's failure. What was thrown may be anything. */
function outcomeOf(error) {
  try {
    if (error instanceof ToolwireError) {
      // Its sentence holds nothing a peer wrote.
      return { result: errorResult(error.message) };
    }
    const code = error?.rpcCode;
    if (Number.isSafeInteger(code)) {
      // Said on purpose, as by a handler of a client's.
      return { error: { code, message: String(error.message ?? FAILED) } };
    }
  } catch {
    // A proxy or an accessor that refuses to be read says nothing.
  }
  return { result: errorResult(FAILED) };
}

function errorResult(text) {
  return { content: [{ type: "text", text }], isError: true };
}

/** The session's options: what serves says who it is, unless the host says otherwise. */
function serverOptions(gateway, options) {
  if (typeof gateway?.handleCall !== "function" || !Array.isArray(gateway.tools)) {
    throw refused("gateway");
  }
  const own = pick(options, [
    "serverInfo",
    "instructions",
    "revisions",
    "logging",
    "cacheTtlMs",
    "cacheScope",
    "numbers",
    ...serverLimitNames(),
  ]);
  const { tools, serverInfo, instructions } = gateway;
  return {
    ...own,
    tools,
    serverInfo: own.serverInfo ?? serverInfo ?? { name: "toolwire", version: coreInfo().version },
    instructions: own.instructions ?? instructions,
  };
}

export { CallRunner, serverOptions };
