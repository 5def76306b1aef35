/** A handler's return, or a tool's result, through the pipeline, told step by step. */

import {
  type PipelineOutcome,
  ToolwireError,
  compileSchema,
  envelopeOfToolResult,
  isResponseEnvelope,
  runPipeline,
} from "toolwire/slim";
import type { PipelineInput, PipelineOutput, PipelineStep } from "./protocol.js";

const TIMESTAMP = 1_700_000_000_000;

function run(input: PipelineInput, value: unknown, outputSchema: ReturnType<typeof compileSchema> | undefined): PipelineOutcome {
  const normalize = input.normalize === "" ? undefined : input.normalize;
  if (input.kind === "handler") {
    const { wrapAlways } = input;
    return runPipeline(value, { id: "example.operation", outputSchema }, { normalize, wrapAlways, now: TIMESTAMP });
  }
  const { validation, requireStructured, parseTextFallback, protocolVersion } = input;
  return envelopeOfToolResult(
    input.value,
    { name: "example_tool", outputSchema },
    { normalize, validation, requireStructured, parseTextFallback, ...(protocolVersion === "" ? {} : { protocolVersion }) },
  );
}

function detected(input: PipelineInput, value: unknown): PipelineStep {
  if (input.kind === "tool") {
    return { name: "detect", tone: "plain", headline: "A tool's result", details: ["Read from its text, so that every digit counts."] };
  }
  const envelope = isResponseEnvelope(value);
  const details = envelope && input.wrapAlways ? ["No factory made it, and wrapAlways is set: it counts as data."] : [];
  return { name: "detect", tone: "plain", headline: envelope ? "It is an envelope" : "It is data, no envelope", details };
}

function wrapped(input: PipelineInput, value: unknown, { envelope, contentProblems }: PipelineOutcome): PipelineStep {
  const source = envelope.meta.source;
  const handedOn = input.kind === "handler" && isResponseEnvelope(value) && !input.wrapAlways;
  const details = contentProblems.map(({ index, reason }) => `Content block ${index}: ${reason}.`);
  if (input.kind === "tool") {
    details.unshift(
      envelope.meta.source === "mcp" && envelope.meta.structuredContent !== undefined
        ? "Structured content is the data."
        : "Without structured content, the data is what the text or the content gives.",
    );
  }
  return {
    name: "wrap",
    tone: "plain",
    headline: handedOn ? `Handed on, source ${source}` : `Wrapped, source ${source}`,
    details,
  };
}

function normalized({ changes, diagnostics }: PipelineOutcome): PipelineStep {
  const failed = diagnostics.find(({ code }) => code === "not_normalized");
  if (failed !== undefined) {
    const at = failed.at === undefined ? "" : ` The schema gives no value to make up at ${failed.at || "its root"}.`;
    return { name: "normalize", tone: "unknown", headline: "It could not be made to fit", details: [`Handed on as it is.${at}`] };
  }
  return {
    name: "normalize",
    tone: changes.length === 0 ? "plain" : "unknown",
    headline: changes.length === 0 ? "Nothing was changed" : `${changes.length} ${changes.length === 1 ? "change" : "changes"}`,
    details: changes.map(({ path, kind }) => `${path || "the root"}: ${kind}`),
  };
}

function validated({ verdict, violation, diagnostics }: PipelineOutcome): PipelineStep {
  const details = verdict.errors.map(({ instancePath, message }) => `${instancePath || "the root"}: ${message}`);
  if (violation !== undefined && violation.kind !== "schema") details.unshift(`Violation: ${violation.kind}.`);
  for (const { code, at } of diagnostics) {
    if (code !== "not_normalized") details.push(`Diagnostic: ${code}${at === undefined ? "" : ` at ${at || "the root"}`}.`);
  }
  const tone = verdict.verdict === "unchecked" ? "plain" : verdict.verdict;
  const reason = verdict.reason === undefined ? "" : `: ${verdict.reason}`;
  return { name: "validate", tone: violation === undefined ? tone : "invalid", headline: `${verdict.verdict}${reason}`, details };
}

/** What cannot be read or compiled is the outcome's `error`; a violation under "enforce" too. */
export function runThroughPipeline(input: PipelineInput): PipelineOutput {
  let value: unknown;
  try {
    value = JSON.parse(input.value);
  } catch {
    return { steps: [], envelope: undefined, error: "What came in is not JSON." };
  }
  const steps: PipelineStep[] = [detected(input, value)];
  let schema: ReturnType<typeof compileSchema> | undefined;
  try {
    if (input.schema.trim() !== "") schema = compileSchema(input.schema);
    const outcome = run(input, value, schema);
    steps.push(wrapped(input, value, outcome), normalized(outcome), validated(outcome));
    return { steps, envelope: JSON.stringify(outcome.envelope, null, 2), error: undefined };
  } catch (error) {
    if (!(error instanceof ToolwireError)) throw error;
    const refused = error.code === "invalid_response";
    const found = error.private?.reveal();
    const details = refused && found !== undefined ? [`For the host alone: ${JSON.stringify(found)}`] : [];
    if (refused) steps.push({ name: "validate", tone: "invalid", headline: "Thrown: invalid_response", details });
    const at = typeof error.at === "string" ? ` At ${error.at || "the root"}.` : "";
    return { steps, envelope: undefined, error: `${error.code}${error.reason === undefined ? "" : ` (${error.reason})`}: ${error.message}.${at}`.replace("..", ".") };
  } finally {
    schema?.free();
  }
}
