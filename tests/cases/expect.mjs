/**
 * Owns comparison: what "equal" and "contained" mean for case files, and the accounting of members.
 * Invariant: a member of a case that no reader asks for is a mismatch, never a silent pass.
 */

/** A case that did not come out as it says. The message is for a person at a terminal. */
export class Mismatch extends Error {}

export function fail(where, what) {
  throw new Mismatch(`${where}: ${what}`);
}

/** Text of a value for a message, short enough for one line. */
export function show(value) {
  const text = typeof value === "string" ? JSON.stringify(value) : textOf(value);
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
}

function textOf(value) {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/**
 * Reads the members of `object` through `readers`, in the readers' order. `prose` names members
 * that the case format does not compare.
 */
export function readMembers(object, where, readers, prose = new Set()) {
  if (!isObject(object)) {
    fail(where, `the runner reads an object here, the case has ${show(object)}`);
  }
  for (const name of Object.keys(object)) {
    if (!Object.hasOwn(readers, name) && !prose.has(name)) {
      fail(`${where}.${name}`, "the runner does not know this member");
    }
  }
  for (const [name, read] of Object.entries(readers)) {
    if (Object.hasOwn(object, name) && !prose.has(name)) {
      read(object[name], `${where}.${name}`);
    }
  }
}

/** A reader for members that other code has read already. */
export function readElsewhere() {}

/** Equal as JSON: members that are undefined count as absent, the order of members does not. */
export function same(actual, expected, where, wildcards) {
  report(difference(actual, expected, { exact: true, wildcards }), where);
}

/** Every member of `expected` is in `actual`; arrays agree in length. */
export function contains(actual, expected, where) {
  report(difference(actual, expected, { exact: false }), where);
}

export function isContained(actual, expected) {
  return difference(actual, expected, { exact: false }) === undefined;
}

function report(found, where) {
  if (found !== undefined) {
    fail(`${where}${found.path}`, `expected ${show(found.expected)}, got ${show(found.actual)}`);
  }
}

function difference(actual, expected, rules, path = "") {
  if (rules.wildcards?.has(expected)) {
    return isEmpty(actual) ? { path, actual, expected: `something (${expected})` } : undefined;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) {
      return { path, actual, expected };
    }
    for (const [index, item] of expected.entries()) {
      const found = difference(actual[index], item, rules, `${path}[${index}]`);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }
  if (isObject(expected)) {
    return isObject(actual)
      ? differenceOfMembers(actual, expected, rules, path)
      : { path, actual, expected };
  }
  return actual === expected ? undefined : { path, actual, expected };
}

function differenceOfMembers(actual, expected, rules, path) {
  for (const name of Object.keys(expected)) {
    const value = Object.hasOwn(actual, name) ? actual[name] : undefined;
    const found = difference(value, expected[name], rules, `${path}.${name}`);
    if (found !== undefined) {
      return found;
    }
  }
  if (rules.exact) {
    for (const name of Object.keys(actual)) {
      if (!Object.hasOwn(expected, name) && actual[name] !== undefined) {
        return { path: `${path}.${name}`, actual: actual[name], expected: undefined };
      }
    }
  }
  return undefined;
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value) {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0)
  );
}
