/**
 * Owns `ClientSession`, the sans-IO session. It reads what the host gives before it crosses, and
 * makes events of what comes back. Invariants: every handle settles once, also when the core traps;
 * after `closed` nothing follows; no method throws because the peer or the core failed, except the
 * ones that return a handle when the session can no longer make one.
 */

import { bytesOf, numberOf, plainOptions, refused, textOf } from "./arguments.js";
import { disposable, guard, leave, mainInstance, own, sessionInstance } from "./core.js";
import { errorOfCore } from "./errors.js";
import { deepFreeze, parseJson } from "./json.js";
import { documentText, pick } from "./options.js";
import { Redacted } from "./redacted.js";
import { errorFor, freedError } from "./sentences.js";
import { badOption, parsed, present } from "./session-values.js";
import {
  ARGUMENTS_DEPTH,
  DEFAULT_BUDGET,
  copyJson,
  refusalReason,
  rootFault,
  snapshotJson,
} from "./snapshot.js";
import { plainResult, toolResult } from "./tool-result.js";

const OPTIONS = [
  "server",
  "profile",
  "era",
  "revisions",
  "validation",
  "onUnknown",
  "keywords",
  "formats",
  "requireTools",
  "requireStructured",
  "checkArguments",
  "lenientIds",
  "numbers",
  "respawn",
];

const TIMES = ["timeoutMs", "maxTotalTimeoutMs", "resetTimeoutOnProgress"];
const CALL_OPTIONS = [...TIMES, "validation", "numbers"];

/** Places of the numbers that the core keeps in memory: the list in `src/js/status.rs`. */
const STALE = 0;
const HAS_WORK = 1;
const IS_BLOCKED = 2;
const HAS_OUTPUT = 3;
const HAS_EVENT = 4;
const DEADLINE = 5;
const HANDLE = 6;
const FLAGS = 7;
const FINDING = 8;
const TEXT = 9;
const LENGTH = 10;
const NUMBERS = 11;

/** Bytes from which on a piece of a line is worth two crossings. */
const LARGE_PIECE = 1_024;

const LINE_FEED = 10;

/** R25: params are the second container of a message. */
const PARAMS_DEPTH = ARGUMENTS_DEPTH + 1;

let limitNames;

/** For replay: works until so many pieces are done, within so many steps; gives those left. */
let workUntil;

/** For replay: arguments that were refused when they were recorded, and why. */
class RefusedArguments {
  #fault;

  constructor(fault) {
    this.#fault = fault;
  }

  /** The fault of such arguments. Asks a proxy nothing, as `instanceof` would. */
  static faultOf(args) {
    return typeof args === "object" && args !== null && #fault in args ? args.#fault : undefined;
  }
}

/** What a session and the callbacks of its instance share. Must not refer to the facade. */
class Inner {
  constructor(options, onTrap, recorder) {
    const crossing = readOptions(options);
    this.onTrap = onTrap;
    this.recorder = recorder;
    this.server = crossing.server;
    this.numbers = crossing.numbers;
    this.budget = crossing.maxOutboundFrameBytes ?? DEFAULT_BUDGET;
    /** Open handles, each with how its result's numbers are read. */
    this.open = new Map();
    /** Events of our own, after a trap. */
    this.events = [];
    this.errors = new WeakMap();
    this.failure = undefined;
    this.toolsText = undefined;
    this.tools = undefined;
    this.instance = sessionInstance();
    this.fail = (error) => this.trapped(error);
    this.instance.onRetire.add(this.fail);
    try {
      this.core = guard(this.instance, ({ Session }) => new Session(crossing));
    } catch (error) {
      this.left();
      throw error;
    }
    this.address = guard(this.instance, () => this.core.statusAddress());
    this.numbers64 = this.instance.numbersAt(this.address, NUMBERS);
    recorder?.begin(crossing);
  }

