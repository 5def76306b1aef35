/**
 * `toolwire/sdk` for edge functions.
 */

import "./wasm-edge.mjs";

export * from "../sdk/index.js";
