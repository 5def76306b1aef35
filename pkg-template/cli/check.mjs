/**
 * Owns `toolwire check`: one examination of one server, from its start to its end. It asks only for
 * what any server must be able to answer; tools are called only if the caller names them.
 */
import { ToolwireError, compileSchemaAsync, coreInfo, explain, replay } from "toolwire";
import { EXIT, UsageError } from "./exit.mjs";
import { Findings, findingOf, sectionFor } from "./check-findings.mjs";
import { printReport } from "./check-report.mjs";
import { readObject } from "./json-source.mjs";
import { line } from "./safe-text.mjs";
import { NO_SERVERS, entriesOf, recordingLines, withClient } from "./servers.mjs";

const PROBE_MS = 5_000;
const SLOW_START_MS = 5_000;
const GRACE_MS = 2_500;
const TERMINATE_MS = 1_000;
const LONGEST_EVIDENCE = 200;
const LONGEST_EXPLANATION = 4_000;
const MAX_PAGES = 256;

const UNKNOWN_METHOD = "toolwire/no-such-method";
const UNKNOWN_TOOL = "toolwire-no-such-tool";
const UNKNOWN_CURSOR = "toolwire-no-such-cursor";

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** Lists that a capability promises. */
const LISTS = { prompts: "prompts/list", resources: "resources/list" };

/** False for what ends the whole examination: the connection is over, or somebody stopped it. */
function concernsOneRequest(error) {
  const endings = ["connection_closed", "aborted"];
  return error instanceof ToolwireError && !endings.includes(error.code);
}

async function check({ terminal, stop, command, options }) {
  const entries = await entriesOf(options, command);
  if (entries.length !== 1) {
    throw new UsageError(
      entries.length === 0 ? NO_SERVERS : "check examines one server: put its command after --",
    );
  }
  const calls = (options.call ?? []).map(callOf);
  const examination = new Examination(entries[0], { stop, calls, options });
  const report = await examination.run();
  stop.signal.throwIfAborted();
  if (terminal.json) {
    terminal.printJson(report);
  } else {
    printReport(terminal, report);
  }
  return report.counts.error > 0 ? EXIT.FOUND : EXIT.FINE;
}

/** `tool={json}`, or the tool alone. */
function callOf(text) {
  const equals = text.indexOf("=");
  const name = equals === -1 ? text : text.slice(0, equals);
  const args =
    equals === -1 ? {} : readObject(text.slice(equals + 1), `the arguments of ${line(name)}`);
  return { name, args };
}

class Examination {
  #entry;
  #stop;
  #calls;
  #options;
  #findings = new Findings();
  #lines = [];
  #stderrBytes = 0;
  #announced = 0;
  #facts = {};

  constructor(entry, { stop, calls, options }) {
    this.#entry = entry;
    this.#stop = stop;
    this.#calls = calls;
    this.#options = options;
  }

