/**
 * The packed package in every host and bundler that it is for, a row each: installed as users install
 * it, without plugin or configuration, running one program.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import {
  freePort,
  hostProgram,
  hostRequire,
  installHosts,
  packedProject,
  run,
  serveFolder,
  started,
} from "./support/hosts.mjs";
import { EXPECTED, OVER_HTTP } from "./support/program.mjs";

const CHROMIUM = process.env.TOOLWIRE_CHROMIUM ?? "/usr/bin/chromium";

let project;
let remove;
let away;
let browser;

before(async () => {
  away = await installHosts();
  ({ project, remove } = await packedProject());
  await copyFile(
    fileURLToPath(new URL("support/program.mjs", import.meta.url)),
    path.join(project, "program.mjs"),
  );
});

after(async () => {
  await browser?.close();
  await remove?.();
});

/** Writes files of the project and gives the path of the first. */
async function write(files) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(project, name)), { recursive: true });
    await writeFile(path.join(project, name), text);
  }
  return path.join(project, Object.keys(files)[0]);
}

/** A row: skipped, with the reason, only when what it needs could not be fetched. */
function row(name, work, { needs } = {}) {
  test(name, async (t) => {
    if (away !== undefined) {
      t.skip(away);
      return;
    }
    const file = needs === undefined ? undefined : await hostProgram(needs);
    if (needs !== undefined && file === undefined) {
      t.skip(`${needs} has no build for this system`);
      return;
    }
    await work(file, t);
  });
}

