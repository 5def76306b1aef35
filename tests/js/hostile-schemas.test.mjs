// Schemas and values made to cost much: each ends soon, or has no verdict, and its asynchronous form
// lets timers run. Times are measured against what reading and judging plain JSON of the same size
// costs here, because machines differ and are busy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toolwire } from "./support/toolwire.mjs";

const { compileSchema, compileSchemaAsync } = toolwire;

/**
 * Times what a plain document of a megabyte may take. What is exponential, or grows with the square of
 * what is sent, takes thousands of times as long.
 */
const FACTOR = 60;

const repeat = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const numbered = (count, make) => Object.fromEntries(repeat(count, make));
const nested = (depth, open, close, inside = "") => open.repeat(depth) + inside + close.repeat(depth);

/** A chain of definitions, each of which uses the next one twice. */
function doubling(keyword, depth) {
  const $defs = numbered(depth, (index) => {
    const next = { $ref: `#/$defs/d${index + 1}` };
    return [`d${index}`, { [keyword]: [next, next] }];
  });
  $defs[`d${depth}`] = { properties: { a: { type: "string" } }, required: ["a"] };
  return { $ref: "#/$defs/d0", $defs };
}

/** The same through members, so that the value is gone through again and again. */
function branching(keyword, depth) {
  const $defs = numbered(depth, (index) => {
    const next = { properties: { a: { $ref: `#/$defs/d${index + 1}` } } };
    return [`d${index}`, { [keyword]: [next, { ...next, minProperties: 0 }] }];
  });
  $defs[`d${depth}`] = false;
  return { $ref: "#/$defs/d0", $defs };
}

const AS = "a".repeat(30_000);

