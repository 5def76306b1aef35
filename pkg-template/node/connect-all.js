/**
 * Owns `connectAll`: the servers of a configuration, connected to at the same time.
 *
 * Invariant: under "stop" either every client is handed out or none is left open.
 */
import { flowsOf } from "../lib/flows.js";
import { connectHttp } from "../web/connect-http.js";
import { connect } from "./connect.js";
import { badOption } from "./launch.js";

/**
 * Connects to every entry. "collect" (default) hands out who answered and why others did not, both
 * in the order of the entries. "stop" rejects with the first failure in time, having ended the
 * others, and takes an entry's `include` and `namePrefix` as conditions (rows R80, R85).
 *
 * @param options `onFailure`, and members of HostOptions that hold for every entry
 */
async function connectAll(entries, options = {}) {
  // One recording is of one session: an entry has its own.
  const { onFailure = "collect", record: _, ...host } = options;
  if (onFailure !== "collect" && onFailure !== "stop") {
    throw badOption(undefined, "onFailure");
  }
  const list = Array.from(entries);
  return onFailure === "stop" ? connectEvery(list, host) : connectSome(list, host);
}

async function connectSome(list, host) {
  const clients = [];
  const failures = [];
  const outcomes = await Promise.allSettled(
    list.map((entry) => connectEntry({ ...host, ...entry })),
  );
  outcomes.forEach(({ value, reason }, index) => {
    if (value !== undefined) {
      clients.push(value);
    } else {
      failures.push({ server: list[index]?.server, error: reason });
    }
  });
  return { clients, failures };
}

async function connectEvery(list, host) {
  const stop = new AbortController();
  const abort = () => stop.abort();
  host.signal?.addEventListener("abort", abort, { once: true });
  if (host.signal?.aborted) {
    abort();
  }
  let first;
  const opened = [];
  const openOne = async (entry) => {
    try {
      const client = await connectChecked({ ...host, ...entry, signal: stop.signal });
      opened.push(client);
      return client;
    } catch (error) {
      first ??= error;
      abort();
      return undefined;
    }
  };
  const clients = await Promise.all(list.map(openOne));
  host.signal?.removeEventListener("abort", abort);
  if (first !== undefined) {
    await Promise.all(opened.map((client) => client.close()));
    throw first;
  }
  return { clients, failures: [] };
}

/** Connects and sees that the entry's selection of tools can be made, if it has one. */
async function connectChecked(entry) {
  const { namePrefix, include, exclude } = entry;
  if (namePrefix === "") {
    // Known before anything is started.
    flowsOf({ server: entry.server, tools: [] }, { namePrefix, checked: true });
  }
  const client = await connectEntry(entry);
  if (include !== undefined) {
    try {
      flowsOf(client, { namePrefix, include, exclude, checked: true });
    } catch (error) {
      await client.close();
      throw error;
    }
  }
  return client;
}

async function connectEntry(entry) {
  return Object.hasOwn(entry, "url") ? connectHttp(entry) : connect(entry);
}

export { connectAll };
