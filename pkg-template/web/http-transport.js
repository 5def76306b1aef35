/**
 * Owns MCP over Streamable HTTP (rows R86 to R92): one POST for each message, its reply as JSON or
 * as a stream of events, in the legacy era also a session of the server's, a stream of its own for
 * what it says unasked, and going on with a stream that broke off.
 *
 * Invariants: bodies are read no further than `maxFrameBytes` and no faster than they are
 * processed; a token goes to the endpoint's origin alone; when `close` has resolved no request is
 * open and no timer set.
 */

import { limits } from "../lib/parts.js";
import { errorFor } from "../lib/sentences.js";
import { EventStream, EventTooLong } from "./event-stream.js";
import { Gathered } from "./gathered.js";

/** Milliseconds that the server gets to take note of the end (row R91). */
const FAREWELL_MS = 1_000;

/**
 * Milliseconds before a broken stream is taken up again, if the server does not say, and at least
 * and at most if it does: a server that says 0 and ends each stream would keep us asking.
 */
const RETRY_MS = 1_000;
const SHORTEST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 60_000;

/** Times in a row that taking a stream up again may fail. */
const MAX_FAILURES = 5;

/** Redirects that one request follows. */
const MAX_REDIRECTS = 3;
const KEEPS_METHOD = [307, 308];

const SESSION = "mcp-session-id";
const VERSION = "MCP-Protocol-Version";
const BOTH = "application/json, text/event-stream";
const STREAM = "text/event-stream";

/** The host's token provider failed. Its error is passed on unchanged (row R90). */
class NoToken extends Error {
  constructor(thrown) {
    super();
    this.thrown = thrown;
  }
}

class HttpTransport {
  canRespawn = false;

  #options;
  #strict;
  #maxBytes;
  #url;
  #sink;
  #session;
  #version;
  #token;
  /** True while messages are of an era without sessions and streams of the server's own. */
  #modern = false;
  #listening = false;
  #closing;
  /** What ends each open exchange, by the message's handle; streams of their own have a symbol. */
  #open = new Map();

  constructor(options) {
    this.#options = options;
    this.#strict = options.profile === "strict";
  }

  start(sink) {
    const { server, url, maxFrameBytes } = this.#options;
    this.#url = endpointOf(url);
    if (this.#url === undefined) {
      throw errorFor({ code: "protocol_error", reason: "bad_endpoint_url", server, option: "url" });
    }
    this.#maxBytes = maxFrameBytes ?? limits[this.#strict ? "strict" : "contain"].maxFrameBytes;
    this.#sink = sink;
  }

  send(message) {
    this.#exchange(message);
  }

  abandon(handle) {
    this.#open.get(handle)?.abort();
  }

  close() {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #exchange(message) {
    const { handle } = message;
    const sink = this.#sink;
    const control = new AbortController();
    this.#open.set(handle, control);
    let outcome;
    try {
      outcome = await this.#post(message, control.signal);
    } catch (error) {
      if (error instanceof NoToken) {
        sink.refused(handle, error.thrown);
      } else {
        outcome = error instanceof EventTooLong ? TOO_LONG : { unreachable: true };
      }
    } finally {
      this.#open.delete(handle);
    }
    if (outcome === undefined || control.signal.aborted) {
      return;
    }
    if (outcome.reason === "session_ended" && !message.expectsReply) {
      const { server } = this.#options;
      sink.fail(errorFor({ code: "connection_closed", reason: "session_ended", server }));
      return;
    }
    sink.replyEnded(handle, outcome);
  }

