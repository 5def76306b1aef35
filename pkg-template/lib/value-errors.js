/**
 * Owns the short form of violations: where and what, as lists and as lines.
 */

import { refused, textOf } from "./arguments.js";
import { Schema, compileSchema } from "./schema.js";

/** Violations that `collectErrors` lists of a schema it compiles itself. */
const MAX_ERRORS = 1_000;

function collectErrors(schema, value) {
  if (schema instanceof Schema) {
    return errorsOf(schema.validate(value));
  }
  const compiled = compileSchema(schema, { maxErrors: MAX_ERRORS });
  try {
    return errorsOf(compiled.validate(value));
  } finally {
    compiled.free();
  }
}

function errorsOf(verdict) {
  if (verdict.verdict === "unknown") {
    return [{ path: "", message: "cannot be judged" }];
  }
  return verdict.errors.map(({ instancePath, message }) => ({ path: instancePath, message }));
}

function formatValueErrors(errors, indent = "  - ") {
  if (!Array.isArray(errors)) {
    throw refused("errors");
  }
  const start = textOf(indent, "indent");
  return errors
    .map((error) => `${start}${error?.path ?? error?.instancePath ?? ""}: ${error?.message ?? ""}`)
    .join("\n");
}

export { collectErrors, formatValueErrors };
