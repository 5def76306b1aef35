/** Kind `session` of `field.jsonl`: plays a scenario and compares what came of it. */

import { contains, fail, isContained, readElsewhere, readMembers, same, show } from "./expect.mjs";
import { Scenario } from "./field-scenario.mjs";
import { PROSE, includesAll, sameCount, sameError } from "./field-words.mjs";

const MIB = 1_048_576;

export const kinds = {
  session(line, toolwire) {
    const { input } = line;
    const expected = { ...line.expected, ...line.expected.default };
    delete expected.default;
    readMembers(
      input,
      "input",
      {
        protocol: readElsewhere,
        supported: readElsewhere,
        state: readElsewhere,
        serverCapabilities: readElsewhere,
        config: readElsewhere,
        firstRequestId: readElsewhere,
        steps: readElsewhere,
      },
      PROSE,
    );
    playScenario(toolwire, input, (scenario, elapsedMs) => {
      readMembers(
        expected,
        "expected",
        {
          ...readersOfHandles(scenario),
          ...readersOfMessages(scenario),
          ...readersOfOutcomes(scenario, toolwire.core),
          ...readersOfConnection(scenario, toolwire.core),
          ...readersOfFindings(scenario),
          maxMs: (ms, at) => sameCount(Math.ceil(elapsedMs), `<=${ms}`, at),
          timeRatio: (claim, at) => compareTimeRatio(toolwire, input, claim, at),
          // Last, because it lets time pass.
          onTimeout: (error, at) => compareTimeouts(scenario, error, at, toolwire.core),
        },
        PROSE,
      );
    });
  },
};

/** Plays a scenario, hands it over with the time it took, and releases it whatever happens. */
function playScenario(toolwire, input, compare) {
  const scenario = new Scenario(toolwire, input);
  try {
    // Processor time: what else the machine does is no matter of the package's.
    const start = process.cpuUsage();
    scenario.play();
    const { user, system } = process.cpuUsage(start);
    return compare(scenario, (user + system) / 1000);
  } finally {
    scenario.driver.free();
  }
}

function readersOfMessages(scenario) {
  const { driver } = scenario;
  return {
    sends: (messages, at) => inOrder(scenario.frames, messages, at),
    sendsExclude: (messages, at) => {
      for (const [index, message] of messages.entries()) {
        if (scenario.frames.some((frame) => isSent(frame, message))) {
          fail(`${at}[${index}]`, `${show(message)} was sent`);
        }
      }
    },
    effects: (effects, at) => {
      for (const [index, type] of effects.entries()) {
        if (driver.eventsOf(type).length === 0) {
          fail(`${at}[${index}]`, `no ${type} event`);
        }
      }
    },
    thenSends: (messages, at) => {
      if (scenario.restartFrame === undefined) {
        fail(at, "the process was not started again");
      }
      inOrder(driver.frames.slice(scenario.restartFrame), messages, at);
    },
    outbound: (outbound, at) => {
      const last = scenario.frames.at(-1) ?? fail(at, "nothing was sent");
      readMembers(outbound, at, {
        lastBytesExclude: (sequences, path) => {
          const hex = Buffer.from(last.bytes).toString("hex");
          for (const sequence of sequences) {
            if (!/^([0-9a-f]{2})+$/.test(sequence)) {
              fail(path, `${show(sequence)} is not bytes in hexadecimal`);
            }
            // Only whole bytes count: two hex digits each.
            if (hex.match(/../g).join(" ").includes(sequence.match(/../g).join(" "))) {
              fail(path, `the last frame holds the bytes ${sequence}`);
            }
          }
        },
        parsesTo: (args, path) => same(last.message.params.arguments, args, path),
      });
    },
  };
}

/** Every expected message was sent, in order; other messages between them are allowed. */
function inOrder(frames, messages, where) {
  let next = 0;
  for (const [index, message] of messages.entries()) {
    while (next < frames.length && !isSent(frames[next], message)) {
      next += 1;
    }
    if (next === frames.length) {
      const sent = show(frames.map((frame) => frame.message.method ?? "(a reply)"));
      fail(`${where}[${index}]`, `${show(message)} was not sent, or not in order; sent ${sent}`);
    }
    next += 1;
  }
}

/** A message in part; `"no cursor"` for params says that they lack that member. */
function isSent({ message }, { params, ...expected }) {
  const absent = /^no (\w+)$/.exec(params)?.[1];
  if (absent !== undefined) {
    return isContained(message, expected) && !Object.hasOwn(message.params ?? {}, absent);
  }
  return isContained(message, params === undefined ? expected : { ...expected, params });
}

