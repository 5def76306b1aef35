/**
 * Owns how the host's option objects are read: each known member once, into a fresh plain object,
 * before anything crosses into the core. So a getter of the host's runs at a known place, and the
 * core meets plain data only.
 */

import { errorFor } from "./sentences.js";
import { copyJson } from "./snapshot.js";

/** What one document of the host's (a schema, a catalog) may spend when it is copied. */
const DOCUMENT_BUDGET = 134_217_728;

/** Nesting of a document; the core has a limit of its own, which is an option. */
const DOCUMENT_DEPTH = 65_536;

/** What a value that cannot be copied is refused with, unless told otherwise. */
const NOT_JSON = { code: "invalid_arguments", reason: "not_json" };

/** The named members that are not undefined. One that throws when it is read is refused. */
function pick(source, names, code = "invalid_arguments") {
  const picked = {};
  if (source !== undefined && source !== null) {
    for (const name of names) {
      let value;
      try {
        value = source[name];
      } catch {
        throw errorFor({ code, reason: "option_invalid", option: name });
      }
      if (value !== undefined) {
        picked[name] = value;
      }
    }
  }
  return picked;
}

/** A document of the host's as JSON text: `undefined` members left out, bigints as digits. */
function documentText(value, failure = NOT_JSON, maxDepth = DOCUMENT_DEPTH) {
  const { text, fault } = copyJson(value, {
    budget: DOCUMENT_BUDGET,
    maxDepth,
    omitUndefined: true,
    bigintDigits: true,
  });
  if (fault !== undefined) {
    throw errorFor({ ...failure, private: fault });
  }
  return text;
}

/** What TypeBox marks its types with. */
const TYPEBOX_KIND = Symbol.for("TypeBox.Kind");

/**
 * A schema of the host's as JSON text. Of one that TypeBox wrote (`native`) the marks are left out,
 * and functions that stand for defaults are called (`called`), as TypeBox does whenever it makes a
 * value.
 */
function schemaCopy(schema) {
  const native = isTypeBox(schema);
  const { text, called, fault } = copyJson(schema, {
    budget: DOCUMENT_BUDGET,
    maxDepth: DOCUMENT_DEPTH,
    omitUndefined: true,
    omitSymbols: true,
    bigintDigits: true,
    callDefaults: native,
  });
  if (fault !== undefined) {
    throw errorFor({ ...NOT_JSON, private: fault });
  }
  return { text, native, called };
}

/** True for a schema that TypeBox wrote. Runs no code of it. */
function isTypeBox(schema) {
  try {
    return (
      typeof schema === "object" &&
      schema !== null &&
      Object.getOwnPropertyDescriptor(schema, TYPEBOX_KIND) !== undefined
    );
  } catch {
    return false;
  }
}

/** JSON text that the host gives, ready to cross: UTF-8 has no lone surrogates, JSON escapes do. */
function wellFormed(text) {
  if (typeof text.isWellFormed === "function" && text.isWellFormed()) {
    return text;
  }
  return text.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

export { documentText, pick, schemaCopy, wellFormed };
