/**
 * Owns `toolwire call`: one call of one tool, its progress, and all that it answered.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { SingleBar } from "cli-progress";
import { EXIT, UsageError } from "./exit.mjs";
import { JsonSource, laidOut, readObject } from "./json-source.mjs";
import { block, fileName, jsonText, line } from "./safe-text.mjs";
import { entriesOf, entryNamed, recorded, withClient } from "./servers.mjs";

const EXTENSIONS = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "application/pdf": "pdf",
  "application/json": "json",
  "text/plain": "txt",
};

/** Of what a server says of its progress; a bar that is wider than its line would be drawn anew. */
const LONGEST_MESSAGE = 40;

const VIOLATIONS = {
  schema: "the structured content violates the tool's own output schema",
  missing_structured_content: "the tool declares an output schema and sent no structured content",
  non_object_structured_content: "the structured content is no object",
  bad_content_block: "a content block is malformed",
  malformed_result: "the result is malformed",
};

async function call({ terminal, stop, command, options, operands }) {
  const named = command === undefined ? operands : [undefined, ...operands];
  const [server, tool, given, ...rest] = named;
  if (tool === undefined || rest.length > 0) {
    throw new UsageError(
      "call takes SERVER TOOL [ARGUMENTS], or TOOL [ARGUMENTS] -- COMMAND",
      'example: toolwire call --config mcp.json files read_file \'{"path":"a.txt"}\'',
    );
  }
  const input = await argumentsFrom(given, stop);
  const entries = await entriesOf(options, command);
  const entry = command === undefined ? entryNamed(entries, server) : entries[0];
  const [ready] = recorded([entry], options);
  const settings = { checkArguments: options.checkArguments !== false, validation: "report" };
  return withClient({ ...ready, ...settings }, { stop }, async (client) => {
    if (!client.tools.some(({ name }) => name === tool)) {
      throw new UsageError(
        `${line(client.server)} has no tool ${line(tool)}`,
        nearest(tool, client.tools),
      );
    }
    const progress = new Progress(terminal);
    let result;
    try {
      const onProgress = (event) => progress.tell(event);
      result = await client.callTool(tool, input, { signal: stop.signal, onProgress });
    } finally {
      progress.end();
    }
    const saved = options.out === undefined ? [] : save(result, tool, options.out);
    if (terminal.json) {
      printJson(terminal, client, tool, result, saved);
    } else {
      print(terminal, result, saved);
    }
    return result.isError || result.verdict === "invalid" ? EXIT.FOUND : EXIT.FINE;
  });
}

/** The arguments, from the command line, a file, or stdin. */
async function argumentsFrom(given, stop) {
  if (given === undefined) {
    return {};
  }
  return readObject(await textFrom(given, stop), "the arguments");
}

async function textFrom(given, stop) {
  if (given === "-") {
    return readAll(process.stdin, stop);
  }
  if (given.startsWith("@")) {
    try {
      return readFileSync(given.slice(1), "utf8");
    } catch {
      throw new UsageError(`cannot read the arguments from ${line(given.slice(1))}`);
    }
  }
  return given;
}

async function readAll(stream, stop) {
  const abort = () => stream.destroy();
  stop.signal.addEventListener("abort", abort, { once: true });
  const chunks = [];
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
    }
  } catch {
    stop.signal.throwIfAborted();
    throw new UsageError("cannot read the arguments from stdin");
  } finally {
    stop.signal.removeEventListener("abort", abort);
  }
  stop.signal.throwIfAborted();
  return Buffer.concat(chunks).toString("utf8");
}

/** What the tool may have been meant to be called. */
function nearest(name, tools) {
  const lower = name.toLowerCase();
  const near = tools
    .map((tool) => tool.name)
    .filter((other) => {
      const one = other.toLowerCase();
      return (
        one.includes(lower) ||
        lower.includes(one) ||
        one.replace(/[-_.]/g, "") === lower.replace(/[-_.]/g, "")
      );
    });
  const shown = (near.length > 0 ? near : tools.map((tool) => tool.name)).slice(0, 8).map(line);
  return shown.length === 0
    ? "it has no tools"
    : `${near.length > 0 ? "did you mean" : "it has"}: ${shown.join(", ")}`;
}

/** How far a call is, on a terminal's last line. */
class Progress {
  #live;
  #bar;

  constructor({ live, json }) {
    this.#live = live && !json;
  }

  tell({ progress, total, message = "" }) {
    if (!this.#live) {
      return;
    }
    this.#bar ??= this.#begin(total);
    if (total !== undefined) {
      this.#bar.setTotal(total);
    }
    this.#bar.update(progress, { message: line(message).slice(0, LONGEST_MESSAGE) });
  }

  end() {
    this.#bar?.stop();
  }

  #begin(total) {
    const format = total === undefined ? "{value} {message}" : "{bar} {value}/{total} {message}";
    const bar = new SingleBar({
      stream: process.stderr,
      format,
      barsize: 24,
      barCompleteChar: "█",
      barIncompleteChar: "░",
      clearOnComplete: true,
      // Hidden, it would stay hidden if the program is killed.
      hideCursor: false,
      // Switched off, it would stay off.
      linewrap: true,
    });
    bar.start(total ?? 0, 0, { message: "" });
    return bar;
  }
}

