/**
 * The runner against itself: a passing case whose input or expectation is changed must fail, so
 * that no member of a case is read and then forgotten.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { loadPackage } from "../cases/package.mjs";
import { readCases, runCase } from "../cases/runner.mjs";

const cases = (name) => fileURLToPath(new URL(`../cases/${name}`, import.meta.url));
const toolwire = loadPackage();

/** Members that the case files' description calls prose, or compares in part only. */
const NOT_COMPARED = [
  /\.(option|strictOption|alternative|variant|legacyVariant|note|hostInvariant|invariant|why)$/,
  /\.(hint|scope|atMs)$/,
  // Texts that must not be found: another text is not found either.
  /^expected\.modelTextExcludes\[\d+\]$/,
  // Remarks in parentheses behind a word that is compared.
  /^expected\.results\[\d+\]$/,
  /^expected\.c$/,
  // What the peer said in an uncorrelated error.
  /^expected\.events\[\d+\]\.message$/,
];

const FORMATS = [
  { file: "client.jsonl", input: "in", expected: "out", exempt: [] },
  { file: "field.jsonl", input: "input", expected: "expected", exempt: NOT_COMPARED },
];

for (const { file, input, expected, exempt } of FORMATS) {
  const passing = readCases(cases(file))
    // Sixteen mebibytes a run are too many for a run a member.
    .filter((line) => !JSON.stringify(line).includes("recvBig"))
    .filter((line) => runCase(line, toolwire).status === "passed");

  test(`${file}: there are passing cases to change`, () => {
    assert.ok(passing.length > 0);
  });

  test(`${file}: a member that the runner does not know fails the case`, () => {
    for (const side of [input, expected]) {
      survivors(
        passing,
        (line) => [[`${side}.unheardOf`, { ...line, [side]: { ...line[side], unheardOf: 1 } }]],
        () => false,
      );
    }
  });

  test(`${file}: every value of an expectation is compared`, () => {
    survivors(
      passing,
      (line) =>
        leaves(line[expected], expected).map(([path, change]) => {
          const changed = structuredClone(line);
          change(changed[expected]);
          return [path, changed];
        }),
      (path, line) =>
        exempt.some((pattern) => pattern.test(path)) ||
        (line[input].rpcError !== undefined && path === "expected.modelText"),
    );
  });
}

/** Fails with the list of changes that went unnoticed. */
function survivors(lines, changes, isExempt) {
  const unnoticed = [];
  for (const line of lines) {
    for (const [path, changed] of changes(line)) {
      if (!isExempt(path, line) && runCase(changed, toolwire).status !== "failed") {
        unnoticed.push(`${line.id} ${path}`);
      }
    }
  }
  assert.deepEqual(unnoticed, []);
}

/** Every leaf of a value: its path, and a function that changes it in a copy of the whole. */
function leaves(value, path, steps = []) {
  if (typeof value === "object" && value !== null && Object.keys(value).length > 0) {
    const place = (name) => (Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    return Object.entries(value).flatMap(([name, inner]) =>
      leaves(inner, place(name), [...steps, name]),
    );
  }
  return [
    [
      path,
      (root) => {
        const parent = steps.slice(0, -1).reduce((at, name) => at[name], root);
        parent[steps.at(-1)] = otherThan(value);
      },
    ],
  ];
}

/** Another value: for a number a negative one, which no bound admits. */
function otherThan(value) {
  if (typeof value === "number") {
    return -1 - Math.abs(value);
  }
  if (typeof value === "boolean") {
    return !value;
  }
  if (typeof value === "string") {
    return `${value}~`;
  }
  if (Array.isArray(value)) {
    return ["~"];
  }
  return { "~": 1 };
}

const directory = mkdtempSync(join(tmpdir(), "toolwire-cases-"));
after(() => rmSync(directory, { recursive: true }));

function runner(lines, ...args) {
  const file = join(directory, "cases.jsonl");
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  const { status, stdout } = spawnSync(process.execPath, [cases("run.mjs"), file, ...args], {
    encoding: "utf8",
  });
  return { status, lines: stdout.trimEnd().split("\n") };
}

const noise = (id, k) =>
  JSON.stringify({ id, kind: "line", in: { line: "42" }, out: { k }, modelled: true });
const prose = JSON.stringify({ id: "p", kind: "cli", in: {}, out: {}, modelled: false });

test("the last line counts, and a failure is the exit status", () => {
  assert.deepEqual(runner([noise("a", "noise"), prose]), {
    status: 0,
    lines: ["skip p (cli): not modelled", "1 passed, 0 failed, 1 skipped"],
  });
  const { status, lines } = runner([noise("a", "noise"), noise("b", "request")]);
  assert.equal(status, 1);
  assert.match(lines[0], /^FAIL b \(line\): out\.k: expected "request", got "noise"$/);
  assert.equal(lines[1], "1 passed, 1 failed, 0 skipped");
});

test("a kind that nobody built fails, and so does a line that is no case", () => {
  const unbuilt = JSON.stringify({ id: "u", kind: "unbuilt", in: {}, out: {}, modelled: true });
  const { status, lines } = runner([unbuilt, "{ not JSON"]);
  assert.equal(status, 1);
  assert.match(lines[0], /^FAIL u \(unbuilt\): the kind "unbuilt" is not built$/);
  assert.match(lines[1], /^FAIL line 2 /);
  assert.equal(lines[2], "0 passed, 2 failed, 0 skipped");
});

test("kind and id select; selecting nothing is no success", () => {
  const lines = [noise("a", "noise"), noise("b", "request"), prose];
  assert.equal(runner(lines, "--id", "a").lines.at(-1), "1 passed, 0 failed, 0 skipped");
  assert.equal(runner(lines, "--kind", "cli").lines.at(-1), "0 passed, 0 failed, 1 skipped");
  assert.deepEqual(runner(lines, "--id", "z"), {
    status: 1,
    lines: ["0 passed, 0 failed, 0 skipped"],
  });
});
