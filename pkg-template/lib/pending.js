/**
 * Owns `PendingRequestMap`: the promises, iterators, signals and the one timer of the requests that
 * the core keeps open. Invariants: a request settles exactly once, also when the core traps; events
 * go out with no wasm code on the stack, and whatever a listener does to the map then is in order;
 * `dispatch` never throws; when nothing is open no timer keeps the process alive.
 */

import { refused, signalOf } from "./arguments.js";
import { onWire, readEvent } from "./call-event.js";
import { CallError, mapError } from "./call-error.js";
import { disposable, guard, mainInstance, own } from "./core.js";
import { isResponseEnvelope } from "./envelope.js";
import { randomId } from "./ids.js";
import { pick } from "./options.js";
import { errorFor, freedError } from "./sentences.js";
import { listen } from "./signals.js";
import { Subscription } from "./subscription.js";

/** The longest a timer of any host can wait. */
const MAX_TIMER_MS = 2_147_483_647;

/** What the core's methods return, and the bit that says that requests were given up. */
const HAS_ENDED = 16;
const SETTLED = 1;
const ITEM = 2;
const OPEN = 0;
const DUPLICATE = 1;
const FULL = 2;
const EXPIRED = 3;
const MALFORMED = 4;

const CALL_OPTIONS = ["parentRequestId", "deadline", "identity", "metadata", "signal"];
const SUBSCRIBE_OPTIONS = [...CALL_OPTIONS, "idleTimeout", "highWaterMark"];

/** The core's bound on ids: nobody would answer to a longer one. */
const MAX_ID_BYTES = 1_024;

const encoder = new TextEncoder();

const U32_MAX = 0xffff_ffff;

/** For the handler: serving a request, sending with what the transport returns, who asks. */
let serve;
let finishServing;
let sendResponse;
let isNested;

/** Seconds and minutes are not told apart by accident: a time is a number, and not NaN. */
function timeOf(value, option) {
  if (value === undefined || value === null || value === Infinity) {
    return undefined;
  }
  if (typeof value !== "number" || Number.isNaN(value)) {
    throw refused(option);
  }
  return Math.max(value, -Number.MAX_VALUE);
}

function countOf(value, option) {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (value === Infinity) {
    return U32_MAX;
  }
  if (!Number.isInteger(value) || value < 1) {
    throw refused(option);
  }
  return Math.min(value, U32_MAX);
}

function functionOf(value, option) {
  if (typeof value !== "function") {
    throw refused(option);
  }
  return value;
}

/** An id as every side takes it: short, not empty, and the same in every encoding. */
function idOf(value, option) {
  const isId =
    typeof value === "string" &&
    value !== "" &&
    (value.length <= MAX_ID_BYTES / 3 || encoder.encode(value).length <= MAX_ID_BYTES) &&
    !/\p{Surrogate}/u.test(value);
  if (!isId) {
    throw refused(option);
  }
  return value;
}

function objectOf(value, option) {
  if (value === undefined || value === null) {
    return undefined;
  }
  if (typeof value !== "object" || Array.isArray(value)) {
    throw refused(option);
  }
  return value;
}

/** What a request that was given up fails with; undefined if a subscription just ends. */
function errorOfEnded({ cause, bound, at }) {
  switch (cause) {
    case "deadline":
      return new CallError({
        code: "TIMEOUT",
        message: "the deadline passed before the answer came",
        details: { deadline: bound },
      });
    case "idle":
      return new CallError({
        code: "TIMEOUT",
        message: `nothing came for ${bound} ms`,
        details: { idleTimeout: bound },
      });
    case "limit":
      return new CallError({
        code: "LIMIT",
        message: `${bound} items were waiting to be taken`,
        details: { highWaterMark: bound },
      });
    case "malformed":
      return new CallError({
        code: "EXECUTION_ERROR",
        message:
          at === "/output" ? "the answer is not a response envelope" : "the answer is malformed",
        details: { at },
      });
  }
  return abortedError();
}

