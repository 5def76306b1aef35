/**
 * Owns JSON as it is written: where a value stands in a text, and a text laid out without a digit
 * changed. Verdicts are the core's; here is only what people need to find their way.
 */
import { createScanner, findNodeAtLocation, parseTree } from "jsonc-parser";
import { UsageError } from "./exit.mjs";

const STRICT = { allowTrailingComma: false, disallowComments: true, allowEmptyContent: false };

/** Kinds of tokens, as the scanner numbers them. */
const TOKEN = { OPEN: [1, 3], CLOSE: [2, 4], COMMA: 5, COLON: 6, END: 17 };

/** Line and column of an offset, both from 1; columns count UTF-16 units. */
function positionAt(text, offset) {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: offset - (before.lastIndexOf("\n") + 1) + 1 };
}

/** A text that can be asked where things are. */
class JsonSource {
  #text;
  #root;
  #errors = [];

  constructor(text) {
    this.#text = text;
    try {
      this.#root = parseTree(text, this.#errors, STRICT);
    } catch {
      // Nested deeper than the reader goes: nothing is known of places then.
    }
  }

  /** Where the text stops being JSON, or undefined. */
  get brokenAt() {
    const [first] = this.#errors;
    return first === undefined ? undefined : positionAt(this.#text, first.offset);
  }

  /** Where the value of a JSON Pointer stands, or what of it is there; undefined if unknown. */
  positionOf(pointer) {
    let node = this.#root;
    for (const step of stepsOf(pointer)) {
      const next = node === undefined ? undefined : childOf(node, step);
      if (next === undefined) {
        break;
      }
      node = next;
    }
    return node === undefined ? undefined : positionAt(this.#text, node.offset);
  }

  /** The text of a member of the root, exactly as written; undefined if there is none. */
  member(name) {
    const node = this.#root === undefined ? undefined : childOf(this.#root, name);
    return node === undefined
      ? undefined
      : this.#text.slice(node.offset, node.offset + node.length);
  }

  /** Where an integer stands that a number cannot hold, or undefined. */
  get inexactAt() {
    const open = this.#root === undefined ? [] : [this.#root];
    while (open.length > 0) {
      const node = open.pop();
      if (
        node.type === "number" &&
        Number.isInteger(node.value) &&
        !Number.isSafeInteger(node.value)
      ) {
        const written = this.#text.slice(node.offset, node.offset + node.length);
        if (/^-?\d+$/.test(written) && BigInt(written) !== BigInt(node.value)) {
          return positionAt(this.#text, node.offset);
        }
      }
      open.push(...(node.children ?? []));
    }
    return undefined;
  }
}

function stepsOf(pointer) {
  const steps = pointer === "" ? [] : pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Of members with one name the last counts, as in JSON.parse. */
function childOf(node, step) {
  if (node.type === "array") {
    return /^\d+$/.test(step) ? findNodeAtLocation(node, [Number(step)]) : undefined;
  }
  const members = node.type === "object" ? (node.children ?? []) : [];
  return members.findLast((member) => member.children?.[0]?.value === step)?.children?.[1];
}

/**
 * Reads an object that the caller wrote. What is none, and a number that would lose digits on its
 * way, is a usage error that says where.
 */
function readObject(text, what) {
  const source = new JsonSource(text);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    const at = source.brokenAt ?? positionAt(text, text.length);
    throw new UsageError(`${what}: not JSON (line ${at.line}, column ${at.column})`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${what} must be a JSON object`);
  }
  const at = source.inexactAt;
  if (at !== undefined) {
    throw new UsageError(
      `${what}: a number at line ${at.line}, column ${at.column} has more digits than can be sent`,
      "give it as a string if the tool takes one",
    );
  }
  return value;
}

/** The same text, one member or element a line. */
function laidOut(text) {
  const scanner = createScanner(text, true);
  const parts = [];
  let depth = 0;
  const newLine = () => parts.push(`\n${"  ".repeat(depth)}`);
  let opened = false;
  for (let kind = scanner.scan(); kind !== TOKEN.END; kind = scanner.scan()) {
    const token = text.slice(
      scanner.getTokenOffset(),
      scanner.getTokenOffset() + scanner.getTokenLength(),
    );
    const closes = TOKEN.CLOSE.includes(kind);
    if (closes) {
      depth -= 1;
    }
    if (opened !== closes) {
      // After what opens, before what closes; an empty container stays as it is.
      newLine();
    }
    opened = false;
    parts.push(token);
    if (TOKEN.OPEN.includes(kind)) {
      depth += 1;
      opened = true;
    } else if (kind === TOKEN.COMMA) {
      newLine();
    } else if (kind === TOKEN.COLON) {
      parts.push(" ");
    }
  }
  return parts.join("");
}

export { JsonSource, laidOut, positionAt, readObject };
