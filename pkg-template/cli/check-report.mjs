/**
 * Owns what `toolwire check` shows people: the facts, then the findings by their code, the gravest
 * first, within the width of the screen.
 */
import { block, cut, line } from "./safe-text.mjs";

/** Findings by their code, in the order in which codes come first. */
function grouped(findings) {
  const groups = new Map();
  for (const finding of findings) {
    groups.set(finding.code, [...(groups.get(finding.code) ?? []), finding]);
  }
  return groups;
}

function printReport(terminal, { findings, counts, ...facts }) {
  const { colors } = terminal;
  const paint = { error: colors.red, warning: colors.yellow, note: colors.cyan };
  const { era, protocolVersion, serverInfo, tools, firstByteMs, shutdownMs } = facts;
  const called = [serverInfo?.name, serverInfo?.version]
    .filter((part) => typeof part === "string")
    .join(" ");
  const head = [
    ...(era === undefined ? ["not connected"] : [`${era} ${protocolVersion}`]),
    ...(called === "" ? [] : [cut(called)]),
    ...(tools === undefined ? [] : [`${tools} ${tools === 1 ? "tool" : "tools"}`]),
    ...(firstByteMs === undefined ? [] : [`first byte after ${firstByteMs} ms`]),
    ...(shutdownMs === undefined ? [] : [`ended within ${shutdownMs} ms`]),
  ];
  terminal.print(
    `${terminal.wrap(`${colors.bold(line(facts.server))}  ${head.join(" · ")}`, "  ")}\n`,
  );
  const indent = " ".repeat(9);
  for (const [code, group] of grouped(findings)) {
    const [{ severity, message, section, hint }] = group;
    terminal.print(
      terminal.wrap(
        `${paint[severity](severity.padEnd(7))}  ${colors.bold(code)}: ${message}`,
        indent,
      ),
    );
    for (const { where, count, evidence } of group) {
      const times = count === 1 ? "" : ` (${count} times)`;
      const [first, ...more] = evidence === undefined ? [] : block(evidence).split("\n");
      const shown = first === undefined ? "" : `: ${colors.dim(first)}`;
      terminal.print(terminal.wrap(`${indent}- ${line(where)}${times}${shown}`, `${indent}  `));
      for (const text of more) {
        terminal.print(terminal.wrap(`${indent}  ${colors.dim(text)}`, `${indent}  `));
      }
    }
    terminal.print(`${terminal.wrap(`${indent}${hint} ${colors.dim(`(${section})`)}`, indent)}\n`);
  }
  const words = Object.entries(counts).map(
    ([name, count]) => `${count} ${count === 1 ? name : `${name}s`}`,
  );
  const verdict = counts.error > 0 ? colors.red("✗") : colors.green("✓");
  terminal.print(`${verdict} ${words.join(", ")}`);
}

export { printReport };
