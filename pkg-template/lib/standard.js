/**
 * Owns `~standard`, the interface of Standard Schema (version 1) by which libraries of forms,
 * routers and agents use schemas of any maker. Invariant: it judges synchronously, gives back the
 * very value, and its messages hold fixed words.
 */

import { ToolwireError } from "./errors.js";

const NUMBER = /^(?:0|[1-9]\d*)$/;

function standardOf(schema) {
  return Object.freeze({
    version: 1,
    vendor: "toolwire",
    validate: (value) => resultOf(schema, value),
  });
}

function resultOf(schema, value) {
  let verdict;
  try {
    verdict = schema.validate(value);
  } catch (error) {
    if (error instanceof ToolwireError && error.code === "invalid_arguments") {
      return { issues: [{ message: "is not JSON", path: [] }] };
    }
    throw error;
  }
  if (verdict.valid) {
    return { value };
  }
  if (verdict.verdict === "unknown") {
    return { issues: [{ message: `cannot be judged (${verdict.reason})`, path: [] }] };
  }
  return { issues: verdict.errors.map((error) => issueOf(error, value)) };
}

function issueOf({ instancePath, message }, value) {
  return { message, path: instancePath === "" ? [] : pathOf(instancePath, value) };
}

/** The keys that a JSON Pointer names in a value: numbers in arrays, otherwise texts. */
function pathOf(pointer, value) {
  let at = value;
  return pointer
    .slice(1)
    .split("/")
    .map((piece) => {
      const name = piece.replaceAll("~1", "/").replaceAll("~0", "~");
      const key = Array.isArray(at) && NUMBER.test(name) ? Number(name) : name;
      at = memberOf(at, key);
      return key;
    });
}

/** A member that is a value; no getter runs. */
function memberOf(object, key) {
  return typeof object === "object" && object !== null
    ? Object.getOwnPropertyDescriptor(object, key)?.value
    : undefined;
}

export { standardOf };
