/**
 * Owns how an error is told to a human at a terminal. Unlike messages this may hold what a server
 * wrote, so what could steer a terminal is taken out of it.
 */

import { ToolwireError } from "./errors.js";

/** What to do about it, by reason. */
const HINTS = {
  args_not_json: "Pass plain objects, arrays, strings, finite numbers, booleans and null.",
  arguments_rejected: "Compare the arguments with the tool's inputSchema.",
  connect_timeout: "Raise connectTimeoutMs if the server needs long to start.",
  config_token_unset: "Set the variable before starting.",
  deadline: "Raise requestTimeoutMs, or timeoutMs of the call.",
  exited: "Run the server's command by hand to see why it ends.",
  frame_too_long: "Raise maxFrameBytes if the server is to be trusted with so long a line.",
  http_status: "401 and 403 want a token (authProvider), 404 another URL.",
  init_no_tools: "The server offers no tools; is it the one you meant?",
  init_version_unsupported: "Update the server or this package.",
  input_refused: "Look at what the handler for the server's question threw, or returned.",
  input_undeclared: "Give a handler for what the server asks for, when you connect.",
  lsp_framing: "The server speaks the framing of language servers, not that of MCP.",
  not_initialised: "Call init(urlOrBytesOrModule) first, or import toolwire instead of its slim form.",
  outbound_frame_too_long: "Send less, or raise maxOutboundFrameBytes.",
  output_schema_violation: 'Report it to the server\'s author, or connect with validation: "report".',
  process_exited: "Run the server's command by hand to see why it ends.",
  queue_full: "Wait for calls to settle, or raise queueCapacity.",
  spawn: "Check that the command exists and may be run.",
  session_ended: "Connect again; the server has forgotten the session.",
  stdout_closed: "Run the server's command by hand to see why it ends.",
  unreachable: "Check the URL, and that this host may reach it.",
  unknown_tool: "Compare the name with the client's tools; names are exact.",
};

/** Violations told; more are counted. */
const MOST_VIOLATIONS = 5;

function explain(error) {
  if (!(error instanceof ToolwireError)) {
    return printable(String(error));
  }
  const lines = [error.message];
  if (error.at !== undefined) {
    lines.push(`at: ${error.at === "" ? "(root)" : error.at}`);
  }
  if (error.exitCode !== undefined) {
    lines.push(`exit code: ${error.exitCode}`);
  }
  const detail = detailOf(error);
  tellViolations(detail.violations, lines);
  const said = detail.error?.message ?? detail.message;
  if (typeof said === "string" && said !== "") {
    lines.push(`it said: ${said.split("\n").join("\n  ")}`);
  }
  if (typeof detail.path === "string" && detail.path !== "") {
    lines.push(`where: ${detail.path} (${detail.reason})`);
  }
  if (typeof detail.stderr === "string" && detail.stderr.trim() !== "") {
    lines.push("stderr:", ...detail.stderr.trimEnd().split("\n").map((line) => `  ${line}`));
  }
  if (Object.hasOwn(HINTS, error.reason ?? "")) {
    lines.push(`hint: ${HINTS[error.reason]}`);
  }
  return printable(lines.join("\n"));
}

function detailOf(error) {
  const detail = error.private?.reveal();
  return typeof detail === "object" && detail !== null ? detail : {};
}

function tellViolations(violations, lines) {
  if (!Array.isArray(violations)) {
    return;
  }
  for (const { instancePath, message } of violations.slice(0, MOST_VIOLATIONS)) {
    lines.push(`${instancePath === "" ? "(root)" : instancePath}: ${message}`);
  }
  if (violations.length > MOST_VIOLATIONS) {
    lines.push(`and ${violations.length - MOST_VIOLATIONS} more`);
  }
}

/** Without control and format characters, which can move a terminal's cursor or turn text round. */
function printable(text) {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd");
}

export { explain };
