// Owns how time is taken: warm-up, then rounds of a batch that is long enough for the clock, and
// the median over the rounds. On a machine that others use too (`loaded`) the rounds are shorter and
// more, and the fastest counts: it is the one that was disturbed least. All results are
// microseconds.

const PLANS = {
  full: { warmMs: 300, batchMs: 12, rounds: 11 },
  quick: { warmMs: 60, batchMs: 4, rounds: 5 },
  loaded: { warmMs: 200, batchMs: 1.5, rounds: 60 },
};

/** Rounds end early when they have taken this long: what is slow needs fewer of them. */
const LONGEST_MS = 1_500;

function planOf({ quick, loaded }) {
  return loaded ? PLANS.loaded : PLANS[quick ? "quick" : "full"];
}

/** What stands for many times of the same thing. */
function typical(times, { loaded }) {
  return loaded ? Math.min(...times) : median(times);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Microseconds of one call of `run`. */
function timeOf(run, options) {
  return timeOfBatches(batchOf(run), options);
}

/** The same for work that sets up each batch: `batch(count)` gives the milliseconds it took. */
function timeOfBatches(batch, options) {
  const { rounds } = planOf(options);
  const count = warm(batch, options);
  const each = [];
  for (let took = 0; each.length < rounds && took < LONGEST_MS; ) {
    const round = batch(count);
    took += round;
    each.push((round * 1000) / count);
  }
  return typical(each, options);
}

/**
 * The same beside something it is compared with, whose rounds alternate with its own: a machine that
 * slows down slows both. Gives the microseconds of one call and the ratio.
 */
function compareBatches(batch, base, options) {
  const count = warm(batch, options);
  const baseCount = warm(base, { ...options, most: 4096 });
  const { rounds } = planOf(options);
  const [each, beside] = [[], []];
  for (let took = 0; each.length < rounds && took < 2 * LONGEST_MS; ) {
    const round = batch(count);
    const other = base(baseCount);
    took += round + other;
    each.push((round * 1000) / count);
    beside.push((other * 1000) / baseCount);
  }
  const ratio = options.loaded
    ? Math.min(...each) / Math.min(...beside)
    : median(each.map((time, index) => time / beside[index]));
  return { time: typical(each, options), ratio };
}

/** A batch of calls of `run`, for what takes batches. */
function batchOf(run) {
  return (count) => {
    const started = performance.now();
    for (let index = 0; index < count; index += 1) {
      run();
    }
    return performance.now() - started;
  };
}

/** Warms up; gives how many calls make a round. */
function warm(batch, options) {
  const { warmMs, batchMs } = planOf(options);
  const { most = 4096 } = options;
  let count = 1;
  for (let spent = 0; spent < warmMs; ) {
    const took = batch(count);
    spent += Math.max(took, 0.01);
    // Less than half: the next one would otherwise be far longer than asked for.
    if (took < batchMs / 2 && count < most) {
      count = Math.min(count * 2, most);
    }
  }
  return count;
}

/** The same for a call that answers with a promise; one call at a time. */
async function timeOfAsync(run, options) {
  const { warmMs, batchMs, rounds } = planOf(options);
  let count = 1;
  let spent = 0;
  const batch = async () => {
    const started = performance.now();
    for (let index = 0; index < count; index += 1) {
      await run();
    }
    return performance.now() - started;
  };
  while (spent < warmMs) {
    const took = await batch();
    spent += Math.max(took, 0.01);
    count = took < batchMs / 2 ? count * 2 : count;
  }
  const each = [];
  for (let took = 0; each.length < rounds && took < LONGEST_MS; ) {
    const round = await batch();
    took += round;
    each.push((round * 1000) / count);
  }
  return typical(each, options);
}

export { batchOf, compareBatches, median, timeOf, timeOfAsync, timeOfBatches, typical };