  /** The core's numbers: reading them enters no wasm code. */
  get status() {
    if (this.numbers64.length === 0) {
      // The memory grew.
      this.numbers64 = this.instance.numbersAt(this.address, NUMBERS);
    }
    return this.numbers64;
  }

  /** The instance is gone: what is open settles, then the session is over. */
  trapped(error) {
    this.failure = error;
    for (const handle of this.open.keys()) {
      this.events.push({ type: "settled", handle, ok: false, error });
    }
    this.open.clear();
    this.events.push({ type: "closed", error });
    this.onTrap?.();
  }

  left() {
    this.instance.onRetire.delete(this.fail);
    leave(this.instance);
  }

  /** One failure that ends many calls is one error object. */
  errorOf(fault) {
    let error = this.errors.get(fault);
    if (error === undefined) {
      error = errorOfCore(fault);
      this.errors.set(fault, error);
    }
    return error;
  }
}

class ClientSession {
  #inner;
  #release;

  static {
    workUntil = (session, done, steps) =>
      session.#read((core) => core.workUntil(done, steps), steps);
  }

  /**
   * For hosts: `onTrap` is called when events wait that no input brought; a `Recorder` is told of
   * every input.
   */
  constructor(options, onTrap = undefined, recorder = undefined) {
    const inner = new Inner(options, onTrap, recorder);
    this.#inner = inner;
    this.#release = own(this, inner.instance, inner.core, () => inner.left());
  }

  connect(now) {
    numberOf(now, "now");
    this.#note("connect", now);
    this.#input((core) => core.connect(now));
  }

  receive(chunk, now) {
    bytesOf(chunk, "chunk");
    numberOf(now, "now");
    // What comes before `connect` or after the end is not read, so it is no input either.
    if (this.#inner?.recorder !== undefined && !["idle", "closed"].includes(this.state)) {
      this.#note("chunk", now, { data: chunk });
    }
    if (chunk.length < LARGE_PIECE || chunk.includes(LINE_FEED)) {
      this.#input((core) => core.receive(chunk, now));
    } else {
      this.#piece(chunk, now);
    }
  }

