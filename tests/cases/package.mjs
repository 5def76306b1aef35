/**
 * Owns how the runner gets at the package: through the public entries of a built package
 * directory, as an installed copy would be resolved.
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILT = fileURLToPath(new URL("../../pkg", import.meta.url));

/** `core` is the entry `toolwire`, `node` the entry `toolwire/node`, loaded when first used. */
export function loadPackage(directory = BUILT) {
  const manifest = join(directory, "package.json");
  if (!existsSync(manifest)) {
    throw new Error(`${directory} holds no package; build it with \`cargo xtask build\``);
  }
  // A package may name itself, so this resolves by its own `exports`, nothing else.
  const require = createRequire(manifest);
  return {
    core: require("toolwire"),
    get node() {
      return require("toolwire/node");
    },
  };
}
