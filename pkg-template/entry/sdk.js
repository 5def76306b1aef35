/**
 * `toolwire/sdk` where no process can be started: adapters for the official SDK, over the same core
 * as `toolwire`, with its bytes.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, setBytes } from "../lib/core.js";

export * from "../sdk/index.js";

setBytes(() => decodeBase64(wasmBase64));
