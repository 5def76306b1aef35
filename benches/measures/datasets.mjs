// Evaluation on public data sets. toolwire reads and judges in one go, so what judging costs is the
// difference between the schema and the schema `true`, which only reads.
import { dataSets } from "../support/datasets.mjs";
import { timeOf } from "../support/clock.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { geometricMean, micro, ratio, table } from "../support/report.mjs";

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

/** Each gives microseconds for all instances, and how many it found valid if it judges. */
const ENGINES = {
  parse: ({ instances }, options) => ({ time: timeOf(overAll(instances, JSON.parse), options) }),
  decode: ({ instances }, options) => {
    const bytes = instances.map((text) => Buffer.from(text));
    return { time: timeOf(overAll(bytes, (each) => JSON.parse(each.toString())), options) };
  },
  toolwire: (set, options) => {
    const { compileSchema } = requireOwn("toolwire");
    const schema = compileSchema(set.schema, { dialect: DIALECT, resources: set.resources });
    const bytes = set.instances.map((text) => Buffer.from(text));
    const verdicts = bytes.map((each) => schema.validateJson(each).verdict);
    return {
      time: timeOf(overAll(bytes, (each) => schema.validateJson(each)), options),
      valid: verdicts.filter((verdict) => verdict === "valid").length,
      unknown: verdicts.filter((verdict) => verdict === "unknown").length,
    };
  },
  read: (set, options) => {
    const schema = requireOwn("toolwire").compileSchema(true);
    const bytes = set.instances.map((text) => Buffer.from(text));
    return { time: timeOf(overAll(bytes, (each) => schema.validateJson(each)), options) };
  },
  ajv: (set, options) => ofValues(set, engineOfAjv(set), options),
  cfworker: (set, options) => ofValues(set, engineOfCfworker(set), options),
};

function ofValues({ instances }, judge, options) {
  const values = instances.map((text) => JSON.parse(text));
  const valid = values.filter((value) => judge(value)).length;
  return { time: timeOf(overAll(values, judge), options), valid };
}

function run(engine, options) {
  const found = {};
  for (const set of dataSets(options)) {
    try {
      const { time, valid, unknown } = ENGINES[engine](set, options);
      found[set.name] = time;
      found[`${set.name}#valid`] = valid;
      found[`${set.name}#unknown`] = unknown;
    } catch {
      // An engine that cannot compile a set has no number for it.
      found[set.name] = undefined;
    }
  }
  return found;
}

/** How long judging alone took, and the sets on which it came to verdicts. */
function judgedOf(medians) {
  const names = Object.keys(medians.parse).filter((name) => !name.includes("#"));
  const judged = (name) => medians.toolwire[name] - medians.read[name];
  const comparable = names.filter(
    (name) => medians.toolwire[name] !== undefined && !(medians.toolwire[`${name}#unknown`] > 0),
  );
  return { names, judged, comparable };
}

function targets(medians) {
  const { judged, comparable } = judgedOf(medians);
  const each = comparable.map((name) => Math.max(judged(name), 0.001) / medians.parse[name]);
  const value = each.length === 0 ? Infinity : geometricMean(each);
  return [{ what: "evaluation on public data sets, tape ready", value, most: 0.2, unit: "of JSON.parse", engine: "toolwire" }];
}

function report(medians) {
  const { names, judged, comparable } = judgedOf(medians);
  const rows = names.map((name) => {
    const base = medians.parse[name];
    const cells = [micro(base)];
    if (comparable.includes(name)) {
      cells.push(ratio(judged(name), base), ratio(medians.toolwire[name], medians.decode[name]));
    } else {
      cells.push("unknown", "unknown");
    }
    for (const engine of ["ajv", "cfworker"]) {
      cells.push(ratio(medians[engine][name], base));
    }
    const counts = ["toolwire", "ajv", "cfworker"].map(
      (engine) => medians[engine][`${name}#valid`] ?? "–",
    );
    return [name, ...cells, counts.join(" / ")];
  });
  const means = ["geometric mean", ""];
  if (comparable.length > 0) {
    means.push(
      mean(comparable.map((name) => Math.max(judged(name), 0.001) / medians.parse[name])),
      mean(comparable.map((name) => medians.toolwire[name] / medians.decode[name])),
    );
    for (const engine of ["ajv", "cfworker"]) {
      const known = comparable.filter((name) => medians[engine][name] !== undefined);
      means.push(mean(known.map((name) => medians[engine][name] / medians.parse[name])));
    }
    rows.push([...means, ""]);
  }
  const head = [
    "set",
    "JSON.parse of the text",
    "toolwire, judging",
    "toolwire, bytes to verdict / JP",
    "Ajv, judging",
    "cfworker, judging",
    "valid: toolwire / Ajv / cfworker",
  ];
  return `Ratios to \`JSON.parse\` of the text; formats are annotations.\n\n${table(head, rows)}`;
}

function mean(values) {
  return geometricMean(values).toFixed(2);
}

const title = "Evaluation on public data sets";
const engines = Object.keys(ENGINES);

export { engines, report, run, targets, title };
