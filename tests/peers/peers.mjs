// Owns the list of real servers that tests connect to over a pipe: how each is started, what is
// called on it, and why it cannot be here. npm's are in tests/node_modules; `cargo xtask test` puts
// the others into target/peers.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));
const built = fileURLToPath(new URL("../../target/peers", import.meta.url));
const windows = process.platform === "win32";
const python = join(built, windows ? "python/Scripts/python.exe" : "python/bin/python");
const rmcp = join(built, "rmcp/debug", windows ? "toolwire-peer-rmcp.exe" : "toolwire-peer-rmcp");

/** How a package of npm is started, or nothing if it is not installed. */
function fromNpm(name, args = []) {
  const manifest = join(modules, name, "package.json");
  if (!existsSync(manifest)) {
    return undefined;
  }
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  const program = typeof bin === "string" ? bin : Object.values(bin)[0];
  return { command: process.execPath, args: [join(dirname(manifest), program), ...args] };
}

function fromPython(...args) {
  return existsSync(python) ? { command: python, args } : undefined;
}

function fromCargo(program) {
  return existsSync(program) ? { command: program } : undefined;
}

/** Makes `folder` the place that servers work in: a text, and a repository without a commit. */
function furnish(folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "note.txt"), "durable flows\n");
  execFileSync("git", ["init", "--quiet", folder]);
}

/**
 * The servers, for a folder that is furnished. `name` is how docs/eras.md calls one, `file` how its
 * recording is called; `launch` is undefined where the server is not installed. `expected` is found
 * in the JSON text of the result of calling `tool`.
 */
function peers(folder) {
  return [
    {
      name: "@modelcontextprotocol/server-everything",
      file: "npm-everything",
      launch: fromNpm("@modelcontextprotocol/server-everything", ["stdio"]),
      tool: "echo",
      arguments: { message: "hello" },
      expected: /hello/,
    },
    {
      name: "@modelcontextprotocol/server-filesystem",
      file: "npm-filesystem",
      launch: fromNpm("@modelcontextprotocol/server-filesystem", [folder]),
      tool: "read_text_file",
      arguments: { path: join(folder, "note.txt") },
      expected: /durable flows/,
    },
    {
      name: "@modelcontextprotocol/server-memory",
      file: "npm-memory",
      launch: fromNpm("@modelcontextprotocol/server-memory"),
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
      tool: "create_entities",
      arguments: { entities: [{ name: "a", entityType: "t", observations: ["seen"] }] },
      expected: /seen/,
    },
    {
      name: "@modelcontextprotocol/server-sequential-thinking",
      file: "npm-sequential-thinking",
      launch: fromNpm("@modelcontextprotocol/server-sequential-thinking"),
      tool: "sequentialthinking",
      arguments: { thought: "t", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
      expected: /thoughtNumber/,
    },
    {
      name: "@cyanheads/git-mcp-server",
      file: "npm-git",
      launch: fromNpm("@cyanheads/git-mcp-server"),
      tool: "git_set_working_dir",
      arguments: { path: folder, validateGitRepo: false, initializeIfNotPresent: true },
      expected: /./,
    },
    {
      name: "mcp-server-time",
      file: "pypi-time",
      launch: fromPython("-m", "mcp_server_time", "--local-timezone=UTC"),
      tool: "convert_time",
      arguments: { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" },
      expected: /T21:00:00\+09:00/,
    },
    {
      name: "mcp-server-git",
      file: "pypi-git",
      launch: fromPython("-m", "mcp_server_git", "--repository", folder),
      tool: "git_status",
      arguments: { repo_path: folder },
      expected: /note\.txt/,
    },
    {
      name: "fastmcp",
      file: "pypi-fastmcp",
      launch: fromPython(fileURLToPath(new URL("fastmcp-server.py", import.meta.url))),
      env: { FASTMCP_CHECK_FOR_UPDATES: "off" },
      tool: "count",
      arguments: { text: "two words" },
      expected: /"structuredContent":\{"words":2,"longest":"words"\}/,
    },
    {
      name: "rmcp",
      file: "crates-rmcp",
      launch: fromCargo(rmcp),
      tool: "add",
      arguments: { a: Number.MAX_SAFE_INTEGER, b: 2 },
      expected: /\{\\"sum\\":9007199254740993\}/,
    },
  ];
}

/** The row of docs/eras.md about a server: its era and revision. */
function documented(name) {
  const docs = readFileSync(new URL("../../docs/eras.md", import.meta.url), "utf8");
  const row = docs.split("\n").find((line) => line.startsWith(`| \`${name}\``));
  const [, , era, revision] = row?.split("|").map((cell) => cell.trim()) ?? [];
  return { era, revision };
}

export { documented, furnish, peers };
