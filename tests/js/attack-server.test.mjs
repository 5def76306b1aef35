// What a handler that means a tool server no good, or fails in odd ways, does to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toolwire } from "./support/toolwire.mjs";

const { serveStreams } = toolwire;

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  },
};

function revoked() {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const unreadable = (name, more = {}) =>
  Object.defineProperty(more, name, {
    get() {
      throw new Error("password=hunter2");
    },
  });

const THROWN = [
  revoked(),
  new Proxy(
    {},
    {
      get() {
        throw new Error("password=hunter2");
      },
    },
  ),
  unreadable("rpcCode"),
  unreadable("message", { rpcCode: -32000 }),
  { rpcCode: -32000, message: { toString: () => ({}) } },
  undefined,
  Symbol("x"),
];

test("whatever a handler throws or returns, its call is answered", async () => {
  const cases = [
    ...THROWN.map((value) => () => {
      throw value;
    }),
    ...THROWN.map((value) => () => Promise.reject(value)),
    () => revoked(),
    () => unreadable("content"),
    () => unreadable("then"),
    () => ({ content: [{ type: "text", text: 10n }], structuredContent: revoked() }),
  ];
  const gateway = { tools: [{ name: "t" }], handleCall: (name, { at }) => cases[at]() };
  const answers = new Map();
  let answered;
  const all = new Promise((resolve) => {
    answered = resolve;
  });
  const write = (frame) => {
    const text = new TextDecoder().decode(frame);
    const { id } = JSON.parse(text);
    answers.set(id, text);
    if (answers.size > cases.length) {
      answered();
    }
  };
  const lines = [INITIALIZE];
  for (const at of cases.keys()) {
    const params = { name: "t", arguments: { at } };
    lines.push({ jsonrpc: "2.0", id: at + 1, method: "tools/call", params });
  }
  const readable = new ReadableStream({
    start(controller) {
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
  const serving = serveStreams(gateway, { readable, write });
  await all;
  for (const text of answers.values()) {
    assert.doesNotMatch(text, /hunter2/);
  }
  await serving.close();
});
