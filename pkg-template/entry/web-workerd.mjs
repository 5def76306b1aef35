/**
 * `toolwire/web` where WebAssembly may not be compiled from bytes.
 */

import "./wasm-workerd.mjs";

export * from "../web/index.js";
