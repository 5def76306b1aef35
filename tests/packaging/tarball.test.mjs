/** What is published: the tarball, installed in an empty project, loaded in every way it offers. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
const run = promisify(execFile);
let project;
let installed;

before(async () => {
  project = await mkdtemp(path.join(tmpdir(), "toolwire-packaging-"));
  await run(npm, ["pack", "--silent", "--pack-destination", project], { cwd: path.join(root, "pkg") });
  const [tarball] = (await readdir(project)).filter((name) => name.endsWith(".tgz"));
  await writeFile(path.join(project, "package.json"), '{ "private": true }\n');
  await run(npm, ["install", "--offline", "--no-audit", "--no-fund", `./${tarball}`], { cwd: project });
  installed = path.join(project, "node_modules/toolwire");
});

after(() => rm(project, { recursive: true, force: true }));

/** Runs a program in the project and gives what it printed, as JSON. */
async function program(source, { type = "module", flags = [] } = {}) {
  const file = path.join(project, type === "module" ? "program.mjs" : "program.cjs");
  await writeFile(file, source);
  const { stdout, stderr } = await run(process.execPath, [...flags, file], { cwd: project });
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

const manifest = () => JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"));

async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)));
}

test("it has licences, a changelog, a version, no dependency and no install script", async () => {
  const files = await filesBelow(installed);
  for (const name of ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "toolwire.wasm"]) {
    assert.ok(files.includes(name), name);
  }
  const { version, dependencies, scripts, license } = manifest();
  assert.match(readFileSync(path.join(root, "Cargo.toml"), "utf8"), new RegExp(`^version = "${version}"$`, "m"));
  assert.equal(license, "MIT OR Apache-2.0");
  assert.equal(dependencies, undefined);
  assert.equal(scripts, undefined);
});

test("the tarball holds every file of pkg/", async () => {
  const packed = (await filesBelow(installed)).sort();
  assert.deepEqual(packed, (await filesBelow(path.join(root, "pkg"))).sort());
});

