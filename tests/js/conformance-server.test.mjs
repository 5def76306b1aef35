// The official conformance suite's server scenarios against `createHttpHandler`, under both sets of
// requirements. What a tool server does not meet stands with its reason in
// tests/conformance/server-exceptions.json, and nothing else may fail, or be listed and pass.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const SUITE = file("node_modules/@modelcontextprotocol/conformance/dist/index.js");
const EXCEPTIONS = JSON.parse(readFileSync(file("conformance/server-exceptions.json"), "utf8"));

/** Runs the suite; gives the names of scenarios by whether they passed. */
async function run(t, requirements, url) {
  const folder = await mkdtemp(path.join(tmpdir(), "toolwire-conformance-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const output = await new Promise((resolve) => {
    execFile(
      process.execPath,
      [
        "--import",
        new URL("../conformance/node20.mjs", import.meta.url).href,
        SUITE,
        "server",
        "--url",
        url,
        "--requirements",
        requirements,
        "-o",
        folder,
      ],
      { maxBuffer: 1 << 26 },
      (error, stdout, stderr) => resolve(stdout + stderr),
    );
  });
  const results = { passed: [], failed: [] };
  for (const [, mark, name] of output.matchAll(/^(✓|✗) ([\w-]+): \d+ passed/gm)) {
    results[mark === "✓" ? "passed" : "failed"].push(name);
  }
  assert.ok(results.passed.length > 15, output);
  return results;
}

test("what a tool server can meet is met", { skip: !existsSync(SUITE) && "the suite is not installed", timeout: 300_000 }, async (t) => {
  const server = spawn(process.execPath, [file("conformance/server.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => server.kill());
  const url = await new Promise((resolve) => {
    createInterface({ input: server.stdout }).once("line", resolve);
  });
  const failed = new Set();
  for (const requirements of ["2025-11-25", "2026-07-28"]) {
    const results = await run(t, requirements, url);
    const unexpected = results.failed.filter((name) => !Object.hasOwn(EXCEPTIONS, name));
    assert.deepEqual(unexpected, [], requirements);
    for (const name of results.failed) {
      failed.add(name);
    }
    const excused = results.passed.filter((name) => Object.hasOwn(EXCEPTIONS, name));
    assert.deepEqual(excused, [], `${requirements}: listed as an exception, but passed`);
  }
  assert.deepEqual(Object.keys(EXCEPTIONS).sort(), [...failed].sort());
});