  /** Bytes within a line: copied straight to their place in the core's memory. */
  #piece(chunk, now) {
    const address = this.#read((core) => core.room(chunk.length, now), undefined);
    if (address === 0) {
      this.#input((core) => core.receive(chunk, now));
    } else if (address !== undefined) {
      this.#inner.instance.write(chunk, address);
      this.#input((core) => core.filled(chunk.length));
    }
  }

  receiveMessage(json, now, inReplyTo = undefined) {
    bytesOf(json, "json");
    numberOf(now, "now");
    if (inReplyTo !== undefined) {
      numberOf(inReplyTo, "inReplyTo");
    }
    if (this.#inner?.recorder !== undefined && !["idle", "closed"].includes(this.state)) {
      this.#note("message", now, { data: json, handle: inReplyTo });
    }
    this.#input((core) => core.receiveMessage(json, now, inReplyTo));
  }

  replyEnded(handle, outcome, now) {
    numberOf(handle, "handle");
    numberOf(now, "now");
    const picked = plainOptions(pick(outcome, ["status", "unreachable", "reason"]));
    if (!isOutcome(picked)) {
      throw refused("outcome");
    }
    this.#note("replyEnded", now, { handle, outcome: picked });
    this.#input((core) => core.replyEnded(handle, picked, now));
  }

  get hasWork() {
    return this.#number(HAS_WORK, 0) !== 0;
  }

  get isBlocked() {
    return this.#number(IS_BLOCKED, 0) !== 0;
  }

  work(maxSteps, now) {
    numberOf(maxSteps, "maxSteps");
    numberOf(now, "now");
    this.#input((core) => core.work(maxSteps, now));
  }

  end(now) {
    numberOf(now, "now");
    this.#note("end", now);
    this.#input((core) => core.end(now));
  }

  exited(code, now) {
    const given = code ?? undefined;
    if (given !== undefined) {
      numberOf(given, "code");
    }
    numberOf(now, "now");
    this.#note("exited", now, { code });
    this.#input((core) => core.exited(given, now));
  }

  writeFailed(now) {
    numberOf(now, "now");
    this.#note("writeFailed", now);
    this.#input((core) => core.writeFailed(now));
  }

  advance(now) {
    numberOf(now, "now");
    this.#note("advance", now);
    this.#input((core) => core.advance(now));
  }

  callTool(name, args, options, now) {
    this.#live();
    const tool = textOf(name, "name");
    numberOf(now, "now");
    const picked = callOptions(options);
    const { text, refusal } = this.#arguments(args);
    if (this.#inner.recorder !== undefined) {
      this.#note("call", now, { name: tool, text, refusal, options: picked ?? {} });
    }
    return this.#request(picked?.numbers, (core) =>
      core.callTool(tool, text, refusal, picked, now),
    );
  }

  request(method, params, options, now) {
    const named = textOf(method, "method");
    numberOf(now, "now");
    const noted = plainOptions(times(pick(options, [...TIMES, "numbers"])));
    const { numbers, ...picked } = noted;
    const text = this.#params(params);
    this.#note("request", now, { method: named, params: text, options: noted });
    return this.#request(numbers, (core) => core.request(named, text, picked, now));
  }

  notify(method, params, now) {
    const named = textOf(method, "method");
    numberOf(now, "now");
    const text = this.#params(params);
    this.#note("notify", now, { method: named, params: text });
    return this.#request(undefined, (core) => core.notify(named, text, now));
  }

  refreshTools(now) {
    numberOf(now, "now");
    this.#note("refresh", now);
    return this.#request(undefined, (core) => core.refreshTools(now));
  }

  respond(token, outcome, now) {
    numberOf(token, "token");
    numberOf(now, "now");
    if (typeof outcome !== "object" || outcome === null) {
      throw refused("outcome");
    }
    const { error, result: value } = pick(outcome, ["error", "result"]);
    if (error === undefined) {
      const result = documentText(value ?? null, undefined, PARAMS_DEPTH);
      this.#note("respond", now, { token, result });
      this.#input((core) => core.respondResult(token, result, now));
      return;
    }
    const { code, message, data } = pick(error, ["code", "message", "data"]);
    const text = data === undefined ? undefined : documentText(data, undefined, PARAMS_DEPTH);
    numberOf(code, "code");
    const said = textOf(message, "message");
    this.#note("respond", now, { token, code, message: said, data: text });
    this.#input((core) => core.respondError(token, code, said, text, now));
  }

  cancel(handle, reason, now) {
    numberOf(handle, "handle");
    numberOf(now, "now");
    const why = reason === undefined || reason === null ? undefined : textOf(reason, "reason");
    this.#note("cancel", now, { handle, reason: why });
    this.#input((core) => core.cancel(handle, why, now));
  }

  stderr(chunk, now) {
    bytesOf(chunk, "chunk");
    numberOf(now, "now");
    this.#note("stderr", now, { data: chunk });
    this.#input((core) => core.stderr(chunk, now));
  }

  stderrEnded(now) {
    numberOf(now, "now");
    this.#note("stderrEnded", now);
    this.#input((core) => core.stderrEnded(now));
  }

  close(now) {
    numberOf(now, "now");
    this.#note("close", now);
    this.#input((core) => core.close(now));
  }

  takeOutput() {
    if (this.#number(HAS_OUTPUT, 0) === 0) {
      return undefined;
    }
    const at = this.#inner.recorder === undefined ? undefined : this.#position();
    const frame = this.#read((core) => core.takeOutput(), undefined);
    if (frame !== undefined) {
      this.#inner.recorder?.note("take", undefined, at);
    }
    return frame;
  }

  awaits(handle) {
    numberOf(handle, "handle");
    return this.#read((core) => core.awaits(handle), false);
  }

  takeMessage() {
    const at = this.#inner?.recorder === undefined ? undefined : this.#position();
    const message = this.#read((core) => core.takeMessage(), undefined);
    if (message !== undefined) {
      this.#inner.recorder?.note("takeMessage", undefined, at);
    }
    return message;
  }

  pollEvent() {
    const inner = this.#live();
    if (this.#number(HAS_EVENT, 0) === 0) {
      return inner.events.shift();
    }
    const out = this.#read((core) => core.pollEvent(), undefined);
    if (out === true) {
      return this.#shown(inner);
    }
    return out === undefined ? inner.events.shift() : this.#event(out);
  }

  get nextDeadline() {
    const deadline = this.#number(DEADLINE, Infinity);
    return deadline === Infinity ? undefined : deadline;
  }

  get state() {
    return this.#read((core) => core.state(), "closed");
  }

  get protocolVersion() {
    return this.#read((core) => core.protocolVersion(), undefined);
  }

  get tools() {
    const inner = this.#live();
    const text = this.#read((core) => core.toolsJson(), inner.toolsText ?? "[]");
    return this.#tools(text);
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

  /** Tells the recorder of an input that the core is about to get. */
  #note(kind, now, facts) {
    const { recorder, failure } = this.#live();
    if (recorder !== undefined && failure === undefined) {
      recorder.note(kind, now, this.#position(), facts);
    }
  }

  /** How far work has come, while some is left. */
  #position() {
    return this.#read((core) => (core.hasWork() ? core.workDone() : undefined), undefined);
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

  #number(place, afterTrap) {
    const inner = this.#live();
    if (inner.failure !== undefined) {
      return afterTrap;
    }
    if (inner.status[STALE] !== 0) {
      this.#read((core) => core.note(), undefined);
    }
    return inner.failure === undefined ? inner.status[place] : afterTrap;
  }

  /** Makes a request; throws when the session cannot. */
  #request(numbers, action) {
    const inner = this.#live();
    const handle = guard(inner.instance, () => action(inner.core));
    inner.open.set(handle, numbers ?? inner.numbers);
    return handle;
  }

  /** The arguments as JSON text, or why they are refused; the core reports an unknown tool first. */
  #arguments(args) {
    let fault = RefusedArguments.faultOf(args);
    if (fault === undefined) {
      const copy = copyJson(args, {
        budget: this.#inner.budget,
        maxDepth: ARGUMENTS_DEPTH,
        omitUndefined: false,
        bigintDigits: false,
      });
      fault = copy.fault ?? rootFault(copy.text);
      if (fault === undefined) {
        return { text: copy.text };
      }
    }
    return { text: refusalReason(fault), refusal: JSON.stringify(fault) };
  }

  #params(params) {
    return params === undefined
      ? undefined
      : snapshotJson(params, { maxBytes: this.#live().budget, undefinedMembers: "omit" });
  }

  #tools(text) {
    const inner = this.#inner;
    if (inner.toolsText !== text) {
      inner.toolsText = text;
      inner.tools = deepFreeze(JSON.parse(text));
    }
    return inner.tools;
  }

  #settled(handle) {
    const { open } = this.#inner;
    const numbers = open.get(handle);
    open.delete(handle);
    return numbers;
  }

  /** The result that the core's numbers show. */
  #shown({ instance, status }) {
    const handle = status[HANDLE];
    const json = instance.textAt(status[TEXT], status[LENGTH]);
    const result = plainResult(json, status[FLAGS], status[FINDING], this.#settled(handle));
    return { type: "settled", handle, ok: true, result };
  }

  #event(out) {
    switch (out.type) {
      case "tool": {
        const { handle } = out;
        const result = toolResult(out, this.#settled(handle));
        return { type: "settled", handle, ok: true, result };
      }
      case "value": {
        const { handle } = out;
        const result = parseJson(out.json, this.#settled(handle));
        return { type: "settled", handle, ok: true, result };
      }
      case "done":
        this.#settled(out.handle);
        return { type: "settled", handle: out.handle, ok: true, result: undefined };
      case "failed":
        this.#settled(out.handle);
        return {
          type: "settled",
          handle: out.handle,
          ok: false,
          error: this.#inner.errorOf(out.fault),
        };
      case "closed": {
        const error = out.fault === undefined ? undefined : this.#inner.errorOf(out.fault);
        return { type: "closed", error };
      }
      case "ready":
        return present({
          ...out,
          serverInfo: parsed(out.serverInfo),
          capabilities: parsed(out.capabilities),
        });
      case "tools":
        return present({
          ...out,
          tools: this.#tools(out.tools),
          problems: deepFreeze(JSON.parse(out.problems)),
        });
      case "notification":
      case "request":
        return present({ ...out, params: parsed(out.params) });
      case "diagnostic":
        return { ...out, detail: new Redacted(out.detail) };
      default:
        return present(out);
    }
  }
}

