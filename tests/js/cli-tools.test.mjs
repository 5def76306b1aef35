// `toolwire tools`: what it shows of servers, and what it says when there is nothing to show.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  assertNothingLeft,
  assertPlain,
  configFile,
  entry,
  marker,
  npmServer,
  run,
  serverWords,
} from "./support/cli.mjs";

test.afterEach(assertNothingLeft);

test("a server's era, revision and tools stand in a table, problems beside them", async () => {
  const { code, stdout, stderr } = await run(["tools", ...serverWords("showcase")], {
    env: { COLUMNS: "140" },
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^server {2}legacy 2025-11-25 · showcase .*… · 11 tools$/m);
  assert.match(stdout, /^ {2}TOOL +ARGUMENTS +DESCRIPTION +PROBLEMS$/m);
  assert.match(stdout, /^ {2}broken .*outputSchema: does not compile/m);
  assert.match(stdout, /^ {2}bare .*inputSchema: no inputSchema$/m);
  const coloured = await run(["tools", "--color", ...serverWords("showcase")], {
    env: { COLUMNS: "80" },
  });
  assert.match(coloured.stdout, /outputSchema:/, "colours have no width");
  assertPlain(stdout);
  assert.match(stdout, /\\u001b\[31mred/);
});

for (const columns of [80, 140]) {
  test(`no line is wider than ${columns} columns`, async () => {
    const { stdout } = await run(["tools", ...serverWords("showcase")], {
      env: { COLUMNS: `${columns}` },
    });
    const tooWide = stdout.split("\n").filter((line) => line.length > columns);
    assert.deepEqual(tooWide, []);
    const name = "a_tool_with_a_name_that_is_much_longer_than_any_column_of_a_table_would_be_wide";
    const first = stdout
      .split("\n")
      .map((line) => line.slice(2, 2 + Math.floor(columns * 0.4)).trim());
    assert.ok(first.join("").includes(name), "a long name is broken, not cut");
  });
}

test("colour is for terminals and whoever asks for it", async () => {
  const words = serverWords("well-behaved");
  assert.doesNotMatch((await run(["tools", ...words])).stdout, /\u001b/);
  assert.match((await run(["tools", "--color", ...words])).stdout, /\u001b\[1m/);
  assert.match(
    (await run(["tools", ...words], { env: { FORCE_COLOR: "1" } })).stdout,
    /\u001b\[1m/,
  );
  assert.doesNotMatch(
    (await run(["tools", "--no-color", ...words], { env: { FORCE_COLOR: "1" } })).stdout,
    /\u001b/,
  );
});

test("both forms of a configuration, in its order; one that fails costs the others nothing", async (t) => {
  const good = entry("well-behaved");
  const dead = { command: process.execPath, args: ["-e", "process.exit(5)", "--", marker] };
  const named = configFile(t, { mcpServers: { one: good, dead, two: good } });
  const listed = configFile(t, [
    { server: "one", ...good },
    { server: "dead", ...dead },
    { server: "two", ...good },
  ]);
  for (const config of [named, listed]) {
    const { code, stdout } = await run(["tools", "--config", config]);
    assert.equal(code, 3);
    const heads = stdout
      .split("\n")
      .filter((line) => /^\w/.test(line))
      .map((line) => line.split("  ")[0]);
    assert.deepEqual(heads, ["one", "dead", "two"]);
    assert.match(stdout, /dead {2}not available\n.*exited with code 5/);
  }
});

test("--json is the whole of it", async (t) => {
  const config = configFile(t, {
    mcpServers: { a: entry("showcase"), b: { command: "/no/such/command" } },
  });
  const { code, stdout } = await run(["tools", "--json", "--config", config]);
  assert.equal(code, 3);
  assertPlain(stdout);
  const [a, b] = JSON.parse(stdout).servers;
  assert.deepEqual([a.server, a.ok, a.era, a.tools.length], ["a", true, "legacy", 11]);
  assert.ok(a.problems.some(({ code: found }) => found === "uncompilable"));
  assert.deepEqual([b.server, b.ok, b.error.code], ["b", false, "spawn_failed"]);
});

test("what is wrong with the command line is said, with exit code 2", async (t) => {
  const config = configFile(t, { mcpServers: { a: entry("well-behaved") } });
  const cases = [
    [
      ["tools", "--config", "/no/such/file.json"],
      /\/no\/such\/file\.json: The configuration file cannot be read/,
    ],
    [["tools", "--config", configFile(t, "{ bad")], /mcp\.json: /],
    [["tools", "--config", config, ...serverWords("well-behaved")], /not both/],
    [["tools", "--"], /no command after --/],
    [
      ["tools", "--era", "new", ...serverWords("well-behaved")],
      /Allowed choices are auto, legacy, modern/,
    ],
    [["tools", "--timeout", "soon", ...serverWords("well-behaved")], /number of milliseconds/],
    [
      ["tools", "--env", "NOT_SET_ANYWHERE", ...serverWords("well-behaved")],
      /NOT_SET_ANYWHERE is not set/,
    ],
    [["tools", "--wrong"], /unknown option '--wrong'/],
    [["tols"], /unknown command 'tols'/],
    [["validate", "a", "b", "--", "x"], /takes no command/],
  ];
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, expected);
  }
});

test("a server that does not start, ends, or does not answer is exit code 3", async () => {
  for (const words of [
    ["--", "/no/such/command"],
    serverWords("exits-at-once"),
    ["--timeout", "500", ...serverWords("hangs")],
  ]) {
    const { code, stdout } = await run(["tools", ...words]);
    assert.equal(code, 3);
    assert.match(stdout, /not available/);
  }
});

test("help teaches, for the program and for each command", async () => {
  const { code, stdout } = await run(["--help"]);
  assert.equal(code, 0);
  assert.match(stdout, /Exit codes:/);
  for (const command of ["tools", "call", "check", "validate", "gateway", "replay"]) {
    assert.match(stdout, new RegExp(`^  ${command} `, "m"));
    const help = await run([command, "--help"]);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /Examples?:|In a host's configuration:/);
  }
  assert.match((await run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
});

const everything = npmServer("@modelcontextprotocol/server-everything");
test(
  "a server from npm",
  { skip: everything === undefined && "server-everything is not installed" },
  async () => {
    const { code, stdout } = await run(
      ["tools", "--", process.execPath, everything, "stdio", marker],
      { env: { COLUMNS: "140" } },
    );
    assert.equal(code, 0);
    assert.match(stdout, /^ {2}get-sum +a, b +Returns the sum of two numbers$/m);
  },
);

test("no line of help is wider than 80 columns", async () => {
  for (const words of [[], ["tools"], ["call"], ["check"], ["validate"], ["gateway"], ["replay"]]) {
    const { stdout } = await run([...words, "--help"], { env: { COLUMNS: "80" } });
    assert.deepEqual(
      stdout.split("\n").filter((line) => line.length > 80),
      [],
    );
  }
});
