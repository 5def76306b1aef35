/**
 * Owns `toolwire validate`: files against a schema, one after another, each told of as soon as it
 * was judged. Of a file of JSON lines only one line is held at a time.
 */
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { ToolwireError, compileSchemaAsync } from "toolwire";
import { EXIT, UsageError } from "./exit.mjs";
import { JsonSource } from "./json-source.mjs";
import { line } from "./safe-text.mjs";

const NEW_LINE = 0x0a;

async function validate({ terminal, stop, options, operands }) {
  const [schemaFile, ...files] = operands;
  if (schemaFile === undefined || files.length === 0) {
    throw new UsageError(
      "validate takes a schema and at least one file",
      "example: toolwire validate order.schema.json orders/*.json",
    );
  }
  const schema = await compiled(schemaFile, options, stop);
  for (const { code, at, message } of schema.problems) {
    terminal.note(
      `${line(schemaFile)}: ${terminal.errorColors.yellow("note")} ${line(message)} (${code} at ${line(at) || "(root)"})`,
    );
  }
  const report = new Report(terminal);
  for (const file of files) {
    try {
      const judged = options.ndjson ? linesOf(file, schema, stop) : wholeOf(file, schema, stop);
      for await (const one of judged) {
        report.tell({ file, ...one });
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) {
        throw error;
      }
      report.unreadable(file);
    }
  }
  return report.end();
}

/** A file that cannot be read. The others are judged all the same. */
class Unreadable extends Error {}

async function compiled(file, { dialect, formats, maxErrors }, stop) {
  const text = await read(file, stop).catch((error) => {
    throw error instanceof Unreadable
      ? new UsageError(`cannot read the schema ${line(file)}`)
      : error;
  });
  const given = { dialect, formats, maxErrors };
  const known = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  try {
    return await compileSchemaAsync(text, { ...known, signal: stop.signal });
  } catch (error) {
    if (!(error instanceof ToolwireError) || error.code !== "schema_error") {
      throw error;
    }
    const source = new JsonSource(text.toString("utf8"));
    const at = source.brokenAt ?? source.positionOf(error.at ?? "");
    const place = at === undefined ? "" : `:${at.line}:${at.column}`;
    const pointer = error.at === undefined ? "" : ` (at ${line(error.at) || "(root)"})`;
    throw new UsageError(`${line(file)}${place}: ${error.message}${pointer}`);
  }
}

async function read(file, stop) {
  if (file === "-") {
    const chunks = [];
    for await (const chunk of streamOf(file, stop)) {
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(file, { signal: stop.signal });
  } catch {
    stop.signal.throwIfAborted();
    throw new Unreadable();
  }
}

async function* streamOf(file, stop) {
  const stream = file === "-" ? process.stdin : createReadStream(file);
  const abort = () => stream.destroy();
  stop.signal.addEventListener("abort", abort, { once: true });
  try {
    yield* stream;
  } catch {
    stop.signal.throwIfAborted();
    throw new Unreadable();
  } finally {
    stop.signal.removeEventListener("abort", abort);
  }
  stop.signal.throwIfAborted();
}

async function* wholeOf(file, schema, stop) {
  const text = await read(file, stop);
  const verdict = await schema.validateJsonAsync(text, { signal: stop.signal });
  yield told(verdict, text, 1);
}

async function* linesOf(file, schema, stop) {
  let number = 0;
  for await (const text of splitLines(streamOf(file, stop))) {
    number += 1;
    if (text.some((byte) => byte > 0x20)) {
      yield { line: number, ...told(schema.validateJson(text), text, number) };
    }
  }
}

async function* splitLines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, start)) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]);
      parts = [];
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
  }
  const rest = Buffer.concat(parts);
  if (rest.length > 0) {
    yield rest;
  }
}

/** A verdict whose errors say where in the file they are. `first` is the number of its first line. */
function told({ verdict, errors, truncated, reason }, text, first) {
  const source = errors.length === 0 ? undefined : new JsonSource(text.toString("utf8"));
  const located = errors.map((error) => {
    const place =
      error.keyword === "json" ? source.brokenAt : source.positionOf(error.instancePath);
    return { ...error, line: place && place.line + first - 1, column: place?.column };
  });
  return { verdict, errors: located, truncated, reason };
}

/** Tells of each document, and counts. */
class Report {
  #terminal;
  #counts = { valid: 0, invalid: 0, unknown: 0 };
  #unreadable = 0;

  constructor(terminal) {
    this.#terminal = terminal;
  }

  tell(one) {
    this.#counts[one.verdict] += 1;
    if (this.#terminal.json) {
      this.#terminal.printJsonLine(one);
    } else {
      this.#print(one);
    }
  }

  unreadable(file) {
    this.#unreadable += 1;
    if (this.#terminal.json) {
      this.#terminal.printJsonLine({
        file,
        verdict: "unknown",
        errors: [],
        truncated: false,
        reason: "unreadable",
      });
    }
    this.#terminal.note(`${this.#terminal.errorColors.red("error")}: cannot read ${line(file)}`);
  }

  end() {
    const { valid, invalid, unknown } = this.#counts;
    if (!this.#terminal.json) {
      const parts = [`${valid} valid`, `${invalid} invalid`];
      this.#terminal.note([...parts, ...(unknown > 0 ? [`${unknown} not judged`] : [])].join(", "));
    }
    if (this.#unreadable > 0) {
      return EXIT.USAGE;
    }
    return invalid + unknown > 0 ? EXIT.FOUND : EXIT.FINE;
  }

  #print({ file, line: number, verdict, errors, truncated, reason }) {
    const { colors } = this.#terminal;
    const name = number === undefined ? line(file) : `${line(file)}:${number}`;
    if (verdict === "valid") {
      // Of a million good lines nobody wants to read each.
      if (number === undefined) {
        this.#terminal.print(`${colors.green("valid")}    ${name}`);
      }
      return;
    }
    if (verdict === "unknown") {
      this.#terminal.print(
        `${colors.yellow("unknown")}  ${name}: cannot be judged (${line(reason ?? "")})`,
      );
      return;
    }
    this.#terminal.print(`${colors.red("invalid")}  ${name}`);
    for (const error of errors) {
      const place =
        error.line === undefined ? line(file) : `${line(file)}:${error.line}:${error.column}`;
      const pointer = error.instancePath === "" ? "(root)" : line(error.instancePath);
      this.#terminal.print(
        `  ${place}: ${pointer} ${line(error.message)} ${colors.dim(`(${error.keyword})`)}`,
      );
    }
    if (truncated) {
      this.#terminal.print("  and more; --max-errors shows them");
    }
  }
}

export { validate };
