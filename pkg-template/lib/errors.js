/**
 * Owns `ToolwireError`, the one error type the package throws. Invariant: own enumerable members
 * and the message hold only our own words, numbers and the host's own names; what a peer sent is in
 * `private`, a `Redacted` that is not enumerable.
 */

import { Redacted, hasBrand, redactedLazily } from "./redacted.js";

const BRAND = Symbol.for("toolwire.error");

/** Members beside code, reason, server and retryable, in the order they are printed. */
const FACTS = [
  "rpcCode",
  "exitCode",
  "option",
  "method",
  "ms",
  "limit",
  "index",
  "at",
  "supported",
  "status",
  "target",
  "variable",
  "operation",
];

class ToolwireError extends Error {
  constructor(init) {
    super(init.message === undefined ? init.code : String(init.message));
    this.code = init.code;
    if (init.reason !== undefined) {
      this.reason = init.reason;
    }
    if (init.server !== undefined) {
      this.server = init.server;
    }
    this.retryable = init.retryable === true;
    for (const fact of FACTS) {
      if (init[fact] !== undefined) {
        this[fact] = init[fact];
      }
    }
    let detail = init.private;
    if (detail !== undefined && !(detail instanceof Redacted)) {
      detail = new Redacted(detail);
    }
    Object.defineProperty(this, "private", {
      value: detail,
      enumerable: false,
      configurable: true,
      writable: true,
    });
  }

  toJSON() {
    return { name: "ToolwireError", message: this.message, ...this };
  }

  static fromJSON(json) {
    const init = { code: json.code, message: json.message };
    for (const member of ["reason", "server", "retryable", ...FACTS]) {
      if (json[member] !== undefined) {
        init[member] = json[member];
      }
    }
    return new ToolwireError(init);
  }

  static [Symbol.hasInstance](value) {
    if (this !== ToolwireError) {
      return Function.prototype[Symbol.hasInstance].call(this, value);
    }
    return hasBrand(value, BRAND);
  }
}

Object.defineProperty(ToolwireError.prototype, "name", {
  value: "ToolwireError",
  configurable: true,
  writable: true,
});
Object.defineProperty(ToolwireError.prototype, BRAND, { value: true });

/** The error for what the core threw: a plain object of facts and a JSON text for `private`. */
function errorOfCore(fault) {
  const { facts, private: detail, ...rest } = fault;
  const init = { ...rest, ...facts };
  if (detail !== undefined) {
    init.private = redactedLazily(() => JSON.parse(detail));
  }
  return new ToolwireError(init);
}

/** True for what the core throws on purpose, as against a trap or a fault of the glue. */
function isCoreFault(thrown) {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    !(thrown instanceof Error) &&
    typeof thrown.code === "string" &&
    typeof thrown.message === "string"
  );
}

/** Why a wasm instance is no longer used; `note` is what its panic hook left. */
function trappedError(note) {
  return new ToolwireError({
    code: "core_trapped",
    reason: "core_trapped",
    message: "The WebAssembly instance failed and was retired",
    private: note,
  });
}

export { ToolwireError, errorOfCore, isCoreFault, trappedError };
