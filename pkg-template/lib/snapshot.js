/**
 * Owns the copy of a host's value as JSON text, rows R22 to R26. Invariant: no code of the value
 * runs (no accessor, no `toJSON`), every property is read once, and what cannot be copied exactly
 * is refused with a fixed reason. The walk keeps its own stack, so nesting costs no call stack.
 */

import { numberOf, refused } from "./arguments.js";
import { errorFor } from "./sentences.js";

/** R25: a message nests 128 containers; the arguments' root is the third. */
const ARGUMENTS_DEPTH = 126;

/** R24: what one copy may spend, unless told otherwise. */
const DEFAULT_BUDGET = 1_048_576;

/** An object or array being copied. `keys` is null for an array; descriptors go with the keys. */
class Frame {
  constructor(value, keys, descriptors, length) {
    this.value = value;
    this.keys = keys;
    this.descriptors = descriptors;
    this.length = length;
    this.next = 0;
    this.written = 0;
  }
}

/** Characters that stand for themselves between quotes. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A string as JSON; the common one needs no call into the engine's serialiser. */
function quoted(string) {
  return string.length < 64 && PLAIN.test(string) ? `"${string}"` : JSON.stringify(string);
}

/** Why a value is refused. Not an error: it needs no stack, and never leaves this module. */
class Refusal {
  constructor(reason) {
    this.reason = reason;
  }
}

/**
 * Copies a value.
 *
 * settings: `budget` (R24), `maxDepth` (nested containers), `omitUndefined` (members only),
 * `bigintDigits`, `omitSymbols`, `callDefaults` (functions as `default`, which TypeBox allows, are
 * called). Gives `{ text, bigints, called }`, the last two true if some number was a bigint and if a
 * function was called, or `{ fault: { reason, path } }` when the value is refused.
 */
function copyJson(root, settings) {
  return new Copy(settings).of(root);
}

/** UTF-16 units from which on a text is put aside: one that only grew would be a deep tree. */
const PART = 512;

/** Containers that are compared one by one; those nested deeper are kept in a set. */
const FEW = 8;

class Copy {
  constructor(settings) {
    this.settings = settings;
    this.left = settings.budget;
    this.bigints = false;
    this.called = false;
    this.frames = [];
    this.deep = undefined;
    this.parts = undefined;
    this.text = "";
  }

  of(root) {
    const { frames } = this;
    try {
      this.enter(root);
      while (frames.length > 0) {
        const frame = frames[frames.length - 1];
        if (frame.next === frame.length) {
          this.close(frame);
        } else if (frame.keys === null) {
          this.element(frame);
        } else {
          this.member(frame);
        }
      }
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) {
        throw thrown;
      }
      return { fault: { reason: thrown.reason, path: pathOf(frames) } };
    }
    const text = this.parts === undefined ? this.text : this.parts.join("") + this.text;
    return { text, bigints: this.bigints, called: this.called };
  }

  write(piece) {
    this.text += piece;
    if (this.text.length >= PART) {
      this.parts ??= [];
      this.parts.push(this.text);
      this.text = "";
    }
  }

  spend(amount) {
    this.left -= amount;
    if (this.left < 0) {
      throw new Refusal("expansion_budget");
    }
  }

  enter(value) {
    if (value === null) {
      this.spend(4);
      this.write("null");
    } else if (typeof value === "object") {
      this.open(value);
    } else {
      this.scalar(value);
    }
  }

  scalar(value) {
    switch (typeof value) {
      case "string":
        this.spend(value.length + 2);
        this.write(quoted(value));
        return;
      case "number": {
        const digits = `${value}`;
        this.spend(digits.length);
        if (!Number.isFinite(value)) {
          throw new Refusal("non_finite");
        }
        this.write(digits);
        return;
      }
      case "boolean":
        this.spend(value ? 4 : 5);
        this.write(value ? "true" : "false");
        return;
      case "bigint":
        if (this.settings.bigintDigits) {
          const digits = `${value}`;
          this.bigints = true;
          this.spend(digits.length);
          this.write(digits);
          return;
        }
    }
    this.spend(2);
    // undefined, function, symbol, and bigint unless digits are wanted.
    throw new Refusal(typeof value);
  }

  open(value) {
    const { frames } = this;
    this.spend(2);
    if (this.isWithin(value)) {
      throw new Refusal("cycle");
    }
    if (frames.length >= this.settings.maxDepth) {
      throw new Refusal("depth");
    }
    const frame = frameOf(value, this.settings.omitSymbols);
    if (frame.keys === null) {
      this.spend(Math.max(0, frame.length - 1));
    }
    if (frames.length >= FEW) {
      this.deep ??= new Set();
      this.deep.add(value);
    }
    frames.push(frame);
    this.write(frame.keys === null ? "[" : "{");
  }

  /** True for a container that is being copied. */
  isWithin(value) {
    const { frames } = this;
    for (let index = Math.min(frames.length, FEW) - 1; index >= 0; index -= 1) {
      if (frames[index].value === value) {
        return true;
      }
    }
    return frames.length > FEW && this.deep.has(value);
  }

  close(frame) {
    this.write(frame.keys === null ? "]" : "}");
    this.frames.pop();
    if (this.frames.length >= FEW) {
      this.deep.delete(frame.value);
    }
  }

  element(frame) {
    const index = frame.next++;
    if (index > 0) {
      this.write(",");
    }
    const descriptor = elementOf(frame.value, index);
    // A hole reads as undefined: never through a prototype.
    this.enter(descriptor === undefined ? undefined : dataOf(descriptor));
  }

  member(frame) {
    const index = frame.next++;
    const key = frame.keys[index];
    let value = dataOf(frame.descriptors[index]);
    if (this.settings.callDefaults && key === "default" && typeof value === "function") {
      this.called = true;
      value = resultOf(value);
    }
    if (value === undefined && this.settings.omitUndefined) {
      return;
    }
    this.spend(key.length + (frame.written === 0 ? 3 : 4));
    this.write(`${frame.written === 0 ? "" : ","}${quoted(key)}:`);
    frame.written += 1;
    this.enter(value);
  }
}

