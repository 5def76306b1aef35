// From nothing to the first verdict, in a fresh process: loading the package, one schema, one value.
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { micro, table } from "../support/report.mjs";

const SCHEMA = {
  type: "object",
  properties: { id: { type: "integer" }, name: { type: "string" } },
  required: ["id"],
};
const TEXT = '{"id":1,"name":"one"}';

const ENGINES = {
  toolwire: {
    label: "toolwire",
    load: () => requireOwn("toolwire"),
    judge: ({ compileSchema }) => compileSchema(SCHEMA).validateJson(TEXT).valid,
  },
  ajv: {
    label: "Ajv 8 (2020)",
    load: () => requireNpm("ajv/dist/2020.js"),
    judge: ({ Ajv2020 }) => new Ajv2020().compile(SCHEMA)(JSON.parse(TEXT)),
  },
  cfworker: {
    label: "@cfworker/json-schema",
    load: () => requireNpm("@cfworker/json-schema"),
    judge: ({ Validator }) => new Validator(SCHEMA, "2020-12").validate(JSON.parse(TEXT)).valid,
  },
  v1: {
    label: "official SDK v1, client with its Ajv",
    load: () => {
      requireNpm("@modelcontextprotocol/sdk/client/index.js");
      return requireNpm("@modelcontextprotocol/sdk/validation/ajv");
    },
    judge: ({ AjvJsonSchemaValidator }) =>
      new AjvJsonSchemaValidator().getValidator(SCHEMA)(JSON.parse(TEXT)).valid,
  },
};

function run(engine) {
  const { load, judge } = ENGINES[engine];
  const started = performance.now();
  const loaded = load();
  const ready = performance.now();
  if (!judge(loaded)) {
    throw new Error("the value must be valid");
  }
  return { load: (ready - started) * 1000, judge: (performance.now() - ready) * 1000 };
}

function report(medians) {
  const rows = engines.map((engine) => [
    ENGINES[engine].label,
    micro(medians[engine].load),
    micro(medians[engine].judge),
  ]);
  return table(["engine", "loading", "first schema and first verdict"], rows);
}

const title = "Cold start";
const engines = Object.keys(ENGINES);

export { engines, report, run, title };
