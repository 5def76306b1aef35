// `toolwire gateway` under the official SDK's client: lazy starts, restarts, dead servers, selection.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  assertNothingLeft,
  configFile,
  entry,
  folder,
  marker,
  npmServer,
  program,
  run,
  serverCount,
} from "./support/cli.mjs";
import { until } from "./support/processes.mjs";

test.after(assertNothingLeft);

/** The SDK's client of a gateway, and what the gateway writes to stderr. */
async function gateway(t, servers, ...args) {
  const config = configFile(t, { mcpServers: servers });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "gateway", "--config", config, ...args],
    stderr: "pipe",
  });
  let status = "";
  transport.stderr.on("data", (chunk) => (status += chunk));
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(transport);
  const close = () => client.close();
  t.after(async () => {
    await close();
    await assertNothingLeft();
  });
  const call = async (name, input) =>
    (await client.callTool({ name, arguments: input })).structuredContent;
  return { client, call, close, pid: transport.pid, status: () => status };
}

const dead = { command: process.execPath, args: ["-e", "process.exit(5)", "--", marker] };

test("four tools stand at once; servers start when they are needed, and only those", async (t) => {
  const { client, call, close, status } = await gateway(t, {
    one: entry("well-behaved"),
    two: entry("well-behaved"),
  });
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["search", "schema", "call", "batch"],
  );
  assert.equal(serverCount(), 0);
  assert.deepEqual(await call("call", { operation: "one.word_count", input: { text: "a b" } }), {
    words: 2,
  });
  assert.equal(serverCount(), 1);
  assert.doesNotMatch(status(), /two starting/);
  const { operations } = await call("search", { query: "word_count" });
  assert.deepEqual(
    operations.map(({ name }) => name),
    ["one.word_count", "two.word_count"],
  );
  assert.equal(serverCount(), 2);
  await close();
  await until(() => serverCount() === 0);
  assert.match(status(), /● one running: 7 tools, legacy 2025-11-25/);
});

test("one dead server sinks none of the rest, and is named", async (t) => {
  const { client, call, status } = await gateway(t, {
    good: entry("well-behaved"),
    dead,
    missing: { command: "/no/such" },
  });
  const found = await client.callTool({ name: "search", arguments: { query: "word_count" } });
  assert.deepEqual(
    found.structuredContent.operations.map(({ name }) => name),
    ["good.word_count"],
  );
  assert.match(found.content[1].text, /do not run now.*: dead, missing/);
  for (const [tool, input] of [
    ["call", { operation: "dead.x" }],
    ["schema", { name: "dead.x" }],
  ]) {
    const error = await call(tool, input);
    assert.deepEqual([error.code, error.retryable], ["EXECUTION_ERROR", true]);
    assert.match(error.message, /does not run: dead/);
  }
  const { results } = await call("batch", {
    calls: [
      { operation: "good.word_count", input: { text: "a" } },
      { operation: "dead.x" },
      { operation: "good.x" },
    ],
  });
  assert.deepEqual(
    results.map(({ output, error }) => output ?? error.code),
    [{ words: 1 }, "EXECUTION_ERROR", "NOT_FOUND"],
  );
  await until(() => /dead failed: .*next try in 2 s/.test(status()));
});

test("a server that dies is started again, and its tools stay known", async (t) => {
  const where = folder(t);
  const record = path.join(where, "{server}.jsonl");
  const { client, call, status } = await gateway(
    t,
    { show: entry("showcase") },
    "--record",
    record,
  );
  const died = await client.callTool({ name: "call", arguments: { operation: "show.die" } });
  assert.equal(died.isError, true);
  await until(() => /show down: .*exited with code 9; next try in 1 s/.test(status()));
  const { operations } = await call("search", { query: "echo" });
  assert.deepEqual(
    operations.map(({ name }) => name),
    ["show.echo"],
  );
  await until(() => status().match(/show running/g)?.length === 2);
  const echoed = await client.callTool({
    name: "call",
    arguments: { operation: "show.echo", input: { a: 1 } },
  });
  assert.equal(echoed.content[0].text, '{"a":1}');
  assert.deepEqual(readdirSync(where).sort(), ["show.2.jsonl", "show.jsonl"]);
});

