/**
 * Owns the steps of a session scenario: what the host does, what the server sends and how time
 * passes. It also knows which request was sent for which handle, because the server's lines name
 * them by placeholder.
 */

import { Driver } from "./driver.mjs";
import { fail, readElsewhere, readMembers, show } from "./expect.mjs";
import { handshake, sessionOptions } from "./field-connection.mjs";
import { PROSE } from "./field-words.mjs";
import { numberOf } from "./numbers.mjs";

/** Options of a call, by our name. */
const CALL_OPTIONS = {
  timeoutMs: "timeoutMs",
  resetOnProgress: "resetTimeoutOnProgress",
  maxTotalMs: "maxTotalTimeoutMs",
};

/** Placeholders for the handshake's own requests. */
const HANDSHAKE = { initialize: "init", "server/discover": "discover" };

const CHUNK_BYTES = 65_536;

/** What a handle of the case stands for: its requests, and the ids they were sent with. */
class Handle {
  requests = [];
  ids = [];
  answered = new Set();
  token;
}

export class Scenario {
  handles = new Map();
  /** Frames and events before these belong to a handshake that the case does not show. */
  firstFrame = 0;
  firstEvent = 0;
  /** The first frame of the process that was started again after `respawn`. */
  restartFrame;

  #input;
  /** Requests that have not left yet: `{ method, handle, request }`, oldest first. */
  #unsent = [];
  #framesSeen = 0;
  #lister;
  #restarts = 0;
  #firstId;

  constructor(toolwire, input) {
    this.#input = input;
    this.driver = new Driver(toolwire.core, sessionOptions(toolwire, input, toolsOf(input.steps)));
  }

  /** Plays the handshake, if the case starts after it, and every step. */
  play() {
    const { protocol, state, serverCapabilities, steps } = this.#input;
    if (state === "ready") {
      handshake(this.driver, protocol, serverCapabilities);
      this.firstFrame = this.driver.frames.length;
      this.firstEvent = this.driver.events.length;
      this.#attribute();
    } else if (state !== "fresh") {
      fail("input.state", `the runner does not know the state ${show(state)}`);
    }
    for (const [index, step] of steps.entries()) {
      if (step.eof === undefined && step.exit === undefined) {
        this.#restart();
      }
      this.#step(step, `input.steps[${index}]`);
      this.#attribute();
    }
    this.#restart();
  }

  handle(name, where) {
    return this.handles.get(name) ?? fail(where, `no step has the handle ${show(name)}`);
  }

  /** The outcome of a handle's one request. */
  outcome(name, where) {
    const { requests } = this.handle(name, where);
    if (requests.length !== 1) {
      fail(where, `the handle ${show(name)} has ${requests.length} requests`);
    }
    return requests[0].outcome;
  }

  get frames() {
    return this.driver.frames.slice(this.firstFrame);
  }

  get events() {
    return this.driver.events.slice(this.firstEvent).map(({ event }) => event);
  }

