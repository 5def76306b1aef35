/**
 * Owns the two streams a command writes to: what it was asked for goes to stdout, everything about
 * it to stderr. Colour and width are each stream's own.
 */
import Table from "cli-table3";
import pc from "picocolors";
import { jsonText } from "./safe-text.mjs";

const NARROWEST = 40;
const DEFAULT_WIDTH = 80;
const NARROWEST_COLUMN = 16;
const LONGEST_WORD = 24;

/** A table without lines. */
const PLAIN = Object.fromEntries(
  [
    ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left"],
    ...["bottom-right", "left", "left-mid", "mid", "mid-mid", "right", "right-mid"],
  ].map((name) => [name, ""]),
);
const GAP = "  ";

class Terminal {
  constructor({ color, json }) {
    this.json = json === true;
    this.colors = pc.createColors(coloured(process.stdout, color));
    this.errorColors = pc.createColors(coloured(process.stderr, color));
    this.width = widthOf(process.stdout);
    /** Whether somebody sees progress. */
    this.live = process.stderr.isTTY === true;
  }

  /** One line, or several, of what was asked for. Everything in it has been made safe. */
  print(text = "") {
    process.stdout.write(`${text}\n`);
  }

  /** The whole answer for a machine. */
  printJson(value) {
    this.print(jsonText(JSON.stringify(value, null, 2)));
  }

  /** One answer of many for a machine. */
  printJsonLine(value) {
    this.print(jsonText(JSON.stringify(value)));
  }

  /** Something about what is being done. */
  note(text) {
    process.stderr.write(`${text}\n`);
  }

  /**
   * Rows under a heading. Columns are as wide as what is in them, up to `most`; those with `grows`
   * share what is left. What is too long for its column is broken into lines.
   */
  table(columns, rows, indent = "") {
    const widths = this.#widths(columns, rows, indent);
    const table = new Table({
      head: columns.map(({ name }) => this.colors.bold(name)),
      colWidths: widths,
      wordWrap: true,
      wrapOnWordBoundary: true,
      chars: { ...PLAIN, middle: GAP },
      style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    });
    table.push(...rows.map((row) => row.map((text, index) => broken(text, widths[index]))));
    const lines = table.toString().split("\n");
    return lines.map((text) => `${indent}${text}`.trimEnd()).join("\n");
  }

  #widths(columns, rows, indent) {
    const natural = columns.map(({ name }, index) =>
      Math.max(name.length, ...rows.map((row) => longest(row[index]))),
    );
    const capped = columns.map(({ most = Infinity }, index) => Math.min(natural[index], most));
    const room = this.width - indent.length - GAP.length * (columns.length - 1);
    const growing = columns.map(({ grows }) => grows === true);
    const sumOf = (test) => capped.reduce((sum, width, index) => (test(index) ? sum + width : sum), 0);
    const wanted = sumOf((index) => growing[index]);
    const left = room - sumOf((index) => !growing[index]);
    if (wanted <= left) {
      return capped;
    }
    // No column is narrower than its longest word, within reason; the last one takes what is left.
    const shares = capped.map((width, index) => {
      const word = Math.max(...rows.map((row) => longestWord(row[index])), 10);
      return growing[index] ? Math.max(Math.min(word, width, LONGEST_WORD), Math.floor((width / wanted) * left)) : width;
    });
    const over = shares.reduce((sum, width) => sum + width, 0) - room;
    const last = growing.lastIndexOf(true);
    shares[last] = Math.max(NARROWEST_COLUMN, shares[last] - over);
    return shares;
  }
}

/** A word that is longer than its column would be cut. */
function broken(text, width) {
  return text.replace(new RegExp(`[^\\s\\u001b]{${width}}(?=[^\\s])`, "gu"), (part) => `${part} `);
}

function longest(text) {
  return Math.max(0, ...uncoloured(text).split("\n").map((part) => [...part].length));
}

function longestWord(text) {
  return Math.max(0, ...uncoloured(text).split(/\s+/).map((part) => [...part].length));
}

function uncoloured(text) {
  return text.replace(/\u001b\[[\d;]*m/g, "");
}

function coloured(stream, asked) {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (asked !== undefined) {
    return asked;
  }
  if (NO_COLOR !== undefined && NO_COLOR !== "") {
    return false;
  }
  if (FORCE_COLOR !== undefined) {
    return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  }
  return stream.isTTY === true && TERM !== "dumb";
}

function widthOf(stream) {
  const columns = stream.columns ?? Number(process.env.COLUMNS);
  return Math.max(NARROWEST, Number.isSafeInteger(columns) && columns > 0 ? columns : DEFAULT_WIDTH);
}

export { Terminal };
