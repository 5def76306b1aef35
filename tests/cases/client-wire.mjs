/** Kinds `frames` and `line`: bytes to lines, and a line to what it is. */

import { isObject, readElsewhere, readMembers, same } from "./expect.mjs";
import { sameError } from "./client-errors.mjs";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const kinds = {
  frames({ input, expected }, { core }) {
    const reader = { chunks: [], options: { profile: "strict" }, eof: false };
    readMembers(input, "in", {
      chunks: (chunks) => (reader.chunks = chunks.map(bytesOf)),
      maxFrameBytes: (bytes) => (reader.options.maxFrameBytes = bytes),
      eof: (eof) => (reader.eof = eof),
    });
    const { lines, error } = readLines(core, reader);
    if (error !== undefined && expected.error === undefined) {
      throw error;
    }
    readMembers(expected, "out", {
      lines: (wanted, at) => same(lines, wanted, at),
      error: (wanted, at) => sameError(error, wanted, at, { toolwire: core }),
    });
  },

  line({ input, expected }, { core }) {
    let found;
    readMembers(input, "in", {
      line: (line) => (found = core.classifyLine(line, { profile: "strict" })),
    });
    readMembers(expected, "out", {
      k: (kind, at) => same(found.kind, kind === "fatal" ? "malformed" : kind, at),
      why: (reason, at) => same(found.reason, reason, at),
      id: (id, at) => same(found.id, id, at),
      method: (method, at) => same(found.method, method, at),
      code: (code, at) => same(found.rpcCode, code, at),
    });
  },
};

/** All lines, and the error that ended the reading. Lines before the error still count. */
function readLines(core, { chunks, options, eof }) {
  const reader = new core.LineReader(options);
  const lines = [];
  let error;
  const step = (input) => {
    try {
      input();
    } catch (thrown) {
      error = thrown;
    }
    for (let line = reader.next(); line !== undefined; line = reader.next()) {
      lines.push(decoder.decode(line));
    }
  };
  try {
    for (const chunk of chunks) {
      if (error === undefined) {
        step(() => reader.push(chunk));
      }
    }
    if (eof && error === undefined) {
      step(() => reader.end());
    }
  } finally {
    // A reader that owns wasm memory releases it; one that owns none needs no `free`.
    reader.free?.();
  }
  return { lines, error };
}

function bytesOf(chunk) {
  if (!isObject(chunk)) {
    return new TextEncoder().encode(chunk);
  }
  readMembers(chunk, "in.chunks", { hex: readElsewhere });
  return Uint8Array.from(Buffer.from(chunk.hex, "hex"));
}
