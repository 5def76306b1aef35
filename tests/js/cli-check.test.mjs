// `toolwire check`: what is wrong with servers is found, and what is right is not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FINDINGS } from "../../pkg-template/cli/check-findings.mjs";
import {
  assertNothingLeft,
  assertPlain,
  marker,
  npmServer,
  run,
  serverWords,
} from "./support/cli.mjs";

test.afterEach(assertNothingLeft);

const docs = readFileSync(new URL("../../docs/check.md", import.meta.url), "utf8");

async function findingsOf(words, ...extra) {
  const { code, stdout, stderr } = await run(["check", "--json", ...extra, ...words]);
  assert.equal(stderr, "");
  assertPlain(stdout);
  const report = JSON.parse(stdout);
  assert.equal(code, report.counts.error > 0 ? 1 : 0);
  return { report, codes: new Set(report.findings.map((finding) => finding.code)) };
}

/** Fixtures, each with what must be found of it. */
const FAULTS = {
  banner: ["stdout_noise"],
  "lsp-framing": ["lsp_framing", "handshake_failed"],
  "byte-order-mark": ["byte_order_mark"],
  "dies-on-probe": ["restarted"],
  "exits-after-initialize": ["handshake_failed", "stderr_used"],
  stubborn: ["outlives_signal"],
  showcase: ["schema_missing", "schema_uncompilable"],
  "bad-manners": [
    "advertised_not_served",
    "duplicate_response",
    "id_type",
    "list_unstable",
    "malformed_message",
    "ping_failed",
    "server_info_missing",
    "tool_duplicate",
    "tool_name_style",
    "unknown_id",
    "unknown_method_result",
    "unknown_tool_silent",
  ],
};

for (const [name, expected] of Object.entries(FAULTS)) {
  test(`${name}: ${expected.join(", ")}`, async () => {
    const { report, codes } = await findingsOf(serverWords(name), "--timeout", "2000");
    assert.deepEqual(
      expected.filter((code) => !codes.has(code)),
      [],
      [...codes].join(" "),
    );
    for (const finding of report.findings) {
      assert.deepEqual(
        Object.keys(finding)
          .filter((key) => key !== "evidence")
          .sort(),
        ["code", "count", "hint", "message", "section", "severity", "where"],
      );
    }
  });
}

test("nothing is found of a server that is as it should be, in either era", async () => {
  for (const era of ["legacy", "modern"]) {
    const { report } = await findingsOf(
      serverWords("faultless"),
      "--era",
      era,
      "--call",
      'count={"text":"a b"}',
    );
    assert.equal(report.era, era);
    assert.deepEqual(report.findings, []);
    assert.ok(report.firstByteMs >= 0 && report.shutdownMs >= 0);
  }
});

test("tools are called where --call names them, and judged", async () => {
  const words = serverWords("well-behaved");
  const { report, codes } = await findingsOf(
    words,
    "--call",
    "liar",
    "--call",
    "explode",
    "--call",
    'word_count={"text":7}',
  );
  assert.ok(codes.has("call_is_error") && codes.has("call_bad_arguments"));
  const violation = report.findings.find(({ code }) => code === "output_violation");
  assert.deepEqual(
    [violation.severity, violation.where],
    ["error", "tool liar structuredContent/words"],
  );
  const wrong = await run(["check", "--call", "nothing", ...words]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /server has no tool nothing/);
});

test("as text each finding has its place, its section and a hint", async () => {
  const { code, stdout } = await run(["check", ...serverWords("banner")], {
    env: { COLUMNS: "80" },
  });
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^error {4}stdout_noise: stdout holds lines that are no MCP messages\n {9}- stdout/m,
  );
  assert.match(stdout, /\(MCP 2025-11-25,\s+basic\/transports#stdio\)/);
  assert.match(stdout, /✗ \d+ errors?, \d+ warnings?, \d+ notes?\n$/);
  assert.deepEqual(
    stdout.split("\n").filter((line) => line.length > 80),
    [],
  );
});

test("what cannot be examined is said", async () => {
  for (const [args, code, expected] of [
    [["check"], 2, /no servers/],
    [["check", "--call", "a={", ...serverWords("banner")], 2, /the arguments of a: not JSON/],
    [["check", "--", "/no/such/command"], 3, /could not be started/],
  ]) {
    const ended = await run(args);
    assert.deepEqual([ended.code, ended.stdout], [code, ""]);
    assert.match(ended.stderr, expected);
  }
});

test("every finding is in the document, as grave as it says", () => {
  for (const [code, [severity]] of Object.entries(FINDINGS)) {
    assert.match(docs, new RegExp(`^\\| \`${code}\` \\| ${severity} \\|`, "m"));
  }
  const rows = [...docs.matchAll(/^\| `(\w+)` \| (?:error|warning|note) \|/gm)].map(
    ([, code]) => code,
  );
  assert.deepEqual(
    rows.filter((code) => !Object.hasOwn(FINDINGS, code)),
    [],
  );
});

const memory = npmServer("@modelcontextprotocol/server-memory");
test(
  "a server from npm is found as the document says",
  { skip: memory === undefined && "server-memory is not installed" },
  async () => {
    const { report } = await findingsOf(["--", process.execPath, memory, marker]);
    const row = docs
      .split("\n")
      .find((line) => line.includes("`@modelcontextprotocol/server-memory`"));
    const named = [...row.matchAll(/`(\w+)`/g)]
      .map(([, code]) => code)
      .filter((code) => Object.hasOwn(FINDINGS, code));
    assert.deepEqual(report.findings.map(({ code }) => code).sort(), named.sort());
  },
);
