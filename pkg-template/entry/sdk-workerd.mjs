/**
 * `toolwire/sdk` where WebAssembly may not be compiled from bytes.
 */

import "./wasm-workerd.mjs";

export * from "../sdk/index.js";
