/**
 * Connects to real MCP servers from npm, shows their tools, calls some and says what came back;
 * then to a server that breaks its own outputSchema. A server that is not installed is skipped.
 */

import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { connect } from "toolwire/node";
import { indented, oneLine, table } from "./print.mjs";

const packages = fileURLToPath(new URL("../../tests/node_modules/", import.meta.url));

/** The servers and what is called on each. `folder` is theirs to work in. */
const demonstrations = (folder) => [
  {
    server: "everything",
    from: "@modelcontextprotocol/server-everything",
    args: ["stdio"],
    calls: [
      ["echo", { message: "hello from toolwire" }],
      ["get-sum", { a: 19, b: 23 }],
      ["get-structured-content", { location: "New York" }],
      ["get-sum", { a: 19, b: "twenty-three" }],
    ],
  },
  {
    server: "filesystem",
    from: "@modelcontextprotocol/server-filesystem",
    args: [folder],
    calls: [
      ["list_directory", { path: folder }],
      ["read_text_file", { path: path.join(folder, "note.txt") }],
      ["read_text_file", { path: path.parse(folder).root }],
    ],
  },
  {
    server: "memory",
    from: "@modelcontextprotocol/server-memory",
    args: [],
    env: { MEMORY_FILE_PATH: path.join(folder, "memory.jsonl") },
    calls: [
      ["create_entities", { entities: [{ name: "toolwire", entityType: "core", observations: ["has no eval"] }] }],
      ["search_nodes", { query: "toolwire" }],
    ],
  },
  {
    server: "broken-weather",
    from: "docs/demo/broken-server.mjs, which breaks its own outputSchema",
    script: fileURLToPath(new URL("broken-server.mjs", import.meta.url)),
    args: [],
    calls: [
      ["forecast", { city: "Lisbon" }],
      ["forecast", { city: "Lisbon" }, { validation: "report" }],
    ],
  },
];

/** The program of an npm package, or undefined when it is not installed. */
function programOf(name) {
  const manifest = path.join(packages, name, "package.json");
  if (!existsSync(manifest)) return undefined;
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  const program = path.join(packages, name, typeof bin === "string" ? bin : Object.values(bin)[0]);
  return existsSync(program) ? program : undefined;
}

function showTools(client) {
  const rows = client.tools.map((tool) => [
    tool.name,
    Object.keys(tool.inputSchema?.properties ?? {}).join(", ") || "-",
    tool.outputSchema === undefined ? "-" : "checked against its schema",
  ]);
  console.log(table(["tool", "arguments", "structured output"], rows));
}

function showViolations(violations) {
  for (const { instancePath, keyword, message } of violations ?? []) {
    console.log(indented(`${instancePath || "(root)"}  ${keyword}: ${message}`, 10));
  }
}

const tally = { servers: 0, results: 0, "failures of a tool": 0, rejected: 0 };

/** One call: the arguments, then what came back, or what was rejected and why. */
async function show(client, [name, args, options]) {
  const asked = options === undefined ? "" : `  with ${oneLine(options)}`;
  console.log(`\n    ${name} ${oneLine(args)}${asked}`);
  try {
    const result = await client.callTool(name, args, options);
    tally[result.isError ? "failures of a tool" : "results"] += 1;
    const text = result.content.find((block) => block.type === "text")?.text;
    console.log(indented(`${result.isError ? "the tool failed: " : ""}${oneLine(text ?? "(no text)")}`, 8));
    if (result.structuredContent !== undefined) {
      console.log(indented(`structured, ${result.verdict}: ${oneLine(result.structuredContent)}`, 8));
    }
    showViolations(result.violations);
  } catch (error) {
    tally.rejected += 1;
    console.log(indented(`REJECTED, ${error.code}: ${error.message}`, 8));
    console.log(indented("for the host alone, never for a model:", 8));
    showViolations(error.private.reveal()?.violations);
  }
}

async function demonstrate({ server, from, script = programOf(from), args, env, calls }) {
  if (script === undefined) {
    console.log(`\n  ${server}: skipped, ${from} is not installed`);
    return;
  }
  const client = await connect({ server, command: process.execPath, args: [script, ...args], env });
  try {
    tally.servers += 1;
    const { name, version } = client.serverInfo ?? {};
    console.log(`\n  ${server}: ${from}`);
    console.log(`    says it is ${name} ${version}; protocol ${client.protocolVersion}\n`);
    showTools(client);
    for (const call of calls) await show(client, call);
  } finally {
    await client.close();
  }
}

const folder = await mkdtemp(path.join(tmpdir(), "toolwire-demo-"));
try {
  await writeFile(path.join(folder, "note.txt"), "toolwire was here\n");
  for (const demonstration of demonstrations(folder)) {
    await demonstrate(demonstration);
  }
  const counts = Object.entries(tally).map(([what, count]) => `${count} ${what}`);
  console.log(`\n  ${counts.join(", ")}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
