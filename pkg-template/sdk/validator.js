/**
 * Owns `ToolwireJsonSchemaValidator`: the `jsonSchemaValidator` option of the official SDK's
 * clients and servers, in its first and its second line.
 *
 * Invariants: every schema is compiled in a registry of its own, so that one tool's `$id` never
 * reaches another tool's schema; the value that was judged is the value that is given back; an
 * `errorMessage` holds fixed words, keywords and counts, nothing that a peer wrote.
 */

import { ToolwireError } from "../lib/errors.js";
import { pick } from "../lib/options.js";
import { compileSchema } from "../lib/schema.js";
import { errorFor } from "../lib/sentences.js";

/** What `compileSchema` is given of the options. */
const SCHEMA_OPTIONS = [
  "dialect",
  "keywords",
  "formats",
  "resources",
  "duplicateKeys",
  "maxDepth",
  "maxErrors",
  "maxSteps",
  "maxSubschemas",
  "maxSchemaBytes",
];

class ToolwireJsonSchemaValidator {
  #report;
  #options;
  /** By the schema's identity; a schema that is forgotten takes what was compiled of it along. */
  #validators = new WeakMap();

  constructor(options = {}) {
    const { onUncompilable = "throw" } = options;
    if (onUncompilable !== "throw" && onUncompilable !== "report") {
      throw errorFor({
        code: "invalid_arguments",
        reason: "option_invalid",
        option: "onUncompilable",
      });
    }
    this.#report = onUncompilable === "report";
    this.#options = pick(options, SCHEMA_OPTIONS);
  }

  getValidator(schema) {
    const known = this.#validators.get(schema);
    if (known !== undefined) {
      return known;
    }
    const validator = this.#compile(schema);
    if (typeof schema === "object") {
      this.#validators.set(schema, validator);
    }
    return validator;
  }

  #compile(schema) {
    let compiled;
    try {
      compiled = compileSchema(schema, this.#options);
    } catch (error) {
      if (this.#report && isCode(error, "schema_error")) {
        return refusing(`the schema does not compile (${error.reason}); the value was not judged`);
      }
      throw error;
    }
    return (value) => judge(compiled, value);
  }
}

function judge(compiled, value) {
  let verdict;
  try {
    verdict = compiled.validate(value);
  } catch (error) {
    if (isCode(error, "invalid_arguments")) {
      return refused("the value is not JSON");
    }
    throw error;
  }
  return verdict.valid
    ? { valid: true, data: value, errorMessage: undefined }
    : refused(messageOf(verdict));
}

/** The validator that stands in for a schema that does not compile. */
function refusing(message) {
  return () => refused(message);
}

function refused(errorMessage) {
  return { valid: false, data: undefined, errorMessage };
}

/** The first violation in words, and how many more there are. */
function messageOf({ verdict, reason, errors, truncated }) {
  if (verdict === "unknown") {
    return `the value could not be judged (${reason})`;
  }
  const [first, ...others] = errors;
  if (others.length === 0) {
    return `${first.message}; property path withheld`;
  }
  const count = `${truncated ? "at least " : ""}${others.length} more`;
  return `${first.message}, and ${count}; property paths withheld`;
}

function isCode(error, code) {
  return error instanceof ToolwireError && error.code === code;
}

export { ToolwireJsonSchemaValidator };
