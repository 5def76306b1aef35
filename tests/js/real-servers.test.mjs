// Servers from npm as they are: connected, listed, called; era and revision as docs/eras.md says.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertNothingRuns } from "./support/servers.mjs";
import { node } from "./support/toolwire.mjs";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwire-servers-")));
writeFileSync(join(folder, "note.txt"), "durable flows");

const SERVERS = [
  {
    name: "@modelcontextprotocol/server-everything",
    args: ["stdio"],
    tool: "echo",
    arguments: { message: "hello" },
    expected: /hello/,
  },
  {
    name: "@modelcontextprotocol/server-filesystem",
    args: [folder],
    tool: "read_text_file",
    arguments: { path: join(folder, "note.txt") },
    expected: /durable flows/,
  },
  {
    name: "@modelcontextprotocol/server-memory",
    env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    tool: "create_entities",
    arguments: { entities: [{ name: "a", entityType: "t", observations: ["seen"] }] },
    expected: /seen/,
  },
  {
    name: "@modelcontextprotocol/server-sequential-thinking",
    tool: "sequentialthinking",
    arguments: { thought: "t", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    expected: /thoughtNumber/,
  },
  {
    name: "@cyanheads/git-mcp-server",
    tool: "git_set_working_dir",
    arguments: { path: folder, validateGitRepo: false, initializeIfNotPresent: true },
    expected: /./,
  },
];

const docs = readFileSync(new URL("../../docs/eras.md", import.meta.url), "utf8");

/** The file that a package's command runs, or nothing if it is not installed. */
function programOf(name) {
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) {
    return undefined;
  }
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  const path = typeof bin === "string" ? bin : Object.values(bin)[0];
  return join(dirname(manifest), path);
}

test.after(assertNothingRuns);

for (const { name, args = [], env = {}, tool, arguments: given, expected } of SERVERS) {
  const program = programOf(name);
  const skip = program === undefined && `${name} is not installed`;
  test(`${name} is connected to, listed and called`, { skip }, async () => {
    const client = await node.connect({
      server: "real",
      command: process.execPath,
      args: [program, ...args],
      env,
    });
    try {
      assert.ok(client.tools.some((listed) => listed.name === tool), "the tool is listed");
      const result = await client.callTool(tool, given);
      assert.equal(result.isError, false, JSON.stringify(result.content));
      assert.match(JSON.stringify(result), expected);
      const row = docs.split("\n").find((line) => line.includes(`\`${name}\``));
      assert.ok(row, `${name} has no row in docs/eras.md`);
      const [, , era, revision] = row.split("|").map((cell) => cell.trim());
      assert.deepEqual([era, revision], [client.era, client.protocolVersion]);
    } finally {
      await client.close();
    }
  });
}
