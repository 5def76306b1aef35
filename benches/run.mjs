// Measures the built package and writes benches/RESULTS.md.
//
//   node benches/run.mjs [--quick] [--loaded] [--data DIR] [--only NAME]... [--processes N]
//
// Every engine runs in processes of its own, taken in turns; what is written is the median over the
// processes of each one's own median, and every ratio is taken within one run. --quick is short and
// rough and writes to the terminal only. --loaded is for a machine that others use: the fastest
// round counts. --data names a folder of data sets (NAME/schema.json, NAME/instances.jsonl).
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { median } from "./support/clock.mjs";
import { versionOf } from "./support/packages.mjs";
import { profileOf } from "./support/profile.mjs";
import { built, rivalVersion } from "./support/rival.mjs";
import { table } from "./support/report.mjs";
import { FILE as SCHEMAS } from "./support/tool-schemas.mjs";

/** In the order of the report. */
const MEASURES = [
  "lines",
  "calls",
  "datasets",
  "compile",
  "framing",
  "blocking",
  "hostile",
  "cold",
  "size",
];

const COMPARED = [
  "ajv",
  "ajv-formats",
  "@cfworker/json-schema",
  "@modelcontextprotocol/sdk",
  "@modelcontextprotocol/client",
  "mdn-data",
];

const folder = dirname(fileURLToPath(import.meta.url));
const worker = join(folder, "worker.mjs");
const runFile = promisify(execFile);

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    loaded: { type: "boolean", default: false },
    data: { type: "string" },
    only: { type: "string", multiple: true },
    processes: { type: "string" },
  },
});

const options = {
  quick: values.quick,
  loaded: values.loaded,
  data: values.data === undefined ? undefined : resolve(values.data),
};

async function inProcess(measure, engine) {
  const { stdout } = await runFile(
    process.execPath,
    [worker, measure, engine, JSON.stringify(options)],
    { maxBuffer: 1 << 26 },
  );
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** Each engine's times: numbers by their medians, words as the first process said them. */
async function sample(measure, engines, processes, once) {
  const found = Object.fromEntries(engines.map((engine) => [engine, []]));
  for (let round = 0; round < processes; round += 1) {
    for (const engine of engines) {
      if (round > 0 && once.includes(engine)) {
        continue;
      }
      found[engine].push(await inProcess(measure, engine));
    }
  }
  return Object.fromEntries(engines.map((engine) => [engine, merged(found[engine])]));
}

function merged(results) {
  const [first] = results;
  return Object.fromEntries(
    Object.keys(first).map((name) => {
      const all = results.map((result) => result[name]);
      return [name, all.every((each) => typeof each === "number") ? median(all) : first[name]];
    }),
  );
}

function heading(processes) {
  const [cpu, ...others] = cpus();
  const versions = COMPARED.map((name) => `${name} ${versionOf(name)}`).join(", ");
  const words = ["cargo xtask bench", ...(options.loaded ? ["--loaded"] : [])];
  words.push(...(options.data === undefined ? [] : ["--data DIR"]));
  return [
    "# Results",
    `Written by \`${words.join(" ")}\`. Machine: ${others.length + 1} cores, ${cpu.model.trim()}; Node ${process.versions.node}.`,
    `Compared: ${versions}, ${built ? `the crate jsonschema ${rivalVersion()}, built for WebAssembly with serde_json (benches/rival)` : "not the crate jsonschema, which could not be built"}.`,
    `Every engine ran in ${processes === 1 ? "one process" : `${processes} processes`} of its own, taken in turns; a number is the median of their medians${options.loaded ? ", each the fastest of its rounds because the machine was shared" : ""}. JP is decoding the bytes and \`JSON.parse\` of the text.`,
  ].join("\n\n");
}

/** Targets beside what was measured; for those missed, where the time goes. */
async function summary(goals) {
  const missed = new Map();
  const rows = goals.map(({ what, value, most, least, unit = "", measure, engine }) => {
    const met = most === undefined ? value >= least : value <= most;
    if (!met && engine !== undefined) {
      missed.set(`${measure} ${engine}`, { measure, engine });
    }
    const bound = most === undefined ? `≥ ${least}` : `≤ ${most}`;
    return [what, `${bound} ${unit}`.trim(), Number(value.toPrecision(3)), met ? "yes" : "NO"];
  });
  const parts = [table(["measure", "target", "measured", "met"], rows)];
  const lines = [];
  for (const [name, { measure, engine }] of options.quick ? [] : missed) {
    const program = [worker, measure, engine, JSON.stringify({ ...options, quick: true })];
    lines.push(`- ${name}: ${await profileOf(program)}`);
  }
  if (lines.length > 0) {
    parts.push(
      "### Where the time goes",
      "Of the targets missed, by measure and engine over all sizes: shares of the time in the process, warm-up and start included; functions of the core by their names in a build with names.",
      lines.join("\n"),
    );
  }
  return parts.join("\n\n");
}

const processes = Number(values.processes ?? (options.quick ? 1 : 3));
const chosen = values.only ?? MEASURES;
if (!existsSync(SCHEMAS) && chosen.some((name) => ["compile", "datasets"].includes(name))) {
  const gather = join(folder, "gather-schemas.mjs");
  const { stdout } = await runFile(process.execPath, [gather], { maxBuffer: 1 << 26 });
  console.log(stdout.trim());
}
const sections = [];
const goals = [];
for (const measure of chosen) {
  const { engines, once = [], report, targets, title } = await import(`./measures/${measure}.mjs`);
  console.error(`measuring: ${title}`);
  const medians = await sample(measure, engines, processes, once);
  sections.push(`## ${title}\n\n${report(medians, options)}`);
  for (const target of targets?.(medians) ?? []) {
    goals.push({ measure, ...target });
  }
}
sections.unshift(`## Targets\n\n${await summary(goals)}`);
const text = `${[heading(processes), ...sections].join("\n\n")}\n`;
console.log(`\n${text}`);
if (!options.quick && values.only === undefined) {
  writeFileSync(join(folder, "RESULTS.md"), text);
  console.log("written to benches/RESULTS.md");
}
