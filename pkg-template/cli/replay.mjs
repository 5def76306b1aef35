/**
 * Owns `toolwire replay`: a recorded session lived once more and told as it went, or the first
 * difference between two.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { diffArrays } from "diff";
import { replay as liveAgain } from "toolwire";
import { EXIT, UsageError } from "./exit.mjs";
import { block, cut, line } from "./safe-text.mjs";

/** Unchanged lines shown around a difference. */
const AROUND = 3;

/** What is shown of one line; the rest is counted. */
const LONGEST = 2_000;

async function replay({ terminal, stop, operands }) {
  const [file, other, ...rest] = operands;
  if (file === undefined || rest.length > 0) {
    throw new UsageError(
      "replay takes one recording, or two to compare",
      "a recording is made by --record FILE",
    );
  }
  stop.release();
  const story = await lived(file, stop);
  if (other === undefined) {
    return tell(story, file, terminal);
  }
  return compare(story, await lived(other, stop), [file, other], terminal);
}

/** What comes of a recording. It is replayed twice: the same must come of it. */
async function lived(file, stop) {
  let text;
  try {
    text = await readFile(file, { encoding: "utf8", signal: stop.signal });
  } catch {
    stop.signal.throwIfAborted();
    throw new UsageError(`cannot read the recording ${line(file)}`);
  }
  const once = storyOf(text);
  return { ...once, same: once.digest === storyOf(text).digest };
}

function storyOf(text) {
  const { output, events } = liveAgain(text);
  const frames = output.map((frame) => Buffer.from(frame).toString("utf8").trimEnd());
  const reports = events.map(eventJson);
  const hash = createHash("sha256");
  for (const part of [...frames, "", ...reports.map((report) => JSON.stringify(report))]) {
    hash.update(`${part}\n`);
  }
  return { frames, reports, moments: momentsOf(text, frames), digest: hash.digest("hex") };
}

