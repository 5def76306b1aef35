/**
 * Owns the findings `toolwire check` can make: each with a stable code, how grave it is, the section
 * of the specification that it is about, what is wrong and what to do. docs/check.md lists them.
 */

const STDIO = "basic/transports#stdio";
const LIFECYCLE = "basic/lifecycle";
const MESSAGES = "basic#messages";
const TOOLS = "server/tools";
const PAGINATION = "server/utilities/pagination";
const JSON_RPC = "JSON-RPC 2.0";

/** By code: `[severity, section, what is wrong, hint]`. */
const FINDINGS = {
  // Connecting.
  handshake_failed: [
    "error",
    LIFECYCLE,
    "no client can connect",
    "Run the command by hand and look at what it writes.",
  ],
  died: [
    "error",
    LIFECYCLE,
    "the server went away during the examination",
    "Catch what a request throws; answer it with an error.",
  ],
  restarted: [
    "warning",
    LIFECYCLE,
    "the server ends when its first message is not initialize",
    "Answer requests you do not know with error -32601 and go on.",
  ],
  probe_unanswered: [
    "note",
    JSON_RPC,
    "a request for an unknown method before initialize was never answered",
    "Answer it with error -32601, so that clients of both eras need not wait.",
  ],
  handshake_shape: [
    "error",
    `${LIFECYCLE}#initialization`,
    "the result of the handshake is not as it must be",
    "Compare it with the schema of its revision.",
  ],
  server_info_missing: [
    "error",
    `${LIFECYCLE}#initialization`,
    "serverInfo has no name or no version",
    "Send both as strings.",
  ],
  revision_behind: [
    "note",
    `${LIFECYCLE}#version-negotiation`,
    "the server does not speak the newest revision of its era",
    "Update its SDK when you can.",
  ],
  slow_start: [
    "warning",
    LIFECYCLE,
    "the server takes more than 5 s to its first byte",
    "Answer the handshake first, load the rest afterwards: clients give up.",
  ],

  // What it writes.
  stdout_noise: [
    "error",
    STDIO,
    "stdout holds lines that are no MCP messages",
    "Write logs to stderr; stdout belongs to the protocol.",
  ],
  lsp_framing: [
    "error",
    STDIO,
    "messages have Content-Length headers",
    "Write each message as one line, without headers.",
  ],
  embedded_newline: [
    "error",
    STDIO,
    "a message seems to be spread over several lines",
    "Write JSON without line breaks in it.",
  ],
  invalid_utf8: ["error", STDIO, "a line is not UTF-8", "Encode what you write as UTF-8."],
  byte_order_mark: [
    "warning",
    STDIO,
    "the output begins with a byte order mark",
    "Write UTF-8 without one.",
  ],
  frame_too_long: [
    "error",
    STDIO,
    "a message is longer than clients take",
    "Page long results, or return links to them.",
  ],
  malformed_message: [
    "error",
    MESSAGES,
    "a message is no JSON-RPC message",
    "Look at its members: jsonrpc, id, method, result or error.",
  ],
  malformed_notification: [
    "warning",
    MESSAGES,
    "a notification is malformed",
    "Compare its params with the schema of the revision.",
  ],
  duplicate_member: [
    "warning",
    JSON_RPC,
    "an object has a member twice",
    "Readers differ in which one counts; send it once.",
  ],
  null_member: [
    "warning",
    MESSAGES,
    "a message has a member that is null where it should be absent",
    "Leave members out instead of sending null.",
  ],
  null_optional: [
    "warning",
    MESSAGES,
    "an optional member is null",
    "Leave members out instead of sending null.",
  ],
  batch: [
    "error",
    MESSAGES,
    "messages come in an array, which this revision does not have",
    "Send each message by itself.",
  ],
  stderr_used: [
    "note",
    STDIO,
    "the server writes to stderr, which is allowed",
    "Clients may show it or drop it.",
  ],

  // Ids and answers.
  id_type: [
    "error",
    MESSAGES,
    "an answer has the id in another type than the request",
    'Echo the id as it came: 1 is not "1".',
  ],
  unknown_id: [
    "error",
    MESSAGES,
    "an answer belongs to no request",
    "Echo the id of the request that you answer.",
  ],
  duplicate_response: [
    "error",
    MESSAGES,
    "a request was answered twice",
    "Answer each request once.",
  ],
  late_response: [
    "note",
    MESSAGES,
    "an answer came after its request had been given up",
    "Stop working on a request that is cancelled.",
  ],
  unknown_progress_token: [
    "warning",
    "basic/utilities/progress",
    "progress is reported for a token nobody gave",
    "Report progress only with the token of a request that is open.",
  ],
  non_object_result: [
    "error",
    MESSAGES,
    "a result is no object",
    "Results are objects, if need be empty ones.",
  ],
  unknown_method_result: [
    "error",
    JSON_RPC,
    "a request for an unknown method got a result",
    "Answer with error -32601.",
  ],
  unknown_method_code: [
    "warning",
    JSON_RPC,
    "a request for an unknown method got another error than -32601",
    "Use -32601, method not found.",
  ],
  unknown_method_silent: [
    "error",
    JSON_RPC,
    "a request for an unknown method was not answered",
    "Answer every request; with error -32601 what you do not know.",
  ],
  ping_failed: [
    "error",
    "basic/utilities/ping",
    "ping was not answered with an empty result",
    "Answer it at once, with {}.",
  ],

  // Lists.
  not_advertised: [
    "warning",
    LIFECYCLE,
    "the server has tools but does not say so",
    "Declare the capability tools.",
  ],
  list_not_supported: [
    "error",
    TOOLS,
    "the server says that it has tools and cannot list them",
    "Serve tools/list, or do not declare the capability.",
  ],
  advertised_not_served: [
    "error",
    LIFECYCLE,
    "a capability is declared whose list cannot be read",
    "Serve the list, or do not declare the capability.",
  ],
  repeated_cursor: [
    "error",
    PAGINATION,
    "a page names a cursor that was there before",
    "Leave nextCursor out on the last page.",
  ],
  catalog_truncated: [
    "error",
    PAGINATION,
    "the list of tools has no end that a client would wait for",
    "End it; keep catalogs small.",
  ],
  cursor_not_refused: [
    "note",
    PAGINATION,
    "a cursor that the server never gave is accepted",
    "Answer it with error -32602.",
  ],
  list_unstable: [
    "warning",
    `${TOOLS}#listing-tools`,
    "two readings of tools/list differ, and nothing was announced",
    "List tools in a fixed order; announce changes.",
  ],

  // Tools.
  tool_not_an_object: [
    "error",
    `${TOOLS}#tool`,
    "an entry of the catalog is no object",
    "Clients skip it.",
  ],
  tool_no_name: ["error", `${TOOLS}#tool`, "a tool has no name", "Clients skip it."],
  tool_name_too_long: [
    "error",
    `${TOOLS}#tool-names`,
    "a tool's name is longer than 128 bytes",
    "Shorten it.",
  ],
  tool_name_forbidden: [
    "error",
    `${TOOLS}#tool-names`,
    "a tool's name holds control characters",
    "Use letters, digits, _, - and dots.",
  ],
  tool_name_style: [
    "warning",
    `${TOOLS}#tool-names`,
    "a tool's name holds characters that some clients refuse",
    "Use letters, digits, _, - and dots.",
  ],
  tool_duplicate: [
    "error",
    `${TOOLS}#tool-names`,
    "two tools have the same name",
    "Clients see one of them only.",
  ],
  tool_too_large: [
    "error",
    `${TOOLS}#tool`,
    "a tool's description and schemas are longer than clients take",
    "Shorten them: models pay for every word.",
  ],
  tool_no_description: [
    "warning",
    `${TOOLS}#tool`,
    "a tool has no description",
    "A model chooses tools by their descriptions.",
  ],
  tool_bad_header: [
    "error",
    `${TOOLS}#tool`,
    "x-mcp-header asks for what cannot be a header",
    "Name a header, once, for a string, integer or boolean.",
  ],
  schema_missing: [
    "error",
    `${TOOLS}#tool`,
    "a tool has no inputSchema",
    'Without arguments it is { "type": "object" }.',
  ],
  schema_root_type_missing: [
    "error",
    `${TOOLS}#tool`,
    'a tool\'s schema does not say "type": "object"',
    "Say it at the root.",
  ],
  schema_root_not_object: [
    "error",
    `${TOOLS}#tool`,
    "a tool's schema is not that of an object",
    "Arguments and structured content are objects.",
  ],
  schema_uncompilable: [
    "error",
    `${TOOLS}#tool`,
    "a tool's schema does not compile",
    "Clients cannot judge this tool; toolwire validate shows why.",
  ],
  schema_lint: [
    "warning",
    `${TOOLS}#tool`,
    "a tool's schema does not say what it seems to say",
    "Look at the keyword it points to.",
  ],

  // Calls.
  unknown_tool_result: [
    "error",
    `${TOOLS}#error-handling`,
    "a call of a tool that does not exist succeeded",
    "Answer with error -32602.",
  ],
  unknown_tool_is_error: [
    "note",
    `${TOOLS}#error-handling`,
    "a call of a tool that does not exist got a result with isError",
    "Error -32602 tells clients that it is their fault.",
  ],
  unknown_tool_code: [
    "note",
    `${TOOLS}#error-handling`,
    "a call of a tool that does not exist got another error than -32602",
    "Use -32602, invalid params.",
  ],
  unknown_tool_silent: [
    "error",
    JSON_RPC,
    "a call of a tool that does not exist was not answered",
    "Answer every request; here with error -32602.",
  ],
  call_failed: [
    "error",
    `${TOOLS}#error-handling`,
    "a call that was asked for failed",
    "Report a tool's own failure as a result with isError.",
  ],
  call_bad_arguments: [
    "warning",
    `${TOOLS}#calling-tools`,
    "the arguments given do not satisfy the tool's input schema",
    "Give others, or mend the schema.",
  ],
  call_is_error: [
    "warning",
    `${TOOLS}#error-handling`,
    "a tool that was called says that it failed",
    "Give arguments it can work with, or look at its log.",
  ],
  output_violation: [
    "error",
    `${TOOLS}#output-schema`,
    "structured content violates the tool's own output schema",
    "Mend the tool or its schema: clients reject such results.",
  ],
  structured_content_missing: [
    "error",
    `${TOOLS}#output-schema`,
    "a tool declares an output schema and sends no structured content",
    "Send structuredContent with every success.",
  ],
  output_unknown: [
    "warning",
    `${TOOLS}#output-schema`,
    "structured content cannot be judged by the output schema",
    "Simplify the schema.",
  ],
  content_missing: [
    "warning",
    `${TOOLS}#tool-result`,
    "a result has no content",
    "Send an array, if need be an empty one.",
  ],
  content_block: [
    "error",
    `${TOOLS}#tool-result`,
    "a content block is malformed or of an unknown type",
    "Compare it with the schema of the revision.",
  ],
  unsafe_integer: [
    "note",
    `${TOOLS}#structured-content`,
    "structured content holds an integer that many readers round",
    "Send integers beyond 2^53 as strings.",
  ],

  // Its end.
  outlives_input: [
    "warning",
    `${LIFECYCLE}#shutdown`,
    "the server, or something it started, does not end when its input ends",
    "End when stdin ends: not every client sends a signal.",
  ],
  outlives_signal: [
    "error",
    `${LIFECYCLE}#shutdown`,
    "the server, or something it started, had to be killed",
    "Do not ignore SIGTERM.",
  ],
};

