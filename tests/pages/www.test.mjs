/** The page in www/, in Chromium: it loads the built core under its own policy and judges. */

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { chromium } from "playwright-core";
import { serve } from "../../www/serve.mjs";

let site;
let browser;
let page;
let complaints;

before(async () => {
  site = await serve(0);
  browser = await chromium.launch({
    executablePath: process.env.TOOLWIRE_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
});

after(async () => {
  await browser?.close();
  await site?.stop();
});

beforeEach(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(15_000);
  complaints = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(site.url);
  await page.waitForSelector("#answer:not([data-verdict=loading], [data-pending])");
});

afterEach(() => page.close());

const settled = (verdict) => `#answer[data-verdict=${verdict}]:not([data-pending])`;

/** Types both texts and waits for the verdict on them. */
async function judged(schema, value, verdict) {
  await page.fill("#schema", schema);
  await page.fill("#value", value);
  await page.waitForSelector(settled(verdict));
  const rows = await page.locator("#errors tbody tr").evaluateAll((found) =>
    found.map((row) => [...row.cells].map((cell) => cell.textContent)),
  );
  return { rows, summary: await page.textContent("#summary") };
}

test("the first example is judged and its violations are listed", async () => {
  assert.equal(await page.textContent("#verdict"), "invalid");
  const paths = await page.locator("#errors tbody tr td:first-child").allTextContents();
  assert.deepEqual(paths.sort(), ["/sky", "/temperature"]);
  assert.match(await page.textContent("#core"), /^toolwire \d+\.\d+\.\d+/);
  assert.deepEqual(complaints, []);
});

test("typing changes the verdict", async () => {
  const schema = '{ "properties": { "n": { "minimum": 3 } } }';
  const { rows } = await judged(schema, '{ "n": 2 }', "invalid");
  assert.deepEqual(rows.map(([path, keyword]) => [path, keyword]), [["/n", "minimum"]]);
  assert.deepEqual((await judged(schema, '{ "n": 3 }', "valid")).rows, []);
  assert.deepEqual(complaints, []);
});

test("numbers are judged as they are written", async () => {
  const schema = '{ "const": 9007199254740993 }';
  await judged(schema, "9007199254740993", "valid");
  await judged(schema, "9007199254740992", "invalid");
});

test("a value that is no JSON and a schema that does not compile are told apart", async () => {
  const { rows } = await judged("{}", "{", "invalid");
  assert.equal(rows[0][1], "json");
  await judged('{ "$ref": "#/$defs/none" }', "1", "error");
});

test("the examples can be chosen", async () => {
  for (const index of [1, 2, 3]) {
    const before = await page.inputValue("#schema");
    await page.selectOption("#example", { index });
    assert.notEqual(await page.inputValue("#schema"), before);
  }
  await page.waitForSelector(settled("error"));
  assert.deepEqual(complaints, []);
});

test("the server answers nothing outside its folders", async () => {
  const status = async (path) => (await fetch(new URL(path, site.url))).status;
  assert.equal(await status("/www/"), 200);
  assert.equal(await status("/pkg/toolwire.wasm"), 200);
  assert.equal(await status("/Cargo.toml"), 404);
  assert.equal(await status("/www/..%2fCargo.toml"), 404);
  assert.equal(await status("/www/%00"), 404);
});
