/**
 * Owns the serving side of the call protocol: one `call.requested` in, its operation run by the
 * registry, its answer out. Invariants: with a map every request is answered once or, when it was
 * given up for its caller, not at all, and the handler never rejects; an operation learns by its
 * signal that nobody waits any more, and is not waited for either.
 */

import { refused } from "./arguments.js";
import { readEvent, wireFault } from "./call-event.js";
import { CallError, mapError } from "./call-error.js";
import { guard, mainInstance } from "./core.js";
import { randomId } from "./ids.js";
import { doorOf } from "./doors.js";
import { pick } from "./options.js";
import {
  DUPLICATE,
  MALFORMED,
  OPEN,
  PendingRequestMap,
  errorOfOpening,
  finishServing,
  isNested,
  sendResponse,
  serve,
} from "./pending.js";
import { OperationRegistry } from "./registry.js";
import { SLICE_MS, nextTask, now } from "./slices.js";

const MAP_METHODS = ["respond", "emitError", "complete"];
const REGISTRY_METHODS = ["getSpec", "execute", "subscribe"];

/** What a race gives when the request was given up first. */
const STOPPED = Symbol("stopped");

/** A request that is served: whether it was given up, and why. */
class Serving {
  #controller = new AbortController();
  #wake;
  isStopped = false;
  /** What the caller is to be told; undefined if the caller gave up. */
  error;

  get signal() {
    return this.#controller.signal;
  }

  stop(error) {
    this.isStopped = true;
    this.error = error;
    this.#wake?.(STOPPED);
    this.#controller.abort(
      error ?? new CallError({ code: "ABORTED", message: "the request was aborted" }),
    );
  }

  /** A promise's outcome, or `STOPPED`; what comes of the promise later is nobody's concern. */
  race(promise) {
    return new Promise((resolve, reject) => {
      if (this.isStopped) {
        resolve(STOPPED);
      } else {
        this.#wake = resolve;
      }
      Promise.resolve(promise).then(resolve, reject);
    });
  }
}

function buildCallHandler(config) {
  const { registry, callMap } = pick(config, ["registry", "callMap"]);
  demandMethods(registry, REGISTRY_METHODS, "registry");
  if (callMap === undefined) {
    const open = new PendingRequestMap();
    return (event) => answer(registry, open, event);
  }
  demandMethods(callMap, MAP_METHODS, "callMap");
  // What is open in another copy's map cannot be asked for; deadlines hold all the same.
  const open = callMap instanceof PendingRequestMap ? callMap : new PendingRequestMap();
  return (event) => publish(registry, callMap, open, event);
}

function demandMethods(object, methods, option) {
  if (!methods.every((method) => typeof object?.[method] === "function")) {
    throw refused(option);
  }
}

/** Without a map: gives the envelope, or throws a `CallError`. */
async function answer(registry, open, event) {
  const request = requestOf(event);
  const serving = new Serving();
  // Nobody else knows of this request: two may have one id.
  const key = randomId();
  begin(open, key, request, serving);
  try {
    const envelope = await serving.race(execute(registry, request, serving));
    if (serving.isStopped) {
      throw serving.error;
    }
    return envelope;
  } catch (error) {
    throw errorOf(registry, request, error);
  } finally {
    finishServing(open, key);
  }
}

/** With a map: publishes, and never rejects. */
async function publish(registry, callMap, open, event) {
  const request = requestOf(event);
  // What an operation served here calls through `env`: hidden operations are known to it.
  request.isNested = isNested(open, event);
  const serving = new Serving();
  try {
    if (begin(open, request.id, request, serving) === DUPLICATE) {
      // Transports that deliver at least once do so; the first is being answered.
      return;
    }
  } catch (error) {
    emit(callMap, request.id, mapError(error));
    return;
  }
  let failure;
  try {
    await run(registry, callMap, open, request, serving);
  } catch (error) {
    failure = errorOf(registry, request, error);
    finishServing(open, request.id);
  }
  const error = serving.isStopped ? serving.error : failure;
  if (error !== undefined) {
    emit(callMap, request.id, error);
  }
}