disposable(ClientSession);

/** Times that are no numbers as NaN: the core refuses that and names the option. */
function times(picked) {
  for (const name of ["timeoutMs", "maxTotalTimeoutMs"]) {
    if (picked[name] !== undefined && typeof picked[name] !== "number") {
      picked[name] = NaN;
    }
  }
  return picked;
}

/** How an exchange may end: a status, or none, and a reason of ours. */
function isOutcome({ status, unreachable, reason }) {
  const isStatus = Number.isInteger(status) && status >= 0 && status <= 999;
  return (
    (status === undefined || isStatus) &&
    (unreachable === undefined || typeof unreachable === "boolean") &&
    (reason === undefined || typeof reason === "string")
  );
}

/** Undefined when there are none. */
function callOptions(options) {
  if (options === undefined || options === null) {
    return undefined;
  }
  const picked = plainOptions(times(pick(options, CALL_OPTIONS)));
  const { meta } = options;
  if (meta !== undefined) {
    picked.meta = metaText(meta);
  }
  return picked;
}

function metaText(meta) {
  const refused = { code: "invalid_arguments", reason: "option_invalid", option: "meta" };
  const text = documentText(meta, refused, PARAMS_DEPTH - 1);
  if (text[0] !== "{") {
    throw errorFor(refused);
  }
  return text;
}

