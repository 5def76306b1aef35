/**
 * Owns the check of single arguments before they cross into the core. Invariant: numbers, strings
 * and bytes alone cross. Anything else would run code of the host's while wasm runs, or make the
 * bindings throw there, which looks like a trap and would cost the instance.
 */

import { errorFor } from "./sentences.js";

/** Tells typed arrays apart, those of other realms too, and runs no code of theirs. */
const typedArrayName = Reflect.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
).get;

function numberOf(value, option) {
  if (typeof value !== "number") {
    throw refused(option);
  }
  return value;
}

/** A string; other primitives by their text. */
function textOf(value, option) {
  if (typeof value === "string") {
    return value;
  }
  if (!isPlain(value) && typeof value !== "bigint") {
    throw refused(option);
  }
  return `${value}`;
}

function isBytes(value) {
  return typedArrayName.call(value) === "Uint8Array";
}

function bytesOf(value, option) {
  if (!isBytes(value)) {
    throw refused(option);
  }
  return value;
}

/** Options once read: refuses the first that is no plain value. */
function plainOptions(picked, code = "invalid_arguments") {
  for (const [option, value] of Object.entries(picked)) {
    if (!isPlain(value)) {
      throw refused(option, code);
    }
  }
  return picked;
}

/** The signal of an options object; `null` is none. */
function signalOf(options) {
  const signal = options?.signal ?? undefined;
  if (signal !== undefined && typeof signal.addEventListener !== "function") {
    throw refused("signal");
  }
  return signal;
}

function isPlain(value) {
  return value === null || ["undefined", "boolean", "number", "string"].includes(typeof value);
}

function refused(option, code = "invalid_arguments") {
  return errorFor({ code, reason: "option_invalid", option });
}

export { bytesOf, isBytes, numberOf, plainOptions, refused, signalOf, textOf };