/** What a program printed as its last line, as JSON. */
function answer({ stdout, stderr }) {
  assert.equal(stderr, "");
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

const ESM = `
  import * as toolwire from "toolwire";
  import { exercise } from "./program.mjs";
  console.log(JSON.stringify(await exercise(toolwire)));
`;

const HTTP = `
  import * as web from "toolwire/web";
  import { overHttp } from "./program.mjs";
  console.log(JSON.stringify(await overHttp(web)));
`;

const COMMONJS = `
  const toolwire = require("toolwire");
  import("./program.mjs")
    .then(({ exercise }) => exercise(toolwire))
    .then((facts) => console.log(JSON.stringify(facts)));
`;

/** Both loaders in one process: what is bound by one is seen through the other. */
const BOTH = `
  import { createRequire } from "node:module";
  import * as imported from "toolwire";
  import { exercise } from "./program.mjs";
  const required = createRequire(import.meta.url)("toolwire");
  const before = imported.coreInfo().memoryBytes;
  new required.ClientSession({ server: "a" });
  const shared = imported.coreInfo().memoryBytes > before && imported.Schema === required.Schema;
  console.log(JSON.stringify({ ...(await exercise(imported, required)), shared }));
`;

async function nodeRuns(node) {
  const file = { esm: "esm.mjs", commonjs: "commonjs.cjs", both: "both.mjs" };
  await write({ [file.esm]: ESM, [file.commonjs]: COMMONJS, [file.both]: BOTH });
  const runs = (name, ...flags) => run(node, [...flags, name], { cwd: project }).then(answer);
  assert.deepEqual(await runs(file.esm), EXPECTED);
  assert.deepEqual(await runs(file.commonjs), EXPECTED);
  assert.deepEqual(await runs(file.both), { ...EXPECTED, shared: true });
  await write({ "http.mjs": HTTP });
  assert.deepEqual(await runs("http.mjs"), OVER_HTTP);
  const flag = "--disallow-code-generation-from-strings";
  assert.deepEqual(await runs(file.both, flag), { ...EXPECTED, shared: true });
}

test("this Node: import, require, both at once, and without code from strings (K01)", () =>
  nodeRuns(process.execPath));

for (const version of ["22", "24"]) {
  row(`Node ${version}: the same`, nodeRuns, { needs: `node-${version}/bin/node` });
}

row(
  "Node 22: an ECMAScript module by require",
  async (node) => {
    const source = `
      const required = require("toolwire");
      const { compileSchema } = require("./reexport.mjs");
      console.log(JSON.stringify(compileSchema === required.compileSchema));
    `;
    await write({ "reexport.mjs": 'export * from "toolwire";\n', "requires.cjs": source });
    assert.equal(answer(await run(node, ["requires.cjs"], { cwd: project })), true);
  },
  { needs: "node-22/bin/node" },
);

row(
  "Deno, without a permission",
  async (deno) => {
    const file = await write({ "deno.mjs": ESM });
    const flags = ["run", "--no-prompt", "--no-lock", "--cached-only"];
    const env = { ...process.env, DENO_DIR: path.join(project, ".deno"), NO_COLOR: "1" };
    const runs = async (program) => answer(await run(deno, [...flags, program], { cwd: project, env }));
    assert.deepEqual(await runs(file), EXPECTED);
    assert.deepEqual(await runs(await write({ "deno-http.mjs": HTTP })), OVER_HTTP);
    // Every entry loads; none asks for anything before it is used.
    const entries = ["toolwire/node", "toolwire/sdk", "toolwire/web", "toolwire/ai", "toolwire/slim"];
    const source = `
      const counts = [];
      for (const name of ${JSON.stringify(entries)}) {
        counts.push(Object.keys(await import(name)).length > 3);
      }
      console.log(JSON.stringify(counts));
    `;
    const all = await write({ "deno-entries.mjs": source });
    assert.deepEqual(await runs(all), entries.map(() => true));
  },
  { needs: "@deno/linux-x64-glibc/deno" },
);

row(
  "Bun",
  async (bun) => {
    await write({ "bun.mjs": ESM, "bun.cjs": COMMONJS, "bun-both.mjs": BOTH });
    for (const file of ["bun.mjs", "bun.cjs"]) {
      assert.deepEqual(answer(await run(bun, [file], { cwd: project })), EXPECTED, file);
    }
    await write({ "bun-http.mjs": HTTP });
    assert.deepEqual(answer(await run(bun, ["bun-http.mjs"], { cwd: project })), OVER_HTTP);
    const both = answer(await run(bun, ["bun-both.mjs"], { cwd: project }));
    assert.deepEqual(both, { ...EXPECTED, shared: true });
  },
  { needs: "@oven/bun-linux-x64/bin/bun" },
);

/** Bundles with esbuild; a warning is a failure. */
async function esbuild(options) {
  const { errors, warnings } = await hostRequire("esbuild").build({
    absWorkingDir: project,
    bundle: true,
    format: "esm",
    logLevel: "silent",
    write: true,
    ...options,
  });
  assert.deepEqual([...errors, ...warnings], []);
}

const WORKER = `
  import * as toolwire from "toolwire";
  import * as web from "toolwire/web";
  import * as sdk from "toolwire/sdk";
  import * as ai from "toolwire/ai";
  import { exercise, overHttp } from "./program.mjs";
  // Ready while the program is loaded, where nothing may be awaited.
  const early = toolwire.compileSchema({ type: "integer" }).isValid(1);
  const same = [web, sdk, ai].every((entry) => entry.ToolwireError === toolwire.ToolwireError);
  export default {
    async fetch() {
      const http = await overHttp(web);
      return Response.json({ ...(await exercise(toolwire)), early, same, http });
    },
  };
`;

row(
  "workerd",
  async (workerd) => {
    await write({ "worker.mjs": WORKER });
    // As wrangler bundles: its conditions, and WebAssembly beside the program.
    await esbuild({
      entryPoints: ["worker.mjs"],
      outdir: "workerd",
      conditions: ["workerd", "worker", "browser"],
      loader: { ".wasm": "copy" },
    });
    const wasm = (await readdir(path.join(project, "workerd"))).filter((name) => name.endsWith(".wasm"));
    assert.equal(wasm.length, 1);
    const port = await freePort();
    await write({
      "workerd/config.capnp": `using Workerd = import "/workerd/workerd.capnp";
        const config :Workerd.Config = (
          services = [(name = "main", worker = .main)],
          sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
        );
        const main :Workerd.Worker = (
          modules = [
            (name = "worker.js", esModule = embed "worker.js"),
            (name = "${wasm[0]}", wasm = embed "${wasm[0]}"),
          ],
          compatibilityDate = "2026-01-01",
        );
      `,
    });
    const server = started(workerd, ["serve", "config.capnp"], { cwd: path.join(project, "workerd") });
    try {
      const facts = await eventually(() => fetch(`http://127.0.0.1:${port}/`), server);
      assert.deepEqual(await facts.json(), { ...EXPECTED, early: true, same: true, http: OVER_HTTP });
    } finally {
      await server.end();
    }
  },
  { needs: "@cloudflare/workerd-linux-64/bin/workerd" },
);

/** Asks until there is an answer. */
async function eventually(ask, server) {
  const end = performance.now() + 30_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > end) {
        throw new Error(`no answer; it printed ${server.printed()}`, { cause: error });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** What a realm of its own needs beside the language, as every host of the web has it. */
const WEB_GLOBALS = [
  "AbortController",
  "AbortSignal",
  "Headers",
  "MessageChannel",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "clearTimeout",
  "crypto",
  "performance",
  "queueMicrotask",
  "setTimeout",
];

row("an edge function: no code from strings, no WebAssembly from bytes (K02)", async () => {
  await write({ "edge.mjs": WORKER });
  // Bundlers for edge functions compile what `?module` names and hand it over.
  await esbuild({
    entryPoints: ["edge.mjs"],
    outfile: path.join(project, "edge.js"),
    conditions: ["edge-light", "browser"],
    external: ["*.wasm?module"],
  });
  const bundled = await readFile(path.join(project, "edge.js"), "utf8");
  assert.match(bundled, /toolwire\.wasm\?module"/);
  const source = `
    import { readFileSync } from "node:fs";
    import vm from "node:vm";
    const names = ${JSON.stringify(WEB_GLOBALS)};
    const context = vm.createContext(
      Object.fromEntries(names.map((name) => [name, globalThis[name]])),
      { codeGeneration: { strings: false, wasm: false } },
    );
    const compiled = new WebAssembly.Module(readFileSync("node_modules/toolwire/toolwire.wasm"));
    const module = new vm.SourceTextModule(readFileSync("edge.js", "utf8"), { context });
    const refused = vm.runInContext(
      "try { new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); false } catch { true }",
      context,
    );
    await module.link(() => new vm.SyntheticModule(
      ["default"], function () { this.setExport("default", compiled); }, { context },
    ));
    await module.evaluate();
    const response = await module.namespace.default.fetch();
    console.log(JSON.stringify({ ...(await response.json()), refused }));
  `;
  await write({ "edge-host.mjs": source });
  const flags = ["--experimental-vm-modules", "--no-warnings", "edge-host.mjs"];
  const facts = answer(await run(process.execPath, flags, { cwd: project }));
  assert.deepEqual(facts, { ...EXPECTED, early: true, same: true, http: OVER_HTTP, refused: true });
});

row("a realm without WebAssembly from bytes is given a module by initSync (K02)", async () => {
  await write({
    "realm.mjs": `
      import * as toolwire from "toolwire/slim";
      import { exercise } from "./program.mjs";
      globalThis.answer = (module) => {
        toolwire.initSync({ module });
        return exercise(toolwire).then(JSON.stringify);
      };
    `,
  });
  await esbuild({ entryPoints: ["realm.mjs"], outfile: path.join(project, "realm.js"), format: "iife" });
  const source = `
    import { readFileSync } from "node:fs";
    import vm from "node:vm";
    const names = ${JSON.stringify(WEB_GLOBALS)};
    const context = vm.createContext(
      Object.fromEntries(names.map((name) => [name, globalThis[name]])),
      { codeGeneration: { strings: false, wasm: false } },
    );
    vm.runInContext(readFileSync("realm.js", "utf8"), context);
    const module = new WebAssembly.Module(readFileSync("node_modules/toolwire/toolwire.wasm"));
    console.log(await context.answer(module));
  `;
  await write({ "realm-host.mjs": source });
  assert.deepEqual(answer(await run(process.execPath, ["realm-host.mjs"], { cwd: project })), EXPECTED);
});

const PAGE = `
  import * as toolwire from "toolwire";
  import { exercise } from "./program.mjs";
  exercise(toolwire).then(
    (facts) => { globalThis.facts = facts; },
    (error) => { globalThis.facts = String(error?.stack ?? error); },
  );
`;

const html = (script) =>
  `<!doctype html><meta charset="utf-8"><title>t</title><script type="module" src="${script}"></script>`;

/** Opens a page of Chromium's and gives what its program leaves in `facts`. */
async function inChromium(url, t) {
  if (!existsSync(CHROMIUM)) {
    t.skip(`there is no Chromium at ${CHROMIUM}`);
    return undefined;
  }
  browser ??= await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  const page = await browser.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.location().url.endsWith("/favicon.ico")) {
      complaints.push(message.text());
    }
  });
  try {
    await page.goto(url);
    const handle = await page
      .waitForFunction(() => globalThis.facts, undefined, { timeout: 60_000 })
      .catch((error) => {
        throw new Error(`${error.message}; the page said ${complaints.join("; ")}`);
      });
    assert.deepEqual(complaints, []);
    return await handle.jsonValue();
  } finally {
    await page.close();
  }
}