function readersOfOutcomes(scenario, toolwire) {
  return {
    settles: (settles, at) => {
      for (const [name, expected] of Object.entries(settles)) {
        for (const { outcome } of scenario.handle(name, `${at}.${name}`).requests) {
          if (outcome === undefined) {
            fail(`${at}.${name}`, `expected ${show(expected)}, it is open still`);
          }
          compareOutcome(scenario, outcome, expected, `${at}.${name}`, toolwire);
        }
      }
    },
    pending: (names, at) => {
      for (const name of names) {
        if (scenario.handle(name, at).requests.some(({ outcome }) => outcome !== undefined)) {
          fail(at, `${name} has settled`);
        }
      }
    },
    rejectedSynchronously: (names, at) => {
      for (const name of names) {
        const { thrown, error } = scenario.outcome(name, at) ?? {};
        same(thrown, true, `${at} ${name}`);
        sameError(error, "invalid_arguments", `${at} ${name}`, toolwire);
      }
    },
  };
}

function compareOutcome(scenario, outcome, expected, where, toolwire) {
  const { ok, result, error } = outcome;
  const readers = {
    ok: (wanted, at) => {
      if (ok !== wanted) {
        fail(at, ok ? "it succeeded" : `it failed: ${error.code} (${error.reason})`);
      }
    },
    err: (wanted, at) => {
      if (ok) {
        fail(at, `expected ${show(wanted)}, it succeeded`);
      }
      sameError(error, wanted, at, toolwire);
    },
    violation: (wanted, at) => contains(violationsOf(outcome)[0], wanted, at),
    names: (names, at) => same(namesOf(result?.tools ?? scenario.driver.tools), names, at),
    text: (text, at) => same(textOf(result), text, at),
    isError: (isError, at) => same(result.isError, isError, at),
    content: (content, at) => same(result.content, content, at),
    structuredContent: (value, at) => same(result.structuredContent, value, at),
    verdict: (verdict, at) => same(result.verdict, verdict, at),
  };
  // `xDescription` is the description that the tool `x` is listed with.
  for (const member of Object.keys(expected)) {
    const name = /^(.+)Description$/.exec(member)?.[1];
    if (name !== undefined) {
      readers[member] = (text, at) =>
        same(scenario.driver.tools.find((tool) => tool.name === name)?.description, text, at);
    }
  }
  readMembers(expected, where, readers, PROSE);
}

/** A violation travels beside the result or, where it fails the call, in the error. */
function violationsOf({ ok, result, error }) {
  return (ok ? result.violations : error.private?.reveal()?.violations) ?? [];
}

function namesOf(tools) {
  return tools.map(({ name }) => name);
}

function textOf({ content }) {
  return content
    .filter(({ type }) => type === "text")
    .map(({ text }) => text)
    .join("");
}

function readersOfConnection(scenario, toolwire) {
  const { driver } = scenario;
  const closed = () => driver.events.find(({ event }) => event.type === "closed");
  const startError = (expected, at) => {
    same(driver.eventsOf("ready").length, 0, `${at} (ready events)`);
    sameError(closed()?.event.error, expected, at, toolwire);
  };
  return {
    state: (state, at) => same(driver.session.state, state, at),
    startErr: startError,
    startFailsFast: startError,
    withinMs: (ms, at) => {
      if (!(closed()?.at <= ms)) {
        fail(at, `not closed within ${ms} ms`);
      }
    },
    negotiated: (revision, at) => same(driver.session.protocolVersion, revision, at),
    serverInfo: (info, at) => same(driver.eventsOf("ready")[0]?.serverInfo ?? null, info, at),
    capabilities: (value, at) => same(driver.eventsOf("ready")[0]?.capabilities, value, at),
  };
}

function readersOfFindings(scenario) {
  const diagnostics = () => scenario.events.filter(({ type }) => type === "diagnostic");
  return {
    events: (events, at) => compareEvents(scenario, events, at),
    diags: (counts, at) => {
      const codes = diagnostics().map(({ code }) => code);
      if (Object.keys(counts).length === 0) {
        same(codes, [], at);
      }
      for (const [code, count] of Object.entries(counts)) {
        sameCount(codes.filter((one) => one === code).length, count, `${at}.${code}`);
      }
    },
    diagExcerptMaxBytes: (bytes, at) => {
      for (const { detail } of diagnostics()) {
        sameCount(Buffer.byteLength(detail.reveal(), "utf8"), `<=${bytes}`, at);
      }
    },
    perTool: (tools, at) => {
      for (const [name, expected] of Object.entries(tools)) {
        compareProblems(problemsOf(scenario, name), expected, `${at}.${name}`);
      }
    },
    skipped: (entries, at) => {
      const skipped = allProblems(scenario).filter((problem) => problem.skipped);
      same(
        skipped.map(({ index, code }) => ({ index, reason: code })),
        entries,
        at,
      );
    },
  };
}

