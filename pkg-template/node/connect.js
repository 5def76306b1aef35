/**
 * Owns `connect`: a client of a server that it starts as a child process and owns.
 */
import { openClient } from "../lib/client.js";
import { Redacted } from "../lib/redacted.js";
import { planLaunch } from "./launch.js";
import { closingWith, openRecording } from "./record.js";
import { StdioTransport } from "./stdio-transport.js";
import { forgetVerdict, recall, remember, verdictKey } from "./verdicts.js";

/**
 * Starts a server and connects to it. Rejects with a ToolwireError, and leaves nothing behind then.
 */
async function connect(options) {
  const plan = planLaunch(options);
  const transport = new StdioTransport(plan, options.onDiagnostic);
  const recording = await openRecording(options.record, plan.server, () => reportLoss(options));
  const client =
    recording === undefined
      ? await openKnowingly(options, plan, transport)
      : await openRecorded(options, plan, transport, recording);
  transport.observe();
  return client;
}

async function openRecorded(options, plan, transport, recording) {
  const { write } = recording;
  try {
    return await openKnowingly(
      { ...options, record: write },
      plan,
      closingWith(recording, transport),
    );
  } catch (error) {
    // A session that could not be made had no transport to close.
    await recording.end();
    throw error;
  }
}

/** Tells that the recording ended before its session. */
function reportLoss({ server, onDiagnostic }) {
  try {
    onDiagnostic?.({
      server,
      source: "transport",
      code: "transport",
      detail: new Redacted("recording_failed"),
      truncated: false,
    });
  } catch {
    // What an observer throws is its own affair (row R72).
  }
}

/** Opens a client with what is remembered of the server, and remembers what it turns out to be. */
async function openKnowingly(options, plan, transport) {
  if (!decidesEra(options)) {
    return openClient(options, transport);
  }
  const key = verdictKey(plan);
  const prior = usable(recall(key), options);
  try {
    const client = await openClient(
      prior === undefined ? options : { ...options, prior },
      transport,
    );
    remember(key, { era: client.era, protocolVersion: client.protocolVersion });
    return client;
  } catch (error) {
    forgetVerdict(key);
    throw error;
  }
}

/** True if the session is left to find out the server's era. */
function decidesEra({ era = "auto", prior, profile = "contain" }) {
  return era === "auto" && prior === undefined && profile === "contain";
}

/** A remembered verdict, unless the caller does not accept its revision. */
function usable(verdict, { revisions }) {
  if (verdict === undefined || revisions === undefined) {
    return verdict;
  }
  return revisions.includes(verdict.protocolVersion) ? verdict : undefined;
}

export { connect };
