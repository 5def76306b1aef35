/**
 * `toolwire/sdk` where there are processes: its stdio transport starts them.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, setBytes } from "../lib/core.js";

export * from "../sdk/node.js";

setBytes(() => decodeBase64(wasmBase64));
