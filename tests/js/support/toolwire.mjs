// The built package, by the names its users import.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../../pkg/package.json", import.meta.url));

export const toolwire = require("toolwire");
export const node = require("toolwire/node");
export const web = require("toolwire/web");

/** The file that `require("toolwire/node")` means, for programs of their own. */
export const nodeEntry = require.resolve("toolwire/node");
