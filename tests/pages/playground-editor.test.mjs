/** The editors: keys that JSON wants, and texts of megabytes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { paste, playground, shown } from "./playground.mjs";

const run = playground({ hash: "#validate" });

const settled = (verdict) => `#answer[data-verdict=${verdict}]:not([data-pending])`;
const box = () => run.page.getByRole("textbox", { name: "Value", exact: true });
const press = async (...keys) => {
  for (const key of keys) await run.page.keyboard.press(key);
};
const note = (words) => run.page.locator(".editor-note", { hasText: words }).waitFor();

/** Gives a text, and puts the cursor where its `|` stands. */
async function place(text) {
  await paste(run.page, "Value", text.replace("|", ""));
  await press("Control+Home", ...Array.from(text.slice(0, text.indexOf("|")), () => "ArrowRight"));
}

test("a new line goes as deep as brackets ask, and back", async () => {
  await place('{"a": {|}}');
  await press("Enter");
  await run.page.keyboard.type('"b": 1');
  assert.equal(await shown(run.page, "Value"), '{"a": {\n  "b": 1\n}}');
  await press("Enter");
  await run.page.keyboard.type("x");
  assert.equal(await shown(run.page, "Value"), '{"a": {\n  "b": 1\n  x\n}}');
  await press("Backspace", "Backspace");
  await run.page.keyboard.type("y");
  assert.equal(await shown(run.page, "Value"), '{"a": {\n  "b": 1\ny\n}}');
  await press("Backspace", "Backspace", "Delete", "Delete");
  assert.equal(await shown(run.page, "Value"), '{"a": {\n  "b": 1}');
});

test("lines are moved in and out", async () => {
  await place("[\n1,\n2\n|]");
  await press("Control+a", "Control+]");
  assert.equal(await shown(run.page, "Value"), "  [\n  1,\n  2\n  ]");
  await press("Control+[");
  assert.equal(await shown(run.page, "Value"), "[\n1,\n2\n]");
});

test("the pair of brackets at the cursor is marked, gone to and selected; brackets in strings are none", async () => {
  await place('[1, "]", {"a": [2]}|]');
  const pair = () => box().locator(".tw-pair").allTextContents();
  assert.deepEqual(await pair(), ["{", "}"]);
  await press("ArrowRight");
  assert.deepEqual(await pair(), ["[", "]"]);
  await press("Control+Shift+Backslash");
  await run.page.keyboard.type("!");
  assert.equal(await shown(run.page, "Value"), '![1, "]", {"a": [2]}]');
  await place('[1, {"a": [2|]}]');
  await press("Control+i", "Control+i");
  await run.page.keyboard.type("3");
  assert.equal(await shown(run.page, "Value"), '[1, {"a": 3}]');
});

test("names, strings, numbers and words have colours of their own", async () => {
  await paste(run.page, "Value", '{"a\\"b": ["c:", -1.5e3, true, null]}');
  const of = (kind) => box().locator(`.tw-${kind}`).allTextContents();
  assert.deepEqual(await of("name"), ['"a\\"b"']);
  assert.deepEqual(await of("string"), ['"c:"']);
  assert.deepEqual(await of("number"), ["-1.5e3"]);
  assert.deepEqual(await of("atom"), ["true", "null"]);
});

/** Pastes a text with a repeated part, made in the page; gives how often timers ran before it was there. */
async function pasteMade(head, part, count, tail) {
  await box().focus();
  await press("Control+A");
  return box().evaluate(async (element, [first, repeated, times, last]) => {
    const data = new DataTransfer();
    data.setData("text/plain", first + repeated.repeat(times) + last);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    const said = element.getRootNode().host.parentElement.querySelector(".editor-note");
    let turns = 0;
    for (; said.textContent.startsWith("reading"); turns += 1) await new Promise((resolve) => setTimeout(resolve));
    return turns;
  }, [head, part, count, tail]);
}

/** How many lines there are, by the number of the last. */
async function lines() {
  await box().focus();
  await press("Control+End");
  const numbers = run.page.locator("#panel-validate .editor-host").nth(1).locator(".cm-lineNumbers .cm-gutterElement");
  return Number(await numbers.last().textContent());
}

test("a text of megabytes is pasted in slices, whole, and undone in one step", async () => {
  const { page } = run;
  await paste(page, "Schema", '{ "type": "array", "minItems": 1500001, "maxItems": 1500001 }');
  // A slice of 131,072 characters ends within a line break.
  const turns = await pasteMade("[", "1,\r\n", 1_500_000, "1]");
  assert.ok(turns > 20, `${turns} turns`);
  await page.waitForSelector(settled("valid"));
  await note("large: no colours");
  assert.equal(await lines(), 1_500_001);
  await press("Control+z");
  await page.waitForSelector(settled("invalid"));
  assert.ok((await lines()) < 10);
});

test("one line of megabytes is typed into without the page reading it back", async () => {
  const { page } = run;
  await paste(page, "Schema", '{ "items": { "type": "integer" } }');
  await pasteMade("[", "1,", 2_500_000, "1]");
  await page.waitForSelector(settled("valid"));
  await box().evaluate((element) => {
    globalThis.handled = [];
    globalThis.addEventListener("beforeinput", (event) => globalThis.handled.push(event.defaultPrevented));
    element.focus();
  });
  await press("Control+Home", "ArrowRight");
  await page.keyboard.type('"a",');
  await page.waitForSelector(settled("invalid"));
  assert.deepEqual(await page.evaluate(() => globalThis.handled), [true, true, true, true]);
  assert.equal(await page.locator("#errors .where").first().textContent(), "/0");
  await press("Backspace", "Backspace", "Backspace", "Backspace");
  await page.waitForSelector(settled("valid"));
});

test("what is typed while a large text is read stands behind it, and a second paste replaces the first", async () => {
  const { page } = run;
  await paste(page, "Schema", '{ "const": [1, 2] }');
  await paste(page, "Value", "null");
  await press("Control+A");
  await box().evaluate((element) => {
    for (const text of ["9".repeat(3_000_000), `[1${" ".repeat(3_000_000)}`]) {
      const data = new DataTransfer();
      data.setData("text/plain", text);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    }
  });
  await page.keyboard.type(", 2");
  await note("large: no colours");
  await page.keyboard.type("]");
  await page.waitForSelector(settled("valid"));
});
