/**
 * Owns how an event of the call protocol is read. Invariants: no accessor of the event runs, every
 * member is read once, and what is no object, throws when it is read, or hides members behind
 * accessors has no head. The core judges heads; values of operations are handed on as they are.
 */

import { copyJson } from "./snapshot.js";

/** What the head of one event may spend: identities, and the `meta` of an MCP tool's envelope. */
const HEAD = { budget: 134_217_728, maxDepth: 65_536, omitUndefined: true, bigintDigits: false };

const REQUESTED = ["operationId", "parentRequestId", "deadline", "idleTimeout", "identity"];
const ERROR = ["code", "message", "retryable"];

/** Thrown when a member is an accessor; never leaves this module. */
const UNREADABLE = Symbol("unreadable");

/** An own data member of an object of somebody else's. */
function ownMember(object, name) {
  const descriptor = Reflect.getOwnPropertyDescriptor(object, name);
  if (descriptor === undefined) {
    return undefined;
  }
  if (!Object.hasOwn(descriptor, "value")) {
    throw UNREADABLE;
  }
  return descriptor.value;
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

/**
 * Reads an event of a kind: `{ requestId, head, value }`. `requestId` is undefined unless it is
 * text, `head` is the JSON text for the core, undefined if the event cannot be read; `value` is
 * `input`, `output` or `details`.
 */
function readEvent(type, event) {
  const read = { requestId: undefined, head: undefined, value: undefined, metadata: undefined };
  if (!isObject(event)) {
    return read;
  }
  try {
    const requestId = ownMember(event, "requestId");
    if (typeof requestId === "string") {
      read.requestId = requestId;
    }
    const head = { requestId };
    switch (type) {
      case "call.requested":
        copyMembers(event, REQUESTED, head);
        // What tracing and the like put there is the handler's own; the core asks for an object.
        read.metadata = ownMember(event, "metadata");
        head.metadata = isObject(read.metadata) && !Array.isArray(read.metadata) ? {} : read.metadata;
        read.value = ownMember(event, "input");
        break;
      case "call.responded":
        read.value = ownMember(event, "output");
        head.output = headOfOutput(read.value);
        break;
      case "call.error":
        copyMembers(event, ERROR, head);
        read.value = ownMember(event, "details");
    }
    read.head = copyJson(head, HEAD).text;
  } catch {
    // A proxy that refuses to be read, or an accessor: the id alone may be known.
  }
  return read;
}

function copyMembers(event, names, head) {
  for (const name of names) {
    head[name] = ownMember(event, name);
  }
}

/** An envelope without its data, which nobody looks at. */
function headOfOutput(output) {
  if (!isObject(output) || Array.isArray(output) || !Object.hasOwn(output, "data")) {
    return undefined;
  }
  ownMember(output, "data");
  return { data: null, meta: ownMember(output, "meta") };
}

/** An envelope as it crosses a wire, where there is no `undefined`. */
function onWire(envelope) {
  return envelope.data === undefined ? { data: null, meta: envelope.meta } : envelope;
}

/**
 * Why a value cannot cross a wire as JSON; undefined if it can. Members that are undefined are left
 * out, elements read as null, `toJSON` counts.
 */
function wireFault(value) {
  if (value === undefined) {
    return undefined;
  }
  const { fault } = copyJson(value, HEAD);
  if (fault === undefined) {
    return undefined;
  }
  if (!["prototype", "undefined", "accessor", "symbol_key"].includes(fault.reason)) {
    return fault.reason;
  }
  // The host's own classes and holes: exactly what its transport will make of them.
  let reason;
  try {
    JSON.stringify(value, (_, member) => {
      if (typeof member === "function" || typeof member === "symbol" || isNotFinite(member)) {
        reason = typeof member === "number" ? "non_finite" : typeof member;
        throw UNREADABLE;
      }
      return member;
    });
    return undefined;
  } catch {
    return reason ?? "threw_when_read";
  }
}

function isNotFinite(value) {
  return typeof value === "number" && !Number.isFinite(value);
}

export { onWire, readEvent, wireFault };
