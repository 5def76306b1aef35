/**
 * Owns bytes that come in pieces. Invariant: what is kept is at most twice what came, however small
 * the pieces are: a peer that sends one byte at a time must not cost an object for each.
 */

const EMPTY = new Uint8Array(0);

class Gathered {
  #bytes = EMPTY;
  length = 0;

  add(piece) {
    const length = this.length + piece.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.length));
      grown.set(this.#bytes.subarray(0, this.length));
      this.#bytes = grown;
    }
    this.#bytes.set(piece, this.length);
    this.length = length;
  }

  /** All of it, which is then the caller's. */
  take() {
    const whole = this.#bytes.subarray(0, this.length);
    this.#bytes = EMPTY;
    this.length = 0;
    return whole;
  }
}

export { Gathered };
