/** The Validate panel, through its controls. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, paste, playground, shown } from "./playground.mjs";

const run = playground({ hash: "#validate" });

const settled = (verdict) => `#answer[data-verdict=${verdict}]:not([data-pending])`;

/** Gives both texts and waits for the verdict on them. */
async function judged(schema, value, verdict) {
  const { page } = run;
  await paste(page, "Schema", schema);
  await paste(page, "Value", value);
  await page.waitForSelector(settled(verdict));
  return page.locator("#errors > li").evaluateAll((items) =>
    items.map((item) => [item.querySelector(".where").textContent, item.querySelector(".finding-schema code").textContent]),
  );
}

const marked = (label, tone) =>
  run.page.getByRole("textbox", { name: label, exact: true }).locator(`.tw-${tone}`).allTextContents();

test("the first example is judged, and its violations are marked in both editors", async () => {
  const { page } = run;
  await page.waitForSelector(settled("invalid"));
  assert.match(await page.textContent("#summary"), /^3 violations/);
  assert.match(await page.textContent("#time"), /compiled in .* ms, judged in .* ms/);
  const text = (await marked("Value", "invalid")).join("");
  assert.match(text, /"temperature": "21"/);
  assert.match(text, /"sky": "sunny"/);
  assert.match((await marked("Schema", "note")).join(""), /"type": "number"/);
});

test("a violation leads to its place in the value and in the schema", async () => {
  const { page } = run;
  await page.waitForSelector(settled("invalid"));
  const active = () => page.evaluate(() => {
    const { activeElement } = document.activeElement.shadowRoot;
    return { label: activeElement.ariaLabel, line: activeElement.querySelector(".cm-activeLine").textContent };
  });
  await page.getByRole("button", { name: "Show in the value: /sky" }).click();
  assert.deepEqual(await active(), { label: "Value", line: '  "sky": "sunny",' });
  await page.getByRole("button", { name: "Show in the schema: /properties/temperature/type" }).click();
  assert.deepEqual(await active(), { label: "Schema", line: '      "type": "number"' });
});

test("a place behind references is found where it stands", async () => {
  const schema = '{\n"$defs": {\n"n": {\n"maximum": 3\n}\n},\n"items": { "$ref": "#/$defs/n" }\n}';
  const found = await judged(schema, "[1,\n9]", "invalid");
  assert.deepEqual(found, [["/1", "maximum"]]);
  assert.deepEqual(await marked("Value", "invalid"), ["9"]);
  assert.deepEqual((await marked("Schema", "note")).join(""), '"maximum": 3');
});

test("typing changes the verdict", async () => {
  const { page } = run;
  await judged('{ "minimum": 3 }', "2", "invalid");
  await page.getByRole("textbox", { name: "Value", exact: true }).press("End");
  await page.keyboard.type("0");
  await page.waitForSelector(settled("valid"));
  assert.equal(await page.locator("#errors > li").count(), 0);
});

test("numbers are judged as they are written", async () => {
  await judged('{ "const": 9007199254740993 }', "9007199254740993", "valid");
  await judged('{ "const": 9007199254740993 }', "9007199254740992", "invalid");
});

test("a value that is no JSON, a schema that is none and one that does not compile are told apart", async () => {
  const { page } = run;
  assert.deepEqual(await judged("{}", "[1, }", "invalid"), [["(root)", "json"]]);
  await judged('{ "$ref": "#/$defs/none" }', "1", "refused");
  assert.match(await page.textContent("#problems"), /unresolved_ref/);
  assert.match((await marked("Schema", "invalid")).join(""), /\$ref/);
  await judged("{", "1", "refused");
});

test("full and structural stand side by side, and the choice decides what is listed", async () => {
  const { page } = run;
  await judged('{ "minimum": 3 }', "2", "invalid");
  const twins = page.locator("#twins > div");
  assert.deepEqual(await twins.evaluateAll((all) => all.map(({ dataset }) => dataset.verdict)), ["invalid", "valid"]);
  await choose(page, "validate", "Keywords", "structural");
  await page.waitForSelector(settled("valid"));
  assert.equal(await page.locator("#errors > li").count(), 0);
});

test("dialect and formats count", async () => {
  const { page } = run;
  await judged('{ "format": "date" }', '"yesterday"', "valid");
  await choose(page, "validate", "Formats", "assert");
  await page.waitForSelector(settled("invalid"));
  await judged('{ "items": [{ "type": "string" }] }', "[1]", "refused");
  await choose(page, "validate", "Default dialect", "draft-07");
  await page.waitForSelector(settled("invalid"));
});

test("lint names what is odd about a schema", async () => {
  const { page } = run;
  await judged('{ "requried": ["a"] }', "{}", "valid");
  assert.match(await page.textContent("#problems"), /\/requried/);
  assert.match((await marked("Schema", "unknown")).join(""), /requried/);
});

