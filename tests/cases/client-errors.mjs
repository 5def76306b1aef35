/**
 * Owns how an expected error of `client.jsonl` is read against a `ToolwireError`: slugs for
 * sentences, facts for members, and what the peer or the caller sent in `private`.
 */

import { fail, isObject, readMembers, same, show } from "./expect.mjs";

/** Members of an expected error that are members of ours, by our name. */
const FACTS = {
  code: "code",
  why: "reason",
  remoteCode: "rpcCode",
  exit: "exitCode",
  option: "option",
  method: "method",
  ms: "ms",
  index: "index",
  server: "server",
  variable: "variable",
};

/** `judged` is the value that an `issue` is about, where the case can have one. */
export function sameError(error, expected, where, { toolwire, judged }) {
  if (!(error instanceof toolwire.ToolwireError)) {
    fail(where, `expected a ToolwireError, got ${show(error)}`);
  }
  const readers = {};
  for (const [name, ours] of Object.entries(FACTS)) {
    // An exit without a number is `null` in a case and may be left out by us.
    readers[name] = (value, at) => same(error[ours] ?? null, value, at);
  }
  readers.reason = (value, at) => same(revealed(error, at).reason, value, at);
  readers.path = (value, at) => same(revealed(error, at).path, value, at);
  readers.issue = (issue, at) => {
    const violations = revealed(error, at).violations;
    if (!Array.isArray(violations)) {
      fail(at, "error.private holds no violations");
    }
    sameIssue(violations[0], issue, judged, at);
  };
  readMembers(expected, where, readers);
}

/** Runs what a case expects to throw, and compares what it threw. */
export function throwsError(run, expected, where, context) {
  let value;
  try {
    value = run();
  } catch (error) {
    sameError(error, expected, where, context);
    return;
  }
  fail(where, `expected an error, got ${show(value)}`);
}

/** The first fault of a value: its place, its keyword and the types that were wanted. */
export function sameIssue(violation, issue, judged, where) {
  if (violation === undefined) {
    fail(where, "expected a violation, got none");
  }
  readMembers(issue, where, {
    path: (path, at) => same(placeOf(violation, judged), path, at),
    why: (keyword, at) => same(violation.keyword, keyword, at),
    expected: (types, at) => same([violation.params?.type].flat(), types, at),
  });
}

/** A violation's instance path as the cases write it: `structuredContent.a[1]`. */
function placeOf(violation, judged) {
  let place = "structuredContent";
  let value = judged;
  for (const token of violation.instancePath.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    place += Array.isArray(value) ? `[${name}]` : `.${name}`;
    value = isObject(value) || Array.isArray(value) ? value[name] : undefined;
  }
  return violation.keyword === "required" ? `${place}.${violation.params?.missingProperty}` : place;
}

function revealed(error, where) {
  const detail = error.private?.reveal();
  if (!isObject(detail)) {
    fail(where, "error.private reveals no object");
  }
  return detail;
}
