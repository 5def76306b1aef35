/**
 * `toolwire/ai`: tools for models, ready at import with the same bytes as `toolwire`.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, setBytes } from "../lib/core.js";

export * from "../ai/index.js";

setBytes(() => decodeBase64(wasmBase64));
