// The client that the referee starts for each scenario, with the server's URL as last argument.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../pkg/package.json", import.meta.url));
const { connectHttp } = require("toolwire/web");

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION;
const { toolCalls = [] } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

const client = await connectHttp({
  server: "referee",
  url: process.argv.at(-1),
  revisions: version === undefined ? undefined : [version],
  handlers: {
    // What the user leaves open takes the form's defaults.
    "elicitation/create": () => ({ action: "accept", content: {} }),
    "sampling/createMessage": () => ({
      role: "assistant",
      content: { type: "text", text: "4" },
      model: "none",
      stopReason: "endTurn",
    }),
    "roots/list": () => ({ roots: [] }),
  },
});

try {
  if (scenario === "json-schema-ref-no-deref") {
    // Its server lists a tool and serves no call.
  } else if (toolCalls.length > 0) {
    for (const { name, arguments: args } of toolCalls) {
      await client.callTool(name, args);
    }
  } else {
    // At the same time, as some scenarios want.
    await Promise.all(client.tools.map((tool) => client.callTool(tool.name, argumentsFor(tool))));
  }
  if (client.capabilities.prompts !== undefined) {
    for (const prompt of await client.requestAll("prompts/list")) {
      await client.request("prompts/get", { name: prompt.name, arguments: {} });
    }
  }
  if (client.capabilities.resources !== undefined) {
    for (const { uri } of await client.requestAll("resources/list")) {
      await client.request("resources/read", { uri });
    }
  }
} finally {
  await client.close();
}

/** Values that the tool's input schema asks for. */
function argumentsFor({ inputSchema }) {
  if (scenario.startsWith("json-schema-2020-12") && inputSchema.properties?.schema !== undefined) {
    const [focal] = client.tools;
    return { schema: focal.inputSchema };
  }
  const values = { string: "text", number: 5, integer: 3, boolean: true, array: [], object: {} };
  const required = inputSchema.required ?? [];
  return Object.fromEntries(
    required.map((name) => [name, values[inputSchema.properties?.[name]?.type] ?? "text"]),
  );
}
