// The measured table of casts and its operation cases, by their ids (`tests/cases/cast.json`).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Type } from "@sinclair/typebox";

import { toolwire } from "./support/toolwire.mjs";

const { ToolwireError, compileSchema } = toolwire;
const { cases } = JSON.parse(
  readFileSync(new URL("../cases/cast.json", import.meta.url), "utf8"),
);
const EXACT = { mode: "cast-0.34" };

/** Tuples are arrays of `items` in older dialects alone. */
function compiled(schema) {
  return compileSchema(schema, Array.isArray(schema.items) ? { dialect: "draft-07" } : {});
}

const measured = cases.filter((one) => one.sinclair_typebox_0_34_52_via_FromSchema !== undefined);

/** AT-393 is c01, and so on to AT-457, which is c65. */
for (const [index, { id, title, schema, value, ...columns }] of measured.entries()) {
  const { throws, output, sameReference } = columns.sinclair_typebox_0_34_52_via_FromSchema;
  test(`AT-${393 + index} (${id}): ${title}`, () => {
    if (id === "c65") {
      // The engine refuses a choice of nothing before anything is cast.
      assert.throws(() => compiled(schema), { code: "schema_error", at: "/anyOf" });
      return;
    }
    const before = structuredClone(value);
    const cast = () => compiled(schema).cast(value, EXACT);
    if (throws !== undefined) {
      assert.throws(cast, (error) => {
        assert.ok(error instanceof ToolwireError);
        assert.equal(error.code, "schema_error");
        assert.equal(error.reason, id === "c56" ? "unresolved_ref" : "not_castable");
        assert.equal(typeof error.at, "string");
        return true;
      });
    } else {
      const { value: made, changes } = cast();
      assert.deepEqual(made, output);
      // A container that does not change is the very same; changes are told, and only those.
      assert.equal(made === value, changes.length === 0);
      assert.ok(!sameReference || made === value);
    }
    assert.deepEqual(value, before);
  });

  test(`${id} under "cast": the same, and undeclared members stay`, () => {
    if (id === "c65") {
      return;
    }
    const subject = compiled(schema);
    if (["c08", "c09", "c33"].includes(id)) {
      assert.throws(() => subject.cast(value), { code: "schema_error", reason: "not_castable" });
      return;
    }
    const { value: made } = subject.cast(value);
    if (subject.isValid(value)) {
      // Formats, references and typed schemas of members and elements are read as the engine does.
      assert.equal(made, value);
      return;
    }
    const kept = {
      c21: { a: 0, extra: "lost" },
      c22: { a: 1, extra: 2 },
      c23: { in: { a: 0, e1: 1 }, e2: 2 },
      c34: [{ id: 1, tag: "a", z: 1 }, { id: 0, tag: "b", z: 2 }],
      // An optional member that no branch demands is no reason to lose it.
      c53: { a: 0, b: "", c: "optional" },
      c54: { a: 0, z: 1 },
      c63: JSON.parse('{"a":0,"__proto__":{"polluted":1}}'),
    };
    assert.deepEqual(made, kept[id] ?? output);
  });
}

test("the table is whole", () => {
  assert.equal(measured.length, 65);
  assert.equal(cases.length, 81);
});

const LIST = {
  type: "object",
  properties: { id: { type: "string" }, next: { $ref: "#" } },
  required: ["id"],
};
const TREE = {
  type: "object",
  properties: { id: { type: "string" }, nodes: { type: "array", items: { $ref: "#" } } },
  required: ["id", "nodes"],
};

const native = new Map(cases.map((one) => [one.id, one]));

