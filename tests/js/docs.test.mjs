// The programs in the documents run, and print what the documents say.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = new URL("../../", import.meta.url);

/** Documents whose `js` blocks are one program, and whose `text` blocks are what it prints. */
const DOCUMENTS = [
  "connect",
  "failures",
  "gateway",
  "hosts",
  "official-sdk",
  "operations",
  "structured-output",
  "tools",
  "troubleshooting",
  "untrusted-servers",
  "workers",
];

for (const name of DOCUMENTS) {
  test(`docs/${name}.md prints what it says`, async () => {
    const text = readFileSync(new URL(`docs/${name}.md`, root), "utf8");
    const blocks = (kind) =>
      [...text.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\``, "gms"))].map(
        ([, block]) => block,
      );
    const [programs, outputs] = [blocks("js"), blocks("text")];
    assert.ok(programs.length > 0 && outputs.length > 0);
    // Here both the package and the libraries of examples are found by their names.
    const folder = new URL("tests/node_modules/.docs/", root);
    mkdirSync(folder, { recursive: true });
    const file = new URL(`${name}-${process.pid}.mjs`, folder);
    writeFileSync(file, programs.join("\n"));
    const cwd = fileURLToPath(root);
    try {
      const program = [fileURLToPath(file)];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, program, { cwd });
      assert.equal(stdout, outputs.join(""));
      assert.equal(stderr, "");
    } finally {
      rmSync(file);
    }
  });
}
