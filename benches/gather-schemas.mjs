// Gathers the tool schemas of real MCP servers: starts every server that is installed for tests,
// lists its tools, and writes the schemas, each once, to target/bench/tool-schemas.json.
//
//   node benches/gather-schemas.mjs
//
// Nothing leaves the machine: no tool is called. A server that does not start is skipped with a line.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { requireNpm } from "./support/packages.mjs";
import { SERVERS, programOf } from "./support/servers.mjs";
import { FILE } from "./support/tool-schemas.mjs";

const { Client } = requireNpm("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = requireNpm("@modelcontextprotocol/sdk/client/stdio.js");

const START_MS = 30_000;

async function toolsOf({ name, args = [], env = {} }) {
  const program = programOf(name);
  if (program === undefined) {
    throw new Error("not installed");
  }
  const client = new Client({ name: "gather-schemas", version: "1.0.0" });
  const { PATH, HOME } = process.env;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, ...args],
    env: { PATH, HOME, ...env },
    stderr: "ignore",
  });
  try {
    await client.connect(transport, { timeout: START_MS });
    const tools = [];
    let cursor;
    do {
      const page = await client.listTools({ cursor }, { timeout: START_MS });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  } finally {
    await client.close().catch(() => {});
  }
}

const schemas = new Map();
for (const server of SERVERS) {
  try {
    const tools = await toolsOf(server);
    const before = schemas.size;
    for (const tool of tools) {
      for (const schema of [tool.inputSchema, tool.outputSchema]) {
        if (schema !== undefined) {
          const text = JSON.stringify(schema);
          schemas.set(text, { server: server.name, tool: tool.name, schema });
        }
      }
    }
    console.log(`${server.name}: ${tools.length} tools, ${schemas.size - before} new schemas`);
  } catch (error) {
    console.log(`${server.name}: skipped: ${error.message.split("\n")[0]}`);
  }
}
if (schemas.size === 0) {
  console.error("no server could be started");
  process.exit(1);
}
mkdirSync(dirname(FILE), { recursive: true });
writeFileSync(FILE, JSON.stringify([...schemas.values()]));
console.log(`${schemas.size} schemas`);
process.exit(0);
