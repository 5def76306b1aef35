/**
 * The program `toolwire`: reads the command line, runs one command, ends with its exit code.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { ToolwireError, coreInfo, explain } from "toolwire";
import { call } from "./call.mjs";
import { check } from "./check.mjs";
import { EXIT, UsageError, exitCodeOf } from "./exit.mjs";
import { gateway } from "./gateway.mjs";
import { replay } from "./replay.mjs";
import { block } from "./safe-text.mjs";
import { Stop } from "./stop.mjs";
import { Terminal } from "./terminal.mjs";
import { tools } from "./tools.mjs";
import { validate } from "./validate.mjs";

/** Milliseconds that the last output may take to leave when the program was told to stop. */
const FLUSH_MS = 1_000;

const EXIT_CODES = `
Exit codes:
  0   everything is as it should be
  1   it ran, and found something wrong: a tool that failed, output that
      violates its schema, an invalid file, an error of check, a difference
  2   the command line, or a file it names, is at fault
  3   a server could not be started or reached, or broke the protocol
  4   a fault of toolwire itself
  128 and more: ended by a signal`;

const count = (unit) => (text) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError(`It must be a number of ${unit}, at least 1.`);
  }
  return value;
};
const list = (value, before = []) => [...before, value];

/** Options of whatever works with servers. */
function withServers(command) {
  return command
    .optionsGroup("Servers:")
    .option(
      "-c, --config <file>",
      'servers in JSON: an array, or { "mcpServers": … }; else $TOOLWIRE_CONFIG',
    )
    .option("-n, --name <name>", "what the server after -- is called (default: server)")
    .option("-e, --env <name[=value]>", "a variable for the server after --; may be repeated", list)
    .option("--cwd <folder>", "where the server after -- runs")
    .option("--timeout <ms>", "for connecting and for each answer", count("milliseconds"))
    .addOption(new Option("--era <era>", "of the protocol").choices(["auto", "legacy", "modern"]))
    .option("--record <file>", "record the session for replay; {server} stands for its name")
    .optionsGroup("Options:");
}

function common(command) {
  return command
    .option("--json", "print JSON, for machines")
    .option("--color", "colour even where the output is no terminal")
    .option("--no-color", "no colour");
}

function programFor(run) {
  const program = new Command("toolwire");
  program
    .description("Meets, tests and gathers servers of the Model Context Protocol (MCP).")
    .usage("<command> [options] [-- COMMAND …]")
    .version(coreInfo().version, "-V, --version")
    .addHelpText(
      "after",
      `
A server is named in a configuration, or its command stands after --:
  toolwire tools --config mcp.json
  toolwire tools -- npx -y @modelcontextprotocol/server-everything
  toolwire call echo '{"message":"hello"}' -- node my-server.js
  toolwire check -- node my-server.js
${EXIT_CODES}`,
    );
  const add = (name, handler, configure) => {
    const command = common(configure(program.command(name)));
    command.action((...args) => run(handler, command, args.slice(0, -2).flat()));
  };
  add("tools", tools, (command) =>
    withServers(command)
      .usage("[options] [-- COMMAND …]")
      .description("Connects to servers and lists their tools, with what is wrong with them.")
      .option("--require-all", "a server that fails stops everything")
      .addHelpText(
        "after",
        "\nExample:\n  toolwire tools -- npx -y @modelcontextprotocol/server-memory",
      ),
  );
  add("call", call, (command) =>
    withServers(command)
      .description(
        "Calls a tool. ARGUMENTS are JSON, @FILE, or - for stdin; with -- COMMAND leave SERVER out.",
      )
      .usage(
        "[options] SERVER TOOL [ARGUMENTS]\n       toolwire call [options] TOOL [ARGUMENTS] -- COMMAND …",
      )
      .argument("[words...]")
      .option("-o, --out <folder>", "save images, sounds and files of the answer there")
      .option("--no-check-arguments", "send arguments that the tool's input schema refuses")
      .addHelpText(
        "after",
        `
The answer goes to stdout, the verdict on it to stderr. Numbers are printed to
the last digit.

Examples:
  toolwire call --config mcp.json files read_text_file '{"path":"notes.txt"}'
  toolwire call --config mcp.json files write_file @arguments.json
  jq -n '{message:"hi"}' | toolwire call echo - -- node my-server.js`,
      ),
  );
  add("check", check, (command) =>
    withServers(command)
      .description(
        "Examines a server, for its author: every finding with a code, a severity and a hint.",
      )
      .usage("[options] -- COMMAND …")
      .option(
        "--call <tool={json}>",
        "also call this tool and judge its output; may be repeated",
        list,
      )
      .addHelpText(
        "after",
        `
Exit code 1 if there is an error among the findings; warnings and notes alone
are 0.

Example:
  toolwire check --call 'add={"a":1,"b":2}' -- node my-server.js`,
      ),
  );
  add("validate", validate, (command) =>
    command
      .description("Judges JSON files by a JSON Schema; - is stdin.")
      .usage("[options] SCHEMA FILES…")
      .argument("[files...]")
      .addOption(
        new Option("--dialect <name>", "where the schema names none").choices(coreInfo().dialects),
      )
      .addOption(new Option("--formats <how>", "what format does").choices(["annotate", "assert"]))
      .option("--ndjson", "each line of a file is a document")
      .option("--max-errors <count>", "errors told of one document (default: 16)", count("errors"))
      .addHelpText(
        "after",
        `
Errors name file, line and column. With --json each document is one line.

Examples:
  toolwire validate order.schema.json orders/*.json
  zcat log.ndjson.gz | toolwire validate --ndjson event.schema.json -`,
      ),
  );
  add("gateway", gateway, (command) =>
    withServers(command)
      .description(
        "Serves every configured server as one over stdio, behind search, schema, call and batch.",
      )
      .option("--include <server.tool>", "show this tool and no other; may be repeated", list)
      .option("--exclude <server.tool>", "do not show this tool; may be repeated", list)
      .option("--call-timeout <ms>", "for one operation (default: 30000)", count("milliseconds"))
      .option("--require-all", "start every server at once; one that fails stops the gateway")
      .addHelpText(
        "after",
        `
Servers start when they are first needed and are started again when they end.
Status goes to stderr.

In a host's configuration:
  { "mcpServers": { "tools": {
    "command": "npx",
    "args": ["toolwire", "gateway", "--config", "/path/to/mcp.json"] } } }`,
      ),
  );
  add("replay", replay, (command) =>
    command
      .description(
        "Lives a recorded session once more and tells it; of two recordings, the difference.",
      )
      .usage("[options] FILE [OTHER]")
      .argument("[files...]")
      .addHelpText(
        "after",
        `
Examples:
  toolwire call --record before.jsonl add '{"a":1,"b":2}' -- node my-server.js
  toolwire replay before.jsonl
  toolwire replay before.jsonl after.jsonl`,
      ),
  );
  return program;
}

