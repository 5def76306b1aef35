/**
 * Owns the two streams a command writes to: what it was asked for goes to stdout, everything about
 * it to stderr. Colour and width are each stream's own.
 */
import Table from "cli-table3";
import pc from "picocolors";
import { jsonText } from "./safe-text.mjs";

const NARROWEST = 40;
const DEFAULT_WIDTH = 80;
const NARROWEST_COLUMN = 12;
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
    /** Whether somebody reads stdout on a screen. */
    this.isScreen = process.stdout.isTTY === true;
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

  /** Text broken between words at the width; lines after the first begin with the indent. */
  wrap(text, indent = "") {
    const lines = [];
    const [lead] = /^ */.exec(text);
    let current = lead;
    for (const word of text.slice(lead.length).split(" ")) {
      const longer = current.trim() === "" ? `${current}${word}` : `${current} ${word}`;
      if (current.trim() !== "" && longest(longer) > this.width) {
        lines.push(current);
        current = `${indent}${word}`;
      } else {
        current = longer;
      }
    }
    return [...lines, current].join("\n");
  }

  /** Something about what is being done. */
  note(text) {
    process.stderr.write(`${text}\n`);
  }

  /**
   * Rows under a heading. Columns are as wide as what is in them, up to the share `most` of the
   * width; those with `grows` give way where the room is short. What is too long for its column is broken into lines.
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
    const widths = columns.map(({ most = 1 }, index) => Math.min(natural[index], this.#most(most)));
    const room = this.width - indent.length - GAP.length * (columns.length - 1);
    const growing = columns.flatMap(({ grows }, index) => (grows === true ? [index] : []));
    const least = columns.map((_, index) =>
      Math.min(
        widths[index],
        LONGEST_WORD,
        Math.max(10, ...rows.map((row) => longestWord(row[index]))),
      ),
    );
    // The widest column gives way, first down to its longest word, then further.
    for (const floor of [least, columns.map(() => NARROWEST_COLUMN)]) {
      let over = widths.reduce((sum, width) => sum + width, 0) - room;
      while (over > 0) {
        const yielding = growing.filter((index) => widths[index] > floor[index]);
        if (yielding.length === 0) {
          break;
        }
        const widest = yielding.reduce((a, b) => (widths[b] >= widths[a] ? b : a));
        widths[widest] -= 1;
        over -= 1;
      }
    }
    return widths;
  }

  /** A share of the width in columns. */
  #most(share) {
    return Math.max(NARROWEST_COLUMN, Math.floor(this.width * share));
  }
}

/** A word that is longer than its column would be cut. Colours have no width. */
function broken(text, width) {
  const parts = new RegExp(`.{${width}}(?=.)`, "gu");
  return text.replace(/\u001b\[[\d;]*m|[^\s\u001b]+/g, (part) =>
    part.startsWith("\u001b") ? part : part.replace(parts, (piece) => `${piece} `),
  );
}

function longest(text) {
  return Math.max(
    0,
    ...uncoloured(text)
      .split("\n")
      .map((part) => [...part].length),
  );
}

function longestWord(text) {
  return Math.max(
    0,
    ...uncoloured(text)
      .split(/\s+/)
      .map((part) => [...part].length),
  );
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
  return Math.max(
    NARROWEST,
    Number.isSafeInteger(columns) && columns > 0 ? columns : DEFAULT_WIDTH,
  );
}

export { Terminal };
