// One child process and what its end looks like from the outside, without a session behind it.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { shutDown, startProcess, treeOf } from "./support/internals.mjs";
import { isRunning, sleep, until } from "./support/processes.mjs";
import { RecordingSink } from "./support/recording-sink.mjs";

async function start(t, program, { stderr = "pipe", onStderr, args = [] } = {}) {
  const sink = new RecordingSink();
  const launch = {
    file: process.execPath,
    args: ["-e", program, ...args],
    options: { stdio: ["pipe", "pipe", stderr], detached: true },
  };
  const server = await startProcess(launch, sink, onStderr);
  const tree = treeOf(server.pid, process.platform);
  server.whenExited.then(() => tree.leaderExited());
  t.after(async () => {
    server.mute();
    await tree.kill();
    await until(() => !isRunning(server.pid));
    server.dispose();
  });
  return { server, sink, tree };
}

test("what is written comes back, and frames go through in order", async (t) => {
  const { server, sink } = await start(t, "process.stdin.pipe(process.stdout)");
  assert.equal(server.write(Buffer.from("one\n")), undefined);
  assert.equal(server.write(Buffer.from("two\n")), undefined);
  await until(() => sink.head === "one\ntwo\n");
});

test("the exit is told before the end of output, after all output", async (t) => {
  const { sink } = await start(
    t,
    'process.stdout.write("x".repeat(300000), () => process.exit(5))',
  );
  await until(() => sink.endReports.length === 2);
  assert.deepEqual(sink.endReports, [["exited", 5], "end"]);
  assert.equal(sink.bytes, 300000);
});

test("the exit is told although others hold the pipe open", async (t) => {
  const { sink } = await start(
    t,
    `require("node:child_process").spawn("sleep", ["30"], { stdio: "inherit" }).unref();
     process.exit(6);`,
  );
  await until(() => sink.endReports.length > 0);
  assert.deepEqual(sink.endReports, [["exited", 6]]);
});

test("output is taken only as fast as it is processed, and still before the exit", async (t) => {
  let open;
  const { sink } = await start(
    t,
    'process.stdout.write("x".repeat(1000000), () => process.exit(0))',
  );
  sink.gate = new Promise((resolve) => {
    open = resolve;
  });
  await sleep(700);
  assert.ok(sink.bytes < 1000000, "the rest waits in the pipe");
  assert.deepEqual(sink.endReports, []);
  open();
  await until(() => sink.endReports.length === 2);
  assert.equal(sink.bytes, 1000000);
  assert.deepEqual(sink.endReports, [["exited", 0], "end"]);
});

test("the end of output is told although the process stays", async (t) => {
  const { sink } = await start(t, 'require("node:fs").closeSync(1); setInterval(() => {}, 60000)');
  await until(() => sink.endReports.length > 0);
  assert.deepEqual(sink.endReports, ["end"]);
});

test("a process killed by a signal has no exit code", async (t) => {
  const { sink } = await start(t, 'process.kill(process.pid, "SIGKILL")');
  await until(() => sink.endReports.length === 2);
  assert.deepEqual(sink.endReports, [["exited", null], "end"]);
});

test("S39: a broken pipe is an input, not an exception, and waits for a better reason", async (t) => {
  const { server, sink } = await start(t, "setTimeout(() => process.exit(9), 100)");
  process.kill(server.pid, "SIGSTOP");
  const waiting = [1, 2].map(() => server.write(Buffer.alloc(2_000_000)));
  assert.equal(waiting[0], waiting[1], "one waiter for all");
  process.kill(server.pid, "SIGCONT");
  await Promise.all(waiting);
  assert.deepEqual(sink.endReports, [["exited", 9], "end"]);
  assert.equal(server.write(Buffer.from("late\n")), undefined);
});

test("S39: a server that closes its input and stays", async (t) => {
  const { server, sink } = await start(
    t,
    'require("node:fs").closeSync(0); console.log("closed"); setInterval(() => {}, 60000)',
  );
  await until(() => sink.head === "closed\n");
  await server.write(Buffer.from("one\n"));
  await until(() => sink.endReports.length > 0);
  assert.deepEqual(sink.endReports, ["writeFailed"]);
});

test("writing waits while the pipe is full", async (t) => {
  const { server } = await start(t, "setTimeout(() => process.stdin.resume(), 300)");
  const before = performance.now();
  await server.write(Buffer.alloc(2_000_000));
  assert.ok(performance.now() - before > 200);
});

test("S48: errors are read, and a listener that throws harms nobody", async (t) => {
  let heard = 0;
  const { sink } = await start(t, "process.stderr.write(Buffer.alloc(262144, 0xff))", {
    onStderr: (chunk) => {
      heard += chunk.length;
      throw new Error("the host's own");
    },
  });
  await until(() => sink.reports.includes("stderrEnded"));
  assert.equal(sink.stderrBytes, 262144);
  assert.equal(heard, 262144);
});

test("without a pipe for errors their end is told at once", async (t) => {
  const { sink } = await start(t, "process.stdin.resume()", { stderr: "ignore" });
  assert.deepEqual(sink.reports, ["stderrEnded"]);
});

