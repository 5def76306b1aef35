// Clients that mean no good, or know no better, against `serveStdio` as a process of its own: each
// request is answered once, memory stays bounded, and the next message is served.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { until } from "./support/processes.mjs";
import { fixture } from "./support/servers.mjs";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: "init",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "h", version: "1" } },
};

/** A server and a client that says anything. */
function open(t, options = {}) {
  const child = spawn(process.execPath, [fixture("serving"), JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const peer = { child, replies: [], stderr: "" };
  child.stdin.on("error", () => {});
  child.stderr.on("data", (chunk) => {
    peer.stderr += chunk;
  });
  peer.exited = new Promise((resolve) => {
    child.on("exit", (code) => resolve(code));
  });
  peer.read = () => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      peer.replies.push(JSON.parse(line));
    });
  };
  peer.write = (data) =>
    new Promise((resolve) => {
      child.stdin.write(typeof data === "string" ? data : `${JSON.stringify(data)}\n`, resolve);
    });
  peer.answers = (id) => peer.replies.filter((reply) => reply.id === id);
  peer.answered = (id) => until(() => peer.answers(id).length > 0);
  return peer;
}

const request = (id, method, params) => ({ jsonrpc: "2.0", id, method, params });
const echo = (id, args = {}) => request(id, "tools/call", { name: "echo", arguments: args });

/** Resident bytes of a process. */
function residentBytes(child) {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) * 1024;
}

const canMeasure = process.platform === "linux";

test("garbage of all kinds", async (t) => {
  const peer = open(t);
  peer.read();
  await peer.write(INITIALIZE);
  await peer.answered("init");
  const garbage = ["{", "}", "null", "[]", "[1]", "\u0000\u0001", "Content-Length: 5", '{"jsonrpc":"2.0"}'];
  for (const line of garbage) {
    await peer.write(`${line}\n`);
  }
  peer.child.stdin.write(Buffer.from([0xff, 0xfe, 0x0a]));
  await peer.write("\n\r\n  \n");
  await peer.write(echo("after"));
  await peer.answered("after");
  const refused = peer.replies.filter((reply) => reply.error !== undefined);
  assert.equal(refused.length, garbage.length + 1);
  assert.ok(refused.every((reply) => reply.id === null && [-32700, -32600].includes(reply.error.code)));
});

test("a line of 50 MB is answered, not kept", { skip: !canMeasure }, async (t) => {
  const peer = open(t);
  peer.read();
  await peer.write(INITIALIZE);
  await peer.answered("init");
  const before = residentBytes(peer.child);
  await peer.write('{"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"echo","arguments":{"a":"');
  const block = "x".repeat(1 << 20);
  for (let count = 0; count < 50; count += 1) {
    await peer.write(block);
  }
  await peer.write('"}}}\n');
  await peer.answered("big");
  assert.equal(peer.answers("big")[0].error.code, -32700);
  await peer.write(echo("after"));
  await peer.answered("after");
  const grown = residentBytes(peer.child) - before;
  assert.ok(grown < 100 << 20, `grown by ${grown}`);
});

test("a flood is answered request by request", async (t) => {
  const peer = open(t);
  peer.read();
  await peer.write(INITIALIZE);
  const total = 20_000;
  let text = "";
  for (let id = 0; id < total; id += 1) {
    text += `${JSON.stringify(id % 2 === 0 ? request(id, "ping") : echo(id))}\n`;
  }
  await peer.write(text);
  await until(() => peer.replies.length >= total + 1, 60_000);
  const ids = new Set(peer.replies.map((reply) => reply.id));
  assert.equal(ids.size, total + 1);
  assert.equal(peer.replies.length, total + 1);
});

test("too many calls at once are refused one by one", async (t) => {
  const peer = open(t, { maxOpenCalls: 10 });
  peer.read();
  await peer.write(INITIALIZE);
  for (let id = 0; id < 30; id += 1) {
    await peer.write(request(id, "tools/call", { name: "slow" }));
  }
  await peer.write(request("p", "ping"));
  await peer.answered("p");
  const refused = peer.replies.filter((reply) => reply.error?.code === -32603);
  assert.equal(refused.length, 20);
  for (let id = 0; id < 10; id += 1) {
    await peer.write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
  }
  await peer.write(echo("after"));
  await peer.answered("after");
  assert.ok(peer.answers("after")[0].result);
  assert.equal(peer.replies.length, 1 + 20 + 1 + 1);
});

test("an id twice at the same time settles once", async (t) => {
  const peer = open(t);
  peer.read();
  await peer.write(INITIALIZE);
  await peer.write(request(7, "tools/call", { name: "slow" }));
  await peer.write(request(7, "tools/call", { name: "echo" }));
  await peer.write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } });
  await peer.write(request("p", "ping"));
  await peer.answered("p");
  assert.deepEqual(peer.answers(7), []);
  assert.equal(peer.answers(null)[0].error.code, -32600);
});

test("half a message, and the end", async (t) => {
  const peer = open(t);
  peer.read();
  await peer.write(INITIALIZE);
  await peer.answered("init");
  await peer.write('{"jsonrpc":"2.0","id":1,"meth');
  peer.child.stdin.end();
  assert.equal(await peer.exited, 0);
  assert.match(peer.stderr, /closed undefined/);
});

test("open calls end with the input, after the grace", async (t) => {
  const peer = open(t, { shutdownGraceMs: 200 });
  peer.read();
  await peer.write(INITIALIZE);
  await peer.write(request(1, "tools/call", { name: "slow" }));
  await peer.write(request(2, "tools/call", { name: "steps", arguments: { count: 3 } }));
  const before = performance.now();
  peer.child.stdin.end();
  assert.equal(await peer.exited, 0);
  assert.ok(performance.now() - before < 5_000);
  // What was done in time was said.
  assert.ok(peer.answers(2)[0].result);
  assert.deepEqual(peer.answers(1), []);
});

test("who never reads is not read", { skip: !canMeasure }, async (t) => {
  const peer = open(t);
  await peer.write(INITIALIZE);
  // Measured once it runs; from then on nothing is read.
  await new Promise((resolve) => {
    peer.child.stdout.once("data", resolve);
  });
  peer.child.stdout.pause();
  const before = residentBytes(peer.child);
  const page = `${JSON.stringify(request("l", "tools/list"))}\n`.repeat(1_000);
  let written = 0;
  let stuck = false;
  for (let count = 0; count < 500 && !stuck; count += 1) {
    stuck = !(await Promise.race([
      peer.write(page).then(() => true),
      new Promise((resolve) => {
        setTimeout(() => resolve(false), 1_000);
      }),
    ]));
    written += page.length;
  }
  assert.ok(stuck, `${written} bytes were read`);
  const grown = residentBytes(peer.child) - before;
  assert.ok(grown < 80 << 20, `grown by ${grown}`);
  // And once it reads, everything is answered.
  peer.read();
  await peer.write(request("p", "ping"));
  await peer.answered("p");
});

test("a client that closes its end does no harm", async (t) => {
  const peer = open(t);
  await peer.write(INITIALIZE);
  peer.child.stdout.destroy();
  for (let id = 0; id < 200; id += 1) {
    peer.child.stdin.write(`${JSON.stringify(echo(id, { text: "x".repeat(2_000) }))}\n`);
  }
  assert.equal(await peer.exited, 0);
  assert.match(peer.stderr, /closed client_gone/);
  assert.doesNotMatch(peer.stderr, /EPIPE|Error/);
});
