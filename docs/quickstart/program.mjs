import { fileURLToPath } from "node:url";
import { flowsOf } from "toolwire";
import { connect } from "toolwire/node";

const client = await connect({
  server: "quickstart",
  command: process.execPath,
  args: [fileURLToPath(new URL("server.mjs", import.meta.url))],
});
try {
  const counted = await client.callTool("word_count", { text: "durable flows release notes" });
  const refused = await client.callTool("explode", {});
  const flows = flowsOf(client);
  const value = {
    tools: client.tools.map((tool) => tool.name),
    counted,
    refused,
    sourceName: flows.name,
    flowNames: flows.bindings().map((binding) => binding.descriptor.name),
  };
  console.dir(value, { depth: 5 });
} finally {
  await client.close();
}
