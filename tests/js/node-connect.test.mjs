// `connect` with servers as real child processes: what a well-meaning one gives, and how it ends.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { isRunning, sleep, until } from "./support/processes.mjs";
import { assertNothingRuns, fixture, open, options, textOf, timed } from "./support/servers.mjs";
import { node, nodeEntry, toolwire } from "./support/toolwire.mjs";

const { connect } = node;
const { ToolwireError } = toolwire;

test.after(assertNothingRuns);

test("tools are listed and called", async (t) => {
  const client = await open(t, "well-behaved");
  assert.equal(client.server, "fixture");
  assert.equal(client.serverInfo.name, "fixture");
  assert.equal(client.era, "legacy");
  assert.ok(client.tools.some((tool) => tool.name === "word_count"));
  const counted = await client.callTool("word_count", { text: "durable flows release notes" });
  assert.deepEqual(counted, {
    content: [{ type: "text", text: "4" }],
    isError: false,
    structuredContent: { words: 4 },
  });
  assert.equal(counted.verdict, "valid");
  const refused = await client.callTool("explode");
  assert.equal(refused.isError, true);
  assert.equal(refused.structuredContent, undefined);
});

test("a server that breaks its own outputSchema is caught, and goes on", async (t) => {
  const client = await open(t, "well-behaved");
  await assert.rejects(client.callTool("liar"), (error) => {
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.code, "invalid_response");
    assert.equal(
      error.message,
      'MCP server "fixture" returned structuredContent that its own outputSchema rejects: ' +
        "expected integer; property path withheld",
    );
    return true;
  });
  assert.equal(textOf(await client.callTool("word_count", { text: "a b" })), "2");
});

test("many calls at a time each get their own answer", async (t) => {
  // Room for all of them: how much the pipe takes meanwhile depends on how fast the server reads.
  const client = await open(t, "well-behaved", { queueCapacity: 200 });
  const sizes = Array.from({ length: 200 }, (_, index) => index * 37);
  const results = await Promise.all(
    sizes.map((size) => client.callTool("length", { text: "x".repeat(size) })),
  );
  assert.deepEqual(results.map(textOf), sizes.map(String));
});

test("arguments, folder and variables arrive as they were given", async (t) => {
  const args = ["a b", 'quote " and \\', "$HOME `id` ; &", "ünïcode", ""];
  const cwd = realpathSync(tmpdir());
  const client = await open(t, "well-behaved", { args, cwd, env: { TOKEN: "t", HOME: "/mine" } });
  const where = JSON.parse(textOf(await client.callTool("where")));
  assert.deepEqual(where.argv, args);
  assert.equal(where.cwd, cwd);
  const other = await open(t, "well-behaved", { cwd: pathToFileURL(cwd) });
  assert.equal(JSON.parse(textOf(await other.callTool("where"))).cwd, cwd);
});

test("C-019: a server sees the allow-list and what is declared, and nothing else", async (t) => {
  process.env.TOOLWIRE_TEST_SECRET = "hunter2";
  process.env.LC_TOOLWIRE_TEST = "C";
  t.after(() => {
    delete process.env.TOOLWIRE_TEST_SECRET;
    delete process.env.LC_TOOLWIRE_TEST;
  });
  const client = await open(t, "well-behaved", { env: { TOKEN: "t", HOME: "/mine" } });
  const seen = JSON.parse(textOf(await client.callTool("environment")));
  const listed = /^(PATH|HOME|USER|LANG|LC_.*|TERM|TMPDIR|SHELL)$/;
  const expected = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => listed.test(name)),
  );
  assert.deepEqual(seen, { ...expected, TOKEN: "t", HOME: "/mine" });
  assert.equal(seen.LC_TOOLWIRE_TEST, "C");
});