/** Codes of diagnostics that are findings, where the name differs. */
const OF_DIAGNOSTIC = {
  noise_line: "stdout_noise",
  lsp_framing_detected: "lsp_framing",
  embedded_newline_suspected: "embedded_newline",
  bom_skipped: "byte_order_mark",
};

/** Diagnostics that say what other findings say better, or nothing about the server. */
const NOT_FINDINGS = new Set([
  "duplicate_tool",
  "invalid_arguments",
  "invalid_response",
  "remote_error",
  "schema_uncompilable",
  "spawn",
  "stderr",
  "tool_skipped",
  "transport",
]);

/** The finding that a diagnostic is, or undefined. */
function findingOf(code) {
  const named = OF_DIAGNOSTIC[code] ?? code;
  return !NOT_FINDINGS.has(code) && Object.hasOwn(FINDINGS, named) ? named : undefined;
}

/** Revision 2026-07-28 has moved some sections. */
const MOVED = [
  [/^basic\/transports#stdio$/, "basic/transports/stdio"],
  [/^basic\/lifecycle#shutdown$/, "basic/transports/stdio"],
  [/^basic\/lifecycle.*$/, "basic/versioning"],
  [/^basic#messages$/, "basic"],
];

/** A section as the specification calls it that is in force for a server. */
function sectionFor(section, era) {
  if (section === JSON_RPC) {
    return section;
  }
  if (era !== "modern") {
    return `MCP 2025-11-25, ${section}`;
  }
  return `MCP 2026-07-28, ${MOVED.reduce((text, [from, to]) => text.replace(from, to), section)}`;
}

/** The findings of one examination: each once for each place, with how often it was made. */
class Findings {
  #found = new Map();

  add(code, where, evidence) {
    const key = `${code}\n${where}`;
    const known = this.#found.get(key);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    const [severity, section, message, hint] = FINDINGS[code];
    const finding = { code, severity, where, message, section, hint, count: 1 };
    this.#found.set(key, evidence === undefined ? finding : { ...finding, evidence });
  }

  /** The gravest first. */
  get list() {
    const order = ["error", "warning", "note"];
    return [...this.#found.values()].sort(
      (a, b) => order.indexOf(a.severity) - order.indexOf(b.severity),
    );
  }

  count(severity) {
    return this.list.filter((finding) => finding.severity === severity).length;
  }
}

export { FINDINGS, Findings, findingOf, sectionFor };
