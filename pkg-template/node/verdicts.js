/**
 * Owns what this process remembers about the era of servers it has talked to, so that only the
 * first connection to one has to probe (DESIGN section 6.7).
 *
 * Invariant: bounded; a verdict that did not lead to a connection is forgotten.
 */

const MOST = 256;

const verdicts = new Map();

/** What stands for a server: how it is started, without the values of its environment. */
function verdictKey(plan) {
  return JSON.stringify([plan.command, plan.args, Object.keys(plan.environment).sort()]);
}

function recall(key) {
  return verdicts.get(key);
}

function remember(key, verdict) {
  verdicts.delete(key);
  verdicts.set(key, verdict);
  if (verdicts.size > MOST) {
    verdicts.delete(verdicts.keys().next().value);
  }
}

function forgetVerdict(key) {
  verdicts.delete(key);
}

export { forgetVerdict, recall, remember, verdictKey };
