/**
 * The public names of `toolwire/sdk` where there are processes.
 */

import { init, initSync } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { ToolwireStdioTransport } from "./stdio.js";
import { ToolwireJsonSchemaValidator } from "./validator.js";

export { ToolwireError, ToolwireJsonSchemaValidator, ToolwireStdioTransport, init, initSync };
