// The examples of documents: each runs as a program, and each line with `// =>` comes to what it says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** How many examples and how many checked lines a document has at least. */
const DOCUMENTS = { "docs/json-schema.md": { examples: 7, lines: 18 } };

/** An example as a program that checks its own lines. */
function checking(example) {
  let lines = 0;
  const program = example.replace(/^(.+); \/\/ => (.+)$/gm, (_, expression, wanted) => {
    lines += 1;
    return `assert.deepEqual(${expression}, ${wanted});`;
  });
  return { lines, program: `import assert from "node:assert/strict";\n${program}` };
}

for (const [document, least] of Object.entries(DOCUMENTS)) {
  test(`the examples of ${document}`, (t) => {
    const text = readFileSync(join(root, document), "utf8");
    const examples = Array.from(text.matchAll(/^```js\n(.*?)^```$/gms), (match) => checking(match[1]));
    assert.ok(examples.length >= least.examples, `${examples.length} examples`);
    const lines = examples.reduce((sum, example) => sum + example.lines, 0);
    assert.ok(lines >= least.lines, `${lines} checked lines`);
    // Below the root, so that the package is found by its name.
    mkdirSync(join(root, "target"), { recursive: true });
    const folder = mkdtempSync(join(root, "target", "examples-"));
    t.after(() => rmSync(folder, { recursive: true }));
    examples.forEach(({ program }, index) => {
      const file = join(folder, `${index}.mjs`);
      writeFileSync(file, program);
      assert.equal(execFileSync(process.execPath, [file], { encoding: "utf8" }), "");
    });
  });
}
