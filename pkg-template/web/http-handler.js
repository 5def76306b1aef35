/**
 * Owns `createHttpHandler`: MCP over Streamable HTTP as a function from `Request` to `Response`, in
 * both eras. A message of the modern era is judged by itself, by one session for all clients; a
 * client of an earlier revision gets a session of its own, by `Mcp-Session-Id`.
 *
 * Invariant: sessions are bounded in number and in idle time, and a request is answered whatever
 * happens.
 */

import { refused } from "../lib/arguments.js";
import { serverOptions } from "../lib/call-runner.js";
import { coreInfo } from "../lib/parts.js";
import { now } from "../lib/slices.js";
import { Endpoint } from "./endpoint.js";
import { EventStream, Reply } from "./reply.js";
import {
  Doorkeeper,
  accepted,
  bodyOf,
  hasJsonBody,
  plainError,
  preflight,
  withCors,
} from "./request-guard.js";

const MAX_BODY_BYTES = 4_194_304;
const MAX_SESSIONS = 256;
const SESSION_IDLE_MS = 1_800_000;
const MAX_SUBSCRIPTIONS = 1_024;

/** The first revision without a handshake; names of revisions are in order. */
const FIRST_MODERN = "2026-07-28";

const PARAM_PREFIX = "mcp-param-";

const KEY = "io.modelcontextprotocol/protocolVersion";

/** A client of a revision with a handshake. */
class LegacySession {
  #stream;
  /** A notice that came while nobody listened. */
  #missed;

  constructor(gateway, options, hooks) {
    this.id = crypto.randomUUID();
    this.usedAt = now();
    this.endpoint = new Endpoint(gateway, options, {
      ...hooks,
      onNotice: (json) => this.#tell(json),
    });
  }

  get isBusy() {
    return this.endpoint.isBusy || this.#stream !== undefined;
  }

  /** The stream of what is told without being asked. There is one at a time. */
  listen() {
    if (this.#stream !== undefined) {
      return plainError(409, "A stream of this session is open");
    }
    this.#stream = new EventStream(() => {
      this.#stream = undefined;
      this.usedAt = now();
    });
    const missed = this.#missed;
    this.#missed = undefined;
    if (missed !== undefined) {
      this.#stream.send(missed);
    }
    return this.#stream.response();
  }

  close() {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.close();
    if (!this.endpoint.closed) {
      this.endpoint.close();
    }
  }

  #tell(json) {
    if (this.#stream === undefined) {
      this.#missed = json;
    } else {
      this.#stream.send(json, true);
    }
  }
}

class HttpServer {
  #gateway;
  #options;
  #door;
  #identify;
  #onDiagnostic;
  #maxBodyBytes;
  #maxSessions;
  #idleMs;
  #sessions = new Map();
  #shared;
  #tools;
  #off;
  #over = false;

  constructor(gateway, options) {
    this.#door = new Doorkeeper(options.allowedHosts, options.allowedOrigins);
    this.#identify = options.identify ?? (() => undefined);
    if (typeof this.#identify !== "function") {
      throw refused("identify");
    }
    this.#onDiagnostic = options.onDiagnostic;
    this.#maxBodyBytes = countOf(options, "maxBodyBytes", MAX_BODY_BYTES);
    this.#maxSessions = countOf(options, "maxSessions", MAX_SESSIONS);
    this.#idleMs = countOf(options, "sessionIdleMs", SESSION_IDLE_MS);
    this.#gateway = gateway;
    this.#options = { maxSubscriptions: MAX_SUBSCRIPTIONS, ...serverOptions(gateway, options) };
    this.#tools = this.#options.tools;
    // Options that are wrong are told at once, not with the first request.
    this.#endpoint().close();
    if (typeof gateway.onToolsChanged === "function") {
      this.#off = gateway.onToolsChanged(() => this.setTools(gateway.tools));
    }
  }

