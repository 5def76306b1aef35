// Schemas and values made to cost much: each must be judged soon, refused, or found "unknown".
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { requireOwn } from "../support/packages.mjs";
import { LABEL, built, rivalOf } from "../support/rival.mjs";
import { micro, table } from "../support/report.mjs";

function nested(depth, open, inner, close) {
  return open.repeat(depth) + inner + close.repeat(depth);
}

function doubling(keyword, depth) {
  const $defs = { d0: { type: "string" } };
  for (let level = 1; level <= depth; level += 1) {
    const below = { $ref: `#/$defs/d${level - 1}` };
    $defs[`d${level}`] = { [keyword]: [below, below] };
  }
  return { $defs, $ref: `#/$defs/d${depth}` };
}

function objects(count) {
  return Array.from({ length: count }, (_, index) => ({ id: index, name: `name ${index}` }));
}

function pattern(source, value) {
  return { schema: { type: "string", pattern: source }, value };
}

function repeat(count, make) {
  return Array.from({ length: count }, (_, index) => make(index));
}

function numbered(count, make) {
  return Object.fromEntries(repeat(count, make));
}

/** A schema of so many branches, each of which asks for a member of its own. */
function demanding(keyword, count) {
  const branch = (index) => ({
    type: "object",
    properties: { [`a${index}`]: { type: "integer", default: 1 } },
    required: [`a${index}`],
  });
  return { [keyword]: repeat(count, branch) };
}

