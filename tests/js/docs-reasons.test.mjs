// docs/troubleshooting.md has every reason that an error can have.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");

/** Reasons that the rows of the page's tables are about. */
const told = new Set(
  [...read("docs/troubleshooting.md").matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, cell]) =>
    cell.split(", ").map((reason) => reason.slice(1, -1)),
  ),
);
told.delete("reason"); // The tables' own heads.

test("every reason of the core's table is there, and nothing else but those of the facade", () => {
  const [, table] = read("src/error/sentences.rs").match(/static SENTENCES[^=]*= &\[\n([^]*?)\n\];/);
  const known = [...table.matchAll(/^ {4}\("(\w+)",|^ {8}"(\w+)",$/gm)].map(([, one, other]) => one ?? other);
  assert.ok(known.length > 100, `${known.length} reasons`);
  assert.deepEqual(known.filter((reason) => !told.has(reason)), []);
  const facade = reasonsOfTheFacade();
  const unknown = [...told].filter((reason) => !known.includes(reason) && !facade.has(reason));
  assert.deepEqual(unknown, []);
});

test("every reason that the facade writes is there", () => {
  const missing = [...reasonsOfTheFacade()].filter((reason) => !told.has(reason));
  assert.deepEqual(missing, []);
});

/** Reasons of errors made in the package's own modules. */
function reasonsOfTheFacade() {
  const found = new Set();
  for (const folder of ["lib", "node", "web", "sdk", "ai"]) {
    for (const name of readdirSync(new URL(`pkg-template/${folder}/`, root))) {
      const text = read(`pkg-template/${folder}/${name}`);
      for (const [error] of text.matchAll(/(?:errorFor|new ToolwireError)\(\{[^]*?\}\)/g)) {
        for (const [, reason] of error.matchAll(/\breason: "(\w+)"/g)) {
          found.add(reason);
        }
      }
    }
  }
  return found;
}
