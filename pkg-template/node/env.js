/**
 * Owns the environment a server starts with: a fixed list of names taken from the host's own, and
 * over them what the caller declares (row R03).
 *
 * Invariant: a variable of the host's that is not on the list reaches a server only by declaration.
 */

const NAMES = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR", "SHELL"];
const PREFIX = "LC_";
// Without these Windows programs do not find their system, their shell or their user's files.
const WINDOWS_NAMES = [
  "SYSTEMROOT",
  "COMSPEC",
  "PATHEXT",
  "APPDATA",
  "LOCALAPPDATA",
  "TEMP",
  "TMP",
  "USERPROFILE",
];

const POSIX_LIST = new Set(NAMES);
const WINDOWS_LIST = new Set([...NAMES, ...WINDOWS_NAMES]);

/**
 * The environment of a child process, as a record without a prototype.
 *
 * @param declared the caller's own variables; they win
 * @param ambient the host's environment
 * @param platform as `process.platform` says it
 */
function childEnvironment(declared, ambient, platform) {
  // Windows reads names without regard to case, and keeps the spelling somebody once chose.
  const windows = platform === "win32";
  const fold = windows ? (name) => name.toUpperCase() : (name) => name;
  const list = windows ? WINDOWS_LIST : POSIX_LIST;
  const chosen = new Map();
  for (const name of Object.keys(ambient)) {
    const key = fold(name);
    if (ambient[name] !== undefined && (list.has(key) || key.startsWith(PREFIX))) {
      chosen.set(key, [name, ambient[name]]);
    }
  }
  for (const name of Object.keys(declared)) {
    chosen.set(fold(name), [name, declared[name]]);
  }
  const environment = Object.create(null);
  for (const [name, value] of chosen.values()) {
    environment[name] = value;
  }
  return environment;
}

export { childEnvironment };
