// Owns where the measured packages come from: the built package, and npm's packages for tests.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** Resolves npm's packages, installed for tests. */
const requireNpm = createRequire(new URL("tests/package.json", root));

const requirePackage = createRequire(new URL("pkg/package.json", root));

/** The variable that asks for a core whose functions have their names, for profiles. */
const NAMES = "TOOLWIRE_BENCH_NAMES";

/** The core as the build has it before it is made small. */
const NAMED = "target/package/bindgen/toolwire_bg.wasm";

let named;

/** Resolves the built package by its own name. */
function requireOwn(name) {
  if (name !== "toolwire" || process.env[NAMES] === undefined || !existsSync(fileOf(NAMED))) {
    return requirePackage(name);
  }
  if (named === undefined) {
    named = requirePackage("toolwire/slim");
    named.initSync(readFileSync(fileOf(NAMED)));
  }
  return named;
}

/** A file of the repository. */
function fileOf(path) {
  return fileURLToPath(new URL(path, root));
}

/** An internal module of the built package, for what no public name measures alone. */
function internal(name) {
  return requirePackage(fileOf(`pkg/cjs/lib/${name}.cjs`));
}

function versionOf(name) {
  const path = fileOf(`tests/node_modules/${name}/package.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).version : undefined;
}

export { NAMES, fileOf, internal, requireNpm, requireOwn, versionOf };
