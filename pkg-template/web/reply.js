/**
 * Owns the response to one message: JSON if the answer comes first and soon, a stream of events if
 * something comes before it or it takes long. Invariants: the response is given once; after the last
 * message the stream is closed; a client that does not read costs a bounded number of messages.
 */

const encoder = new TextEncoder();

/** How long an answer may take before a stream is begun for it. */
const STREAM_AFTER_MS = 1_000;

/** How often a stream that is silent shows that it lives. */
const KEEP_ALIVE_MS = 15_000;

/** Messages before the last that a stream holds for a client that does not read. */
const MAX_QUEUED = 256;

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/** A stream of server-sent events. `gone` is called when its reader leaves. */
class EventStream {
  #controller;
  #timer;
  #gone;

  constructor(gone) {
    this.#gone = gone;
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#end(),
      },
      { highWaterMark: MAX_QUEUED },
    );
    this.#timer = setInterval(() => this.#write(": alive\n\n"), KEEP_ALIVE_MS);
    this.#timer.unref?.();
  }

  response(headers = {}) {
    return new Response(this.body, { status: 200, headers: { ...STREAM_HEADERS, ...headers } });
  }

  /** Sends a message; one that may be lost is, when the reader does not keep up. */
  send(json, mayBeLost = false) {
    if (this.#controller === undefined || (mayBeLost && this.#controller.desiredSize <= 0)) {
      return;
    }
    const event = new Uint8Array(json.byteLength + 24);
    const { written } = encoder.encodeInto("event: message\ndata: ", event);
    event.set(json, written);
    const end = written + json.byteLength;
    encoder.encodeInto("\n\n", event.subarray(end));
    this.#enqueue(event.subarray(0, end + 2));
  }

  close() {
    const controller = this.#controller;
    if (controller !== undefined) {
      this.#controller = undefined;
      clearInterval(this.#timer);
      controller.close();
    }
  }

  #write(text) {
    if (this.#controller?.desiredSize > 0) {
      this.#enqueue(encoder.encode(text));
    }
  }

  #enqueue(bytes) {
    try {
      this.#controller?.enqueue(bytes);
    } catch {
      this.#end();
    }
  }

  #end() {
    if (this.#controller !== undefined) {
      this.#controller = undefined;
      clearInterval(this.#timer);
      this.#gone();
    }
  }
}

/** The response to one message, while it comes to be. */
class Reply {
  #accepts;
  #gone;
  #stream;
  #timer;
  #resolve;
  #decorate;

  /**
   * `accepts` is what the client takes; `gone` is called when it leaves before the end; `decorate`
   * gives the headers of the response when it begins.
   */
  constructor(accepts, gone, decorate = () => ({})) {
    this.#accepts = accepts;
    this.#gone = gone;
    this.#decorate = decorate;
    this.response = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (accepts.stream) {
      this.#timer = setTimeout(() => this.#begin(), STREAM_AFTER_MS);
    }
  }

  push({ json, ends, status }) {
    if (this.#stream === undefined) {
      if (ends && (json === undefined || this.#accepts.json)) {
        this.#single(json, status);
        return;
      }
      if (!this.#accepts.stream) {
        // Only the answer can be given.
        return;
      }
      this.#begin();
    }
    if (json !== undefined) {
      this.#stream.send(json, !ends);
    }
    if (ends) {
      this.#stream.close();
    }
  }

  /** No answer comes any more. */
  fail(response) {
    clearTimeout(this.#timer);
    this.#stream?.close();
    this.#resolve(response);
  }

  #single(json, status) {
    clearTimeout(this.#timer);
    this.#resolve(
      json === undefined
        ? new Response(null, { status: status === 200 ? 202 : status })
        : new Response(json, {
            status,
            headers: { "content-type": "application/json", ...this.#decorate() },
          }),
    );
  }

  #begin() {
    if (this.#stream === undefined) {
      clearTimeout(this.#timer);
      this.#stream = new EventStream(this.#gone);
      this.#resolve(this.#stream.response(this.#decorate()));
    }
  }
}

export { EventStream, Reply };