/** Built when needed: some are large. Schemas and values are JSON values, or texts. */
const CASES = {
  "pattern ^(a+)+$ on 28 a": () => pattern("^(a+)+$", `${"a".repeat(28)}!`),
  "pattern ^(?:.*a){12}$ on 41": () => pattern("^(?:.*a){12}$", `${"a".repeat(40)}!`),
  "pattern ^(?=(a+)+$) on 28 a": () => pattern("^(?=(a+)+$)", `${"a".repeat(28)}!`),
  "pattern a*a*a*b on 3,000 a": () => pattern("a*a*a*b", "a".repeat(3_000)),
  "pattern ((a{1,100}){1,100}){1,100}": () => pattern("((a{1,100}){1,100}){1,100}", "aaa!"),
  "recursive value, 10,000 deep": () => ({
    schema: { properties: { a: { $ref: "#" } } },
    text: nested(10_000, '{"a":', "1", "}"),
  }),
  "the same, depth allowed": () => ({
    schema: { properties: { a: { $ref: "#" } } },
    text: nested(10_000, '{"a":', "1", "}"),
    options: { maxDepth: 20_000 },
  }),
  "nested schema, 50,000 deep": () => ({
    schemaText: nested(50_000, '{"not":', "true", "}"),
    value: 1,
  }),
  "enum of 100,000 strings": () => ({
    schema: { enum: Array.from({ length: 100_000 }, (_, index) => `member ${index}`) },
    value: "no member",
    options: { maxSchemaBytes: 16_777_216 },
  }),
  "200 items, enum of 20,000 objects": () => ({
    schema: { items: { enum: objects(20_000) } },
    value: objects(20_000).slice(-200),
    options: { maxSchemaBytes: 16_777_216 },
  }),
  "uniqueItems, 20,000 objects": () => ({ schema: { uniqueItems: true }, value: objects(20_000) }),
  "uniqueItems, 50,000 strings": () => ({
    schema: { uniqueItems: true },
    value: Array.from({ length: 50_000 }, (_, index) => `item ${index}`),
  }),
  "reference cycle a, b, a": () => ({
    schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    value: 1,
  }),
  "allOf of itself": () => ({ schema: { allOf: [{ $ref: "#" }] }, value: 1 }),
  "anyOf doubling, depth 24": () => ({ schema: doubling("anyOf", 24), value: 1 }),
  "allOf doubling, depth 24": () => ({ schema: doubling("allOf", 24), value: "text" }),
  "oneOf doubling, depth 24": () => ({ schema: doubling("oneOf", 24), value: "text" }),
  "1,000 patternProperties, 2,000 names": () => ({
    schema: {
      patternProperties: Object.fromEntries(
        Array.from({ length: 1_000 }, (_, index) => [`^p${index}[0-9]+x$`, { type: "integer" }]),
      ),
    },
    value: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`p${index}1x`, 1])),
  }),
  "200,000 type errors": () => ({
    schema: { items: { type: "string" } },
    value: Array.from({ length: 200_000 }, () => 1),
  }),
  "unevaluatedProperties over 64 branches, 2,000 names": () => ({
    schema: {
      anyOf: Array.from({ length: 64 }, (_, index) => ({ properties: { [`m${index}`]: true } })),
      unevaluatedProperties: { type: "integer" },
    },
    value: Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`m${index}`, 1])),
  }),
  "allOf of 1,000, 5,000 objects": () => ({
    schema: { items: { allOf: repeat(1_000, (n) => ({ properties: { [`a${n}`]: { type: "integer" } } })) } },
    value: repeat(5_000, (n) => ({ [`a${n}`]: 1 })),
  }),
  "oneOf of 1,000, 2,000 objects": () => ({
    schema: { items: { oneOf: repeat(1_000, (n) => ({ properties: { a: { const: n } } })) } },
    value: repeat(2_000, (n) => ({ a: n })),
  }),
  "if of 2,000, 500 objects": () => ({
    schema: {
      items: { allOf: repeat(2_000, (n) => ({ if: { properties: { a: { const: n } } }, then: { required: ["a"] }, else: { required: ["b"] } })) },
    },
    value: repeat(500, (n) => ({ a: n, b: 1 })),
  }),
  "uniqueItems 300 times, 20,000 numbers": () => ({
    schema: { allOf: repeat(300, (n) => ({ uniqueItems: true, minItems: n })) },
    value: repeat(20_000, (n) => n),
  }),
  "contains 500 times, 5,000 numbers": () => ({
    schema: { allOf: repeat(500, (n) => ({ contains: { const: -1 - n }, minContains: 0 })) },
    value: repeat(5_000, (n) => n),
  }),
  "one const 100 times, 300 large objects": () => {
    const member = numbered(100, (n) => [`m${n}`, n]);
    return { schema: { items: { allOf: repeat(100, () => ({ const: member })) } }, value: repeat(300, () => member) };
  },
  "2,000 lengths of a long text": () => ({
    schema: { allOf: repeat(2_000, (n) => ({ maxLength: 500_000 + n })) },
    value: "é".repeat(400_000),
  }),
  "1,000 limits of a long decimal": () => ({
    schema: { items: { allOf: repeat(1_000, (n) => ({ minimum: n })) } },
    text: `[1${"0".repeat(100_000)}.5]`,
  }),
  "multipleOf with 6,000 factors of two": () => ({
    schemaText: `{"items":{"multipleOf":${2n ** 6_000n}}}`,
    text: `[${repeat(1_000, () => "1e9000").join()}]`,
  }),
  "5,000 dependent schemas, 5,000 names": () => ({
    schema: { dependentSchemas: numbered(5_000, (n) => [`p${n}`, { minProperties: 2 }]) },
    value: numbered(5_000, (n) => [`p${n}`, n]),
  }),
  "unevaluatedProperties over 2,000 branches, 20,000 names": () => ({
    schema: {
      anyOf: repeat(2_000, (n) => ({ properties: { [`m${n}`]: true } })),
      unevaluatedProperties: { type: "integer" },
    },
    value: numbered(20_000, (n) => [`m${n}`, 1]),
  }),
  "cast by allOf of 3,000": () => ({ schema: demanding("allOf", 3_000), value: {}, act: "cast" }),
  "cast by items of anyOf of 300": () => ({
    schema: { type: "array", items: demanding("anyOf", 300) },
    value: repeat(1_000, (n) => ({ [`a${n}`]: "x" })),
    act: "cast",
  }),
  "1,000 defaults in each of 1,000 objects": () => ({
    schema: { items: { properties: numbered(1_000, (n) => [`a${n}`, { default: n }]) } },
    value: repeat(1_000, () => ({})),
    act: "applyDefaults",
  }),
  "a million small arrays": () => ({
    schema: { items: { items: { type: "integer" } } },
    text: `[${Array.from({ length: 1_000_000 }, () => "[1]").join(",")}]`,
  }),
};

