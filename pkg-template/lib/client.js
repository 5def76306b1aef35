/**
 * Owns the life of one connection: it drives a session by the drain contract, gives calls their
 * promises and handlers their requests. What carries the bytes is a transport; `connectStreams`
 * makes one of a pair of streams, other hosts make theirs and call `openClient`.
 *
 * The seam to hosts (internal, not part of the public API):
 *
 *   openClient(options: SessionOptions & HostOptions, transport: Transport): Promise<Client>
 *
 *   interface Transport {
 *     // Starts (or, after a `respawn`, starts again) what carries the bytes. Called once at open and
 *     // once more for each respawn, each time with a sink of its own; the earlier sink is dead by
 *     // then and ignores every report. Before it resolves a second start must have ended what the
 *     // first one started. The session's handshake begins when it has resolved. If it throws or
 *     // rejects, the connection fails with that error (a ToolwireError such as `spawn_failed` is
 *     // passed on as it is).
 *     start(sink: Sink): void | Promise<void>;
 *     // Writes one frame, its line end included. The next frame is handed over when the promise
 *     // resolves; a throw or rejection is reported to the session as `writeFailed`.
 *     write(frame: Uint8Array): void | Promise<void>;
 *     // In the place of `write`: sends one message by itself, and must not throw. What comes of it
 *     // is reported by `message` and `replyEnded`.
 *     send?(message: OutMessage): void;
 *     // With `send`: the answer to this message is not wanted any more.
 *     abandon?(handle: number): void;
 *     // False if it cannot be started a second time; default true.
 *     canRespawn?: boolean;
 *     // Ends everything, graciously first. Called exactly once, when the session has closed for
 *     // whatever reason (also when opening failed after `start` was called); `client.close()`
 *     // resolves when it has.
 *     close(): void | Promise<void>;
 *   }
 *
 *   interface Sink {                        // every method may be called at any time, in any order
 *     receive(chunk: Uint8Array): void;     // bytes of stdout; copied before it returns
 *     // Resolves when the bytes received so far are processed (undefined: they are): a host that can
 *     // pause its source awaits it, so that a fast server cannot queue without bound.
 *     ready(): Promise<void> | undefined;
 *     end(): void;                          // stdout ended
 *     exited(code: number | null): void;    // report it before `end` when both are known within 250 ms
 *     writeFailed(): void;                  // stdin closed, EPIPE
 *     stderr(chunk: Uint8Array): void;
 *     stderrEnded(): void;
 *     message(json: Uint8Array, inReplyTo?: number): void;       // with `send`: a message came
 *     replyEnded(handle: number, outcome: ReplyOutcome): void;   // with `send`: nothing follows
 *     awaits(handle: number): boolean;      // with `send`: the message is not answered yet
 *     refused(handle: number, error): void; // with `send`: not sent, for a reason of the host's
 *     fail(error: ToolwireError): void;     // the transport itself failed: everything settles with it
 *   }
 *
 * `client.closed` resolves after the session has closed; what `close()` of the transport still does
 * then goes on behind it.
 */

import { refused, signalOf } from "./arguments.js";
import { Driver } from "./driver.js";
import { ELICITATION, elicit } from "./elicitation.js";
import { ToolwireError } from "./errors.js";
import { pagesOf, requestAll } from "./pages.js";
import { recorderOf } from "./recorder.js";
import { Redacted } from "./redacted.js";
import { abortedError, errorFor } from "./sentences.js";
import { ClientSession } from "./session.js";
import { nextTask } from "./slices.js";

/** What registered handlers imply of `capabilities`, by the first part of the method. */
const IMPLIED = { sampling: {}, elicitation: {}, roots: {} };

/** JSON-RPC's numbers for a handler that failed and for one that is not there. */
const INTERNAL_ERROR = -32603;
const METHOD_NOT_FOUND = -32601;

const HANDLER_FAILED = { code: INTERNAL_ERROR, message: "the request's handler failed" };

