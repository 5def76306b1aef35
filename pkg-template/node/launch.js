/**
 * Owns the options that say how a server is started, from the caller's words to what `spawn` takes,
 * and the error for a start that failed.
 *
 * Invariant: what the system says about a failed start is in `error.private`; the message is ours.
 */
import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { errorFor } from "../lib/sentences.js";
import { resolveCommand } from "./command.js";
import { childEnvironment } from "./env.js";

const SHUTDOWN_GRACE_MS = 2500;

// Failures of the host's own resources, which pass.
const PASSING = new Set(["EAGAIN", "EMFILE", "ENFILE", "ENOMEM"]);

/**
 * Checks the options of a start and makes a plan of them: `{ command, args, cwd, environment,
 * stderr, graceMs, platform, server }`. Throws a ToolwireError that names the option.
 */
function planLaunch(options) {
  if (!isRecord(options)) {
    throw badOption(undefined, "server");
  }
  const { server, command, args = [], env = {}, stderr = "tail" } = options;
  const cwd = options.cwd instanceof URL ? fileURLToPath(options.cwd) : options.cwd;
  const graceMs = options.shutdownGraceMs ?? SHUTDOWN_GRACE_MS;
  const check = (option, fine) => {
    if (!fine) {
      throw badOption(server, option);
    }
  };
  check("server", isText(server) && server !== "");
  check("command", isText(command) && command !== "");
  check("args", Array.isArray(args) && args.every(isText));
  check("cwd", cwd === undefined || (isText(cwd) && cwd !== ""));
  check(
    "env",
    isRecord(env) && Object.entries(env).every(([name, value]) => isName(name) && isText(value)),
  );
  check("stderr", stderr === "tail" || stderr === "inherit" || typeof stderr === "function");
  check("shutdownGraceMs", Number.isSafeInteger(graceMs) && graceMs >= 0);
  const platform = process.platform;
  const environment = childEnvironment(env, process.env, platform);
  return { server, command, args: [...args], cwd, environment, stderr, graceMs, platform };
}

/** What `spawn` takes. Throws an `Error` with `code` for arguments Windows cannot pass on. */
function spawnOf(plan) {
  const { file, args, verbatim } = resolveCommand(plan.command, plan.args, plan);
  return {
    file,
    args,
    options: {
      cwd: plan.cwd,
      env: plan.environment,
      stdio: ["pipe", "pipe", plan.stderr === "inherit" ? "inherit" : "pipe"],
      // A group of its own, so that all of it can be signalled. Windows would open a console.
      detached: plan.platform !== "win32",
      windowsHide: true,
      windowsVerbatimArguments: verbatim,
    },
  };
}

/** The error for what the system said of a failed start; it names the option most likely meant. */
function spawnError(plan, cause) {
  const option = plan.cwd !== undefined && !isFolder(plan.cwd) ? "cwd" : "command";
  return errorFor({
    code: "spawn_failed",
    reason: "spawn",
    server: plan.server,
    option,
    retryable: PASSING.has(cause?.code),
    private: { code: cause?.code, syscall: cause?.syscall, message: cause?.message },
  });
}

/** The error for an option of a start, as the session's own options have it (row R02). */
function badOption(server, option) {
  return errorFor({ code: "protocol_error", reason: "option_invalid", server, option });
}

function isText(value) {
  return typeof value === "string" && !value.includes("\0");
}

function isName(name) {
  return name !== "" && isText(name) && !name.includes("=");
}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export { badOption, planLaunch, spawnError, spawnOf };
