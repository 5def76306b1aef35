/**
 * The public names of `toolwire/web`, beside what makes the core ready.
 */

import { init, initSync } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";

export { ToolwireError, init, initSync };
