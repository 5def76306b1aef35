// Schemas: compiling, judging, slices, freeing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toolwire } from "./support/toolwire.mjs";

const {
  Schema,
  ToolwireError,
  compileSchema,
  compileSchemaAsync,
  formatErrors,
  toAjvErrors,
  toBasicOutput,
} = toolwire;

const SCHEMA = {
  type: "object",
  properties: { id: { type: "integer" }, tag: { enum: ["a", "b"] } },
  required: ["id"],
};

const BAD_TAG = {
  instancePath: "/tag",
  schemaPath: "/properties/tag/enum",
  keyword: "enum",
  message: "must be equal to one of the allowed values",
  params: { allowedValues: ["a", "b"] },
};

function refusal(action) {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof ToolwireError, String(error));
    return error;
  }
  return assert.fail("did not throw");
}

test("a schema judges values and texts alike", () => {
  const schema = compileSchema(SCHEMA);
  assert.ok(schema instanceof Schema);
  assert.equal(schema.dialect, "2020-12");
  const valid = { verdict: "valid", valid: true, errors: [], truncated: false };
  const invalid = { verdict: "invalid", valid: false, errors: [BAD_TAG], truncated: false };
  assert.deepEqual(schema.validate({ id: 1, tag: "a" }), valid);
  assert.deepEqual(schema.validateJson('{"id":1,"tag":"a"}'), valid);
  assert.deepEqual(schema.validateJson(new TextEncoder().encode('{"id":1}')), valid);
  assert.deepEqual(schema.validate({ id: 1, tag: "SECRET" }), invalid);
  assert.equal(schema.isValid({ id: 1 }), true);
  assert.equal(schema.isValid({}), false);
  schema.free();
});

test("a schema may come as text, as bytes, as a boolean", () => {
  const text = JSON.stringify(SCHEMA);
  for (const form of [text, new TextEncoder().encode(text)]) {
    assert.equal(compileSchema(form).isValid({ id: "no" }), false);
  }
  assert.equal(compileSchema(true).isValid(1), true);
  assert.equal(compileSchema("false").isValid(1), false);
});

test("values cross without running code, and bigints as their digits", () => {
  const schema = compileSchema({ properties: { n: { const: 1 } }, type: ["object", "integer"] });
  assert.equal(schema.isValid({ n: undefined }), true);
  assert.equal(schema.isValid(12345678901234567890n), true);
  const getter = {
    get n() {
      return assert.fail("ran");
    },
  };
  for (const value of [getter, undefined, new Map(), { f() {} }, NaN, [undefined]]) {
    const error = refusal(() => schema.validate(value));
    assert.equal(error.code, "invalid_arguments");
  }
});

test("numbers are exact in text", () => {
  const schema = compileSchema('{"const":9007199254740993}');
  assert.equal(schema.validateJson("9007199254740993").verdict, "valid");
  assert.equal(schema.validateJson("9007199254740992").verdict, "invalid");
  assert.equal(schema.isValid(9007199254740993n), true);
});

test("a text that is not JSON is invalid, lone surrogates are JSON", () => {
  const schema = compileSchema(true);
  for (const text of ["", "{", "[1,]", "NaN", "'a'", '"\n"', Uint8Array.of(0x22, 0xff, 0x22)]) {
    const { verdict, errors } = schema.validateJson(text);
    assert.equal(verdict, "invalid", String(text));
    assert.equal(errors[0].keyword, "json");
    assert.equal(errors[0].instancePath, "");
  }
  assert.equal(schema.validateJson('"\ud800"').verdict, "valid");
  assert.equal(compileSchema({ const: "\ud800" }).validateJson('"\ud800"').verdict, "valid");
  assert.equal(compileSchema({ const: "\ud800" }).validateJson('"\ud801"').verdict, "invalid");
});

test("a schema that does not compile says why and where", () => {
  const error = refusal(() => compileSchema({ properties: { SECRET: { type: 7 } } }));
  assert.equal(error.code, "schema_error");
  assert.equal(error.reason, "invalid_keyword");
  assert.equal(error.at, "/properties/SECRET/type");
  assert.ok(!error.message.includes("SECRET"));
  assert.equal(refusal(() => compileSchema(7)).reason, "not_a_schema");
  assert.equal(refusal(() => compileSchema("{")).code, "schema_error");
  for (const options of [{ dialect: "draft-03" }, { maxDepth: 0 }, { keywords: "some" }]) {
    const refused = refusal(() => compileSchema(true, options));
    assert.equal(refused.code, "invalid_arguments");
    assert.equal(refused.option, Object.keys(options)[0]);
  }
  assert.throws(() => new Schema(), TypeError);
});

