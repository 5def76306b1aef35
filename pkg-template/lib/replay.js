/**
 * Owns the reading of recordings: the session that one describes lives once more, from the first
 * input to the last. Invariants: the same recording gives the same output and events each time;
 * a recording is a stranger's file, so whatever is in it either replays or is refused with the
 * number of its line.
 */

import { refused } from "./arguments.js";
import { decodeBase64 } from "./core.js";
import { ToolwireError } from "./errors.js";
import { parseJson } from "./json.js";
import { pick } from "./options.js";
import { errorFor, sentence } from "./sentences.js";
import { ClientSession, RefusedArguments, workUntil } from "./session.js";

/** The version of the format that is read. */
const FORMAT = 1;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const NO_NUMBERS = new Map([
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
  ["NaN", NaN],
]);

/** What a record that cannot be one throws inside. */
const INVALID = Symbol("invalid");

/** By `in`: gives the session the input. `exact` are the members with long integers kept. */
const INPUTS = {
  connect: (session, { t }) => session.connect(time(t)),
  chunk: (session, { t, data }) => session.receive(bytes(data), time(t)),
  message: (session, { t, text, inReplyTo }) =>
    session.receiveMessage(
      bytes(text),
      time(t),
      inReplyTo === undefined ? inReplyTo : integer(inReplyTo),
    ),
  replyEnded: (session, { t, handle, outcome }) =>
    session.replyEnded(integer(handle), object(outcome), time(t)),
  end: (session, { t }) => session.end(time(t)),
  exited: (session, { t, code = null }) =>
    session.exited(code === null ? null : integer(code), time(t)),
  writeFailed: (session, { t }) => session.writeFailed(time(t)),
  advance: (session, { t }) => session.advance(time(t)),
  call: (session, record, exact) => {
    const { t, name, arguments: args = {}, refused } = record;
    const given = refused === undefined ? args : new RefusedArguments(refusal(refused));
    request(() => session.callTool(words(name), given, options(record, exact), time(t)));
  },
  request: (session, record, exact) => {
    const { t, method, params } = record;
    request(() => session.request(words(method), params, options(record, exact), time(t)));
  },
  notify: (session, { t, method, params }) => session.notify(words(method), params, time(t)),
  refresh: (session, { t }) => session.refreshTools(time(t)),
  respond: (session, { t, token, error }, exact) => {
    let outcome = { result: exact().result };
    if (error !== undefined) {
      const { code, message } = object(error);
      outcome = { error: { code: number(code), message: words(message), data: exact().error.data } };
    }
    session.respond(integer(token), outcome, time(t));
  },
  cancel: (session, { t, handle, reason }) =>
    session.cancel(integer(handle), reason === undefined ? reason : words(reason), time(t)),
  stderr: (session, { t, data }) => session.stderr(bytes(data), time(t)),
  stderrEnded: (session, { t }) => session.stderrEnded(time(t)),
  close: (session, { t }) => session.close(time(t)),
  take: () => {},
  takeMessage: () => {},
};

/** Steps that one replay may take, unless told otherwise: well over what hours of traffic need. */
const MAX_STEPS = 4_000_000_000;

/** What is left of the steps. */
class Budget {
  constructor(maxSteps) {
    this.limit = maxSteps;
    this.left = maxSteps;
  }

  /** Has the session work until so many pieces are done. */
  work(session, done) {
    this.left = workUntil(session, done, this.left);
    if (this.left <= 0) {
      throw errorFor({ code: "limit", reason: "replay_budget", limit: this.limit });
    }
  }
}

/** Replays a recording. Blank lines count as lines and are nothing else. */
function replay(recording, options = undefined) {
  const { maxSteps = MAX_STEPS } = pick(options, ["maxSteps"]);
  if (!Number.isSafeInteger(maxSteps) || maxSteps < 1) {
    throw refused("maxSteps");
  }
  const budget = new Budget(maxSteps);
  const lines = textOf(recording).split("\n");
  const output = [];
  const events = [];
  let session;
  let paced;
  try {
    for (const [index, line] of lines.entries()) {
      if (line.trim() === "") {
        continue;
      }
      const record = read(line, index + 1);
      const exact = () => parseJson(line, "bigint");
      if (session === undefined) {
        session = attempt(index + 1, () => begin(record, exact()));
        paced = record.paced === true;
      } else {
        attempt(index + 1, () => step(session, record, exact, paced, output, budget));
      }
      drainEvents(session, events);
    }
    if (session === undefined) {
      throw invalid(1);
    }
    budget.work(session, Infinity);
    drainEvents(session, events);
    return { output, events };
  } finally {
    session?.free();
  }
}

