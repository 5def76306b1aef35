// `toolwire call`: arguments, progress, every kind of content, verdicts, and secrets.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import {
  assertNothingLeft,
  assertPlain,
  configFile,
  entry,
  folder,
  marker,
  npmServer,
  program,
  run,
  serverWords,
} from "./support/cli.mjs";

test.afterEach(assertNothingLeft);

const call = (...args) => run(["call", ...args]);

test("arguments come from the command line, a file and stdin", async (t) => {
  const file = path.join(folder(t), "arguments.json");
  writeFileSync(file, '{"text":"a b c"}');
  const words = serverWords("well-behaved");
  for (const [given, input] of [
    ['{"text":"a b c"}', ""],
    [`@${file}`, ""],
    ["-", '{"text":"a b c"}'],
  ]) {
    const { code, stdout, stderr } = await run(["call", "word_count", given, ...words], { input });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^3\nstructured content\n\{\n {2}"words": 3\n\}\n$/);
    assert.match(stderr, /✓ the structured content satisfies/);
  }
});

test("long integers come back to the last digit, and are not sent with fewer", async () => {
  const sent = await call("echo", '{"n":9007199254740993,"f":1.5}', ...serverWords("raw-echo"));
  assert.equal(sent.code, 2);
  assert.match(sent.stderr, /a number at line 1, column 6 has more digits than can be sent/);
  const fine = await call("echo", '{"n":9007199254740992,"f":1.50}', ...serverWords("raw-echo"));
  assert.match(fine.stdout, /"n":9007199254740992,"f":1.5\}/);
  const { stdout } = await call("exact", ...serverWords("showcase"));
  assert.equal(
    stdout,
    'structured content\n{\n  "n": 9007199254740993,\n  "f": 1.10,\n  "e": [],\n  "o": {}\n}\n',
  );
  const json = (await call("exact", "--json", ...serverWords("showcase"))).stdout;
  assert.match(json, /"n": 9007199254740993/);
  assert.equal(JSON.parse(json).verdict, "valid");
});

test("a tool that fails, and output that violates its schema, are exit code 1", async () => {
  const failed = await call("explode", ...serverWords("well-behaved"));
  assert.equal(failed.code, 1);
  assert.equal(failed.stdout, "the tool refused\n");
  assert.match(failed.stderr, /✗ the tool says that it failed/);
  const wrong = await call("liar", ...serverWords("well-behaved"));
  assert.equal(wrong.code, 1);
  assert.match(
    wrong.stderr,
    /✗ the structured content violates the tool's own output schema\n {2}\/words: must be integer/,
  );
  const json = JSON.parse((await call("liar", "--json", ...serverWords("well-behaved"))).stdout);
  assert.deepEqual([json.verdict, json.violations[0].instancePath], ["invalid", "/words"]);
});

test("pictures, sounds and files are named, and saved with --out; nothing is written over", async (t) => {
  const words = serverWords("showcase");
  const { stdout } = await call("picture", ...words);
  assert.match(stdout, /^\[image image\/png, \d+ bytes; --out DIR saves it\]$/m);
  assert.match(stdout, /^\[link a: file:\/\/\/a\.txt\]$/m);
  assert.match(stdout, /^\[resource file:\/\/\/b\.txt\]\nof a file$/m);
  const out = path.join(folder(t), "new/pictures");
  for (let count = 0; count < 2; count += 1) {
    assert.equal((await call("picture", "--out", out, ...words)).code, 0);
  }
  assert.deepEqual(readdirSync(out).sort(), [
    "picture-1.bin",
    "picture-1.png",
    "picture-1.wav",
    "picture-2.bin",
    "picture-2.png",
    "picture-2.wav",
  ]);
  assert.equal(readFileSync(path.join(out, "picture-1.png")).subarray(1, 4).toString(), "PNG");
  const json = JSON.parse((await call("picture", "--json", "--out", out, ...words)).stdout);
  assert.deepEqual(
    json.saved.map(({ index }) => index),
    [0, 1, 4],
  );
});