/** Serves a folder of the project and opens its page. */
async function served(folder, t, headers) {
  const site = await serveFolder(path.join(project, folder), headers);
  try {
    return await inChromium(`${site.url}`, t);
  } finally {
    site.stop();
  }
}

async function works(facts) {
  if ((await facts) !== undefined) {
    assert.deepEqual(await facts, EXPECTED);
  }
}

const POLICY = { "content-security-policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'" };

/** The modules as they are published, without a bundler. */
async function pageOf(files) {
  const inside = Object.entries(files).map(([name, text]) => [`site/${name}`, text]);
  await write(Object.fromEntries(inside));
  const site = path.join(project, "site");
  await copyFile(path.join(project, "program.mjs"), path.join(site, "program.mjs"));
  await cp(path.join(project, "node_modules/toolwire"), path.join(site, "toolwire"), { recursive: true });
}

const BY_PATH = PAGE.replace('"toolwire"', '"./toolwire/esm/entry/index.js"');

test("Chromium, a page under a policy without eval", async (t) => {
  await pageOf({ "index.html": html("./main.mjs"), "main.mjs": BY_PATH });
  await works(served("site", t, POLICY));
});

test("Chromium, a module worker under the same policy", async (t) => {
  await pageOf({
    "index.html": html("./main.mjs"),
    "main.mjs": `
      const worker = new Worker("./worker.mjs", { type: "module" });
      worker.onmessage = ({ data }) => { globalThis.facts = data; };
      worker.onerror = ({ message }) => { globalThis.facts = message; };
    `,
    "worker.mjs": `
      import * as toolwire from "./toolwire/esm/entry/index.js";
      import { exercise } from "./program.mjs";
      exercise(toolwire).then(postMessage, (error) => postMessage(String(error?.stack ?? error)));
    `,
  });
  await works(served("site", t, POLICY));
});