/** The error that a `call.error` carries. */
function errorOfEvent({ code, message, retryable }, details) {
  return new CallError({ code, message, details, retryable: retryable ?? undefined });
}

function abortedError(cause) {
  return new CallError({ code: "ABORTED", message: "the request was aborted", cause });
}

/** What a request that cannot be opened fails with. */
function errorOfOpening(status, { deadline, maxPending }) {
  switch (status) {
    case FULL:
      return new CallError({
        code: "LIMIT",
        message: "as many requests as allowed are open",
        details: maxPending === undefined ? undefined : { maxPending },
        retryable: true,
      });
    case EXPIRED:
      return errorOfEnded({ cause: "deadline", bound: deadline });
  }
  return undefined;
}

/** A call that waits. A `Subscription` has the same methods. */
class Waiting {
  constructor(resolve, reject) {
    this.push = resolve;
    this.fail = reject;
  }

  /** The other side said that no more comes. */
  complete() {
    this.fail(new CallError({ code: "ABORTED", message: "completed without a response" }));
  }

  /** Given up here, or by the other side. */
  abort(error = abortedError()) {
    this.fail(error);
  }
}

/** Tells when a promise of the host's rejects; whatever else it returned is done. */
function watch(returned, onRejection) {
  if (typeof returned?.then === "function") {
    Promise.resolve(returned).then(undefined, onRejection);
  }
}

function ignore() {}

class PendingRequestMap {
  #onEvent;
  #now;
  #newId;
  #maxPending;
  /** Ours, by id: `{ waiter, unlisten, reason }`. */
  #open = new Map();
  /** What this side serves, by id: called with why it is given up. */
  #served = new Map();
  /**
   * The very events by which this map asked for something in the service of a request it serves: the
   * other side can name both requests in an event of its own, but not send this object.
   */
  #nested = new WeakSet();
  #instance;
  #core;
  #letGo;
  #freed = false;
  /** The time of the last input. */
  #last = 0;
  #timer;
  #timerAt = Infinity;
  #holdsProcess = true;

  static {
    serve = (map, id, head, onStop) => map.#serve(id, head, onStop);
    finishServing = (map, id) => map.#finish(id);
    sendResponse = (map, id, output) => map.#respond(id, output);
    isNested = (map, event) => map.#nested.has(event);
  }

  constructor(options) {
    const picked = pick(options, ["onEvent", "now", "newId", "maxPending"]);
    const { onEvent = () => {}, now = Date.now, newId = randomId } = picked;
    this.#onEvent = functionOf(onEvent, "onEvent");
    this.#now = functionOf(now, "now");
    this.#newId = functionOf(newId, "newId");
    this.#maxPending = countOf(picked.maxPending, "maxPending");
  }

  call(operationId, input, options) {
    return new Promise((resolve, reject) => {
      const request = this.#requestOf(operationId, input, options, CALL_OPTIONS);
      this.#start(request, new Waiting(resolve, reject));
    });
  }

  subscribe(operationId, input, options) {
    const request = this.#requestOf(operationId, input, options, SUBSCRIBE_OPTIONS);
    request.isSubscription = true;
    return new Subscription({
      start: (subscription) => this.#start(request, subscription),
      pull: () => {
        const { id } = request;
        if (this.#open.has(id)) {
          this.#quietly(() => this.#run((core) => core.pull(id)));
        }
      },
      stop: () => {
        const { id } = request;
        if (this.#open.has(id)) {
          this.#quietly(() => this.#giveUp(id));
        }
      },
    });
  }

  respond(requestId, output) {
    this.#respond(requestId, output);
  }

