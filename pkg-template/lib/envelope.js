/**
 * Owns response envelopes `{ data, meta }` on the host's side: making them, telling them apart, and
 * running results through the core's pipeline. Invariants: data that was not normalized is handed on
 * as the very value that came in; an envelope that passes through is the same object; nothing given
 * is changed, and nothing is copied that no check needs.
 */

import { isBytes, numberOf, plainOptions, refused, textOf } from "./arguments.js";
import { guard, mainInstance, release } from "./core.js";
import { parseJson } from "./json.js";
import { documentText, pick, schemaCopy, wellFormed } from "./options.js";
import { Schema, heldBy, madeValue } from "./schema.js";
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
  if (typeof operationId !== "string") {
    throw refused("operationId");
  }
  if (!Number.isFinite(timestamp)) {
    throw refused("timestamp");
  }
  return keep({ data, meta: { source: "local", operationId, timestamp } });
}

function httpEnvelope(data, meta) {
  const { statusCode, headers, contentType } = pick(metaOf(meta), HTTP_MEMBERS);
  if (!Number.isFinite(statusCode)) {
    throw refused("statusCode");
  }
  if (typeof contentType !== "string") {
    throw refused("contentType");
  }
  return keep({
    data,
    meta: { source: "http", statusCode, headers: joinedHeaders(headers), contentType },
  });
}

const HTTP_MEMBERS = ["statusCode", "headers", "contentType"];
const MCP_MEMBERS = ["isError", "content", "structuredContent", "_meta"];

