// Compiling the schemas of real tools in a fresh process, once, from their JSON texts.
import { repeated } from "../support/tool-schemas.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { LABEL, built, rivalOf } from "../support/rival.mjs";
import { micro, ratio, table } from "../support/report.mjs";

const DRAFT_07 = /"\$schema":"http:\/\/json-schema\.org\/draft-0[67]/;

/** Compilers of one text. Loading the package is not timed; everything after it is. */
const ENGINES = {
  toolwire: {
    label: "toolwire",
    open: () => {
      const { compileSchema } = requireOwn("toolwire");
      return (text) => compileSchema(text);
    },
  },
  ajv: {
    label: "Ajv 8, as the official SDK v2 sets it up",
    open: () => {
      const { Ajv } = requireNpm("ajv");
      const { Ajv2020 } = requireNpm("ajv/dist/2020.js");
      const addFormats = requireNpm("ajv-formats").default;
      const options = { strict: false, validateSchema: false, allErrors: true, logger: false };
      const engines = [Ajv, Ajv2020].map((Engine) => addFormats(new Engine(options)));
      return (text) => engines[DRAFT_07.test(text) ? 0 : 1].compile(JSON.parse(text));
    },
  },
  cfworker: {
    label: "@cfworker/json-schema",
    open: () => {
      const { Validator } = requireNpm("@cfworker/json-schema");
      return (text) => new Validator(JSON.parse(text), DRAFT_07.test(text) ? "7" : "2020-12");
    },
  },
  ...(built && {
    jsonschema: {
      label: LABEL,
      open: () => {
        // Loading its module is loading the package.
        rivalOf("{}").free();
        return (text) => rivalOf(text);
      },
    },
  }),
};

function counts({ quick }) {
  return quick ? [1, 100] : [1, 100, 1000];
}

function run(engine, options) {
  const compile = ENGINES[engine].open();
  const times = {};
  const kept = [];
  const all = repeated(Math.max(...counts(options)));
  const started = performance.now();
  for (const count of counts(options)) {
    // Each count goes on from the last: all is measured in one cold process.
    while (kept.length < count) {
      kept.push(compile(all[kept.length]));
    }
    times[`${count}`] = (performance.now() - started) * 1000;
  }
  return times;
}

function report(medians) {
  const rows = Object.keys(medians.toolwire).map((count) => [
    count,
    ...engines.map((engine) => micro(medians[engine][count])),
    ratio(medians.ajv[count], medians.toolwire[count]),
  ]);
  const labels = engines.map((engine) => ENGINES[engine].label);
  return table(["schemas", ...labels, "times faster than Ajv"], rows);
}

function targets({ toolwire }) {
  const [name] = Object.keys(toolwire).slice(-1);
  const value = toolwire[name] / 1000;
  return [{ what: `compile ${name} tool schemas, cold`, value, most: 0.09 * name, unit: "ms", engine: "toolwire" }];
}

const title = "Compiling real tool schemas, cold";
const engines = Object.keys(ENGINES);

export { engines, report, run, targets, title };
