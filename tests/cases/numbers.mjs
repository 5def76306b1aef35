/** Owns the numbers that JSON has no text for: cases write them as strings. */

const WORDS = new Map([
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
  ["NaN", NaN],
]);

export function numberOf(value) {
  return WORDS.get(value) ?? value;
}
