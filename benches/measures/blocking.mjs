// How long the event loop stands still while a large text is judged asynchronously.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { requireOwn } from "../support/packages.mjs";
import { micro, table } from "../support/report.mjs";

const FULL_BYTES = 50_000_000;
const QUICK_BYTES = 5_000_000;

const SCHEMA = {
  type: "array",
  items: {
    type: "object",
    properties: { id: { type: "integer" }, name: { type: "string" }, on: { type: "boolean" } },
    required: ["id", "name", "on"],
    additionalProperties: false,
  },
};

function textOf(size) {
  const items = [];
  for (let length = 0; length < size; ) {
    const item = `{"id":${items.length},"name":"record number ${items.length}","on":true}`;
    items.push(item);
    length += item.length + 1;
  }
  return Buffer.from(`[${items.join(",")}]`);
}

/** Collects what making the text left behind: hundreds of megabytes, which would be collected while
 * the clock runs. */
function collectGarbage() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

async function run(engine, options) {
  const { compileSchema } = requireOwn("toolwire");
  const schema = compileSchema(SCHEMA, { maxSteps: Infinity });
  await schema.validateJsonAsync(textOf(200_000));
  const text = textOf(options.quick ? QUICK_BYTES : FULL_BYTES);
  collectGarbage();
  let last = performance.now();
  let longest = 0;
  let watching = true;
  const watch = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (watching) {
      setImmediate(watch);
    }
  };
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  last = performance.now();
  setImmediate(watch);
  const started = performance.now();
  const { verdict } = await schema.validateJsonAsync(text);
  const took = performance.now() - started;
  watching = false;
  if (verdict !== "valid") {
    throw new Error(`the text must be valid, not ${verdict}`);
  }
  return { longest: longest * 1000, whole: took * 1000, bytes: text.length };
}

function report({ toolwire }) {
  const size = `${Math.round(toolwire.bytes / 1e6)} MB`;
  const rows = [[size, micro(toolwire.longest), micro(toolwire.whole)]];
  return table(["text", "longest time without a turn of the event loop", "whole judgement"], rows);
}

function targets({ toolwire }) {
  const value = toolwire.longest / 1000;
  return [{ what: "event loop blocked by validateJsonAsync", value, most: 20, unit: "ms", engine: "toolwire" }];
}

const title = "Event loop while validateJsonAsync judges";
const engines = ["toolwire"];

export { engines, report, run, targets, title };