test("a start that fails rejects with the system's error", async () => {
  const launch = { file: "/no/such/program", args: [], options: { stdio: "pipe" } };
  await assert.rejects(startProcess(launch, new RecordingSink()), { code: "ENOENT" });
  const tooLong = {
    file: process.execPath,
    args: ["x".repeat(3_000_000)],
    options: { stdio: "pipe" },
  };
  await assert.rejects(startProcess(tooLong, new RecordingSink()), { code: "E2BIG" });
});

test("a server that ends with its input is not signalled", async (t) => {
  const { server, sink, tree } = await start(
    t,
    `process.on("SIGTERM", () => process.exit(99));
     process.stdin.resume().on("end", () => setTimeout(() => process.exit(0), 200));`,
  );
  await shutDown(server, tree, 30_000);
  await until(() => sink.endReports.length === 2);
  assert.deepEqual(sink.endReports, [["exited", 0], "end"]);
});

test("a server that ignores the end of its input is asked, one that ignores that is killed", async (t) => {
  const asked = await start(
    t,
    'process.on("SIGTERM", () => process.exit(8)); setInterval(() => {}, 60000); console.log("up")',
  );
  const deaf = await start(
    t,
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 60000); console.log("up")',
  );
  await until(() => asked.sink.head === "up\n" && deaf.sink.head === "up\n");
  const before = performance.now();
  await Promise.all([asked, deaf].map(({ server, tree }) => shutDown(server, tree, 200)));
  assert.ok(performance.now() - before < 15_000);
  await until(() => asked.sink.endReports.length === 2 && deaf.sink.endReports.length === 2);
  assert.deepEqual(asked.sink.endReports[0], ["exited", 8]);
  assert.deepEqual(deaf.sink.endReports[0], ["exited", null]);
});

test("a muted server tells nothing more, and its output does not stop it", async (t) => {
  const { server, sink, tree } = await start(
    t,
    `process.stdin.resume().on("end", () =>
       process.stdout.write("x".repeat(1000000), () => process.exit(0)));`,
  );
  server.mute();
  await shutDown(server, tree, 2500);
  assert.equal(isRunning(server.pid), false);
  assert.equal(sink.bytes, 0);
  assert.deepEqual(sink.reports, []);
});

/** Runs a host program that starts a server, prints its id and ends in the given way. */
async function hostThatEnds(ending) {
  const internals = fileURLToPath(new URL("./support/internals.mjs", import.meta.url));
  const program = `
    import { forget, guard, startProcess, treeOf } from ${JSON.stringify(internals)};
    const sink = { receive() {}, ready() {}, exited() {}, end() {}, writeFailed() {}, stderr() {}, stderrEnded() {} };
    const server = await startProcess({
      file: process.execPath,
      args: ["-e", 'process.on("SIGTERM", () => {}); setInterval(() => {}, 60000)'],
      options: { stdio: "pipe", detached: true },
    }, sink);
    guard(treeOf(server.pid, process.platform));
    console.log(server.pid);
    ${ending}`;
  const host = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(host.stdout, "data");
  const [code, signal] = await once(host, "exit");
  await until(() => !isRunning(Number(line)));
  return { code, signal };
}

test("a host that exits takes its servers with it", async () => {
  assert.deepEqual(await hostThatEnds("process.exit(4)"), { code: 4, signal: null });
  assert.deepEqual(await hostThatEnds('throw new Error("uncaught")'), { code: 1, signal: null });
});

test("so does one that a signal ends, and it still ends by that signal", async () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    const ended = await hostThatEnds(`process.kill(process.pid, "${signal}")`);
    assert.deepEqual(ended, { code: null, signal });
  }
});

test("a host that handles a signal itself decides itself", async () => {
  const ending = `
    process.on("SIGTERM", () => setTimeout(() => {
      let alive = true;
      try { process.kill(server.pid, 0); } catch { alive = false; }
      process.exit(alive ? 10 : 11);
    }, 300));
    process.kill(process.pid, "SIGTERM");`;
  assert.deepEqual(await hostThatEnds(ending), { code: 10, signal: null });
});

test("listeners on the process are there only while a server runs", async () => {
  const internals = fileURLToPath(new URL("./support/internals.mjs", import.meta.url));
  const program = `
    import { forget, guard } from ${JSON.stringify(internals)};
    const names = ["exit", "SIGINT", "SIGTERM", "SIGHUP"];
    const before = names.map((name) => process.listenerCount(name));
    const count = () => names.map((name, at) => process.listenerCount(name) - before[at]).join();
    const [one, two] = [{}, {}];
    const counts = [count()];
    guard(one); guard(two);
    counts.push(count());
    forget(one);
    counts.push(count());
    forget(two); forget(two);
    counts.push(count());
    console.log(JSON.stringify(counts));`;
  const output = await new Promise((resolve, reject) => {
    execFile(process.execPath, ["--input-type=module", "-e", program], (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
  assert.deepEqual(JSON.parse(output), ["0,0,0,0", "1,1,1,1", "1,1,1,1", "0,0,0,0"]);
});
