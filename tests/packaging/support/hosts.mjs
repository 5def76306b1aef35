/**
 * Owns what tests of hosts need: the packed package installed in a project of its own, and the hosts
 * and bundlers of `tests/hosts/`. These are large and only for these tests, so they are installed when
 * first asked for, and again when the lock file has changed.
 */

import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = path.join(root, "tests/hosts");
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

export const run = promisify(execFile);

/** Requires a package of `tests/hosts/`. */
export const hostRequire = createRequire(path.join(folder, "package.json"));

/** What npm says when there is no registry to ask. */
const AWAY = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "ENETUNREACH",
  "ENOTFOUND",
  "ERR_SOCKET_TIMEOUT",
  "ETIMEDOUT",
]);

/** Installs the hosts. Gives undefined, or in one line why they are not there. */
export async function installHosts() {
  const lock = readFileSync(path.join(folder, "package-lock.json"), "utf8");
  const stamp = path.join(folder, "node_modules/.toolwire-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) {
    return undefined;
  }
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error"];
  try {
    await run(npm, ["ci", ...flags], { cwd: folder });
  } catch (error) {
    const [, code] = /npm error code (\w+)/.exec(String(error.stderr)) ?? [];
    // Anything else, such as a lock file that is not up to date, is a fault of ours.
    if (!AWAY.has(code)) {
      throw error;
    }
    return `the hosts of tests/hosts/ could not be installed: the registry is away (${code})`;
  }
  writeFileSync(stamp, lock);
  return undefined;
}

/** A program of `tests/hosts/`, or undefined where its package is for another system. */
export async function hostProgram(name) {
  const file = path.join(folder, "node_modules", name);
  if (!existsSync(file)) {
    return undefined;
  }
  await chmod(file, 0o755); // The packages do not say that it is a program.
  return file;
}

/** A project in a folder of its own with the packed package installed, and how to remove it. */
export async function packedProject() {
  const project = await mkdtemp(path.join(tmpdir(), "toolwire-hosts-"));
  await run(npm, ["pack", "--silent", "--pack-destination", project], { cwd: path.join(root, "pkg") });
  const tarball = (await readdir(project)).find((name) => name.endsWith(".tgz"));
  await writeFile(path.join(project, "package.json"), '{ "private": true }\n');
  const flags = ["--offline", "--no-audit", "--no-fund"];
  await run(npm, ["install", ...flags, `./${tarball}`], { cwd: project });
  const { size } = await stat(path.join(project, tarball));
  const remove = () => rm(project, { recursive: true, force: true });
  return { project, tarball: path.join(project, tarball), size, remove };
}

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Serves a folder on this machine, each answer with these headers. Gives its address and an end. */
export async function serveFolder(served, headers = {}) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    if (pathname === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    const file = path.join(served, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    try {
      const body = await readFile(file);
      const type = TYPES[path.extname(file)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type, ...headers }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, stop };
}

/** A port that was free a moment ago. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a program that goes on until it is ended; gives what it prints and how to end it. */
export function started(file, args, options) {
  const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  const note = (chunk) => {
    printed += chunk;
  };
  child.stdout.on("data", note);
  child.stderr.on("data", note);
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const end = async () => {
    child.kill();
    await exited;
  };
  return { printed: () => printed, end };
}
