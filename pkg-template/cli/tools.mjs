/**
 * Owns `toolwire tools`: what servers there are and what they offer.
 */
import { explain } from "toolwire";
import { block, cut, line } from "./safe-text.mjs";
import { NO_SERVERS, entriesOf, errorJson, exitFor, recorded, withClients } from "./servers.mjs";

/** What is wrong with an entry of a catalog, in a few words. */
const PROBLEMS = {
  not_an_object: "no object",
  no_name: "no name",
  name_too_long: "name too long",
  name_forbidden: "control character in the name",
  duplicate: "name taken by an earlier tool",
  too_large: "too large",
  missing: "no inputSchema",
  root_type_missing: 'no "type": "object"',
  root_not_object: "not a schema of an object",
  uncompilable: "does not compile",
  bad_header: "x-mcp-header cannot be a header",
};

async function tools({ terminal, stop, command, options }) {
  const entries = recorded(await entriesOf(options, command), options);
  if (entries.length === 0) {
    terminal.note(NO_SERVERS);
  }
  const onFailure = options.requireAll ? "stop" : "collect";
  return withClients(entries, { stop, onFailure }, async (clients, failures) => {
    if (terminal.json) {
      terminal.printJson({
        servers: inOrder(entries, clients.map(clientJson), failures.map(failureJson)),
      });
    } else if (entries.length > 0) {
      const parts = inOrder(
        entries,
        clients.map((client) => ({ server: client.server, text: shown(client, terminal) })),
        failures.map(({ server, error }) => ({
          server,
          text: shownFailure(server, error, terminal),
        })),
      );
      terminal.print(parts.map(({ text }) => text).join("\n\n"));
    }
    return exitFor(failures);
  });
}

/** What is known of each server, in the order of the configuration. */
function inOrder(entries, ...lists) {
  const all = lists.flat();
  return entries.map(({ server }) => all.find((one) => one.server === server));
}

function clientJson(client) {
  const { server, era, protocolVersion, serverInfo, instructions, capabilities, problems } = client;
  const listed = client.tools.map(({ problems: _, ...tool }) => tool);
  return {
    server,
    ok: true,
    era,
    protocolVersion,
    serverInfo,
    capabilities,
    instructions,
    tools: listed,
    problems,
  };
}

function failureJson({ server, error }) {
  return { server, ok: false, error: errorJson(error) };
}

function shown(client, terminal) {
  const { colors } = terminal;
  const { serverInfo = {}, tools: listed } = client;
  const called = [serverInfo.name, serverInfo.version].filter((part) => typeof part === "string");
  const facts = [
    `${client.era} ${client.protocolVersion}`,
    ...(called.length > 0 ? [cut(called.join(" "))] : []),
    listed.length === 1 ? "1 tool" : `${listed.length} tools`,
  ];
  const head = `${colors.bold(colors.green(line(client.server)))}  ${facts.join(" · ")}`;
  const lines = [terminal.wrap(head, "  ")];
  if (listed.length > 0) {
    lines.push(
      terminal.table(
        columnsFor(client),
        listed.map((tool) => rowOf(tool, client, colors)),
        "  ",
      ),
    );
  }
  const skipped = client.problems.filter((problem) => problem.skipped);
  for (const problem of skipped) {
    const name = problem.name === undefined ? `entry ${problem.index}` : line(problem.name);
    lines.push(`  ${colors.yellow("not listed")} ${name}: ${wordsFor(problem)}`);
  }
  return lines.join("\n");
}

function shownFailure(server, error, terminal) {
  const { colors } = terminal;
  const text = block(explain(error))
    .split("\n")
    .map((part) => terminal.wrap(`  ${part}`, "  "));
  return [`${colors.bold(colors.red(line(server)))}  not available`, ...text].join("\n");
}

function columnsFor(client) {
  const columns = [
    { name: "TOOL", most: 0.4 },
    { name: "ARGUMENTS", grows: true, most: 0.22 },
    { name: "DESCRIPTION", grows: true },
  ];
  return client.problems.some((problem) => !problem.skipped)
    ? [...columns, { name: "PROBLEMS", grows: true, most: 0.3 }]
    : columns;
}

function rowOf(tool, client, colors) {
  const row = [line(tool.name), argumentsOf(tool), summaryOf(tool)];
  if (client.problems.some((problem) => !problem.skipped)) {
    row.push(
      (tool.problems ?? [])
        .map((problem) => colors.yellow(`${problem.part}: ${wordsFor(problem)}`))
        .join("\n"),
    );
  }
  return row;
}

function wordsFor({ code, at }) {
  const place = at === undefined || at === "" ? "" : ` at ${line(at)}`;
  return `${PROBLEMS[code] ?? code}${place}`;
}

/** Names of arguments, those that must be given first; `?` marks the others. */
function argumentsOf({ inputSchema }) {
  const { properties, required } =
    typeof inputSchema === "object" && inputSchema !== null ? inputSchema : {};
  if (typeof properties !== "object" || properties === null) {
    return "";
  }
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = Object.keys(properties);
  const sorted = [
    ...names.filter((name) => needed.has(name)),
    ...names.filter((name) => !needed.has(name)),
  ];
  return sorted.map((name) => `${line(name)}${needed.has(name) ? "" : "?"}`).join(", ");
}

/** A description's first sentence. */
function summaryOf({ description, title }) {
  const text = line(description ?? title ?? "");
  const [first] = text.split(/(?<=[.!?])\s+(?=\p{Lu})/u);
  return cut(first, 200);
}

export { tools };
