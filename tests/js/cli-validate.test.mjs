// `toolwire validate`: verdicts as they come, errors where they are, and files that are none.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { assertPlain, folder, run, start } from "./support/cli.mjs";
import { until } from "./support/processes.mjs";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: {
    n: { type: "integer" },
    list: { items: { type: "string" } },
    mail: { format: "email" },
  },
  required: ["n"],
});

function files(t, contents) {
  const where = folder(t);
  for (const [name, text] of Object.entries({ "schema.json": SCHEMA, ...contents })) {
    writeFileSync(path.join(where, name), text);
  }
  return where;
}

test("errors name line and column of the value, the pointer and the keyword", async (t) => {
  const cwd = files(t, {
    "good.json": '{"n":1}',
    "bad.json": '{\n  "n": 1,\n  "list": [\n    "a",\n    7\n  ]\n}',
    "twice.json": '{"n":1,\n"n":"x"}',
    "broken.json": '{\n  "n": 1,,\n}',
  });
  const { code, stdout, stderr } = await run(
    ["validate", "schema.json", "good.json", "bad.json", "twice.json", "broken.json"],
    { cwd },
  );
  assert.equal(code, 1);
  assert.equal(
    stdout,
    [
      "valid    good.json",
      "invalid  bad.json",
      "  bad.json:5:5: /list/1 must be string (type)",
      "invalid  twice.json",
      "  twice.json:2:5: /n must be integer (type)",
      "invalid  broken.json",
      "  broken.json:2:10: (root) must be JSON text (json)",
      "",
    ].join("\n"),
  );
  assert.equal(stderr, "1 valid, 3 invalid\n");
});

test("lines of JSON are judged one by one, from a file or stdin, with their numbers", async (t) => {
  const text = '{"n":1}\n\n{"n":1.5}\r\n{"n":"\u001b[31m"}\n{"n":9007199254740993}';
  const cwd = files(t, { "log.ndjson": text });
  for (const [name, input] of [
    ["log.ndjson", ""],
    ["-", text],
  ]) {
    const { code, stdout, stderr } = await run(["validate", "--ndjson", "schema.json", name], {
      cwd,
      input,
    });
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`invalid  ${name}:3\n  ${name}:3:6: /n must be integer`));
    assert.match(stderr, /2 valid, 2 invalid/);
    assertPlain(stdout);
  }
});

test("a line is told of before the next one is there", async (t) => {
  const cwd = files(t, {});
  const { child, printed, ended } = start(["validate", "--ndjson", "--json", "schema.json", "-"], {
    cwd,
    input: "open",
  });
  child.stdin.write('{"n":"x"}\n');
  await until(() => printed.stdout.includes("\n"));
  const [error] = JSON.parse(printed.stdout).errors;
  assert.deepEqual([error.instancePath, error.line, error.column], ["/n", 1, 6]);
  child.stdin.end('{"n":2}\n');
  const { code, stdout } = await ended;
  assert.equal(code, 1);
  assert.deepEqual(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).verdict),
    ["invalid", "valid"],
  );
});

test("dialect and formats are as asked", async (t) => {
  const cwd = files(t, {
    "mail.json": '{"n":1,"mail":"no"}',
    "old.json": '{"items":[{"type":"string"}]}',
    "list.json": "[1]",
  });
  assert.equal((await run(["validate", "schema.json", "mail.json"], { cwd })).code, 0);
  const asserted = await run(["validate", "--formats", "assert", "schema.json", "mail.json"], {
    cwd,
  });
  assert.equal(asserted.code, 1);
  assert.match(asserted.stdout, /mail\.json:1:15: \/mail .*\(format\)/);
  assert.equal(
    (await run(["validate", "--dialect", "draft-07", "old.json", "list.json"], { cwd })).code,
    1,
  );
  assert.equal((await run(["validate", "old.json", "list.json"], { cwd })).code, 2);
});

test("what is wrong with the command line is said, with exit code 2", async (t) => {
  const cwd = files(t, {
    "good.json": '{"n":1}',
    "no.json": "{",
    "wrong.json": '{\n "type": "nothing"\n}',
  });
  const cases = [
    [["schema.json"], /validate takes a schema and at least one file/],
    [["none.json", "good.json"], /cannot read the schema none\.json/],
    [["no.json", "good.json"], /no\.json:2?1?:?/],
    [["wrong.json", "good.json"], /wrong\.json:2:10: .*\(at \/type\)/],
    [["--dialect", "draft-99", "schema.json", "good.json"], /Allowed choices are/],
    [["--max-errors", "0", "schema.json", "good.json"], /at least 1/],
  ];
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await run(["validate", ...args], { cwd });
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, expected);
  }
  const missing = await run(["validate", "schema.json", "none.json", "good.json"], { cwd });
  assert.equal(missing.code, 2);
  assert.equal(missing.stdout, "valid    good.json\n");
  assert.match(missing.stderr, /cannot read none\.json/);
});