/** Everything a client shares with its transport's sinks and its promises. */
class Connection {
  constructor(options, transport) {
    this.transport = transport;
    this.server = options.server;
    this.onDiagnostic = options.onDiagnostic;
    this.handlers = new Map(Object.entries(options.handlers ?? {}));
    this.facts = undefined;
    this.tools = Object.freeze([]);
    this.problems = Object.freeze([]);
    this.toolsCache = undefined;
    this.pending = new Map();
    this.requests = new Map();
    this.toolsListeners = new Set();
    this.notificationListeners = new Set();
    this.over = false;
    this.sink = undefined;
    this.opened = promiseParts();
    this.closed = promiseParts();
    this.ended = promiseParts();
    const { capabilities = impliedBy(this.handlers) } = options;
    // Weak, because an instance that several sessions share must not keep this one alive.
    const self = typeof WeakRef === "function" ? new WeakRef(this) : { deref: () => this };
    const onTrap = () => nextTask(() => self.deref()?.driver.drain());
    this.recorder = recorderOf(options, () => self.deref()?.recordingFailed());
    this.capabilities = capabilities;
    const respawn = transport.canRespawn === false ? false : undefined;
    this.session = new ClientSession({ ...options, capabilities, respawn }, onTrap, this.recorder);
    this.driver = new Driver(this.session, transport, (event) => this.handle(event));
  }

  /** Starts what carries the bytes, then the handshake. */
  async start() {
    const sink = new Sink(this);
    this.sink = sink;
    try {
      await this.transport.start(sink);
    } catch (error) {
      this.fail(error);
      return;
    }
    if (this.sink === sink) {
      this.driver.feed((session, at) => session.connect(at));
    }
  }

  handle(event) {
    switch (event.type) {
      case "ready":
        this.facts = event;
        this.opened.resolve(new Client(this));
        return;
      case "tools":
        this.tools = event.tools;
        this.problems = Object.freeze(event.problems);
        this.toolsCache = event.cache;
        if (this.facts !== undefined) {
          const { added, removed, changed } = event;
          // Reading the catalog anew mostly finds what was there, as after each subscription.
          if (added.length + removed.length + changed.length > 0) {
            tell(this.toolsListeners, { tools: event.tools, added, removed, changed });
          }
        }
        return;
      case "settled":
        this.settle(event);
        return;
      case "progress": {
        const { progress, total, message } = event;
        const listener = this.pending.get(event.handle)?.onProgress;
        tell(listener === undefined ? [] : [listener], { progress, total, message });
        return;
      }
      case "notification":
        tell(this.notificationListeners, { method: event.method, params: event.params });
        return;
      case "request":
        this.serve(event);
        return;
      case "request_cancelled":
        this.requests.get(event.token)?.abort();
        return;
      case "diagnostic":
        this.diagnose(event);
        return;
      case "respawn":
        this.start();
        return;
      case "abandoned":
        this.transport.abandon?.(event.handle);
        return;
      case "closed":
        this.finish(event.error);
    }
  }

  diagnose({ source, code, detail, truncated }) {
    const listeners = this.onDiagnostic === undefined ? [] : [this.onDiagnostic];
    tell(listeners, { server: this.server, source, code, detail, truncated });
  }

  /** The recording ends; the session goes on (R72). */
  recordingFailed() {
    const detail = new Redacted("recording_failed");
    this.diagnose({ source: "transport", code: "transport", detail, truncated: false });
  }

  settle(event) {
    const waiter = this.pending.get(event.handle);
    if (waiter === undefined) {
      return;
    }
    this.pending.delete(event.handle);
    waiter.release?.();
    if (event.ok) {
      waiter.resolve(event.result);
    } else {
      waiter.reject(event.error);
    }
  }

  /**
   * Makes a request by `begin`, which gives its handle, and waits for its end. Arguments are copied
   * before this returns.
   */
  submit(begin, options) {
    if (this.over) {
      return Promise.reject(this.error);
    }
    let signal;
    let onProgress;
    try {
      signal = signalOf(options);
      onProgress = options?.onProgress;
    } catch (error) {
      return Promise.reject(error);
    }
    if (signal?.aborted) {
      return Promise.reject(abortedError(this.server));
    }
    return new Promise((resolve, reject) => {
      this.driver.feed((session, at) => {
        const handle = begin(session, at);
        const release = signal === undefined ? undefined : this.abortWith(signal, handle);
        this.pending.set(handle, { resolve, reject, onProgress, release });
      });
    });
  }

  /** Gives a request up when the signal fires; returns what stops listening. */
  abortWith(signal, handle) {
    const abort = () => {
      this.driver.feed((live, time) => live.cancel(handle, undefined, time));
      // A cancellation waits behind a line that is being read; whoever gave up need not.
      const error = abortedError(this.server);
      this.settle({ handle, ok: false, error });
    };
    signal.addEventListener("abort", abort);
    return () => signal.removeEventListener("abort", abort);
  }

