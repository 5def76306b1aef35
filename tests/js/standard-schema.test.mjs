// `Schema` as a Standard Schema: what libraries of any maker rely on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { tool, asSchema } from "ai";
import { toolwire } from "./support/toolwire.mjs";

const { compileSchema } = toolwire;

/** A consumer as the specification shows it: any schema, any maker. */
async function parse(schema, input) {
  const result = await schema["~standard"].validate(input);
  if (result.issues) {
    throw Object.assign(new Error("invalid"), { issues: result.issues });
  }
  return result.value;
}

const ORDER = {
  type: "object",
  properties: {
    lines: { type: "array", items: { type: "object", required: ["sku"] } },
    "a/b~c": { type: "integer" },
    "0": { type: "null" },
  },
};

test("the properties are those of version 1", () => {
  const schema = compileSchema(true);
  const standard = schema["~standard"];
  assert.equal(standard.version, 1);
  assert.equal(standard.vendor, "toolwire");
  assert.equal(typeof standard.validate, "function");
  assert.equal(schema["~standard"], standard);
  assert.throws(() => {
    standard.version = 2;
  }, TypeError);
});

test("a consumer gets the very value, or issues with paths of keys", async () => {
  const schema = compileSchema(ORDER);
  const good = { lines: [{ sku: 1 }] };
  assert.equal(await parse(schema, good), good);
  const issuesOf = async (value) => (await parse(schema, value).catch(({ issues }) => issues));
  const paths = async (value) => (await issuesOf(value)).map(({ path }) => path);
  assert.deepEqual(await paths({ lines: [{ sku: 1 }, {}] }), [["lines", 1]]);
  assert.deepEqual(await paths({ "a/b~c": "x" }), [["a/b~c"]]);
  assert.deepEqual(await paths({ 0: 1 }), [["0"]]);
  assert.deepEqual(await paths(7), [[]]);
  const issues = await issuesOf({ "a/b~c": "s3cret" });
  assert.doesNotMatch(issues[0].message, /s3cret|a\/b/);
});

test("judging is synchronous and runs nothing of the value", () => {
  const { validate } = compileSchema({ type: "object" })["~standard"];
  assert.deepEqual(Object.keys(validate({})), ["value"]);
  const armed = {
    get member() {
      throw new Error("ran");
    },
  };
  for (const value of [undefined, () => {}, armed]) {
    assert.deepEqual(validate(value), { issues: [{ message: "is not JSON", path: [] }] });
  }
});

test("a value that cannot be judged has an issue that says so", () => {
  const schema = compileSchema({ items: { type: "integer" } }, { maxSteps: 10 });
  const { issues } = schema["~standard"].validate(Array.from({ length: 1_000 }, () => 1));
  assert.deepEqual(issues, [{ message: "cannot be judged (limit)", path: [] }]);
});

test("a schema that was freed is an error of the program, no issue", () => {
  const schema = compileSchema(true);
  const { validate } = schema["~standard"];
  schema.free();
  assert.throws(() => validate(1), { code: "freed" });
});

test("the AI SDK judges by it", async () => {
  const schema = asSchema(tool({ inputSchema: compileSchema(ORDER) }).inputSchema);
  const value = { lines: [] };
  assert.deepEqual(await schema.validate(value), { success: true, value });
  assert.equal((await schema.validate({ lines: 5 })).success, false);
});
