/**
 * Owns what belongs to one server: the process we started, its group, and what descends from
 * either, also what has left the group since it was last looked at.
 *
 * Invariant: only a process seen as one of these is signalled, and only while its number still
 * means the same process.
 */
import { execFile, spawnSync } from "node:child_process";
import { familyTable, processTable } from "./processes.js";

/** The tree of a child process that was started as the leader of its own group. */
class PosixTree {
  #leader;
  #platform;
  #members = new Map();
  #living;
  #leaderGone = false;
  #groupGone = false;

  constructor(leader, platform) {
    this.#leader = leader;
    this.#platform = platform;
  }

  /** To be called when the leader was waited for: its number is free from then on. */
  leaderExited() {
    this.#leaderGone = true;
  }

  /** Notes who descends from the leader while it lives: a first look that costs little. */
  async observe() {
    const leaderGone = this.#leaderGone;
    this.#adopt(await familyTable(this.#leader, this.#platform), leaderGone);
  }

  /** Looks who belongs to the tree. A descendant is found only while its ancestors live. */
  async refresh() {
    const leaderGone = this.#leaderGone;
    this.#adopt(await processTable(this.#platform), leaderGone);
  }

  /** True if nothing of the tree runs. */
  async isGone() {
    if (!this.#leaderGone) {
      return false;
    }
    if (!this.#groupExists() && this.#livingOutside().length === 0) {
      return true;
    }
    await this.refresh();
    // Without a table the group's existence is all there is to go by.
    return this.#living === undefined ? !this.#groupExists() : this.#living.length === 0;
  }

  /** Asks everything to end. A stopped process can only follow once it runs again. */
  async terminate() {
    await this.refresh();
    this.#signal("SIGTERM");
    this.#signal("SIGCONT");
  }

  async kill() {
    await this.refresh();
    this.#signal("SIGKILL");
  }

  /** `kill` for a host that is about to exit, with a table that was just read. */
  killNow(table) {
    this.#adopt(table, this.#leaderGone);
    this.#signal("SIGKILL");
  }

  /** Takes over what a table shows; `leaderGone` is from before it was read. */
  #adopt(table, leaderGone) {
    if (table === undefined) {
      this.#living = undefined;
      return;
    }
    const children = new Map();
    const found = [];
    for (const entry of table) {
      const siblings = children.get(entry.ppid);
      if (siblings === undefined) {
        children.set(entry.ppid, [entry]);
      } else {
        siblings.push(entry);
      }
      if (this.#isRoot(entry, leaderGone)) {
        found.push(entry);
      }
    }
    const seen = new Set(found);
    for (let at = 0; at < found.length; at += 1) {
      for (const child of children.get(found[at].pid) ?? []) {
        if (!seen.has(child)) {
          seen.add(child);
          found.push(child);
        }
      }
    }
    this.#living = found.filter((entry) => !entry.zombie);
    this.#members = new Map(found.map((entry) => [entry.pid, entry.started]));
    if (leaderGone && !found.some((entry) => entry.pgid === this.#leader)) {
      this.#groupGone = true;
    }
  }

  #isRoot(entry, leaderGone) {
    if (this.#members.get(entry.pid) === entry.started) {
      return true;
    }
    if (entry.pid === this.#leader) {
      return !leaderGone;
    }
    return entry.pgid === this.#leader && !this.#groupGone;
  }

  #livingOutside() {
    return (this.#living ?? []).filter((entry) => entry.pgid !== this.#leader);
  }

  #groupExists() {
    if (!this.#groupGone && !send(-this.#leader, 0)) {
      // A group's number is not used again while the group has members; now it may be.
      this.#groupGone = this.#leaderGone;
    }
    return !this.#groupGone;
  }

  #signal(name) {
    if (this.#groupExists()) {
      send(-this.#leader, name);
    }
    for (const entry of this.#livingOutside()) {
      send(entry.pid, name);
    }
  }
}

/** The tree of a child process on Windows, which keeps ancestry and no groups. */
class WindowsTree {
  #leader;
  #leaderGone = false;

  constructor(leader) {
    this.#leader = leader;
  }

  leaderExited() {
    this.#leaderGone = true;
  }

  async observe() {}

  async refresh() {}

  async isGone() {
    return this.#leaderGone;
  }

  /** Console programs cannot be asked to end, so the first step is the last. */
  async terminate() {
    await this.kill();
  }

  async kill() {
    if (this.#leaderGone) {
      return;
    }
    const failed = await new Promise((resolve) => {
      execFile("taskkill", this.#arguments(), { windowsHide: true }, (error) => {
        resolve(error !== null);
      });
    });
    if (failed && !this.#leaderGone) {
      send(this.#leader, "SIGKILL");
    }
  }

  killNow() {
    if (!this.#leaderGone) {
      spawnSync("taskkill", this.#arguments(), { windowsHide: true, stdio: "ignore" });
    }
  }

  #arguments() {
    return ["/PID", String(this.#leader), "/T", "/F"];
  }
}

/** True if there is such a process or group, whether or not we may signal it. */
function send(target, signal) {
  try {
    process.kill(target, signal);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function treeOf(leader, platform) {
  return platform === "win32" ? new WindowsTree(leader) : new PosixTree(leader, platform);
}

export { treeOf };
