// SIGINT and SIGTERM at any moment: the exit code says so, and no server is left.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertNothingLeft,
  configFile,
  entry,
  serverCount,
  serverWords,
  start,
} from "./support/cli.mjs";
import { sleep, until } from "./support/processes.mjs";

const posix = process.platform === "win32" && "Windows has no signals";
const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Milliseconds, from the start of the program or, the second list, of its server. */
const EARLY = [0, 150, 300];
const LATER = [0, 5, 20, 50, 100, 200, 400];

for (const signal of ["SIGINT", "SIGTERM"]) {
  test(`${signal} at any moment leaves no server behind`, { skip: posix }, async () => {
    const words = [
      ["call", "wait", ...serverWords("showcase")],
      ["tools", ...serverWords("hangs")],
      ["check", ...serverWords("stubborn")],
    ];
    const moments = [...EARLY.map((ms) => [ms, false]), ...LATER.map((ms) => [ms, true])];
    for (const [index, [ms, running]] of moments.entries()) {
      const { child, ended } = start(words[index % words.length]);
      await until(() => !running || serverCount() > 0);
      await sleep(ms);
      child.kill(signal);
      const { code, signal: by } = await ended;
      // Before its listeners are there the signal itself ends it.
      const stopped = code === CODES[signal] || (!running && by === signal);
      assert.ok(stopped, `after ${ms} ms: ${code} ${by}`);
      await assertNothingLeft();
    }
  });
}

test(
  "a server that works is taken down, and the exit code is that of the signal",
  { skip: posix },
  async () => {
    for (const [signal, expected] of Object.entries(CODES)) {
      const { child, ended } = start(["call", "wait", ...serverWords("showcase")]);
      await until(() => serverCount() === 1);
      await sleep(300);
      child.kill(signal);
      const { code, stderr } = await ended;
      assert.deepEqual([code, stderr], [expected, ""]);
      await assertNothingLeft();
    }
  },
);

test("a second signal does not wait for a stubborn server", { skip: posix }, async () => {
  const { child, ended } = start(["check", ...serverWords("stubborn")]);
  await until(() => serverCount() === 1);
  await sleep(400);
  const before = performance.now();
  child.kill("SIGINT");
  await sleep(200);
  child.kill("SIGINT");
  assert.equal((await ended).code, 130);
  assert.ok(performance.now() - before < 4_500);
  await assertNothingLeft();
});

test(
  "a gateway takes its servers down, on a signal and when its input ends",
  { skip: posix },
  async (t) => {
    const config = configFile(t, {
      mcpServers: { a: entry("well-behaved"), b: entry("well-behaved") },
    });
    for (const end of ["SIGTERM", "input"]) {
      const { child, ended } = start(["gateway", "--require-all", "--config", config], {
        input: "open",
      });
      await until(() => serverCount() === 2);
      await sleep(200);
      if (end === "input") {
        child.stdin.end();
      } else {
        child.kill(end);
      }
      assert.equal((await ended).code, end === "input" ? 0 : 143);
      await assertNothingLeft();
    }
  },
);

test("a reader that goes away ends the program quietly", { skip: posix }, async () => {
  const { child, ended } = start(["tools", "--json", ...serverWords("showcase")]);
  child.stdout.destroy();
  const { stderr } = await ended;
  assert.doesNotMatch(stderr, /Error|EPIPE/);
  await assertNothingLeft();
});
