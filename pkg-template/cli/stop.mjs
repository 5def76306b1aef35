/**
 * Owns how the program is stopped from outside. The first signal gives everything up, so that each
 * command takes its servers down before the program ends; a second one ends it at once, and what
 * still runs is killed by the package's own hook.
 *
 * Invariant: whoever starts a server listens to `signal`, so no moment leaves one behind.
 */
import { SIGNALS } from "./exit.mjs";

class Stop {
  #controller = new AbortController();
  #code;
  #listeners = new Map();

  constructor() {
    for (const [name, code] of Object.entries(SIGNALS)) {
      const listener = () => this.#stop(code);
      this.#listeners.set(name, listener);
      process.on(name, listener);
    }
  }

  /** For work that does not yield and starts nothing: signals end the program as they would any. */
  release() {
    for (const [name, listener] of this.#listeners) {
      process.off(name, listener);
    }
  }

  /** Fires when the program is to end. */
  get signal() {
    return this.#controller.signal;
  }

  /** The exit code of what stopped the program, or undefined. */
  get code() {
    return this.#code;
  }

  /** Nobody reads what is printed: ends quietly, as a program that the pipe's end kills. */
  readerGone() {
    this.#begin(141);
  }

  #stop(code) {
    if (this.#code !== undefined) {
      process.exit(this.#code);
    }
    this.#begin(code);
  }

  #begin(code) {
    this.#code ??= code;
    this.#controller.abort();
  }
}

export { Stop };
