/**
 * Owns the end of a server: its input ends, it gets time, it is asked to end, it is killed; each
 * step only if something of its tree still runs.
 *
 * Invariant: it takes at most the grace and about two seconds, whatever the server does.
 */

const TERMINATE_MS = 1000;
// After SIGKILL only the system's own work is left; a process it cannot end is given up.
const KILL_MS = 1000;
const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 100;

/** Resolves when nothing of the tree runs, or when nothing more can be done about it. */
async function shutDown(server, tree, graceMs) {
  // Before the input ends: when the server has gone, nobody can tell who descends from it.
  await tree.refresh();
  server.endInput();
  if (await isGoneWithin(server, tree, graceMs)) {
    return;
  }
  await tree.terminate();
  if (await isGoneWithin(server, tree, TERMINATE_MS)) {
    return;
  }
  await tree.kill();
  await isGoneWithin(server, tree, KILL_MS);
}

async function isGoneWithin(server, tree, ms) {
  const until = performance.now() + ms;
  let pause = FIRST_LOOK_MS;
  for (;;) {
    if (await tree.isGone()) {
      return true;
    }
    const left = until - performance.now();
    if (left <= 0) {
      return false;
    }
    if (server.hasExited) {
      await sleep(Math.min(pause, left));
      pause = Math.min(pause * 2, LAST_LOOK_MS);
    } else {
      await exitWithin(server, left);
    }
  }
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function exitWithin(server, ms) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([server.whenExited, late]);
  clearTimeout(timer);
}

export { shutDown };
