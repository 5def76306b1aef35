/**
 * The public names of `toolwire/node`.
 */
import { parseConfig } from "../lib/config.js";
import { init, initSync } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { connectAll } from "./connect-all.js";
import { connect } from "./connect.js";
import { loadConfig } from "./load-config.js";
import { serveStdio } from "./serve-stdio.js";

export {
  ToolwireError,
  connect,
  connectAll,
  init,
  initSync,
  loadConfig,
  parseConfig,
  serveStdio,
};
