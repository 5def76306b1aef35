// Owns what a CPU profile is summed up to: the shares of WebAssembly, glue, each module and the host.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const runFile = promisify(execFile);

/** Shares below this are left out. */
const LEAST = 0.02;

/** Runs a program of Node's under its profiler; gives the shares, largest first, as text. */
async function profileOf(program) {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  try {
    const flags = ["--cpu-prof", "--cpu-prof-dir", folder, "--cpu-prof-interval", "500"];
    await runFile(process.execPath, [...flags, ...program], { maxBuffer: 1 << 26 });
    const [file] = readdirSync(folder);
    return sharesOf(JSON.parse(readFileSync(join(folder, file), "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sharesOf({ nodes, samples, timeDeltas }) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const spent = new Map();
  let whole = 0;
  samples.forEach((id, index) => {
    const place = places.get(id);
    spent.set(place, (spent.get(place) ?? 0) + timeDeltas[index]);
    whole += timeDeltas[index];
  });
  return [...spent]
    .sort((one, other) => other[1] - one[1])
    .filter(([, time]) => time / whole >= LEAST)
    .map(([place, time]) => `${place} ${((100 * time) / whole).toFixed(0)} %`)
    .join(", ");
}

function placeOf({ functionName, url }) {
  if (url.startsWith("wasm") || functionName.startsWith("wasm-function")) {
    return "WebAssembly";
  }
  if (url.startsWith("node:")) {
    return "Node";
  }
  const file = url.split("/").at(-1);
  return file === "" ? functionName : file;
}

export { profileOf };
