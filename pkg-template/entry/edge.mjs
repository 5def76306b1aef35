/**
 * `toolwire` for edge functions.
 */

import "./wasm-edge.mjs";

export * from "../lib/index.js";