test("errors are cut at maxErrors and work at maxSteps", () => {
  const many = compileSchema({ items: { type: "string" } }, { maxErrors: 2 });
  const cut = many.validate([1, 2, 3]);
  assert.equal(cut.errors.length, 2);
  assert.equal(cut.truncated, true);
  const tired = compileSchema({ items: { type: "number" } }, { maxSteps: 10 });
  const unknown = tired.validate(Array.from({ length: 1000 }, () => 1));
  assert.equal(unknown.verdict, "unknown");
  assert.equal(unknown.valid, false);
  assert.equal(typeof unknown.reason, "string");
});

test("renderings", () => {
  const verdict = compileSchema(SCHEMA).validate({ id: 1, tag: "c" });
  assert.deepEqual(toAjvErrors(verdict.errors), [
    { ...BAD_TAG, schemaPath: "#/properties/tag/enum" },
  ]);
  assert.deepEqual(toBasicOutput(verdict), {
    valid: false,
    errors: [
      {
        keywordLocation: BAD_TAG.schemaPath,
        instanceLocation: BAD_TAG.instancePath,
        error: BAD_TAG.message,
      },
    ],
  });
  assert.deepEqual(toBasicOutput(compileSchema(true).validate(1)), { valid: true });
  assert.equal(formatErrors(verdict.errors), `/tag: ${BAD_TAG.message}`);
  assert.equal(formatErrors(verdict.errors, { audience: "people" }), `/tag: ${BAD_TAG.message}`);
});

test("for a model errors are told without paths, values and names", () => {
  const schema = {
    properties: { SECRET: { items: { type: "integer" } } },
    anyOf: [{ required: ["HIDDEN"] }, { minProperties: 2 }],
    additionalProperties: false,
  };
  const { errors } = compileSchema(schema).validate({ SECRET: ["PRIVATE", "PRIVATE"] });
  assert.match(formatErrors(errors), /SECRET/);
  assert.deepEqual(formatErrors(errors, { audience: "model" }).split("\n").sort(), [
    "2 times: a value must be integer",
    "a value must have every required property",
    "a value must match at least one schema of anyOf",
  ]);
  assert.equal(formatErrors([], { audience: "model" }), "");
});

test("the branch that came nearest is named and told", async () => {
  const schema = {
    oneOf: [
      { properties: { kind: { const: "a" } }, required: ["kind", "x", "y"] },
      { properties: { kind: { const: "b" }, z: { type: "integer" } }, required: ["kind", "z"] },
    ],
  };
  const compiled = compileSchema(schema);
  const verdict = compiled.validate({ kind: "b", z: "1" });
  assert.deepEqual(
    verdict.errors.map(({ schemaPath, params }) => [schemaPath, params]),
    [
      ["/oneOf", { passingSchemas: null, nearest: 1 }],
      ["/oneOf/1/properties/z/type", { type: "integer" }],
    ],
  );
  assert.deepEqual(await compiled.validateAsync({ kind: "b", z: "1" }), verdict);
  const open = compileSchema({ oneOf: [{}, { type: "null" }, true, { minimum: 0 }] });
  assert.deepEqual(open.validate(1).errors[0].params, { passingSchemas: [0, 2, 3] });
});

test("renderings refuse what is no verdict and no list of errors", () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  const throwing = {
    get message() {
      throw new Error("SECRET");
    },
  };
  const good = { ...BAD_TAG };
  const junk = [undefined, null, 1, "x", {}, Symbol("x"), () => 1, 5n, proxy, [null], [{}], [1]];
  const lists = [...junk, [throwing], [good, { ...good, keyword: 1 }], [{ ...good, params: 1 }]];
  for (const errors of lists) {
    for (const action of [toAjvErrors, formatErrors]) {
      const error = refusal(() => action(errors));
      assert.deepEqual([error.code, error.option], ["invalid_arguments", "errors"]);
      assert.doesNotMatch(error.message, /SECRET/);
    }
    assert.equal(refusal(() => toBasicOutput({ valid: false, errors })).option, "errors");
  }
  for (const verdict of [...junk, { valid: 1 }, { valid: "false", errors: [] }]) {
    assert.equal(refusal(() => toBasicOutput(verdict)).code, "invalid_arguments");
  }
  for (const audience of ["", "Model", 1, null, {}, "__proto__"]) {
    assert.equal(refusal(() => formatErrors([], { audience })).option, "audience");
  }
  assert.deepEqual(toAjvErrors([{ ...good, params: undefined }])[0].params, {});
});