  emitError(requestId, code, message, details, retryable) {
    const id = idOf(requestId, "requestId");
    const error = errorOfEvent({ code, message, retryable }, details);
    this.#settle(id, (waiter) => waiter.fail(error));
    const event = { requestId: id, code: error.code, message: error.message };
    if (error.details !== undefined) {
      event.details = error.details;
    }
    if (typeof retryable === "boolean") {
      event.retryable = retryable;
    }
    this.#publish("call.error", event);
  }

  complete(requestId) {
    const id = idOf(requestId, "requestId");
    this.#settle(id, (waiter) => waiter.complete());
    this.#publish("call.completed", { requestId: id });
  }

  abort(requestId) {
    const id = idOf(requestId, "requestId");
    // Whoever waits elsewhere for what is served here is told by nobody else.
    const tells = this.#served.has(id) && !this.#open.has(id);
    this.#giveUp(id);
    if (tells) {
      this.#tellAborted(id);
    }
  }

  dispatch(type, event) {
    try {
      this.#receive(typeof type === "string" ? type : "", event);
    } catch {
      // Freed, or the core trapped: everything has settled, and the transport is not to blame.
    }
  }

  getPendingCount() {
    return this.#open.size;
  }

  failAll(error) {
    this.#leave(mapError(error), undefined);
  }

  /** Events that were dispatched and meant nothing. */
  get ignored() {
    return this.#core === undefined
      ? { unknown: 0, malformed: 0 }
      : this.#run((core) => core.ignored());
  }

  free() {
    if (this.#freed) {
      return;
    }
    this.#freed = true;
    this.#leave(freedError(), undefined);
  }