test("Chromium, slim under the same policy", async (t) => {
  const main = BY_PATH.replace("entry/index.js", "entry/slim.js").replace(
    "exercise(toolwire)",
    'toolwire.init("./toolwire/toolwire.wasm").then(() => exercise(toolwire))',
  );
  await pageOf({ "index.html": html("./main.mjs"), "main.mjs": main });
  await works(served("site", t, POLICY));
});

row("esbuild, for pages", async (_, t) => {
  await write({ "esbuild/main.mjs": PAGE.replace("./program", "../program"), "esbuild/index.html": html("./out.js") });
  await esbuild({ entryPoints: ["esbuild/main.mjs"], outfile: path.join(project, "esbuild/out.js") });
  await works(served("esbuild", t, POLICY));
});

row("esbuild, for Node", async () => {
  const source = `
    import * as toolwire from "toolwire";
    import { exercise } from "./program.mjs";
    exercise(toolwire).then((facts) => console.log(JSON.stringify(facts)));
  `;
  await write({ "bundled.mjs": source });
  for (const [format, outfile] of [["esm", "bundled-esm.mjs"], ["cjs", "bundled-cjs.cjs"]]) {
    await esbuild({ entryPoints: ["bundled.mjs"], outfile, platform: "node", format });
    assert.deepEqual(answer(await run(process.execPath, [outfile], { cwd: project })), EXPECTED);
  }
});