test("what a server writes cannot steer the terminal", async () => {
  for (const extra of [[], ["--json"]]) {
    const { stdout, stderr } = await call("evil", ...extra, ...serverWords("showcase"));
    assertPlain(stdout);
    assertPlain(stderr);
    assert.match(stdout, /\\u001b/);
  }
});

test("secrets that a server was given are never printed", async (t) => {
  const secret = "hunter2-and-more";
  const config = configFile(t, {
    mcpServers: { a: entry("showcase", { env: { API_TOKEN: secret, PLAIN: "plain-value" } }) },
  });
  for (const extra of [[], ["--json"]]) {
    const { stdout } = await call("--config", config, "a", "secret", ...extra);
    assert.doesNotMatch(stdout, new RegExp(secret));
    assert.match(stdout, /API_TOKEN.*\[REDACTED\]/);
    assert.match(stdout, /plain-value/);
  }
  const given = await call("secret", "-e", `API_TOKEN=${secret}`, ...serverWords("showcase"));
  assert.doesNotMatch(given.stdout, new RegExp(secret));
});

test(
  "progress is shown on a terminal and nowhere else",
  { skip: !hasScript() && "there is no script(1)" },
  async () => {
    const plain = await call("steps", ...serverWords("showcase"));
    assert.deepEqual([plain.stdout, plain.stderr], ["all steps\n", ""]);
    const command = [process.execPath, program, "call", "steps", ...serverWords("showcase")]
      .map((word) => `'${word}'`)
      .join(" ");
    const seen = execFileSync("script", ["-qec", command, "/dev/null"], {
      encoding: "utf8",
      input: "",
    });
    assert.match(seen, /█+░* [2-4]\/4 step [2-4]\\u001b\[31mred/);
    assert.match(seen, /all steps/);
  },
);

test("what is wrong with the command line is said, with exit code 2", async (t) => {
  const config = configFile(t, { mcpServers: { a: entry("well-behaved") } });
  const words = serverWords("well-behaved");
  const cases = [
    [["--config", config, "b", "word_count"], /there is no server b\nhint: configured are: a/],
    [
      ["--config", config, "a", "word-count"],
      /a has no tool word-count\nhint: did you mean: word_count/,
    ],
    [["--config", config, "a"], /call takes SERVER TOOL/],
    [["word_count", "{bad", ...words], /the arguments: not JSON \(line 1, column 2\)/],
    [["word_count", "[1]", ...words], /must be a JSON object/],
    [["word_count", "@/no/such/file", ...words], /cannot read the arguments from \/no\/such\/file/],
    [["word_count", '{"text":1}', ...words], /\/text: must be string/],
    [["a", "word_count"], /there is no server a\nhint: no servers/],
    [
      ["picture", "--out", "/dev/null/x", ...serverWords("showcase")],
      /cannot write into the folder/,
    ],
  ];
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await call(...args);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, expected);
  }
});

test("a server that dies or is silent during the call is exit code 3", async () => {
  const died = await call("die", ...serverWords("showcase"));
  assert.equal(died.code, 3);
  assert.match(died.stderr, /exited with code 9/);
  const silent = await call("wait", "--timeout", "700", ...serverWords("showcase"));
  assert.equal(silent.code, 3);
  assert.match(silent.stderr, /700 ms/);
});

const memory = npmServer("@modelcontextprotocol/server-memory");
test(
  "a server from npm",
  { skip: memory === undefined && "server-memory is not installed" },
  async (t) => {
    const words = [
      "-e",
      `MEMORY_FILE_PATH=${path.join(folder(t), "m.jsonl")}`,
      "--",
      process.execPath,
      memory,
      marker,
    ];
    const input = '{"entities":[{"name":"a","entityType":"t","observations":["seen"]}]}';
    const { code, stdout, stderr } = await call("create_entities", input, ...words);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /"seen"/);
  },
);

function hasScript() {
  try {
    execFileSync("script", ["--version"]);
    return true;
  } catch {
    return false;
  }
}