/** Expected events, in order, others between them allowed. */
function compareEvents(scenario, expected, where) {
  let next = 0;
  for (const [index, { type, code, message, ...rest }] of expected.entries()) {
    const wanted = { type, ...rest };
    if (type === "uncorrelated_error") {
      // Its message is the peer's text, which the event does not carry.
      wanted.rpcCode = code;
    } else {
      Object.assign(wanted, code === undefined ? {} : { code });
      Object.assign(wanted, message === undefined ? {} : { message });
    }
    const found = scenario.events.findIndex(
      (event, position) => position >= next && isContained(event, wanted),
    );
    if (found < 0) {
      fail(`${where}[${index}]`, `no event ${show(wanted)}, or not in order`);
    }
    next = found + 1;
  }
}

function allProblems(scenario) {
  const listings = scenario.driver.eventsOf("tools");
  return listings.at(-1)?.problems ?? [];
}

function problemsOf(scenario, name) {
  const tool = scenario.driver.tools.find((one) => one.name === name);
  return tool?.problems ?? fail("tools", `${name} is not listed, or has no problems`);
}

/** Words for the lints of an input schema, as codes of problems. */
const LINTS = {
  input_schema_root_type_missing: "root_type_missing",
  input_schema_root_not_object: "root_not_object",
};

function compareProblems(problems, expected, where) {
  const wanted = {};
  const part = (name, bad) => (value, at) => {
    if (value !== bad) {
      fail(at, `the runner does not know ${show(value)} here`);
    }
    wanted.part = name;
  };
  readMembers(expected, where, {
    inputSchemaOk: part("inputSchema", false),
    outputValidator: (value, at) => {
      part("outputSchema", "unavailable")(value, at);
      wanted.code = "uncompilable";
    },
    lint: (lint) => Object.assign(wanted, { part: "inputSchema", code: LINTS[lint] ?? lint }),
    at: (at) => Object.assign(wanted, at === "(missing)" ? { code: "missing" } : { at }),
  });
  includesAll(problems, [wanted], where);
}

/** A claim such as "16 MiB takes < 3x of 8 MiB", about the filling of the server's big line. */
function compareTimeRatio(toolwire, input, claim, where) {
  const [, large, factor, small] =
    /^(\d+) MiB takes < (\d+)x of (\d+) MiB$/.exec(claim) ?? fail(where, "not a known claim");
  const time = (mebibytes) => timeOf(toolwire, withFilling(input, Number(mebibytes) * MIB));
  // One run after the other, so that a busy stretch meets both; the fastest of each counts.
  const rounds = Array.from({ length: 4 }, () => [time(large), time(small)]);
  const fastest = (index) => Math.min(...rounds.map((round) => round[index]));
  const ratio = fastest(0) / fastest(1);
  if (!(ratio < Number(factor))) {
    fail(where, `took ${ratio.toFixed(1)} times as long`);
  }
}

function timeOf(toolwire, input) {
  return playScenario(toolwire, input, (_, elapsedMs) => elapsedMs);
}

function withFilling(input, count) {
  const steps = input.steps.map((step) => {
    const big = step.recvBig;
    return big ? { ...step, recvBig: { ...big, fill: { ...big.fill, count } } } : step;
  });
  return { ...input, steps };
}

/**
 * A handle's own member says in words how it may come out. The one form known: "documented meaning
 * (…)", which is to stay open or to be refused at once.
 */
function readersOfHandles(scenario) {
  const readers = {};
  for (const name of scenario.handles.keys()) {
    readers[name] = (words, at) => {
      if (!/^documented meaning \(/.test(words)) {
        fail(at, `the runner does not know ${show(words)}`);
      }
      const outcome = scenario.outcome(name, at);
      if (outcome !== undefined && outcome.error?.code !== "invalid_arguments") {
        fail(at, "neither open nor refused as an invalid argument");
      }
    };
  }
  return readers;
}

/** Lets time pass until everything open has settled; each must settle with this error. */
function compareTimeouts(scenario, expected, where, toolwire) {
  const { driver } = scenario;
  const open = [...scenario.handles]
    .flatMap(([name, { requests }]) => requests.map((request) => ({ name, request })))
    .filter(({ request }) => request.outcome === undefined);
  if (open.length === 0) {
    fail(where, "nothing is open");
  }
  while (open.some(({ request }) => request.outcome === undefined)) {
    const deadline = driver.session.nextDeadline ?? fail(where, "open requests without a deadline");
    driver.advance(deadline - driver.now);
  }
  for (const { name, request } of open) {
    sameError(request.outcome.error, expected, `${where} ${name}`, toolwire);
  }
}
