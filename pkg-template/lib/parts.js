/**
 * Owns the small parts that hosts use by themselves: newline framing, what a line is, the table of
 * limits, and what the core says of itself.
 */

import { bytesOf, numberOf } from "./arguments.js";
import { disposable, guard, mainInstance, memoryBytes, own, restartCount } from "./core.js";
import { pick, wellFormed } from "./options.js";
import { freedError } from "./sentences.js";

/** `shutdownGraceMs` of `toolwire/node`, which the core knows nothing of. */
const HOST_LIMITS = { shutdownGraceMs: 2_500 };

const encoder = new TextEncoder();

let table;

class LineReader {
  #handle;

  constructor(options = undefined) {
    const { maxFrameBytes, profile } = pick(options, ["maxFrameBytes", "profile"]);
    if (maxFrameBytes !== undefined) {
      numberOf(maxFrameBytes, "maxFrameBytes");
    }
    const instance = mainInstance();
    const lines = guard(instance, ({ Lines }) => new Lines(maxFrameBytes, profile === "strict"));
    this.#handle = { instance, lines, release: own(this, instance, lines) };
  }

  push(chunk) {
    bytesOf(chunk, "chunk");
    this.#use((lines) => lines.push(chunk));
  }

  end() {
    this.#use((lines) => lines.end());
  }

  next() {
    return this.#use((lines) => lines.next());
  }

  get skipped() {
    return this.#use((lines) => lines.skipped());
  }

  free() {
    this.#handle?.release();
    this.#handle = undefined;
  }

  #use(action) {
    if (this.#handle === undefined) {
      throw freedError();
    }
    const { instance, lines } = this.#handle;
    return guard(instance, () => action(lines));
  }
}

disposable(LineReader);

function classifyLine(line, options = undefined) {
  const bytes = typeof line === "string" ? encoder.encode(wellFormed(line)) : bytesOf(line, "line");
  const strict = pick(options, ["profile"]).profile === "strict";
  const { kind, id, method, rpcCode, reason } = guard(mainInstance(), (glue) =>
    glue.classifyLine(bytes, strict),
  );
  return {
    kind,
    ...(id !== undefined && { id: JSON.parse(id) }),
    ...(method !== undefined && { method }),
    ...(rpcCode !== undefined && { rpcCode }),
    ...(reason !== undefined && { reason }),
  };
}

/** The default limits of both profiles, read from the core when first asked for. */
const limits = Object.freeze({
  get strict() {
    return limitTable().strict;
  },
  get contain() {
    return limitTable().contain;
  },
});

function limitTable() {
  if (table === undefined) {
    const { session, schema } = guard(mainInstance(), (glue) => glue.limits());
    table = {
      strict: Object.freeze({ ...session.strict, ...schema, ...HOST_LIMITS }),
      contain: Object.freeze({ ...session.contain, ...schema, ...HOST_LIMITS }),
    };
  }
  return table;
}

function coreInfo() {
  const info = guard(mainInstance(), (glue) => glue.coreInfo());
  return { ...info, memoryBytes: memoryBytes(), restarts: restartCount() };
}

export { LineReader, classifyLine, coreInfo, limits };
