/**
 * `toolwire/web` where WebAssembly may not be compiled from bytes.
 */

import module from "../../toolwire.wasm";
import { setBytes } from "../lib/core.js";

setBytes(() => module);

export * from "../web/index.js";
