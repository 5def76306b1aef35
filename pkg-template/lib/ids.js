/**
 * Owns the ids of requests where the host brings none. Invariant: 128 random bits each, so that ids
 * made by many processes on one transport do not meet.
 */

const BYTES = 16;

/** Randomness drawn at a time: one draw for each id would cost more than the rest of a call. */
const POOL = 256 * BYTES;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

let pool;
let used = POOL;

function randomId() {
  if (used === POOL) {
    pool = crypto.getRandomValues(pool ?? new Uint8Array(POOL));
    used = 0;
  }
  let id = "";
  for (const end = used + BYTES; used < end; used += 1) {
    id += HEX[pool[used]];
  }
  return id;
}

export { randomId };
