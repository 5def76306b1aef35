/**
 * `toolwire/sdk`: adapters for the official SDK, over the same core as `toolwire`, with its bytes.
 */

import { wasmBase64 } from "../lib/bytes.js";
import { decodeBase64, init, initSync, setBytes } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { ToolwireJsonSchemaValidator } from "../sdk/index.js";

setBytes(() => decodeBase64(wasmBase64));

export { ToolwireError, ToolwireJsonSchemaValidator, init, initSync };
