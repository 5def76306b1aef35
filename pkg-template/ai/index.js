/**
 * The public names of `toolwire/ai`.
 */

import { init, initSync } from "../lib/core.js";
import { ToolwireError } from "../lib/errors.js";
import { aiTools } from "./ai-sdk.js";
import { toolAliases } from "./aliases.js";
import { anthropicTools } from "./anthropic.js";
import { openaiResponsesTools, openaiTools } from "./openai.js";

export {
  ToolwireError,
  aiTools,
  anthropicTools,
  init,
  initSync,
  openaiResponsesTools,
  openaiTools,
  toolAliases,
};
