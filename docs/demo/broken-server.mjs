/** A server that promises a number and sends text: its own outputSchema rejects its results. */

import { createInterface } from "node:readline";

const tools = [
  {
    name: "forecast",
    description: "The weather of a city.",
    inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    outputSchema: {
      type: "object",
      properties: { temperature: { type: "number" }, sky: { enum: ["clear", "cloudy", "rain"] } },
      required: ["temperature"],
    },
  },
];

const results = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "broken-weather", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": () => {
    const structuredContent = { temperature: "21 degrees", sky: "sunny" };
    return { content: [{ type: "text", text: "21 degrees and sunny" }], structuredContent };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = Object.hasOwn(results, method)
    ? { result: results[method]() }
    : { error: { code: -32601, message: "method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
