/**
 * Owns `CallError`, what a call of an operation fails with, and how anything thrown becomes one.
 * Invariant: `details` is JSON, a copy of its own, whatever was given; what was thrown stays in
 * `cause`, which is not enumerable and crosses no wire. Codes and their meaning are the core's.
 */

import { guard, mainInstance } from "./core.js";
import { ToolwireError } from "./errors.js";
import { hasBrand } from "./redacted.js";
import { copyJson } from "./snapshot.js";

const BRAND = Symbol.for("toolwire.call-error");

/** Errors made here: what merely bears the brand may be anything. */
const made = new WeakSet();

/** What the details of one error may spend when they are copied. */
const DETAILS = { budget: 16_777_216, maxDepth: 512, omitUndefined: true, bigintDigits: false };

/** Members and elements of a value that is shown though it is no JSON; a hole counts as one. */
const MAX_SHOWN = 1_048_576;

class CallError extends Error {
  /** Takes one object, or code, message, details and whether a retry can help. */
  constructor(init, message, details, retryable) {
    const given =
      typeof init === "object" && init !== null ? init : { code: init, message, details, retryable };
    const code = textFor(given.code);
    super(given.message === undefined ? code : textFor(given.message));
    made.add(this);
    this.code = code;
    this.retryable = given.retryable === undefined ? isRetryable(code) : given.retryable === true;
    const copy = jsonOf(given.details);
    if (copy !== undefined) {
      this.details = copy;
    }
    if (given.cause !== undefined) {
      Object.defineProperty(this, "cause", {
        value: given.cause,
        configurable: true,
        writable: true,
      });
    }
  }

  toJSON() {
    const { code, message, retryable } = this;
    const details = jsonOf(this.details);
    return details === undefined
      ? { code, message, retryable }
      : { code, message, retryable, details };
  }

  static fromJSON({ code, message, retryable, details }) {
    return new CallError({ code, message, retryable, details });
  }

  /** The codes that any call may end with; others are an operation's own. */
  static get codes() {
    return guard(mainInstance(), (glue) => glue.callCodes());
  }

  static [Symbol.hasInstance](value) {
    if (this !== CallError) {
      return Function.prototype[Symbol.hasInstance].call(this, value);
    }
    return hasBrand(value, BRAND);
  }
}

Object.defineProperty(CallError.prototype, "name", {
  value: "CallError",
  configurable: true,
  writable: true,
});
Object.defineProperty(CallError.prototype, BRAND, { value: true });

/** Before there is a core the error still is one: it only claims nothing about a retry. */
function isRetryable(code) {
  try {
    return guard(mainInstance(), (glue) => glue.isRetryableCode(code));
  } catch {
    return false;
  }
}

/** The code as callers of the gateway see it. */
function gatewayCode(code) {
  return guard(mainInstance(), (glue) => glue.gatewayCode(code));
}

/** What was thrown, as a call error; `errorSchemas` are the operation's declared errors. */
function mapError(error, errorSchemas) {
  if (error instanceof CallError) {
    return made.has(error) ? error : ofOtherCopy(error);
  }
  if (error instanceof ToolwireError) {
    return ofSessionError(error);
  }
  if (isError(error)) {
    return ofException(error, errorSchemas);
  }
  const raw = textFor(error);
  return new CallError({ code: "UNKNOWN_ERROR", message: raw, details: { raw }, cause: error });
}

/** An error of another copy of this package, or what claims to be one. */
function ofOtherCopy(error) {
  const members = {};
  for (const name of ["code", "message", "retryable", "details"]) {
    members[name] = memberOf(error, name);
  }
  return new CallError({ ...members, cause: error });
}

/** A session's failure: its facts are details, its sentence quotes nothing that a server wrote. */
function ofSessionError(error) {
  const [theirs, reason, message] = ["code", "reason", "message"].map((name) =>
    textFor(memberOf(error, name) ?? ""),
  );
  const unsent = memberOf(error, "retryable") === true;
  const { code, retryable } = guard(mainInstance(), (glue) =>
    glue.codeOfSessionError(theirs, reason, unsent),
  );
  const details = jsonOf(error);
  for (const member of ["name", "message", "retryable"]) {
    delete details?.[member];
  }
  return new CallError({ code, message, retryable, details, cause: error });
}

/** An exception: the declared code that its message names, else a failure of the handler. */
function ofException(error, errorSchemas) {
  const message = textFor(memberOf(error, "message") ?? "");
  const declared = declaredCodes(errorSchemas);
  const index =
    declared.length === 0
      ? undefined
      : guard(mainInstance(), (glue) => glue.declaredCode(message, declared));
  return new CallError({
    code: declared[index] ?? "EXECUTION_ERROR",
    message,
    details: memberOf(error, "details") ?? { name: textFor(memberOf(error, "name") ?? "Error") },
    cause: error,
  });
}

function declaredCodes(errorSchemas) {
  if (!Array.isArray(errorSchemas)) {
    return [];
  }
  return errorSchemas.map((declared) => memberOf(declared, "code")).filter(isString);
}

function isString(value) {
  return typeof value === "string";
}

function isError(value) {
  try {
    return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
  } catch {
    // A proxy that refuses to be looked at is nothing we know.
    return false;
  }
}

/** A member that may be hostile to read. */
function memberOf(value, name) {
  try {
    return value?.[name];
  } catch {
    return undefined;
  }
}

const NO_TEXT = "a value that cannot be shown as text";

/** Any value as text. */
function textFor(value) {
  try {
    return isVast(value) ? NO_TEXT : String(value);
  } catch {
    return NO_TEXT;
  }
}

/** Whether arrays have so many elements, counted as often as they are met, that no text is made of them. */
function isVast(value) {
  const open = Array.isArray(value) ? [value] : [];
  let left = MAX_SHOWN;
  for (let array = open.pop(); array !== undefined; array = open.pop()) {
    const { length } = array;
    left -= length + 1;
    if (left < 0) {
      return true;
    }
    for (let index = 0; index < length; index += 1) {
      if (Array.isArray(array[index])) {
        open.push(array[index]);
      }
    }
  }
  return false;
}

/**
 * Any value as JSON of its own: exactly if it is JSON, else as `JSON.stringify` shows it, bigints
 * as digits; an error as its name and message; what cannot be shown at all as text.
 */
function jsonOf(value) {
  if (value === undefined) {
    return undefined;
  }
  const isOurs = value instanceof ToolwireError || value instanceof CallError;
  if (!isOurs && isError(value)) {
    const [name, message] = ["name", "message"].map((member) => textFor(memberOf(value, member)));
    return { name, message };
  }
  const { text } = copyJson(value, DETAILS);
  if (text !== undefined) {
    return JSON.parse(text);
  }
  let left = MAX_SHOWN;
  let characters = DETAILS.budget;
  try {
    const shown = JSON.stringify(value, (_, member) => {
      left -= 1;
      characters -= typeof member === "string" ? member.length : 0;
      if (left < 0 || characters < 0) {
        throw new RangeError("too much to show");
      }
      return typeof member === "bigint" ? `${member}` : isError(member) ? jsonOf(member) : member;
    });
    return shown === undefined ? textFor(value) : JSON.parse(shown);
  } catch {
    return textFor(value);
  }
}

export { CallError, gatewayCode, isError, jsonOf, mapError, memberOf };
