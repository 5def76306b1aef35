/**
 * Owns where a recording of `connect` goes: a file of its own, a stream of the host's, a function.
 *
 * Invariant: writing neither blocks nor breaks the session. A destination that fails, or falls too
 * far behind, ends the recording with one diagnostic.
 */
import { createWriteStream } from "node:fs";
import { errorFor } from "../lib/sentences.js";
import { badOption } from "./launch.js";

// What may wait for a slow disk before the recording is given up.
const MAX_WAITING = 67_108_864;
// What a destination gets at the end to take what still waits.
const FLUSH_MS = 5000;

/**
 * Makes the destination ready; undefined if nothing is recorded. Gives `write(line)` and `end()`,
 * which resolves when everything is written. `onFailure` is called once.
 */
async function openRecording(record, server, onFailure) {
  if (record === undefined) {
    return undefined;
  }
  if (typeof record === "function") {
    return { write: record, end: async () => {} };
  }
  if (typeof record === "string" && record !== "" && !record.includes("\0")) {
    return new StreamRecording(await openFile(record, server), true, onFailure);
  }
  if (typeof record === "object" && typeof record?.write === "function") {
    return new StreamRecording(record, false, onFailure);
  }
  throw badOption(server, "record");
}

/** A file that only its owner may read: what is in it was meant for one host. */
function openFile(path, server) {
  const stream = createWriteStream(path, { mode: 0o600 });
  return new Promise((resolve, reject) => {
    stream.once("open", () => {
      stream.off("error", refuse);
      resolve(stream);
    });
    const refuse = ({ code, syscall, message }) => {
      const reason = "recording_unwritable";
      const detail = { code, syscall, message };
      const init = { code: "invalid_arguments", reason, server, option: "record", private: detail };
      reject(errorFor(init));
    };
    stream.once("error", refuse);
  });
}

class StreamRecording {
  #stream;
  #owned;
  #onFailure;
  #failed = false;
  #waiting = 0;
  #ending;
  #wake;
  #onError = () => this.#fail();

  /** `owned`: the stream is ended with the recording. One of the host's is only waited for. */
  constructor(stream, owned, onFailure) {
    this.#stream = stream;
    this.#owned = owned;
    this.#onFailure = onFailure;
    stream.on("error", this.#onError);
    this.write = (line) => this.#write(line);
  }

  #write(line) {
    if (this.#failed) {
      return;
    }
    const text = `${line}\n`;
    this.#waiting += text.length;
    try {
      this.#stream.write(text, (error) => {
        this.#waiting -= text.length;
        if (error) {
          this.#fail();
        } else if (this.#waiting === 0) {
          this.#wake?.();
        }
      });
    } catch {
      this.#fail();
    }
    if (this.#waiting > MAX_WAITING) {
      this.#fail();
    }
  }

  #fail() {
    if (!this.#failed) {
      this.#failed = true;
      this.#wake?.();
      this.#onFailure();
    }
  }

  end() {
    this.#ending ??= this.#finish();
    return this.#ending;
  }

  async #finish() {
    if (this.#waiting > 0 && !this.#failed) {
      await within(FLUSH_MS, (done) => {
        this.#wake = done;
      });
    }
    if (this.#owned && !this.#stream.closed) {
      await within(FLUSH_MS, (done) => {
        this.#stream.once("close", done);
        this.#stream.end();
      });
      this.#stream.destroy();
    } else if (!this.#owned) {
      this.#stream.off("error", this.#onError);
    }
  }
}

/** Resolves when what `begin` begins calls back, or when time is up. */
async function within(ms, begin) {
  let timer;
  await new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
    begin(resolve);
  });
  clearTimeout(timer);
}

/** The transport, whose end is also that of the recording. */
function closingWith(recording, transport) {
  return {
    start: (sink) => transport.start(sink),
    write: (frame) => transport.write(frame),
    close: async () => {
      try {
        await transport.close();
      } finally {
        await recording.end();
      }
    },
  };
}

export { closingWith, openRecording };
