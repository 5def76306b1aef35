// Bytes of one reply to a verdict, by size and by kind of content.
import { cases, writeId } from "../support/lines.mjs";
import { timeOf, timeOfBatches } from "../support/clock.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { publicSession, textSession } from "../support/session.mjs";
import { micro, ratio, table } from "../support/report.mjs";

function parse(line) {
  return JSON.parse(line.toString("utf8"));
}

/** A reader of lines by what is done with the parsed message. */
function afterParse(judgeOf) {
  return ({ schema, line }, options) => {
    const judge = judgeOf(schema);
    const run = () => judge(parse(line).result.structuredContent);
    if (!run()) {
      throw new Error("the line must be valid");
    }
    return timeOf(run, options);
  };
}

/** Replies to calls that were made before the clock runs. */
function session(sessionOf) {
  return ({ schema, line }, options) => {
    const driven = sessionOf(schema);
    const bytes = Buffer.concat([line, Buffer.from("\n")]);
    const batch = (count) => {
      const ids = Array.from({ length: count }, () => driven.call());
      const started = performance.now();
      for (const id of ids) {
        writeId(bytes, id);
        driven.receive(bytes);
        const event = driven.poll();
        if ((event.verdict ?? event.result.verdict) !== "valid") {
          throw new Error("the line must be valid");
        }
      }
      return performance.now() - started;
    };
    return timeOfBatches(batch, { ...options, most: 512 });
  };
}

const ENGINES = {
  parse: {
    label: "decode + JSON.parse (JP)",
    time: ({ line }, options) => timeOf(() => parse(line), options),
  },
  text: { label: "toolwire session, result left as text", time: session(textSession) },
  object: { label: "toolwire session, object in hand", time: session(publicSession) },
  schema: {
    label: "toolwire Schema.validateJson, envelope in the schema",
    time: ({ schema, line }, options) => {
      const { compileSchema } = requireOwn("toolwire");
      const result = {
        type: "object",
        properties: { content: { type: "array" }, structuredContent: schema },
        required: ["content", "structuredContent"],
      };
      const compiled = compileSchema({
        type: "object",
        properties: { jsonrpc: { const: "2.0" }, id: { type: "integer" }, result },
        required: ["jsonrpc", "id", "result"],
      });
      if (!compiled.validateJson(line).valid) {
        throw new Error("the line must be valid");
      }
      return timeOf(() => compiled.validateJson(line), options);
    },
  },
  ajv: {
    label: "JP + Ajv 8 (2020)",
    time: afterParse((schema) => {
      const { Ajv2020 } = requireNpm("ajv/dist/2020.js");
      return new Ajv2020({ strict: false }).compile(schema);
    }),
  },
  cfworker: {
    label: "JP + @cfworker/json-schema",
    time: afterParse((schema) => {
      const { Validator } = requireNpm("@cfworker/json-schema");
      const validator = new Validator(schema, "2020-12");
      return (value) => validator.validate(value).valid;
    }),
  },
};

function run(engine, options) {
  const times = cases(options).map((each) => [each.name, ENGINES[engine].time(each, options)]);
  return Object.fromEntries(times);
}

function report(medians) {
  const { parse: base } = medians;
  const head = ["line", ...Object.values(ENGINES).map(({ label }) => label)];
  const rows = Object.keys(base).map((name) => [
    name,
    ...Object.keys(ENGINES).map((engine) =>
      engine === "parse"
        ? micro(base[name])
        : `${micro(medians[engine][name])} (${ratio(medians[engine][name], base[name])})`,
    ),
  ]);
  const faster = Object.keys(base).map((name) => [
    name,
    ratio(medians.ajv[name], medians.text[name]),
    ratio(medians.cfworker[name], medians.text[name]),
    ratio(medians.ajv[name], medians.schema[name]),
    ratio(medians.cfworker[name], medians.schema[name]),
  ]);
  return [
    "µs a line; in brackets the ratio to JP. Ajv and cfworker check `structuredContent` only.",
    table(head, rows),
    "How many times faster from bytes to verdict:",
    table(["line", "session / Ajv", "session / cfworker", "Schema / Ajv", "Schema / cfworker"], faster),
  ].join("\n\n");
}

const title = "One reply: bytes to verdict";
const engines = Object.keys(ENGINES);

export { engines, report, run, title };
