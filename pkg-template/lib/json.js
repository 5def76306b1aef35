/**
 * Owns how a peer's JSON text is parsed on the host's side: at most once, numbers as asked for.
 * The text was read by the core before, so it is well formed.
 */

/** A run of digits that may exceed 2^53; shorter integers are exact as doubles. */
const LONG_INTEGER = /[0-9]{16}/;

const NUMBER = /-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const LITERALS = new Map([
  ["t", true],
  ["f", false],
  ["n", null],
]);

/** Parses a text; `numbers` says how integers beyond 2^53 are read. */
function parseJson(text, numbers = "number") {
  if (numbers === "number" || !LONG_INTEGER.test(text)) {
    return JSON.parse(text);
  }
  return parseExactly(text, numbers === "bigint" ? BigInt : String);
}

/** `JSON.parse`, but integers beyond 2^53 become `whole(digits)`. Keeps its own stack. */
function parseExactly(text, whole) {
  const stack = [];
  let container;
  let key;
  let root;

  function add(value) {
    if (container === undefined) {
      root = value;
    } else if (Array.isArray(container)) {
      container.push(value);
    } else {
      setMember(container, key, value);
      key = undefined;
    }
  }

  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (character === "{" || character === "[") {
      const opened = character === "{" ? {} : [];
      add(opened);
      stack.push(container);
      container = opened;
      at += 1;
    } else if (character === "}" || character === "]") {
      container = stack.pop();
      at += 1;
    } else if (character === '"') {
      const end = stringEnd(text, at);
      const string = JSON.parse(text.slice(at, end));
      if (container !== undefined && !Array.isArray(container) && key === undefined) {
        key = string;
      } else {
        add(string);
      }
      at = end;
    } else if (character === "-" || (character >= "0" && character <= "9")) {
      NUMBER.lastIndex = at;
      const [number, fraction, exponent] = NUMBER.exec(text);
      const double = Number(number);
      const isLong = fraction === undefined && exponent === undefined;
      add(isLong && !Number.isSafeInteger(double) ? whole(number) : double);
      at += number.length;
    } else if (LITERALS.has(character)) {
      add(LITERALS.get(character));
      at += character === "f" ? 5 : 4;
    } else {
      // White space, comma or colon.
      at += 1;
    }
  }
  return root;
}

/** The index after a string's closing quote. */
function stringEnd(text, start) {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (text[end - 1 - escapes] === "\\") {
      escapes += 1;
    }
    if (escapes % 2 === 0) {
      return end + 1;
    }
  }
}

/** As `JSON.parse` does it: `__proto__` is an ordinary name. */
function setMember(object, key, value) {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  } else {
    object[key] = value;
  }
}

/** Freezes a parsed value and all it holds. */
function deepFreeze(root) {
  const waiting = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
      Object.freeze(value);
      for (const member of Object.values(value)) {
        waiting.push(member);
      }
    }
  }
  return root;
}

export { deepFreeze, parseJson };
