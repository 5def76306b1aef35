// Runs the JSON Schema Test Suite through the built package and prints what passed.
//
//   node tests/schema-suite.mjs [DIR] [--draft NAME]... [--kind required|optional|format]... [--verbose]
//
// DIR is a checkout of the suite; without it the copy in a Python package is used. Without --draft
// all drafts are run, and without --kind all kinds; "format" are the tests of `optional/format`, run
// with formats asserted. Exits 1 if a test fails that no exception covers, or if an exception covers
// nothing.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { suiteFolder } from "./schema-suite/checkout.mjs";
import { DRAFTS, KINDS, readExceptions, runDraft } from "./schema-suite/run.mjs";

/** How many failures of one kind are printed without --verbose. */
const SHOWN = 20;

const toolwire = createRequire(new URL("../pkg/package.json", import.meta.url))("toolwire");
const exceptionsFile = fileURLToPath(new URL("schema-suite-exceptions.json", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    draft: { type: "string", multiple: true, default: Object.keys(DRAFTS) },
    kind: { type: "string", multiple: true, default: Object.keys(KINDS) },
    verbose: { type: "boolean", default: false },
  },
});

function main() {
  const drafts = values.draft.map((name) => folderOf(name));
  const kinds = values.kind;
  const unknown = kinds.find((kind) => !(kind in KINDS));
  if (unknown !== undefined) {
    throw new Error(`unknown kind ${unknown}; known are ${Object.keys(KINDS).join(", ")}`);
  }
  const suite = suiteFolder(positionals[0]);
  const exceptions = readExceptions(exceptionsFile);
  let good = true;
  for (const draft of drafts) {
    for (const kind of kinds) {
      const outcome = runDraft(toolwire, suite, draft, kind, exceptions);
      const { passed, failed, listed, failures, stale } = outcome;
      console.log(`${draft} ${kind}: ${passed} passed, ${failed} failed, ${listed} listed`);
      const shown = values.verbose ? failures : failures.slice(0, SHOWN);
      for (const line of [...shown, ...stale]) {
        console.log(`  ${line}`);
      }
      if (shown.length < failures.length) {
        console.log(`  and ${failures.length - shown.length} more; --verbose shows them`);
      }
      good &&= failed === 0 && stale.length === 0 && passed > 0;
    }
  }
  return good ? 0 : 1;
}

/** Accepts the suite's name of a draft and the package's. */
function folderOf(name) {
  const found = Object.entries(DRAFTS).find((names) => names.includes(name));
  if (found === undefined) {
    throw new Error(`unknown draft ${name}; known are ${Object.keys(DRAFTS).join(", ")}`);
  }
  return found[0];
}

try {
  process.exitCode = main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