/** Types of TypeBox itself: what they mean is read off the mark that the library leaves on them. */
const TYPES = {
  n01: Type.Recursive((This) => Type.Object({ id: Type.String(), nodes: Type.Array(This) })),
  n02: Type.Recursive((This) => Type.Object({ id: Type.String(), next: This })),
  n03: Type.Recursive((This) =>
    Type.Object({ id: Type.String(), next: Type.Optional(This) }),
  ),
  n04: Type.Record(Type.String(), Type.Number()),
  n05: Type.Record(Type.String(), Type.Number()),
  n06: Type.Literal("v1"),
  n07: Type.Unknown(),
  n08: Type.Any(),
  n09: Type.Never(),
  n10: Type.Not(Type.String()),
  n11: Type.Object({ a: Type.Number() }, { additionalProperties: Type.String() }),
  n13: Type.Object({ s: Type.String({ default: () => "gen" }) }),
  n14: Type.Union([Type.Literal("a"), Type.Literal("b"), Type.Literal("c")]),
  n15: Type.Object({ a: Type.Number() }),
  n16: Type.Object({ a: Type.Number() }, { additionalProperties: Type.Unknown() }),
  n17: Type.Union([Type.Object({ a: Type.Number() }), Type.Object({ b: Type.Number() })]),
};

function read(value) {
  return value?.$undefined === true ? undefined : value;
}

/** AT-458 is n01, and so on; there is no n12. */
for (const [index, [id, type]] of Object.entries(TYPES).entries()) {
  const { title, value, sinclair_typebox_0_34_52_native: column } = native.get(id);
  test(`AT-${458 + index} (${id}): ${title}`, () => {
    const cast = () => compileSchema(type).cast(read(value), EXACT);
    if (column.throws !== undefined) {
      assert.throws(cast, {
        code: "schema_error",
        reason: id === "n02" ? "reference_cycle" : "not_castable",
      });
      return;
    }
    assert.deepEqual(cast().value, read(column.output));
    assert.equal({}.polluted, undefined);
  });
}

test("AT-458 to AT-472: the same in plain JSON Schema, where it says the same", () => {
  for (const [id, schema] of [
    ["n01", TREE],
    ["n02", { ...LIST, required: ["id", "next"] }],
    ["n03", LIST],
    ["n04", { type: "object", additionalProperties: { type: "number" } }],
    ["n05", { type: "object", patternProperties: { "^(.*)$": { type: "number" } } }],
    ["n06", { enum: ["v1"] }],
    ["n07", {}],
    ["n08", {}],
    ["n09", false],
    ["n09", { not: {} }],
    ["n10", { not: { type: "string" } }],
    ["n14", { anyOf: [{ const: "a" }, { const: "b" }, { const: "c" }] }],
    ["n15", { type: "object", properties: { a: { type: "number" } }, required: ["a"] }],
    [
      "n16",
      {
        type: "object",
        properties: { a: { type: "number" } },
        required: ["a"],
        additionalProperties: {},
      },
    ],
  ]) {
    const { value, sinclair_typebox_0_34_52_native: column } = native.get(id);
    for (const options of id === "n16" ? [EXACT] : [EXACT, { mode: "cast" }]) {
      const cast = () => compileSchema(schema).cast(read(value), options);
      if (column.throws !== undefined) {
        assert.throws(cast, { code: "schema_error" }, id);
      } else {
        assert.deepEqual(cast().value, read(column.output), id);
      }
    }
  }
  // Typed `additionalProperties` are not understood by the conversion, but by `cast`.
  const typed = {
    type: "object",
    properties: { a: { type: "number" } },
    additionalProperties: { type: "string" },
  };
  const n11 = native.get("n11");
  assert.deepEqual(
    compileSchema(typed).cast(n11.value).value,
    n11.sinclair_typebox_0_34_52_native.output,
  );
});

test("a default that is a function is called for each cast", () => {
  let calls = 0;
  const type = Type.Object({ id: Type.Number({ default: () => (calls += 1) }) });
  const schema = compileSchema(type);
  const first = schema.cast({}).value.id;
  assert.equal(schema.cast({}).value.id, first + 1);
  assert.equal(toolwire.runPipeline({}, { id: "a.b", outputSchema: schema }).envelope.data.id, first + 2);
  assert.equal(schema.applyDefaults({}).value.id, first + 3);
  // Plain schemas hold no functions.
  assert.throws(() => compileSchema({ default: () => 1 }), { code: "invalid_arguments" });
});

