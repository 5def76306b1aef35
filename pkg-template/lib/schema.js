/**
 * Owns `Schema` and the ways to make one. Invariants: a schema keeps its text, so that it compiles
 * itself anew when the instance that held it trapped; a judgement works on the text that was given
 * or copied when it was called, and on nothing the host can change later; schemas of the same text
 * and options share what was compiled, which is freed with the last of them.
 */

import { isBytes, numberOf, plainOptions, refused, textOf } from "./arguments.js";
import { disposable, guard, mainInstance, own, release } from "./core.js";
import { parseJson } from "./json.js";
import { documentText, pick, schemaCopy, wellFormed } from "./options.js";
import { copyJson } from "./snapshot.js";
import { abortedError, errorFor, freedError } from "./sentences.js";
import { inSlices } from "./slices.js";
import { standardOf } from "./standard.js";
import { verdictOf } from "./verdict.js";

const OPTIONS = [
  "dialect",
  "keywords",
  "formats",
  "duplicateKeys",
  "maxDepth",
  "maxErrors",
  "maxSteps",
  "maxSubschemas",
  "maxSchemaBytes",
];

/** `SchemaOptions.maxDepth` when none is given. */
const DEFAULT_DEPTH = 512;

/** How much of a text is copied into the core at a time, so that copying yields too. */
const PIECE_LENGTH = 262_144;

const encoder = new TextEncoder();
const latin1 = new TextDecoder("latin1");

/** Copies of values for casting; the core has a limit of its own on their nesting. */
const CAST_COPY = { budget: 134_217_728, maxDepth: 65_536, omitUndefined: true, bigintDigits: true };

/**
 * What is compiled and in use, by text and options. Finalizers do not run while a program goes on
 * without a pause: one that compiles the same schema for each call would fill the memory.
 */
const inUse = new Map();

/** What a schema holds, for this package alone. */
let heldBy;

/** Lets only this module make schemas. */
const MAKE = Symbol("make");

class Schema {
  #prepared;
  #handle;
  #facts;
  #standard;

  static {
    heldBy = (schema) => ({
      ...schema.#live(),
      native: schema.#prepared.native,
      renew: schema.#prepared.renew,
    });
  }

  constructor(key, prepared, handle) {
    if (key !== MAKE) {
      throw new TypeError("a Schema is made by compileSchema");
    }
    this.#prepared = prepared;
    this.#keep(handle);
  }

  isValid(value) {
    return this.#judge(this.#copy(value)) === undefined;
  }

  validate(value) {
    return verdictOf(this.#judge(this.#copy(value)));
  }

  validateJson(text) {
    return verdictOf(this.#judge(jsonText(text)));
  }

  async validateAsync(value, options) {
    return this.#judgeInSlices(this.#copy(value), options);
  }

  async validateJsonAsync(text, options) {
    return this.#judgeInSlices(jsonText(text), options);
  }

  cast(value, options) {
    const { mode = "cast", maxMadeBytes } = castOptions(options, ["mode", "maxMadeBytes"]);
    const named = textOf(mode, "mode");
    return this.#change(value, (compiled, bytes) =>
      compiled.cast(bytes, named, this.#prepared.native, maxMadeBytes),
    );
  }

  applyDefaults(value, options) {
    const { maxMadeBytes } = castOptions(options, ["maxMadeBytes"]);
    return this.#change(value, (compiled, bytes) => compiled.applyDefaults(bytes, maxMadeBytes));
  }

  get "~standard"() {
    this.#standard ??= standardOf(this);
    return this.#standard;
  }

  get dialect() {
    return this.#facts.dialect;
  }

  get problems() {
    return this.#facts.problems;
  }

  free() {
    this.#handle?.release();
    this.#handle = null;
  }

  /** What the core holds of this schema, compiled anew if its instance trapped. */
  #live() {
    if (this.#handle === null) {
      throw freedError();
    }
    if (this.#handle.instance.failure !== undefined) {
      this.#handle.release();
      this.#keep(sharedOrCompiled(this.#prepared));
    }
    return this.#handle;
  }

  #keep(shared) {
    const { instance, compiled, facts } = shared;
    shared.users += 1;
    this.#handle = { instance, compiled, release: own(this, instance, userOf(shared)) };
    this.#facts = facts;
  }

  #copy(value) {
    return documentText(value, undefined, this.#prepared.picked.maxDepth ?? DEFAULT_DEPTH);
  }

  /** What an action of the core makes of a value: the very value if it changes nothing. */
  #change(value, action) {
    const held = this.#live();
    const copy = value === undefined ? {} : copyJson(value, CAST_COPY);
    if (copy.fault !== undefined) {
      throw errorFor({ code: "invalid_arguments", reason: "not_json", private: copy.fault });
    }
    const bytes = copy.text === undefined ? undefined : encoder.encode(copy.text);
    const { renew, picked } = this.#prepared;
    const { instance, compiled } = renew === undefined ? held : compileNow(renew(), picked);
    try {
      const out = guard(instance, () => action(compiled, bytes));
      return out === undefined
        ? { value, changes: [] }
        : { value: madeValue(out.text, copy.bigints), changes: out.changes };
    } finally {
      if (renew !== undefined) {
        release(instance, compiled);
      }
    }
  }

  #judge(text) {
    const { instance, compiled } = this.#live();
    const bytes = bytesOf(text);
    return guard(instance, () => compiled.judge(bytes));
  }

  async #judgeInSlices(text, options) {
    const { instance, compiled } = this.#live();
    const judging = guard(instance, () => compiled.start(text.length));
    const pieces = piecesOf(text);
    const step = (steps) => {
      const piece = pieces.next().value;
      if (piece !== undefined) {
        guard(instance, () => judging.push(piece));
        return undefined;
      }
      const outcome = guard(instance, () => judging.step(steps));
      return outcome === false ? undefined : { outcome };
    };
    try {
      const { outcome } = await inSlices(step, options?.signal, abortedError);
      return verdictOf(outcome);
    } finally {
      release(instance, judging);
    }
  }
}