function byToolwire(schema, text, { options, act, value }) {
  const { compileSchema } = requireOwn("toolwire");
  try {
    const compiled = compileSchema(schema, options);
    if (act !== undefined) {
      return `${compiled[act](value).changes.length} changes`;
    }
    const { verdict, reason } = compiled.validateJson(text);
    return reason === undefined ? verdict : `${verdict} (${reason})`;
  } catch (error) {
    return `${error.code} (${error.reason})`;
  }
}

function byRival(schema, text) {
  try {
    return rivalOf(schema).isValid(Buffer.from(text)) ? "valid" : "invalid";
  } catch (error) {
    return error instanceof WebAssembly.RuntimeError ? "trapped" : "refused";
  }
}

function timed(name, judge) {
  const made = CASES[name]();
  const { schema, schemaText, value, text } = made;
  const json = text ?? JSON.stringify(value);
  const schemaJson = schemaText ?? JSON.stringify(schema);
  const started = performance.now();
  const outcome = judge(schemaJson, json, made);
  return { [name]: (performance.now() - started) * 1000, [`${name}#outcome`]: outcome };
}

/** Milliseconds for a case of the rival's, which has no budget of its own; its start is among them. */
const PATIENCE_MS = 10_000;

/** A case in a process of its own: what does not end is ended, and a trap harms no other. */
function apart(name) {
  const worker = fileURLToPath(new URL("../worker.mjs", import.meta.url));
  const program = [worker, "hostile", "jsonschema", JSON.stringify({ only: name })];
  try {
    const limits = { timeout: PATIENCE_MS, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
    return JSON.parse(execFileSync(process.execPath, program, limits));
  } catch (error) {
    const isLate = error.code === "ETIMEDOUT";
    return { [`${name}#outcome`]: isLate ? `none in ${PATIENCE_MS / 1000} s` : "died" };
  }
}

function run(engine, { only }) {
  if (only !== undefined) {
    // Loading its module is not timed.
    rivalOf("true").free();
    return timed(only, byRival);
  }
  if (engine === "toolwire") {
    return Object.assign({}, ...Object.keys(CASES).map((name) => timed(name, byToolwire)));
  }
  // The rival only judges.
  const judged = Object.keys(CASES).filter((name) => CASES[name]().act === undefined);
  return Object.assign({}, ...judged.map(apart));
}

function report({ toolwire, jsonschema }) {
  const rows = Object.keys(CASES).map((name) => {
    const outcome = toolwire[`${name}#outcome`];
    const row = [name, micro(toolwire[name]), outcome, isGood(toolwire, name) ? "yes" : "NO"];
    const rival = built ? [micro(jsonschema[name]), jsonschema[`${name}#outcome`] ?? ""] : [];
    return [...row, ...rival];
  });
  const rivals = built ? [`${LABEL}, compile and judge`, "outcome"] : [];
  const head = ["case", "compile and judge", "outcome", "≤ 100 ms or unknown", ...rivals];
  const note = `Each case once. Those of ${LABEL} run in a fresh process each, with its code not yet warm.\n\n`;
  return (built ? note : "") + table(head, rows);
}

function targets({ toolwire }) {
  const slow = Object.keys(CASES).filter((name) => !isGood(toolwire, name));
  return [{ what: "hostile cases over 100 ms and not unknown", value: slow.length, most: 0, unit: "", engine: "toolwire" }];
}

function isGood(toolwire, name) {
  return toolwire[name] <= 100_000 || /^(unknown|schema_error|limit)/.test(toolwire[`${name}#outcome`]);
}

const title = "Hostile schemas and values";
const engines = ["toolwire", ...(built ? ["jsonschema"] : [])];

/** What is run in one round only: it takes long, and no ratio is taken of it. */
const once = ["jsonschema"];

export { engines, once, report, run, targets, title };
