/**
 * Owns the driving of a `ClientSession` by its drain contract, with a clock that only the case
 * moves. Invariants: after every input nothing is left to work, to take (while the transport has
 * room) or to poll; every request settles at most once; every frame is one line of JSON.
 */

import { fail } from "./expect.mjs";

const STEPS_A_SLICE = 4_096;
/** More slices than any case needs: a session that always has work must fail, not hang the run. */
const MAX_SLICES = 1_000_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A request of the host's: its handle, and its outcome once it has settled. */
class Request {
  handle;
  outcome;
}

export class Driver {
  now = 0;
  /** Frames the transport still takes. */
  room = Infinity;
  /** Frames taken: `{ bytes, message, at }`. */
  frames = [];
  /** Events polled: `{ event, at }`. */
  events = [];

  #toolwire;
  #requests = new Map();

  constructor(toolwire, options) {
    this.#toolwire = toolwire;
    this.session = new toolwire.ClientSession(options);
  }

  /** One input: calls `input(session, now)` and drains. */
  act(input) {
    input(this.session, this.now);
    this.#drain();
  }

  /** Starts the handshake with a server that has no stderr, as in every case. */
  connect() {
    this.act((session, now) => {
      session.connect(now);
      // Without this the end of a connection would wait for the last words on stderr (row R60).
      session.stderrEnded(now);
    });
  }

  /** Bytes of the server's, or text that is sent as UTF-8. */
  receive(data) {
    const chunk = typeof data === "string" ? encoder.encode(data) : data;
    this.act((session, now) => session.receive(chunk, now));
  }

  /** One message of the server's on a line of its own. */
  receiveMessage(message) {
    this.receive(`${JSON.stringify(message)}\n`);
  }

  /** Starts a request; one that is refused by a throw has settled, marked `thrown`. */
  request(start) {
    const request = new Request();
    try {
      request.handle = start(this.session, this.now);
      this.#requests.set(request.handle, request);
    } catch (error) {
      if (!(error instanceof this.#toolwire.ToolwireError)) {
        throw error;
      }
      request.outcome = { ok: false, error, thrown: true };
    }
    this.#drain();
    return request;
  }

  call(name, args, options) {
    return this.request((session, now) => session.callTool(name, args, options, now));
  }

  cancel(request, reason) {
    if (request.handle !== undefined) {
      this.act((session, now) => session.cancel(request.handle, reason, now));
    }
  }

  /** Lets time pass, stopping at every deadline on the way. */
  advance(ms) {
    const target = this.now + ms;
    for (;;) {
      const deadline = this.session.nextDeadline;
      if (deadline === undefined || deadline > target) {
        break;
      }
      this.now = Math.max(this.now, deadline);
      this.act((session, now) => session.advance(now));
      if (this.session.nextDeadline <= this.now) {
        fail("nextDeadline", `still ${this.session.nextDeadline} after advance(${this.now})`);
      }
    }
    this.now = target;
    this.act((session, now) => session.advance(now));
  }

  eventsOf(type) {
    return this.events.filter(({ event }) => event.type === type).map(({ event }) => event);
  }

  get tools() {
    return this.session.tools;
  }

  free() {
    this.session.free();
  }

  #drain() {
    let slices = 0;
    for (let busy = true; busy; ) {
      busy = false;
      while (this.session.hasWork) {
        slices += 1;
        if (slices > MAX_SLICES) {
          fail("hasWork", `still true after ${MAX_SLICES} slices`);
        }
        this.session.work(STEPS_A_SLICE, this.now);
        busy = true;
      }
      while (this.room > 0) {
        const frame = this.session.takeOutput();
        if (frame === undefined) {
          break;
        }
        this.room -= 1;
        this.#keepFrame(frame);
        busy = true;
      }
      for (let event = this.session.pollEvent(); event; event = this.session.pollEvent()) {
        this.#keepEvent(event);
        busy = true;
      }
    }
  }

  #keepFrame(bytes) {
    const text = decoder.decode(bytes);
    if (text.indexOf("\n") !== text.length - 1) {
      fail("takeOutput", "a frame is not exactly one line");
    }
    this.frames.push({ bytes, message: JSON.parse(text), at: this.now });
  }

  #keepEvent(event) {
    this.events.push({ event, at: this.now });
    if (event.type === "settled") {
      const request = this.#requests.get(event.handle);
      if (request === undefined) {
        fail("settled", `handle ${event.handle} is none of the host's`);
      }
      if (request.outcome !== undefined) {
        fail("settled", `handle ${event.handle} settled twice`);
      }
      request.outcome = event;
    }
  }
}
