// Operations for tests: the least a specification must have, and the codes they fail with.
import assert from "node:assert/strict";

/** A specification with these members in place of, or beside, the least it must have. */
export function spec(id, members = {}) {
  const [namespace, ...name] = id.split(".");
  return {
    namespace,
    name: name.join("."),
    version: "1.0.0",
    description: "An operation",
    type: "query",
    inputSchema: {},
    accessControl: { requiredScopes: [] },
    ...members,
  };
}

/** An identity that holds these scopes. */
export const identity = (...scopes) => ({ id: "u", scopes });

/** What a promise rejects with, or a function throws. */
export async function failure(attempt) {
  try {
    await (typeof attempt === "function" ? attempt() : attempt);
  } catch (error) {
    return error;
  }
  return assert.fail("did not fail");
}

/** The items of an async iterable. */
export async function collect(items) {
  const collected = [];
  for await (const item of items) {
    collected.push(item);
  }
  return collected;
}