function textOf(recording) {
  if (typeof recording === "string") {
    return recording;
  }
  if (ArrayBuffer.isView(recording)) {
    return new TextDecoder().decode(recording);
  }
  throw invalid(1);
}

function read(line, number) {
  let record;
  try {
    record = JSON.parse(line);
  } catch {
    throw invalid(number);
  }
  return attempt(number, () => object(record));
}

/** The session that the header describes. */
function begin(header, exact) {
  check(header.toolwire === FORMAT);
  const { server, ...rest } = object(exact.options);
  const given = { server };
  for (const [name, value] of Object.entries(rest)) {
    given[name] = NO_NUMBERS.get(value) ?? (typeof value === "bigint" ? Number(value) : value);
  }
  return new ClientSession(given);
}

/** One record: the session is brought to where it stood, then gets the input. */
function step(session, record, exact, paced, output, budget) {
  const { in: kind, done = Infinity } = record;
  check(typeof kind === "string" && Object.hasOwn(INPUTS, kind));
  check(done === Infinity || Number.isSafeInteger(done));
  budget.work(session, done);
  INPUTS[kind](session, record, exact);
  if (kind === "take") {
    take(session, output);
  }
  if (kind === "takeMessage") {
    const message = session.takeMessage();
    if (message !== undefined) {
      output.push(message.json);
    }
  }
  if (!paced) {
    do {
      budget.work(session, Infinity);
    } while (take(session, output));
  }
}

function take(session, output) {
  const frame = session.takeOutput();
  if (frame === undefined) {
    return false;
  }
  output.push(frame);
  return true;
}

function drainEvents(session, events) {
  for (let event = session.pollEvent(); event !== undefined; event = session.pollEvent()) {
    events.push(event);
  }
}

/** What was refused when it was recorded is refused again, and left no trace then. */
function request(make) {
  try {
    make();
  } catch (error) {
    check(error instanceof ToolwireError);
  }
}

/** Runs what reads a record. Whatever it cannot make sense of is the recording's fault. */
function attempt(number, action) {
  try {
    return action();
  } catch (error) {
    const own = ["core_trapped", "limit"];
    if (error === INVALID || (error instanceof ToolwireError && !own.includes(error.code))) {
      throw invalid(number);
    }
    throw error;
  }
}

function invalid(line) {
  const reason = "recording_invalid";
  const message = sentence(reason, undefined, { index: line });
  return new ToolwireError({ code: "invalid_arguments", reason, at: line, message });
}

function check(fine) {
  if (!fine) {
    throw INVALID;
  }
}

function object(value) {
  check(typeof value === "object" && value !== null && !Array.isArray(value));
  return value;
}

function words(value) {
  check(typeof value === "string");
  return value;
}

function number(value) {
  check(typeof value === "number");
  return value;
}

function integer(value) {
  check(Number.isSafeInteger(value));
  return value;
}

function time(value) {
  check(Number.isFinite(value));
  return value;
}

function bytes(value) {
  check(typeof value === "string" && value.length % 4 === 0 && BASE64.test(value));
  return decodeBase64(value);
}

function refusal(value) {
  const { reason, path } = object(value);
  return { reason: words(reason), path: words(path) };
}

/** The options of a call or request; exact, because `meta` may hold long integers. */
function options(record, exact) {
  if (record.options === undefined) {
    return undefined;
  }
  const given = {};
  for (const [name, value] of Object.entries(object(record.options))) {
    given[name] = NO_NUMBERS.get(value) ?? value;
  }
  if (given.meta !== undefined) {
    given.meta = exact().options.meta;
  }
  return given;
}

export { replay };