disposable(Schema);

function castOptions(options, names) {
  const picked = plainOptions(pick(options, names));
  if (picked.maxMadeBytes !== undefined) {
    numberOf(picked.maxMadeBytes, "maxMadeBytes");
  }
  return picked;
}

/** The value of a text that the core made; integers stay bigints if there were any. */
function madeValue(text, bigints) {
  return text === undefined ? undefined : parseJson(text, bigints ? "bigint" : "number");
}

function compileSchema(schema, options) {
  const prepared = prepare(schema, options);
  return new Schema(MAKE, prepared, sharedOrCompiled(prepared));
}

async function compileSchemaAsync(schema, options) {
  const prepared = prepare(schema, options);
  const shared = sharedOf(prepared.key);
  if (shared !== undefined) {
    return new Schema(MAKE, prepared, shared);
  }
  const instance = mainInstance();
  const compiling = start(instance, prepared.text, prepared.picked);
  try {
    const compiled = await inSlices(
      (steps) => guard(instance, () => compiling.step(steps)),
      options?.signal,
      abortedError,
    );
    return new Schema(MAKE, prepared, share(prepared.key, compilation(instance, compiled)));
  } finally {
    release(instance, compiling);
  }
}

function prepare(schema, options) {
  const picked = plainOptions(pick(options, OPTIONS));
  const resources = options?.resources;
  if (resources !== undefined) {
    if (typeof resources !== "object" || resources === null) {
      throw refused("resources");
    }
    picked.resources = Object.entries(resources).map(([uri, document]) => [uri, resourceText(document)]);
  }
  const { written, ...parts } = schemaParts(schema);
  return { ...parts, picked, key: `${JSON.stringify(picked, told)}${written}` };
}

/** For keys: JSON writes numbers that are not finite as null, which some options are too. */
function told(_, value) {
  return typeof value === "number" && !Number.isFinite(value) ? { number: `${value}` } : value;
}

function resourceText(document) {
  return typeof document === "string" ? wellFormed(document) : schemaCopy(document).text;
}

/** A schema's text as bytes of our own (the host may reuse its buffer) and what TypeBox made of it. */
function schemaParts(schema) {
  if (typeof schema === "string") {
    return { written: schema, text: encoder.encode(wellFormed(schema)), native: false };
  }
  if (isBytes(schema)) {
    const text = schema.slice();
    // Byte by byte, and marked: other bytes are never taken for the same, nor for a text.
    return { written: `bytes ${latin1.decode(text)}`, text, native: false };
  }
  const { text, native, called } = schemaCopy(schema);
  const renew = called ? () => encoder.encode(schemaCopy(schema).text) : undefined;
  return { written: text, text: encoder.encode(text), native, renew };
}

function jsonText(text) {
  if (typeof text === "string" || isBytes(text)) {
    return text;
  }
  throw errorFor({ code: "invalid_arguments", reason: "not_json" });
}

function bytesOf(text) {
  return typeof text === "string" ? encoder.encode(wellFormed(text)) : text;
}

/** The bytes of a text, piece by piece. */
function* piecesOf(text) {
  for (let start = 0; start < text.length; ) {
    let end = start + PIECE_LENGTH;
    if (typeof text === "string") {
      // Both halves of a surrogate pair stay in one piece.
      end += isHighSurrogate(text.charCodeAt(end - 1)) ? 1 : 0;
      yield bytesOf(text.slice(start, end));
    } else {
      yield text.subarray(start, end);
    }
    start = end;
  }
}

function isHighSurrogate(unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}

function start(instance, text, picked) {
  return guard(instance, ({ Compiling }) => new Compiling(text, picked));
}

function compileNow(text, picked) {
  const instance = mainInstance();
  const compiling = start(instance, text, picked);
  try {
    return compilation(
      instance,
      guard(instance, () => compiling.step(Infinity)),
    );
  } finally {
    release(instance, compiling);
  }
}

/** What is compiled of the same text and options, if its instance still works. */
function sharedOf(key) {
  const shared = inUse.get(key);
  return shared?.instance.failure === undefined ? shared : undefined;
}

function sharedOrCompiled({ key, text, picked }) {
  return sharedOf(key) ?? share(key, compileNow(text, picked));
}

function share(key, parts) {
  const shared = { ...parts, key, users: 0 };
  inUse.set(key, shared);
  return shared;
}

/** One user of what is shared, in the form in which `own` frees things. */
function userOf(shared) {
  return {
    free() {
      shared.users -= 1;
      if (shared.users > 0) {
        return;
      }
      if (inUse.get(shared.key) === shared) {
        inUse.delete(shared.key);
      }
      shared.compiled.free();
    },
  };
}

/** What a schema keeps of its compilation. */
function compilation(instance, compiled) {
  const facts = guard(instance, () => compiled.facts());
  return { instance, compiled, facts: Object.freeze({ ...facts }) };
}

export { Schema, compileSchema, compileSchemaAsync, heldBy, madeValue };