/** Throws what the operation, or sending its answer, threw. A request that is given up just ends. */
async function run(registry, callMap, open, request, serving) {
  if (specOf(registry, request)?.type === "subscription") {
    await stream(registry, callMap, open, request, serving);
    if (finishServing(open, request.id)) {
      callMap.complete(request.id);
    }
    return;
  }
  const envelope = await serving.race(execute(registry, request, serving));
  if (!serving.isStopped) {
    demandJson(envelope, request);
    if (finishServing(open, request.id)) {
      callMap.respond(request.id, envelope);
    }
  }
}

/** Responds for each item, no faster than the transport takes them, if it says so. */
async function stream(registry, callMap, open, request, serving) {
  const { operationId, input } = request;
  const items = registry.subscribe(operationId, input, contextOf(request, serving));
  const iterator = items[Symbol.asyncIterator]();
  let end = now() + SLICE_MS;
  try {
    for (;;) {
      if (now() >= end) {
        // A producer that never waits would let no timer, abort or other request run.
        await serving.race(new Promise(nextTask));
        end = now() + SLICE_MS;
      }
      const { done, value } = await serving.race(iterator.next());
      if (done || serving.isStopped) {
        return;
      }
      demandJson(value, request);
      const sent =
        callMap === open
          ? sendResponse(open, request.id, value)
          : callMap.respond(request.id, value);
      if (typeof sent?.then === "function") {
        await serving.race(sent);
      }
    }
  } finally {
    leave(iterator);
  }
}

/** Closes the producer. It may be deep in something that never settles: nobody waits for it. */
function leave(iterator) {
  try {
    Promise.resolve(iterator.return?.()).catch(() => {});
  } catch {
    // An iterator that cannot be closed is left.
  }
}

/** Opens a request on this end; throws what it is refused with. */
function begin(open, key, request, serving) {
  const { head, deadline } = request;
  const status = serve(open, key ?? "", head ?? "null", (error) => serving.stop(error));
  if (status === MALFORMED) {
    const at =
      head === undefined
        ? ""
        : guard(mainInstance(), (glue) => glue.eventFault("call.requested", head));
    const message = "the request is malformed";
    throw new CallError({ code: "VALIDATION_ERROR", message, details: { at } });
  }
  if (status !== OPEN && status !== DUPLICATE) {
    throw errorOfOpening(status, { deadline });
  }
  return status;
}

/** What an event asks for, as far as it can be read. Its head counts as the core reads it. */
function requestOf(event) {
  const { requestId, head, value, metadata } = readEvent("call.requested", event);
  const request = head === undefined ? {} : JSON.parse(head);
  request.id = requestId;
  request.input = value;
  request.metadata = metadata;
  request.head = head;
  return request;
}

function execute(registry, request, serving) {
  const { operationId, input, identity, isNested: isInside } = request;
  const context = contextOf(request, serving);
  return isInside && registry instanceof OperationRegistry
    ? doorOf(registry).executeInside(operationId, input, context, identity ?? undefined)
    : registry.execute(operationId, input, context);
}

/**
 * What the operation is told of the request. An identity is always named, be it undefined: who
 * sends an event is a caller from outside, and nothing in an event makes it trusted.
 */
function contextOf(request, serving) {
  const context = { requestId: request.id, identity: request.identity ?? undefined };
  for (const name of ["parentRequestId", "metadata", "deadline"]) {
    const value = request[name];
    if (value !== undefined && value !== null) {
      context[name] = value;
    }
  }
  context.signal = serving.signal;
  return context;
}

function specOf(registry, { operationId }) {
  return registry.getSpec(operationId);
}

/** What went wrong, by the errors that the operation declares. */
function errorOf(registry, request, error) {
  let declared;
  try {
    declared = specOf(registry, request)?.errorSchemas;
  } catch {
    // A registry that cannot be asked declares nothing.
  }
  return mapError(error, declared);
}

/** An envelope leaves as an event, and events are JSON. */
function demandJson(envelope, { operationId }) {
  const reason = wireFault(envelope?.data);
  if (reason !== undefined) {
    throw new CallError({
      code: "EXECUTION_ERROR",
      message: "the operation returned what is not JSON data",
      details: { operationId, reason },
    });
  }
}

/** The last thing done for a request: if the transport refuses this too, nothing is left to say. */
function emit(callMap, id, { code, message, details, retryable }) {
  try {
    callMap.emitError(id, code, message, details, retryable);
  } catch {
    // Nor is there anybody to say it to without an id.
  }
}

export { buildCallHandler };
