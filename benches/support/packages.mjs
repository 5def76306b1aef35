// Owns where the measured packages come from: the built package, and npm's packages for tests.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** Resolves npm's packages, installed for tests. */
const requireNpm = createRequire(new URL("tests/package.json", root));

/** Resolves the built package by its own name. */
const requireOwn = createRequire(new URL("pkg/package.json", root));

/** A file of the repository. */
function fileOf(path) {
  return fileURLToPath(new URL(path, root));
}

/** An internal module of the built package, for what no public name measures alone. */
function internal(name) {
  return requireOwn(fileOf(`pkg/cjs/lib/${name}.cjs`));
}

function versionOf(name) {
  const path = fileOf(`tests/node_modules/${name}/package.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).version : undefined;
}

export { fileOf, internal, requireNpm, requireOwn, versionOf };
