/**
 * Owns `Redacted`: a box for what may not be printed by accident. Invariant: nothing but `reveal()`
 * gives the value; printing, inspecting, serialising, cloning and coercing see `<redacted>` or
 * nothing. The value lives in a WeakMap, because debuggers and consoles show private fields.
 */

const BRAND = Symbol.for("toolwire.redacted");
const INSPECT = Symbol.for("nodejs.util.inspect.custom");
const MASK = "<redacted>";

const readers = new WeakMap();

class Redacted {
  constructor(value) {
    readers.set(this, () => value);
  }

  reveal() {
    return readers.get(this)();
  }

  toString() {
    return MASK;
  }

  toJSON() {
    return MASK;
  }

  valueOf() {
    return MASK;
  }

  [Symbol.toPrimitive]() {
    return MASK;
  }

  [INSPECT]() {
    return MASK;
  }

  get [Symbol.toStringTag]() {
    return "Redacted";
  }

  static [Symbol.hasInstance](value) {
    if (this !== Redacted) {
      return Function.prototype[Symbol.hasInstance].call(this, value);
    }
    return hasBrand(value, BRAND);
  }
}

Object.defineProperty(Redacted.prototype, BRAND, { value: true });

/** A box whose value is made when it is first asked for. */
function redactedLazily(make) {
  const box = new Redacted(undefined);
  let made = false;
  let value;
  readers.set(box, () => {
    if (!made) {
      value = make();
      made = true;
    }
    return value;
  });
  return box;
}

/** True for an object that carries a brand of ours, from whatever copy, version or realm. */
function hasBrand(value, brand) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) {
    return false;
  }
  try {
    return value[brand] === true;
  } catch {
    // A proxy that throws, or was revoked, is nothing of ours.
    return false;
  }
}

export { Redacted, hasBrand, redactedLazily };
