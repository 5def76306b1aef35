// The JSON Schema Test Suite through the package, and the runner's own rules.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { suiteFolder } from "../schema-suite/checkout.mjs";
import { DRAFTS, readExceptions, runDraft } from "../schema-suite/run.mjs";
import { readGroups } from "../schema-suite/spans.mjs";
import { toolwire } from "./support/toolwire.mjs";

const exceptionsFile = fileURLToPath(new URL("../schema-suite-exceptions.json", import.meta.url));

/** Fewer than the suite has of each kind: a run that finds less has not found it. */
const AT_LEAST = {
  "draft2020-12": { required: 1200, optional: 100, format: 450 },
  "draft2019-09": { required: 1150, optional: 100, format: 450 },
  draft7: { required: 850, optional: 80, format: 400 },
  draft6: { required: 750, optional: 80, format: 180 },
  draft4: { required: 550, optional: 80, format: 100 },
};

const runs = Object.entries(AT_LEAST).flatMap(([draft, kinds]) =>
  Object.entries(kinds).map(([kind, least]) => [draft, kind, least]),
);

test("all drafts are run", () => {
  assert.deepEqual(Object.keys(AT_LEAST), Object.keys(DRAFTS));
  assert.deepEqual(Object.values(DRAFTS), toolwire.coreInfo().dialects);
});

for (const [draft, kind, least] of runs) {
  test(`${kind} tests of ${draft}`, (t) => {
    let suite;
    try {
      suite = suiteFolder();
    } catch (error) {
      t.skip(error.message);
      return;
    }
    const exceptions = readExceptions(exceptionsFile);
    const outcome = runDraft(toolwire, suite, draft, kind, exceptions);
    t.diagnostic(`${outcome.passed} passed, ${outcome.listed} listed`);
    assert.deepEqual(outcome.failures, []);
    assert.deepEqual(outcome.stale, []);
    assert.ok(outcome.passed >= least, `only ${outcome.passed} tests ran`);
  });
}

/** A suite of one file with two tests: 1 is valid, 2 is not. */
function smallSuite(t) {
  const folder = mkdtempSync(join(tmpdir(), "toolwire-suite-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "remotes"));
  mkdirSync(join(folder, "tests", "draft7", "optional"), { recursive: true });
  const tests = [
    { description: "one", data: 1, valid: true },
    { description: "two", data: 2, valid: false },
  ];
  const groups = [{ description: "group", schema: { const: 1 }, tests }];
  const file = join(folder, "tests", "draft7", "optional", "small.json");
  writeFileSync(file, JSON.stringify(groups, null, 4));
  return folder;
}

/** Stands in for the package: answers what it is told to. */
function answering(verdicts) {
  const validateJson = (text) => {
    const verdict = verdicts[text];
    const errors = verdict === "invalid" ? [{}] : [];
    return { verdict, valid: verdict === "valid", errors, reason: "told" };
  };
  return { compileSchema: () => ({ validateJson }) };
}

const entry = { draft: "draft7", file: "optional/small.json", reason: "a test of the runner" };

function counts(t, verdicts, exceptions) {
  const outcome = runDraft(answering(verdicts), smallSuite(t), "draft7", "optional", exceptions);
  const { passed, failed, listed, stale } = outcome;
  return { passed, failed, listed, stale: stale.length };
}

test("the right verdicts pass", (t) => {
  const found = counts(t, { 1: "valid", 2: "invalid" }, []);
  assert.deepEqual(found, { passed: 2, failed: 0, listed: 0, stale: 0 });
});

test("no verdict fails unless it is listed", (t) => {
  const verdicts = { 1: "unknown", 2: "invalid" };
  assert.deepEqual(counts(t, verdicts, []), { passed: 1, failed: 1, listed: 0, stale: 0 });
  const narrow = { ...entry, group: "group", test: "one" };
  assert.deepEqual(counts(t, verdicts, [narrow]), { passed: 1, failed: 0, listed: 1, stale: 0 });
});

test("a wrong verdict fails unless it is the one that is listed", (t) => {
  const verdicts = { 1: "valid", 2: "valid" };
  assert.equal(counts(t, verdicts, []).failed, 1);
  assert.equal(counts(t, verdicts, [entry]).failed, 1);
  assert.equal(counts(t, verdicts, [{ ...entry, verdict: "invalid" }]).failed, 1);
  const told = { ...entry, verdict: "valid" };
  assert.deepEqual(counts(t, verdicts, [told]), { passed: 1, failed: 0, listed: 1, stale: 0 });
});

test("an exception that covers nothing is reported", (t) => {
  const verdicts = { 1: "valid", 2: "invalid" };
  assert.equal(counts(t, verdicts, [entry]).stale, 1);
  assert.equal(counts(t, verdicts, [{ ...entry, file: "optional/none.json" }]).stale, 1);
});

test("what the suite requires cannot be listed", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "toolwire-suite-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "exceptions.json");
  writeFileSync(file, JSON.stringify([{ ...entry, file: "small.json" }]));
  assert.throws(() => readExceptions(file), /no exception/);
});

test("the shipped list of exceptions is complete", () => {
  assert.ok(Array.isArray(readExceptions(exceptionsFile)));
});

test("schemas and data are read as they are written", () => {
  const text = `[ {"description": "a \\"b\\"", "schema": { "const" : 1e400 , "x": ["}", "\\\\"] },
    "tests": [ {"description": "t", "data": 12345678901234567890.0, "valid": true },
               {"description": "u", "data": {"a":1,"a":2}, "valid": false } ] } ]`;
  assert.deepEqual(readGroups(text), [
    {
      description: 'a "b"',
      schema: '{ "const" : 1e400 , "x": ["}", "\\\\"] }',
      tests: [
        { description: "t", data: "12345678901234567890.0", valid: true },
        { description: "u", data: '{"a":1,"a":2}', valid: false },
      ],
    },
  ]);
});
