/** Judging a text by a schema, under both sets of keywords, and finding the places of what is wrong. */

import { ToolwireError, compileSchema, compileSchemaAsync, type Schema, type Verdict } from "toolwire/slim";
import { type Place, locate, throughReferences } from "./locate.js";
import type {
  FitInput,
  FitOutput,
  Judgement,
  Keywords,
  ValidateInput,
  ValidateOutput,
} from "./protocol.js";

type Raw = { verdict: Verdict; schema: Schema; compileMs: number; judgeMs: number } | ToolwireError;

const textOf = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function judge(
  { schema: text, value, dialect, formats }: ValidateInput,
  keywords: Keywords,
  signal: AbortSignal,
): Promise<Raw> {
  const started = performance.now();
  let schema;
  try {
    schema = await compileSchemaAsync(text, { dialect, formats, keywords, signal });
  } catch (error) {
    if (error instanceof ToolwireError && !signal.aborted) return error;
    throw error;
  }
  const compiled = performance.now();
  try {
    const verdict = await schema.validateJsonAsync(value, { signal });
    return { verdict, schema, compileMs: compiled - started, judgeMs: performance.now() - compiled };
  } catch (error) {
    schema.free();
    throw error;
  }
}

/** The pointers into the schema that an outcome names, as pointers into the document. */
function placesInSchema(raws: readonly Raw[], text: string): (path: string) => Place | undefined {
  const document = parsed(text);
  const paths = new Set<string>();
  for (const raw of raws) {
    if (raw instanceof ToolwireError) {
      if (typeof raw.at === "string") paths.add(raw.at);
      continue;
    }
    for (const { schemaPath } of raw.verdict.errors) paths.add(schemaPath);
    for (const { at } of raw.schema.problems) paths.add(at);
  }
  const pointers = new Map([...paths].map((path) => [path, throughReferences(document, path)]));
  const { places, fault } = locate(text, pointers.values());
  const broken = document === undefined && fault !== undefined ? { from: fault, to: fault + 1 } : undefined;
  return (path) => places.get(pointers.get(path) ?? path) ?? broken;
}

function outcome(
  raw: Raw,
  inSchema: (path: string) => Place | undefined,
  inValue: (path: string) => Place | undefined,
): Judgement {
  if (raw instanceof ToolwireError) {
    const at = typeof raw.at === "string" ? raw.at : undefined;
    return {
      state: "refused",
      message: raw.message,
      code: raw.code,
      reason: raw.reason,
      at,
      place: inSchema(at ?? ""),
    };
  }
  const { verdict, schema, compileMs, judgeMs } = raw;
  return {
    state: "judged",
    verdict: verdict.verdict,
    reason: verdict.reason,
    errors: verdict.errors.map((error) => ({
      ...error,
      value: inValue(error.keyword === "json" ? "\0" : error.instancePath),
      schema: error.keyword === "json" ? undefined : inSchema(error.schemaPath),
    })),
    truncated: verdict.truncated,
    problems: schema.problems.map(({ code, at, message }) => ({ code, at, message, place: inSchema(at) })),
    dialect: schema.dialect,
    compileMs,
    judgeMs,
  };
}

/** Judges under both sets of keywords. */
export async function validate(input: ValidateInput, signal: AbortSignal): Promise<ValidateOutput> {
  const raws: Raw[] = [];
  try {
    const full = await judge(input, "full", signal);
    raws.push(full);
    const structural = await judge(input, "structural", signal);
    raws.push(structural);
    const errors = raws.flatMap((raw) => (raw instanceof ToolwireError ? [] : raw.verdict.errors));
    const found = errors.length === 0
      ? { places: new Map<string, Place>(), fault: undefined }
      : locate(textOf(input.value), errors.map(({ instancePath }) => instancePath));
    const inSchema = placesInSchema(raws, textOf(input.schema));
    const inValue = (path: string): Place | undefined => {
      if (path !== "\0") return found.places.get(path);
      const at = found.fault ?? 0;
      return { from: at, to: at + 1 };
    };
    return { full: outcome(full, inSchema, inValue), structural: outcome(structural, inSchema, inValue) };
  } finally {
    for (const raw of raws) {
      if (!(raw instanceof ToolwireError)) raw.schema.free();
    }
  }
}

/** Makes the value fit, and says what was changed. */
export async function fit(input: FitInput): Promise<FitOutput> {
  const value = parsed(textOf(input.value));
  if (value === undefined) return { state: "refused", message: "The value is not JSON." };
  let schema: Schema | undefined;
  try {
    schema = compileSchema(input.schema, { dialect: input.dialect, formats: input.formats });
    const started = performance.now();
    const fitted =
      input.mode === "defaults" ? schema.applyDefaults(value) : schema.cast(value, { mode: input.mode });
    return {
      state: "fitted",
      text: JSON.stringify(fitted.value, null, 2),
      changes: fitted.changes,
      ms: performance.now() - started,
      same: fitted.value === value,
    };
  } catch (error) {
    if (!(error instanceof ToolwireError)) throw error;
    const at = typeof error.at === "string" ? ` At ${error.at || "the root"} of the schema.` : "";
    return { state: "refused", message: `${error.message}.${at}`.replace("..", ".") };
  } finally {
    schema?.free();
  }
}
