/**
 * Owns serving over a pair of byte streams: it drives a `ServerSession` by the drain contract and
 * has the host's `handleCall` answer its calls. Invariants: every call is answered, with fixed words
 * when its handler fails; nothing a handler throws reaches a client; after the end no handler is
 * called and no byte is written.
 */

import { refused, signalOf } from "./arguments.js";
import { CallRunner, serverOptions } from "./call-runner.js";
import { Driver } from "./driver.js";
import { ToolwireError } from "./errors.js";
import { ServerSession } from "./server-session.js";
import { nextTask } from "./slices.js";
import { sourceOf } from "./streams.js";

/** How long open calls may go on when the client's output has ended. */
const GRACE_MS = 2_500;

class Serving {
  #session;
  #driver;
  #runner;
  #source;
  #terminate;
  #graceMs;
  #grace;
  #writing = Promise.resolve();
  #over = false;
  #off;
  #onDiagnostic;
  #settle;

  constructor(gateway, options) {
    const { readable, write, terminate, identity, shutdownGraceMs = GRACE_MS } = options;
    if (typeof shutdownGraceMs !== "number" || !(shutdownGraceMs >= 0)) {
      throw refused("shutdownGraceMs");
    }
    this.#graceMs = shutdownGraceMs;
    this.#terminate = terminate;
    this.#onDiagnostic = options.onDiagnostic;
    const signal = signalOf(options);
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const onTrap = () => nextTask(() => this.#driver.drain());
    this.#session = new ServerSession(serverOptions(gateway, options), onTrap);
    const transport = { write: (frame) => this.#write(write, frame) };
    this.#driver = new Driver(this.#session, transport, (event) => this.#handle(event));
    this.#runner = new CallRunner(gateway, (input) => this.#driver.feed(input), identity);
    this.#source = sourceOf(readable);
    if (typeof gateway.onToolsChanged === "function") {
      this.#off = gateway.onToolsChanged(() => this.setTools(gateway.tools));
    }
    if (signal !== undefined) {
      const abort = () => this.close();
      signal.addEventListener("abort", abort);
      const off = this.#off;
      this.#off = () => {
        signal.removeEventListener("abort", abort);
        off?.();
      };
      if (signal.aborted) {
        abort();
      }
    }
    this.#pump();
  }

  setTools(tools) {
    this.#driver.feed((session, at) => session.setTools(tools, at));
  }

  /** No more input; open calls are told to stop. */
  close() {
    if (!this.#over) {
      this.#end();
      this.#runner.abortAll();
    }
    return this.closed;
  }


  #write(write, frame) {
    const written = write(frame);
    if (typeof written?.then === "function") {
      this.#writing = Promise.resolve(written).catch(() => {});
    }
    return written;
  }

  async #pump() {
    try {
      while (!this.#over) {
        const { done, value } = await this.#source.next();
        if (done || this.#over) {
          break;
        }
        this.#driver.feed((session, at) => session.receive(value, at));
        const processed = this.#driver.ready();
        if (processed !== undefined) {
          await processed;
        }
      }
    } catch (error) {
      // A stream that fails has ended; one that gives something else than bytes is the host's fault.
      if (error instanceof ToolwireError) {
        this.#finish(error);
        return;
      }
    }
    this.#end();
  }

  #end() {
    if (this.#over || this.#grace !== undefined) {
      return;
    }
    this.#grace = setTimeout(() => {
      this.#driver.feed((session, at) => session.close(at));
    }, this.#graceMs);
    this.#driver.feed((session, at) => session.end(at));
  }

  #handle(event) {
    switch (event.type) {
      case "call":
        this.#runner.call(event);
        return;
      case "cancelled":
        this.#runner.cancel(event.token);
        return;
      case "diagnostic": {
        const { source, code, detail, truncated } = event;
        this.#tell({ source, code, detail, truncated });
        return;
      }
      case "closed":
        this.#finish(event.error);
    }
  }

  #tell(diagnostic) {
    try {
      this.#onDiagnostic?.(diagnostic);
    } catch {
      // What an observer throws is its own affair.
    }
  }

  async #finish(error) {
    if (this.#over) {
      return;
    }
    this.#over = true;
    clearTimeout(this.#grace);
    this.#driver.stop();
    this.#runner.abortAll();
    this.#session.free();
    this.#off?.();
    // Not awaited: a stream that never ends its read would keep the host from closing.
    this.#source.cancel().catch(() => {});
    // What was taken leaves first, unless nobody is there any more.
    if (error === undefined) {
      await Promise.race([this.#writing, pause(this.#graceMs)]);
    }
    try {
      await this.#terminate?.();
    } catch {
      // Whoever ends the streams reports its own faults.
    }
    this.#settle(error);
  }
}

/** The end of a time, which keeps no process alive. */
function pause(ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    timer.unref?.();
  });
}

/** What a host gets: how it ended, and how to end it. */
class ServerHandle {
  #serving;

  constructor(serving) {
    this.#serving = serving;
  }

  get closed() {
    return this.#serving.closed;
  }

  setTools(tools) {
    this.#serving.setTools(tools);
  }

  close() {
    return this.#serving.close();
  }
}

if (typeof Symbol.asyncDispose === "symbol") {
  Object.defineProperty(ServerHandle.prototype, Symbol.asyncDispose, {
    value: ServerHandle.prototype.close,
    configurable: true,
    writable: true,
  });
}

function serveStreams(gateway, options) {
  if (typeof options !== "object" || options === null) {
    throw refused("options");
  }
  if (typeof options.write !== "function") {
    throw refused("write");
  }
  const { readable } = options;
  const reads =
    typeof readable?.getReader === "function" ||
    typeof readable?.[Symbol.asyncIterator] === "function";
  if (!reads) {
    throw refused("readable");
  }
  return new ServerHandle(new Serving(gateway, options));
}

export { serveStreams };
