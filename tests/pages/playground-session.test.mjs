/** The Session panel, through its controls. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, paste, playground, shown } from "./playground.mjs";

const run = playground({ hash: "#session" });

const timeline = () => run.page.locator("#timeline > li:visible");

/** Waits for a run, and gives what each step says. */
async function ran(action) {
  const { page } = run;
  await page.waitForSelector("#timeline:not([aria-busy]) > li");
  await page.evaluate(() => document.querySelector("#timeline > li").setAttribute("data-old", ""));
  await action();
  await page.waitForSelector("#timeline:not([aria-busy]):not(:has([data-old])) > li");
  return said();
}

async function said() {
  await run.page.waitForSelector("#timeline:not([aria-busy]) > li");
  return timeline().evaluateAll((items) =>
    items.map((item) => ({
      kind: item.dataset.kind,
      frame: item.querySelector(".frame").textContent,
      decisions: [...item.querySelectorAll(".decisions li")].map(({ textContent }) => textContent),
      fresh: item.dataset.fresh === "true",
    })),
  );
}

const decisions = (steps) => steps.flatMap((step) => step.decisions).join("\n");

/** What each server comes to, in the words of the core. */
const servers = {
  modern: [/ready2026-07-28, modern era/, /call 1, add: verdict valid/],
  asks: [/questionelicitation\/create/, /call 1, book: verdict valid/],
  noisy: [/noise_line/, /bom_skipped/, /embedded_newline_suspected/, /call 1, word_count: verdict valid/],
  liar: [/output_schema_violation/, /unsafe_integer/, /structured_content_missing/],
  sloppy: [/malformed: reply_error_object/, /duplicate_member/, /id_type/, /unknown_id/, /no_name, not listed/],
  slow: [/progress5 of 6/, /call 3, never: timeout/, /late_response/],
  crashes: [/call 1, steady: connection_closed, exited/, /exited with code 3/],
  lsp: [/closedprotocol_error, lsp_framing/],
};

test("the quickstart's server runs in the page, and both directions are shown", async () => {
  const steps = await said();
  const frames = steps.filter(({ kind }) => kind === "in" || kind === "out");
  assert.equal(frames.length, 10);
  assert.match(frames[0].frame, /server\/discover/);
  assert.match(decisions(steps), /message: result/);
  assert.match(decisions(steps), /call 1, word_count: verdict valid/);
  assert.match(decisions(steps), /call 2, explode: the tool says it failed/);
  assert.equal(await run.page.textContent("#phase"), "ready");
});

for (const [server, expected] of Object.entries(servers)) {
  test(`the server ${server}`, async () => {
    const steps = await ran(() => choose(run.page, "session", "Server", server));
    for (const pattern of expected) assert.match(decisions(steps), pattern);
  });
}

test("the slider shows what had happened, what was pending and when the next deadline is due", async () => {
  const { page } = run;
  await said();
  const whole = await timeline().count();
  const slider = page.getByRole("slider", { name: "Simulated time" });
  await slider.focus();
  await page.keyboard.press("Home");
  assert.ok((await timeline().count()) < whole);
  assert.equal(await page.textContent("#clock"), "0 ms");
  assert.match(await page.textContent("#pending"), /1 server\/discover for 0\.0 ms/);
  assert.match(await page.textContent("#due"), /Next deadline at 500 ms/);
  await page.getByRole("button", { name: "To the next deadline" }).click();
  assert.equal(await page.textContent("#clock"), "500 ms");
  assert.match(await page.textContent("#pending"), /2 initialize/);
  await slider.focus();
  await page.keyboard.press("End");
  assert.equal(await timeline().count(), whole);
  assert.match(await page.textContent("#pending"), /None/);
});

test("the same run as a transcript is the same, step for step", async () => {
  const { page } = run;
  for (const server of ["slow", "noisy", "crashes", "lsp"]) {
    await ran(() => choose(page, "session", "Server", server));
    const before = await said();
    const after = await ran(() => page.getByRole("button", { name: "Edit the run" }).click());
    const compared = ({ kind, frame, decisions: told }) => [kind, frame, told];
    assert.deepEqual(after.map(compared), before.map(compared));
    assert.match(await page.textContent("#comparison"), /The same, step for step/);
  }
});

test("an incoming line can be edited, and what differs is marked", async () => {
  const { page } = run;
  const line = page.locator("#timeline > li[data-kind=in]", { hasText: '"words":4' });
  await line.getByRole("button", { name: /^Edit the line/ }).click();
  const area = page.getByRole("textbox", { name: "The line, to be edited" });
  await area.fill((await area.inputValue()).replace('"words":4', '"words":"four"'));
  const steps = await ran(() => page.getByRole("button", { name: "Run with this line" }).click());
  assert.match(decisions(steps), /call 1, word_count: invalid_response, output_schema_violation/);
  const fresh = steps.filter((step) => step.fresh);
  assert.equal(fresh.length, 1);
  assert.match(fresh[0].frame, /four/);
  assert.match(await page.textContent("#comparison"), /1 steps are new or different.*1 of the run before are gone/);
});

test("validation, profile and revision change what comes of it", async () => {
  const { page } = run;
  await ran(() => choose(page, "session", "Server", "liar"));
  const reported = await ran(() => choose(page, "session", "Validation", "report"));
  assert.match(decisions(reported), /call 1, wrong_type: verdict invalid, schema; \/celsius must be number/);
  assert.match(await page.textContent("#comparison"), /new or different/);
  await ran(() => choose(page, "session", "Validation", "off"));
  await ran(() => choose(page, "session", "Server", "quickstart"));
  const strict = await ran(() => choose(page, "session", "Profile", "strict"));
  assert.doesNotMatch(strict.map(({ frame }) => frame).join(), /server\/discover/);
  await ran(() => choose(page, "session", "Profile", "contain"));
  const old = await ran(() => choose(page, "session", "Revision", "2024-11-05"));
  assert.match(decisions(old), /ready2024-11-05, legacy era/);
});

test("a pasted transcript runs, and a line that cannot be read is named", async () => {
  const { page } = run;
  await ran(() => choose(page, "session", "Server", "transcript"));
  assert.match(await shown(page, "Script of the session"), /One input a line/);
  await paste(page, "Script of the session", 'connect\n@5 < {"jsonrpc":"2.0","id":1,"result":7}\nsing\n@6 end\n');
  const steps = await ran(() => page.getByRole("button", { name: "Run", exact: true }).click());
  assert.match(await page.getByRole("alert").first().textContent(), /^Line 3:/);
  assert.match(decisions(steps), /closed/);
});

test("options that the core refuses are said", async () => {
  const { page } = run;
  await ran(() => choose(page, "session", "Profile", "strict"));
  await choose(page, "session", "Era", "modern");
  await page.getByText(/cannot|era|refus/i).and(page.locator("#run-summary")).waitFor();
});
