// Makes the recordings in this folder anew: each server of tests/peers/peers.mjs that is installed is
// connected to, listed, called, asked for a tool it has not, and closed.
//
//   node tests/recordings/record.mjs [FILE]...
//
// What a server says of itself and its tools is cut short in the pipe, before the session gets it, and
// so are long catalogs: no prose is copied, and what is recorded is exactly what the session lived
// through. A server whose session cannot be replayed fails.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { toolwire } from "../js/support/toolwire.mjs";
import { furnish, peers } from "../peers/peers.mjs";
import { partsOf } from "../schema-suite/spans.mjs";

/** Always the same folder: its name is in what the servers are told and say. */
const folder = join(realpathSync(tmpdir()), "toolwire-peer");

/** The code units that are kept of a description. */
const KEPT = 24;

/** A page of a catalog keeps the tools that fit into so many code units, and the one called. */
const MOST_OF_PAGE = 5000;

/** How long a server has to end after its stdin has. */
const GRACE_MS = 5000;

const chosen = process.argv.slice(2);

/** A line of a server with its prose cut short; numbers stay as they are written. */
function trimmed(line) {
  const prose = /"(description|title|instructions|websiteUrl|\$comment)":\s*"((?:[^"\\]|\\.)*)"/g;
  return line.replace(prose, (_, name, text) => {
    const start = new RegExp(`^(?:[^"\\\\]|\\\\u.{4}|\\\\[^u]){0,${KEPT}}`).exec(text)[0];
    return `"${name}":"${start.trim()}"`;
  });
}

/** A line with fewer tools, if it is a long page of a catalog. */
function shortened(line, called) {
  if (line.length <= MOST_OF_PAGE || !line.startsWith("{")) {
    return line;
  }
  const { tools } = partsOf(partsOf(line).result ?? "{}");
  if (tools === undefined) {
    return line;
  }
  let room = MOST_OF_PAGE;
  const kept = Object.values(partsOf(tools)).filter((tool) => {
    room -= tool.length;
    return room >= 0 || JSON.parse(tool).name === called;
  });
  return line.replace(tools, () => `[${kept.join(",")}]`);
}

async function* linesOf(stdout, called) {
  const encoder = new TextEncoder();
  for await (const line of createInterface({ input: stdout, crlfDelay: Infinity })) {
    yield encoder.encode(`${shortened(trimmed(line), called)}\n`);
  }
}

async function recorded({ file, launch, env, tool, arguments: given, expected }) {
  const { command, args = [] } = launch;
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(child, "exit").then(([code]) => code);
  const lines = [];
  const frames = [];
  const client = await toolwire.connectStreams({
    server: file,
    readable: linesOf(child.stdout, tool),
    write: (frame) => {
      frames.push(String(frame));
      child.stdin.write(frame);
    },
    exited,
    terminate: async () => {
      child.stdin.end();
      const patience = setTimeout(() => child.kill(), GRACE_MS);
      await exited;
      clearTimeout(patience);
    },
    record: (line) => lines.push(line),
  });
  const result = await client.callTool(tool, given);
  assert.match(JSON.stringify(result), expected);
  await client.request("tools/call", { name: "no_such_tool", arguments: {} }).catch(() => {});
  const { era, protocolVersion, tools } = client;
  await client.close();
  const text = `${lines.join("\n")}\n`;
  assert.ok(!text.includes('"masked":true'), "nothing is masked");
  const { output, events } = toolwire.replay(text);
  assert.deepEqual(output.map(String), frames);
  const ready = events.find(({ type }) => type === "ready");
  assert.deepEqual([ready.era, ready.protocolVersion], [era, protocolVersion]);
  return { text, tools: tools.length };
}

for (const peer of peers(folder)) {
  if (chosen.length > 0 && !chosen.includes(peer.file)) {
    continue;
  }
  if (peer.launch === undefined) {
    console.log(`${peer.file}: ${peer.name} is not installed`);
    continue;
  }
  furnish(folder);
  try {
    const { text, tools } = await recorded(peer);
    writeFileSync(fileURLToPath(new URL(`${peer.file}.jsonl`, import.meta.url)), text);
    console.log(`${peer.file}: ${tools} tools, ${text.length} bytes`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
