/**
 * Owns the transport over a pair of byte streams: `docker exec`, ssh, Electron, a worker in the
 * page. Invariant: the source is read only as fast as the session takes what it read.
 */

import { openClient } from "./client.js";
import { ToolwireError } from "./errors.js";

/** How long the end of the stream waits for the exit code that explains it. */
const EXIT_GRACE_MS = 250;

function connectStreams(options) {
  return openClient(options, new StreamTransport(options ?? {}));
}

class StreamTransport {
  /** Streams cannot be started again. */
  canRespawn = false;

  #readable;
  #write;
  #exited;
  #terminate;
  #source;

  constructor({ readable, write, exited, terminate }) {
    this.#readable = readable;
    this.#write = write;
    this.#exited = exited === undefined || exited === null ? undefined : Promise.resolve(exited);
    this.#terminate = terminate;
  }

  start(sink) {
    this.#source = sourceOf(this.#readable);
    this.#exited?.then(
      (code) => sink.exited(typeof code === "number" ? code : null),
      () => sink.exited(null),
    );
    this.#pump(sink);
  }

  write(frame) {
    return this.#write(frame);
  }

  async close() {
    // Not awaited: a stream that never ends its read would keep the host from closing.
    this.#source?.cancel().catch(() => {});
    await this.#terminate?.();
  }

  async #pump(sink) {
    try {
      for (;;) {
        const { done, value } = await this.#source.next();
        if (done) {
          break;
        }
        sink.receive(value);
        const processed = sink.ready();
        if (processed !== undefined) {
          await processed;
        }
      }
    } catch (error) {
      if (error instanceof ToolwireError) {
        // The stream gave something else than bytes.
        sink.fail(error);
        return;
      }
      // A stream that fails has ended; what it says is its own and stays out of our errors.
    }
    if (this.#exited !== undefined) {
      await Promise.race([this.#exited.catch(() => {}), pause(EXIT_GRACE_MS)]);
    }
    sink.end();
  }
}

/**
 * A `ReadableStream` by its reader, for hosts where it cannot be iterated; else the iterator, whose
 * `next` may throw.
 */
function sourceOf(readable) {
  if (typeof readable.getReader === "function") {
    const reader = readable.getReader();
    return { next: () => reader.read(), cancel: async () => reader.cancel() };
  }
  const iterator = readable[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: async () => iterator.return?.() };
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export { connectStreams, sourceOf };
