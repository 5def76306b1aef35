// The programs in docs/envelopes.md print what the page says.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(`${root}docs/envelopes.md`, "utf8");
const examples = [...page.matchAll(/```js\n([^]*?)```\n```text\n([^]*?)```\n/g)];

test("every program on the page is run", () => {
  assert.equal(examples.length, page.split("```js\n").length - 1);
  assert.ok(examples.length >= 5);
});

for (const [index, [, program, printed]] of examples.entries()) {
  test(`program ${index + 1} prints what the page says`, () => {
    const options = { cwd: root, encoding: "utf8" };
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], options);
    assert.equal(output, printed);
  });
}
