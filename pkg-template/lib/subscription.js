/**
 * Owns the consumer's end of a subscription: an iterator over what was pushed. Invariants: nothing
 * is sent before the first pull; items come in order, then the end, once; stopping early tells the
 * other side once.
 *
 *   interface Source {
 *     start(subscription): void;   // at the first pull; what it throws is the outcome
 *     pull(): void;                // somebody takes an item, or waits for one
 *     stop(): void;                // the consumer wants no more
 *   }
 */

const DONE = Object.freeze({ done: true, value: undefined });

class Subscription {
  #source;
  #state = "idle";
  #items = [];
  #waiting = [];
  #error;

  constructor(source) {
    this.#source = source;
  }

  next() {
    if (this.#state === "idle") {
      this.#state = "open";
      try {
        this.#source.start(this);
      } catch (error) {
        this.fail(error);
      }
    }
    if (this.#state === "open") {
      this.#source.pull();
    }
    if (this.#items.length > 0) {
      return Promise.resolve({ done: false, value: this.#items.shift() });
    }
    if (this.#state === "open") {
      return new Promise((resolve, reject) => {
        this.#waiting.push({ resolve, reject });
      });
    }
    return this.#last();
  }

  return(value) {
    this.#leave();
    return Promise.resolve({ done: true, value });
  }

  throw(error) {
    this.#leave();
    return Promise.reject(error);
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** One more item. */
  push(item) {
    const waiter = this.#waiting.shift();
    if (waiter === undefined) {
      this.#items.push(item);
    } else {
      waiter.resolve({ done: false, value: item });
    }
  }

  /** Nothing comes after what waits. */
  complete() {
    this.#end(undefined);
  }

  /** An error comes after what waits. */
  fail(error) {
    this.#end(error);
  }

  /** Given up, by the other side or here; then what waits is not wanted any more. */
  abort(error, byOtherSide = false) {
    if (!byOtherSide) {
      this.#items.length = 0;
    }
    this.#end(error);
  }

  #end(error) {
    if (this.#state === "over") {
      return;
    }
    this.#state = "over";
    this.#error = error;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve } of waiting) {
      resolve(this.#last());
    }
  }

  /** How it ended: the error is told once. */
  #last() {
    const error = this.#error;
    this.#error = undefined;
    return error === undefined ? Promise.resolve(DONE) : Promise.reject(error);
  }

  #leave() {
    const wasOpen = this.#state === "open";
    this.abort(undefined);
    this.#error = undefined;
    if (wasOpen) {
      this.#source.stop();
    }
  }
}

export { Subscription };