  /** A process that is to be started again is, once the old one's end has been told in full. */
  #restart() {
    if (this.driver.eventsOf("respawn").length > this.#restarts) {
      this.#restarts += 1;
      this.restartFrame = this.driver.frames.length;
      this.driver.connect();
      this.#attribute();
    }
  }

  #step(step, where) {
    const { driver } = this;
    const readers = {
      host: (verb, at) => this.#host(verb, step, at),
      recv: (text) => this.#send(this.#fill(text, where), step.perByte ? 1 : Infinity),
      recvHex: (hex) => {
        const text = Buffer.from(hex, "hex").toString("latin1");
        this.#send(Buffer.from(this.#withRealIds(text), "latin1"), step.perByte ? 1 : Infinity);
      },
      recvFill: (filling, at) => {
        readMembers(filling, at, { byte: readElsewhere, count: readElsewhere });
        this.#send(filled(filling), CHUNK_BYTES);
      },
      recvBig: (big, at) => this.#sendBig(big, at),
      recvEach: (each, at) => this.#answerEach(each, at),
      advanceMs: (ms) => driver.advance(ms),
      eof: () => driver.act((session, now) => session.end(now)),
      exit: (exit) => driver.act((session, now) => session.exited(exit?.code ?? null, now)),
      writeError: () => driver.act((session, now) => session.writeFailed(now)),
    };
    const verbs = Object.keys(readers).filter((verb) => Object.hasOwn(step, verb));
    if (verbs.length !== 1) {
      fail(where, `a step has one verb, this one has ${show(verbs)}`);
    }
    const more = verbs[0] === "host" ? HOST_MEMBERS : { perByte: readElsewhere };
    readMembers(step, where, { ...readers, ...more }, PROSE);
  }

  #host(verb, step, where) {
    const { driver } = this;
    const { h, name, arguments: args, cursor, reason } = step;
    const verbs = {
      start: () => driver.connect(),
      call: () => this.#call(h, name, args, optionsOf(step.opts, where)),
      callMany: () => {
        for (let count = countOf(step, where); count > 0; count -= 1) {
          this.#call(h, name, args, optionsOf(step.opts, where));
        }
      },
      listTools: () =>
        this.#keep(h, "tools/list", (session, now) => session.refreshTools(now)),
      listToolsPage: () => {
        const params = cursor === undefined ? {} : { cursor };
        this.#keep(h, "tools/list", (session, now) =>
          session.request("tools/list", params, optionsOf(step.opts, where), now),
        );
      },
      ping: () =>
        this.#keep(h, "ping", (session, now) =>
          session.request("ping", undefined, optionsOf(step.opts, where), now),
        ),
      cancel: () => {
        for (const request of this.handle(h, where).requests) {
          driver.cancel(request, reason);
        }
      },
      close: () => driver.act((session, now) => session.close(now)),
      blockWrites: () => (driver.room = 0),
      unblockWrites: () => {
        driver.room = Infinity;
        driver.act(() => {});
      },
    };
    (verbs[verb] ?? fail(where, `the runner does not know ${show(verb)}`))();
  }

  #call(h, name, args, options) {
    this.#keep(h, "tools/call", (session, now) => session.callTool(name, args, options, now));
  }

  /** Starts a request for a handle. */
  #keep(name, method, start) {
    const handle = this.handles.get(name) ?? new Handle();
    this.handles.set(name, handle);
    const request = this.driver.request(start);
    handle.requests.push(request);
    this.#unsent.push({ method, handle, request });
    this.#attribute();
  }

  /** Gives every new request among the frames to the handle it was sent for. */
  #attribute() {
    const frames = this.driver.frames.slice(this.#framesSeen);
    this.#framesSeen += frames.length;
    for (const { message } of frames) {
      if (message.method !== undefined && message.id !== undefined) {
        this.#attributeRequest(message);
      }
    }
    this.#unsent = this.#unsent.filter(({ request }) => request.outcome === undefined);
  }

  #attributeRequest({ id, method, params }) {
    const index = this.#unsent.findIndex((waiting) => waiting.method === method);
    let handle;
    if (index >= 0) {
      [{ handle }] = this.#unsent.splice(index, 1);
      this.#firstId ??= id;
      this.#lister = method === "tools/list" ? handle : this.#lister;
    } else if (method === "tools/list") {
      handle = this.#lister;
    } else if (Object.hasOwn(HANDSHAKE, method)) {
      handle = new Handle();
      this.handles.set(HANDSHAKE[method], handle);
    }
    if (handle !== undefined) {
      handle.ids.push(id);
      handle.token = params?._meta?.progressToken;
    }
  }

  /** A text with its placeholders replaced. */
  #fill(text, where) {
    const filledIn = text.replaceAll(/\$\{([^}]*)\}/g, (placeholder, name) => {
      const [h, member] = name.split(".");
      const { ids, token } = this.handle(h, where);
      const value = member === undefined ? ids.at(-1) : member === "token" ? token : undefined;
      return JSON.stringify(value) ?? fail(where, `nothing was sent for ${placeholder}`);
    });
    return this.#withRealIds(filledIn);
  }

  /** Fixed bytes hold the ids of `firstRequestId` and up; the real ones take their place. */
  #withRealIds(text) {
    const { firstRequestId } = this.#input;
    if (firstRequestId === undefined || this.#firstId === undefined) {
      return text;
    }
    return text.replaceAll(/("id"\s*:\s*)(\d+)/g, (whole, before, digits) => {
      const offset = Number(digits) - firstRequestId;
      return offset >= 0 ? `${before}${this.#firstId + offset}` : whole;
    });
  }

  #send(data, chunkBytes) {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      this.driver.receive(Uint8Array.from(bytes.subarray(start, start + chunkBytes)));
    }
  }

  #sendBig(big, where) {
    readMembers(big, where, {
      prefix: readElsewhere,
      fill: readElsewhere,
      suffix: readElsewhere,
      chunkBytes: readElsewhere,
    });
    const { prefix = "", fill, suffix = "", chunkBytes = CHUNK_BYTES } = big;
    const ends = [prefix, suffix].map((text) => Buffer.from(this.#fill(text, where), "utf8"));
    this.#send(Buffer.concat([ends[0], filled(fill), ends[1]]), chunkBytes);
  }

  /** Answers the requests of a handle as long as there is one, at most `times` times. */
  #answerEach(each, where) {
    readMembers(each, where, { h: readElsewhere, times: readElsewhere, result: readElsewhere });
    const { h, times = Infinity, result } = each;
    const handle = this.handle(h, where);
    const text = JSON.stringify(result);
    for (let turn = 0; turn < times; turn += 1) {
      const id = handle.ids.find((sent) => !handle.answered.has(sent));
      if (id === undefined) {
        return;
      }
      handle.answered.add(id);
      this.#send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}\n`, Infinity);
      this.#attribute();
    }
  }
}

