/**
 * Owns the connection of a field case: the options it runs with, the handshake that the runner
 * answers for the server, and the single call that other kinds need.
 */

import { Driver } from "./driver.mjs";
import { fail } from "./expect.mjs";

export const SERVER = "field";
const MODERN = "2026-07-28";
const SERVER_INFO = { name: "server", version: "1" };

/** Config members of a case, by our name where it differs. */
const CONFIG = { maxLineBytes: "maxFrameBytes" };

export function sessionOptions({ core }, input, tools) {
  const { protocol, supported, state, config = {} } = input;
  const options = {
    server: SERVER,
    era: eraOf(protocol, state),
    revisions: supported ?? upTo(protocol, core.coreInfo().revisions),
    requestTimeoutMs: 60_000,
    tools,
  };
  for (const [name, value] of Object.entries(config)) {
    const ours = CONFIG[name] ?? name;
    if (!Object.hasOwn(core.limits.contain, ours)) {
      fail(`input.config.${name}`, "the runner does not know this member");
    }
    options[ours] = value;
  }
  return options;
}

function eraOf(protocol, state) {
  if (protocol < MODERN) {
    return "legacy";
  }
  return state === "ready" ? "modern" : "auto";
}

/** The revision and all older ones, newest first. Revisions are dates, so text order is age. */
function upTo(protocol, revisions) {
  const older = revisions.filter((revision) => revision < protocol);
  return [protocol, ...older.sort().reverse()];
}

/** Connects, and answers whatever the handshake of the era asks. */
export function handshake(driver, protocol, capabilities = { tools: {} }) {
  driver.connect();
  if (driver.session.state === "ready") {
    // The modern era needs no handshake.
    return;
  }
  const opening = driver.frames.at(-1)?.message;
  const answers = {
    initialize: { protocolVersion: protocol, capabilities, serverInfo: SERVER_INFO },
    "server/discover": {
      resultType: "complete",
      supportedVersions: [protocol],
      capabilities,
      serverInfo: SERVER_INFO,
      ttlMs: 0,
      cacheScope: "private",
    },
  };
  const result = answers[opening?.method] ?? fail("handshake", `sent ${JSON.stringify(opening)}`);
  driver.receiveMessage({ jsonrpc: "2.0", id: opening.id, result });
  if (driver.session.state !== "ready") {
    fail("handshake", `the session is ${driver.session.state} after a good answer`);
  }
}

/**
 * One call of `tool` on a session that has it from its host. `reply` is the JSON text of the
 * answer's members after the id. Gives the outcome and the frames sent after the handshake.
 */
export function callOnce(toolwire, { tool, reply, protocol = "2025-11-25", ...more }) {
  const driver = new Driver(toolwire.core, {
    ...sessionOptions(toolwire, { protocol, state: "ready" }, [tool]),
    ...more,
  });
  try {
    handshake(driver, protocol);
    const first = driver.frames.length;
    const call = driver.call(tool.name, {});
    const { id } = driver.frames.at(-1).message;
    driver.receive(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${reply}}\n`);
    const outcome = call.outcome ?? fail("call", "the call has not settled");
    return { outcome, frames: driver.frames.slice(first), driver };
  } finally {
    driver.free();
  }
}