test("include and exclude, of entries and of the command line", async (t) => {
  const entries = {
    one: entry("well-behaved", { include: ["word_count", "liar"] }),
    two: entry("well-behaved", { exclude: ["wait"] }),
  };
  const names = async (call) =>
    (await call("search", {})).operations.map(({ name }) => name).sort();
  const first = await gateway(t, entries, "--exclude", "one.liar", "--exclude", "two.where");
  assert.deepEqual(await names(first.call), [
    "one.word_count",
    "two.environment",
    "two.explode",
    "two.length",
    "two.liar",
    "two.word_count",
  ]);
  await first.close();
  const second = await gateway(t, entries, "--include", "two.length");
  assert.deepEqual(await names(second.call), ["two.length"]);
  await second.close();
});

test("what is wrong with the command line is said, with exit code 2", async (t) => {
  const cases = [
    [["gateway"], /no servers/],
    [["gateway", "--config", "/no/such.json"], /cannot be read/],
    [
      ["gateway", "--config", configFile(t, { mcpServers: { "a.b": dead, a_b: dead } })],
      /two servers would both be called a_b/,
    ],
    [
      [
        "gateway",
        "--config",
        configFile(t, [
          { server: "a", ...dead },
          { server: "a", ...dead },
        ]),
      ],
      /two servers .* are called a/,
    ],
  ];
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, expected);
  }
});

test("C-501: one configured server that fails to connect stops the whole start, where that is asked for", async (t) => {
  const config = configFile(t, { mcpServers: { good: entry("well-behaved"), bad: dead } });
  for (const command of ["gateway", "tools"]) {
    const { code, stdout, stderr } = await run([command, "--require-all", "--config", config]);
    assert.deepEqual([code, stdout], [3, ""]);
    assert.match(stderr, /"bad" exited with code 5/);
    assert.equal(serverCount(), 0);
  }
});

test("C-502: the flag wins over the environment variable; neither means no servers", async (t) => {
  const config = (name) => configFile(t, { mcpServers: { [name]: entry("well-behaved") } });
  const [flag, variable] = [config("flag"), config("variable")];
  const names = async (args, env) => {
    const { code, stdout } = await run(["tools", "--json", ...args], { env });
    assert.equal(code, 0);
    return JSON.parse(stdout).servers.map(({ server }) => server);
  };
  assert.deepEqual(await names(["--config", flag], { TOOLWIRE_CONFIG: variable }), ["flag"]);
  assert.deepEqual(await names([], { TOOLWIRE_CONFIG: variable }), ["variable"]);
  assert.deepEqual(await names([], {}), []);
});

const files = npmServer("@modelcontextprotocol/server-filesystem");
const everything = npmServer("@modelcontextprotocol/server-everything");
const skip =
  (files === undefined || everything === undefined) && "servers from npm are not installed";
test("servers from npm, side by side", { skip }, async (t) => {
  const where = folder(t);
  const { client, call } = await gateway(t, {
    files: { command: process.execPath, args: [files, where] },
    every: { command: process.execPath, args: [everything, "stdio", marker] },
  });
  const { operations } = await call("search", { query: "sum" });
  assert.deepEqual(
    operations.map(({ name }) => name),
    ["every.get-sum"],
  );
  const text = path.join(where, "a.txt");
  const { results } = await call("batch", {
    calls: [
      { operation: "every.get-sum", input: { a: 2, b: 3 } },
      { operation: "files.write_file", input: { path: text, content: "written" } },
    ],
  });
  assert.deepEqual(
    results.map(({ isError }) => isError),
    [false, false],
  );
  const read = await client.callTool({
    name: "call",
    arguments: { operation: "files.read_text_file", input: { path: text } },
  });
  assert.equal(read.content[0].text, "written");
});
