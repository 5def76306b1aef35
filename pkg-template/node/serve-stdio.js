/**
 * Owns `serveStdio`: a tool server over this process's stdin and stdout, or over streams like them.
 *
 * Invariant: nothing but frames is written to stdout, and a client that is gone (EPIPE) ends the
 * serving, not the process.
 */
import { refused } from "../lib/arguments.js";
import { serveStreams } from "../lib/serve.js";

/**
 * Serves tools until stdin ends, the client is gone, or `close()`; gives a handle.
 *
 * @param gateway what has `tools` and `handleCall`
 * @param options `stdin` and `stdout` (Node streams), and what `serveStreams` takes beside streams
 */
function serveStdio(gateway, options = {}) {
  if (typeof options !== "object" || options === null) {
    throw refused("options");
  }
  const { stdin = process.stdin, stdout = process.stdout } = options;
  if (typeof stdout?.write !== "function") {
    throw refused("stdout");
  }
  if (typeof stdin?.[Symbol.asyncIterator] !== "function") {
    throw refused("stdin");
  }
  const output = new Output(stdout);
  return serveStreams(gateway, {
    ...options,
    readable: { [Symbol.asyncIterator]: () => bytesOf(stdin) },
    write: (frame) => output.write(frame),
    terminate: () => {
      output.release();
      // A stdin that is read keeps the process alive.
      stdin.destroy?.();
    },
  });
}

/** The chunks of a stream, as bytes even where somebody gave it an encoding. */
async function* bytesOf(stdin) {
  for await (const chunk of stdin) {
    yield typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;
  }
}

/** stdout, written as fast as it takes bytes. */
class Output {
  #stdout;
  #waiting;
  #gone = false;

  constructor(stdout) {
    this.#stdout = stdout;
    this.fail = () => this.#failed();
    this.drained = () => this.#drained();
    // An `error` that nobody listens for would end the process.
    stdout.on("error", this.fail);
    stdout.on("close", this.fail);
    stdout.on("drain", this.drained);
  }

  write(frame) {
    if (this.#gone || this.#stdout.destroyed || this.#stdout.writableEnded) {
      throw new Error("stdout is closed");
    }
    if (this.#stdout.write(frame)) {
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  release() {
    // The listener for errors stays: what was written last may still fail.
    this.#stdout.off("close", this.fail);
    this.#stdout.off("drain", this.drained);
  }

  #drained() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve();
  }

  #failed() {
    this.#gone = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(new Error("stdout is closed"));
  }
}

export { serveStdio };
