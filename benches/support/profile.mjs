// Owns what a CPU profile is summed up to: the shares of the core by its functions, of glue, each module
// and the host.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { NAMES } from "./packages.mjs";

const runFile = promisify(execFile);

/** Shares below this are left out. */
const LEAST = 0.02;

/** Functions of the core that are named. */
const MOST = 8;

/** Runs a program of Node's under its profiler; gives the shares, largest first, as text. */
async function profileOf(program) {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const flags = ["--cpu-prof", "--cpu-prof-dir", folder, "--cpu-prof-interval", "500"];
    const env = { ...process.env, [NAMES]: "1" };
    await runFile(process.execPath, [...flags, ...program], { env, maxBuffer: 1 << 26 });
    const [file] = readdirSync(folder);
    return sharesOf(JSON.parse(readFileSync(join(folder, file), "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sharesOf({ nodes, samples, timeDeltas }) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const spent = new Map();
  const inside = new Map();
  let whole = 0;
  samples.forEach((id, index) => {
    const { place, name } = places.get(id);
    add(spent, place, timeDeltas[index]);
    if (name !== undefined) {
      add(inside, name, timeDeltas[index]);
    }
    whole += timeDeltas[index];
  });
  return shares(spent, whole)
    .map(([place, words]) => (place === "WebAssembly" ? `${words}${named(inside, whole)}` : words))
    .join(", ");
}

function add(times, name, time) {
  times.set(name, (times.get(name) ?? 0) + time);
}

/** Largest first, without the small ones. */
function shares(times, whole) {
  return [...times]
    .sort((one, other) => other[1] - one[1])
    .filter(([, time]) => time / whole >= LEAST)
    .map(([name, time]) => [name, `${name} ${((100 * time) / whole).toFixed(0)} %`]);
}

function named(inside, whole) {
  const words = shares(inside, whole).slice(0, MOST).map(([, each]) => each);
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

function placeOf({ functionName, url }) {
  if (url.startsWith("wasm") || functionName.startsWith("wasm-function")) {
    return { place: "WebAssembly", name: nameOf(functionName) };
  }
  if (url.startsWith("node:")) {
    return { place: "Node" };
  }
  const file = url.split("/").at(-1);
  return { place: file === "" ? functionName : file };
}

/** A function's name without its crate and its hash; undefined where the binary has no names. */
function nameOf(functionName) {
  if (functionName.startsWith("wasm-function")) {
    return undefined;
  }
  const path = functionName.replace(/(?:::h[0-9a-f]{16}|\[[0-9a-f]+\])/g, "");
  return `\`${path.replace(/^toolwire::/, "")}\``;
}

export { profileOf };
