/** The built playground in Chromium: one browser a file, one page a test. */

import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach } from "node:test";
import { chromium } from "playwright-core";
import { serve } from "../../www/serve.mjs";

/**
 * Opens the page at a hash before each test. The page must say nothing on the console and break no
 * policy: that is checked after each.
 */
function playground({ hash = "", context = {}, under = "/" } = {}) {
  /** `served` are the files that the page of this test has asked for so far. */
  const run = { served: [] };
  let complaints;
  before(async () => {
    run.site = await serve(0, under, (file) => run.served.push(file));
    run.browser = await chromium.launch({
      executablePath: process.env.TOOLWIRE_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
    });
  });
  after(async () => {
    await run.browser?.close();
    await run.site?.stop();
  });
  beforeEach(async () => {
    run.context = await run.browser.newContext({
      permissions: ["clipboard-read", "clipboard-write"],
      ...context,
    });
    run.page = await run.context.newPage();
    run.page.setDefaultTimeout(20_000);
    complaints = [];
    run.served.length = 0;
    run.page.on("console", (message) => complaints.push(message.text()));
    run.page.on("pageerror", (error) => complaints.push(String(error)));
    await run.page.goto(run.site.url + hash);
    await run.page.getByText(/^toolwire \d+\.\d+\.\d+/).waitFor();
  });
  afterEach(async () => {
    await run.context.close();
    assert.deepEqual(complaints, []);
  });
  return run;
}

/** Replaces what an editor holds, as a person does who pastes. */
async function paste(page, label, text) {
  const box = page.getByRole("textbox", { name: label, exact: true });
  await box.focus();
  await page.keyboard.press("Control+A");
  await box.evaluate((element, pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    const event = { clipboardData: data, bubbles: true, cancelable: true };
    element.dispatchEvent(new ClipboardEvent("paste", event));
  }, text);
}

/** What an editor shows. */
async function shown(page, label) {
  const box = page.getByRole("textbox", { name: label, exact: true });
  return (await box.locator(".cm-line").allTextContents()).join("\n");
}

/** Chooses in the select of a panel that has this label. */
async function choose(page, panel, label, option) {
  await page.locator(`#panel-${panel}`).getByRole("combobox", { name: label, exact: true }).selectOption(option);
}

export { choose, paste, playground, shown };