test("changes say where and what", () => {
  const schema = {
    type: "object",
    properties: {
      "a/b": { type: "string", default: "d" },
      made: { type: "number" },
      deep: { type: "array", items: { type: "object", properties: { n: { type: "number" } } } },
      short: { type: "array", items: { type: "boolean" }, minItems: 2 },
      long: { type: "array", items: { type: "boolean" }, maxItems: 1 },
      set: { type: "array", items: { type: "number" }, uniqueItems: true },
    },
    required: ["a/b", "made"],
  };
  const value = {
    deep: [{ n: 1 }, { n: "x", more: 1 }],
    short: [true],
    long: [true, false],
    set: [1, 1],
    extra: { n: 1n },
  };
  const loose = [
    { path: "/deep/1/n", kind: "replaced" },
    { path: "/short/1", kind: "padded" },
    { path: "/long", kind: "truncated" },
    { path: "/set/1", kind: "removed" },
    { path: "/a~1b", kind: "default" },
    { path: "/made", kind: "created" },
  ];
  const order = (changes) => changes.map((change) => `${change.path} ${change.kind}`).sort();
  const { value: kept, changes } = compileSchema(schema).cast(value);
  assert.deepEqual(order(changes), order(loose));
  assert.deepEqual(kept, {
    deep: [{ n: 1 }, { n: 0, more: 1 }],
    short: [true, false],
    long: [true],
    set: [1],
    extra: { n: 1 },
    "a/b": "d",
    made: 0,
  });
  const exact = compileSchema(schema).cast(value, EXACT);
  assert.deepEqual(
    order(exact.changes),
    order([
      ...loose,
      { path: "/deep/1/more", kind: "removed" },
      { path: "/extra", kind: "removed" },
    ]),
  );
  const whole = compileSchema(schema).cast([]);
  assert.deepEqual(whole.value, { "a/b": "d", made: 0 });
  assert.deepEqual(whole.changes, [{ path: "", kind: "replaced" }]);
});

test("what is made has a bound, and so has the work", () => {
  const huge = { type: "array", items: { type: "number" }, minItems: 1e9 };
  const long = { type: "string", minLength: 1e9 };
  const wide = {
    $ref: "#/$defs/0",
    $defs: Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => {
        const items = { $ref: `#/$defs/${index + 1}` };
        return [index, index < 19 ? { type: "array", items, minItems: 9 } : { type: "null" }];
      }),
    ),
  };
  for (const schema of [huge, long, wide]) {
    const before = performance.now();
    assert.throws(() => compileSchema(schema).cast({}), { code: "limit", reason: "cast_limit" });
    assert.throws(() => compileSchema(schema).cast([], EXACT), ToolwireError);
    assert.ok(performance.now() - before < 5_000);
  }
  const small = compileSchema({ type: "array", items: { type: "number" }, minItems: 100 });
  assert.equal(small.cast([]).value.length, 100);
  assert.throws(() => small.cast([], { maxMadeBytes: 99 }), { code: "limit", limit: 99 });
  const steps = compileSchema({ items: { type: "number" }, type: "array" }, { maxSteps: 50 });
  assert.throws(() => steps.cast(Array(1_000).fill("x")), { code: "limit", reason: "cast_limit" });
  for (const options of [{ mode: "convert" }, { mode: 5 }, { maxMadeBytes: -1 }, { mode: {} }]) {
    assert.throws(() => small.cast([], options), { code: "invalid_arguments" });
  }
});

test("deep values and schemas cost no call stack", () => {
  const depth = 2_000;
  let value = { id: 1 };
  for (let level = 0; level < depth; level += 1) {
    value = { id: "x", nodes: [value] };
  }
  // A cast looks at the whole rest of the value on each level, so steps are what ends it.
  const few = compileSchema(TREE, { maxDepth: Infinity, maxSteps: 100_000 });
  assert.throws(() => few.cast(value), { code: "limit" });
  const shallow = compileSchema(TREE, { maxDepth: Infinity, maxSteps: 1e12 });
  let made = shallow.cast(value, EXACT).value;
  for (let level = 0; level < depth; level += 1) {
    made = made.nodes[0];
  }
  assert.deepEqual(made, { id: "", nodes: [] });
});

