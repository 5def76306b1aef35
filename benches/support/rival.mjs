// Owns the crate `jsonschema` as WebAssembly, which `cargo xtask bench` builds from benches/rival. Where
// it could not be built, `built` is false and the measures go on without it.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileOf } from "./packages.mjs";

const FILE = fileOf("target/bench/rival/pkg/rival.js");

const built = existsSync(FILE);

const LABEL = "`jsonschema` in wasm";

/** The crate's version, as its lock file has it. */
function rivalVersion() {
  const lock = readFileSync(fileOf("benches/rival/Cargo.lock"), "utf8");
  return /name = "jsonschema"\nversion = "([^"]+)"/.exec(lock)?.[1];
}

/**
 * A schema from its text; `isValid` takes the bytes of a text, `read` and `judge` do it in two steps.
 * `resources` are further documents, by their addresses.
 */
function rivalOf(schema, dialect = "2020-12", resources = {}) {
  const { Rival } = createRequire(import.meta.url)(FILE);
  return new Rival(schema, dialect, JSON.stringify(resources));
}

export { LABEL, built, rivalOf, rivalVersion };