test("close ends the server and everything that waits, once and for all", async () => {
  const client = await connect(options("well-behaved"));
  const { pid } = JSON.parse(textOf(await client.callTool("where")));
  const waiting = client.callTool("wait", { ms: 60_000 });
  waiting.catch(() => {});
  const { ms } = await timed(() => Promise.all([client.close(), client.close()]));
  assert.ok(ms < 2000, `${ms} ms`);
  assert.equal(isRunning(pid), false);
  assert.equal(await client.closed, undefined);
  for (const call of [waiting, client.callTool("explode"), client.request("ping")]) {
    await assert.rejects(call, { code: "connection_closed", reason: "scope_closed" });
  }
  await client.close();
});

test("what cannot be started is a typed error and a diagnostic, without the system's words", async () => {
  const cases = [
    [{ command: "no-such-program-anywhere" }, "command", "ENOENT"],
    [{ command: fixture("well-behaved") }, "command", "EACCES"],
    [{ cwd: "/no/such/folder" }, "cwd", "ENOENT"],
    [{ args: ["x".repeat(3_000_000)] }, "command", "E2BIG"],
  ];
  for (const [extra, option, systemCode] of cases) {
    const events = [];
    const failed = connect({
      ...options("well-behaved", extra),
      ...extra,
      onDiagnostic: (event) => events.push(event),
    });
    await assert.rejects(failed, (error) => {
      assert.ok(error instanceof ToolwireError);
      assert.equal(error.code, "spawn_failed");
      assert.equal(error.reason, "spawn");
      assert.equal(error.server, "fixture");
      assert.equal(error.option, option);
      assert.equal(error.private.reveal().code, systemCode);
      assert.doesNotMatch(inspect(error), new RegExp(`${systemCode}|no/such|anywhere`));
      return true;
    });
    const [{ server, source, code, detail }] = events;
    assert.deepEqual(
      { server, source, code },
      { server: "fixture", source: "spawn", code: "spawn" },
    );
    assert.equal(JSON.parse(detail.reveal()).code, systemCode);
  }
  await assertNothingRuns();
});

test("options that are not what they must be are named, before anything is started", async () => {
  const cases = [
    [{ server: "" }, "server"],
    [{ server: undefined }, "server"],
    [{ command: "" }, "command"],
    [{ command: undefined }, "command"],
    [{ command: "a\0b" }, "command"],
    [{ args: "x" }, "args"],
    [{ args: [1] }, "args"],
    [{ args: ["a\0"] }, "args"],
    [{ cwd: "" }, "cwd"],
    [{ env: ["A"] }, "env"],
    [{ env: { A: 1 } }, "env"],
    [{ env: { "A=B": "c" } }, "env"],
    [{ env: { "": "c" } }, "env"],
    [{ stderr: "loud" }, "stderr"],
  ];
  for (const [extra, option] of cases) {
    const failed = connect({ ...options("well-behaved"), ...extra });
    await assert.rejects(failed, { code: "protocol_error", reason: "option_invalid", option });
  }
  await assert.rejects(connect(), { code: "protocol_error", reason: "option_invalid" });
  for (const shutdownGraceMs of [-1, 0.5, NaN, Infinity, "1"]) {
    await assert.rejects(connect({ ...options("well-behaved"), shutdownGraceMs }), {
      code: "protocol_error",
      reason: "option_invalid",
      option: "shutdownGraceMs",
    });
  }
  await assert.rejects(connect({ ...options("well-behaved"), maxTools: 0 }), {
    code: "protocol_error",
    reason: "option_not_positive_integer",
    option: "maxTools",
  });
  await assertNothingRuns();
});

test("an abort ends a connection that is being made, at any stage", async () => {
  const cause = { code: "aborted" };
  const before = AbortSignal.abort();
  await assert.rejects(connect(options("hangs", { signal: before })), cause);
  for (const delay of [undefined, 0, 1, 20, 300]) {
    const abort = new AbortController();
    const failed = connect(options("hangs", { signal: abort.signal }));
    failed.catch(() => {});
    if (delay !== undefined) {
      await sleep(delay);
    }
    abort.abort();
    const { error, ms } = await timed(() => failed);
    assert.equal(error.code, "aborted");
    assert.ok(ms < 3000, `${ms} ms`);
    await assertNothingRuns();
  }
});

