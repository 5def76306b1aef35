/**
 * Owns response envelopes `{ data, meta }` on the host's side: making them, telling them apart, and
 * running results through the core's pipeline. Invariants: data is handed on as the very value that
 * came in; an envelope that passes through is the same object; nothing given is changed.
 */

import { isBytes, plainOptions, refused, textOf } from "./arguments.js";
import { guard, mainInstance, release } from "./core.js";
import { parseJson } from "./json.js";
import { documentText, pick, wellFormed } from "./options.js";
import { errorFor } from "./sentences.js";
import { copyJson } from "./snapshot.js";
import { withoutIndexes } from "./tool-result.js";
import { violationOf } from "./verdict.js";

/** Envelopes that a factory of ours made: even `wrapAlways` lets them through. */
const made = new WeakSet();

const TOOL_OPTIONS = [
  "normalize",
  "validation",
  "requireStructured",
  "parseTextFallback",
  "protocolVersion",
];

/** Copies for judging: as large and deep as the host's own values may be. */
const COPY = { budget: 134_217_728, maxDepth: 65_536, omitUndefined: true, bigintDigits: true };

const decoder = new TextDecoder("utf-8", { fatal: true });

function localEnvelope(data, operationId, timestamp = Date.now()) {
  return keep({ data, meta: { source: "local", operationId, timestamp } });
}

function httpEnvelope(data, { statusCode, headers, contentType }) {
  const joined = {};
  for (const [name, value] of Object.entries(headers)) {
    joined[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return keep({ data, meta: { source: "http", statusCode, headers: joined, contentType } });
}

function mcpEnvelope(data, { isError, content, structuredContent, _meta }) {
  const meta = { source: "mcp", isError, content };
  if (structuredContent !== undefined) {
    meta.structuredContent = structuredContent;
  }
  if (_meta !== undefined) {
    meta._meta = _meta;
  }
  return keep({ data, meta });
}

function keep(envelope) {
  made.add(envelope);
  return envelope;
}

function isResponseEnvelope(value) {
  return metaText(value) !== undefined;
}

/** JSON text of an envelope's meta; undefined if the value is none. Runs no code of the value. */
function metaText(value) {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  let meta;
  try {
    if (Array.isArray(value) || Object.getOwnPropertyDescriptor(value, "data") === undefined) {
      return undefined;
    }
    meta = Object.getOwnPropertyDescriptor(value, "meta")?.value;
  } catch {
    // A proxy that refuses to be read is no envelope.
    return undefined;
  }
  if (typeof meta !== "object" || meta === null) {
    return undefined;
  }
  const { text } = copyJson(meta, COPY);
  const isMeta =
    text !== undefined && guard(mainInstance(), (glue) => glue.isEnvelopeMeta(text));
  return isMeta ? text : undefined;
}

function unwrap(envelope) {
  return envelope.data;
}

function runPipeline(result, operation, options) {
  const picked = plainOptions(pick(options, ["normalize", "wrapAlways", "now"]));
  picked.now ??= Date.now();
  if (typeof operation !== "object" || operation === null) {
    throw refused("operation");
  }
  const { outputSchema } = operation;
  const id = textOf(operation.id, "id");
  const meta = picked.wrapAlways && !made.has(result) ? undefined : metaText(result);
  const data = meta === undefined ? result : result.data;
  // Without a schema nobody looks at the data; what is no JSON cannot be judged.
  const copy = data === undefined || outputSchema === undefined ? {} : copyJson(data, COPY);
  const schema = copy.fault === undefined ? outputSchema : undefined;
  const out = withOutput(schema, (output) =>
    meta === undefined
      ? output.run(id, copy.text, picked)
      : output.runEnvelope(id, copy.text, meta, picked),
  );
  const envelope = out.passedThrough ? result : { data: result, meta: JSON.parse(out.meta) };
  const outcome = outcomeOf(out, envelope);
  if (copy.fault !== undefined) {
    outcome.verdict.verdict = "unknown";
    outcome.verdict.reason = "not_json";
    outcome.diagnostics.push({ code: "output_unknown" });
  }
  return outcome;
}

function envelopeOfToolResult(result, tool, options) {
  const { text, value } = readResult(result);
  if (typeof tool !== "object" || tool === null) {
    throw refused("tool");
  }
  const picked = plainOptions(pick(options, TOOL_OPTIONS));
  const out = withOutput(tool.outputSchema, (output) => output.runToolResult(text, picked));
  const parsed = value ?? parseJson(text);
  return outcomeOf(out, { data: dataOf(out, parsed), meta: JSON.parse(out.meta) });
}

/** A tool's result as JSON text, and as the host's own value if it is one. */
function readResult(result) {
  if (typeof result === "string") {
    return { text: wellFormed(result) };
  }
  if (isBytes(result)) {
    try {
      return { text: decoder.decode(result) };
    } catch {
      throw errorFor({ code: "invalid_arguments", reason: "not_json" });
    }
  }
  return { text: documentText(result), value: result };
}

/** Where the core says that the data stands. */
function dataOf(out, parsed) {
  switch (out.data) {
    case "structured":
      return parsed.structuredContent;
    case "content": {
      const content = parsed.content ?? [];
      return withoutIndexes(content, out.dropped);
    }
    case "text":
      return JSON.parse(parsed.content[out.block].text);
    default:
      return parsed;
  }
}

/** Runs an action with an output schema compiled in the core, for this run only. */
function withOutput(schema, action) {
  const text = schema === undefined ? undefined : documentText(schema);
  const instance = mainInstance();
  const output = guard(instance, ({ Output }) => new Output(text));
  try {
    return guard(instance, () => action(output));
  } finally {
    release(instance, output);
  }
}

function outcomeOf(out, envelope) {
  const errors = out.errors.map(violationOf);
  const verdict = {
    verdict: out.verdict,
    valid: out.verdict === "valid",
    errors,
    truncated: out.truncated,
  };
  if (out.reason !== undefined) {
    verdict.reason = out.reason;
  }
  const outcome = { envelope, verdict, changes: [] };
  if (out.violation !== undefined) {
    outcome.violation = { kind: out.violation, errors: out.violation === "schema" ? errors : [] };
  }
  outcome.contentProblems = out.contentProblems;
  outcome.diagnostics = out.diagnostics.map(({ code, at }) =>
    at === undefined ? { code } : { code, at },
  );
  return outcome;
}

function viewOfToolResult(result, view) {
  if (typeof result !== "object" || result === null) {
    throw refused("result");
  }
  const shown = textOf(view, "view");
  const content = documentText(result.content);
  const { structuredContent } = result;
  const structured = structuredContent === undefined ? undefined : documentText(structuredContent);
  return guard(mainInstance(), (glue) => glue.viewOfToolResult(content, structured, shown));
}

export {
  envelopeOfToolResult,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  runPipeline,
  unwrap,
  viewOfToolResult,
};
