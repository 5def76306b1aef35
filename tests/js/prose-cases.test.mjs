// Cases that are told in prose, each by its id.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNothingRuns, nothingRuns, options } from "./support/servers.mjs";
import { node, toolwire } from "./support/toolwire.mjs";

const { ToolwireError, compileSchema, formatErrors } = toolwire;

test.after(assertNothingRuns);

const strict = (args) => options("refuses", { args, profile: "strict" });

/** Each makes one attempt, which must fail. */
const FAILURES = {
  negotiation: () => node.connect(strict(["negotiation"])),
  catalog: () => node.connect(strict(["catalog"])),
  projection: () =>
    node.connectAll([{ ...strict([]), include: ["missing"] }], { onFailure: "stop" }),
  interruption: () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 60);
    return node.connect({ ...options("hangs"), profile: "strict", signal: abort.signal });
  },
};

for (const [failure, attempt] of Object.entries(FAILURES)) {
  test(`C-442: three connects that fail by ${failure} leave no process behind`, async () => {
    for (let attempts = 0; attempts < 3; attempts += 1) {
      await assert.rejects(attempt(), ToolwireError);
    }
    await nothingRuns();
  });
}

test("V36: nesting has a limit that is a typed error", () => {
  const nested = (depth) => {
    const open = '{"type":"object","properties":{"p":'.repeat(depth);
    return `${open}{"type":"string"}${"}}".repeat(depth)}`;
  };
  const value = (depth) => `${'{"p":'.repeat(depth)}"x"${"}".repeat(depth)}`;
  for (const depth of [500, 20_000]) {
    const { restarts } = toolwire.coreInfo();
    let schema;
    try {
      schema = compileSchema(nested(depth), { maxSchemaBytes: 2_000_000 });
    } catch (error) {
      assert.ok(error instanceof ToolwireError, String(error));
      assert.deepEqual([error.code, error.reason], ["schema_error", "limit"]);
    }
    assert.ok(depth === 500 || schema === undefined, "20,000 levels compile");
    const permissive = compileSchema("{}");
    for (const judge of [schema, permissive].filter(Boolean)) {
      const { verdict } = judge.validateJson(value(depth));
      assert.ok(["valid", "unknown", "invalid"].includes(verdict));
    }
    assert.equal(toolwire.coreInfo().restarts, restarts, "a trap");
  }
});

test("V43: an explanation is short and names nothing of the value", () => {
  const secrets = Array.from({ length: 100_000 }, (_, index) => `secret-${index}`);
  const schema = compileSchema({ type: "array", items: { type: "integer" } });
  const { valid, errors, truncated } = schema.validateJson(JSON.stringify(secrets));
  assert.equal(valid, false);
  assert.equal(truncated, true);
  assert.ok(errors.length <= 32, String(errors.length));
  for (const { message } of errors) {
    assert.doesNotMatch(message, /secret/);
    assert.ok(Buffer.byteLength(message) <= 1_024);
  }
  assert.doesNotMatch(formatErrors(errors), /secret/);
});

test("C-394: an output violation names the keyword, and neither property nor value", () => {
  const tool = {
    name: "t",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", required: ["SECRET-KEY"] },
  };
  const result = { content: [], structuredContent: { other: "SECRET-VALUE" } };
  assert.throws(
    () => toolwire.envelopeOfToolResult(result, tool),
    (error) => {
      const shown = [String(error), JSON.stringify(error), error.stack].join("\n");
      assert.equal(error.code, "invalid_response");
      assert.match(error.message, /required/);
      assert.doesNotMatch(shown, /SECRET/);
      return true;
    },
  );
});

test("C-023: an error encodes to its facts, and to nothing private", async () => {
  // The case's tag belongs to another package; code, message and server are the same.
  const error = await node
    .connect({ ...options("exits-at-once"), server: "gone" })
    .then(assert.fail, (thrown) => thrown);
  const encoded = JSON.parse(JSON.stringify(error));
  assert.equal(encoded.server, "gone");
  for (const member of ["code", "message", "server", "retryable"]) {
    assert.ok(member in encoded, member);
  }
  const facts = ["name", "code", "reason", "message", "server", "retryable", "exitCode"];
  assert.deepEqual(
    Object.keys(encoded).filter((member) => !facts.includes(member)),
    [],
  );
});
