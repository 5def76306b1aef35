// Compares patterns with the RegExp of the engine that runs this: random patterns and texts, judged by
// `pattern` in schemas of many, and by RegExp with the flag u, or without it where only Annex B reads
// the pattern. Prints the counts and every difference; exits 1 if there is one.
//
//   node tests/pattern-differential.mjs [MATCHES] [SEED]
//
// What both may do differently by design is not generated: patterns that only Annex B reads and texts
// for them have no characters beyond the basic plane, where RegExp reads two halves without the flag u
// (tests/js/patterns.test.mjs has the known differences by name).
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const DEFAULT_MATCHES = 1_000_000;
const PATTERNS_OF_A_BATCH = 100;
const TEXTS_OF_A_PATTERN = 20;

/** A generator of numbers (mulberry32): the same seed gives the same run. */
function randomOf(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const LETTERS = [..."aaabbbcABZ019_ -.,/:@"];
const RARE = ["é", "ß", "ſ", "K", "Ω", "λ", "़", "\n", "\r", "\t", "\u2028", "\u00a0", "\ufeff", "\u0000", "٣"];
const ASTRAL = ["😀", "𝒳", "\u{10400}", "\u{10ffff}"];
const HALVES = ["\ud83d", "\ude00"];

const CLASS_ESCAPES = ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S"];
const PROPERTIES = [
  "\\p{L}", "\\P{L}", "\\p{Lu}", "\\p{Script=Greek}", "\\p{sc=Latin}", "\\p{Nd}", "\\p{ASCII}",
  "\\P{ASCII}", "\\p{Any}", "\\p{Alphabetic}", "\\p{White_Space}", "\\p{Emoji_Presentation}",
  "\\p{gc=Ll}", "\\p{scx=Deva}", "\\p{Uppercase}", "\\p{P}",
];
const PLAIN_ESCAPES = ["\\n", "\\t", "\\r", "\\f", "\\v", "\\0", "\\cJ", "\\cj", "\\x61", "\\x41", "\\u0061",
  "\\u00e9", "\\.", "\\*", "\\/", "\\[", "\\]", "\\(", "\\)", "\\{", "\\}", "\\^", "\\$", "\\|", "\\?", "\\+", "\\\\"];
const UNICODE_ESCAPES = ["\\u{61}", "\\u{1F600}", "\\ud83d\\ude00", "\\ud83d", "\\ude00", "\\u{0}", "\\u{10FFFF}"];
/** What the flag u refuses, or reads otherwise than Annex B. */
const LEGACY = ["\\a", "\\-", "\\:", "\\_", "\\@", "\\8", "\\9", "\\07", "\\12", "\\377", "\\400", "\\c", "\\c1", "\\u", "\\u00",
  "\\u{61}", "\\x", "\\x4", "\\p{L}", "\\k", "\\k<a>", "{", "}", "]", "{}", "{,1}", "{1", "a{", "x{1", "{a}", "\\1", "\\3", "\\e"];
const LEGACY_CLASS = ["\\a", "\\-", "\\c", "\\c1", "\\c_", "\\8", "\\1", "\\12", "\\k", "\\B", "\\d-z", "a-\\d", "\\w-\\s", "\\u", "\\x"];
const BROKEN = ["(", ")", "[", "*", "+", "?", "a**", "{1}", "a{2,1}", "(?<", "(?<1>a)", "(?<a", "\\", "[b-a]", "(?a)", "(?<a>x)(?<a>y)",
  "x{1}{1}", "^*", "$+", "\\b?", "(?=a)*", "(?<=a)*", "(?!a){2}", "\\k<nope>", "(?<a>b)\\k<c>", "\\u{110000}", "[\\d-a]", "\\p{Foo}", "\\p{L", "a|*"];

/** Makes patterns and texts for them. */
class Generator {
  constructor(random) {
    this.random = random;
  }

  pick(list) {
    return list[this.random(list.length)];
  }

  chance(of) {
    return this.random(of) === 0;
  }

  pattern() {
    this.legacy = this.chance(4);
    this.groups = 0;
    this.names = [];
    let pattern = this.choice(3);
    if (this.legacy) {
      pattern = this.insert(pattern, this.pick(LEGACY));
    }
    if (this.chance(25)) {
      pattern = this.insert(pattern, this.pick(BROKEN));
    }
    return pattern;
  }

  /** Modifiers for the whole, which are flags to a RegExp: engines are slow to know groups of them. */
  modifiers() {
    return this.chance(5) ? this.pick(["i", "i", "m", "s", "im", "ims"]) : "";
  }

  insert(pattern, piece) {
    const at = this.random(pattern.length + 1);
    return pattern.slice(0, at) + piece + pattern.slice(at);
  }

  choice(depth) {
    const count = this.chance(3) ? 2 + this.random(2) : 1;
    return Array.from({ length: count }, () => this.sequence(depth)).join("|");
  }

  sequence(depth) {
    return Array.from({ length: this.random(5) }, () => this.term(depth)).join("");
  }

  term(depth) {
    switch (this.random(14)) {
      case 0:
        return this.pick(["^", "$", "\\b", "\\B", "^", "$"]);
      case 1:
      case 2:
        return depth > 0 ? this.group(depth) : this.character();
      case 3:
        return depth > 0 ? this.look(depth) : this.character();
      case 4:
        return this.reference();
      default:
        return this.atom() + this.quantifier();
    }
  }

  group(depth) {
    const inside = () => this.choice(depth - 1);
    let opening = "(";
    switch (this.random(4)) {
      case 0:
        opening = "(?:";
        break;
      case 1: {
        const name = this.pick(["a", "b", "name", "$x", "é", "_1"]);
        if (!this.names.includes(name)) {
          this.names.push(name);
          opening = `(?<${name}>`;
        }
        break;
      }
      default:
    }
    this.groups += opening === "(?:" ? 0 : 1;
    return `${opening}${inside()})${this.quantifier()}`;
  }

  look(depth) {
    const opening = this.pick(["(?=", "(?!", "(?<=", "(?<!"]);
    const closing = this.legacy && this.chance(4) && !opening.includes("<") ? ")*" : ")";
    return `${opening}${this.choice(depth - 1)}${closing}`;
  }

  reference() {
    if (this.groups === 0 || !this.chance(2)) {
      return this.character();
    }
    if (this.names.length > 0 && this.chance(2)) {
      return `\\k<${this.pick(this.names)}>`;
    }
    return `\\${1 + this.random(this.groups)}`;
  }

  quantifier() {
    if (!this.chance(3)) {
      return "";
    }
    const low = this.random(3);
    const bounds = [`{${low}}`, `{${low},}`, `{${low},${low + this.random(3)}}`, "*", "+", "?"];
    return this.pick(bounds) + (this.chance(4) ? "?" : "");
  }

  atom() {
    switch (this.random(9)) {
      case 0:
        return ".";
      case 1:
        return this.pick(CLASS_ESCAPES);
      case 2:
        return this.legacy ? this.pick(PLAIN_ESCAPES) : this.pick(PROPERTIES);
      case 3:
      case 4:
        return this.characterClass();
      default:
        return this.character();
    }
  }

  character() {
    switch (this.random(12)) {
      case 0:
        return this.pick(PLAIN_ESCAPES);
      case 1:
        return this.legacy ? this.pick(LEGACY) : this.pick(UNICODE_ESCAPES);
      case 2:
        return this.pick(RARE);
      case 3:
        return this.legacy ? this.pick(RARE) : this.pick(ASTRAL);
      default:
        return this.plain();
    }
  }

  plain() {
    const letter = this.pick(LETTERS);
    return letter === "." ? "\\." : letter;
  }

  characterClass() {
    const parts = Array.from({ length: this.random(4) }, () => this.classPart());
    return `[${this.chance(3) ? "^" : ""}${parts.join("")}]`;
  }

  classPart() {
    switch (this.random(8)) {
      case 0:
        return this.pick(CLASS_ESCAPES);
      case 1:
        return this.pick(["a-c", "A-Z", "0-9", "\\x61-\\x63", "\\t-\\r", " -~", "à-ÿ", "-", "\\b"]);
      case 2:
        return this.legacy ? this.pick(LEGACY_CLASS) : this.pick(PROPERTIES);
      case 3:
        return this.legacy ? this.pick(RARE) : this.pick([...ASTRAL, "\\u{1F600}-\\u{1F64F}", "\\ud83d", "\\-"]);
      default:
        return this.pick([...LETTERS.filter((letter) => letter !== "-"), ...PLAIN_ESCAPES]);
    }
  }

  /** A text, often of what the pattern holds. */
  text(pattern, isPlane) {
    const own = [...pattern].filter((unit) => !"()[]{}*+?|^$\\".includes(unit));
    const length = this.random(9);
    let text = "";
    while (text.length < length) {
      const roll = this.random(14);
      if (roll === 0) {
        text += this.pick(RARE);
      } else if (roll === 1 && !isPlane) {
        text += this.pick(this.chance(3) ? HALVES : ASTRAL);
      } else if (roll < 7 && own.length > 0) {
        text += this.pick(own);
      } else {
        text += this.pick(LETTERS);
      }
    }
    return text;
  }
}

/** A RegExp with the flag u, without it for a pattern of Annex B alone, or undefined. */
function referenceOf(pattern, modifiers) {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags + modifiers);
    } catch {
      // Read otherwise, or not at all.
    }
  }
  return undefined;
}

