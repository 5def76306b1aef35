/**
 * Owns `ServerSession`, the sans-IO tool server. It reads what the host gives before it crosses, and
 * makes events of what comes back. Invariants: every call ends once for the host, by its own
 * `respond` or by a `cancelled` event, also when the core traps; after `closed` nothing follows.
 */

import { bytesOf, numberOf, plainOptions, refused, textOf } from "./arguments.js";
import { disposable, guard, leave, mainInstance, own, sessionInstance } from "./core.js";
import { errorOfCore } from "./errors.js";
import { parseJson } from "./json.js";
import { documentText, pick } from "./options.js";
import { Redacted } from "./redacted.js";
import { errorFor, freedError } from "./sentences.js";
import { badOption, parsed, present } from "./session-values.js";

const OPTIONS = ["instructions", "logging", "cacheTtlMs", "cacheScope", "numbers"];
const HEADERS = ["protocolVersion", "method", "name"];
const NUMBERS = ["number", "bigint", "string"];

let limitNames;

/** What a session and the callbacks of its instance share. Must not refer to the facade. */
class Inner {
  constructor(options, onTrap) {
    const { numbers, crossing } = readOptions(options);
    this.onTrap = onTrap;
    this.numbers = numbers;
    /** Calls that the host owes an answer. */
    this.open = new Set();
    /** Events of our own, after a trap. */
    this.events = [];
    this.failure = undefined;
    this.instance = sessionInstance();
    this.fail = (error) => this.trapped(error);
    this.instance.onRetire.add(this.fail);
    try {
      this.core = guard(this.instance, ({ Server }) => new Server(crossing));
    } catch (error) {
      this.left();
      throw error;
    }
  }

  /** The instance is gone: open calls are given up, then the session is over. */
  trapped(error) {
    this.failure = error;
    for (const token of this.open) {
      this.events.push({ type: "cancelled", token });
    }
    this.open.clear();
    this.events.push({ type: "closed", error });
    this.onTrap?.();
  }

  left() {
    this.instance.onRetire.delete(this.fail);
    leave(this.instance);
  }
}

class ServerSession {
  #inner;
  #release;

  /** For hosts: `onTrap` is called when events wait that no input brought. */
  constructor(options, onTrap = undefined) {
    const inner = new Inner(options, onTrap);
    this.#inner = inner;
    this.#release = own(this, inner.instance, inner.core, () => inner.left());
  }

  receive(chunk, now) {
    bytesOf(chunk, "chunk");
    numberOf(now, "now");
    this.#input((core) => core.receive(chunk, now));
  }

  receiveMessage(json, now, headers = undefined) {
    bytesOf(json, "json");
    numberOf(now, "now");
    const said = headers === undefined ? undefined : readHeaders(headers);
    return this.#read((core) => core.receiveMessage(json, said, now), 0);
  }

  abandon(exchange, now) {
    numberOf(exchange, "exchange");
    numberOf(now, "now");
    this.#input((core) => core.abandon(exchange, now));
  }

  get hasWork() {
    return this.#read((core) => core.hasWork(), false);
  }

  get isBlocked() {
    return this.#read((core) => core.isBlocked(), false);
  }

  work(maxSteps, now) {
    numberOf(maxSteps, "maxSteps");
    numberOf(now, "now");
    this.#input((core) => core.work(maxSteps, now));
  }

  end(now) {
    numberOf(now, "now");
    this.#input((core) => core.end(now));
  }

  writeFailed(now) {
    numberOf(now, "now");
    this.#input((core) => core.writeFailed(now));
  }

  advance(now) {
    numberOf(now, "now");
    this.#input((core) => core.advance(now));
  }

  get nextDeadline() {
    return this.#read((core) => core.nextDeadline(), undefined);
  }

  respond(token, outcome, now) {
    numberOf(token, "token");
    numberOf(now, "now");
    if (typeof outcome !== "object" || outcome === null) {
      throw refused("outcome");
    }
    const { error, result } = pick(outcome, ["error", "result"]);
    if (error === undefined) {
      const text = documentText(result ?? null);
      this.#live().open.delete(token);
      this.#input((core) => core.respondResult(token, text, now));
      return;
    }
    const { code, message, data } = pick(error, ["code", "message", "data"]);
    numberOf(code, "code");
    const said = textOf(message, "message");
    const text = data === undefined ? undefined : documentText(data);
    this.#live().open.delete(token);
    this.#input((core) => core.respondError(token, code, said, text, now));
  }