/** An event as plain JSON. What a diagnostic shows was masked when it was recorded. */
function eventJson(event) {
  const plain = { ...event };
  if (event.error !== undefined) {
    plain.error = event.error.toJSON();
  }
  if (typeof event.detail?.reveal === "function") {
    plain.detail = event.detail.reveal();
  }
  return JSON.parse(
    JSON.stringify(plain, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
  );
}

/** What happened, in its order: `{ t, way, text }`, way "→" to the server, "←" from it, "·" else. */
function momentsOf(text, frames) {
  const records = text
    .split("\n")
    .filter((row) => row.trim() !== "")
    .slice(1)
    .map((row) => JSON.parse(row));
  const paced = records.some(({ in: kind }) => kind === "take" || kind === "takeMessage");
  const moments = [];
  let [next, t] = [0, undefined];
  for (const record of records) {
    t = record.t ?? t;
    switch (record.in) {
      case "take":
      case "takeMessage":
        if (next < frames.length) {
          moments.push({ t, way: "→", text: frames[next] });
          next += 1;
        }
        break;
      case "chunk":
      case "message":
      case "stderr":
        for (const part of decoded(record.data ?? record.text)) {
          moments.push({ t, way: record.in === "stderr" ? "stderr" : "←", text: part });
        }
        break;
      case "advance":
        break;
      default: {
        const { in: kind, t: _, done: __, masked: ___, ...facts } = record;
        moments.push({
          t,
          way: "·",
          text: Object.keys(facts).length === 0 ? kind : `${kind} ${JSON.stringify(facts)}`,
        });
      }
    }
  }
  if (!paced) {
    moments.push(...frames.map((frame) => ({ t, way: "→", text: frame })));
  }
  return moments;
}

function decoded(data) {
  const text = Buffer.from(data, "base64").toString("utf8");
  return text.split("\n").filter((part) => part.trim() !== "");
}

function tell({ frames, reports, moments, digest, same }, file, terminal) {
  if (terminal.json) {
    const output = frames.map((frame) => parsed(frame));
    terminal.printJson({ file, output, events: reports, digest, deterministic: same });
  } else {
    const { colors } = terminal;
    const start = moments.find(({ t }) => t !== undefined)?.t ?? 0;
    const paint = { "→": colors.cyan, "←": colors.green, "·": colors.dim, stderr: colors.yellow };
    for (const { t, way, text } of moments) {
      const at = t === undefined ? "" : `${(t - start).toFixed(0)} ms`;
      const most = terminal.isScreen ? terminal.width - 12 - way.length : LONGEST;
      terminal.print(`${colors.dim(at.padStart(9))}  ${paint[way](way)} ${cut(text, most)}`);
    }
    terminal.print(`\n${colors.bold("events")}`);
    for (const report of reports) {
      terminal.print(`  ${cut(wordsOf(report), terminal.isScreen ? terminal.width - 2 : LONGEST)}`);
    }
    const counts = `${frames.length} frames sent, ${reports.length} events`;
    terminal.print(`\n${counts}; sha256 of both ${digest}`);
  }
  if (!same) {
    terminal.note(terminal.errorColors.red("✗ a second replay came out differently"));
  }
  return same ? EXIT.FINE : EXIT.FOUND;
}

function parsed(frame) {
  try {
    return JSON.parse(frame);
  } catch {
    return frame;
  }
}

function wordsOf({ type, ...facts }) {
  return Object.keys(facts).length === 0 ? type : `${type} ${JSON.stringify(facts)}`;
}

function shortened(text) {
  return text.length <= LONGEST
    ? text
    : `${text.slice(0, LONGEST)}… (${text.length - LONGEST} more)`;
}

function compare(one, two, files, terminal) {
  const parts = [
    ["sent", one.frames, two.frames],
    ["events", one.reports.map(wordsOf), two.reports.map(wordsOf)],
  ].map(([name, before, after]) => ({ name, changes: diffArrays(before, after) }));
  const same = one.digest === two.digest;
  if (terminal.json) {
    const list = parts.map(({ name, changes }) => ({
      part: name,
      changes: changes.map(({ added, removed, value }) => ({
        kind: added ? "added" : removed ? "removed" : "same",
        lines: value,
      })),
    }));
    terminal.printJson({
      files,
      same,
      digests: [one.digest, two.digest],
      differences: same ? [] : list,
    });
    return same ? EXIT.FINE : EXIT.FOUND;
  }
  const { colors } = terminal;
  if (same) {
    terminal.print(
      `${colors.green("the same")}: ${one.frames.length} frames sent, ${one.reports.length} events`,
    );
    return EXIT.FINE;
  }
  terminal.print(
    `${colors.red(`--- ${line(files[0])}`)}\n${colors.green(`+++ ${line(files[1])}`)}`,
  );
  for (const { name, changes } of parts) {
    if (changes.some(({ added, removed }) => added || removed)) {
      terminal.print(colors.bold(`@@ ${name} @@`));
      printChanges(changes, terminal);
    }
  }
  return EXIT.FOUND;
}

function printChanges(changes, terminal) {
  const { colors } = terminal;
  changes.forEach(({ added, removed, value }, index) => {
    if (added || removed) {
      const paint = added ? colors.green : colors.red;
      value.forEach((text) =>
        terminal.print(
          paint(`${added ? "+" : "-"} ${shortened(block(text).replaceAll("\n", " "))}`),
        ),
      );
      return;
    }
    const head = index === 0 ? [] : value.slice(0, AROUND);
    const tail =
      index === changes.length - 1 ? [] : value.slice(Math.max(head.length, value.length - AROUND));
    const left = value.length - head.length - tail.length;
    for (const text of head) {
      terminal.print(colors.dim(`  ${shortened(line(text))}`));
    }
    if (left > 0) {
      terminal.print(colors.dim(`  … ${left} the same`));
    }
    for (const text of tail) {
      terminal.print(colors.dim(`  ${shortened(line(text))}`));
    }
  });
}

export { replay };
