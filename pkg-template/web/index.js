/**
 * The public names of `toolwire/web`, beside what makes the core ready.
 */

import { init, initSync } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { connectHttp } from "./connect-http.js";
import { createHttpHandler } from "./http-handler.js";

export { ToolwireError, connectHttp, createHttpHandler, init, initSync };