async function main() {
  const stop = new Stop();
  process.stdout.on("error", () => stop.readerGone());
  // A host may let go of stderr and go on.
  process.stderr.on("error", () => {});
  const words = process.argv.slice(2);
  const cut = words.indexOf("--");
  const command = cut === -1 ? undefined : words.slice(cut + 1);
  let code = EXIT.FINE;
  let terminal = new Terminal({});
  const run = async (handler, parsed, operands) => {
    const options = parsed.opts();
    terminal = new Terminal(options);
    if (
      command !== undefined &&
      options.record === undefined &&
      !parsed.options.some(({ long }) => long === "--config")
    ) {
      throw new UsageError(`${parsed.name()} takes no command after --`);
    }
    code = await handler({ terminal, stop, command, options, operands });
  };
  const program = programFor(run);
  for (const one of [program, ...program.commands]) {
    one.exitOverride();
    one.configureOutput({ outputError: (text, write) => write(block(text)) });
    one.showHelpAfterError("(--help shows how it is used)");
  }
  try {
    await program.parseAsync(cut === -1 ? words : words.slice(0, cut), { from: "user" });
  } catch (error) {
    code = failed(error, terminal, stop);
  }
  await flushed(stop);
  process.exit(stop.code ?? code);
}

/** Tells what a command failed with; gives the exit code. */
function failed(error, terminal, stop) {
  if (error instanceof CommanderError) {
    // Commander told it, if there was something to tell.
    return error.exitCode === 0 ? EXIT.FINE : EXIT.USAGE;
  }
  if (stop.code !== undefined) {
    return stop.code;
  }
  const { errorColors } = terminal;
  const known = error instanceof UsageError || error instanceof ToolwireError;
  const text = known
    ? explain(error).replace(/^Error: /, "")
    : `toolwire itself failed: ${error?.stack ?? error}`;
  terminal.note(
    `${errorColors.red("error")}: ${block(known && !(error instanceof ToolwireError) ? error.message : text)}`,
  );
  if (error.hint !== undefined) {
    terminal.note(`hint: ${block(error.hint)}`);
  }
  return exitCodeOf(error);
}

/** Resolves when what was printed has left, or when nobody takes it any more. */
async function flushed(stop) {
  const streams = [process.stdout, process.stderr].filter((stream) => !stream.destroyed);
  const all = Promise.all(
    streams.map((stream) => new Promise((resolve) => stream.write("", resolve))),
  );
  const late = new Promise((resolve) => {
    const give = () => setTimeout(resolve, FLUSH_MS);
    if (stop.signal.aborted) {
      give();
    } else {
      stop.signal.addEventListener("abort", give, { once: true });
    }
  });
  await Promise.race([all, late]);
}

main();