test("a value is made to fit, and the changes are named", async () => {
  const { page } = run;
  const schema = '{ "type": "object", "properties": { "a": { "type": "integer" }, "b": { "default": 7 } }, "required": ["a"] }';
  await judged(schema, '{ "a": "x", "c": true }', "invalid");
  await page.getByText("/a").and(page.locator("#fit code")).waitFor();
  const changes = () => page.locator("#fit .changes li").allTextContents();
  assert.deepEqual(await changes(), ["replaced/a"]);
  await choose(page, "validate", "Make it fit", "defaults");
  await page.locator("#fit .changes code", { hasText: "/b" }).waitFor();
  assert.deepEqual(await changes(), ["default/b"]);
  await choose(page, "validate", "Make it fit", "cast");
  await page.locator("#fit .changes code", { hasText: "/a" }).waitFor();
  await page.getByRole("button", { name: "Use as the value" }).click();
  await page.waitForSelector(settled("valid"));
  assert.match(await shown(page, "Value"), /"a": 0/);
});

test("every example is judged", async () => {
  const { page } = run;
  const field = page.locator("#panel-validate").getByRole("combobox", { name: "Example", exact: true });
  const verdicts = new Set();
  for (const option of await field.locator("option").all()) {
    const index = await option.getAttribute("value");
    if (index === "") continue;
    await field.selectOption(index);
    await page.waitForSelector("#answer:not([data-pending]):not([data-verdict=judging])");
    verdicts.add(await page.getAttribute("#answer", "data-verdict"));
  }
  assert.ok(verdicts.has("invalid") && verdicts.has("refused") && verdicts.has("unknown"), [...verdicts].join());
});

/** A little more than 5 MB, one member a line. */
const rows = JSON.stringify(
  Array.from({ length: 42_000 }, (_, id) => ({ id, name: `row ${id}`, tags: ["a", "b"], at: "2026-01-01T00:00:00Z", note: "x".repeat(40) })),
).replaceAll("},", "},\n");

/** So many patterns for each member that the budget is spent on the way. */
const hostile = JSON.stringify({
  items: { additionalProperties: { allOf: Array.from({ length: 200 }, (_, index) => ({ pattern: `^(x|xx|.y{0,${index}})*$` })) } },
});

/** Presses keys for a second; gives the longest that one waited, or that the page was held up. */
async function worstDelay(page) {
  await page.evaluate(() => {
    globalThis.waits = [];
    globalThis.watchers = [
      [{ type: "event", durationThreshold: 16 }, ({ name, startTime, processingEnd }) => (name === "keydown" ? processingEnd - startTime : 0)],
      [{ type: "longtask" }, ({ duration }) => duration],
    ].map(([options, waited]) => {
      const watcher = new PerformanceObserver((list) => globalThis.waits.push(...list.getEntries().map(waited)));
      watcher.observe(options);
      return watcher;
    });
  });
  for (let key = 0; key < 12; key += 1) {
    await page.keyboard.press(key % 2 === 0 ? "ArrowLeft" : "ArrowRight");
    await page.waitForTimeout(60);
  }
  return page.evaluate(() => {
    for (const watcher of globalThis.watchers) watcher.disconnect();
    return Math.max(0, ...globalThis.waits);
  });
}

test("a value of 5 MB and a hostile schema leave the page responsive", async () => {
  const { page } = run;
  assert.ok(rows.length > 5_000_000);
  await paste(page, "Value", rows);
  await paste(page, "Schema", "{}");
  await page.waitForSelector(settled("valid"));
  // A machine with other work delays keys by itself: what counts is what judging adds.
  let added = Infinity;
  for (let attempt = 0; attempt < 3 && added >= 100; attempt += 1) {
    const idle = await worstDelay(page);
    await paste(page, "Schema", hostile);
    const busy = await worstDelay(page);
    added = busy < 100 ? busy : busy - idle;
    assert.notEqual(await page.getAttribute("#answer", "data-pending"), null, "the core was done too soon");
    await page.getByRole("button", { name: "Cancel" }).click({ timeout: 60_000 });
    await paste(page, "Schema", "{}");
    await page.waitForSelector(settled("valid"));
  }
  assert.ok(added < 100, `${added} ms`);
});

test("judging can be cancelled, and goes on with the next texts", async () => {
  const { page } = run;
  await paste(page, "Value", rows);
  await paste(page, "Schema", hostile);
  await page.getByRole("button", { name: "Cancel" }).click({ timeout: 60_000 });
  await page.waitForSelector(settled("cancelled"));
  await judged('{ "type": "string" }', '"a"', "valid");
});
