/**
 * Owns the vocabulary of `field.jsonl`: which members are prose, what its kinds of errors and its
 * compile errors are called by us, and how its counts are written.
 */

import { contains, fail, readElsewhere, readMembers, same, show } from "./expect.mjs";

/** Members that explain and are not compared, wherever an expectation holds them. */
export const PROSE = new Set([
  "option",
  "strictOption",
  "alternative",
  "variant",
  "legacyVariant",
  "note",
  "hostInvariant",
  "invariant",
  "why",
]);

/** A kind of error: the codes it may have, and facts that come with it. */
const KINDS = {
  protocol_violation: { codes: ["protocol_error"] },
  rpc_error: { codes: ["tool_failed", "tool_not_found", "protocol_error"], numbered: true },
  closed: { codes: ["connection_closed"] },
  cancelled: { codes: ["aborted"] },
  unsupported_version: { codes: ["protocol_error"], reason: "init_version_unsupported" },
  outbound_full: { codes: ["limit"] },
};

/** Kinds that go by our own name. */
for (const code of [
  "aborted",
  "connection_closed",
  "invalid_arguments",
  "invalid_response",
  "limit",
  "protocol_error",
  "schema_error",
  "spawn_failed",
  "timeout",
  "tool_failed",
  "tool_not_found",
]) {
  KINDS[code] = { codes: [code] };
}

/** Causes of a closed connection, as reasons. */
const CAUSES = { EPIPE: "stdin_closed" };

/** Compile errors, as reasons. */
const COMPILE_REASONS = {
  invalid_schema: ["invalid_keyword", "not_a_schema"],
  limit_exceeded: ["limit"],
  external_ref: ["unresolved_ref"],
  infinite_recursion: ["reference_cycle"],
};

/** Reasons that go by our own name. */
for (const reason of [
  "bad_pattern",
  "invalid_keyword",
  "limit",
  "not_a_schema",
  "reference_cycle",
  "unresolved_ref",
  "unsupported_dialect",
]) {
  COMPILE_REASONS[reason] = [reason];
}

export function sameError(error, expected, where, toolwire) {
  if (!(error instanceof toolwire.ToolwireError)) {
    fail(where, `expected a ToolwireError, got ${show(error)}`);
  }
  const wanted = typeof expected === "string" ? { kind: expected } : expected;
  const reason = (value, at) => same(error.reason, value, at);
  readMembers(
    wanted,
    where,
    {
      kind: (kind, at) => sameKind(error, kind, at),
      // A number is the peer's own code, a word is a reason.
      code: (code, at) =>
        typeof code === "number" ? same(error.rpcCode, code, at) : reason(code, at),
      which: reason,
      cause: (cause, at) => reason(CAUSES[cause] ?? cause, at),
      at: (pointer, at) => same(error.at, pointer, at),
      retryable: (retryable, at) => same(error.retryable, retryable, at),
      serverSupports: (revisions, at) => includesAll(error.supported, revisions, at),
      lastPeerError: (peer, at) =>
        readMembers(peer, at, { code: (code, path) => same(error.rpcCode, code, path) }),
      contentAttached: (attached, at) =>
        same(Object.hasOwn(error.private?.reveal() ?? {}, "content"), attached, at),
      hint: readElsewhere,
      scope: readElsewhere,
      atMs: readElsewhere,
    },
    PROSE,
  );
}

function sameKind(error, kind, where) {
  const { codes, reason, numbered } = KINDS[kind] ?? fail(where, `unknown kind ${show(kind)}`);
  if (!codes.includes(error.code)) {
    fail(where, `expected ${kind}, got ${error.code} (${error.reason})`);
  }
  if (reason !== undefined) {
    same(error.reason, reason, where);
  }
  if (numbered && typeof error.rpcCode !== "number") {
    fail(where, "the error has no rpcCode");
  }
}

/** The reasons that a compile error's name stands for. */
export function compileReasons(name, where) {
  return COMPILE_REASONS[name] ?? fail(where, `unknown compile error ${show(name)}`);
}

/** A list of which every expected item must be found; items are compared in part. */
export function includesAll(list, expected, where) {
  for (const [index, wanted] of expected.entries()) {
    const at = `${where}[${index}]`;
    const found = (list ?? []).some((item) => {
      try {
        contains(item, wanted, at);
        return true;
      } catch {
        return false;
      }
    });
    if (!found) {
      fail(at, `expected ${show(wanted)} in ${show(list)}`);
    }
  }
}

/** A count: a number, or a bound such as `">=1"`. */
export function sameCount(count, expected, where) {
  const bound = /^(>=|<=|>|<)\s*(\d+)$/.exec(expected);
  if (bound === null) {
    same(count, expected, where);
    return;
  }
  const [, order, limit] = bound;
  const holds = {
    ">=": count >= Number(limit),
    "<=": count <= Number(limit),
    ">": count > Number(limit),
    "<": count < Number(limit),
  };
  if (!holds[order]) {
    fail(where, `expected ${expected}, got ${count}`);
  }
}
