/**
 * Owns how abort signals are listened to. Invariant: a signal has one listener of ours at most,
 * however many requests share it, and none when none does: Node.js warns of a leak from the eleventh.
 */

/** By signal: `{ actions, onAbort }`. */
const shared = new WeakMap();

/** Calls the action when the signal fires; gives what ends that. Without a signal nothing happens. */
function listen(signal, action) {
  if (signal === undefined) {
    return () => {};
  }
  let entry = shared.get(signal);
  if (entry === undefined) {
    const actions = new Set();
    const onAbort = () => {
      shared.delete(signal);
      for (const each of actions) {
        each();
      }
    };
    entry = { actions, onAbort };
    signal.addEventListener("abort", onAbort, { once: true });
    shared.set(signal, entry);
  }
  const { actions, onAbort } = entry;
  // Two requests may bring one function.
  const own = () => action();
  actions.add(own);
  return () => {
    if (actions.delete(own) && actions.size === 0 && shared.get(signal) === entry) {
      shared.delete(signal);
      try {
        signal.removeEventListener("abort", onAbort);
      } catch {
        // What only looks like a signal is left alone.
      }
    }
  };
}

export { listen };
