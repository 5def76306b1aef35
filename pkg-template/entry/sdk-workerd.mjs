/**
 * `toolwire/sdk` where WebAssembly may not be compiled from bytes.
 */

import module from "../../toolwire.wasm";
import { init, initSync, setBytes } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { ToolwireJsonSchemaValidator } from "../sdk/index.js";

setBytes(() => module);

export { ToolwireError, ToolwireJsonSchemaValidator, init, initSync };
