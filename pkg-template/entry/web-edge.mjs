/**
 * `toolwire/web` for edge functions.
 */

import "./wasm-edge.mjs";

export * from "../web/index.js";
