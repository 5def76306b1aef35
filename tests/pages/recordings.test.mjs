/** The recordings of real servers replay in Chromium to the very bytes and events of Node. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { toolwire } from "../js/support/toolwire.mjs";
import { written } from "../recordings/written.mjs";
import { startPages } from "./pages.mjs";

const folder = new URL("../recordings/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));

let pages;
let page;

before(async () => {
  pages = await startPages();
  page = await pages.open();
});

after(() => pages?.stop());

test("there are recordings", () => assert.ok(files.length > 0));

for (const file of files) {
  test(`${file} in Chromium as in Node`, { timeout: 60_000 }, async () => {
    const inPage = await page.evaluate(async (name) => {
      const { replay } = await import("/pkg/esm/entry/index.js");
      const { written: textOf } = await import("/tests/recordings/written.mjs");
      const answer = await fetch(`/tests/recordings/${name}`);
      return textOf(replay(new Uint8Array(await answer.arrayBuffer())));
    }, file);
    const here = written(toolwire.replay(readFileSync(new URL(file, folder))));
    assert.ok(here.includes('"type":"ready"'));
    assert.equal(inPage, here);
  });
}