/**
 * Whether a RegExp matches. Under the flag u a match begins at a code point; V8 also tries the middle
 * of a surrogate pair, which ECMA-262 does not know, so each place is tried by itself where there is
 * such a pair.
 */
function matchesText(reference, text) {
  if (!reference.unicode || !isAstral(text)) {
    return reference.test(text);
  }
  const sticky = new RegExp(reference.source, `${reference.flags}y`);
  for (let at = 0; at <= text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) {
    sticky.lastIndex = at;
    if (sticky.test(text)) {
      return true;
    }
  }
  return false;
}

function isAstral(text) {
  return /[\ud800-\udfff]/.test(text);
}

/** What compiling one pattern alone comes to. */
function compileAlone(toolwire, pattern) {
  try {
    return { schema: toolwire.compileSchema({ pattern }) };
  } catch (error) {
    if (error.code !== "schema_error") {
      throw error;
    }
    return { reason: error.reason };
  }
}

/**
 * Runs until so many matches are compared. Gives the counts and a line for each difference, at most
 * fifty.
 */
function compare(toolwire, matches, seed) {
  const generator = new Generator(randomOf(seed));
  const found = {
    patterns: 0, matches: 0, positive: 0, annexB: 0, refused: 0, undecided: 0, large: 0, differences: [],
  };
  const differ = (line) => {
    if (found.differences.length < 50) {
      found.differences.push(line);
    }
  };
  while (found.matches < matches && found.differences.length < 50) {
    const batch = [];
    while (batch.length < PATTERNS_OF_A_BATCH) {
      const plain = generator.pattern();
      const modifiers = generator.modifiers();
      const reference = referenceOf(plain, modifiers);
      const pattern = modifiers === "" ? plain : `(?${modifiers}:${plain})`;
      found.patterns += 1;
      if (reference === undefined) {
        found.refused += 1;
        const { reason } = compileAlone(toolwire, pattern);
        if (reason !== "bad_pattern") {
          differ(`${JSON.stringify(pattern)}: RegExp refuses it, here ${reason ?? "it compiles"}`);
        }
        continue;
      }
      if (!reference.unicode && isAstral(pattern)) {
        continue;
      }
      batch.push({ pattern, reference });
    }
    compareBatch(toolwire, generator, batch, found, differ);
  }
  return found;
}

