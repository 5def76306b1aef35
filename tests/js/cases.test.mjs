/**
 * The case files against the built package. Cases listed in `known-failures.json` may fail, and
 * must: a case that passes leaves the list.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { loadPackage } from "../cases/package.mjs";
import { runFile } from "../cases/runner.mjs";

const FILES = ["client.jsonl", "field.jsonl"];
const at = (name) => fileURLToPath(new URL(`../cases/${name}`, import.meta.url));
const known = JSON.parse(readFileSync(at("known-failures.json"), "utf8"));
const results = new Map(FILES.map((name) => [name, runFile(at(name), {}, loadPackage())]));

test("known failures have an id of the files and a reason each, once", () => {
  const ids = [...results.values()].flat().map(({ id }) => id);
  for (const { id, reason } of known) {
    assert.ok(ids.includes(id), `${id} is in no case file`);
    assert.match(reason, /\S/, `${id} has no reason`);
  }
  assert.equal(new Set(known.map(({ id }) => id)).size, known.length, "an id is listed twice");
});

for (const [name, cases] of results) {
  test(`${name}: every case comes out as it says`, () => {
    const listed = new Set(known.map(({ id }) => id));
    const failed = cases.filter(({ status }) => status === "failed");
    const unexpected = failed.filter(({ id }) => !listed.has(id));
    assert.deepEqual(
      unexpected.map(({ id, note }) => `${id}: ${note}`),
      [],
    );
    const stale = cases.filter(({ id, status }) => listed.has(id) && status !== "failed");
    assert.deepEqual(
      stale.map(({ id }) => id),
      [],
      "known failures that pass",
    );
  });
}
