/**
 * The public API of `toolwire`, without the bytes: entries say where those come from.
 */

import { connectStreams } from "./streams.js";
import { init, initSync } from "./core.js";
import { ToolwireError } from "./errors.js";
import {
  envelopeOfToolResult,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  runPipeline,
  unwrap,
  viewOfToolResult,
} from "./envelope.js";
import { explain } from "./explain.js";
import { flowsOf } from "./flows.js";
import { LineReader, classifyLine, coreInfo, limits } from "./parts.js";
import { Redacted } from "./redacted.js";
import { replay } from "./replay.js";
import { Schema, compileSchema, compileSchemaAsync } from "./schema.js";
import { serveStreams } from "./serve.js";
import { ServerSession } from "./server-session.js";
import { ClientSession } from "./session.js";
import { snapshotJson } from "./snapshot.js";
import { formatErrors, toAjvErrors, toBasicOutput } from "./verdict.js";

export {
  ClientSession,
  LineReader,
  Redacted,
  Schema,
  ServerSession,
  ToolwireError,
  classifyLine,
  compileSchema,
  compileSchemaAsync,
  connectStreams,
  coreInfo,
  envelopeOfToolResult,
  explain,
  flowsOf,
  formatErrors,
  httpEnvelope,
  init,
  initSync,
  isResponseEnvelope,
  limits,
  localEnvelope,
  mcpEnvelope,
  replay,
  runPipeline,
  serveStreams,
  snapshotJson,
  toAjvErrors,
  toBasicOutput,
  unwrap,
  viewOfToolResult,
};
