// Runs one scenario of the official conformance suite against `connectHttp`.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const CLIENT = at("client.mjs");
const REFEREE = at("../node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The scenarios for clients, each with the revisions it is for. */
export async function listScenarios() {
  const { output } = await referee(["list", "--client"]);
  return [...output.matchAll(/^ *- (\S+) \[([^\]]*)\]$/gm)].map(([, name, versions]) => ({
    name,
    versions: versions.split(","),
  }));
}

/** Resolves with `{ passed, output }`. */
export function runScenario(scenario, version) {
  return referee([
    "client",
    "--command",
    `${process.execPath} ${CLIENT}`,
    "--scenario",
    scenario,
    "--spec-version",
    version,
    "--verbose",
  ]);
}

function referee(args) {
  const all = ["--import", at("node20.mjs"), REFEREE, ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, all, { timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ passed: error === null, output: `${stdout}${stderr}` });
    });
  });
}
