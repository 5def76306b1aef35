// The call protocol through Redis Streams: any number of callers and handlers, on any machines.
//
// Requests go to one stream, shared by a consumer group, so that each is taken by one handler.
// Answers go to a stream of the caller that asked; aborts to one that every handler reads. A handler
// confirms a request when it has answered it, and until then says that it is alive. What a handler
// that died had taken is answered by another one with EXECUTION_ERROR: it may have run, so it is not
// run again.
//
// `redis` is a connected client of the npm package "redis". Clocks that deadlines are read by must
// agree as well as deadlines need it.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { PendingRequestMap, buildCallHandler } from "toolwire";

const GROUP = "handlers";
const namesOf = (name) => ({ requests: `${name}:requests`, aborts: `${name}:aborts` });

/** The calling side: `{ map, stop }`. */
export async function callThrough(redis, name) {
  const { requests, aborts } = namesOf(name);
  const replies = `${name}:replies:${randomUUID()}`;
  const map = new PendingRequestMap({
    onEvent: (type, event) =>
      type === "call.requested"
        ? send(redis, requests, type, event, { replies })
        : send(redis, aborts, type, event),
  });
  let last = "0";
  const stopReading = await follow(
    redis,
    (reader) => reader.xRead({ key: replies, id: last }, { COUNT: 64, BLOCK: 0 }),
    (id, { type, event }) => {
      last = id;
      map.dispatch(type, JSON.parse(event));
    },
  );
  const stop = async () => {
    await stopReading();
    map.free();
    await redis.del(replies);
  };
  return { map, stop };
}

/** The serving side: `{ map, stop }`. At most `concurrency` requests run here at a time. */
export async function serveThrough(redis, registry, name, options = {}) {
  const { concurrency = 16, beatMs = 1_000, lostMs = 5_000 } = options;
  const { requests, aborts } = namesOf(name);
  const consumer = randomUUID();
  const running = new Map();
  const aborted = new Set();
  const map = new PendingRequestMap({
    onEvent: (type, event) => {
      const replies = running.get(event.requestId)?.replies;
      return replies && send(redis, replies, type, event);
    },
  });
  const handler = buildCallHandler({ registry, callMap: map });
  const done = (id) => redis.xAck(requests, GROUP, id).catch(() => {}); // then it counts as lost

  const take = (id, { event: text, replies }) => {
    const event = JSON.parse(text);
    if (aborted.delete(event.requestId)) {
      done(id);
      return;
    }
    const answered = handler(event).then(() => {
      running.delete(event.requestId);
      done(id);
    });
    running.set(event.requestId, { id, replies, answered });
  };
  let lastAbort = "0";
  const readAborts = (reader, options) => reader.xRead({ key: aborts, id: lastAbort }, options);
  const abort = (id, { type, event: text }) => {
    lastAbort = id;
    const event = JSON.parse(text);
    map.dispatch(type, event);
    if (!running.has(event.requestId)) {
      // Its request may not have been taken yet. Old ones are forgotten.
      aborted.add(event.requestId);
      if (aborted.size > 10_000) aborted.delete(aborted.values().next().value);
    }
  };
  const beat = async () => {
    const mine = [...running.values()].map(({ id }) => id);
    if (mine.length > 0) await redis.xClaimJustId(requests, GROUP, consumer, 0, mine);
    const { messages } = await redis.xAutoClaim(requests, GROUP, consumer, lostMs, "0");
    for (const { id, message } of messages.filter((entry) => entry !== null)) {
      const { requestId } = JSON.parse(message.event);
      const error = { code: "EXECUTION_ERROR", message: "the handler of this request is gone" };
      await send(redis, message.replies, "call.error", { requestId, ...error });
      await done(id);
    }
  };

  await redis.xGroupCreate(requests, GROUP, "0", { MKSTREAM: true }).catch(() => {}); // it exists
  // What was given up before this process began is known before the first request is taken.
  each(await readAborts(redis, {}), abort);
  const stops = await Promise.all([
    follow(redis, (reader) => readAborts(reader, { BLOCK: 0 }), abort),
    follow(
      redis,
      async (reader) => {
        while (running.size >= concurrency) {
          await Promise.race([...running.values()].map(({ answered }) => answered));
        }
        const next = { key: requests, id: ">" };
        const COUNT = concurrency - running.size;
        return reader.xReadGroup(GROUP, consumer, next, { COUNT, BLOCK: 0 });
      },
      take,
    ),
  ]);
  const beating = setInterval(() => beat().catch(() => {}), beatMs);
  const stop = async () => {
    await Promise.all(stops.map((stopReading) => stopReading()));
    await Promise.all([...running.values()].map(({ answered }) => answered));
    clearInterval(beating);
    map.free();
  };
  return { map, stop };
}

async function send(redis, stream, type, event, fields) {
  const trim = { strategy: "MAXLEN", strategyModifier: "~", threshold: 100_000 };
  await redis.xAdd(stream, "*", { type, event: JSON.stringify(event), ...fields }, { TRIM: trim });
  if (stream.includes(":replies:")) await redis.expire(stream, 3_600);
}

/** Reads entries, on a connection of its own, until it is stopped. A lost connection is awaited. */
async function follow(redis, read, take) {
  const reader = await redis.duplicate().on("error", () => {}).connect();
  let isStopped = false;
  const reading = (async () => {
    while (!isStopped) {
      each(await read(reader).catch(() => pause(isStopped ? 0 : 250)), take);
    }
  })();
  return async () => {
    isStopped = true;
    reader.destroy();
    await reading;
  };
}

function each(streams, take) {
  for (const { messages } of streams ?? []) {
    messages.forEach(({ id, message }) => take(id, message));
  }
}
