/**
 * The public names of `toolwire/sdk` where no process can be started.
 */

import { init, initSync } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { ToolwireStdioTransport } from "./no-processes.js";
import { ToolwireJsonSchemaValidator } from "./validator.js";

export { ToolwireError, ToolwireJsonSchemaValidator, ToolwireStdioTransport, init, initSync };