row("Rollup, with what it needs to find packages at all", async (_, t) => {
  await write({ "rollup/main.mjs": PAGE.replace("./program", "../program"), "rollup/index.html": html("./out.js") });
  const { rollup } = hostRequire("rollup");
  const { nodeResolve } = hostRequire("@rollup/plugin-node-resolve");
  const warnings = [];
  const bundle = await rollup({
    input: path.join(project, "rollup/main.mjs"),
    plugins: [nodeResolve()],
    onwarn: (warning) => warnings.push(warning.message),
  });
  await bundle.write({ file: path.join(project, "rollup/out.js"), format: "es" });
  await bundle.close();
  assert.deepEqual(warnings, []);
  await works(served("rollup", t, POLICY));
});

row("webpack 5", async (_, t) => {
  await write({ "webpack/main.mjs": PAGE.replace("./program", "../program"), "webpack/index.html": html("./main.js") });
  const webpack = hostRequire("webpack");
  const stats = await new Promise((resolve, reject) => {
    const output = { path: path.join(project, "webpack") };
    webpack({ mode: "production", context: project, entry: "./webpack/main.mjs", output }, (error, found) =>
      error ? reject(error) : resolve(found),
    );
  });
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  // That the bundle is large is no finding about the package.
  const told = warnings.filter(({ message }) => !/performance|size limit/.test(message));
  assert.deepEqual([...errors, ...told].map(({ message }) => message), []);
  await works(served("webpack", t, POLICY));
});

async function viteProject(name) {
  await write({
    [`${name}/main.mjs`]: PAGE,
    [`${name}/index.html`]: html("/main.mjs"),
    [`${name}/package.json`]: '{ "private": true, "type": "module" }',
  });
  await copyFile(path.join(project, "program.mjs"), path.join(project, name, "program.mjs"));
  const vite = await import(pathToFileURL(hostRequire.resolve("vite")).href);
  const root = path.join(project, name);
  return { vite, config: { root, configFile: false, logLevel: "silent", cacheDir: path.join(root, ".vite") } };
}

row("Vite, dev", async (_, t) => {
  const { vite, config } = await viteProject("vite-dev");
  const server = await vite.createServer({ ...config, server: { port: await freePort(), host: "127.0.0.1" } });
  try {
    await server.listen();
    await works(inChromium(server.resolvedUrls.local[0], t));
  } finally {
    await server.close();
  }
});

row("Vite, build", async (_, t) => {
  const { vite, config } = await viteProject("vite-build");
  await vite.build(config);
  await works(served("vite-build/dist", t, POLICY));
});

row("Vite, build of slim with the file's address", async (_, t) => {
  const { vite, config } = await viteProject("vite-slim");
  const main = PAGE.replace('"toolwire"', '"toolwire/slim"')
    .replace("import {", 'import url from "toolwire/toolwire.wasm?url";\n  import {')
    .replace("exercise(toolwire)", "toolwire.init(url).then(() => exercise(toolwire))");
  await write({ "vite-slim/main.mjs": main });
  await vite.build(config);
  const assets = await readdir(path.join(project, "vite-slim/dist/assets"));
  assert.equal(assets.filter((name) => name.endsWith(".wasm")).length, 1);
  await works(served("vite-slim/dist", t, POLICY));
});
