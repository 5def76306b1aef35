// Framing one long line that arrives in small chunks.
import { timeOf, timeOfBatches } from "../support/clock.mjs";
import { internal, requireNpm, requireOwn } from "../support/packages.mjs";
import { micro, ratio, table } from "../support/report.mjs";

const LINE_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 8 * 1024;

/** A line that is JSON, for readers that parse at once; the last chunk ends with the newline. */
function chunks() {
  const shell = '{"jsonrpc":"2.0","method":"notifications/note","params":{"text":""}}\n';
  const text = "a".repeat(LINE_BYTES - shell.length);
  const line = Buffer.from(shell.replace('""', `"${text}"`));
  const pieces = [];
  for (let at = 0; at < line.length; at += CHUNK_BYTES) {
    // Each chunk has memory of its own, as a socket's have.
    pieces.push(Buffer.from(line.subarray(at, at + CHUNK_BYTES)));
  }
  return pieces;
}

function copyAndScan(pieces, options) {
  const room = Buffer.allocUnsafe(LINE_BYTES + CHUNK_BYTES);
  return timeOf(() => {
    let at = 0;
    for (const piece of pieces) {
      room.set(piece, at);
      at += piece.length;
    }
    if (room.subarray(0, at).indexOf(10) !== at - 1) {
      throw new Error("the newline must be last");
    }
  }, options);
}

/** Only `receive` is timed: it frames and queues. */
function toolwire(pieces, options) {
  requireOwn("toolwire");
  const { guard, sessionInstance } = internal("core");
  const instance = sessionInstance();
  const crossing = { server: "bench", era: "legacy", profile: "contain", tools: "[]" };
  const session = guard(instance, ({ Session }) => new Session(crossing));
  session.connect(0);
  const batch = (count) => {
    let took = 0;
    for (let index = 0; index < count; index += 1) {
      const started = performance.now();
      for (const piece of pieces) {
        session.receive(piece, 0);
      }
      took += performance.now() - started;
      if (!session.hasWork()) {
        throw new Error("the line must be complete");
      }
      while (session.hasWork()) {
        session.work(1e9, 0);
      }
      while (session.pollEvent() !== undefined);
    }
    return took;
  };
  return timeOfBatches(batch, { ...options, most: 4 });
}

/** The SDK's buffer parses the line in the same call. */
function official(pieces, options) {
  const { ReadBuffer } = requireNpm("@modelcontextprotocol/sdk/shared/stdio.js");
  return timeOf(() => {
    const buffer = new ReadBuffer();
    let message = null;
    for (const piece of pieces) {
      buffer.append(piece);
      message ??= buffer.readMessage();
    }
    if (message === null) {
      throw new Error("the line must be complete");
    }
  }, options);
}

const ENGINES = { baseline: copyAndScan, toolwire, official };

function run(engine, options) {
  return { "8 MB in 8 KB": ENGINES[engine](chunks(), options) };
}

function report(medians) {
  const [name] = Object.keys(medians.baseline);
  const base = medians.baseline[name];
  const row = (label, engine) => [label, micro(medians[engine][name]), ratio(medians[engine][name], base)];
  return table(
    [name, "time", "ratio"],
    [
      row("one copy and one scan", "baseline"),
      row("toolwire session, receive", "toolwire"),
      row("official SDK v1, ReadBuffer (and JSON.parse)", "official"),
    ],
  );
}

const title = "Framing a long line";
const engines = Object.keys(ENGINES);

export { engines, report, run, title };