  /** Has a request of the server's answered by its handler. */
  async serve({ token, method, params }) {
    const handler = this.handlers.get(method);
    const abort = new AbortController();
    this.requests.set(token, abort);
    let outcome;
    if (handler === undefined) {
      outcome = { error: { code: METHOD_NOT_FOUND, message: "method not found" } };
    } else {
      try {
        // A turn of its own: the handler may call back into the client.
        await undefined;
        const context = { signal: abort.signal };
        const result =
          method === ELICITATION
            ? await elicit(handler, params, context, this.capabilities ?? {}, (found) =>
                this.diagnose(found),
              )
            : await handler(params, context);
        outcome = { result: result ?? {} };
      } catch (error) {
        outcome = { error: faultOf(error) };
      }
    }
    this.requests.delete(token);
    this.driver.feed((session, at) => {
      try {
        session.respond(token, outcome, at);
      } catch {
        // What the handler gave is no JSON, and that is its failure: the server gets an answer.
        session.respond(token, { error: HANDLER_FAILED }, at);
      }
    });
  }

  /** The transport failed: everything settles with its error. */
  fail(thrown) {
    if (this.over) {
      return;
    }
    const error =
      thrown instanceof ToolwireError
        ? thrown
        : errorFor({
            code: "connection_closed",
            reason: "stdout_failed",
            server: this.server,
            private: { thrown },
          });
    this.finish(error);
  }

  /** Everything that is open settles with an error, whatever it is. */
  finish(error) {
    if (this.over) {
      return;
    }
    this.over = true;
    this.sink = undefined;
    this.driver.stop();
    for (const abort of this.requests.values()) {
      abort.abort();
    }
    this.requests.clear();
    // Later calls get the error that closed the connection, as pending ones did.
    this.error =
      error ??
      errorFor({ code: "connection_closed", reason: "scope_closed", server: this.server });
    // What waited behind a line that ended the session: it would settle after `closed`.
    for (const waiter of this.pending.values()) {
      waiter.release?.();
      waiter.reject(this.error);
    }
    this.pending.clear();
    this.session.free();
    this.recorder?.end();
    endTransport(this.transport).then(() => {
      // Opening rejects only when nothing is left running.
      this.opened.reject(this.error);
      this.ended.resolve();
    });
    this.closed.resolve(error);
  }

  close() {
    this.driver.feed((session, at) => session.close(at));
    return this.ended.promise;
  }
}

/** What a transport reports to. One for each start; only the latest is heard. */
class Sink {
  #connection;

  constructor(connection) {
    this.#connection = connection;
  }

  #feed(input) {
    if (this.#connection.sink === this) {
      this.#connection.driver.feed(input);
    }
  }

  receive(chunk) {
    this.#feed((session, at) => session.receive(chunk, at));
  }

  ready() {
    return this.#connection.driver.ready();
  }

  end() {
    this.#feed((session, at) => session.end(at));
  }

  exited(code) {
    this.#feed((session, at) => session.exited(code, at));
  }

  writeFailed() {
    this.#feed((session, at) => session.writeFailed(at));
  }

  stderr(chunk) {
    this.#feed((session, at) => session.stderr(chunk, at));
  }

  stderrEnded() {
    this.#feed((session, at) => session.stderrEnded(at));
  }

  message(json, inReplyTo) {
    this.#feed((session, at) => session.receiveMessage(json, at, inReplyTo));
  }

  replyEnded(handle, outcome) {
    this.#feed((session, at) => session.replyEnded(handle, outcome, at));
  }

  awaits(handle) {
    return this.#connection.sink === this && this.#connection.session.awaits(handle);
  }

  refused(handle, error) {
    const connection = this.#connection;
    if (connection.sink !== this) {
      return;
    }
    if (connection.facts === undefined) {
      connection.finish(error);
    } else if (connection.pending.has(handle)) {
      connection.settle({ handle, ok: false, error });
      this.#feed((session, at) => session.cancel(handle, undefined, at));
    } else {
      this.replyEnded(handle, { unreachable: true });
    }
  }

  fail(error) {
    if (this.#connection.sink === this) {
      this.#connection.fail(error);
    }
  }
}

