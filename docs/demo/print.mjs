/** Text for a terminal: tables, indented lines, and values on one line of bounded length. */

const WIDTH = 100;

/** A value as one line; what a server sent is shown without its control characters. */
function oneLine(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const flat = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return flat.length > WIDTH ? `${flat.slice(0, WIDTH - 1)}…` : flat;
}

function indented(text, columns) {
  return " ".repeat(columns) + text;
}

/** Left-aligned columns under a ruled heading. */
function table(headings, rows) {
  const cells = [headings, ...rows].map((row) => row.map(oneLine));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => row.map((cell, column) => cell.padEnd(widths[column])).join("  ").trimEnd();
  const rule = widths.map((width) => "-".repeat(width));
  return [cells[0], rule, ...cells.slice(1)].map((row) => indented(line(row), 4)).join("\n");
}

export { indented, oneLine, table };