  async serve(request) {
    const refusal = this.#door.refuse(request);
    if (refusal !== undefined) {
      return refusal;
    }
    try {
      const response = this.#over
        ? plainError(503, "The server was closed")
        : await this.#dispatch(request);
      return withCors(request, response);
    } catch {
      return withCors(request, plainError(500, "The server failed", {}, -32603));
    }
  }

  setTools(tools) {
    this.#tools = tools;
    this.#shared?.setTools(tools);
    for (const { endpoint } of this.#sessions.values()) {
      endpoint.setTools(tools);
    }
  }

  close() {
    this.#over = true;
    this.#off?.();
    this.#shared?.close();
    for (const session of [...this.#sessions.values()]) {
      session.close();
    }
  }

  async #dispatch(request) {
    if (request.method === "OPTIONS") {
      return preflight(request);
    }
    const identity = await this.#identify(request);
    if (identity instanceof Response) {
      return identity;
    }
    this.#expire();
    switch (request.method) {
      case "POST":
        return this.#post(request, identity);
      case "GET":
        return this.#get(request);
      case "DELETE":
        return this.#delete(request);
      default:
        return plainError(405, "Method not allowed", { allow: "POST" });
    }
  }

  async #post(request, identity) {
    const accepts = accepted(request);
    if (!accepts.json && !accepts.stream) {
      return plainError(406, "Accept must name application/json and text/event-stream");
    }
    if (!hasJsonBody(request)) {
      return plainError(415, "Content-Type must be application/json");
    }
    const body = await bodyOf(request, this.#maxBodyBytes);
    if (body === undefined) {
      return plainError(413, "The message is too long", {}, -32700);
    }
    const version = request.headers.get("mcp-protocol-version");
    // Where every message needs a session none is shared, whatever a request says.
    if (!isModern(version) || !this.#serves(FIRST_MODERN)) {
      const id = request.headers.get("mcp-session-id");
      if (id !== null) {
        return this.#postToSession(request, id, version, body, accepts, identity);
      }
      if (opensSession(body)) {
        return this.#openSession(body, accepts, identity);
      }
      if (!this.#serves(FIRST_MODERN)) {
        return plainError(400, "Mcp-Session-Id is missing");
      }
    }
    return this.#postAlone(request, body, accepts, identity);
  }

