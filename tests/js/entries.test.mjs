// How the package comes to life: entries, init, initSync, copies.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { toolwire } from "./support/toolwire.mjs";

const PACKAGE = new URL("../../pkg/", import.meta.url);
const require = createRequire(new URL("package.json", PACKAGE));
const WASM = readFileSync(new URL("toolwire.wasm", PACKAGE));

/** Runs a program against the package in a process of its own; gives the lines it prints. */
async function run(program) {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { cwd: fileURLToPath(PACKAGE) },
  );
  return stdout.trim().split("\n");
}

const SLIM = new URL("esm/entry/slim.js", PACKAGE).href;

test("the whole package is ready at import, and init is harmless", async () => {
  assert.equal(toolwire.compileSchema(true).isValid(1), true);
  await toolwire.init();
  await toolwire.init(new URL("file:///nowhere"));
  toolwire.initSync();
  toolwire.initSync(new Uint8Array());
  const info = toolwire.coreInfo();
  assert.match(info.version, /^\d+\.\d+\.\d+/);
  // Empty only outside of a git repository.
  assert.match(info.gitRevision, /^(?:[0-9a-f]{12})?$/);
  assert.match(info.unicode, /^\d+\.\d+/);
  assert.equal(info.restarts, 0);
  const members = ["version", "gitRevision", "revisions", "dialects", "unicode", "memoryBytes", "restarts"];
  assert.deepEqual(Object.keys(info).sort(), members.sort());
  assert.ok(info.revisions.includes("2025-11-25"));
  const dialects = ["2020-12", "2019-09", "draft-07", "draft-06", "draft-04"];
  assert.deepEqual(info.dialects, dialects);
  assert.ok(info.memoryBytes > 0);
});

test("import and require give one copy", async () => {
  const imported = await import(import.meta.resolve("../../pkg/shared/entry/index.js"));
  assert.equal(imported.compileSchema, toolwire.compileSchema);
  assert.equal(require("toolwire").ToolwireError, toolwire.ToolwireError);
});

test("without bytes everything says what is missing, until init", async () => {
  const output = await run(`
    import { compileSchema, init, snapshotJson } from ${JSON.stringify(SLIM)};
    import { readFileSync } from "node:fs";
    try { compileSchema(true); } catch (error) { console.log(error.code, error.reason); }
    try { snapshotJson([]); } catch (error) { console.log(error.code, error.reason); }
    await init().catch((error) => console.log(error.reason));
    await init(Promise.reject(new Error("first"))).catch((error) => console.log(error.message));
    await Promise.all([init(readFileSync("toolwire.wasm")), init()]);
    console.log(compileSchema(true).isValid(1));
  `);
  assert.deepEqual(output, [
    "invalid_arguments not_initialised",
    "protocol_error args_root_not_object",
    "not_initialised",
    "first",
    "true",
  ]);
});

test("init takes bytes, a module, a response or an address", async () => {
  const server = http.createServer((request, response) => {
    if (request.url === "/toolwire.wasm") {
      response.setHeader("content-type", "application/octet-stream");
      response.end(WASM);
    } else if (request.url === "/page") {
      response.end("<!doctype html>");
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${server.address().port}`;
  const forms = [
    `new URL("${base}/toolwire.wasm")`,
    `"${base}/toolwire.wasm"`,
    `await fetch("${base}/toolwire.wasm")`,
    `fetch("${base}/toolwire.wasm")`,
    `{ module: fetch("${base}/toolwire.wasm") }`,
    `new Uint8Array(readFileSync("toolwire.wasm")).buffer`,
    `await WebAssembly.compile(readFileSync("toolwire.wasm"))`,
  ];
  try {
    for (const form of forms) {
      const output = await run(`
        import { compileSchema, init } from ${JSON.stringify(SLIM)};
        import { readFileSync } from "node:fs";
        await init(${form});
        console.log(compileSchema(true).isValid(1));
      `);
      assert.deepEqual(output, ["true"], form);
    }
    const failures = await run(`
      import { init } from ${JSON.stringify(SLIM)};
      for (const path of ["missing", "page"]) {
        await init("${base}/" + path).catch((error) => console.log(error.code, error.reason));
      }
    `);
    assert.deepEqual(failures, [
      "invalid_arguments wasm_http_status",
      "invalid_arguments wasm_not_wasm",
    ]);
  } finally {
    server.close();
  }
});

test("initSync takes bytes or a module", async () => {
  for (const form of ["bytes", "module", "{ module }", "{ module: bytes }"]) {
    const output = await run(`
      import { coreInfo, initSync } from ${JSON.stringify(SLIM)};
      import { readFileSync } from "node:fs";
      const bytes = readFileSync("toolwire.wasm");
      const module = new WebAssembly.Module(bytes);
      initSync(${form});
      console.log(coreInfo().version);
    `);
    assert.deepEqual(output, [toolwire.coreInfo().version], form);
  }
});

test("nothing is printed, and nothing is fetched", async () => {
  const output = await run(`
    const quiet = () => { throw new Error("printed"); };
    for (const name of ["log", "warn", "error", "info", "debug"]) { console[name] = quiet; }
    globalThis.fetch = quiet;
    const { compileSchema, ClientSession, connectStreams } = await import("toolwire");
    compileSchema({ type: "object" }).validate({});
    new ClientSession({ server: "s" }).connect(0);
    process.stdout.write("done");
  `);
  assert.deepEqual(output, ["done"]);
});
