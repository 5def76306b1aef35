/** What holds for every panel: links, reports, keys, colours, sizes, accessibility, the policy. */

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { choose, paste, playground, shown } from "./playground.mjs";

// In a folder, as on a page of a project: every address in the site is relative.
const run = playground({ under: "/some/folder/" });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PANELS = ["Validate", "Session", "Pipeline", "Gateway"];
const READY = {
  Validate: "#answer[data-verdict=invalid]:not([data-pending])",
  Session: "#timeline:not([aria-busy]) > li",
  Pipeline: "#steps > [data-step=validate]",
  Gateway: "#each tr + tr",
};

async function open(name) {
  await run.page.getByRole("tab", { name }).click();
  await run.page.waitForSelector(READY[name]);
}

test("a link brings back each panel as it was", async () => {
  const { page } = run;
  const given = {
    Validate: ["Value", '{"linked": "värld"}'],
    Session: ["Script of the session", "call linked {}\n"],
    Pipeline: ["What came in", '{"linked": 1}'],
    Gateway: ["Arguments of the tool", '{"query": "linked"}'],
  };
  for (const name of PANELS) {
    await open(name);
    const [label, text] = given[name];
    await paste(page, label, text);
    if (name === "Session") await choose(page, "session", "Profile", "strict");
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText(/^Link copied/).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#[a-z]+\.[\w-]+$/);
    const other = await run.context.newPage();
    await other.goto(link);
    await other.waitForSelector(name === "Validate" ? "#answer:not([data-pending])" : READY[name]);
    assert.equal(await shown(other, label), text.trimEnd() + (text.endsWith("\n") ? "\n" : ""));
    assert.equal(await other.getAttribute(`#tab-${name.toLowerCase()}`, "aria-selected"), "true");
    if (name === "Session") {
      assert.equal(await other.getByRole("combobox", { name: "Profile", exact: true }).inputValue(), "strict");
    }
    await other.close();
  }
});

