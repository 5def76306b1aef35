/**
 * Owns what the session kinds of `client.jsonl` share: a session of the strict profile, the
 * handshake up to a catalog, and the readers of frames and of connect's outcome.
 */

import { Driver } from "./driver.mjs";
import { fail, same } from "./expect.mjs";

export const SERVER = "case";
const REVISION = "2025-06-18";

/** Words in expected frames that stand for any value with something in it. */
const WILDCARDS = new Set(["IDENTITY", "REASON", "NOT_FOUND"]);

/** The tool of kinds that bring only a result. */
export const TOOL = { name: "tool", inputSchema: { type: "object" } };

/** Runs `play(driver)` on a fresh strict session and releases it whatever happens. */
export function withStrictSession({ core }, options, play) {
  const driver = new Driver(core, {
    ...options,
    server: SERVER,
    profile: "strict",
    keywords: "structural",
  });
  try {
    return play(driver);
  } finally {
    driver.free();
  }
}

export function answer(driver, request, result) {
  driver.receiveMessage({ jsonrpc: "2.0", id: request.id, result });
}

/** Connects and answers `initialize`, so that the catalog is asked for next. */
export function initialize(driver, result = goodInitializeResult()) {
  driver.connect();
  answer(driver, lastRequest(driver, "initialize"), result);
}

export function goodInitializeResult() {
  return { protocolVersion: REVISION, capabilities: { tools: {} } };
}

/** Connects with one page of tools; what was sent until then is not part of a case. */
export function ready(driver, tools) {
  initialize(driver);
  answer(driver, lastRequest(driver, "tools/list"), { tools });
  if (!isReady(driver)) {
    fail("ready", `the session is ${driver.session.state} after a good handshake`);
  }
}

export function isReady(driver) {
  return driver.eventsOf("ready").length > 0;
}

/** The error that connecting failed with, if it did. */
export function connectError(driver) {
  return isReady(driver) ? undefined : driver.eventsOf("closed")[0]?.error;
}

/** The newest frame, which must be a request of this method. */
export function lastRequest(driver, method) {
  const message = driver.frames.at(-1)?.message;
  if (message?.method !== method || message.id === undefined) {
    fail("sent", `expected a ${method} request, got ${JSON.stringify(message)}`);
  }
  return message;
}

export function sameFrames(frames, expected, where) {
  same(
    frames.map(({ message }) => message),
    expected,
    where,
    WILDCARDS,
  );
}

/** A tool result of the strict profile: exactly three own members, in a fixed order. */
export function sameResult(result, expected, where) {
  same(Object.keys(result), ["content", "isError", "structuredContent"], `${where} (members)`);
  same(result, expected, where);
}