test("an abort ends one call and nothing else", async (t) => {
  const client = await open(t, "well-behaved");
  const abort = new AbortController();
  const call = client.callTool("wait", { ms: 60_000 }, { signal: abort.signal });
  call.catch(() => {});
  await sleep(50);
  abort.abort();
  await assert.rejects(call, { code: "aborted" });
  assert.equal(textOf(await client.callTool("word_count", { text: "a" })), "1");
});

test("an abort after the connection stands changes nothing", async (t) => {
  const abort = new AbortController();
  const client = await open(t, "well-behaved", { signal: abort.signal });
  abort.abort();
  assert.equal(textOf(await client.callTool("word_count", { text: "a" })), "1");
});

test("the error output goes where it is wanted", async (t) => {
  const chunks = [];
  const loud = await open(t, "floods-stderr", { stderr: (chunk) => chunks.push(chunk) });
  await loud.callTool("noisy");
  await until(() => Buffer.concat(chunks).length === 262_144);
  const inherited = await open(t, "well-behaved", { stderr: "inherit" });
  await inherited.callTool("explode");
});

/** Runs a program that uses the package, and gives its output when it has ended by itself. */
async function run(program, ms = 8000) {
  const prelude = `
    import { createRequire } from "node:module";
    const require = createRequire(${JSON.stringify(pathToFileURL(fixture("x")).href)});
    const { connect } = require(${JSON.stringify(nodeEntry)});
    const options = ${JSON.stringify(options("well-behaved"))};
    const hangs = ${JSON.stringify(options("hangs"))};
    const nothing = ["exit", "SIGINT", "SIGTERM", "SIGHUP"].map((name) => process.listenerCount(name));
    // A handle that was closed counts until the next turn of the event loop.
    const left = () => new Promise((resolve) => setTimeout(resolve, 20)).then(() => JSON.stringify({
      handles: process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe)Wrap$/.test(name)),
      listeners: ["exit", "SIGINT", "SIGTERM", "SIGHUP"]
        .map((name, at) => process.listenerCount(name) - nothing[at]),
    }));`;
  return new Promise((resolve, reject) => {
    const args = ["--input-type=module", "-e", `${prelude}\n${program}`];
    execFile(process.execPath, args, { timeout: ms }, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout.trim());
      } else {
        reject(new Error(`${error.message}\n${stderr}`));
      }
    });
  });
}

test("after close nothing keeps the host alive", async () => {
  const left = await run(`
    const client = await connect(options);
    await client.callTool("explode");
    await client.close();
    console.log(await left());`);
  assert.deepEqual(JSON.parse(left), { handles: [], listeners: [0, 0, 0, 0] });
});

test("after a connect that failed nothing keeps the host alive", async () => {
  for (const change of [
    'command: "no-such-program-anywhere"',
    "connectTimeoutMs: 200",
    "signal: AbortSignal.timeout(200)",
  ]) {
    const left = await run(`
      await connect({ ...hangs, ${change} }).then(() => process.exit(9), () => {});
      console.log(await left());`);
    const { handles, listeners } = JSON.parse(left);
    assert.deepEqual(
      handles.filter((name) => name !== "Timeout" || !/timeout/.test(change)),
      [],
      change,
    );
    assert.deepEqual(listeners, [0, 0, 0, 0], change);
  }
});

test("a host that exits without closing leaves no server behind", async () => {
  const pid = await run(`
    const client = await connect({ ...options });
    const { content: [{ text }] } = await client.callTool("where");
    console.log(JSON.parse(text).pid);
    process.exit(0);`);
  await until(() => !isRunning(Number(pid)));
});