  /** Reads what a request is to say, before anything is sent. */
  #requestOf(operationId, input, options, names) {
    const picked = pick(options, names);
    const { parentRequestId = null } = picked;
    const idleTimeout = timeOf(picked.idleTimeout, "idleTimeout");
    if (idleTimeout <= 0) {
      throw refused("idleTimeout");
    }
    return {
      operationId: idOf(operationId, "operationId"),
      input,
      parent: parentRequestId === null ? undefined : idOf(parentRequestId, "parentRequestId"),
      deadline: timeOf(picked.deadline, "deadline"),
      idleTimeout,
      identity: objectOf(picked.identity, "identity"),
      metadata: objectOf(picked.metadata, "metadata"),
      highWaterMark: countOf(picked.highWaterMark, "highWaterMark"),
      signal: signalOf(picked),
      isSubscription: false,
    };
  }

  /** Opens a request and sends it; throws if it cannot be opened. */
  #start(request, waiter) {
    const { signal, parent, deadline } = request;
    if (signal?.aborted) {
      throw abortedError(signal.reason);
    }
    const id = idOf(this.#newId(), "newId");
    const entry = { waiter, unlisten: undefined, reason: undefined };
    entry.unlisten = listen(signal, () => {
      entry.reason = abortedError(signal.reason);
      this.#quietly(() => this.#giveUp(id));
    });
    let status;
    try {
      status = this.#input((core, now) =>
        request.isSubscription
          ? core.subscribe(id, parent, deadline, request.idleTimeout, request.highWaterMark, now)
          : core.call(id, parent, deadline, now),
      );
    } catch (error) {
      entry.unlisten();
      throw error;
    }
    const opened = status & ~HAS_ENDED;
    if (opened === OPEN) {
      request.id = id;
      this.#open.set(id, entry);
    } else {
      entry.unlisten();
    }
    this.#after(status);
    if (opened !== OPEN) {
      const maxPending = this.#maxPending;
      throw errorOfOpening(opened, { deadline, maxPending }) ?? refused("newId");
    }
    // A listener that was told of what had ended may have ended this too.
    if (this.#open.get(id) === entry) {
      this.#request(id, request);
    }
  }

  /** Sends `call.requested`. A transport that refuses it has failed the request. */
  #request(id, request) {
    const { operationId, input, parent, idleTimeout, identity, metadata } = request;
    const event = { requestId: id, operationId, input };
    if (parent !== undefined) {
      event.parentRequestId = parent;
    }
    const deadline =
      parent === undefined ? request.deadline : this.#run((core) => core.deadline(id));
    for (const [name, value] of Object.entries({ deadline, idleTimeout, identity, metadata })) {
      if (value !== undefined) {
        event[name] = value;
      }
    }
    if (this.#served.has(parent)) {
      this.#nested.add(event);
    }
    const unsent = (error) =>
      this.#quietly(() => this.#settle(id, (waiter) => waiter.fail(mapError(error))));
    try {
      watch(this.#onEvent("call.requested", event), unsent);
    } catch (error) {
      unsent(error);
    }
  }

  /** Settles what waits here, then says so. Gives what the listener returned. */
  #respond(requestId, output) {
    const id = idOf(requestId, "requestId");
    if (!isResponseEnvelope(output)) {
      throw errorFor({ code: "invalid_arguments", reason: "not_an_envelope" });
    }
    const status = this.#input((core, now) => core.responded(id, now));
    this.#answered(id, status, output);
    this.#after(status);
    return this.#publish("call.responded", { requestId: id, output: onWire(output) });
  }

  #settle(id, end) {
    const status = this.#input((core, now) => core.settled(id, now));
    if ((status & SETTLED) !== 0) {
      end(this.#close(id).waiter);
    }
    this.#after(status);
  }

  #receive(type, event) {
    const { requestId, head, value } = readEvent(type, event);
    const status = this.#input((core, now) =>
      head === undefined ? core.malformed(requestId ?? "", now) : core.dispatch(type, head, now),
    );
    if (type === "call.responded") {
      this.#answered(requestId, status, value);
    } else if ((status & SETTLED) !== 0) {
      const { waiter } = this.#close(requestId);
      if (type === "call.error") {
        waiter.fail(errorOfEvent(JSON.parse(head), value));
      } else if (type === "call.aborted") {
        waiter.abort(undefined, true);
      } else {
        waiter.complete();
      }
    }
    this.#after(status);
  }

  #answered(id, status, envelope) {
    if ((status & SETTLED) !== 0) {
      this.#close(id).waiter.push(envelope);
    } else if ((status & ITEM) !== 0) {
      this.#open.get(id).waiter.push(envelope);
    }
  }

  /** Gives up what is open under an id, on either end, and all below it. */
  #giveUp(id) {
    this.#after(this.#input((core, now) => core.abort(id, now)));
  }

  #close(id) {
    const entry = this.#open.get(id);
    this.#open.delete(id);
    entry.unlisten();
    return entry;
  }

  /** What follows every input: requests that were given up settle, then the timer is set. */
  #after(status) {
    if ((status & HAS_ENDED) !== 0) {
      this.#takeEnded();
    }
    this.#arm();
  }

  #takeEnded() {
    // A listener may free the map.
    while (this.#core !== undefined) {
      const ended = this.#run((core) => core.takeEnded());
      if (ended === undefined) {
        return;
      }
      if (ended.served) {
        const onStop = this.#served.get(ended.id);
        this.#served.delete(ended.id);
        onStop(ended.cause === "aborted" ? undefined : errorOfEnded(ended));
        continue;
      }
      const { waiter, reason } = this.#close(ended.id);
      if (ended.cause === "aborted") {
        waiter.abort(reason);
      } else {
        waiter.fail(errorOfEnded(ended));
      }
      this.#tellAborted(ended.id);
    }
  }

  /** Nobody waits for how this goes: what a listener throws ends here. */
  #tellAborted(requestId) {
    try {
      watch(this.#onEvent("call.aborted", { requestId }), ignore);
    } catch {
      // The other side's deadlines are what is left.
    }
  }

  #publish(type, event) {
    const returned = this.#onEvent(type, event);
    watch(returned, ignore);
    return returned;
  }

  #time() {
    const now = this.#now();
    if (typeof now !== "number" || Number.isNaN(now)) {
      throw refused("now");
    }
    this.#last = now;
    return now;
  }

  #arm() {
    const due = this.#core === undefined ? undefined : this.#run((core) => core.nextDeadline());
    if (due === undefined) {
      clearTimeout(this.#timer);
      this.#timerAt = Infinity;
      return;
    }
    if (this.#timerAt > due) {
      clearTimeout(this.#timer);
      const delay = Math.min(Math.max(Math.ceil(due - this.#last), 1), MAX_TIMER_MS);
      this.#timerAt = Math.min(due, this.#last + delay);
      this.#timer = setTimeout(() => {
        this.#timerAt = Infinity;
        this.#quietly(() => this.#after(this.#input((core, now) => core.advance(now))));
      }, delay);
      this.#holdsProcess = true;
    }
    this.#hold(this.#open.size > 0);
  }

  /** Where somebody waits, the process lives to see the deadline; serving alone keeps none alive. */
  #hold(holds) {
    if (holds !== this.#holdsProcess && typeof this.#timer?.ref === "function") {
      this.#holdsProcess = holds;
      this.#timer[holds ? "ref" : "unref"]();
    }
  }

  /** For timers, signals and consumers, who are told otherwise: a trap has settled everything. */
  #quietly(action) {
    try {
      action();
    } catch {
      // Nothing is left to do.
    }
  }

  /** Tells the core something, at what time. The clock is the host's: it is read outside. */
  #input(action) {
    const now = this.#time();
    return this.#run((core) => action(core, now));
  }

  #run(action) {
    if (this.#freed) {
      throw freedError();
    }
    if (this.#core === undefined) {
      this.#enter();
    }
    const core = this.#core;
    return guard(this.#instance, () => action(core));
  }

  #enter() {
    const instance = mainInstance();
    const core = guard(instance, ({ Calls }) => new Calls(this.#maxPending));
    // Weak: the instance outlives maps that are forgotten.
    const self = typeof WeakRef === "function" ? new WeakRef(this) : { deref: () => this };
    const onRetire = (error) => self.deref()?.#leave(error, mapError(error));
    instance.onRetire.add(onRetire);
    this.#letGo = own(this, instance, core, () => instance.onRetire.delete(onRetire));
    this.#instance = instance;
    this.#core = core;
  }

  /**
   * What waits fails with an error; what is served is given up, and answered with `answer` if there
   * is one. The next use starts anew.
   */
  #leave(error, answer) {
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
    const open = [...this.#open.values()];
    const served = [...this.#served.values()];
    this.#open.clear();
    this.#served.clear();
    this.#core = undefined;
    this.#letGo?.();
    for (const { waiter, unlisten } of open) {
      unlisten();
      waiter.fail(error);
    }
    for (const onStop of served) {
      onStop(answer);
    }
  }

  /** Serves a request: gives how it was opened. `onStop` is called if it is given up. */
  #serve(id, head, onStop) {
    const status = this.#input((core, now) => core.serve(id, head, now));
    const opened = status & ~HAS_ENDED;
    // Whatever is wrong with a repetition, the first one is being answered.
    const repeats = opened === MALFORMED && this.#served.has(id);
    if (opened === OPEN) {
      this.#served.set(id, onStop);
    }
    this.#after(status);
    return repeats ? DUPLICATE : opened;
  }

  /** A served request is answered. False if it was given up, or is late. */
  #finish(id) {
    if (!this.#served.has(id)) {
      return false;
    }
    const status = this.#input((core, now) => core.finish(id, now));
    const isOpen = (status & ~HAS_ENDED) !== 0;
    if (isOpen) {
      this.#served.delete(id);
    }
    this.#after(status);
    return isOpen;
  }
}

disposable(PendingRequestMap);

export {
  DUPLICATE,
  MALFORMED,
  OPEN,
  PendingRequestMap,
  errorOfOpening,
  finishServing,
  isNested,
  sendResponse,
  serve,
};
