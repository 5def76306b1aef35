// What tests need to know about processes and time.
import { readFileSync } from "node:fs";

/** True if a process of this number runs; one that ended and was not waited for does not. */
export function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
  if (process.platform !== "linux") {
    return true;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Waits until `condition` holds; fails after `ms`. */
export async function until(condition, ms = 30_000) {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) {
      throw new Error(`not within ${ms} ms: ${condition}`);
    }
    await sleep(10);
  }
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