/** Headers with the values of a repeated one joined by commas. */
function joinedHeaders(headers) {
  const joined = {};
  for (const [name, value] of Object.entries(metaOf(headers, "headers"))) {
    const values = Array.isArray(value) ? value : [value];
    if (!values.every((one) => typeof one === "string")) {
      throw refused("headers");
    }
    // A header may have any name, `__proto__` too.
    Object.defineProperty(joined, name, {
      value: values.join(", "),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
  return joined;
}

function mcpEnvelope(data, given) {
  const { isError, content, structuredContent, _meta } = pick(metaOf(given), MCP_MEMBERS);
  if (typeof isError !== "boolean") {
    throw refused("isError");
  }
  if (!Array.isArray(content)) {
    throw refused("content");
  }
  const meta = { source: "mcp", isError, content };
  if (structuredContent !== undefined) {
    meta.structuredContent = structuredContent;
  }
  if (_meta !== undefined) {
    meta._meta = metaOf(_meta, "_meta");
  }
  return keep({ data, meta });
}

function metaOf(value, option = "meta") {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refused(option);
  }
  return value;
}

/** Notes an envelope as ours. On a wire `undefined` is `null`, so that it stays an envelope there. */
function keep(envelope) {
  made.add(envelope);
  if (envelope.data === undefined) {
    Object.defineProperty(envelope, "toJSON", { value: nullForUndefined });
  }
  return envelope;
}

function nullForUndefined() {
  return { data: this.data ?? null, meta: this.meta };
}

function isResponseEnvelope(value) {
  return partsOf(value) !== undefined;
}

/**
 * What an envelope is made of: its meta, that as JSON text, and the descriptor of its data; undefined
 * if the value is none. Runs no code of the value.
 */
function partsOf(value) {
  if (typeof value !== "object" || value === null) {
    return undefined;
  }
  let data;
  let meta;
  try {
    if (Array.isArray(value)) {
      return undefined;
    }
    data = Object.getOwnPropertyDescriptor(value, "data");
    meta = data === undefined ? undefined : Object.getOwnPropertyDescriptor(value, "meta")?.value;
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
  return isMeta ? { data, meta, text } : undefined;
}

function unwrap(envelope) {
  if (!made.has(envelope) && partsOf(envelope) === undefined) {
    throw errorFor({ code: "invalid_arguments", reason: "not_an_envelope" });
  }
  return envelope.data;
}

function runPipeline(result, operation, options) {
  const picked = plainOptions(pick(options, ["normalize", "wrapAlways", "now"]));
  const { normalize } = picked;
  if (normalize !== undefined && !MODES.has(normalize)) {
    throw refused("normalize");
  }
  if (typeof operation !== "object" || operation === null) {
    throw refused("operation");
  }
  const { id: named, outputSchema } = pick(operation, ["id", "outputSchema"]);
  const id = textOf(named, "id");
  const now = numberOf(picked.now ?? Date.now(), "now");
  const passes = picked.wrapAlways && !made.has(result) ? undefined : partsOf(result);
  if (saysNothing(outputSchema)) {
    return unchecked(passes === undefined ? localEnvelope(result, id, now) : result);
  }
  return checked(result, passes, { id, outputSchema, normalize, now });
}

const MODES = new Set(["cast", "cast-0.34", "defaults", "off"]);

/** True for a schema without a word on the data: nobody has to look at that then. */
function saysNothing(schema) {
  return (
    schema === undefined ||
    schema === true ||
    (typeof schema === "object" &&
      schema !== null &&
      !(schema instanceof Schema) &&
      Object.getPrototypeOf(schema) === Object.prototype &&
      Object.keys(schema).length === 0)
  );
}

function unchecked(envelope) {
  return {
    envelope,
    verdict: {
      verdict: "unchecked",
      valid: false,
      errors: [],
      truncated: false,
      reason: "no_schema",
    },
    changes: [],
    contentProblems: [],
    diagnostics: [],
  };
}

function checked(result, passes, { id, outputSchema, normalize, now }) {
  // What an accessor would give is not asked for; what is no JSON cannot be judged.
  const isData = passes === undefined || Object.hasOwn(passes.data, "value");
  const data = passes === undefined ? result : passes.data.value;
  const copy = isData && data !== undefined ? copyJson(data, COPY) : {};
  const isJson = isData && copy.fault === undefined;
  const out = withOutput(isJson ? outputSchema : undefined, (output) =>
    passes === undefined
      ? output.runValue(id, copy.text, normalize, now)
      : output.runEnvelope(id, copy.text, passes.text, normalize),
  );
  const outcome = outcomeOf(out, () => {
    if (out.data !== "normalized") {
      return passes === undefined ? localEnvelope(result, id, now) : result;
    }
    const value = madeValue(out.normalized, copy.bigints);
    return passes === undefined
      ? localEnvelope(value, id, now)
      : keep({ data: value, meta: passes.meta });
  });
  if (!isJson) {
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
  const { outputSchema } = pick(tool, ["outputSchema"]);
  const picked = plainOptions(pick(options, TOOL_OPTIONS));
  const out = withOutput(outputSchema, (output) => output.runToolResult(text, picked));
  const envelope = () => {
    const data =
      out.data === "normalized" ? madeValue(out.normalized) : dataOf(out, value ?? parseJson(text));
    return keep({ data, meta: JSON.parse(out.meta) });
  };
  return outcomeOf(out, envelope);
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

/** Runs an action with the pipeline that ends in an output schema, compiled before or for this run. */
function withOutput(schema, action) {
  if (schema instanceof Schema) {
    const { instance, compiled, native, renew } = heldBy(schema);
    const text = renew === undefined ? undefined : decoder.decode(renew());
    const make = ({ Output }) =>
      text === undefined ? Output.of(compiled, native) : new Output(text, native);
    return runOutput(instance, make, action);
  }
  const { text, native } = schema === undefined ? {} : schemaCopy(schema);
  return runOutput(mainInstance(), ({ Output }) => new Output(text, native), action);
}

function runOutput(instance, make, action) {
  const output = guard(instance, make);
  try {
    return guard(instance, () => action(output));
  } finally {
    release(instance, output);
  }
}

function outcomeOf(out, makeEnvelope) {
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
  const outcome = { envelope: makeEnvelope(), verdict, changes: out.changes };
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
  const { content: blocks, structuredContent } = pick(result, ["content", "structuredContent"]);
  const content = documentText(blocks);
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
