// The programs in the documents run, and print what the documents say.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

/** Documents whose `js` blocks are one program, and whose `text` blocks are what it prints. */
const DOCUMENTS = ["operations", "gateway"];

for (const name of DOCUMENTS) {
  test(`docs/${name}.md prints what it says`, async () => {
    const text = readFileSync(new URL(`docs/${name}.md`, root), "utf8");
    const blocks = (kind) =>
      [...text.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, "gms"))].map(
        ([, block]) => block,
      );
    const [programs, outputs] = [blocks("js"), blocks("text")];
    assert.ok(programs.length > 0 && outputs.length > 0);
    const folder = new URL("target/", root);
    mkdirSync(folder, { recursive: true });
    const file = new URL(`docs-${name}-${process.pid}.mjs`, folder);
    writeFileSync(file, programs.join("\n"));
    const cwd = fileURLToPath(root);
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(file)], { cwd });
    assert.equal(stdout, outputs.join(""));
  });
}