  /** A message that is judged by itself. */
  #postAlone(request, body, accepts, identity) {
    const { headers } = request;
    const said = {
      protocolVersion: headers.get("mcp-protocol-version") ?? undefined,
      method: headers.get("mcp-method") ?? undefined,
      name: decoded(headers.get("mcp-name")),
      params: argumentsIn(headers),
    };
    let leave;
    const reply = new Reply(accepts, () => leave());
    this.#shared ??= this.#endpoint(() => {
      this.#shared = undefined;
    });
    leave = this.#shared.accept(body, said, identity, reply);
    return until(request, reply, leave);
  }

  #postToSession(request, id, version, body, accepts, identity) {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      return plainError(404, "There is no such session", {}, -32001);
    }
    if (version !== null && !coreInfo().revisions.includes(version)) {
      return plainError(400, "The protocol version is not supported");
    }
    session.usedAt = now();
    // A client that leaves has not given up: its calls go on.
    let leave;
    const reply = new Reply(accepts, () => leave());
    leave = session.endpoint.forgetter(reply);
    session.endpoint.accept(body, undefined, identity, reply);
    return until(request, reply, leave);
  }

  async #openSession(body, accepts, identity) {
    if (this.#sessions.size >= this.#maxSessions && !this.#evict()) {
      return plainError(503, "There are too many sessions", { "retry-after": "10" });
    }
    const session = new LegacySession(this.#gateway, this.#sessionOptions(), {
      onClosed: () => this.#sessions.delete(session.id),
      onDiagnostic: this.#onDiagnostic,
    });
    this.#sessions.set(session.id, session);
    const reply = new Reply(accepts, () => {}, () =>
      session.endpoint.protocolVersion === undefined ? {} : { "mcp-session-id": session.id },
    );
    session.endpoint.accept(body, undefined, identity, reply);
    const response = await reply.response;
    if (session.endpoint.protocolVersion === undefined) {
      // Nothing was agreed on: nobody could come back to it.
      session.close();
    }
    return response;
  }

  #get(request) {
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      return plainError(405, "There is no stream to get", { allow: "POST" });
    }
    const session = this.#sessions.get(id);
    if (session === undefined) {
      return plainError(404, "There is no such session", {}, -32001);
    }
    if (!accepted(request).stream) {
      return plainError(406, "Accept must name text/event-stream");
    }
    session.usedAt = now();
    return session.listen();
  }

  #delete(request) {
    const id = request.headers.get("mcp-session-id");
    if (id === null) {
      return plainError(405, "There is no session to end", { allow: "POST" });
    }
    const session = this.#sessions.get(id);
    if (session === undefined) {
      return plainError(404, "There is no such session", {}, -32001);
    }
    session.close();
    return new Response(null, { status: 204 });
  }

  #endpoint(onClosed = () => {}) {
    const hooks = { onClosed, onDiagnostic: this.#onDiagnostic };
    return new Endpoint(this.#gateway, this.#sessionOptions(), hooks);
  }

  #sessionOptions() {
    return { ...this.#options, tools: this.#tools };
  }

  #serves(version) {
    const { revisions } = this.#options;
    return revisions === undefined || revisions.includes(version);
  }

  /** Ends sessions that were idle for too long. */
  #expire() {
    const before = now() - this.#idleMs;
    for (const session of [...this.#sessions.values()]) {
      if (session.usedAt < before && !session.isBusy) {
        session.close();
      }
    }
  }

  /** Ends the session that was idle longest; false if none is idle. */
  #evict() {
    let oldest;
    for (const session of this.#sessions.values()) {
      if (!session.isBusy && (oldest === undefined || session.usedAt < oldest.usedAt)) {
        oldest = session;
      }
    }
    oldest?.close();
    return oldest !== undefined;
  }
}

/** The response, or, when the client leaves before it begins, the end of waiting for it. */
function until({ signal }, reply, leave) {
  const onAbort = () => {
    leave();
    reply.fail(plainError(499, "The client left"));
  };
  if (signal?.aborted) {
    onAbort();
  } else {
    signal?.addEventListener("abort", onAbort, { once: true });
  }
  return reply.response;
}

function isModern(version) {
  return version !== null && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= FIRST_MODERN;
}

/** True for an `initialize` that names no revision of its own. Reads no more than that. */
function opensSession(body) {
  try {
    const message = JSON.parse(new TextDecoder().decode(body));
    return message?.method === "initialize" && message.params?._meta?.[KEY] === undefined;
  } catch {
    return false;
  }
}

/** `Mcp-Param-*`: what a request says about single arguments. */
function argumentsIn(headers) {
  const params = {};
  for (const [name, value] of headers) {
    if (name.startsWith(PARAM_PREFIX)) {
      params[name.slice(PARAM_PREFIX.length)] = decoded(value) ?? null;
    }
  }
  return params;
}

/** A header's text, which is base64 when it is not plain ASCII; undefined if it is neither. */
function decoded(header) {
  if (header === null) {
    return undefined;
  }
  const encoded = /^=\?base64\?(.*)\?=$/.exec(header);
  if (encoded === null) {
    return header;
  }
  try {
    const binary = atob(encoded[1]);
    if (btoa(binary) !== encoded[1]) {
      return undefined;
    }
    const bytes = Uint8Array.from(binary, (unit) => unit.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function countOf(options, name, otherwise) {
  const value = options[name] ?? otherwise;
  if (!(Number.isSafeInteger(value) && value > 0)) {
    throw refused(name);
  }
  return value;
}

function createHttpHandler(gateway, options = {}) {
  if (typeof options !== "object" || options === null) {
    throw refused("options");
  }
  const server = new HttpServer(gateway, options);
  const handler = (request) => server.serve(request);
  handler.setTools = (tools) => server.setTools(tools);
  handler.close = () => server.close();
  return handler;
}

export { createHttpHandler };
