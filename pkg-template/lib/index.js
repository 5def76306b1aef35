/**
 * The public API of `toolwire`, without the bytes: entries say where those come from.
 */

import { checkAccess } from "./access.js";
import { connectStreams } from "./streams.js";
import { CallError, mapError } from "./call-error.js";
import { init, initSync } from "./core.js";
import { registerDiscovery } from "./discovery.js";
import { buildEnv } from "./env.js";
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
import { CallEventSchema, ResponseEnvelopeSchema, ResponseMetaSchema } from "./event-schemas.js";
import { explain } from "./explain.js";
import { flowsOf } from "./flows.js";
import { ToolGateway } from "./gateway.js";
import { LineReader, classifyLine, coreInfo, limits } from "./parts.js";
import { buildCallHandler } from "./handler.js";
import { PendingRequestMap } from "./pending.js";
import { Redacted } from "./redacted.js";
import { OperationRegistry } from "./registry.js";
import { replay } from "./replay.js";
import { Schema, compileSchema, compileSchemaAsync } from "./schema.js";
import { serveStreams } from "./serve.js";
import { ServerSession } from "./server-session.js";
import { ClientSession } from "./session.js";
import { snapshotJson } from "./snapshot.js";
import { collectErrors, formatValueErrors } from "./value-errors.js";
import { formatErrors, toAjvErrors, toBasicOutput } from "./verdict.js";

export {
  CallError,
  CallEventSchema,
  ClientSession,
  LineReader,
  OperationRegistry,
  PendingRequestMap,
  Redacted,
  ResponseEnvelopeSchema,
  ResponseMetaSchema,
  Schema,
  ToolGateway,
  ServerSession,
  ToolwireError,
  buildCallHandler,
  buildEnv,
  checkAccess,
  classifyLine,
  collectErrors,
  compileSchema,
  compileSchemaAsync,
  connectStreams,
  coreInfo,
  envelopeOfToolResult,
  explain,
  flowsOf,
  formatErrors,
  formatValueErrors,
  httpEnvelope,
  init,
  initSync,
  isResponseEnvelope,
  limits,
  localEnvelope,
  mapError,
  mcpEnvelope,
  registerDiscovery,
  replay,
  runPipeline,
  serveStreams,
  snapshotJson,
  toAjvErrors,
  toBasicOutput,
  unwrap,
  viewOfToolResult,
};
