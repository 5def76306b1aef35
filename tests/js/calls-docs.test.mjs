// What docs/call-protocol.md shows is what the boundary tests run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const document = read("docs/call-protocol.md");

/** The code of a section, from one comment line to the next or the end. */
function shown(section, comment) {
  const [, text] = document.split(`\n## ${section}\n`);
  const [, code] = text.split("```js\n");
  const [, part] = code.split("```")[0].split(`// ${comment}\n`);
  return part.split("\n\n// ")[0].trim();
}

test("the serving ends are those of the fixtures", () => {
  assert.ok(read("tests/fixtures/calls/worker.mjs").includes(shown("Over a worker thread", "the worker")));
  assert.ok(read("tests/fixtures/calls/child.mjs").includes(shown("Over a child process", "the child")));
});

test("the calling ends are those of the tests", () => {
  const run = read("tests/js/calls-boundaries.test.mjs").replace(/\s+/g, " ");
  for (const section of ["Over a worker thread", "Over a child process"]) {
    const wiring = shown(section, "whoever started it").replace(/\s+/g, " ");
    const [map] = wiring.match(/const map = .*?\}\);/);
    assert.ok(run.includes(map), map);
  }
});

test("the bounds are those of the core", () => {
  const source = read("src/call/pending.rs") + read("src/call/event.rs");
  for (const [name, value] of [
    ["DEFAULT_MAX_PENDING", "65,536"],
    ["DEFAULT_HIGH_WATER_MARK", "1,024"],
    ["MAX_ID_BYTES", "1,024"],
  ]) {
    const [, found] = source.match(new RegExp(`pub const ${name}: \\w+ = ([\\d_]+);`));
    assert.equal(found.replaceAll("_", ","), value);
    assert.ok(document.includes(value));
  }
  assert.match(read("pkg-template/lib/pending.js"), /const MAX_ID_BYTES = 1_024;/);
});
