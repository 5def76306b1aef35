// The recordings of real servers: each replays to the same session every time, and it is the session
// that docs/eras.md and the list of servers tell of.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { documented, peers } from "../peers/peers.mjs";
import { written } from "../recordings/written.mjs";
import { toolwire } from "./support/toolwire.mjs";

const folder = new URL("../recordings/", import.meta.url);

/** All of them together, in bytes. */
const MOST_BYTES = 100_000;

/** The longest text that a server may have written of itself or a tool; see record.mjs. */
const LONGEST_PROSE = 24;

const list = peers("/tmp/toolwire-peer");

test("there is a recording of each server, and they are small", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  assert.deepEqual(files.sort(), list.map(({ file }) => `${file}.jsonl`).sort());
  const size = files.reduce((sum, name) => sum + readFileSync(new URL(name, folder)).length, 0);
  assert.ok(size < MOST_BYTES, `${size} bytes`);
});

/** The texts under `description` and its like, at any depth. */
function proseOf(value) {
  if (typeof value !== "object" || value === null) {
    return [];
  }
  const own = ["description", "title", "instructions"].map((name) => value[name]);
  const texts = own.filter((text) => typeof text === "string");
  return [...texts, ...Object.values(value).flatMap(proseOf)];
}

for (const { name, file, tool, expected } of list) {
  test(`the recording of ${name}`, () => {
    const bytes = readFileSync(new URL(`${file}.jsonl`, folder));
    const records = bytes.toString().trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.ok(records.every(({ masked }) => masked === undefined));
    const { output, events } = toolwire.replay(bytes);
    const once = written({ output, events });
    assert.equal(written(toolwire.replay(bytes)), once);
    assert.equal(written(toolwire.replay(bytes.toString())), once);
    assert.equal(output.length, records.filter((record) => record.in === "take").length);
    const { era, protocolVersion: revision } = events.find(({ type }) => type === "ready");
    assert.deepEqual({ era, revision }, documented(name));
    const { tools } = events.find(({ type }) => type === "tools");
    assert.ok(tools.some((listed) => listed.name === tool));
    assert.ok(proseOf(tools).every((text) => text.length <= LONGEST_PROSE));
    const [called, unknown] = events.filter(({ type }) => type === "settled");
    assert.equal(called.ok, true);
    assert.match(JSON.stringify(called.result), expected);
    assert.ok(unknown.ok ? unknown.result.isError : unknown.error.reason === "remote");
    assert.deepEqual(events.at(-1).type, "closed");
  });
}
