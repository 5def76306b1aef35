// Servers that break, block, flood or vanish. Each leads to one typed outcome in bounded time, and
// leaves nothing running.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { isRunning, sleep } from "./support/processes.mjs";
import {
  assertNothingRuns,
  nothingRuns,
  open,
  options,
  textOf,
  timed,
} from "./support/servers.mjs";
import { node } from "./support/toolwire.mjs";

const { connect } = node;

// What must not wait for a deadline of 30 s or more; wide, because the machine may be busy.
const PROMPT = 15_000;

test.after(assertNothingRuns);

test("ends at once: the exit code and what it said are in the error", async () => {
  for (const extra of [{}, { era: "legacy" }, { profile: "strict" }]) {
    const { error, ms } = await timed(() => connect(options("exits-at-once", extra)));
    assert.equal(error.code, "connection_closed");
    assert.equal(error.reason, "exited");
    assert.equal(error.exitCode, 3);
    assert.equal(error.server, "fixture");
    assert.match(JSON.stringify(error.private.reveal()), /cannot find the database/);
    assert.doesNotMatch(inspect(error), /database/);
    assert.ok(ms < PROMPT, `${ms} ms`);
    await assertNothingRuns();
  }
});

test("ends after initialize", async () => {
  const { error } = await timed(() => connect(options("exits-after-initialize")));
  assert.equal(error.code, "connection_closed");
  assert.equal(error.exitCode, 7);
  assert.match(JSON.stringify(error.private.reveal()), /licence expired/);
  await assertNothingRuns();
});

test("answers and ends in the same breath: the answer counts", async (t) => {
  const client = await open(t, "answers-and-exits");
  assert.match(textOf(await client.callTool("last")), /^goodbye /);
  const error = await client.closed;
  assert.equal(error.reason, "exited");
  assert.equal(error.exitCode, 0);
  await assert.rejects(client.callTool("last"), { code: "connection_closed" });
});

test("says nothing: the deadline ends it", async () => {
  const { error, ms } = await timed(() =>
    connect(options("hangs", { connectTimeoutMs: 300, era: "legacy" })),
  );
  assert.equal(error.code, "timeout");
  assert.ok(ms < PROMPT, `${ms} ms`);
  await assertNothingRuns();
});

test("ends neither with its input nor when asked: it is killed", async () => {
  const client = await connect(options("stubborn", { shutdownGraceMs: 200 }));
  const pid = Number(textOf(await client.callTool("pid")));
  const { ms } = await timed(() => client.close());
  assert.ok(ms > 1000 && ms < 3000, `${ms} ms`);
  assert.equal(isRunning(pid), false);
});

test("floods its output with noise: the answer behind it arrives", async (t) => {
  const client = await open(t, "floods-stdout");
  assert.equal(textOf(await client.callTool("noisy")), "at last");
});

test("S48: floods its error output: calls do not hang, and the tail is kept", async (t) => {
  const client = await open(t, "floods-stderr");
  const { value, ms } = await timed(() => client.callTool("noisy"));
  assert.equal(textOf(value), "done");
  assert.ok(ms < PROMPT, `${ms} ms`);
  await assert.rejects(client.callTool("die"), (error) => {
    const { stderr } = error.private.reveal();
    assert.match(stderr, /the last words$/);
    assert.ok(Buffer.byteLength(stderr) <= 8192);
    assert.doesNotMatch(inspect(error), /last words/);
    return true;
  });
});

test("answers with a line of 50 MB: refused by the default bound, accepted by a larger one", async (t) => {
  const small = await open(t, "long-line");
  const refused = await timed(() => small.callTool("long_answer"));
  assert.equal(refused.error.code, "protocol_error");
  assert.ok(refused.ms < 10_000, `${refused.ms} ms`);
  // The line was skipped: the connection goes on.
  assert.equal(textOf(await small.callTool("long_noise")), "after the noise");
  const large = await open(t, "long-line", { maxFrameBytes: 60_000_000 });
  assert.equal(textOf(await large.callTool("long_answer")).length, 50_000_000);
});

test("an over-long line closes a strict connection", async (t) => {
  const client = await open(t, "long-line", { profile: "strict" });
  await assert.rejects(client.callTool("long_noise"), {
    code: "protocol_error",
    reason: "frame_too_long",
  });
  assert.equal((await client.closed).reason, "frame_too_long");
});

