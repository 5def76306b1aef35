/**
 * Owns how long one call of an operation lives: its signal, its deadline, and who stopped it.
 * Invariant: what stops a call settles it at once, whether or not its handler ever does; once the
 * call is over nothing is left that keeps the signal or a timer.
 */

import { CallError } from "./call-error.js";

/** Timers take no more milliseconds than these. */
const MAX_TIMER = 2_147_483_647;

class Lifetime {
  #controller = new AbortController();
  #fail;
  #signal;
  #timer;
  #onAbort = () => this.stop(abortError(this.#signal.reason));

  /** `deadline` is a time of the clock `now`, in milliseconds. */
  constructor(signal, deadline, now) {
    this.stopped = undefined;
    this.ended = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Nobody may be waiting when the call is stopped.
    this.ended.catch(() => {});
    this.#signal = signal;
    if (signal?.aborted) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (deadline !== undefined && deadline !== Infinity) {
      this.#arm(deadline, now);
    }
  }

  /** What the handler is given. */
  get signal() {
    return this.#controller.signal;
  }

  /** Settles the call with this error, first of all, and tells the handler. */
  stop(error) {
    if (this.stopped === undefined) {
      this.stopped = error;
      this.over();
      this.#fail(error);
      this.#controller.abort(error);
    }
  }

  /** The first of: what the action comes to, the end of the call. */
  race(action) {
    return this.stopped === undefined ? Promise.race([action(), this.ended]) : this.ended;
  }

  /** Lets go of signal and timer. */
  over() {
    this.#signal?.removeEventListener?.("abort", this.#onAbort);
    clearTimeout(this.#timer);
  }

  #arm(deadline, now) {
    const left = deadline - now();
    if (left <= 0) {
      this.stop(timeoutError(deadline));
    } else {
      this.#timer = setTimeout(() => this.#arm(deadline, now), Math.min(left, MAX_TIMER));
    }
  }
}

/** The caller's own reason if it is a call error: a deadline elsewhere reads as what it is. */
function abortError(reason) {
  return reason instanceof CallError
    ? reason
    : new CallError({ code: "ABORTED", message: "the call was given up", cause: reason });
}

function timeoutError(deadline) {
  return new CallError({
    code: "TIMEOUT",
    message: "the operation did not answer before its deadline",
    details: { deadline },
  });
}

export { Lifetime };