/** What a value's traps throw becomes a refusal. */
function frameOf(value, omitSymbols) {
  try {
    return openFrame(value, omitSymbols);
  } catch (thrown) {
    throw thrown instanceof Refusal ? thrown : new Refusal("threw_when_read");
  }
}

function resultOf(callable) {
  try {
    return callable();
  } catch {
    throw new Refusal("threw_when_read");
  }
}

function elementOf(array, index) {
  try {
    return Reflect.getOwnPropertyDescriptor(array, index);
  } catch {
    throw new Refusal("threw_when_read");
  }
}

function openFrame(value, omitSymbols) {
  if (Array.isArray(value)) {
    const length = value.length;
    if (!Number.isInteger(length) || length < 0 || length > 0xffff_ffff) {
      throw new Refusal("threw_when_read");
    }
    return new Frame(value, null, null, length);
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Refusal("prototype");
  }
  // One listing, and one reading of each property: a proxy gets no second chance to answer.
  const keys = [];
  const descriptors = [];
  for (const key of Reflect.ownKeys(value)) {
    const descriptor = Reflect.getOwnPropertyDescriptor(value, key);
    if (descriptor?.enumerable) {
      if (typeof key === "symbol") {
        if (omitSymbols) {
          continue;
        }
        throw new Refusal("symbol_key");
      }
      keys.push(key);
      descriptors.push(descriptor);
    }
  }
  return new Frame(value, keys, descriptors, keys.length);
}

function dataOf(descriptor) {
  if (!Object.hasOwn(descriptor, "value")) {
    throw new Refusal("accessor");
  }
  return descriptor.value;
}

/** Where the walk stands, in the notation of R23. For the host alone. */
function pathOf(frames) {
  let path = "arguments";
  for (const frame of frames) {
    if (frame.next > 0) {
      path += frame.keys === null ? `[${frame.next - 1}]` : `.${frame.keys[frame.next - 1]}`;
    }
  }
  return path;
}

function snapshotJson(value, options = undefined) {
  const {
    maxBytes = DEFAULT_BUDGET,
    root = "object",
    undefinedMembers = "refuse",
    bigint = "refuse",
  } = settingsOf(options);
  const copy = copyJson(value, {
    budget: numberOf(maxBytes, "maxBytes"),
    maxDepth: ARGUMENTS_DEPTH,
    omitUndefined: oneOf(undefinedMembers, ["refuse", "omit"], "undefinedMembers") === "omit",
    bigintDigits: oneOf(bigint, ["refuse", "digits"], "bigint") === "digits",
  });
  oneOf(root, ["object", "any"], "root");
  const fault = copy.fault ?? (root === "object" ? rootFault(copy.text) : undefined);
  if (fault !== undefined) {
    throw refusalError(fault);
  }
  return copy.text;
}

/** The options, each read once. One that throws when it is read is refused. */
function settingsOf(options) {
  const settings = {};
  for (const name of ["maxBytes", "root", "undefinedMembers", "bigint"]) {
    try {
      settings[name] = options?.[name] ?? undefined;
    } catch {
      throw refused(name);
    }
  }
  return settings;
}

function oneOf(value, words, option) {
  if (!words.includes(value)) {
    throw refused(option);
  }
  return value;
}

/** R26: the root must be an object. Reported only when the whole value can be copied. */
function rootFault(text) {
  return text[0] === "{" ? undefined : { reason: "args_root_not_object", path: "arguments" };
}

/** The slug of a refusal: which rule, with the private detail left to `fault`. */
function refusalReason(fault) {
  return fault.reason === "args_root_not_object" ? fault.reason : "args_not_json";
}

function refusalError(fault) {
  return errorFor({ code: "protocol_error", reason: refusalReason(fault), private: fault });
}

export { ARGUMENTS_DEPTH, DEFAULT_BUDGET, copyJson, refusalReason, rootFault, snapshotJson };
