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

/** The members of a result that are found about it, for one of which nothing more is to be said. */
function plainOutcome(json, flags, finding) {
  const [verdict, verdictReason] = FINDINGS[finding];
  return {
    json,
    dropped: [],
    keepMeta: (flags & KEEP_META) !== 0,
    structured: (flags & STRUCTURED) !== 0,
    verdict,
    verdictReason,
    violation: undefined,
    violations: [],
    truncated: false,
    contentProblems: [],
  };
}

/** Makes the result of what the core found. `numbers` says how large integers are read. */
function toolResult(out, numbers) {
  const sent = parseJson(out.json, numbers);
  const result = {
    content: contentOf(sent, out.dropped),
    isError: sent.isError === true,
    structuredContent: out.structured ? sent.structuredContent : undefined,
  };
  if (out.keepMeta && isObject(sent._meta)) {
    result._meta = sent._meta;
  }
  const { json } = out;
  hide(result, "verdict", out.verdict);
  hide(result, "verdictReason", out.verdictReason);
  hide(result, "violation", out.violation);
  hide(result, "violations", out.violations.map(violationOf));
  hide(result, "truncated", out.truncated);
  hide(result, "contentProblems", out.contentProblems);
  hide(result, "rawJson", () => json);
  return result;
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

export { plainOutcome, toolResult, withoutIndexes };
