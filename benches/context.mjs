// What the tools of real MCP servers cost a model's context, listed directly and behind the gateway:
// bytes of compact JSON, and tokens by OpenAI's o200k_base encoding.
//
//   node benches/context.mjs
//
// A tool is counted as a provider is given it: name, description and input schema. Nothing leaves
// the machine: no tool is called. A server that does not start is skipped with a line.
import { OperationRegistry, ToolGateway } from "toolwire";
import { connect } from "toolwire/node";
import { requireNpm } from "./support/packages.mjs";
import { SERVERS, programOf } from "./support/servers.mjs";

const { countTokens } = requireNpm("gpt-tokenizer/encoding/o200k_base");

const START_MS = 30_000;

function definition({ name, description, inputSchema }) {
  return JSON.stringify({ name, description, input_schema: inputSchema });
}

function cost(texts) {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0);
  return { bytes, tokens };
}

function row(name, tools, { bytes, tokens }) {
  const number = (value) => value.toLocaleString("en-US");
  console.log(`| ${name} | ${number(tools)} | ${number(bytes)} | ${number(tokens)} |`);
}

const clients = [];
for (const { name, args = [], env } of SERVERS) {
  const program = programOf(name);
  try {
    if (program === undefined) {
      throw new Error("not installed");
    }
    const client = await connect({
      server: name.replace(/^@.*\//, "").replaceAll(".", "_"),
      command: process.execPath,
      args: [program, ...args],
      env,
      connectTimeoutMs: START_MS,
      handshakeTimeoutMs: START_MS,
    });
    clients.push({ name, client });
  } catch (error) {
    console.error(`${name}: skipped: ${error.message}`);
  }
}
if (clients.length === 0) {
  console.error("no server could be started");
  process.exit(1);
}

console.log("| listed | tools | bytes | tokens |\n|---|---|---|---|");
const registry = new OperationRegistry();
const all = [];
for (const { name, client } of clients) {
  const texts = client.tools.map(definition);
  all.push(...texts);
  row(name, texts.length, cost(texts));
  registry.importClient(client, { visibility: "external" });
}
const gateway = new ToolGateway({ registry });
const through = gateway.tools.map(definition);
row(`all ${clients.length} servers directly`, all.length, cost(all));
row("the same through the gateway", through.length, cost(through));

// What a model spends to find and read one operation, when it needs one.
const found = await gateway.handleCall("search", { query: "list directory" });
const [first] = found.structuredContent.operations;
const shown = await gateway.handleCall("schema", { name: first.name });
const once = cost([found.content[0].text, shown.content[0].text]);
console.log(
  `\nfinding an operation and reading its schema, when one is needed: ${once.bytes} bytes, ${once.tokens} tokens`,
);
await Promise.all(clients.map(({ client }) => client.close()));
