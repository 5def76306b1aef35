// Owns the public data sets: those found in npm packages, and those of a folder that is given, laid
// out as `NAME/schema.json` and `NAME/instances.jsonl` (one JSON text a line).
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileOf } from "./packages.mjs";
import { gathered } from "./tool-schemas.mjs";

const MDN = ["at-rules", "functions", "properties", "selectors", "syntaxes", "types", "units"];
const MDN_BASE = "https://data-sets.invalid/css/";

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** MDN's data about CSS, each file an instance of the schema beside it. */
function mdnSets() {
  const folder = fileOf("tests/node_modules/mdn-data/css");
  const definitions = readJson(join(folder, "definitions.json"));
  return MDN.map((name) => ({
    name: `mdn-data ${name}`,
    // The files mean each other by relative addresses.
    schema: { ...readJson(join(folder, `${name}.schema.json`)), $id: `${MDN_BASE}${name}` },
    resources: { [`${MDN_BASE}definitions.json`]: definitions },
    instances: [readFileSync(join(folder, `${name}.json`), "utf8")],
  }));
}

/** The schemas of real tools, each an instance of draft-07's meta-schema. */
function toolSet() {
  const schemas = gathered();
  const path = fileOf("tests/node_modules/ajv/dist/refs/json-schema-draft-07.json");
  const schema = { ...readJson(path), $id: "https://data-sets.invalid/draft-07" };
  return { name: "tool schemas / draft-07", schema, resources: {}, instances: schemas };
}

function folderSets(folder) {
  const names = readdirSync(folder).filter((name) =>
    ["schema.json", "instances.jsonl"].every((file) => existsSync(join(folder, name, file))),
  );
  return names.sort().map((name) => ({
    name,
    schema: readJson(join(folder, name, "schema.json")),
    resources: {},
    instances: readFileSync(join(folder, name, "instances.jsonl"), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== ""),
  }));
}

/** Every set: name, schema, other documents by address, and instances as texts. */
function dataSets({ data }) {
  return data === undefined ? [...mdnSets(), toolSet()] : folderSets(data);
}

export { dataSets };
