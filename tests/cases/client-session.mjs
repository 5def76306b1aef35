/** Kind `session` of `client.jsonl`: a script of inputs, and everything that came of it. */

import { fail, readElsewhere, readMembers, same, show } from "./expect.mjs";
import { sameError } from "./client-errors.mjs";
import {
  connectError,
  isReady,
  ready,
  sameFrames,
  sameResult,
  withStrictSession,
} from "./client-strict.mjs";

export const kinds = {
  session({ input, expected }, toolwire) {
    readMembers(input, "in", { steps: readElsewhere, options: readElsewhere });
    withStrictSession(toolwire, input.options, (driver) => {
      const script = new Script(driver);
      for (const [index, step] of input.steps.entries()) {
        script.play(step, `in.steps[${index}]`);
      }
      readMembers(expected, "out", {
        sent: (frames, at) => sameFrames(driver.frames.slice(script.firstFrame), frames, at),
        outcomes: (outcomes, at) => script.compareOutcomes(outcomes, at, toolwire.core),
        diag: (sources, at) => compareDiagnostics(driver, sources, at),
      });
    });
  },
};

/** Other words for the ends of a connection; the reasons of errors use them. */
const SPELLINGS = new Map([
  ["end", "eof"],
  ["stdout_closed", "eof"],
  ["epipe", "stdin_closed"],
  ["write_failed", "stdin_closed"],
  ["scope_closed", "close"],
]);

/** Steps are arrays: a verb and its arguments. */
class Script {
  /** Frames before this one belong to a handshake that the case does not show. */
  firstFrame = 0;

  #driver;
  #requests = new Map();
  /** Handles aborted while they were open: cases do not say what becomes of them. */
  #aborted = new Set();
  #judged = new Map();

  constructor(driver) {
    this.#driver = driver;
  }

  play([verb, ...args], where) {
    const driver = this.#driver;
    const verbs = {
      open: () => driver.connect(),
      ready: (tools) => {
        ready(driver, tools);
        this.firstFrame = driver.frames.length;
      },
      recv: (line) => this.#receive(line),
      call: (name, tool, value) => this.#keep(name, where, driver.call(tool, value)),
      notify: (method) =>
        this.#keep(
          method,
          where,
          driver.request((session, now) => session.notify(method, undefined, now)),
        ),
      abort: (name) => {
        const request = this.#requests.get(name) ?? fail(where, `no handle ${show(name)}`);
        if (request.outcome === undefined) {
          this.#aborted.add(name);
        }
        driver.cancel(request);
      },
      tick: (ms) => driver.advance(ms),
      stall: () => (driver.room = 1),
      unstall: () => {
        driver.room = Infinity;
        driver.act(() => {});
      },
      exit: (code) => driver.act((session, now) => session.exited(code ?? null, now)),
      eof: () => driver.act((session, now) => session.end(now)),
      stdin_closed: () => driver.act((session, now) => session.writeFailed(now)),
      close: () => driver.act((session, now) => session.close(now)),
    };
    const step = verbs[SPELLINGS.get(verb) ?? verb];
    if (step === undefined) {
      fail(where, `the runner does not know the step ${show(verb)}`);
    }
    if (args.length > step.length) {
      fail(where, `the step ${verb} has more arguments than the runner knows`);
    }
    step(...args);
  }

  compareOutcomes(outcomes, where, toolwire) {
    const { connect, ...handles } = outcomes;
    compareConnect(this.#driver, connect, `${where}.connect`, toolwire);
    for (const name of Object.keys(handles)) {
      if (!this.#requests.has(name)) {
        fail(`${where}.${name}`, "no step has this handle");
      }
    }
    for (const [name, { outcome }] of this.#requests) {
      if (!this.#aborted.has(name)) {
        const context = { toolwire, judged: this.#judged.get(name) };
        compareOutcome(outcome, handles[name], `${where}.${name}`, context);
      }
    }
  }

  #keep(name, where, request) {
    if (this.#requests.has(name)) {
      fail(where, `the handle ${show(name)} is used twice`);
    }
    this.#requests.set(name, request);
  }

  /** A line as text, or a message; a message may settle requests, and so be what was judged. */
  #receive(line) {
    if (typeof line === "string") {
      this.#driver.receive(`${line}\n`);
      return;
    }
    const open = [...this.#requests].filter(([, { outcome }]) => outcome === undefined);
    this.#driver.receiveMessage(line);
    for (const [name, request] of open) {
      if (request.outcome !== undefined) {
        this.#judged.set(name, line.result?.structuredContent);
      }
    }
  }
}

function compareConnect(driver, expected, where, toolwire) {
  const refused = connectError(driver);
  if (expected === undefined) {
    same(isReady(driver), false, where);
    same(driver.session.state === "closed", false, where);
  } else if (expected === "ok") {
    if (refused !== undefined) {
      throw refused;
    }
    same(isReady(driver), true, where);
  } else {
    readMembers(expected, where, {
      error: (error, at) => sameError(refused, error, at, { toolwire }),
    });
  }
}

function compareOutcome(outcome, expected, where, context) {
  if (expected === undefined) {
    if (outcome !== undefined) {
      fail(where, `expected to be open still, it ${outcome.ok ? "succeeded" : "failed"}`);
    }
    return;
  }
  if (outcome === undefined) {
    fail(where, `expected ${show(expected)}, it is open still`);
  }
  if (expected === "ok") {
    same(outcome.ok, true, where);
    return;
  }
  readMembers(expected, where, {
    ok: (result, at) => {
      if (!outcome.ok) {
        throw outcome.error;
      }
      sameResult(outcome.result, result, at);
    },
    error: (error, at) => {
      if (outcome.ok) {
        fail(at, `expected ${show(error)}, it succeeded`);
      }
      sameError(outcome.error, error, at, context);
    },
  });
}

/** Sources that a case may list. Only remote errors are compared: the rest is not alike in detail. */
const SOURCES = [
  "spawn",
  "stderr",
  "remote-error",
  "invalid-response",
  "invalid-arguments",
  "transport",
];

function compareDiagnostics(driver, expected, where) {
  const unknown = expected.filter((source) => !SOURCES.includes(source));
  same(unknown, [], `${where} (sources that the runner does not know)`);
  const seen = driver.eventsOf("diagnostic").map(({ source }) => source);
  const isRemote = (source) => source === "remote-error";
  same(seen.filter(isRemote), expected.filter(isRemote), where);
}
