/**
 * `toolwire/ai` for edge functions.
 */

import "./wasm-edge.mjs";

export * from "../ai/index.js";
