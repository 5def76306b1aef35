/**
 * Owns what happens to running servers when the host ends without closing them: they are killed.
 * Their groups are their own, so neither the terminal's signals nor the host's end reach them.
 *
 * Invariant: the process has listeners of ours exactly while a server runs.
 */
import { processTableSync } from "./processes.js";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const running = new Set();

/** Kills this tree if the host ends before `forget`. */
function guard(tree) {
  if (running.size === 0) {
    process.on("exit", killAll);
    for (const signal of SIGNALS) {
      process.on(signal, onSignal);
    }
  }
  running.add(tree);
}

function forget(tree) {
  if (running.delete(tree) && running.size === 0) {
    unhook();
  }
}

function unhook() {
  process.off("exit", killAll);
  for (const signal of SIGNALS) {
    process.off(signal, onSignal);
  }
}

function killAll() {
  const table = processTableSync(process.platform);
  for (const tree of running) {
    tree.killNow(table);
  }
  running.clear();
}

/**
 * A signal that nobody else listens for would have ended the host: it still does, after the
 * servers. Where the host has a listener of its own, what follows is the host's decision.
 */
function onSignal(signal) {
  if (process.listenerCount(signal) === 1) {
    killAll();
    unhook();
    process.kill(process.pid, signal);
  }
}

export { forget, guard };
