/**
 * Owns the shape of a verdict and of its violations in JavaScript, and their renderings.
 */

import { refused } from "./arguments.js";
import { pick } from "./options.js";

/** The verdict the core gave; `undefined` is its word for valid. */
function verdictOf(out) {
  if (out === undefined) {
    return { verdict: "valid", valid: true, errors: [], truncated: false };
  }
  const verdict = {
    verdict: out.verdict,
    valid: false,
    errors: out.errors.map(violationOf),
    truncated: out.truncated,
  };
  if (out.reason !== undefined) {
    verdict.reason = out.reason;
  }
  return verdict;
}

function violationOf({ instancePath, schemaPath, keyword, message, params }) {
  return { instancePath, schemaPath, keyword, message, params: JSON.parse(params) };
}

/** The members of an error that are strings. */
const TEXTS = ["instancePath", "schemaPath", "keyword", "message"];

/**
 * Copies of the host's errors, each member read once. What is no list of errors, or throws when it
 * is read, is refused.
 */
function readErrors(errors) {
  try {
    if (Array.isArray(errors)) {
      const copies = Array.from(errors, readError);
      if (copies.every((copy) => copy !== undefined)) {
        return copies;
      }
    }
  } catch {
    // Refused below.
  }
  throw refused("errors");
}

function readError(error) {
  const copy = {};
  for (const name of TEXTS) {
    const text = error[name];
    if (typeof text !== "string") {
      return undefined;
    }
    copy[name] = text;
  }
  const params = error.params ?? {};
  return typeof params === "object" ? { ...copy, params } : undefined;
}

/** The errors as Ajv words and orders their members. */
function toAjvErrors(errors) {
  return readErrors(errors).map(({ instancePath, schemaPath, keyword, params, message }) => ({
    instancePath,
    schemaPath: `#${schemaPath}`,
    keyword,
    params,
    message,
  }));
}

/** The verdict in the "basic" output format of JSON Schema 2020-12. */
function toBasicOutput(verdict) {
  const { valid, errors } = pick(verdict, ["valid", "errors"]);
  if (typeof valid !== "boolean") {
    throw refused("verdict");
  }
  if (valid) {
    return { valid: true };
  }
  return {
    valid: false,
    errors: readErrors(errors).map(({ instancePath, schemaPath, message }) => ({
      keywordLocation: schemaPath,
      instanceLocation: instancePath,
      error: message,
    })),
  };
}

/** Renderings of errors as lines, by who reads them. */
const AUDIENCES = { people: linesForPeople, model: linesForModel };

/**
 * Errors as text. People read where each is, in paths that name properties. For a model neither
 * paths nor params are told: they hold what the peer chose.
 */
function formatErrors(errors, options) {
  const { audience = "people" } = pick(options, ["audience"]);
  if (typeof audience !== "string" || !Object.hasOwn(AUDIENCES, audience)) {
    throw refused("audience");
  }
  return AUDIENCES[audience](readErrors(errors)).join("\n");
}

function linesForPeople(errors) {
  return errors.map(
    ({ instancePath, message }) => `${instancePath === "" ? "(root)" : instancePath}: ${message}`,
  );
}

/** Each message once, in the order in which they come first, with how often it comes. */
function linesForModel(errors) {
  const counts = new Map();
  for (const { message } of errors) {
    counts.set(message, (counts.get(message) ?? 0) + 1);
  }
  return Array.from(counts, ([message, count]) =>
    count === 1 ? `a value ${message}` : `${count} times: a value ${message}`,
  );
}

export { formatErrors, toAjvErrors, toBasicOutput, verdictOf, violationOf };
