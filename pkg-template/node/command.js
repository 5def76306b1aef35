/**
 * Owns how a command line becomes a process: on POSIX as it is; on Windows a bare name is looked up
 * as a shell would, and a batch file (`npx.cmd` and other shims) is run by the command interpreter.
 *
 * Invariant: an argument reaches the program as one argument, whatever characters it holds; one
 * that the interpreter cannot be given safely is refused.
 */
import { statSync } from "node:fs";
import { win32 } from "node:path";

const BATCH = /\.(?:cmd|bat)$/i;
const STARTABLE = [".COM", ".EXE", ".BAT", ".CMD"];

/**
 * What to start: `{ file, args, verbatim }`. `verbatim` is true if `args` are already quoted for
 * Windows. Throws an `Error` with `code` "EINVAL" for an argument a batch file cannot be given.
 *
 * @param environment the child's environment; its PATH and PATHEXT are searched
 * @param exists tells whether a path is a file; for tests
 */
function resolveCommand(command, args, { cwd, environment, platform, exists = isFile }) {
  if (platform !== "win32") {
    return { file: command, args, verbatim: false };
  }
  const file = findOnWindows(command, cwd, environment, exists);
  if (!BATCH.test(file)) {
    return { file, args, verbatim: false };
  }
  const line = [file, ...args].map(quoteForBatch).join(" ");
  const interpreter = variable(environment, "ComSpec") ?? "cmd.exe";
  // /e:ON for the %cd:~,% below, /v:OFF so that exclamation marks are text, /d against AutoRun.
  return { file: interpreter, args: ["/e:ON", "/v:OFF", "/d", "/c", `"${line}"`], verbatim: true };
}

/** The file a name stands for, or the name itself where nothing is found. */
function findOnWindows(command, cwd, environment, exists) {
  // PATHEXT may list scripts too (.JS, .VBS), which only a shell can start.
  const listed = (variable(environment, "PATHEXT") ?? "").toUpperCase().split(";");
  const usable = listed.filter((extension) => STARTABLE.includes(extension));
  const extensions = usable.length > 0 ? usable : STARTABLE;
  const named = /\.[^\\/.]+$/.test(command);
  const candidates = named ? ["", ...extensions] : extensions;
  const from = cwd === undefined ? process.cwd() : cwd;
  // A bare name is not looked for in the current directory: who fills it must not choose what runs.
  const folders = /[\\/:]/.test(command)
    ? [from]
    : (variable(environment, "PATH") ?? "").split(win32.delimiter).filter(Boolean);
  for (const folder of folders) {
    for (const extension of candidates) {
      const path = win32.resolve(folder.replace(/^"|"$/g, ""), command + extension);
      if (exists(path)) {
        return path;
      }
    }
  }
  return command;
}

function isFile(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function variable(environment, name) {
  const wanted = name.toUpperCase();
  const found = Object.keys(environment).find((key) => key.toUpperCase() === wanted);
  return found === undefined ? undefined : environment[found];
}

/**
 * One word of a batch file's command line. A batch file's arguments are read twice, by the
 * interpreter and by the program behind it. A quote inside quotes is therefore doubled, which keeps
 * both readers inside the quotes, and a percent sign is broken up by an expansion to nothing.
 */
function quoteForBatch(word) {
  if (/[\r\n\0]/.test(word)) {
    throw Object.assign(new Error("a line break cannot be passed to a batch file"), {
      code: "EINVAL",
    });
  }
  const inner = word
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, "$1$1")
    .replace(/%/g, "%%cd:~,%");
  return `"${inner}"`;
}

export { resolveCommand };
