// Fixture servers as real child processes, and what is left of them.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { processTable } from "./internals.mjs";
import { until } from "./processes.mjs";
import { node } from "./toolwire.mjs";

export function fixture(name) {
  return fileURLToPath(new URL(`../../fixtures/servers/${name}.mjs`, import.meta.url));
}

/** The options of `connect` for a fixture. */
export function options(name, { args = [], ...rest } = {}) {
  return { server: "fixture", command: process.execPath, args: [fixture(name), ...args], ...rest };
}

/** Connects to a fixture, and closes when the test ends. */
export async function open(t, name, extra) {
  const client = await node.connect(options(name, extra));
  t.after(() => client.close());
  return client;
}

/** The text of a result's first block. */
export function textOf(result) {
  return result.content[0].text;
}

/** The numbers of the fixtures that run as children of this process. */
export async function running() {
  const table = await processTable(process.platform);
  return table
    .filter((entry) => entry.ppid === process.pid && !entry.zombie && entry.pgid === entry.pid)
    .map((entry) => entry.pid);
}

/** Fails unless no server of this process runs. */
export async function assertNothingRuns() {
  assert.deepEqual(await running(), []);
}

/** Waits until no server of this process runs. */
export async function nothingRuns() {
  await until(async () => (await running()).length === 0);
}

/** How long `work` takes, and what comes of it. */
export async function timed(work) {
  const before = performance.now();
  const [{ value, reason }] = await Promise.allSettled([work()]);
  return { value, error: reason, ms: performance.now() - before };
}
