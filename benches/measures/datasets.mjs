// Evaluation on public data sets. toolwire reads and judges in one go, so what judging costs is the
// difference between the schema and the schema `true`, which only reads. Every ratio is taken in one
// process, in rounds that alternate with those of `JSON.parse`.
import { dataSets } from "../support/datasets.mjs";
import { batchOf, compareBatches, timeOf } from "../support/clock.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { LABEL, built, rivalOf } from "../support/rival.mjs";
import { geometricMean, micro, table } from "../support/report.mjs";

const DIALECT = "draft-07";

function engineOfAjv({ schema, resources }) {
  const { Ajv } = requireNpm("ajv");
  const { Ajv2020 } = requireNpm("ajv/dist/2020.js");
  const Engine = String(schema.$schema).includes("2020-12") ? Ajv2020 : Ajv;
  const options = { strict: false, validateSchema: false, validateFormats: false, logger: false };
  const ajv = new Engine(options);
  for (const [uri, document] of Object.entries(resources)) {
    ajv.addSchema(document, uri);
  }
  return ajv.compile(schema);
}

function engineOfCfworker({ schema, resources }) {
  const { Validator } = requireNpm("@cfworker/json-schema");
  const validator = new Validator(schema, "7");
  for (const [uri, document] of Object.entries(resources)) {
    validator.addSchema(document, uri);
  }
  return (value) => validator.validate(value).valid;
}

function overAll(items, act) {
  return () => {
    for (const item of items) {
      act(item);
    }
  };
}

/** A batch over all instances, and one of parsing their texts to alternate with. */
function compared(set, items, act, options) {
  const parsing = batchOf(overAll(set.instances, JSON.parse));
  return compareBatches(batchOf(overAll(items, act)), parsing, options).ratio;
}

/** Each gives ratios to `JSON.parse` of the texts, and how many it found valid. */
const ENGINES = {
  parse: ({ instances }, options) => ({ time: timeOf(overAll(instances, JSON.parse), options) }),
  toolwire: (set, options) => {
    const { compileSchema } = requireOwn("toolwire");
    const schema = compileSchema(set.schema, { dialect: DIALECT, resources: set.resources });
    const reader = compileSchema(true);
    const bytes = set.instances.map((text) => Buffer.from(text));
    const verdicts = bytes.map((each) => schema.validateJson(each).verdict);
    const whole = compared(set, bytes, (each) => schema.validateJson(each), options);
    const reading = compared(set, bytes, (each) => reader.validateJson(each), options);
    const decoding = compared(set, bytes, (each) => JSON.parse(each.toString()), options);
    return {
      time: Math.max(whole - reading, 0.001),
      whole: whole / decoding,
      valid: verdicts.filter((verdict) => verdict === "valid").length,
      unknown: verdicts.filter((verdict) => verdict === "unknown").length,
    };
  },
  ajv: (set, options) => ofValues(set, engineOfAjv(set), options),
  cfworker: (set, options) => ofValues(set, engineOfCfworker(set), options),
  ...(built && {
    jsonschema: (set, options) => {
      const rival = rivalOf(JSON.stringify(set.schema), DIALECT, set.resources);
      const bytes = set.instances.map((text) => Buffer.from(text));
      const numbers = bytes.map((each) => rival.read(each));
      const whole = compared(set, bytes, (each) => rival.isValid(each), options);
      const decoding = compared(set, bytes, (each) => JSON.parse(each.toString()), options);
      return {
        time: compared(set, numbers, (number) => rival.judge(number), options),
        whole: whole / decoding,
        valid: numbers.filter((number) => rival.judge(number)).length,
      };
    },
  }),
};

function ofValues(set, judge, options) {
  const values = set.instances.map((text) => JSON.parse(text));
  const valid = values.filter((value) => judge(value)).length;
  return { time: compared(set, values, judge, options), valid };
}

function run(engine, options) {
  const found = {};
  for (const set of dataSets(options)) {
    try {
      const { time, whole, valid, unknown } = ENGINES[engine](set, options);
      found[set.name] = time;
      found[`${set.name}#whole`] = whole;
      found[`${set.name}#valid`] = valid;
      found[`${set.name}#unknown`] = unknown;
    } catch {
      // An engine that cannot compile a set has no number for it.
      found[set.name] = undefined;
    }
  }
  return found;
}

/** The sets, and those on which toolwire came to verdicts. */
function setsOf(medians) {
  const names = Object.keys(medians.parse).filter((name) => !name.includes("#"));
  const comparable = names.filter(
    (name) => medians.toolwire[name] !== undefined && !(medians.toolwire[`${name}#unknown`] > 0),
  );
  return { names, comparable };
}

function targets(medians) {
  const { comparable } = setsOf(medians);
  const each = comparable.map((name) => medians.toolwire[name]);
  const value = each.length === 0 ? Infinity : geometricMean(each);
  return [
    {
      what: "evaluation on public data sets, tape ready",
      value,
      most: 0.2,
      unit: "of JSON.parse",
      engine: "toolwire",
    },
  ];
}

/** Judged beside toolwire, in the order of the report. */
const rivals = ["ajv", "cfworker", ...(built ? ["jsonschema"] : [])];

function report(medians) {
  const { names, comparable } = setsOf(medians);
  const shown = (value) => value?.toFixed(2) ?? "–";
  const rows = names.map((name) => {
    const judged = comparable.includes(name)
      ? [shown(medians.toolwire[name]), shown(medians.toolwire[`${name}#whole`])]
      : ["unknown", "unknown"];
    const others = rivals.map((engine) => shown(medians[engine][name]));
    if (built) {
      others.push(shown(medians.jsonschema[`${name}#whole`]));
    }
    const counts = ["toolwire", ...rivals].map(
      (engine) => medians[engine][`${name}#valid`] ?? "–",
    );
    return [name, micro(medians.parse[name]), ...judged, ...others, counts.join(" / ")];
  });
  if (comparable.length > 0) {
    const mean = (engine, suffix = "") => {
      const known = comparable.map((name) => medians[engine][`${name}${suffix}`]);
      return shown(geometricMean(known.filter((value) => value !== undefined)));
    };
    const means = [mean("toolwire"), mean("toolwire", "#whole"), ...rivals.map((engine) => mean(engine))];
    if (built) {
      means.push(mean("jsonschema", "#whole"));
    }
    rows.push(["geometric mean", "", ...means, ""]);
  }
  const head = [
    "set",
    "JSON.parse of the text",
    "toolwire, judging",
    "toolwire, bytes to verdict / JP",
    "Ajv, judging",
    "cfworker, judging",
    ...(built ? [`${LABEL}, judging`, `${LABEL}, bytes to verdict / JP`] : []),
    `valid: toolwire / Ajv / cfworker${built ? " / jsonschema" : ""}`,
  ];
  return `Ratios to \`JSON.parse\` of the text; formats are annotations.\n\n${table(head, rows)}`;
}

const title = "Evaluation on public data sets";
const engines = Object.keys(ENGINES);

export { engines, report, run, targets, title };