test("no file evaluates text, prints, or names a folder of the machine that built it", async () => {
  for (const name of await filesBelow(installed)) {
    const text = readFileSync(path.join(installed, name), "latin1");
    assert.ok(!text.includes(root), `${name} names the folder it was built in`);
    if (/\.(js|mjs|cjs)$/.test(name)) {
      assert.doesNotMatch(text, /\beval\(|\bnew Function\b/, name);
    }
    // Printing is what the program is for.
    if (/\.(js|mjs|cjs)$/.test(name) && !name.startsWith("cli")) {
      assert.doesNotMatch(text, /\bconsole\.\w+\(/, name);
    }
  }
});

test("the binary is valid, exports no trap, and is the one that the modules carry", async () => {
  const bytes = readFileSync(path.join(installed, "toolwire.wasm"));
  const names = WebAssembly.Module.exports(new WebAssembly.Module(bytes)).map(({ name }) => name);
  assert.ok(names.includes("memory"));
  assert.deepEqual(names.filter((name) => /trap|panic_now/i.test(name)), []);
  const carried = readFileSync(path.join(installed, "esm/lib/bytes.js"), "utf8");
  assert.ok(carried.includes(`"${bytes.toString("base64")}"`));
});

test("the program runs as npx runs it, and has the bytes of the core from the package", async () => {
  const program = path.join(installed, "cli/toolwire.cjs");
  const text = readFileSync(program, "utf8");
  assert.match(text, /^#!\/usr\/bin\/env node\n/);
  assert.ok(text.length < 600_000 && !/AGFzbQ/.test(text), "the bytes are bundled");
  if (process.platform !== "win32") {
    assert.equal(statSync(program).mode & 0o111, 0o111);
  }
  await writeFile(path.join(project, "schema.json"), '{ "type": "object" }');
  await writeFile(path.join(project, "value.json"), "[]");
  const options = { cwd: project, shell: process.platform === "win32" };
  const { stdout } = await run(path.join(project, "node_modules/.bin/toolwire"), ["--version"], options);
  assert.equal(stdout.trim(), manifest().version);
  const npx = ["exec", "--offline", "--", "toolwire", "validate", "schema.json", "value.json"];
  const judged = await run(npm, npx, options).catch((error) => error);
  assert.equal(judged.code, 1);
  assert.match(judged.stdout, /invalid {2}value\.json\n {2}value\.json:1:1: \(root\) must be object/);
});

test("the licences of what is in the program are kept", () => {
  const program = readFileSync(path.join(installed, "cli/toolwire.cjs"), "utf8");
  const licences = readFileSync(path.join(installed, "cli/THIRD-PARTY.txt"), "utf8");
  const bundled = new Set([...program.matchAll(/node_modules\/((?:@[^/\s]+\/)?[^/\s"]+)\//g)].map(([, name]) => name));
  assert.ok(bundled.size >= 5);
  for (const name of bundled) {
    const at = licences.search(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, "m"));
    assert.ok(at !== -1, name);
    assert.match(licences.slice(at, at + 2_000), /Copyright|copyright/, name);
  }
});

test("import and require work, and share one copy", async () => {
  const answer = await program(`
    import { createRequire } from "node:module";
    import * as imported from "toolwire";
    const required = createRequire(import.meta.url)("toolwire");
    const names = Object.keys(required).filter((name) => required[name] !== imported[name]);
    const schema = imported.compileSchema({ type: "integer" });
    const verdicts = [schema.isValid(1), schema.isValid("1")];
    console.log(JSON.stringify({ count: Object.keys(imported).length, names, verdicts }));
  `);
  assert.ok(answer.count > 5);
  assert.deepEqual(answer.names, []);
  assert.deepEqual(answer.verdicts, [true, false]);
});

test("a CommonJS program needs nothing but require", async () => {
  const answer = await program(
    `const { compileSchema } = require("toolwire");
     console.log(JSON.stringify(compileSchema({ minimum: 3 }).validate(2).errors[0].keyword));`,
    { type: "commonjs" },
  );
  assert.equal(answer, "minimum");
});

test("every entry of the manifest loads under Node, in both ways", async () => {
  const entries = Object.keys(manifest().exports).filter((key) => !/\.(wasm|json)$/.test(key));
  const names = entries.map((key) => `toolwire${key.slice(1)}`);
  const answer = await program(`
    import { createRequire } from "node:module";
    const require = createRequire(import.meta.url);
    const shared = [];
    for (const name of ${JSON.stringify(names)}) {
      const [imported, required] = [await import(name), require(name)];
      shared.push(Object.keys(required).every((key) => imported[key] === required[key]));
    }
    console.log(JSON.stringify(shared));
  `);
  assert.deepEqual(answer, names.map(() => true));
});

test("the other conditions lead to modules that load", async () => {
  const source = `
    import { compileSchema, init } from "toolwire";
    await init();
    console.log(JSON.stringify(compileSchema(true).isValid(1)));
  `;
  assert.equal(await program(source, { flags: ["--conditions=browser"] }), true);
  assert.equal(await program(source, { flags: ["--conditions=deno"] }), true);
});

test("slim takes the bytes it is given", async () => {
  const answer = await program(`
    import { readFileSync, statSync } from "node:fs";
    import { createRequire } from "node:module";
    import { compileSchema, initSync } from "toolwire/slim";
    const bytes = readFileSync(createRequire(import.meta.url).resolve("toolwire/toolwire.wasm"));
    initSync(bytes);
    console.log(JSON.stringify(compileSchema({ type: "null" }).isValid(null)));
  `);
  assert.equal(answer, true);
});

test("TypeScript finds types for import and for require", async () => {
  const source = `
    import { compileSchema, type Verdict } from "toolwire";
    const verdict: Verdict = compileSchema({ type: "string" }).validate("");
    const keyword: string | undefined = verdict.errors[0]?.keyword;
    export { keyword };
  `;
  const wrong = `
    import { compileSchema } from "toolwire";
    const count: number = compileSchema(true).validate(1);
    export { count };
  `;
  const tsc = path.join(root, "tests/node_modules/typescript/bin/tsc");
  const folder = path.join(project, "typed");
  await mkdir(folder, { recursive: true });
  const check = async (name, text, resolution) => {
    const lib = ["es2022", "dom", "esnext.disposable"];
    const compilerOptions = { ...resolution, noEmit: true, strict: true, target: "es2022", lib, types: [] };
    await writeFile(path.join(folder, name), text);
    await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [name] }));
    await run(process.execPath, [tsc, "--project", folder]).catch(({ stdout }) => {
      throw new Error(stdout);
    });
  };
  const node16 = { module: "node16", moduleResolution: "node16" };
  await check("a.mts", source, node16);
  await check("a.cts", source, node16);
  await check("a.ts", source, { module: "esnext", moduleResolution: "bundler" });
  await assert.rejects(check("b.mts", wrong, node16), /TS2322/);
  await assert.rejects(check("b.cts", wrong, node16), /TS2322/);
});
