/**
 * Owns reading server-sent events off bytes that may be split anywhere (row R88). Invariants: an
 * event is what the same bytes in one piece would give; nothing grows past the bound; an event
 * without its closing blank line is not delivered.
 */

import { Gathered } from "./gathered.js";

const LF = 10;
const CR = 13;
const COLON = 58;
const SPACE = 32;
const EMPTY = new Uint8Array(0);
const BETWEEN = Uint8Array.of(LF);

/** A line or an event has more bytes than allowed. */
class EventTooLong extends Error {}

class EventStream {
  /** The `id` of the last event that had one, empty if none had. */
  lastEventId = "";
  /** Milliseconds that the server asks to wait before reconnecting, if it does. */
  retry;

  #maxBytes;
  #line = new Gathered();
  #afterCr = false;
  #atStart = true;
  #data = new Gathered();
  #hasData = false;
  #id;
  #events = [];

  constructor(maxBytes) {
    this.#maxBytes = maxBytes;
  }

  /** Another connection takes the stream up: what was not complete is void. */
  restart() {
    this.#line.take();
    this.#afterCr = false;
    this.#atStart = true;
    this.#data.take();
    this.#hasData = false;
    this.#id = undefined;
  }

  /** Reads on; gives the data of the events that are complete now. Throws `EventTooLong`. */
  push(chunk) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF && this.#afterCr) {
        this.#afterCr = false;
        start = at + 1;
        continue;
      }
      this.#afterCr = byte === CR;
      if (byte === LF || byte === CR) {
        this.#keep(chunk.subarray(start, at));
        this.#endLine();
        start = at + 1;
      }
    }
    if (start < chunk.length) {
      this.#keep(chunk.subarray(start));
    }
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #keep(piece) {
    // A field's name and separator come on top of what it holds.
    if (this.#line.length + piece.length > this.#maxBytes + 16) {
      throw new EventTooLong();
    }
    this.#line.add(piece);
  }

  #endLine() {
    let line = this.#line.take();
    if (this.#atStart) {
      this.#atStart = false;
      if (line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) {
        line = line.subarray(3);
      }
    }
    if (line.length === 0) {
      this.#endEvent();
      return;
    }
    const colon = line.indexOf(COLON);
    const name = text(colon < 0 ? line : line.subarray(0, colon));
    const from = line[colon + 1] === SPACE ? colon + 2 : colon + 1;
    this.#field(name, colon < 0 ? EMPTY : line.subarray(from));
  }

  #field(name, value) {
    if (name === "data") {
      const between = this.#hasData ? BETWEEN : EMPTY;
      if (this.#data.length + between.length + value.length > this.#maxBytes) {
        throw new EventTooLong();
      }
      this.#data.add(between);
      this.#data.add(value);
      this.#hasData = true;
    } else if (name === "id" && !value.includes(0)) {
      this.#id = text(value);
    } else if (name === "retry" && /^[0-9]+$/.test(text(value))) {
      this.retry = Number(text(value));
    }
  }

  #endEvent() {
    this.lastEventId = this.#id ?? this.lastEventId;
    if (this.#data.length > 0) {
      this.#events.push(this.#data.take());
    }
    this.#hasData = false;
  }
}

function text(bytes) {
  return new TextDecoder().decode(bytes);
}

export { EventStream, EventTooLong };
