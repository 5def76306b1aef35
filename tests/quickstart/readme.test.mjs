/** The README's quickstart is a contract: the text, the files and what they print are the same. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { limits } from "toolwire";
import { connect } from "toolwire/node";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = path.join(root, "docs/quickstart");
const readme = readFileSync(path.join(root, "README.md"), "utf8");
const printed = `{
  tools: [ 'word_count', 'explode' ],
  counted: {
    content: [ { type: 'text', text: '4' } ],
    isError: false,
    structuredContent: { words: 4 }
  },
  refused: {
    content: [ { type: 'text', text: 'the tool refused' } ],
    isError: true,
    structuredContent: undefined
  },
  sourceName: 'mcp/quickstart',
  flowNames: [ 'mcp/quickstart/word_count', 'mcp/quickstart/explode' ]
}
`;

/** The README's first code block of a language that holds a text. */
function block(language, text) {
  const blocks = readme.matchAll(/^```(\w*)\n([^]*?)^```$/gm);
  const found = [...blocks].find(([, marked, body]) => marked === language && body.includes(text));
  return found?.[2];
}

const run = promisify(execFile);

test("README and files hold the same server and program", () => {
  const server = readFileSync(path.join(folder, "server.mjs"), "utf8");
  const program = readFileSync(path.join(folder, "program.mjs"), "utf8");
  assert.equal(block("js", "word_count\","), server);
  assert.equal(block("js", "flowsOf("), program);
  assert.doesNotMatch(server, /\bimport\b|\brequire\b/);
});

test("the program prints what the README shows", async () => {
  assert.equal(block("", "counted:"), printed);
  const { stdout, stderr } = await run(process.execPath, [path.join(folder, "program.mjs")]);
  assert.equal(stdout, printed);
  assert.equal(stderr, "");
});

test("the two files run anywhere the package is installed", async () => {
  const elsewhere = await mkdtemp(path.join(tmpdir(), "toolwire-quickstart-"));
  try {
    await cp(folder, elsewhere, { recursive: true });
    await symlink(path.join(root, "node_modules"), path.join(elsewhere, "node_modules"), "junction");
    const { stdout } = await run(process.execPath, ["program.mjs"], { cwd: elsewhere });
    assert.equal(stdout, printed);
  } finally {
    await rm(elsewhere, { recursive: true, force: true });
  }
});

test("the server is ready within a second although it ignores the probe", async () => {
  const times = [];
  // A busy machine may be late, again and again, but hardly five times.
  while (times.length < 5 && !(times.at(-1) < 1000)) {
    const started = performance.now();
    const client = await connect({
      server: "quickstart",
      command: process.execPath,
      // Another command each time: of one it knows, the client remembers the era.
      args: [path.join(folder, "server.mjs"), String(times.length)],
    });
    times.push(performance.now() - started);
    await client.close();
  }
  assert.ok(times.at(-1) < 1000, `ready after ${times.map(Math.round).join(", ")} ms`);
});

test("the README's limits are the defaults", () => {
  const number = (text) => (text === "none" ? Infinity : Number(text.replaceAll(",", "")));
  const rows = [...readme.matchAll(/^\| `(max\w+|\w+Ms|queueCapacity)`[^|]*\| ([\d,]+|none) \| ([\d,]+|none) \|$/gm)];
  assert.ok(rows.length >= 15, `${rows.length} rows`);
  for (const [, option, contain, strict] of rows) {
    assert.equal(limits.contain[option], number(contain), option);
    assert.equal(limits.strict[option], number(strict), `${option}, strict`);
  }
  const compiling = [...readme.matchAll(/`(max\w+)` \(([\d,]+)\)/g)];
  assert.equal(compiling.length, 5);
  for (const [, option, value] of compiling) {
    assert.equal(limits.contain[option], number(value), option);
  }
});
