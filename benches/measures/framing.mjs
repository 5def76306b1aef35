// Framing one long line that arrives in small chunks.
import { batchOf, compareBatches, timeOf } from "../support/clock.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
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

function copyAndScan(pieces) {
  const room = Buffer.allocUnsafe(LINE_BYTES + CHUNK_BYTES);
  return () => {
    let at = 0;
    for (const piece of pieces) {
      room.set(piece, at);
      at += piece.length;
    }
    if (room.subarray(0, at).indexOf(10) !== at - 1) {
      throw new Error("the newline must be last");
    }
  };
}

/** Only `receive` is timed: it frames and queues. */
function toolwire(pieces, options) {
  const { ClientSession } = requireOwn("toolwire");
  const session = new ClientSession({ server: "bench", era: "legacy", tools: [] });
  session.connect(0);
  const batch = (count) => {
    let took = 0;
    for (let index = 0; index < count; index += 1) {
      const started = performance.now();
      for (const piece of pieces) {
        session.receive(piece, 0);
      }
      took += performance.now() - started;
      if (!session.hasWork) {
        throw new Error("the line must be complete");
      }
      while (session.hasWork) {
        session.work(1e9, 0);
      }
      while (session.pollEvent() !== undefined);
    }
    return took;
  };
  const { time, ratio: toBase } = compareBatches(batch, batchOf(copyAndScan(pieces)), {
    ...options,
    most: 4,
  });
  return { time, toBase };
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

const ENGINES = {
  baseline: (pieces, options) => ({ time: timeOf(copyAndScan(pieces), options), toBase: 1 }),
  toolwire,
  official: (pieces, options) => ({ time: official(pieces, options) }),
};

const NAME = "8 MB in 8 KB";

function run(engine, options) {
  const { time, toBase } = ENGINES[engine](chunks(), options);
  return { [NAME]: time, toBase };
}

function report(medians) {
  const base = medians.baseline[NAME];
  const row = (label, engine) => [
    label,
    micro(medians[engine][NAME]),
    medians[engine].toBase?.toFixed(2) ?? ratio(medians[engine][NAME], base),
  ];
  return table(
    [NAME, "time", "ratio"],
    [
      row("one copy and one scan", "baseline"),
      row("toolwire session, receive", "toolwire"),
      row("official SDK v1, ReadBuffer (and JSON.parse)", "official"),
    ],
  );
}

function targets({ toolwire: { toBase: value } }) {
  return [{ what: "framing an 8 MB line in 8 KB chunks", value, most: 1.15, unit: "copies and scans", engine: "toolwire" }];
}

const title = "Framing a long line";
const engines = Object.keys(ENGINES);

export { engines, report, run, targets, title };