test("what is too large for a link, and a link that is broken, are said", async () => {
  const { page } = run;
  const random = Array.from({ length: 9_000 }, (_, index) => Math.sin(index)).join();
  await paste(page, "Value", `[${random}]`);
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByText(/too large for a link \(at most 16,000 characters\)/).waitFor();
  assert.doesNotMatch(page.url(), /#validate\./);
  await page.goto(`${run.site.url}#pipeline.AAAA`);
  await page.getByText(/The link cannot be read/).waitFor();
  assert.equal(await page.getAttribute("#tab-pipeline", "aria-selected"), "true");
});

test("a bug report holds inputs and outcome", async () => {
  const { page } = run;
  const expected = {
    Validate: /\*\*invalid\*\*.*[\s\S]*`\/sky`/,
    Session: /word_count[\s\S]*verdict valid/,
    Pipeline: /normalize: \*\*2 changes\*\*/,
    Gateway: /- nobody: \*\*answered\*\* notes\.digest/,
  };
  for (const name of PANELS) {
    await open(name);
    await page.getByRole("button", { name: "Bug report" }).click();
    await page.getByText("Bug report copied").waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /^## toolwire playground: /);
    assert.match(text, /toolwire \d+\.\d+\.\d+; Mozilla/);
    assert.match(text, expected[name]);
  }
});

test("keys lead through the tabs, out of the editors and to the marks", async () => {
  const { page } = run;
  await page.waitForSelector(READY.Validate);
  await page.getByRole("tab", { name: "Validate" }).focus();
  for (const name of ["Session", "Pipeline", "Gateway", "Validate"]) {
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
    assert.ok(await page.locator(`#panel-${name.toLowerCase()}`).isVisible());
  }
  const label = () => page.evaluate(() => document.activeElement.shadowRoot?.activeElement.ariaLabel);
  await page.getByRole("textbox", { name: "Schema", exact: true }).focus();
  await page.keyboard.press("Tab");
  assert.equal(await label(), "Value");
  await page.keyboard.press("F8");
  const line = await page.evaluate(() => document.activeElement.shadowRoot.querySelector(".cm-activeLine").textContent);
  assert.match(line, /temperature/);
  await page.keyboard.press("Tab");
  assert.equal(await label(), undefined);
});

test("the theme is chosen and remembered", async () => {
  const { page } = run;
  const scheme = () => page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  assert.equal(await scheme(), "light dark");
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  assert.equal(await scheme(), "dark");
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  assert.equal(await scheme(), "dark");
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [360, 1280]) {
    test(`axe finds nothing serious, and nothing overflows: ${colorScheme}, ${width} px`, async () => {
      const { page } = run;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      for (const name of PANELS) {
        await open(name);
        // Playwright evaluates outside the page's policy; the page itself could not.
        await page.evaluate(axe);
        const found = await page.evaluate(async () => {
          const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
          return violations
            .filter(({ impact }) => impact === "serious" || impact === "critical")
            .map(({ id, nodes }) => [id, nodes.map(({ target }) => String(target))]);
        });
        assert.deepEqual(found, [], name);
        const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.equal(over, 0, name);
      }
    });
  }
}

test("nothing shifts while the page loads", async () => {
  const { page } = run;
  await page.addInitScript(() => {
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) globalThis.shift += value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  for (const name of PANELS) {
    await page.goto("about:blank");
    await page.goto(`${run.site.url}#${name.toLowerCase()}`);
    await page.waitForSelector(READY[name]);
    await page.waitForTimeout(300);
    const shift = await page.evaluate(() => globalThis.shift);
    assert.ok(shift < 0.02, `${name}: ${shift}`);
  }
});

test("the policy holds: no eval, no style element, no other origin", async () => {
  const { page } = run;
  const response = await fetch(run.site.url);
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'";
  assert.equal(response.headers.get("content-security-policy"), policy);
  assert.ok((await response.text()).includes(policy));
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.reload();
  for (const name of PANELS) await open(name);
  assert.ok(asked.length > 4);
  assert.deepEqual(asked.filter((url) => !url.startsWith(run.site.url)), []);
});

test("the first load has a bound, compressed", async () => {
  const { page, served } = run;
  await page.waitForSelector(READY.Validate);
  await page.waitForLoadState("networkidle");
  const files = [...new Set(served)];
  for (const part of [/index\.html$/, /\.css$/, /index-.*\.js$/, /worker-.*\.js$/, /\.wasm$/]) {
    assert.ok(files.some((file) => part.test(file)), `${part} is not asked for`);
  }
  const isCore = (file) => file.endsWith(".wasm");
  const total = (list) => list.reduce((sum, file) => sum + brotliCompressSync(readFileSync(file)).length, 0);
  const code = total(files.filter((file) => !isCore(file)));
  assert.ok(code < 105_000, `${code} bytes without the core`);
  // A core that was built quickly is optimised neither for size nor by binaryen.
  const core = files.filter((file) => isCore(file) && statSync(file).size < 1_500_000);
  assert.ok(code + total(core) < 500_000, `${code} bytes, and the core`);
});

test("a panel is loaded when one comes near it, and what cannot be loaded is said", { timeout: 60_000 }, async () => {
  const { page, context, served } = run;
  await page.waitForSelector(READY.Validate);
  const panels = () => served.filter((file) => /(session|pipeline|gateway)-.*\.js$/.test(file));
  assert.deepEqual(panels(), []);
  await page.getByRole("tab", { name: "Session" }).hover();
  while (panels().length < 3) await page.waitForTimeout(50);
  assert.ok(await page.locator("#panel-validate").isVisible());
  const other = await context.newPage();
  await other.route(/assets\/gateway-.*\.js$/, (route) => route.abort());
  await other.goto(`${run.site.url}#gateway`);
  await other.getByText("The panel Gateway could not be loaded").waitFor();
  await other.getByRole("tab", { name: "Pipeline" }).click();
  await other.waitForSelector(READY.Pipeline);
  await other.close();
});

test("the server answers nothing outside its folder", async () => {
  const status = async (path) => (await fetch(new URL(path, run.site.url))).status;
  assert.equal(await status("./"), 200);
  assert.equal(await status("./favicon.svg"), 200);
  for (const path of ["/", "../../package.json", "./..%2fpackage.json", "./%00", "/some/folder/..%2f..%2fserve.mjs"]) {
    assert.equal(await status(path), 404, path);
  }
});