  async run() {
    const keep = recordingLines(this.#options, this.#entry);
    const entry = {
      ...this.#entry,
      validation: "report",
      checkArguments: true,
      shutdownGraceMs: GRACE_MS,
      stderr: (chunk) => (this.#stderrBytes += chunk.length),
      record: (text) => {
        this.#lines.push(text);
        keep?.(text);
      },
    };
    const host = { stop: this.#stop, onDiagnostic: (event) => this.#diagnostic(event) };
    let endedAt;
    try {
      await withClient(entry, host, async (client) => {
        this.#connected(client);
        await this.#examine(client);
        endedAt = performance.now();
      });
      this.#ended(performance.now() - endedAt);
    } catch (error) {
      this.#failed(error);
    }
    this.#readTraffic();
    return this.#report();
  }

  #connected(client) {
    const { era, protocolVersion, serverInfo } = client;
    Object.assign(this.#facts, { era, protocolVersion, serverInfo, tools: client.tools.length });
    client.onNotification(
      ({ method }) => (this.#announced += method === "notifications/tools/list_changed" ? 1 : 0),
    );
    const named = typeof serverInfo?.name === "string" && typeof serverInfo?.version === "string";
    if (era === "legacy" && !named) {
      this.#findings.add("server_info_missing", "initialize");
    }
    const [newest] = coreInfo().revisions.filter(
      (revision) => revision >= "2026" === (era === "modern"),
    );
    if (protocolVersion !== newest) {
      this.#findings.add(
        "revision_behind",
        "initialize",
        `${protocolVersion}, newest is ${newest}`,
      );
    }
  }

  async #examine(client) {
    const unknown = this.#calls.find(
      ({ name }) => !client.tools.some((tool) => tool.name === name),
    );
    if (unknown !== undefined) {
      throw new UsageError(`${line(client.server)} has no tool ${line(unknown.name)}`);
    }
    await this.#unknownMethod(client);
    if (client.era === "legacy") {
      await this.#ping(client);
    }
    const hasTools = client.capabilities.tools !== undefined || client.tools.length > 0;
    if (hasTools) {
      await this.#lists(client);
      await this.#unknownTool(client);
      await this.#tools(client);
    }
    await this.#otherLists(client);
    for (const { name, args } of this.#calls) {
      await this.#call(client, name, args);
    }
  }

  /** Asks for something; gives `{ result }`, `{ error }`, or throws if the connection is over. */
  async #ask(client, method, params) {
    const timeoutMs = this.#options.timeout ?? PROBE_MS;
    try {
      const result = await client.request(method, params, { timeoutMs, signal: this.#stop.signal });
      return { result };
    } catch (error) {
      if (!concernsOneRequest(error)) {
        throw error;
      }
      return { error };
    }
  }

  async #unknownMethod(client) {
    const { result, error } = await this.#ask(client, UNKNOWN_METHOD, {});
    if (result !== undefined) {
      this.#findings.add("unknown_method_result", UNKNOWN_METHOD);
    } else if (error.code === "timeout") {
      this.#findings.add("unknown_method_silent", UNKNOWN_METHOD);
    } else if (error.rpcCode !== METHOD_NOT_FOUND) {
      this.#findings.add("unknown_method_code", UNKNOWN_METHOD, codeOf(error));
    }
  }

  async #ping(client) {
    const { result, error } = await this.#ask(client, "ping", undefined);
    if (error !== undefined) {
      this.#findings.add("ping_failed", "ping", codeOf(error));
    } else if (Object.keys(result).some((name) => name !== "_meta")) {
      this.#findings.add("ping_failed", "ping", JSON.stringify(result));
    }
  }

