/**
 * Owns how long work yields: slices of about 4 ms, then one macrotask, so that timers, input and
 * aborts run in between. Microtasks alone would let none of them run.
 */

/** Milliseconds of one slice. */
const SLICE_MS = 4;

/** Steps given to the core at a time within a slice: well under a millisecond of work. */
const SLICE_STEPS = 16_384;

let schedule;

/** Runs a task after timers, input and whatever else waits. */
function nextTask(task) {
  // Chosen when first needed: an open message port may keep a process alive.
  schedule ??= chooseSchedule();
  schedule(task);
}

function chooseSchedule() {
  if (typeof setImmediate === "function") {
    return (task) => setImmediate(task);
  }
  if (typeof MessageChannel === "function") {
    return taskByMessage();
  }
  return (task) => setTimeout(task, 0);
}

/** Unlike a timer of 0 ms, a message is not delayed by 4 ms when it comes from a message. */
function taskByMessage() {
  const tasks = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    tasks.shift()();
  };
  return (task) => {
    tasks.push(task);
    port2.postMessage(null);
  };
}

/** Milliseconds of a clock that does not run backwards. */
function now() {
  return performance.now();
}

/**
 * Calls `step` until it gives something other than undefined, in slices. Rejects with what `step`
 * throws, or with `aborted()` when the signal fires between two slices.
 */
async function inSlices(step, signal, aborted) {
  for (;;) {
    if (signal?.aborted) {
      throw aborted();
    }
    const end = now() + SLICE_MS;
    do {
      const outcome = step(SLICE_STEPS);
      if (outcome !== undefined) {
        return outcome;
      }
    } while (now() < end);
    await new Promise(nextTask);
  }
}

export { SLICE_MS, SLICE_STEPS, inSlices, nextTask, now };