/** The bytes a block carries, and what they are; undefined for one that carries none. */
function payloadOf(item) {
  if ((item.type === "image" || item.type === "audio") && typeof item.data === "string") {
    return { kind: item.type, data: item.data, mimeType: item.mimeType };
  }
  if (item.type === "resource" && typeof item.resource?.blob === "string") {
    return { kind: "resource", data: item.resource.blob, mimeType: item.resource.mimeType };
  }
  return undefined;
}

/** Writes what blocks carry into the folder; gives each file with the index of its block. */
function save(result, tool, folder) {
  const saved = [];
  try {
    mkdirSync(folder, { recursive: true });
    result.content.forEach((item, index) => {
      const payload = payloadOf(item);
      if (payload !== undefined) {
        const extension = EXTENSIONS[payload.mimeType] ?? "bin";
        const bytes = Buffer.from(payload.data, "base64");
        saved.push({ index, file: writeAnew(folder, fileName(tool), extension, bytes) });
      }
    });
  } catch {
    throw new UsageError(`cannot write into the folder ${line(folder)}`);
  }
  return saved;
}

/** No file that is there is written over. */
function writeAnew(folder, name, extension, bytes) {
  for (let count = 1; ; count += 1) {
    const file = path.join(folder, `${name}-${count}.${extension}`);
    try {
      writeFileSync(file, bytes, { flag: "wx" });
      return file;
    } catch (error) {
      if (error.code !== "EEXIST") {
        throw error;
      }
    }
  }
}

function printJson(terminal, client, tool, result, saved) {
  const { verdict, verdictReason, violation, violations, truncated, contentProblems } = result;
  const findings = {
    verdict,
    verdictReason,
    violation,
    violations,
    truncated,
    contentProblems,
    saved,
  };
  const head = JSON.stringify(
    { server: client.server, tool, isError: result.isError, ...findings },
    null,
    2,
  );
  // The result as it came, to the last digit.
  const raw = laidOut(result.rawJson()).split("\n").join("\n  ");
  terminal.print(jsonText(`${head.slice(0, -2)},\n  "result": ${raw}\n}`));
}

function print(terminal, result, saved) {
  const { colors } = terminal;
  const structured =
    result.structuredContent === undefined
      ? undefined
      : new JsonSource(result.rawJson()).member("structuredContent");
  const parts = [];
  result.content.forEach((item, index) => {
    const file = saved.find((one) => one.index === index)?.file;
    const text = shownBlock(item, file, colors);
    // Servers repeat structured content as text for clients that read no other.
    if (!(
      item.type === "text" &&
      structured !== undefined &&
      repeats(item.text, result.structuredContent)
    )) {
      parts.push(text);
    }
  });
  if (structured !== undefined) {
    parts.push(`${colors.dim("structured content")}\n${jsonText(laidOut(structured))}`);
  }
  if (parts.length > 0) {
    terminal.print(parts.join("\n"));
  }
  for (const note of findings(result, terminal.errorColors)) {
    terminal.note(note);
  }
}

function repeats(text, structured) {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(structured);
  } catch {
    return false;
  }
}

function shownBlock(item, file, colors) {
  const payload = payloadOf(item);
  if (payload !== undefined) {
    const type = typeof payload.mimeType === "string" ? ` ${line(payload.mimeType)}` : "";
    const size = Buffer.byteLength(payload.data, "base64").toLocaleString("en");
    const where = file === undefined ? "--out DIR saves it" : `saved as ${line(file)}`;
    return colors.cyan(`[${payload.kind}${type}, ${size} bytes; ${where}]`);
  }
  switch (item.type) {
    case "text":
      return block(item.text);
    case "resource":
      return `${colors.cyan(`[resource ${line(item.resource?.uri ?? "")}]`)}\n${block(item.resource?.text ?? "")}`;
    case "resource_link":
      return colors.cyan(`[link ${line(item.name ?? "")}: ${line(item.uri ?? "")}]`);
    default:
      return `${colors.cyan(`[block of type ${line(item.type)}]`)}\n${jsonText(JSON.stringify(item, null, 2))}`;
  }
}

/** What was found about the result, a line each. */
function* findings(result, colors) {
  if (result.isError) {
    yield colors.red("✗ the tool says that it failed");
  }
  switch (result.verdict) {
    case "valid":
      yield colors.green("✓ the structured content satisfies the tool's output schema");
      break;
    case "invalid":
      yield colors.red(`✗ ${VIOLATIONS[result.violation] ?? "the output is not as declared"}`);
      for (const { instancePath, message } of result.violations) {
        yield `  ${instancePath === "" ? "(root)" : line(instancePath)}: ${line(message)}`;
      }
      if (result.truncated) {
        yield "  and more";
      }
      break;
    case "unknown":
      yield colors.yellow(
        `? the output cannot be judged (${line(result.verdictReason ?? "unknown")})`,
      );
      break;
    default:
  }
  for (const { index, reason } of result.contentProblems) {
    yield colors.yellow(`! content block ${index}: ${reason.replaceAll("_", " ")}`);
  }
}

export { call };
