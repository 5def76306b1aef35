/**
 * Owns `ToolResult`: a plain object with exactly the members a host copies, compares and sends,
 * and beside them, not enumerable, what was found about it. It owns its text and outlives the
 * session.
 */

import { parseJson } from "./json.js";
import { violationOf } from "./verdict.js";

/**
 * Verdicts and reasons that cross as numbers: the core's list in `src/js/status.rs`.
 */
const FINDINGS = [
  ["valid", undefined],
  ["unchecked", "off"],
  ["unchecked", "is_error"],
  ["unchecked", "no_schema"],
  ["unchecked", "no_structured_content"],
];

const STRUCTURED = 1;
const KEEP_META = 2;

/** Makes the result of what the core's numbers say, of which nothing more is to be said. */
function plainResult(json, flags, finding, numbers) {
  const sent = parseJson(json, numbers);
  const { content } = sent;
  const [verdict, verdictReason] = FINDINGS[finding];
  const result = membersOf(
    sent,
    Array.isArray(content) ? content : [],
    (flags & STRUCTURED) !== 0,
    (flags & KEEP_META) !== 0,
  );
  found(result, json, verdict, verdictReason, undefined, [], false, []);
  return result;
}

/** Makes the result of what the core found. `numbers` says how large integers are read. */
function toolResult(out, numbers) {
  const sent = parseJson(out.json, numbers);
  const result = membersOf(sent, contentOf(sent, out.dropped), out.structured, out.keepMeta);
  const { json, verdict, verdictReason, violation, truncated, contentProblems } = out;
  const violations = out.violations.map(violationOf);
  found(result, json, verdict, verdictReason, violation, violations, truncated, contentProblems);
  return result;
}

function membersOf(sent, content, structured, keepMeta) {
  const result = {
    content,
    isError: sent.isError === true,
    structuredContent: structured ? sent.structuredContent : undefined,
  };
  if (keepMeta && isObject(sent._meta)) {
    result._meta = sent._meta;
  }
  return result;
}

/** Adds what was found: own members that no copy, comparison or message shows. */
function found(result, json, verdict, verdictReason, violation, violations, truncated, problems) {
  hide(result, "verdict", verdict);
  hide(result, "verdictReason", verdictReason);
  hide(result, "violation", violation);
  hide(result, "violations", violations);
  hide(result, "truncated", truncated);
  hide(result, "contentProblems", problems);
  hide(result, "rawJson", () => json);
}

function contentOf(sent, dropped) {
  const content = Array.isArray(sent.content) ? sent.content : [];
  return withoutIndexes(content, dropped);
}

/** The elements but for those at these indexes, of which a peer can bring about very many. */
function withoutIndexes(elements, indexes) {
  if (indexes.length === 0) {
    return elements;
  }
  const dropped = new Set(indexes);
  return elements.filter((_, index) => !dropped.has(index));
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hide(result, name, value) {
  Object.defineProperty(result, name, { value, configurable: true, writable: true });
}

export { plainResult, toolResult, withoutIndexes };
