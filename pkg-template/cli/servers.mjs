/**
 * Owns which servers a command works with, and the opening of them: those of a configuration, or
 * the one whose command stands after `--`.
 *
 * Invariant: whatever was opened is closed before `withClients` is over, however that ends.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { ToolwireError } from "toolwire";
import { connectAll, loadConfig } from "toolwire/node";
import { EXIT, UsageError } from "./exit.mjs";
import { fileName, keepSecretsOf, line } from "./safe-text.mjs";

/** Where the configuration's path is read when no option gives it. */
const CONFIG_VARIABLE = "TOOLWIRE_CONFIG";

const NO_SERVERS = `no servers: give --config FILE, set ${CONFIG_VARIABLE}, or put a server's command after --`;

/** The option wins over the variable; with neither there is no configuration. */
function configPath({ config }, env = process.env) {
  const path = config ?? env[CONFIG_VARIABLE];
  return path === "" ? undefined : path;
}

/** The entries a command is about, in their order; none if nothing names any. */
async function entriesOf(options, command) {
  const entries = command === undefined ? await configured(options) : [commanded(options, command)];
  const seen = new Set();
  for (const entry of entries) {
    keepSecretsOf(entry);
    if (seen.has(entry.server)) {
      throw new UsageError(`two servers of the configuration are called ${line(entry.server)}`);
    }
    seen.add(entry.server);
  }
  return entries.map((entry) => limited(entry, options));
}

async function configured(options) {
  if (options.env !== undefined || options.cwd !== undefined || options.name !== undefined) {
    throw new UsageError("--env, --cwd and --name are for a command after --");
  }
  const path = configPath(options);
  return path === undefined ? [] : loadConfig(path);
}

function commanded({ config, env = [], cwd, name }, [command, ...args]) {
  if (config !== undefined) {
    throw new UsageError("give --config or a command after --, not both");
  }
  if (command === undefined) {
    throw new UsageError("there is no command after --");
  }
  const entry = {
    server: name ?? "server",
    command,
    args,
    env: Object.fromEntries(env.map(variable)),
  };
  return cwd === undefined ? entry : { ...entry, cwd };
}

/** `NAME=VALUE`, or `NAME` for the value it has here. */
function variable(text) {
  const cut = text.indexOf("=");
  const name = cut === -1 ? text : text.slice(0, cut);
  const value = cut === -1 ? process.env[name] : text.slice(cut + 1);
  if (name === "") {
    throw new UsageError("--env takes NAME=VALUE or NAME");
  }
  if (value === undefined) {
    throw new UsageError(`--env: the variable ${line(name)} is not set`);
  }
  return [name, value];
}

/** What holds for every server: its stderr stays off the terminal, and time is bounded as asked. */
function limited(entry, { timeout, era }) {
  const limits =
    timeout === undefined
      ? {}
      : { connectTimeoutMs: timeout, handshakeTimeoutMs: timeout, requestTimeoutMs: timeout };
  return { ...entry, ...limits, ...(era === undefined ? {} : { era }), stderr: "tail" };
}

/** The one of this name. */
function entryNamed(entries, name) {
  const entry = entries.find(({ server }) => server === name);
  if (entry === undefined) {
    const names = entries.map(({ server }) => line(server)).join(", ");
    throw new UsageError(
      `there is no server ${line(name)}`,
      entries.length === 0 ? NO_SERVERS : `configured are: ${names}`,
    );
  }
  return entry;
}

/** The entries with where each is recorded, if that was asked for. */
function recorded(entries, { record }) {
  if (record === undefined) {
    return entries;
  }
  if (entries.length > 1 && !record.includes("{server}")) {
    throw new UsageError("a recording is of one server: put {server} into the path of --record");
  }
  const taken = new Set();
  return entries.map((entry) => {
    const file = record.replaceAll("{server}", () => fileName(entry.server));
    if (taken.has(file)) {
      throw new UsageError(`two servers would be recorded in ${line(file)}`);
    }
    taken.add(file);
    return { ...entry, record: Object.hasOwn(entry, "url") ? lineWriter(file) : file };
  });
}

/** For a command that reads the recording itself: also writes it to the file that was asked for. */
function recordingLines({ record }, { server }) {
  return record === undefined
    ? undefined
    : lineWriter(record.replaceAll("{server}", () => fileName(server)));
}

/** For what takes lines alone: a file that only its owner may read. */
function lineWriter(file) {
  let open;
  try {
    open = openSync(file, "w", 0o600);
  } catch {
    throw new UsageError(`cannot write the recording ${line(file)}`);
  }
  process.once("exit", () => closeSync(open));
  return (text) => writeSync(open, `${text}\n`);
}

/** The n-th recording of a server that was started again: `name.2.jsonl`. */
function numbered(file, count) {
  if (typeof file !== "string" || count < 2) {
    return file;
  }
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${count}${ext}`);
}

/**
 * Opens clients and hands them out with the failures; afterwards all are closed.
 *
 * @param onFailure "collect" or "stop": the first failure is thrown then
 */
async function withClients(entries, { stop, onFailure = "collect", ...host }, use) {
  const { clients, failures } = await connectAll(entries, {
    ...host,
    onFailure,
    signal: stop.signal,
  });
  // What is open must be closed even if the signal came while the last one was opening.
  let close;
  const closeAll = () => (close ??= Promise.all(clients.map((client) => client.close())));
  stop.signal.addEventListener("abort", closeAll, { once: true });
  try {
    stop.signal.throwIfAborted();
    return await use(clients, failures);
  } finally {
    await closeAll();
  }
}

/** One client; a failure is thrown. */
function withClient(entry, host, use) {
  return withClients([entry], host, ([client], [failure]) => {
    if (failure !== undefined) {
      throw failure.error;
    }
    return use(client);
  });
}

/** An error as a machine reads it; nothing private. */
function errorJson(error) {
  return error instanceof ToolwireError
    ? error.toJSON()
    : { name: "Error", message: "internal error" };
}

/** The exit code for servers of which some failed. */
function exitFor(failures) {
  return failures.length === 0 ? EXIT.FINE : EXIT.SERVER;
}

export {
  CONFIG_VARIABLE,
  NO_SERVERS,
  configPath,
  entriesOf,
  entryNamed,
  errorJson,
  exitFor,
  numbered,
  recorded,
  recordingLines,
  withClient,
  withClients,
};
