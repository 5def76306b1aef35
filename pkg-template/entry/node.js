/**
 * `toolwire/node`: servers as child processes, ready at import with the same bytes as `toolwire`.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, setBytes } from "../lib/core.js";
export * from "../node/index.js";

setBytes(() => decodeBase64(wasmBase64));