test("every dialect is chosen by option or by $schema", () => {
  const uris = {
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft-07": "http://json-schema.org/draft-07/schema#",
    "draft-06": "http://json-schema.org/draft-06/schema#",
    "draft-04": "http://json-schema.org/draft-04/schema#",
  };
  assert.deepEqual(Object.keys(uris), toolwire.coreInfo().dialects);
  for (const [dialect, uri] of Object.entries(uris)) {
    assert.equal(compileSchema({}, { dialect }).dialect, dialect);
    assert.equal(compileSchema({ $schema: uri }).dialect, dialect);
    // Its meta-schema is there without a fetch.
    const meta = compileSchema({ $ref: uri }, { dialect });
    assert.equal(meta.isValid({ minItems: 1 }), true);
    assert.equal(meta.isValid({ minItems: "1" }), false);
  }
  const flags = { minimum: 1, exclusiveMinimum: true };
  assert.equal(compileSchema(flags, { dialect: "draft-04" }).isValid(1), false);
  const whole = compileSchema({ type: "integer" }, { dialect: "draft-04" });
  assert.equal(whole.validateJson("1.0").verdict, "invalid");
});

test("a meta-schema among the resources chooses vocabularies", () => {
  const core = "https://json-schema.org/draft/2020-12/vocab/core";
  const applicator = "https://json-schema.org/draft/2020-12/vocab/applicator";
  const resources = {
    "http://x/meta": { $vocabulary: { [core]: true, [applicator]: true } },
    "http://x/strange": { $vocabulary: { [core]: true, "http://x/vocab": true } },
  };
  const members = { minimum: 1, properties: { a: false } };
  const schema = compileSchema({ $schema: "http://x/meta", ...members }, { resources });
  assert.equal(schema.dialect, "2020-12");
  assert.equal(schema.isValid(0), true);
  assert.equal(schema.isValid({ a: 1 }), false);
  for (const $schema of ["http://x/strange", "http://x/nowhere"]) {
    const refused = refusal(() => compileSchema({ $schema }, { resources }));
    assert.equal(refused.reason, "unsupported_dialect");
    assert.equal(refused.at, "/$schema");
    assert.deepEqual(refused.supported, toolwire.coreInfo().dialects);
  }
});

test("use after free is an error of its own, and freeing again is not", async () => {
  const schema = compileSchema(SCHEMA);
  schema.free();
  schema.free();
  assert.equal(refusal(() => schema.isValid({})).code, "freed");
  await assert.rejects(schema.validateAsync({}), { code: "freed" });
  if (typeof Symbol.dispose === "symbol") {
    const disposed = compileSchema(true);
    disposed[Symbol.dispose]();
    assert.equal(refusal(() => disposed.isValid(1)).code, "freed");
  }
});

test("async forms agree with the others", async () => {
  const schema = await compileSchemaAsync(SCHEMA);
  for (const value of [{ id: 1, tag: "a" }, { id: 1, tag: "c" }, {}]) {
    const verdict = schema.validate(value);
    assert.deepEqual(await schema.validateAsync(value), verdict);
    assert.deepEqual(await schema.validateJsonAsync(JSON.stringify(value)), verdict);
  }
  const error = await compileSchemaAsync({ type: 7 }).catch((thrown) => thrown);
  assert.equal(error.code, "schema_error");
});

test("async forms copy the value when they are called", async () => {
  const schema = compileSchema({ properties: { a: { const: 1 } } });
  const value = { a: 1 };
  const judging = schema.validateAsync(value);
  value.a = 2;
  assert.equal((await judging).verdict, "valid");
});

test("texts of many pieces are judged whole", async () => {
  const schema = compileSchema({ items: { minLength: 400_001, maxLength: 400_001 } });
  // Pieces end between the halves of a pair somewhere in each of these.
  for (const shift of ["", " "]) {
    const text = `${shift}[${JSON.stringify("😀".repeat(400_000) + "é")}]`;
    assert.equal((await schema.validateJsonAsync(text)).verdict, "valid");
    const bytes = new TextEncoder().encode(text);
    assert.equal((await schema.validateJsonAsync(bytes)).verdict, "valid");
  }
});

test("timers run while a large text is judged, and a signal ends it", async () => {
  const schema = compileSchema({
    items: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] },
  });
  const text = JSON.stringify(Array.from({ length: 600_000 }, (_, id) => ({ id, name: "row" })));
  const bytes = new TextEncoder().encode(text);
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  const started = performance.now();
  assert.equal((await schema.validateJsonAsync(bytes)).verdict, "valid");
  const whole = performance.now() - started;
  clearInterval(timer);
  assert.ok(ticks >= 10, `${ticks} ticks in ${whole} ms`);

  const abort = new AbortController();
  setTimeout(() => abort.abort(), 1);
  await assert.rejects(schema.validateJsonAsync(bytes, { signal: abort.signal }), {
    code: "aborted",
  });
  await assert.rejects(schema.validateJsonAsync("1", { signal: AbortSignal.abort() }), {
    code: "aborted",
  });
});
