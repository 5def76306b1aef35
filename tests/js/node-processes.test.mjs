// The process table, and what of it belongs to a server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import {
  parsePs,
  parseStat,
  processTable,
  processTableSync,
  treeOf,
} from "./support/internals.mjs";
import { isRunning, until } from "./support/processes.mjs";

const SLEEP = "setInterval(() => {}, 60000);";
const DEAF = `process.on("SIGTERM", () => {}); ${SLEEP}`;

/** Starts a leader that starts one child per entry of `detached` and prints their ids. */
async function family(detached, leaderProgram = SLEEP, childProgram = SLEEP) {
  const program = `
    const { spawn } = require("node:child_process");
    const pids = ${JSON.stringify(detached)}.map((detached) =>
      spawn(process.execPath, ["-e", ${JSON.stringify(childProgram)}], { detached, stdio: "ignore" }).pid);
    console.log(JSON.stringify(pids));
    ${leaderProgram}`;
  const leader = spawn(process.execPath, ["-e", program], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(leader.stdout, "data");
  const tree = treeOf(leader.pid, process.platform);
  const exit = once(leader, "exit").then(() => tree.leaderExited());
  return { leader, tree, exit, children: JSON.parse(line) };
}

test("a stat line is read, also with a name that is made to confuse", () => {
  const rest = "S 10 20 20 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 987654 1000 10";
  const expected = { pid: 42, ppid: 10, pgid: 20, zombie: false, started: "987654" };
  assert.deepEqual(parseStat(`42 (node) ${rest}`), expected);
  assert.deepEqual(parseStat(`42 (a) Z 1 (b) ) ${rest}`), expected);
  assert.equal(parseStat(`42 (node) Z${rest.slice(1)}`).zombie, true);
  assert.equal(parseStat(""), undefined);
  assert.equal(parseStat("42 (node) S 1"), undefined);
});

test("a listing of ps is read", () => {
  const text =
    "    1     0     1 Ss   Mon Nov 30 10:00:00 2026\n  77     1    77 Z+   Mon Nov 30 10:00:01 2026\n";
  assert.deepEqual(parsePs(text), [
    { pid: 1, ppid: 0, pgid: 1, zombie: false, started: "Mon Nov 30 10:00:00 2026" },
    { pid: 77, ppid: 1, pgid: 77, zombie: true, started: "Mon Nov 30 10:00:01 2026" },
  ]);
});

test("the table holds this process, and callers at the same time share one reading", async () => {
  const reading = processTable(process.platform);
  assert.equal(processTable(process.platform), reading);
  for (const table of [await reading, processTableSync(process.platform)]) {
    const own = table.find((entry) => entry.pid === process.pid);
    assert.equal(own.ppid, process.ppid);
    assert.equal(own.zombie, false);
  }
});

test("descendants are killed in whatever group they are", async () => {
  const { tree, exit, children, leader } = await family([false, true], SLEEP, DEAF);
  assert.equal(await tree.isGone(), false);
  await tree.kill();
  await exit;
  await until(async () => tree.isGone());
  assert.deepEqual([leader.pid, ...children].filter(isRunning), []);
});

test("who left the group is still known when the leader has gone", async () => {
  for (const look of ["observe", "refresh"]) {
    const { tree, exit, children, leader } = await family([true]);
    await tree[look]();
    leader.kill("SIGKILL");
    await exit;
    assert.equal(await tree.isGone(), false);
    await tree.terminate();
    await until(async () => tree.isGone());
    assert.equal(isRunning(children[0]), false);
  }
});

test("who is in the group needs no look before the leader goes", async () => {
  const { tree, exit, children, leader } = await family([false]);
  leader.kill("SIGKILL");
  await exit;
  assert.equal(await tree.isGone(), false);
  await tree.terminate();
  await until(async () => tree.isGone());
  assert.equal(isRunning(children[0]), false);
});

test("a stopped process can be asked to end", async () => {
  const { tree, exit, leader } = await family([]);
  leader.kill("SIGSTOP");
  await tree.terminate();
  await exit;
  assert.equal(await tree.isGone(), true);
});

test("a number that means another process by now is left alone", async () => {
  const { tree, exit, leader } = await family([]);
  await tree.refresh();
  leader.kill("SIGKILL");
  await exit;
  assert.equal(await tree.isGone(), true);
  const calls = [];
  const { kill } = process;
  process.kill = (...call) => calls.push(call);
  try {
    await tree.terminate();
    await tree.kill();
    tree.killNow(processTableSync(process.platform));
  } finally {
    process.kill = kill;
  }
  assert.deepEqual(calls, []);
});

test("killNow needs no event loop", async () => {
  const { tree, exit, children, leader } = await family([false, true], DEAF, DEAF);
  tree.killNow(processTableSync(process.platform));
  await exit;
  await until(() => ![leader.pid, ...children].some(isRunning));
});
