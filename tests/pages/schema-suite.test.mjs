/** The JSON Schema Test Suite in Chromium: the runner of Node in a page, and the same outcome. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { toolwire } from "../js/support/toolwire.mjs";
import { suiteFolder } from "../schema-suite/checkout.mjs";
import { DRAFTS, KINDS, readDraft, readExceptions, runDraft } from "../schema-suite/run.mjs";
import { startPages } from "./pages.mjs";

/** For one draft, in milliseconds; it takes about one second. */
const TIMEOUT = 120_000;

const exceptionsFile = fileURLToPath(new URL("../schema-suite-exceptions.json", import.meta.url));
const exceptions = readExceptions(exceptionsFile);

let suite;
let absent;
let pages;

try {
  suite = suiteFolder();
} catch (error) {
  absent = error.message;
}

before(async () => {
  if (absent === undefined) {
    const texts = Object.keys(DRAFTS).map((draft) => [
      `/${draft}.json`,
      JSON.stringify(readDraft(suite, draft)),
    ]);
    pages = await startPages(Object.fromEntries(texts));
  }
});

after(() => pages?.stop());

for (const draft of Object.keys(DRAFTS)) {
  test(`${draft} in Chromium as in Node`, { skip: absent, timeout: TIMEOUT }, async (t) => {
    const kinds = Object.keys(KINDS);
    const page = await pages.open();
    const inPage = await page.evaluate(
      async ([name, wanted, entries]) => {
        const core = await import("/pkg/esm/entry/index.js");
        const { judgeDraft } = await import("/tests/schema-suite/judge.mjs");
        const texts = await (await fetch(`/${name}.json`)).json();
        return wanted.map((kind) => judgeDraft(core, texts, name, kind, entries));
      },
      [draft, kinds, exceptions],
    );
    await page.close();
    for (const [index, kind] of kinds.entries()) {
      const { passed, failed, listed, failures, stale } = inPage[index];
      t.diagnostic(`${draft} ${kind} in Chromium: ${passed} passed, ${failed} failed, ${listed} listed`);
      assert.deepEqual([failures, stale], [[], []]);
      assert.ok(passed > 0);
      assert.deepEqual(inPage[index], runDraft(toolwire, suite, draft, kind, exceptions));
    }
  });
}
