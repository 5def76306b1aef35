/**
 * `toolwire`: everything, with the bytes inlined. Ready at import, synchronously, wherever
 * WebAssembly may be compiled from bytes.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, setBytes } from "../lib/core.js";

export * from "../lib/index.js";

setBytes(() => decodeBase64(wasmBase64));