  /** Sends one message and reports what comes back; gives how it ended. */
  async #post(message, signal) {
    const { json, headers, handle, expectsReply } = message;
    const named = new Map(headers);
    const isOpening = expectsReply && !named.has(VERSION);
    this.#modern = named.has("Mcp-Method");
    const session = isOpening ? undefined : this.#session;
    const response = await this.#fetch(
      {
        method: "POST",
        body: json,
        headers: [...headers, ["content-type", "application/json"], ["accept", BOTH]],
      },
      session,
      signal,
    );
    const { status } = response;
    if (session !== undefined && status === 404) {
      this.#session = undefined;
      drop(response);
      return { status, reason: "session_ended" };
    }
    if (!response.ok) {
      await this.#readRefusal(response, handle);
      return { status };
    }
    if (isOpening) {
      const given = response.headers.get(SESSION) ?? undefined;
      if (given !== undefined && !/^[\x21-\x7e]+$/.test(given)) {
        drop(response);
        return { status, reason: "session_id" };
      }
      this.#session = given;
    } else {
      this.#version = named.get(VERSION) ?? this.#version;
    }
    if (!expectsReply) {
      drop(response);
      this.#mayListen(json, named);
      return { status };
    }
    return this.#readReply(response, handle, signal);
  }

  async #readReply(response, handle, signal) {
    const { status } = response;
    const kind = mediaType(response);
    if (kind === "application/json") {
      const body = await this.#body(response);
      if (body === undefined) {
        return { ...TOO_LONG, status };
      }
      this.#sink.message(body, handle);
      return { status };
    }
    if (kind === STREAM) {
      const stream = new EventStream(this.#maxBytes);
      await this.#pump(response, stream, handle);
      try {
        await this.#resume(stream, handle, signal);
      } catch (error) {
        if (!(error instanceof NotOffered)) {
          throw error;
        }
      }
      return { status };
    }
    drop(response);
    return kind === "" ? { status } : { status, reason: "http_content_type" };
  }

  /** An error's body, if it is JSON-RPC. System C does not look at it. */
  async #readRefusal(response, handle) {
    if (this.#strict || mediaType(response) !== "application/json") {
      drop(response);
      return;
    }
    const body = await this.#body(response);
    if (body !== undefined && isRpcError(body)) {
      this.#sink.message(body, handle);
    }
  }

  /** The events of a response, each a message. */
  async #pump(response, stream, handle) {
    const reader = response.body?.getReader();
    if (reader === undefined) {
      return;
    }
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          return;
        }
        for (const event of stream.push(value)) {
          this.#sink.message(event, handle);
          await this.#sink.ready();
        }
        if (handle !== undefined && !this.#sink.awaits(handle)) {
          // Answered: what else the server may say here is for nobody.
          return;
        }
      }
    } catch (error) {
      if (error instanceof EventTooLong || stream.lastEventId === "" || this.#strict) {
        throw error;
      }
    } finally {
      reader.cancel().catch(() => {});
    }
  }

  /** Goes on with a stream that ended before the answer (legacy: `Last-Event-ID`). */
  async #resume(stream, handle, signal) {
    for (let failures = 0; failures < MAX_FAILURES; ) {
      await this.#sink.ready();
      const over = !this.#sink.awaits(handle) || signal.aborted;
      if (over || this.#strict || stream.lastEventId === "" || this.#modern) {
        return;
      }
      const before = stream.lastEventId;
      await pause(retryOf(stream), signal);
      failures = (await this.#takeUp(stream, handle, signal)) ? 0 : failures + 1;
      if (stream.lastEventId === before) {
        failures += 1;
      }
    }
  }

  /** One GET for a stream; true if there was one. */
  async #takeUp(stream, handle, signal) {
    const headers = [["accept", STREAM]];
    if (stream.lastEventId !== "") {
      headers.push(["last-event-id", stream.lastEventId]);
    }
    if (this.#version !== undefined) {
      headers.push([VERSION, this.#version]);
    }
    let response;
    try {
      response = await this.#fetch({ method: "GET", headers }, this.#session, signal);
    } catch (error) {
      if (error instanceof NoToken || signal.aborted) {
        throw error;
      }
      return false;
    }
    if (!response.ok || mediaType(response) !== STREAM) {
      drop(response);
      if (response.status === 405 || response.status === 404) {
        throw new NotOffered();
      }
      return false;
    }
    try {
      // Events of another connection: what was left of the last one is void.
      stream.restart();
      await this.#pump(response, stream, handle);
    } catch (error) {
      if (error instanceof EventTooLong) {
        throw error;
      }
    }
    return true;
  }

  /** After the handshake of a legacy server: a stream for what it says unasked. */
  #mayListen(json, named) {
    if (this.#listening || this.#strict || this.#modern || !named.has(VERSION)) {
      return;
    }
    if (methodOf(json) === "notifications/initialized") {
      this.#listening = true;
      this.#listen();
    }
  }

  async #listen() {
    const control = new AbortController();
    const { signal } = control;
    this.#open.set(Symbol("stream"), control);
    const stream = new EventStream(this.#maxBytes);
    try {
      for (let failures = 0; failures < MAX_FAILURES && !signal.aborted; ) {
        failures = (await this.#takeUp(stream, undefined, signal)) ? 0 : failures + 1;
        await pause(retryOf(stream), signal);
      }
    } catch {
      // Not offered, or over: the server is heard where it answers.
    }
  }

  /** One request, with the token and the session; follows redirects within the origin. */
  async #fetch(init, session, signal) {
    let token = await this.#askToken();
    let url = this.#url;
    let asked = false;
    for (let redirects = 0; ; ) {
      const response = await this.#fetchOnce(url, init, session, token, signal);
      const { status } = response;
      const target = KEEPS_METHOD.includes(status) ? redirectOf(response, url) : undefined;
      if (target !== undefined && redirects < MAX_REDIRECTS) {
        redirects += 1;
        drop(response);
        url = target;
        continue;
      }
      if (status === 401 && !asked && !this.#strict && this.#options.authProvider !== undefined) {
        asked = true;
        const challenge = response.headers.get("www-authenticate") ?? undefined;
        const next = await this.#askToken({ challenge });
        if (next !== undefined && next !== token) {
          token = next;
          drop(response);
          continue;
        }
      }
      return response;
    }
  }

  #fetchOnce(url, init, session, token, signal) {
    const headers = new Headers(this.#options.headers ?? {});
    for (const [name, value] of init.headers) {
      headers.set(name, value);
    }
    if (session !== undefined) {
      headers.set(SESSION, session);
    }
    if (token !== undefined) {
      headers.set("authorization", `Bearer ${token}`);
    }
    const send = this.#options.fetch ?? globalThis.fetch;
    return send(url, { ...init, headers, signal, redirect: "manual" });
  }

  async #askToken(context) {
    const { authProvider } = this.#options;
    if (authProvider === undefined) {
      return undefined;
    }
    try {
      this.#token = (await authProvider(context)) ?? undefined;
    } catch (thrown) {
      throw new NoToken(thrown);
    }
    return this.#token;
  }

  /** A whole body, or nothing if it is too long. */
  async #body(response) {
    const reader = response.body?.getReader();
    const body = new Gathered();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) {
        break;
      }
      if (body.length + value.length > this.#maxBytes) {
        reader.cancel().catch(() => {});
        return undefined;
      }
      body.add(value);
    }
    return body.take();
  }

  async #finish() {
    for (const control of this.#open.values()) {
      control.abort();
    }
    this.#open.clear();
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) {
      return;
    }
    const headers = this.#version === undefined ? [] : [[VERSION, this.#version]];
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(), FAREWELL_MS);
    try {
      // The last token: the provider is asked for messages alone.
      const init = { method: "DELETE", headers };
      drop(await this.#fetchOnce(this.#url, init, session, this.#token, control.signal));
    } catch {
      // Best effort.
    } finally {
      clearTimeout(timer);
    }
  }
}

