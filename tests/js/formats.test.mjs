// Formats: asserted on request, through schemas and through sessions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { suiteFolder } from "../schema-suite/checkout.mjs";
import { DRAFTS, readExceptions, runDraft } from "../schema-suite/run.mjs";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { compileSchema, compileSchemaAsync, connectStreams } = toolwire;
const exceptionsFile = fileURLToPath(new URL("../schema-suite-exceptions.json", import.meta.url));

/** Fewer than the suite has: a run that finds less has not found the suite. */
const AT_LEAST = { "draft2020-12": 450, "draft2019-09": 450, draft7: 400, draft6: 150, draft4: 100 };

/** True for a draft whose dialect this package compiles. */
function isKnown(draft) {
  try {
    compileSchema(true, { dialect: DRAFTS[draft] }).free();
    return true;
  } catch {
    return false;
  }
}

for (const [draft, least] of Object.entries(AT_LEAST).filter(([draft]) => isKnown(draft))) {
  test(`format tests of ${draft}`, (t) => {
    let suite;
    try {
      suite = suiteFolder();
    } catch (error) {
      t.skip(error.message);
      return;
    }
    const outcome = runDraft(toolwire, suite, draft, "format", readExceptions(exceptionsFile));
    t.diagnostic(`${outcome.passed} passed, ${outcome.listed} listed`);
    assert.deepEqual(outcome.failures, []);
    assert.deepEqual(outcome.stale, []);
    assert.ok(outcome.passed >= least, `only ${outcome.passed} tests ran`);
  });
}

test("formats are judged when asked for, and told as violations", async () => {
  const schema = { properties: { when: { format: "date" } } };
  const value = { when: "SECRET" };
  assert.equal(compileSchema(schema).isValid(value), true);
  assert.equal(compileSchema(schema, { formats: "annotate" }).isValid(value), true);
  const wanted = {
    verdict: "invalid",
    valid: false,
    errors: [
      {
        instancePath: "/when",
        schemaPath: "/properties/when/format",
        keyword: "format",
        message: "must match the format",
        params: { format: "date" },
      },
    ],
    truncated: false,
  };
  const asserting = compileSchema(schema, { formats: "assert" });
  assert.deepEqual(asserting.validate(value), wanted);
  const other = await compileSchemaAsync(schema, { formats: "assert" });
  assert.deepEqual(await other.validateAsync(value), wanted);
  assert.equal(asserting.isValid({ when: "2024-02-29" }), true);
  assert.equal(asserting.isValid({ when: 20240229 }), true);
});

test("escapes in a text are no part of the string", () => {
  const schema = compileSchema({ format: "ipv4" }, { formats: "assert" });
  assert.equal(schema.validateJson('"\\u0031.2.3.4"').verdict, "valid");
  assert.equal(schema.validateJson('"1.2.3.4\\n"').verdict, "invalid");
});

test("a format that the dialect does not define never fails and says nothing", (t) => {
  const lines = [];
  for (const method of ["log", "info", "warn", "error"]) {
    t.mock.method(console, method, (...line) => lines.push(line));
  }
  const options = { formats: "assert" };
  for (const format of ["int32", "color", "host-name", "Date", "__proto__", ""]) {
    assert.equal(compileSchema({ format }, options).isValid("x y"), true, format);
  }
  const old = { $schema: "http://json-schema.org/draft-07/schema#", format: "uuid" };
  assert.equal(compileSchema(old, options).isValid("x"), true);
  assert.equal(compileSchema({ format: "uuid" }, options).isValid("x"), false);
  assert.deepEqual(lines, []);
});

test("what is too large to be read as a pattern is unknown", () => {
  const schema = compileSchema({ format: "regex" }, { formats: "assert" });
  const { verdict, reason, errors } = schema.validate("a".repeat(100_000));
  assert.deepEqual({ verdict, reason, errors }, { verdict: "unknown", reason: "limit", errors: [] });
});

test("long strings are judged in time that grows with their length", () => {
  const names =
    "date time date-time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference " +
    "iri iri-reference uri-template uuid json-pointer relative-json-pointer regex";
  const pieces = ["a", "1", ".", ":", "a.", "1:", "%41", "{a}", "/~0", "é", "xn--a.", "@", '"a"', "-", "P1", "ü。"];
  const took = (text, schema) => {
    const start = performance.now();
    schema.validateJson(text);
    return performance.now() - start;
  };
  for (const format of names.split(" ")) {
    const schema = compileSchema({ format }, { formats: "assert" });
    for (const piece of pieces) {
      const text = (length) => JSON.stringify(piece.repeat(Math.ceil(length / piece.length)));
      const [short, long] = [text(10_000), text(400_000)];
      took(short, schema);
      const small = Math.min(took(short, schema), took(short, schema), took(short, schema));
      const large = Math.min(took(long, schema), took(long, schema), took(long, schema));
      // Forty times the text: a quadratic judgement would take 1,600 times as long.
      assert.ok(large < small * 800 + 100, `${format} ${piece}: ${small} ms, then ${large} ms`);
    }
  }
});

/** A client of a tool that takes and gives a date. */
async function connected(options) {
  const dated = { type: "object", properties: { on: { type: "string", format: "date" } } };
  const server = new MemoryServer({
    tools: [{ name: "shift", inputSchema: dated, outputSchema: dated }],
    answer: () => ({ content: [], structuredContent: { on: "tomorrow" } }),
  });
  return { server, client: await connectStreams(server.options(options)) };
}

test("a session judges outputs and arguments by formats when told to", async (t) => {
  const { client } = await connected({ formats: "assert", validation: "report" });
  t.after(() => client.close());
  const result = await client.callTool("shift", { on: "2024-01-01" });
  assert.equal(result.verdict, "invalid");
  assert.deepEqual(
    result.violations.map(({ instancePath, keyword, params }) => [instancePath, keyword, params]),
    [["/on", "format", { format: "date" }]],
  );
});

test("a session that enforces says which keyword is not satisfied", async (t) => {
  const { client, server } = await connected({ formats: "assert", checkArguments: true });
  t.after(() => client.close());
  await assert.rejects(client.callTool("shift", { on: "2024-01-01" }), (error) => {
    assert.equal(error.code, "invalid_response");
    assert.match(error.message, /: format is not satisfied; property path withheld$/);
    return true;
  });
  const before = server.received.length;
  await assert.rejects(client.callTool("shift", { on: "SECRET" }), (error) => {
    assert.equal(error.code, "invalid_arguments");
    assert.doesNotMatch(error.message, /SECRET/);
    return true;
  });
  assert.equal(server.received.length, before);
});

test("a session judges no format unless told to", async (t) => {
  const { client } = await connected({ validation: "report", checkArguments: true });
  t.after(() => client.close());
  const result = await client.callTool("shift", { on: "never" });
  assert.equal(result.verdict, "valid");
});
