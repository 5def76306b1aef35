/**
 * Owns the reading of the system's process table: which process runs, whose child it is, in which
 * group, and since when. From /proc where it exists, from `ps` on other POSIX systems.
 *
 * Invariant: `pid` and `started` together name one process for good; a number alone does not,
 * because systems use process numbers again.
 */
import { execFile, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

// One entry takes some 10 to 100 microseconds to read; the event loop gets a turn between batches.
const BATCH = 32;
const PS = ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="];
const PS_LIMITS = { encoding: "latin1", timeout: 2000, maxBuffer: 16777216 };

let reading;

/**
 * Every process as `{ pid, ppid, pgid, zombie, started }`, or `undefined` where the table cannot be
 * read. Callers at the same time share one reading.
 */
function processTable(platform) {
  reading ??= (platform === "linux" ? proc() : ps()).finally(() => {
    reading = undefined;
  });
  return reading;
}

/** The same at once, for a host that is about to exit; Windows needs none. */
function processTableSync(platform) {
  if (platform === "win32") {
    return undefined;
  }
  if (platform === "linux") {
    return procEntries(procNames());
  }
  const run = spawnSync("ps", PS, PS_LIMITS);
  return run.status === 0 ? parsePs(run.stdout) : undefined;
}

/**
 * A process and what descends from it, as in `processTable`; cheap where the system lists children.
 */
function familyTable(pid, platform) {
  const listed = platform === "linux" && existsSync(`/proc/self/task/${process.pid}/children`);
  return listed ? procFamily(pid) : processTable(platform);
}

function procFamily(pid) {
  const table = procEntries([String(pid)]);
  for (let at = 0; at < table.length; at += 1) {
    table.push(...procEntries(procChildren(table[at].pid)));
  }
  return table;
}

/** Each thread has children of its own. */
function procChildren(pid) {
  const children = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const text = readFileSync(`/proc/${pid}/task/${thread}/children`, "latin1");
      children.push(...text.split(" ").filter(Boolean));
    }
  } catch {
    // It ended meanwhile: whose children they are now is for another look.
  }
  return children;
}

async function proc() {
  const names = procNames();
  if (names === undefined) {
    return undefined;
  }
  const table = [];
  for (let at = 0; at < names.length; at += BATCH) {
    table.push(...procEntries(names.slice(at, at + BATCH)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return table;
}

function procNames() {
  try {
    return readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  } catch {
    return undefined;
  }
}

function procEntries(names) {
  if (names === undefined) {
    return undefined;
  }
  const table = [];
  for (const name of names) {
    let text;
    try {
      text = readFileSync(`/proc/${name}/stat`, "latin1");
    } catch {
      continue; // It ended since the directory was read.
    }
    const entry = parseStat(text);
    if (entry !== undefined) {
      table.push(entry);
    }
  }
  return table;
}

/** One /proc/<pid>/stat. The second field is a name that may hold blanks and brackets. */
function parseStat(text) {
  const open = text.indexOf(" ");
  const close = text.lastIndexOf(")");
  const fields = text.slice(close + 2).split(" ");
  if (open < 0 || close < 0 || fields.length < 20) {
    return undefined;
  }
  return {
    pid: Number(text.slice(0, open)),
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    zombie: fields[0] === "Z" || fields[0] === "X",
    started: fields[19],
  };
}

function ps() {
  return new Promise((resolve) => {
    execFile("ps", PS, PS_LIMITS, (error, stdout) => {
      resolve(error === null ? parsePs(stdout) : undefined);
    });
  });
}

function parsePs(text) {
  const table = [];
  for (const line of text.split("\n")) {
    const found = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line);
    if (found !== null) {
      table.push({
        pid: Number(found[1]),
        ppid: Number(found[2]),
        pgid: Number(found[3]),
        zombie: found[4].startsWith("Z"),
        started: found[5],
      });
    }
  }
  return table;
}

export { familyTable, parsePs, parseStat, processTable, processTableSync };