  async #lists(client) {
    const before = this.#announced;
    const first = await this.#catalog(client);
    const second = await this.#catalog(client);
    if (
      first !== undefined &&
      second !== undefined &&
      first !== second &&
      this.#announced === before
    ) {
      this.#findings.add("list_unstable", "tools/list");
    }
    const { result } = await this.#ask(client, "tools/list", { cursor: UNKNOWN_CURSOR });
    if (result !== undefined) {
      this.#findings.add("cursor_not_refused", "tools/list");
    }
  }

  /** The whole list as text, or undefined if it cannot be read. */
  async #catalog(client) {
    const pages = [];
    let cursor;
    do {
      const { result } = await this.#ask(
        client,
        "tools/list",
        cursor === undefined ? {} : { cursor },
      );
      if (result === undefined) {
        return undefined;
      }
      pages.push(result.tools);
      cursor = result.nextCursor;
    } while (typeof cursor === "string" && pages.length < MAX_PAGES);
    return JSON.stringify(pages.flat());
  }

  async #unknownTool(client) {
    const { result, error } = await this.#ask(client, "tools/call", {
      name: UNKNOWN_TOOL,
      arguments: {},
    });
    const where = "tools/call";
    if (result !== undefined) {
      this.#findings.add(
        result.isError === true ? "unknown_tool_is_error" : "unknown_tool_result",
        where,
      );
    } else if (error.code === "timeout") {
      this.#findings.add("unknown_tool_silent", where);
    } else if (error.rpcCode !== INVALID_PARAMS) {
      this.#findings.add("unknown_tool_code", where, codeOf(error));
    }
  }

  async #tools(client) {
    for (const problem of client.problems) {
      const where = place(problem.name ?? `entry ${problem.index}`, problem.part, problem.at);
      this.#findings.add(problemCode(problem), where);
    }
    for (const tool of client.tools) {
      if (typeof tool.description !== "string" || tool.description.trim() === "") {
        this.#findings.add("tool_no_description", place(tool.name));
      }
      if (!/^[\w.-]{1,128}$/.test(tool.name)) {
        this.#findings.add("tool_name_style", place(tool.name));
      }
      for (const part of ["inputSchema", "outputSchema"]) {
        if (tool[part] !== undefined) {
          await this.#lint(tool, part);
        }
      }
    }
  }

  /** What is odd about a schema beside what the catalog's own problems say. */
  async #lint(tool, part) {
    let schema;
    try {
      schema = await compileSchemaAsync(tool[part], { signal: this.#stop.signal });
    } catch (error) {
      this.#stop.signal.throwIfAborted();
      const told = (tool.problems ?? []).some(
        (problem) => problem.part === part && problem.code === "uncompilable",
      );
      if (!told) {
        this.#findings.add("schema_uncompilable", place(tool.name, part, error.at), error.message);
      }
      return;
    }
    for (const { code, at, message } of schema.problems) {
      if (!["root_type_missing", "root_not_object"].includes(code)) {
        this.#findings.add("schema_lint", place(tool.name, part, at), `${code}: ${message}`);
      }
    }
    schema.free();
  }

  async #otherLists(client) {
    for (const [capability, method] of Object.entries(LISTS)) {
      if (client.capabilities[capability] !== undefined) {
        const { result, error } = await this.#ask(client, method, {});
        if (!Array.isArray(result?.[capability])) {
          this.#findings.add(
            "advertised_not_served",
            method,
            error === undefined ? undefined : codeOf(error),
          );
        }
      }
    }
  }

  async #call(client, name, args) {
    const where = place(name);
    try {
      const result = await client.callTool(name, args, { signal: this.#stop.signal });
      if (result.isError) {
        this.#findings.add(
          "call_is_error",
          where,
          result.content.find(({ type }) => type === "text")?.text,
        );
      }
      this.#judged(result, where);
    } catch (error) {
      if (!concernsOneRequest(error)) {
        throw error;
      }
      const own = error.reason === "arguments_rejected";
      this.#findings.add(own ? "call_bad_arguments" : "call_failed", where, error.message);
    }
  }

  #judged({ verdict, violation, violations, verdictReason }, where) {
    if (verdict === "unknown") {
      this.#findings.add("output_unknown", where, verdictReason);
    } else if (violation === "missing_structured_content") {
      this.#findings.add("structured_content_missing", where);
    } else if (violation === "bad_content_block" || violation === "malformed_result") {
      this.#findings.add("content_block", where);
    } else if (verdict === "invalid" && violations.length === 0) {
      this.#findings.add("output_violation", where);
    }
    for (const { instancePath, message } of violations) {
      this.#findings.add("output_violation", `${where} structuredContent${instancePath}`, message);
    }
  }

  /** What a session noticed by itself. */
  #diagnostic({ code, detail }) {
    // Calls that were asked for are judged by their results.
    const judged = ["output_violation", "output_unknown", "structured_content_missing"].includes(
      code,
    );
    // Before the server is known, what comes late may be an answer to a question of the other era.
    const ours = code === "late_response" && this.#facts.era === undefined;
    const finding = judged || ours ? undefined : findingOf(code);
    if (finding !== undefined) {
      const onStdout = [
        "stdout_noise",
        "lsp_framing",
        "embedded_newline",
        "byte_order_mark",
        "invalid_utf8",
      ];
      this.#findings.add(
        finding,
        onStdout.includes(finding) ? "stdout" : "messages",
        detail.reveal(),
      );
    }
  }

  #failed(error) {
    this.#stop.signal.throwIfAborted();
    // What cannot be started cannot be examined.
    if (
      !(error instanceof ToolwireError) ||
      error.code === "spawn_failed" ||
      error.code === "invalid_arguments"
    ) {
      throw error;
    }
    const connected = this.#facts.era !== undefined;
    this.#findings.add(
      connected ? "died" : "handshake_failed",
      connected ? "process" : "handshake",
      explain(error),
    );
  }

  #ended(ms) {
    this.#facts.shutdownMs = Math.round(ms);
    if (ms >= GRACE_MS + TERMINATE_MS) {
      this.#findings.add("outlives_signal", "process", `${Math.round(ms)} ms`);
    } else if (ms >= GRACE_MS) {
      this.#findings.add("outlives_input", "process", `${Math.round(ms)} ms`);
    }
  }

  /** What only the bytes and their times tell. */
  #readTraffic() {
    if (this.#stderrBytes > 0) {
      this.#findings.add("stderr_used", "stderr", `${this.#stderrBytes} bytes`);
    }
    const records = this.#lines.slice(1).map((text) => JSON.parse(text));
    const start = records.find((record) => record.in === "connect");
    const first = records.find((record) => record.in === "chunk");
    if (start !== undefined && first !== undefined) {
      this.#facts.firstByteMs = Math.round(first.t - start.t);
      if (first.t - start.t > SLOW_START_MS) {
        this.#findings.add("slow_start", "stdout", `${this.#facts.firstByteMs} ms`);
      }
    }
    if (records.filter((record) => record.in === "connect").length > 1) {
      this.#findings.add("restarted", "server/discover");
    } else if (this.#facts.era === "legacy" && this.#probeUnanswered(records)) {
      this.#findings.add("probe_unanswered", "server/discover");
    }
  }

  #probeUnanswered(records) {
    const sent = replay(this.#lines.join("\n")).output.map((frame) =>
      JSON.parse(Buffer.from(frame).toString("utf8")),
    );
    const probe = sent.find(({ method }) => method === "server/discover");
    if (probe === undefined) {
      return false;
    }
    const chunks = records
      .filter((record) => record.in === "chunk")
      .map(({ data }) => Buffer.from(data, "base64"));
    const answers = Buffer.concat(chunks).toString("utf8").split("\n").map(idOf);
    return !answers.includes(probe.id);
  }

  #report() {
    const counts = Object.fromEntries(
      ["error", "warning", "note"].map((one) => [one, this.#findings.count(one)]),
    );
    const findings = this.#findings.list.map((finding) => shortened(finding, this.#facts.era));
    return { server: this.#entry.server, ...this.#facts, counts, findings };
  }
}

/** Of a line that is an answer its id. */
function idOf(text) {
  try {
    const { id, method } = JSON.parse(text.replace(/^\ufeff/, ""));
    return method === undefined ? id : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(error) {
  return error.rpcCode === undefined ? error.message : `error ${error.rpcCode}`;
}

function place(tool, part, at) {
  const inside = part === undefined || part === "entry" ? "" : ` ${part}${at ?? ""}`;
  return `tool ${tool}${inside}`;
}

/** The finding for what a catalog says of an entry. */
function problemCode({ code }) {
  return ["missing", "root_type_missing", "root_not_object", "uncompilable"].includes(code)
    ? `schema_${code}`
    : `tool_${code}`;
}

/** As it is told: evidence cut, and the section with the revision it is of. */
function shortened({ evidence, section, ...finding }, era) {
  const told = { ...finding, section: sectionFor(section, era) };
  const most = ["handshake_failed", "died"].includes(finding.code)
    ? LONGEST_EXPLANATION
    : LONGEST_EVIDENCE;
  if (evidence === undefined || evidence.trim() === "") {
    return told;
  }
  return { ...told, evidence: evidence.length <= most ? evidence : `${evidence.slice(0, most)}…` };
}

export { check };
