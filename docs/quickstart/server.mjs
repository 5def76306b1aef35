// A whole MCP server, without a library. It answers three methods and is silent on everything else.
const tools = [
  {
    name: "word_count",
    description: "Counts the words of a text.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    outputSchema: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
  },
  { name: "explode", description: "Refuses.", inputSchema: { type: "object" } },
];

function wordCount({ text }) {
  const words = text.split(/\s+/).filter((word) => word !== "").length;
  return { content: [{ type: "text", text: String(words) }], structuredContent: { words } };
}

function explode() {
  return { content: [{ type: "text", text: "the tool refused" }], isError: true };
}

function answer({ method, params }) {
  if (method === "initialize") {
    const serverInfo = { name: "quickstart", version: "1.0.0" };
    return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method === "tools/call" && params.name === "word_count") return wordCount(params.arguments);
  if (method === "tools/call" && params.name === "explode") return explode();
}

let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    const result = answer(message);
    if (result !== undefined) {
      process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n`);
    }
  }
});
