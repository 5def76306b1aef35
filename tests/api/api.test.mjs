/** The API reference is that of the declarations, and the declarations that of the modules. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { REFERENCE, exportsOfPackage, written } from "./api.mjs";

const require = createRequire(new URL("../../pkg/package.json", import.meta.url));
const entries = exportsOfPackage();

test("docs/api.md is up to date", () => {
  const hint = "node tests/api/api.mjs --write";
  assert.ok(readFileSync(REFERENCE, "utf8") === written(entries), hint);
});

test("every export has a comment", () => {
  const bare = entries.flatMap(({ entry, own }) =>
    own.filter(({ documentation }) => documentation === "").map(({ name }) => `${entry}: ${name}`),
  );
  assert.deepEqual(bare, []);
});

for (const { entry, own, passedOn } of entries) {
  test(`${entry}: what is declared is exported, and what is exported is declared`, () => {
    const isValue = ({ text }) => /^(?:declare )?(?:abstract )?(?:function|class|const)\b/.test(text);
    const exported = Object.keys(require(entry)).sort();
    const names = new Set([...own.map(({ name }) => name), ...passedOn]);
    assert.deepEqual(exported.filter((name) => !names.has(name)), []);
    const values = own.filter(isValue).map(({ name }) => name);
    assert.deepEqual(values.filter((name) => !exported.includes(name)), []);
  });
}
