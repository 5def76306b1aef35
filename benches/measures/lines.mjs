// Bytes of one reply to a verdict, by size and by kind of content.
import { cases, writeId } from "../support/lines.mjs";
import { batchOf, compareBatches } from "../support/clock.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { LABEL, built, rivalOf } from "../support/rival.mjs";
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
    return compareBatches(batchOf(run), batchOf(() => parse(line)), options);
  };
}

/** The schema of a whole reply with this result. */
function envelopeOf(schema) {
  const result = {
    type: "object",
    properties: { content: { type: "array" }, structuredContent: schema },
    required: ["content", "structuredContent"],
  };
  return {
    type: "object",
    properties: { jsonrpc: { const: "2.0" }, id: { type: "integer" }, result },
    required: ["jsonrpc", "id", "result"],
  };
}

/** A judge of whole lines, from their bytes. */
function ofBytes(judgeOf) {
  return ({ schema, line }, options) => {
    const judge = judgeOf(envelopeOf(schema));
    if (!judge(line)) {
      throw new Error("the line must be valid");
    }
    return compareBatches(batchOf(() => judge(line)), batchOf(() => parse(line)), options);
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
    return compareBatches(batch, batchOf(() => parse(line)), { ...options, most: 512 });
  };
}

const ENGINES = {
  parse: {
    label: "decode + JSON.parse (JP)",
    time: ({ line }, options) => {
      const batch = batchOf(() => parse(line));
      return compareBatches(batch, batch, options);
    },
  },
  text: { label: "toolwire session, result left as text", time: session(textSession) },
  object: { label: "toolwire session, object in hand", time: session(publicSession) },
  schema: {
    label: "toolwire Schema.validateJson, envelope in the schema",
    time: ofBytes((schema) => {
      const { compileSchema } = requireOwn("toolwire");
      const compiled = compileSchema(schema);
      return (line) => compiled.validateJson(line).valid;
    }),
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
  ...(built && {
    jsonschema: {
      label: `${LABEL}, envelope in the schema`,
      time: ofBytes((schema) => {
        const rival = rivalOf(JSON.stringify(schema));
        return (line) => rival.isValid(line);
      }),
    },
  }),
};

function run(engine, options) {
  const found = {};
  for (const each of cases(options)) {
    const { time, ratio: toParse } = ENGINES[engine].time(each, options);
    found[each.name] = time;
    found[`${each.name}#ratio`] = toParse;
  }
  return found;
}

/** The lines, and each engine's ratio to JP on one. */
function namesOf(medians) {
  return Object.keys(medians.parse).filter((name) => !name.includes("#"));
}

function toParse(medians, engine, name) {
  return medians[engine][`${name}#ratio`];
}

function report(medians) {
  const names = namesOf(medians);
  const head = ["line", ...Object.values(ENGINES).map(({ label }) => label)];
  const rows = names.map((name) => [
    name,
    ...Object.keys(ENGINES).map((engine) =>
      engine === "parse"
        ? micro(medians.parse[name])
        : `${micro(medians[engine][name])} (${toParse(medians, engine, name)?.toFixed(2)})`,
    ),
  ]);
  const times = (name, slow, fast) =>
    ratio(toParse(medians, slow, name), toParse(medians, fast, name));
  const faster = names.map((name) => [
    name,
    times(name, "ajv", "text"),
    times(name, "cfworker", "text"),
    times(name, "ajv", "schema"),
    times(name, "cfworker", "schema"),
    ...(built ? [times(name, "jsonschema", "text"), times(name, "jsonschema", "schema")] : []),
  ]);
  const rivals = ["session / Ajv", "session / cfworker", "Schema / Ajv", "Schema / cfworker"];
  rivals.push(...(built ? ["session / jsonschema", "Schema / jsonschema"] : []));
  return [
    "µs a line; in brackets the ratio to JP, whose rounds alternate with the engine's own. Ajv and cfworker check `structuredContent` only.",
    table(head, rows),
    "How many times faster from bytes to verdict:",
    table(["line", ...rivals], faster),
  ].join("\n\n");
}

function targets(medians) {
  const worst = (engine, kind, sizes) =>
    Math.max(...sizes.map((size) => toParse(medians, engine, `${kind} ${size}`) ?? 0));
  const least = (rival, sizes) =>
    Math.min(
      ...sizes.map((size) => {
        const name = `structured ${size}`;
        return (toParse(medians, rival, name) ?? Infinity) / toParse(medians, "text", name);
      }),
    );
  const all = ["0.5 KB", "2 KB", "20 KB", "200 KB", "2 MB"].filter(
    (size) => medians.parse[`structured ${size}`] !== undefined,
  );
  const at = (engine, what, most, kind, sizes) => ({
    what: `${what}, ${kind} line, ${sizes.join(" and ")}`,
    value: worst(engine, kind, sizes),
    most,
    unit: "JP",
    engine,
  });
  const verdict = "verdict, result left as text";
  return [
    at("text", verdict, 0.45, "structured", ["0.5 KB"]),
    at("text", verdict, 0.38, "structured", ["2 KB", "20 KB"]),
    at("text", verdict, 0.3, "structured", all.slice(3)),
    at("text", verdict, 0.3, "text", ["0.5 KB", "2 KB"]),
    at("text", verdict, 0.2, "text", all.slice(2)),
    at("object", "verdict and object in hand", 1.35, "structured", all.slice(1)),
    { what: "times faster than JP + Ajv", value: least("ajv", all), least: 2.5, engine: "text" },
    { what: "times faster than JP + cfworker", value: least("cfworker", all), least: 12, engine: "text" },
  ];
}

const title = "One reply: bytes to verdict";
const engines = Object.keys(ENGINES);

export { engines, report, run, targets, title };
