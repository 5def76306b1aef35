// `--record` and `toolwire replay`: the same comes of a recording each time, and two are compared.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import {
  assertNothingLeft,
  assertPlain,
  configFile,
  entry,
  folder,
  run,
  serverWords,
} from "./support/cli.mjs";

test.afterEach(assertNothingLeft);

test("a recorded call is told in its order, the same each time", async (t) => {
  const cwd = folder(t);
  const words = serverWords("showcase");
  assert.equal((await run(["call", "evil", "--record", "a.jsonl", ...words], { cwd })).code, 0);
  const once = await run(["replay", "a.jsonl"], { cwd });
  assert.equal(once.code, 0, once.stderr);
  assert.equal((await run(["replay", "a.jsonl"], { cwd })).stdout, once.stdout);
  assertPlain(once.stdout);
  const at = (pattern) => once.stdout.search(pattern);
  assert.ok(
    at(/· connect/) < at(/→ .*"initialize"/) && at(/"initialize"/) < at(/← .*"serverInfo"/),
  );
  assert.ok(at(/· call \{"name":"evil"/) < at(/→ .*"tools\/call"/));
  assert.match(once.stdout, /\d+ frames sent, \d+ events; sha256 of both [0-9a-f]{64}/);
  const { output, events, deterministic } = JSON.parse(
    (await run(["replay", "--json", "a.jsonl"], { cwd })).stdout,
  );
  assert.equal(deterministic, true);
  assert.ok(output.some(({ method }) => method === "tools/call"));
  assert.deepEqual(events.at(-1), { type: "closed" });
});

test("two recordings are compared, and what differs is shown", async (t) => {
  const cwd = folder(t);
  const words = ["--era", "legacy", ...serverWords("raw-echo")];
  await run(["call", "echo", '{"a":1}', "--record", "a.jsonl", ...words], { cwd });
  await run(["call", "echo", '{"a":2}', "--record", "b.jsonl", ...words], { cwd });
  await run(["call", "echo", '{"a":1}', "--record", "c.jsonl", ...words], { cwd });
  const differ = await run(["replay", "a.jsonl", "b.jsonl"], { cwd });
  assert.equal(differ.code, 1);
  assert.match(differ.stdout, /^- .*"arguments":\{"a":1\}/m);
  assert.match(differ.stdout, /^\+ .*"arguments":\{"a":2\}/m);
  const same = await run(["replay", "a.jsonl", "c.jsonl"], { cwd });
  assert.equal(same.code, 0, same.stdout);
  assert.match(same.stdout, /^the same: /);
  const json = JSON.parse((await run(["replay", "--json", "a.jsonl", "b.jsonl"], { cwd })).stdout);
  assert.equal(json.same, false);
  assert.ok(json.differences[0].changes.some(({ kind }) => kind === "added"));
});

test("of several servers each has its recording; secrets are masked in it", async (t) => {
  const cwd = folder(t);
  const config = configFile(t, {
    mcpServers: {
      a: entry("well-behaved"),
      "b/c": entry("well-behaved", { env: { API_KEY: "sk-hunter2-hunter2" } }),
    },
  });
  const one = await run(["tools", "--config", config, "--record", "r.jsonl"], { cwd });
  assert.equal(one.code, 2);
  assert.match(one.stderr, /put \{server\} into the path/);
  assert.equal(
    (await run(["tools", "--config", config, "--record", "r-{server}.jsonl"], { cwd })).code,
    0,
  );
  assert.deepEqual(readdirSync(cwd).sort(), ["r-a.jsonl", "r-b_c.jsonl"]);
  await run(["call", "--config", config, "b/c", "environment", "--record", "e.jsonl"], { cwd });
  assert.doesNotMatch(readFileSync(path.join(cwd, "e.jsonl"), "utf8"), /hunter2/);
  assert.doesNotMatch((await run(["replay", "e.jsonl"], { cwd })).stdout, /hunter2/);
});

test("what is no recording is said, with exit code 2", async (t) => {
  const cwd = folder(t);
  writeFileSync(
    path.join(cwd, "no.jsonl"),
    '{"toolwire":1,"options":{"server":"a"}}\n{"in":"surprise"}\n',
  );
  const cases = [
    [["replay"], /replay takes one recording/],
    [["replay", "none.jsonl"], /cannot read the recording none\.jsonl/],
    [["replay", "no.jsonl"], /Line 2 of the recording/],
    [
      ["call", "echo", "--record", "no/such/folder/r.jsonl", ...serverWords("raw-echo")],
      /option record cannot be written/,
    ],
  ];
  for (const [args, expected] of cases) {
    const { code, stderr } = await run(args, { cwd });
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, expected);
  }
});