  progress(token, progress, total, message, now) {
    numberOf(token, "token");
    numberOf(progress, "progress");
    numberOf(now, "now");
    const whole = total === undefined || total === null ? undefined : numberOf(total, "total");
    const said = message === undefined || message === null ? undefined : textOf(message, "message");
    this.#input((core) => core.progress(token, progress, whole, said, now));
  }

  log(token, level, logger, data, now) {
    const call = token === undefined || token === null ? undefined : numberOf(token, "token");
    const rank = textOf(level, "level");
    const name = logger === undefined || logger === null ? undefined : textOf(logger, "logger");
    const text = documentText(data ?? null);
    numberOf(now, "now");
    this.#input((core) => core.log(call, rank, name, text, now));
  }

  setTools(tools, now) {
    const text = documentText(tools, badOption("tools"));
    numberOf(now, "now");
    this.#input((core) => core.setTools(text, now));
  }

  close(now) {
    numberOf(now, "now");
    this.#input((core) => core.close(now));
  }

  takeOutput() {
    return this.#read((core) => core.takeOutput(), undefined);
  }

  takeMessage() {
    return this.#read((core) => {
      const outgoing = core.takeMessage();
      if (outgoing === undefined) {
        return undefined;
      }
      const { exchange, ends, status } = outgoing;
      return { json: core.takeJson(), exchange, ends, status };
    }, undefined);
  }

  pollEvent() {
    const inner = this.#live();
    const out = this.#read((core) => core.pollEvent(), undefined);
    return out === undefined ? inner.events.shift() : this.#event(out);
  }

  get protocolVersion() {
    return this.#read((core) => core.protocolVersion(), undefined);
  }

  get isClosed() {
    return this.#read((core) => core.isClosed(), true);
  }

  free() {
    this.#inner = undefined;
    this.#release();
  }

  #live() {
    if (this.#inner === undefined) {
      throw freedError();
    }
    return this.#inner;
  }

  /** Gives the core an input. A trap is told by events, not here. */
  #input(action) {
    this.#read(action, undefined);
  }

  #read(action, afterTrap) {
    const inner = this.#live();
    if (inner.failure !== undefined) {
      return afterTrap;
    }
    try {
      return guard(inner.instance, () => action(inner.core));
    } catch (error) {
      if (inner.failure === undefined) {
        throw error;
      }
      return afterTrap;
    }
  }

  #event(out) {
    const { open, numbers } = this.#inner;
    switch (out.type) {
      case "call": {
        open.add(out.token);
        const event = present({
          ...out,
          arguments: parseJson(out.arguments, numbers),
          meta: parsed(out.meta),
          inputResponses: parsed(out.inputResponses),
          requestState: parsed(out.requestState),
        });
        Object.defineProperty(event, "argumentsJson", { value: out.arguments });
        return event;
      }
      case "cancelled":
        open.delete(out.token);
        return out;
      case "initialized":
        return present({
          ...out,
          clientInfo: parsed(out.clientInfo),
          capabilities: parsed(out.capabilities),
        });
      case "diagnostic":
        return { ...out, detail: new Redacted(out.detail) };
      case "closed":
        return {
          type: "closed",
          error: out.fault === undefined ? undefined : errorOfCore(out.fault),
        };
      default:
        return out;
    }
  }
}

disposable(ServerSession);

/** What an HTTP request says, as plain texts. */
function readHeaders(headers) {
  const said = plainOptions(pick(headers, HEADERS));
  const { params } = pick(headers, ["params"]);
  said.params = Object.entries(params ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value === undefined || value === null ? undefined : textOf(value, "params"),
  ]);
  return said;
}

function readOptions(options) {
  const { numbers = "number", ...crossing } = plainOptions(
    pick(options, OPTIONS, "protocol_error"),
    "protocol_error",
  );
  if (!NUMBERS.includes(numbers)) {
    throw errorFor(badOption("numbers"));
  }
  const limits = pick(options, serverLimitNames(), "protocol_error");
  for (const [name, value] of Object.entries(limits)) {
    // What is no number fails the check of the core, which names the option.
    crossing[name] = typeof value === "number" ? value : NaN;
  }
  const documents = pick(options, ["serverInfo", "tools", "revisions"], "protocol_error");
  for (const name of ["serverInfo", "tools"]) {
    crossing[name] = documentText(documents[name] ?? null, badOption(name));
  }
  if (documents.revisions !== undefined) {
    crossing.revisions = JSON.parse(documentText(documents.revisions, badOption("revisions")));
  }
  return { numbers, crossing };
}

/** The names of the numeric options, from the core's own table. */
function serverLimitNames() {
  limitNames ??= Object.keys(guard(mainInstance(), ({ serverLimits }) => serverLimits()));
  return limitNames;
}

export { ServerSession, serverLimitNames };