test("references resolve in both forms", () => {
  for (const [keyword, dialect] of [
    ["$defs", "2020-12"],
    ["definitions", "draft-07"],
  ]) {
    const schema = {
      type: "object",
      properties: { x: { $ref: `#/${keyword}/X` } },
      required: ["x"],
      [keyword]: { X: { type: "string", default: "d" } },
    };
    const compiledSchema = compileSchema(schema, { dialect });
    assert.deepEqual(compiledSchema.cast({}).value, { x: "d" });
    assert.deepEqual(compiledSchema.cast({ x: 5 }).value, { x: "d" });
    assert.deepEqual(compiledSchema.applyDefaults({}).value, { x: "d" });
  }
});

test("values cross as JSON, and bigints stay", () => {
  const schema = compileSchema({
    type: "object",
    properties: { n: { type: "integer" }, s: { type: "string" } },
  });
  const big = 2n ** 63n;
  assert.deepEqual(schema.cast({ n: big, s: 5 }).value, { n: big, s: "" });
  assert.throws(() => schema.cast(new Map()), { code: "invalid_arguments", reason: "not_json" });
  const trap = { get s() { assert.fail("ran"); } };
  assert.throws(() => schema.cast(trap), { code: "invalid_arguments" });
  const cycle = {};
  cycle.s = cycle;
  assert.throws(() => schema.applyDefaults(cycle), { code: "invalid_arguments" });
  schema.free();
  assert.throws(() => schema.cast({}), { code: "freed" });
});

test("defaults fill absent members and nothing else", () => {
  const schema = compileSchema({
    type: "object",
    properties: {
      a: { type: "number", default: 1 },
      wrong: { type: "number" },
      list: {
        type: "array",
        items: { type: "object", properties: { b: { default: [2] } } },
      },
      made: { type: "object", default: {}, properties: { inner: { default: null } } },
      absent: { type: "object", properties: { inner: { default: 1 } } },
      self: { $ref: "#" },
    },
    allOf: [{ properties: { c: { default: 3 }, a: { default: 9 } } }],
    anyOf: [
      { properties: { kind: { const: "x" }, x: { default: "x" } } },
      { properties: { kind: { const: "y" }, y: { default: "y" } } },
    ],
    if: { properties: { flag: { const: true } }, required: ["flag"] },
    then: { properties: { on: { default: 1 } } },
    else: { properties: { off: { default: 1 } } },
    required: ["never"],
  });
  const value = { wrong: "x", list: [{ b: 1 }, {}, 7], kind: "y", flag: false };
  const before = structuredClone(value);
  const { value: filled, changes } = schema.applyDefaults(value);
  assert.deepEqual(filled, {
    ...value,
    list: [{ b: 1 }, { b: [2] }, 7],
    a: 1,
    made: { inner: null },
    c: 3,
    y: "y",
    off: 1,
  });
  assert.deepEqual(value, before);
  assert.deepEqual(
    changes.map((change) => change.path).sort(),
    ["/a", "/c", "/list/1/b", "/made", "/made/inner", "/off", "/y"],
  );
  assert.ok(changes.every((change) => change.kind === "default"));
  for (const same of [filled, [], 5, null, undefined]) {
    const outcome = schema.applyDefaults(same);
    assert.equal(outcome.value, same);
    assert.deepEqual(outcome.changes, []);
  }
  const named = compileSchema({ properties: JSON.parse('{"__proto__":{"default":{"x":1}}}') });
  const own = named.applyDefaults({}).value;
  assert.equal(JSON.stringify(own), '{"__proto__":{"x":1}}');
  assert.equal(own.x, undefined);
});

test("a default that holds its own schema ends", () => {
  const schema = compileSchema({ properties: { self: { $ref: "#", default: {} } } });
  const { value } = schema.applyDefaults({});
  assert.deepEqual(value, { self: { self: {} } });
  const both = compileSchema({
    properties: { a: { $ref: "#", default: {} }, b: { $ref: "#", default: {} } },
  });
  assert.ok(both.applyDefaults({}).changes.length < 20);
});
