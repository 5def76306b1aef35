/** The Pipeline and Gateway panels, through their controls. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { choose, paste, playground } from "./playground.mjs";

const run = playground({ hash: "#pipeline" });

/** Waits until a step says so. */
const says = (step, words) => run.page.locator(`#steps > [data-step=${step}]`, { hasText: words }).waitFor();

const envelope = async () => JSON.parse(await run.page.textContent("#envelope"));

test("a handler's return is wrapped, made to fit and judged", async () => {
  await says("detect", "It is data, no envelope");
  await says("wrap", "source local");
  await says("normalize", "/celsius: replaced");
  await says("validate", "valid");
  const { data, meta } = await envelope();
  assert.deepEqual(data, { city: "Lisbon", celsius: 0, seen: true, unit: "celsius" });
  assert.equal(meta.source, "local");
});

test("how it is normalized can be chosen", async () => {
  const { page } = run;
  await choose(page, "pipeline", "Normalize", "off");
  await says("validate", "invalid");
  assert.equal((await envelope()).data.celsius, "21");
  await choose(page, "pipeline", "Normalize", "defaults");
  await says("normalize", "/unit: default");
  assert.deepEqual((await envelope()).data, { city: "Lisbon", celsius: "21", seen: true, unit: "celsius" });
});

test("an envelope is handed on, unless it is to be wrapped always", async () => {
  const { page } = run;
  await choose(page, "pipeline", "Example", { label: "Handler: an envelope of HTTP" });
  await says("wrap", "Handed on, source http");
  assert.equal((await envelope()).meta.statusCode, 200);
  await page.getByLabel("Wrap always").check();
  await says("wrap", "Wrapped, source local");
  assert.equal((await envelope()).data.meta.statusCode, 200);
});

test("a tool's result that violates is thrown, or reported", async () => {
  const { page } = run;
  await choose(page, "pipeline", "Example", { label: "Tool: structured content that does not" });
  await says("validate", "Thrown: invalid_response");
  assert.match(await page.textContent("#pipeline-fault"), /^invalid_response/);
  await choose(page, "pipeline", "Validation", "report");
  await says("validate", "/celsius: must be number");
  await says("wrap", "Content block 1: missing_text");
  assert.equal((await envelope()).meta.source, "mcp");
});

test("text is parsed where that is asked for", async () => {
  const { page } = run;
  await choose(page, "pipeline", "Example", { label: "Tool: JSON in its text alone" });
  await says("validate", "unchecked");
  await page.getByLabel("Parse text as a fallback").check();
  await page.waitForFunction(() => document.querySelector("#envelope").textContent.includes('"city": "Lisbon"'));
  assert.equal((await envelope()).data.city, "Lisbon");
});

test("what is not JSON, and a schema that does not compile, are said", async () => {
  const { page } = run;
  await paste(page, "What came in", "{");
  await page.getByText("What came in is not JSON.").waitFor();
  await paste(page, "What came in", "{}");
  await paste(page, "Output schema", '{ "type": 7 }');
  await page.getByText(/^schema_error/).waitFor();
});

const tab = (name) => run.page.getByRole("tab", { name }).click();
const row = (identity) => run.page.locator("#each tr", { has: run.page.getByRole("rowheader", { name: identity, exact: true }) });

test("a search shows each identity what it may call", async () => {
  const { page } = run;
  await tab("Gateway");
  await row("reader").getByText("notes.digest, notes.list, notes.read").waitFor();
  assert.match(await row("nobody").textContent(), /answerednotes\.digest$/);
  assert.match(await page.textContent("#model-sees"), /notes\.digest/);
  assert.doesNotMatch(await page.textContent("#model-sees"), /notes\.list/);
  assert.equal(await page.locator("#gateway-tools details").count(), 4);
  assert.equal(await page.locator("#operations tr").count(), 10);
});

test("a call is answered, refused, or made to fit, and as whom can be chosen", async () => {
  const { page } = run;
  await tab("Gateway");
  await choose(page, "gateway", "Example", { label: "Read a note one may not have" });
  await row("nobody").getByText("FORBIDDEN").waitFor();
  await row("writer").getByText("answered").waitFor();
  await choose(page, "gateway", "As", "writer");
  await page.locator("#structured", { hasText: "Groceries" }).waitFor();
  await choose(page, "gateway", "Example", { label: "Input that does not fit" });
  await row("writer").getByText("INVALID_INPUT").waitFor();
  await choose(page, "gateway", "Example", { label: "A hidden operation" });
  await row("admin").getByText("NOT_FOUND").waitFor();
  await choose(page, "gateway", "Example", { label: "An operation that calls others" });
  await row("nobody").getByText('"notes":2').waitFor();
  await choose(page, "gateway", "Example", { label: "Too slow" });
  await row("nobody").getByText("TIMEOUT").waitFor();
});

test("a batch settles each of its calls, and an identity of one's own counts", async () => {
  const { page } = run;
  await tab("Gateway");
  await choose(page, "gateway", "Example", { label: "A batch" });
  await row("nobody").getByText("answered, FORBIDDEN, FORBIDDEN, NOT_FOUND").waitFor();
  await row("admin").getByText("answered, answered, answered, NOT_FOUND").waitFor();
  await paste(page, "Identity", '{ "id": "me", "scopes": ["admin", "notes:write"] }');
  await row("custom").getByText("answered, FORBIDDEN, answered, NOT_FOUND").waitFor();
  await paste(page, "Arguments of the tool", "{");
  await page.getByText(/The arguments cannot be read/).waitFor();
});