class Client {
  #connection;

  constructor(connection) {
    this.#connection = connection;
  }

  get server() {
    return this.#connection.server;
  }

  get tools() {
    return this.#connection.tools;
  }

  get problems() {
    return this.#connection.problems;
  }

  get toolsCache() {
    return this.#connection.toolsCache;
  }

  get protocolVersion() {
    return this.#connection.facts.protocolVersion;
  }

  get era() {
    return this.#connection.facts.era;
  }

  get serverInfo() {
    return this.#connection.facts.serverInfo;
  }

  get capabilities() {
    return this.#connection.facts.capabilities;
  }

  get instructions() {
    return this.#connection.facts.instructions;
  }

  get closed() {
    return this.#connection.closed.promise;
  }

  callTool(name, args = {}, options = undefined) {
    return this.#connection.submit(
      (session, at) => session.callTool(name, args, options, at),
      options,
    );
  }

  async refreshTools() {
    await this.#connection.submit((session, at) => session.refreshTools(at));
    return this.#connection.tools;
  }

  request(method, params = undefined, options = undefined) {
    return this.#connection.submit(
      (session, at) => session.request(method, params, options, at),
      options,
    );
  }

  pages(method, params = undefined, options = undefined) {
    return pagesOf(this, method, params, options);
  }

  requestAll(method, params = undefined, options = undefined) {
    return requestAll(this, method, params, options);
  }

  async notify(method, params = undefined) {
    await this.#connection.submit((session, at) => session.notify(method, params, at));
  }

  onToolsChanged(listener) {
    return addListener(this.#connection.toolsListeners, listener);
  }

  onNotification(listener) {
    return addListener(this.#connection.notificationListeners, listener);
  }

  handle(method, handler) {
    const { handlers } = this.#connection;
    handlers.set(method, handler);
    return () => {
      if (handlers.get(method) === handler) {
        handlers.delete(method);
      }
    };
  }

  close() {
    return this.#connection.close();
  }
}

if (typeof Symbol.asyncDispose === "symbol") {
  Object.defineProperty(Client.prototype, Symbol.asyncDispose, {
    value: Client.prototype.close,
    configurable: true,
    writable: true,
  });
}

/** Opens a client over a transport; see the top of this file. */
function openClient(options, transport) {
  let signal;
  let connection;
  try {
    if (typeof options !== "object" || options === null) {
      throw refused("options", "protocol_error");
    }
    signal = signalOf(options);
    if (signal?.aborted) {
      throw abortedError(options.server);
    }
    connection = new Connection(options, transport);
  } catch (error) {
    return Promise.reject(error);
  }
  const { promise } = connection.opened;
  if (signal !== undefined) {
    const abort = () => connection.fail(abortedError(options.server));
    signal.addEventListener("abort", abort);
    const release = () => signal.removeEventListener("abort", abort);
    promise.then(release, release);
  }
  connection.start();
  return promise;
}

function promiseParts() {
  const parts = {};
  parts.promise = new Promise((resolve, reject) => {
    parts.resolve = resolve;
    parts.reject = reject;
  });
  return parts;
}

function impliedBy(handlers) {
  const implied = {};
  for (const method of handlers.keys()) {
    const family = method.split("/")[0];
    if (Object.hasOwn(IMPLIED, family)) {
      implied[family] = IMPLIED[family];
    }
  }
  return implied;
}

function addListener(listeners, listener) {
  // A wrapper of its own: the same function may listen twice and leave once.
  const entry = (event) => listener(event);
  listeners.add(entry);
  return () => {
    listeners.delete(entry);
  };
}

/** Calls listeners. What one throws is its own affair: it must not stop the session (R72). */
function tell(listeners, event) {
  for (const listener of [...listeners]) {
    try {
      listener(event);
    } catch {
      // The session goes on.
    }
  }
}

/** What a handler's failure tells the server: nothing, unless it names a JSON-RPC number. */
function faultOf(error) {
  try {
    if (error instanceof Error && Number.isSafeInteger(error.rpcCode)) {
      return { code: error.rpcCode, message: error.message };
    }
  } catch {
    // A proxy that refuses to be read names no number.
  }
  return HANDLER_FAILED;
}

async function endTransport(transport) {
  try {
    await transport.close();
  } catch {
    // The connection is over either way.
  }
}

export { openClient };
