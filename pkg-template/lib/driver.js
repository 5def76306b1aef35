/**
 * Owns the drain contract: after any input the session works, its frames go to the transport and
 * its events to the client, until none has anything left; then one timer waits for the next
 * deadline. Invariants: one frame is with the transport at a time (messages are not); work runs in slices; listeners
 * are called with no wasm code on the stack, and what they do to the session waits for the drain
 * that is under way.
 */

import { SLICE_MS, SLICE_STEPS, nextTask, now } from "./slices.js";

/** The longest a timer of any host can wait. */
const MAX_TIMER_MS = 2_147_483_647;

class Driver {
  #session;
  #transport;
  #onEvent;
  #draining = false;
  #again = false;
  #sliceAhead = false;
  #writing = false;
  /** When the session wants to be told of the time. */
  #deadline = Infinity;
  #timer;
  /** When the timer fires; it is only ever moved forward. */
  #timerAt = Infinity;
  /** The timer keeps nothing alive while no deadline is near. */
  #idle = false;
  #waiting = [];
  #stopped = false;

  /** `onEvent` must not throw. */
  constructor(session, transport, onEvent) {
    this.#session = session;
    this.#transport = transport;
    this.#onEvent = onEvent;
  }

  /** Gives the session an input, then drains. `input` is called with the session and the time. */
  feed(input) {
    if (this.#stopped) {
      return;
    }
    input(this.#session, now());
    this.drain();
  }

  /**
   * Resolves when what was received so far is processed; undefined if it is. Reading on before that
   * would let a peer that floods us, or does not read our answers, fill our memory.
   */
  ready() {
    if (this.#stopped || !(this.#session.hasWork || this.#session.isBlocked)) {
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  drain() {
    if (this.#stopped) {
      return;
    }
    if (this.#draining) {
      this.#again = true;
      return;
    }
    this.#draining = true;
    do {
      this.#again = false;
      this.#work();
      this.#write();
      this.#deliver();
      // A frame that left may have made room for an answer that held everything up.
    } while (!this.#stopped && (this.#again || (this.#session.hasWork && !this.#sliceAhead)));
    this.#draining = false;
    if (!this.#stopped) {
      this.#arm();
    }
  }

  /** The session is over: no timer, no more input. */
  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#release();
  }

  /** One slice of work; the rest waits for a macrotask of its own. */
  #work() {
    if (this.#sliceAhead) {
      return;
    }
    if (!this.#session.hasWork) {
      // Also when a cancellation took the work away.
      if (!this.#session.isBlocked) {
        this.#release();
      }
      return;
    }
    let at = now();
    const end = at + SLICE_MS;
    do {
      this.#session.work(SLICE_STEPS, at);
    } while (this.#session.hasWork && (at = now()) < end);
    if (this.#session.hasWork) {
      this.#sliceAhead = true;
      nextTask(() => {
        this.#sliceAhead = false;
        this.drain();
      });
    } else if (!this.#session.isBlocked) {
      this.#release();
    }
  }

  #release() {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) {
      resolve();
    }
  }

  #write() {
    while (!this.#writing) {
      if (this.#transport.send !== undefined) {
        const message = this.#session.takeMessage();
        if (message === undefined) {
          return;
        }
        this.#transport.send(message);
        continue;
      }
      const frame = this.#session.takeOutput();
      if (frame === undefined) {
        return;
      }
      let written;
      try {
        written = this.#transport.write(frame);
      } catch {
        this.#session.writeFailed(now());
        this.#again = true;
        return;
      }
      if (typeof written?.then === "function") {
        this.#writing = true;
        written.then(
          () => this.#written(),
          () => this.#written((session, at) => session.writeFailed(at)),
        );
      }
    }
  }

  #written(failure) {
    this.#writing = false;
    if (this.#stopped) {
      return;
    }
    failure?.(this.#session, now());
    this.drain();
  }

  #deliver() {
    for (;;) {
      const event = this.#stopped ? undefined : this.#session.pollEvent();
      if (event === undefined) {
        return;
      }
      // Taking a frame or handling an event may give the session more to do.
      this.#again = true;
      this.#onEvent(event);
    }
  }

  #arm() {
    // Time that passes behind unread lines counts when they are read: the last slice arms.
    const deadline = this.#session.hasWork ? Infinity : (this.#session.nextDeadline ?? Infinity);
    this.#deadline = deadline;
    this.#keepAlive(deadline !== Infinity);
    if (this.#timerAt <= deadline) {
      // The timer that is set fires first and is set anew then: most calls set none.
      return;
    }
    clearTimeout(this.#timer);
    const delay = Math.min(Math.max(Math.ceil(deadline - now()), 1), MAX_TIMER_MS);
    this.#timerAt = now() + delay;
    this.#timer = setTimeout(() => this.#fire(), delay);
    this.#idle = false;
  }

  #fire() {
    this.#timerAt = Infinity;
    this.#timer = undefined;
    if (now() >= this.#deadline) {
      this.feed((session, at) => session.advance(at));
    } else if (!this.#stopped) {
      this.#arm();
    }
  }

  /** Lets the process end, or not, while the timer is set. */
  #keepAlive(keep) {
    if (this.#idle === !keep || this.#timer === undefined) {
      return;
    }
    this.#idle = !keep;
    if (keep) {
      this.#timer.ref?.();
    } else {
      this.#timer.unref?.();
    }
  }
}

export { Driver };