function readOptions(options) {
  const { revisions, ...crossing } = pick(options, OPTIONS, "protocol_error");
  if (typeof crossing.server !== "string") {
    throw errorFor(badOption("server"));
  }
  plainOptions(crossing, "protocol_error");
  if (revisions !== undefined) {
    crossing.revisions = JSON.parse(documentText(revisions, badOption("revisions")));
  }
  for (const name of knownLimits()) {
    const value = options[name];
    if (value !== undefined) {
      // What is no number fails the check of the core, which names the option.
      crossing[name] = typeof value === "number" ? value : NaN;
    }
  }
  const { clientInfo, capabilities, prior, tools } = options;
  if (clientInfo !== undefined) {
    crossing.clientInfo = pick(
      clientInfo,
      ["name", "version", "title"],
      "protocol_error",
    );
    if (Object.values(crossing.clientInfo).some((value) => typeof value !== "string")) {
      throw errorFor(badOption("clientInfo"));
    }
  }
  if (prior !== undefined) {
    crossing.prior = plainOptions(pick(prior, ["era", "protocolVersion"]), "protocol_error");
  }
  if (capabilities !== undefined) {
    crossing.capabilities = documentText(capabilities, badOption("capabilities"));
  }
  if (tools !== undefined) {
    crossing.tools = documentText(tools, badOption("tools"));
  }
  return crossing;
}

/** The names of the numeric options, from the core's own table. */
function knownLimits() {
  if (limitNames === undefined) {
    limitNames = Object.keys(guard(mainInstance(), ({ limits }) => limits()).session.contain);
  }
  return limitNames;
}

export { ClientSession, RefusedArguments, workUntil };
