// One tool call from `callTool` to its result, over a pipe in memory, one call at a time.
import { cases } from "../support/lines.mjs";
import { timeOfAsync } from "../support/clock.mjs";
import { requireNpm, requireOwn } from "../support/packages.mjs";
import { Chunks, PipeTransport, serverOf } from "../support/pipe.mjs";
import { micro, ratio, table } from "../support/report.mjs";

const CLIENT = { name: "bench", version: "1.0.0" };

async function toolwire(schema, content) {
  const { connectStreams } = requireOwn("toolwire");
  const server = serverOf(schema, content);
  const readable = new Chunks();
  const write = (frame) => {
    const reply = server(Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength));
    if (reply !== undefined) {
      readable.push(reply);
    }
  };
  const client = await connectStreams({ server: "bench", era: "legacy", readable, write });
  return () => client.callTool("query", {});
}

async function official(Client, stdio, schema, content) {
  const client = new Client(CLIENT);
  await client.connect(new PipeTransport(serverOf(schema, content), stdio));
  await client.listTools();
  return () => client.callTool({ name: "query", arguments: {} });
}

const ENGINES = {
  toolwire: { label: "toolwire connectStreams", open: toolwire },
  v1: {
    label: "official client v1",
    open: (...given) => {
      const { Client } = requireNpm("@modelcontextprotocol/sdk/client/index.js");
      return official(Client, requireNpm("@modelcontextprotocol/sdk/shared/stdio.js"), ...given);
    },
  },
  v2: {
    label: "official client v2",
    open: (...given) => {
      const sdk = requireNpm("@modelcontextprotocol/client");
      return official(sdk.Client, sdk, ...given);
    },
  },
};

function sizes(options) {
  const all = cases(options).filter(({ kind }) => kind === "structured");
  return options.quick ? all.slice(0, 1) : all.slice(0, 4);
}

async function run(engine, options) {
  const times = {};
  for (const { size, schema, content } of sizes(options)) {
    const call = await ENGINES[engine].open(schema, content);
    const { structuredContent } = await call();
    if (JSON.stringify(structuredContent) !== JSON.stringify(content)) {
      throw new Error("the result is not what the server sent");
    }
    times[size] = await timeOfAsync(call, options);
  }
  return times;
}

function report(medians) {
  const rows = Object.keys(medians.toolwire).map((size) => [
    size,
    ...engines.map((engine) => micro(medians[engine][size])),
    ratio(medians.v1[size], medians.toolwire[size]),
    ratio(medians.v2[size], medians.toolwire[size]),
  ]);
  const labels = engines.map((engine) => ENGINES[engine].label);
  return table(["reply", ...labels, "times faster than v1", "than v2"], rows);
}

function targets(medians) {
  const times = (rival) => medians[rival]["0.5 KB"] / medians.toolwire["0.5 KB"];
  return [
    { what: "whole call at 0.5 KB, times faster than client v1", value: times("v1"), least: 3, engine: "toolwire" },
    { what: "whole call at 0.5 KB, times faster than client v2", value: times("v2"), least: 8, engine: "toolwire" },
  ];
}

const title = "Whole call over an in-memory pipe";
const engines = Object.keys(ENGINES);

export { engines, report, run, targets, title };
