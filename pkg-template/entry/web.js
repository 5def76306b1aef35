/**
 * `toolwire/web`: MCP over HTTP with `fetch`, ready at import with the same bytes as `toolwire`.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, setBytes } from "../lib/core.js";

export * from "../web/index.js";

setBytes(() => decodeBase64(wasmBase64));
