// Owns how numbers and tables are written.

function micro(value) {
  if (value === undefined) {
    return "–";
  }
  if (value >= 1e6) {
    return `${(value / 1e6).toFixed(2)} s`;
  }
  return value >= 1000 ? `${rounded(value / 1000)} ms` : `${rounded(value)} µs`;
}

/** Three digits, without an exponent. */
function rounded(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function ratio(value, base) {
  return value === undefined || base === undefined ? "–" : (value / base).toFixed(2);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function geometricMean(values) {
  const logs = values.map((value) => Math.log(value));
  return Math.exp(logs.reduce((sum, each) => sum + each, 0) / logs.length);
}

export { geometricMean, micro, ratio, table };
