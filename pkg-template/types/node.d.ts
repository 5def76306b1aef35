/**
 * `toolwire/node`: MCP servers that are child processes, in Node, Bun and Deno.
 *
 * Times are milliseconds, sizes bytes. Everything here rejects and throws `ToolwireError` only.
 */
import type {
  Client,
  HostOptions,
  ServeOptions,
  ServerHandle,
  SessionOptions,
  ToolServer,
  ToolwireError,
} from "./index.js";

export { init, initSync, ToolwireError } from "./index.js";

/** How a server is started. */
export interface StdioOptions {
  /**
   * The program: a path, or a name that is looked up in the child's `PATH`. On Windows a batch
   * file (`npx.cmd` and the like) is found and run too.
   */
  command: string;
  /** Its arguments, each passed on as one whatever it holds; default none. */
  args?: readonly string[];
  /** Its working directory; default the host's. */
  cwd?: string | URL;
  /**
   * Variables laid over the ones a server gets anyway: PATH, HOME, USER, LANG, LC_*, TERM, TMPDIR,
   * SHELL, on Windows also SystemRoot, ComSpec, PATHEXT, APPDATA, LOCALAPPDATA, TEMP, TMP and
   * USERPROFILE. Nothing else of the host's environment reaches it.
   */
  env?: Readonly<Record<string, string>>;
  /**
   * What becomes of its error output, which is read in any case. "tail" (default): the last
   * `maxStderrBytes`, masked, go into errors. "inherit": it is the host's. A function: it gets the
   * raw bytes as well; what it throws is ignored.
   */
  stderr?: "tail" | "inherit" | ((chunk: Uint8Array) => void);
  /**
   * How long a server may take to end after its input has ended, before its processes are asked to
   * (SIGTERM), and killed 1,000 ms later; default 2500, 0 asks at once.
   */
  shutdownGraceMs?: number;
}

/** What a recording needs of a stream: a `Writable` of Node has it. */
export interface RecordingStream {
  write(text: string, callback: (error?: Error | null) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** Options of `connect`: those of the session, of hosts, and how the server is started. */
export interface ConnectOptions extends SessionOptions, Omit<HostOptions, "record">, StdioOptions {
  /**
   * Where a recording of the session goes. A path: the file is made, or emptied, before the server
   * is started, only its owner may read it, and it is complete when `close()` has resolved; one
   * that cannot be opened rejects with `invalid_arguments`, reason "recording_unwritable". A
   * stream: `close()` waits until it took every line, and leaves it open. A function: as in
   * `HostOptions`. Writing that fails later ends the recording and is told to `onDiagnostic`.
   */
  record?: string | RecordingStream | ((line: string) => void);
}

/**
 * Starts a server and connects to it. The server leads a process group of its own; whatever it
 * starts is ended with it, when the client closes, when the connection ends for any other reason,
 * and when the host exits.
 *
 * Rejects with `spawn_failed` if it cannot be started (`option` says whether `command` or `cwd` is
 * to blame, `error.private` holds the system's code), with `protocol_error` and `option` for an
 * option that is not what it must be, and with whatever ends the handshake. When it has
 * rejected, nothing of the server is left.
 */
export function connect(options: ConnectOptions): Promise<Client>;

/** Members of an entry that choose and name its tools as flows: what `flowsOf` takes. */
export interface FlowSelection {
  include?: string[];
  exclude?: string[];
  namePrefix?: string;
}

/** A server to be started. */
export interface StdioEntry extends SessionOptions, FlowSelection {
  command: string;
  args: string[];
  cwd?: string;
  env?: Record<string, string>;
  stderr?: "tail" | "inherit";
  shutdownGraceMs?: number;
}

/** A server behind a URL. */
export interface HttpEntry extends SessionOptions, FlowSelection {
  url: string;
  headers?: Record<string, string>;
  /** The variable that the token was read from. */
  bearerTokenEnv?: string;
  /** Gives that token: what `connectHttp` of `toolwire/web` takes. */
  authProvider?: () => Promise<string>;
}

/** What a configuration lists. */
export type ServerEntry = StdioEntry | HttpEntry;

/** Options of `parseConfig`. */
export interface ConfigOptions {
  /** Where variables are read; default the process's environment. */
  env?: Readonly<Record<string, string | undefined>>;
  /** What the text is called in messages, such as its path. */
  source?: string;
}

/**
 * The entries of a configuration in JSON, in its order. Two forms:
 *
 * - An array of entries, each with `server` and either `command` and `args` or `url`, taken word
 *   for word.
 * - `{ "mcpServers": { name: entry } }`, where `args` may be absent, entries with
 *   `"disabled": true` are left out, and in `command`, `args`, `cwd`, `env`, `url` and `headers`
 *   `${NAME}` and `${env:NAME}` stand for a variable and `${NAME:-text}` for it or that text.
 *
 * Unknown members are left out. Throws `invalid_arguments`, with `at` a JSON Pointer into the text:
 * reason `config_not_entries` for what is no such list, `config_token_unset` with `variable` for a
 * variable that is not set.
 */
export function parseConfig(text: string, options?: ConfigOptions): ServerEntry[];

/** `parseConfig` of a file, a path or a `file:` URL, under the process's environment. */
export function loadConfig(path: string | URL): Promise<ServerEntry[]>;

/**
 * Members of HostOptions hold for every entry that does not have its own. A recording is of one
 * session, so `record` is an entry's alone.
 */
export interface ConnectAllOptions extends Omit<HostOptions, "record"> {
  /**
   * "collect" (default): whoever does not answer is listed in `failures`. "stop": the first failure
   * rejects, after the others have been ended; names in `include` that a server does not have and
   * an empty `namePrefix` are failures then.
   */
  onFailure?: "collect" | "stop";
}

/**
 * Connects to every entry at the same time: by `connect`, or by `connectHttp` of `toolwire/web` to
 * one with a `url`. Clients and failures keep the order of the entries.
 */
export function connectAll(
  entries: Iterable<ConnectOptions | ServerEntry>,
  options?: ConnectAllOptions,
): Promise<{ clients: Client[]; failures: { server: string; error: ToolwireError }[] }>;

/** What `serveStdio` needs of a stream to read: `process.stdin` and any `Readable` have it. */
export interface InputStream extends AsyncIterable<Uint8Array | string> {
  destroy?(): unknown;
}

/** What `serveStdio` needs of a stream to write: `process.stdout` and any `Writable` have it. */
export interface OutputStream {
  write(frame: Uint8Array): boolean;
  on(event: "error" | "close" | "drain", listener: (...args: any[]) => void): unknown;
  off(event: "error" | "close" | "drain", listener: (...args: any[]) => void): unknown;
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
}

/**
 * Serves tools over this process's stdin and stdout, or over streams like them: a `ToolGateway`, or
 * an object of yours with `tools` and `handleCall`. Ends when stdin ends; a client that is gone
 * (EPIPE) ends it too and does no harm.
 *
 * Nothing else may be written to stdout meanwhile: log to stderr.
 */
export function serveStdio<Identity = unknown>(
  server: ToolServer<Identity>,
  options?: ServeOptions<Identity> & { stdin?: InputStream; stdout?: OutputStream },
): ServerHandle;