function compareBatch(toolwire, generator, batch, found, differ) {
  const kept = compileBatch(toolwire, batch, found, differ);
  if (kept === undefined) {
    return;
  }
  const { schema, entries } = kept;
  const legacy = new Set(
    schema.problems.filter(({ code }) => code === "pattern_not_unicode_safe").map(({ at }) => at),
  );
  entries.forEach(({ pattern, reference }, index) => {
    found.annexB += reference.unicode ? 0 : 1;
    if (legacy.has(`/prefixItems/${index}/pattern`) === reference.unicode) {
      differ(`${JSON.stringify(pattern)}: lint tells ${reference.unicode ? "a" : "no"} difference of the flag u`);
    }
  });
  for (let turn = 0; turn < TEXTS_OF_A_PATTERN; turn += 1) {
    const texts = entries.map(({ pattern, reference }) => generator.text(pattern, !reference.unicode));
    const failed = new Set(schema.validate(texts).errors.map(({ instancePath }) => instancePath));
    entries.forEach(({ pattern, reference }, index) => {
      found.matches += 1;
      const wanted = matchesText(reference, texts[index]);
      found.positive += wanted ? 1 : 0;
      if (failed.has(`/${index}`) !== wanted) {
        return;
      }
      const { verdict } = toolwire.compileSchema({ pattern }).validate(texts[index]);
      if (verdict === "unknown") {
        found.undecided += 1;
      } else {
        const flags = reference.unicode ? "u" : "";
        differ(`/${pattern}/${flags} on ${JSON.stringify(texts[index])}: RegExp says ${wanted}, here ${verdict}`);
      }
    });
  }
  schema.free();
}

/** One schema of all patterns that compile; those that do not are told. */
function compileBatch(toolwire, batch, found, differ) {
  const build = (entries) => ({
    entries,
    schema: toolwire.compileSchema(
      { prefixItems: entries.map(({ pattern }) => ({ pattern })) },
      { maxErrors: PATTERNS_OF_A_BATCH },
    ),
  });
  try {
    return build(batch);
  } catch {
    const entries = batch.filter(({ pattern, reference }) => {
      const { reason } = compileAlone(toolwire, pattern);
      if (reason === "limit") {
        found.large += 1;
      } else if (reason !== undefined) {
        differ(`/${pattern}/${reference.flags}: RegExp reads it, here ${reason}`);
      }
      return reason === undefined;
    });
    return entries.length === 0 ? undefined : build(entries);
  }
}

function main(matches, seed) {
  const toolwire = createRequire(new URL("../pkg/package.json", import.meta.url))("toolwire");
  const { differences, ...counts } = compare(toolwire, matches, seed);
  console.log(`seed ${seed}: ${JSON.stringify(counts)}`);
  for (const line of differences) {
    console.log(`  ${line}`);
  }
  return differences.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [matches = DEFAULT_MATCHES, seed = Math.floor(Math.random() * 2 ** 32)] = process.argv.slice(2).map(Number);
  process.exitCode = main(matches, seed);
}

export { compare };