test("never reads: calls wait for room and meet their deadline, and close does not wait", async (t) => {
  const tools = [{ name: "deaf", inputSchema: { type: "object" } }];
  const client = await open(t, "never-reads", {
    era: "legacy",
    tools,
    requestTimeoutMs: 400,
    shutdownGraceMs: 200,
  });
  const text = "x".repeat(900_000);
  const calls = [1, 2, 3].map(() => timed(() => client.callTool("deaf", { text })));
  for (const { error, ms } of await Promise.all(calls)) {
    assert.equal(error.code, "timeout");
    assert.ok(ms < PROMPT, `${ms} ms`);
  }
  const { ms } = await timed(() => client.close());
  assert.ok(ms < PROMPT, `${ms} ms`);
});

test("starts others, which ignore SIGTERM: none of them is left, in whatever group", async () => {
  const args = ["group", "detached", "group"];
  const client = await connect(options("grandchild", { args, shutdownGraceMs: 200 }));
  const { server, children } = JSON.parse(textOf(await client.callTool("family")));
  assert.deepEqual([server, ...children].map(isRunning), [true, true, true, true]);
  const { ms } = await timed(() => client.close());
  assert.ok(ms < PROMPT, `${ms} ms`);
  assert.deepEqual([server, ...children].filter(isRunning), []);
});

test("dies with others left behind: they are ended too", async (t) => {
  const args = ["group", "detached"];
  const client = await open(t, "grandchild", { args, shutdownGraceMs: 200 });
  const { children } = JSON.parse(textOf(await client.callTool("family")));
  const { error } = await timed(() => client.callTool("die"));
  assert.equal(error.code, "connection_closed");
  await client.close();
  assert.deepEqual(children.filter(isRunning), []);
});

test("is killed during a call: every call gets the same error", async (t) => {
  const client = await open(t, "well-behaved");
  const { pid } = JSON.parse(textOf(await client.callTool("where")));
  const calls = [1, 2].map(() => timed(() => client.callTool("wait", { ms: 60_000 })));
  await sleep(50);
  process.kill(pid, "SIGKILL");
  const [one, two] = await Promise.all(calls);
  assert.equal(one.error.code, "connection_closed");
  assert.equal(one.error.exitCode, undefined);
  assert.equal(one.error, two.error);
  assert.ok(one.ms < PROMPT, `${one.ms} ms`);
  assert.equal(await client.closed, one.error);
});

test("is stopped during a call: the call times out, and close still ends it", async (t) => {
  const client = await open(t, "well-behaved", { shutdownGraceMs: 200 });
  const { pid } = JSON.parse(textOf(await client.callTool("where")));
  process.kill(pid, "SIGSTOP");
  await assert.rejects(client.callTool("explode", {}, { timeoutMs: 300 }), { code: "timeout" });
  const { ms } = await timed(() => client.close());
  assert.ok(ms < PROMPT, `${ms} ms`);
  assert.equal(isRunning(pid), false);
});

test("closes its output and stays: the connection ends, and then the server", async (t) => {
  const client = await open(t, "closes-stdout", { shutdownGraceMs: 200 });
  const { error, ms } = await timed(() => client.callTool("quiet"));
  assert.equal(error.code, "connection_closed");
  assert.equal(error.reason, "stdout_closed");
  assert.ok(ms < PROMPT, `${ms} ms`);
  await nothingRuns();
});

test("prints a banner: it is noise, and reported", async (t) => {
  const events = [];
  const client = await open(t, "banner", { onDiagnostic: (event) => events.push(event.code) });
  assert.equal(textOf(await client.callTool("hello")), "hello");
  assert.ok(events.includes("noise_line"));
});

test("frames like a language server: the connection fails at once, for that reason", async () => {
  const { error, ms } = await timed(() => connect(options("lsp-framing")));
  assert.equal(error.code, "protocol_error");
  assert.equal(error.reason, "lsp_framing");
  assert.ok(ms < PROMPT, `${ms} ms`);
  await assertNothingRuns();
});

test("begins with a byte order mark: it is skipped", async (t) => {
  const client = await open(t, "byte-order-mark");
  assert.equal(textOf(await client.callTool("hello")), "hello");
});