/** Name, schema, value (or `text`), and what it comes to; "any" where the bound may end it. */
const CASES = [
  { name: "(a+)+", schema: { pattern: "^(a+)+$" }, value: `${AS}!`, verdict: "invalid" },
  { name: "(a|a)*", schema: { pattern: "^(a|a)*$" }, value: `${AS}!`, verdict: "invalid" },
  { name: "(a|aa)+", schema: { pattern: "^(a|aa)+$" }, value: `${AS}!`, verdict: "invalid" },
  { name: "(?:.*a){12}", schema: { pattern: "^(?:.*a){12}$" }, value: `${AS}!`, verdict: "invalid" },
  { name: "a lookahead over (a+)+", schema: { pattern: "^(?=(a+)+$)" }, value: `${AS}!`, verdict: "invalid" },
  { name: "a lookbehind over (a+)+", schema: { pattern: "(?<=^(a+)+)$" }, value: `${AS}!`, verdict: "invalid" },
  { name: "a*a*a*b", schema: { pattern: "a*a*a*b" }, value: AS, verdict: "invalid" },
  { name: "lookarounds in lookarounds", schema: { pattern: `${nested(20, "(?=.*", ")", "b")}$` }, value: AS, verdict: "invalid" },
  { name: "nested counts", schema: { pattern: "^(?:(?:a{1,9}){1,9}){1,9}$" }, value: `${AS}!`, verdict: "invalid" },
  { name: "counts beyond the bound", schema: { pattern: "((a{1,100}){1,100}){1,100}" }, reason: "limit" },
  { name: "a reference that backtracks", schema: { pattern: "^(a*)*\\1$" }, value: `${"a".repeat(60)}!`, verdict: "any" },
  { name: "many references", schema: { pattern: "(.*)(.*)(.*)\\1\\2\\3x" }, value: "ab".repeat(500), verdict: "any" },
  { name: "a long class without case", schema: { pattern: `(?i:${repeat(500, (n) => `[\\u{${(0x400 + n * 7).toString(16)}}-\\u{1E943}]`).join("")})` }, reason: "limit" },
  { name: "many properties in one pattern", schema: { pattern: "\\p{L}\\P{Lu}\\p{Script=Greek}\\p{scx=Latn}".repeat(80) }, reason: "limit" },
  {
    name: "many patterns on many names",
    schema: { patternProperties: numbered(200, (n) => [`^.*(x|y)+${n}z$`, { type: "string" }]) },
    value: numbered(400, (n) => [`name-${n}-x`, n]),
    verdict: "valid",
  },
  { name: "a deep value", schema: { $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#/$defs/a" } } } }, text: nested(10_000, "[", "]"), verdict: "unknown" },
  { name: "a deep schema", text: "1", schemaText: nested(5_000, '{"items":', "}", "{}"), reason: "limit" },
  { name: "a deeper schema", text: "1", schemaText: nested(50_000, '{"not":', "}", "{}"), reason: "limit" },
  { name: "references in a ring", schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, reason: "reference_cycle" },
  { name: "allOf itself", schema: { allOf: [{ $ref: "#" }] }, reason: "reference_cycle" },
  ...["anyOf", "allOf", "oneOf"].map((keyword) => ({ name: `${keyword} twice, 40 deep`, schema: doubling(keyword, 40), value: { a: 1 }, verdict: "invalid" })),
  ...["anyOf", "allOf", "oneOf"].map((keyword) => ({
    name: `${keyword} twice through members`,
    schema: branching(keyword, 40),
    text: nested(45, '{"a":', "}", "1"),
    verdict: "any",
  })),
  { name: "an enum of 100,000 strings", schema: { enum: repeat(100_000, (n) => `member ${n}`) }, options: { maxSchemaBytes: 4_000_000 }, value: "none", verdict: "invalid" },
  { name: "objects in a large enum", schema: { items: { enum: repeat(20_000, (n) => ({ n, m: [n] })) } }, value: repeat(200, (n) => ({ m: [n], n })), verdict: "valid" },
  { name: "unique objects", schema: { uniqueItems: true }, value: repeat(20_000, (n) => ({ n, m: { n } })), verdict: "valid" },
  { name: "unique strings", schema: { uniqueItems: true }, value: repeat(50_000, (n) => `text ${n}`), verdict: "valid" },
  { name: "unique numbers that are alike", schema: { uniqueItems: true }, text: `[${repeat(20_000, (n) => `1${"0".repeat(n % 50)}.${n}e-${n % 7}`).join()}]`, verdict: "any" },
  { name: "a million small arrays", schema: { items: { type: "array" } }, text: `[${repeat(500_000, () => "[]").join()}]`, verdict: "valid" },
  { name: "20,000 errors told", schema: { items: { type: "string" } }, value: repeat(20_000, (n) => n), options: { maxErrors: 20_000 }, verdict: "invalid" },
  { name: "200,000 wrong elements", schema: { items: { type: "string" } }, value: repeat(200_000, (n) => n), verdict: "invalid" },
  { name: "multiples of long numbers", schema: { multipleOf: 1e-300 }, text: `1${"0".repeat(50_000)}.5`, verdict: "any" },
  { name: "numbers with huge exponents", schema: { items: { maximum: 1 } }, text: `[${repeat(20_000, () => "1e999999999999").join()}]`, verdict: "invalid" },
  { name: "unevaluated members after many branches", schema: { allOf: repeat(300, (n) => ({ properties: { [`p${n}`]: true } })), unevaluatedProperties: false }, value: numbered(300, (n) => [`p${n}`, n]), verdict: "valid" },
  { name: "contains with many failures", schema: { contains: { pattern: "(a|b)*c$" } }, value: repeat(2_000, () => "ab".repeat(50)), verdict: "invalid" },
  { name: "dependent schemas of every member", schema: { dependentSchemas: numbered(1_000, (n) => [`p${n}`, { minProperties: 1 }]) }, value: numbered(1_000, (n) => [`p${n}`, n]), verdict: "valid" },
  { name: "many branches, each far", schema: { anyOf: repeat(2_000, (n) => ({ items: { type: "string", minLength: n } })) }, value: repeat(2_000, (n) => n), verdict: "invalid" },
  { name: "branches in branches, none holds", schema: { anyOf: repeat(20, (a) => ({ anyOf: repeat(20, (b) => ({ properties: { a: { anyOf: repeat(20, (c) => ({ const: [a, b, c] })) } }, required: ["a"] })) })) }, value: { a: 1 }, verdict: "invalid" },
  ...["hostname", "idn-hostname", "email", "uri", "uri-template", "regex", "date-time"].map((format) => ({
    name: `long strings of format ${format}`,
    schema: { items: { format } },
    options: { formats: "assert" },
    value: [...repeat(20, () => "x(?<é>[a-z]{2,})%41.".repeat(2_000)), ...repeat(2_000, (n) => `xn--${n}é.ü。example`)],
    // A pattern may be too large to be read as one.
    verdict: format === "regex" ? "any" : "invalid",
  })),
];

function compileCase({ schema, schemaText, options }) {
  try {
    return { compiled: compileSchema(schemaText ?? schema, options) };
  } catch (error) {
    assert.equal(error.code, "schema_error", String(error));
    return { reason: error.reason };
  }
}

/** Milliseconds that a plain document takes here and now. */
function plainTime() {
  const text = JSON.stringify(repeat(20_000, (n) => ({ id: n, tags: ["a", "b"], note: "plain text" })));
  const schema = compileSchema({ items: { type: "object", required: ["id"], properties: { id: { type: "integer" } } } });
  const times = repeat(5, () => {
    const start = performance.now();
    assert.equal(schema.validateJson(text).verdict, "valid");
    return performance.now() - start;
  });
  return Math.min(...times);
}

const plain = plainTime();

for (const entry of CASES) {
  test(`hostile: ${entry.name}`, (t) => {
    const text = entry.text ?? (entry.value === undefined ? undefined : JSON.stringify(entry.value));
    const times = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const start = performance.now();
      const { compiled, reason } = compileCase(entry);
      const between = performance.now();
      assert.equal(reason, entry.reason);
      if (compiled !== undefined) {
        const { verdict, errors } = compiled.validateJson(text);
        if (entry.verdict === "any") {
          assert.ok(["valid", "invalid", "unknown"].includes(verdict));
        } else {
          assert.equal(verdict, entry.verdict);
        }
        assert.equal(errors.length > 0, verdict === "invalid");
        compiled.free();
      }
      times.push([between - start, performance.now() - between]);
    }
    const best = Math.min(...times.map(([compiling, judging]) => Math.max(compiling, judging)));
    t.diagnostic(`${times.map((pair) => pair.map((ms) => ms.toFixed(1)).join(" + ")).join(", ")} ms; plain ${plain.toFixed(1)}`);
    assert.ok(best < plain * FACTOR, `${best} ms, where plain JSON takes ${plain} ms`);
  });
}

/** Work out of all proportion to the value, under the default bound: what it comes to. */
const BEYOND = {
  "many branches on many objects": {
    schema: { items: { allOf: repeat(1_000, (n) => ({ properties: { [`a${n}`]: { type: "integer" } } })) } },
    value: repeat(5_000, (n) => ({ [`a${n}`]: 1 })),
  },
  "many patterns on more names": {
    schema: { patternProperties: numbered(1_000, (n) => [`^p${n}[0-9]+x$`, { type: "integer" }]) },
    value: numbered(2_000, (n) => [`p${n}1x`, 1]),
  },
  "many choices for many objects": {
    schema: { items: { oneOf: repeat(1_000, (n) => ({ properties: { a: { const: n } } })) } },
    value: repeat(2_000, (n) => ({ a: n })),
  },
  "the same array unique again and again": {
    schema: { allOf: repeat(300, (n) => ({ uniqueItems: true, minItems: n })) },
    value: repeat(20_000, (n) => n),
  },
  "an object compared again and again": {
    schema: { items: { allOf: repeat(100, () => ({ const: numbered(100, (n) => [`m${n}`, n]) })) } },
    value: repeat(300, () => numbered(100, (n) => [`m${n}`, n])),
  },
  "the length of a long text again and again": {
    schema: { allOf: repeat(2_000, (n) => ({ maxLength: 500_000 + n })) },
    value: "é".repeat(400_000),
  },
  "a long number compared again and again": {
    schema: { items: { allOf: repeat(1_000, (n) => ({ minimum: n })) } },
    text: `[1${"0".repeat(100_000)}.5]`,
  },
  "a long number's type asked again and again": {
    schema: { allOf: repeat(3_000, (n) => ({ not: { type: "integer", minimum: n } })) },
    text: `1${"0".repeat(100_000)}.${"0".repeat(100_000)}1`,
  },
  "names counted again and again": {
    schema: { dependentSchemas: numbered(5_000, (n) => [`p${n}`, { minProperties: 2 }]) },
    value: numbered(5_000, (n) => [`p${n}`, n]),
  },
};

for (const [name, { schema, value, text }] of Object.entries(BEYOND)) {
  test(`out of proportion: ${name}`, () => {
    const json = text ?? JSON.stringify(value);
    const bounded = compileSchema(schema);
    const { verdict, reason } = bounded.validateJson(json);
    assert.deepEqual([verdict, reason], ["unknown", "limit"]);
    bounded.free();
  });
}

test("a bound that is given counts as it is", () => {
  const { schema, value } = BEYOND["many patterns on more names"];
  const json = JSON.stringify(value);
  assert.equal(compileSchema(schema, { maxSteps: Infinity }).validateJson(json).verdict, "valid");
  assert.equal(compileSchema({ items: { type: "array" } }, { maxSteps: 10 }).validateJson(`[${"[],".repeat(99)}[]]`).verdict, "unknown");
});

test("work in proportion to a value is done, however large the value is", () => {
  const branches = repeat(40, (n) => ({ properties: { kind: { const: n }, id: { type: "integer" } }, required: ["kind", `m${n}`] }));
  const schema = compileSchema({ items: { anyOf: branches } });
  for (const count of [1_000, 20_000]) {
    const items = repeat(count, (n) => ({ kind: n % 40, id: n, [`m${n % 40}`]: "text", note: "some more text", tags: ["a", "b", "c"] }));
    assert.equal(schema.validateJson(JSON.stringify(items)).verdict, "valid");
  }
  schema.free();
});

test("what is made of a value is bounded as a verdict is", () => {
  const branch = (n) => ({ type: "object", properties: { [`a${n}`]: { type: "integer", default: 1 } }, required: [`a${n}`] });
  const allOf = compileSchema({ allOf: repeat(3_000, branch) });
  assert.throws(() => allOf.cast({}), { code: "limit", reason: "cast_limit" });
  const defaults = compileSchema({ items: { properties: numbered(1_000, (n) => [`a${n}`, { default: n }]) } });
  assert.throws(() => defaults.applyDefaults(repeat(1_000, () => ({}))), { code: "limit", reason: "cast_limit" });
  assert.equal(defaults.applyDefaults(repeat(10, () => ({}))).changes.length, 10_000);
});

/** The longest time, in milliseconds, for which nothing else ran while an action was under way. */
async function longestPause(action) {
  let last = performance.now();
  let longest = 0;
  let turns = 0;
  let done = false;
  const watch = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    turns += 1;
    if (!done) {
      setImmediate(watch);
    }
  };
  setImmediate(watch);
  await action();
  done = true;
  return { longest, turns };
}

const SLOW = ["(a+)+", "(?:.*a){12}", "lookarounds in lookarounds", "a reference that backtracks", "unique objects", "a million small arrays"];

for (const entry of CASES.filter(({ name }) => SLOW.includes(name))) {
  test(`timers run during: ${entry.name}`, async (t) => {
    const schema = await compileSchemaAsync(entry.schema, entry.options);
    const text = entry.text ?? JSON.stringify(entry.value);
    const start = performance.now();
    const { longest, turns } = await longestPause(() => schema.validateJsonAsync(text));
    const whole = performance.now() - start;
    t.diagnostic(`${longest.toFixed(1)} of ${whole.toFixed(1)} ms in ${turns} turns`);
    // Slices of about 4 ms: what takes long comes in many.
    assert.ok(whole < plain * 2 || turns >= 3, `${whole} ms in ${turns} turns`);
    schema.free();
  });
}