/** Members of a host step beside its verb; the verb's reader takes them. */
const HOST_MEMBERS = Object.fromEntries(
  ["h", "name", "arguments", "opts", "cursor", "reason", "count", "times", "n"].map((name) => [
    name,
    readElsewhere,
  ]),
);

function countOf({ count, times, n }, where) {
  return count ?? times ?? n ?? fail(where, "callMany without a count");
}

function optionsOf(opts, where) {
  if (opts === undefined) {
    return undefined;
  }
  const options = {};
  const readers = {};
  for (const [name, ours] of Object.entries(CALL_OPTIONS)) {
    readers[name] = (value) => (options[ours] = numberOf(value));
  }
  readMembers(opts, `${where}.opts`, readers, PROSE);
  return options;
}

function filled({ byte, count }) {
  return Buffer.alloc(count, Buffer.from(byte, "hex"));
}

/**
 * The tools that the host knows beforehand: those that a step calls and no step lists. With them
 * (or with none) the session is ready as soon as the handshake is over.
 */
function toolsOf(steps) {
  const listed = new Set(steps.flatMap(({ recv = "" }) => namesListed(recv)));
  const called = steps
    .filter(({ host }) => host === "call" || host === "callMany")
    .map(({ name }) => name);
  return [...new Set(called)]
    .filter((name) => !listed.has(name))
    .map((name) => ({ name, inputSchema: { type: "object" } }));
}

function namesListed(text) {
  return text.split("\n").flatMap((line) => {
    try {
      const { result } = JSON.parse(line.replaceAll(/\$\{[^}]*\}/g, "0"));
      return result.tools.map((tool) => tool?.name);
    } catch {
      // Not a whole line of JSON with a list of tools: it lists nothing.
      return [];
    }
  });
}
