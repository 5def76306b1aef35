// Server-sent events off bytes that are split anywhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventStream, EventTooLong } from "./support/internals.mjs";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The events of a text, read in pieces of so many bytes. */
function read(text, size, maxBytes = 1_000) {
  const stream = new EventStream(maxBytes);
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const events = [];
  for (let start = 0; start < bytes.length; start += size) {
    events.push(...stream.push(bytes.subarray(start, start + size)));
  }
  return { events: events.map((event) => decoder.decode(event)), stream };
}

test("events are the same however the bytes are split", () => {
  for (const [text, events, id = "", retry = undefined] of [
    ["data: a\n\n", ["a"]],
    ["data:a\r\rdata: b\r\n\r\ndata:  c\n\n", ["a", "b", " c"]],
    ["data: a\r\ndata\r\ndata: é\r\n\r\n", ["a\n\né"]],
    ["\ufeffdata: a\n\n", ["a"]],
    [": comment\nevent: message\nid: 7\nretry: 20\ndata: x\n\n", ["x"], "7", 20],
    ["id: 1\n\nid: 2\ndata: open", [], "1"],
    ["id: 3\ndata: \n\n", [], "3"],
    ["id: a\0b\ndata: x\n\n", ["x"]],
    ["retry: 1x\ndata: x\n\nid\ndata: y\n\n", ["x", "y"]],
    ["datax: a\nda: b\n\n\n\n", []],
    ["data: 世界\n\n", ["世界"]],
  ]) {
    for (const size of [1, 2, 3, 1_000]) {
      const { events: found, stream } = read(text, size);
      assert.deepEqual(found, events, JSON.stringify(text));
      assert.equal(stream.lastEventId, id, JSON.stringify(text));
      assert.equal(stream.retry, retry);
    }
  }
});

test("lines and events are bounded, whoever splits them", () => {
  for (const size of [1, 7, 10_000]) {
    assert.throws(() => read(`data: ${"x".repeat(1_100)}`, size), EventTooLong);
    assert.throws(() => read(`: ${"x".repeat(1_100)}`, size), EventTooLong);
    assert.throws(() => read(`data: ${"x".repeat(600)}\ndata: ${"x".repeat(600)}\n`, size), EventTooLong);
    assert.equal(read(`data: ${"x".repeat(1_000)}\n\n`, size).events[0].length, 1_000);
  }
});

test("a buffer that is used again changes nothing", () => {
  const stream = new EventStream(1_000);
  const buffer = new Uint8Array(8);
  const push = (text) => {
    const { written } = encoder.encodeInto(text, buffer);
    return stream.push(buffer.subarray(0, written));
  };
  push("data: ab");
  push("cd\ndata:");
  push(" ef\n");
  assert.deepEqual(push("\n").map((event) => decoder.decode(event)), ["abcd\nef"]);
});
