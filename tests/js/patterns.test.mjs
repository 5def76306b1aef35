// Patterns against the RegExp of this engine, and the differences between the two by name.
import assert from "node:assert/strict";
import { test } from "node:test";
import { compare } from "../pattern-differential.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { compileSchema } = toolwire;

function found(pattern, text) {
  return compileSchema({ pattern }).validate(text).verdict;
}

function refusal(pattern) {
  try {
    compileSchema({ pattern });
  } catch (error) {
    return error.reason;
  }
  return "none";
}

test("random patterns mean what RegExp says", (t) => {
  const { differences, ...counts } = compare(toolwire, 20_000, 20_260_728);
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(differences, []);
  assert.ok(counts.matches >= 20_000 && counts.positive > 5_000, "too little was compared");
  assert.ok(counts.annexB > 100 && counts.refused > 10, "a kind of pattern is missing");
});

test("difference: a match begins at a code point, never within one", () => {
  // V8 finds this between the halves of the pair; ECMA-262 knows no such place under the flag u.
  assert.equal(/\B/u.test("B😀b"), true);
  assert.equal(found("\\B", "B😀b"), "invalid");
  assert.equal(found("\\B", "BB"), "valid");
});

test("difference: under Annex B too a character beyond the basic plane is one", () => {
  // Without the flag u RegExp reads halves.
  assert.equal(/^.\-$/.test("😀-"), false);
  assert.equal(found("^.\\-$", "😀-"), "valid");
  assert.equal(found("^[😀]\\-$", "😀-"), "valid");
});

test("difference: letters without their case are not compared under Annex B and in references", () => {
  for (const pattern of ["(?i:a\\-)", "(?i:(a)\\1)"]) {
    const { verdict, reason } = compileSchema({ pattern }).validate("aa");
    assert.deepEqual([verdict, reason], ["unknown", "unsupported_pattern"], pattern);
  }
  assert.equal(found("^(?i:a)b$", "Ab"), "valid");
  assert.equal(found("^(?i:a)b$", "AB"), "invalid");
});

test("difference: names of groups may stand in two alternatives, whatever the engine knows", () => {
  assert.equal(found("^(?:(?<y>a)|(?<y>b))\\k<y>$", "bb"), "valid");
  assert.equal(found("^(?:(?<y>a)|(?<y>b))\\k<y>$", "ab"), "invalid");
});

test("difference: what is too large to be run in linear time is refused", () => {
  for (const pattern of ["a{110000}", "((a{1,100}){1,100}){1,100}", "(".repeat(101) + ")".repeat(101)]) {
    assert.doesNotThrow(() => new RegExp(pattern, "u"));
    assert.equal(refusal(pattern), "limit", pattern.slice(0, 20));
  }
});

test("difference: properties are of one version of Unicode, whatever the engine's", () => {
  // A letter since Unicode 17.
  assert.equal(found("^\\p{L}$", "\u{323B0}"), "valid");
});

test("what both grammars refuse is refused, what only Annex B reads is told", () => {
  assert.equal(refusal("(?i)a"), "bad_pattern");
  assert.equal(refusal("(?P<n>a)"), "bad_pattern");
  const { problems } = compileSchema({ pattern: "a\\-b" });
  const told = problems.filter(({ code }) => code === "pattern_not_unicode_safe");
  assert.deepEqual(
    told.map(({ at }) => at),
    ["/pattern"],
  );
});