const TOO_LONG = { reason: "frame_too_long" };

/** The server has no such stream. */
class NotOffered extends Error {}

/** The endpoint, if it is an absolute http or https URL without user or password. */
function endpointOf(given) {
  let url;
  try {
    url = new URL(given);
  } catch {
    return undefined;
  }
  const speaksHttp = url.protocol === "http:" || url.protocol === "https:";
  return speaksHttp && url.username === "" && url.password === "" ? url : undefined;
}

function redirectOf(response, url) {
  try {
    const target = new URL(response.headers.get("location"), url);
    return target.origin === url.origin ? target : undefined;
  } catch {
    return undefined;
  }
}

function mediaType(response) {
  const [type] = (response.headers.get("content-type") ?? "").split(";");
  return type.trim().toLowerCase();
}

/** Lets go of a body that nobody reads. */
function drop(response) {
  response.body?.cancel().catch(() => {});
}

function methodOf(json) {
  return JSON.parse(new TextDecoder().decode(json)).method;
}

function isRpcError(body) {
  try {
    const { jsonrpc, error } = JSON.parse(new TextDecoder().decode(body));
    return jsonrpc === "2.0" && typeof error === "object" && error !== null;
  } catch {
    return false;
  }
}

function retryOf(stream) {
  const asked = stream.retry ?? RETRY_MS;
  return Math.min(Math.max(asked, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
}

/** Waits; rejects when the signal fires. */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) {
      stop();
    } else {
      signal.addEventListener("abort", stop, { once: true });
    }
  });
}

export { HttpTransport };
