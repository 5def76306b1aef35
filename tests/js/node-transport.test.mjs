// The transport behind `connect`: starting, starting again and closing, without a session.
import assert from "node:assert/strict";
import { test } from "node:test";
import { planLaunch, StdioTransport } from "./support/internals.mjs";
import { isRunning, until } from "./support/processes.mjs";
import { RecordingSink } from "./support/recording-sink.mjs";

const ECHO = "console.log(process.pid); process.stdin.pipe(process.stdout)";

function transport(program, extra) {
  const options = { server: "s", command: process.execPath, args: ["-e", program], ...extra };
  return new StdioTransport(planLaunch(options), extra?.onDiagnostic);
}

async function pidOf(sink) {
  await until(() => sink.head.includes("\n"));
  return Number.parseInt(sink.head, 10);
}

test("a second start ends what the first one started", async () => {
  const link = transport(ECHO);
  const [one, two] = [new RecordingSink(), new RecordingSink()];
  await link.start(one);
  const first = await pidOf(one);
  const reported = one.reports.length;
  await link.start(two);
  assert.equal(isRunning(first), false);
  assert.equal(one.reports.length, reported, "the first sink hears nothing of it");
  const second = await pidOf(two);
  assert.notEqual(second, first);
  link.write(Buffer.from("hello\n"));
  await until(() => two.head.endsWith("hello\n"));
  await link.close();
  assert.equal(isRunning(second), false);
});

test("close during a start ends what it starts, and close twice is close once", async () => {
  const link = transport(ECHO);
  const sink = new RecordingSink();
  const starting = link.start(sink);
  const closing = link.close();
  assert.equal(link.close(), closing);
  await Promise.all([starting, closing]);
  assert.deepEqual(sink.endReports, []);
  assert.equal(link.write(Buffer.from("late\n")), undefined);
});

test("close during a second start starts nothing", async () => {
  const link = transport(ECHO);
  const [one, two] = [new RecordingSink(), new RecordingSink()];
  await link.start(one);
  const first = await pidOf(one);
  const restarting = link.start(two);
  const closing = link.close();
  await Promise.all([restarting, closing]);
  assert.equal(isRunning(first), false);
  assert.equal(two.head, "");
  assert.deepEqual(two.reports, []);
});

test("close without a start, and after one that failed", async () => {
  await transport(ECHO).close();
  const link = transport(ECHO, { command: "no-such-program-anywhere" });
  await assert.rejects(link.start(new RecordingSink()), { code: "spawn_failed", reason: "spawn" });
  await link.close();
});

test("an observer that throws does not change the error", async () => {
  const onDiagnostic = () => {
    throw new Error("the host's own");
  };
  const link = transport(ECHO, { command: "no-such-program-anywhere", onDiagnostic });
  await assert.rejects(link.start(new RecordingSink()), { code: "spawn_failed" });
});
