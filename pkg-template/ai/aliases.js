/**
 * Owns the names under which tools are shown to models: providers allow few characters and short
 * names. Invariants: an alias stands for one tool; which one a tool gets depends on the set of
 * tools, not on their order; a name that is allowed, and that no other tool has, stays as it is.
 */

import { refused } from "../lib/arguments.js";

/** What OpenAI, Anthropic and Google all take. */
const ALLOWED = /^[A-Za-z0-9_-]+$/;
const OTHERS = /[^A-Za-z0-9_-]/gu;

/** The shortest of the providers' limits, in characters. */
const DEFAULT_MAX_LENGTH = 64;

/** Room for an underscore, the digits that tell altered names apart, and a character before them. */
const LEAST_MAX_LENGTH = 16;

/** Of FNV-1a, 64 bits. */
const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

const encoder = new TextEncoder();

/**
 * Gives every key an alias made of its name. `named` has `[key, name]`; keys are different texts,
 * names may repeat.
 */
function aliasesOf(named, maxLength = DEFAULT_MAX_LENGTH) {
  if (!Number.isSafeInteger(maxLength) || maxLength < LEAST_MAX_LENGTH) {
    throw refused("maxLength");
  }
  const uses = new Map();
  for (const [, name] of named) {
    uses.set(name, (uses.get(name) ?? 0) + 1);
  }
  const keys = new Map();
  const aliases = new Map();
  const take = (alias, key) => {
    keys.set(alias, key);
    aliases.set(key, alias);
  };
  const altered = [];
  for (const [key, name] of named) {
    if (uses.get(name) === 1 && name.length <= maxLength && ALLOWED.test(name)) {
      take(name, key);
    } else {
      altered.push([key, name]);
    }
  }
  // In an order of their own, so that a collision is decided alike however the tools were listed.
  altered.sort(([first], [second]) => (first < second ? -1 : 1));
  for (const [key, name] of altered) {
    for (let round = 0; ; round += 1) {
      const alias = alteredName(name, `${key}${round === 0 ? "" : `\0${round}`}`, maxLength);
      if (!keys.has(alias)) {
        take(alias, key);
        break;
      }
    }
  }
  return { keyOf: (alias) => keys.get(alias), aliasOf: (key) => aliases.get(key) };
}

/** The name with what is not allowed replaced, cut, and digits of what it stands for at its end. */
function alteredName(name, key, maxLength) {
  const digits = digest(key);
  return `${name.replace(OTHERS, "_").slice(0, maxLength - digits.length - 1)}_${digits}`;
}

/** Eight hexadecimal digits. Not a secret: who can choose names can make them collide. */
function digest(text) {
  let hash = OFFSET;
  for (const byte of encoder.encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * PRIME);
  }
  return BigInt.asUintN(32, hash ^ (hash >> 32n)).toString(16).padStart(8, "0");
}

function toolAliases(names, options = {}) {
  const list = [...new Set(names)];
  if (!list.every((name) => typeof name === "string")) {
    throw refused("names");
  }
  const { aliasOf, keyOf } = aliasesOf(
    list.map((name) => [name, name]),
    options.maxLength,
  );
  return Object.freeze({ aliasOf, nameOf: keyOf });
}

export { aliasesOf, toolAliases };
