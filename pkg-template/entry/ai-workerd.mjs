/**
 * `toolwire/ai` where WebAssembly may not be compiled from bytes.
 */

import "./wasm-workerd.mjs";

export * from "../ai/index.js";
