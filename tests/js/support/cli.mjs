// The program as its users run it, and what is left of the servers it starts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "./processes.mjs";
import { fixture } from "./servers.mjs";

export const program = fileURLToPath(new URL("../../../pkg/cli/toolwire.cjs", import.meta.url));
const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** In the arguments of every server that this file's tests start. */
export const marker = `--started-by-${randomUUID()}`;

/** Starts the program; `ended` resolves with what it printed and its exit code. */
export function start(args, { env = {}, cwd, input } = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: {
      ...process.env,
      NO_COLOR: undefined,
      FORCE_COLOR: undefined,
      TOOLWIRE_CONFIG: undefined,
      ...env,
    },
    stdio: "pipe",
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => (printed[name] += text));
  }
  child.stdin.on("error", () => {});
  if (input !== "open") {
    child.stdin.end(input ?? "");
  }
  const ended = new Promise((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, ...printed }));
  });
  return { child, printed, ended };
}

export function run(args, options) {
  return start(args, options).ended;
}

/** The words after which a fixture's command stands. */
export function serverWords(name, ...args) {
  return ["--", process.execPath, fixture(name), ...args, marker];
}

/** An entry of a configuration for a fixture. */
export function entry(name, extra = {}) {
  return { command: process.execPath, args: [fixture(name), marker], ...extra };
}

/** A folder of its own for each test. */
export function folder(t) {
  const made = mkdtempSync(path.join(tmpdir(), "toolwire-cli-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A configuration in a file. */
export function configFile(t, content) {
  const file = path.join(folder(t), "mcp.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** The file that runs a server from npm, or undefined if it is not installed. */
export function npmServer(name) {
  const manifest = path.join(modules, name, "package.json");
  if (!existsSync(manifest)) {
    return undefined;
  }
  const { bin } = JSON.parse(readFileSync(manifest, "utf8"));
  return path.join(path.dirname(manifest), typeof bin === "string" ? bin : Object.values(bin)[0]);
}

/** The command lines of processes with the marker. */
function marked() {
  if (process.platform !== "linux") {
    return [];
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(marker));
}

/** How many servers of this file run now. */
export function serverCount() {
  // The program's own command line names its server's.
  return marked().filter((line) => !line.includes("toolwire.cjs")).length;
}

/** Fails unless everything with the marker has ended. */
export async function assertNothingLeft() {
  await until(() => marked().length === 0, 3000).catch(() => {});
  assert.deepEqual(marked(), []);
}

/** Fails if text holds a character that steers a terminal. */
export function assertPlain(text) {
  assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}]/u);
}
