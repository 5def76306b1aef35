/**
 * The program that every host runs: it judges values, holds a session over streams in memory and
 * calls through a gateway, and says what came of it. It imports nothing: each host hands it the
 * package as that host's own loader found it.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What `exercise` gives wherever the package works. */
export const EXPECTED = {
  verdicts: ["valid", "invalid", "invalid", "unknown"],
  keyword: "const",
  session: { words: 3 },
  violation: "invalid_response",
  gateway: { result: "ABC" },
  refused: "INVALID_INPUT",
  copies: true,
};

/** A server at the other end of a pair of streams. */
function memoryServer() {
  const tools = [
    {
      name: "count",
      inputSchema: { type: "object" },
      outputSchema: { type: "object", properties: { words: { type: "integer" } }, required: ["words"] },
    },
  ];
  const answers = {
    initialize: () => ({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "memory", version: "1" },
    }),
    "tools/list": () => ({ tools }),
    "tools/call": ({ arguments: { text } }) => ({
      content: [],
      structuredContent: { words: text === "" ? "none" : text.split(" ").length },
    }),
  };
  let say;
  const readable = new ReadableStream({
    start(controller) {
      say = (message) => controller.enqueue(encoder.encode(`${JSON.stringify(message)}\n`));
    },
  });
  const write = (frame) => {
    const { id, method, params } = JSON.parse(decoder.decode(frame));
    if (id !== undefined && method !== undefined) {
      const answer = answers[method];
      const error = { code: -32601, message: "method not found" };
      say({ jsonrpc: "2.0", id, ...(answer ? { result: answer(params) } : { error }) });
    }
  };
  return { readable, write };
}

function judged({ compileSchema }) {
  const exact = compileSchema('{ "properties": { "id": { "const": 9007199254740993 } } }');
  const list = compileSchema({ items: { type: "integer" } }, { maxSteps: 10 });
  const wrong = exact.validateJson('{ "id": 9007199254740992 }');
  return {
    verdicts: [
      exact.validateJson('{ "id": 9007199254740993 }').verdict,
      wrong.verdict,
      compileSchema({ pattern: "^\\p{Lu}+$" }).validate("abc").verdict,
      list.validate(Array.from({ length: 1_000 }, () => 1)).verdict,
    ],
    keyword: wrong.errors[0].keyword,
  };
}

async function held({ connectStreams }) {
  const client = await connectStreams({ server: "memory", ...memoryServer() });
  try {
    const { structuredContent } = await client.callTool("count", { text: "a b c" });
    const error = await client.callTool("count", { text: "" }).catch((thrown) => thrown);
    return { session: structuredContent, violation: error.code };
  } finally {
    await client.close();
  }
}

async function called({ OperationRegistry, ToolGateway }) {
  const registry = new OperationRegistry();
  const inputSchema = { type: "object", properties: { text: { type: "string" } } };
  registry.register(
    {
      namespace: "text",
      name: "upper",
      version: "1.0.0",
      type: "query",
      description: "",
      inputSchema,
      accessControl: { requiredScopes: [] },
    },
    ({ text }) => text.toUpperCase(),
  );
  const gateway = new ToolGateway({ registry });
  const call = async (input) => {
    const answer = await gateway.handleCall("call", { operation: "text.upper", input });
    return answer.structuredContent;
  };
  return { gateway: await call({ text: "abc" }), refused: (await call({ text: 1 })).code };
}

/**
 * Runs everything. `other` is the package once more, as the host gives it by another way; both must
 * be one copy, or know each other's errors.
 */
export async function exercise(toolwire, other = toolwire) {
  await toolwire.init();
  let copies = false;
  try {
    other.compileSchema(1);
  } catch (error) {
    copies = error instanceof toolwire.ToolwireError && error.code === "schema_error";
  }
  return { ...judged(toolwire), ...(await held(toolwire)), ...(await called(toolwire)), copies };
}

/** What `overHttp` gives wherever there is `fetch`. */
export const OVER_HTTP = { legacy: 2, modern: 2 };

/** A client and a server over HTTP in both eras, by the classes of `fetch` alone: nothing listens. */
export async function overHttp({ connectHttp, createHttpHandler }) {
  const handler = createHttpHandler({
    tools: [{ name: "count", inputSchema: { type: "object" } }],
    handleCall: async (_, { text }) => ({
      content: [],
      structuredContent: { words: text.split(" ").length },
    }),
  });
  const words = {};
  for (const era of ["legacy", "modern"]) {
    const client = await connectHttp({
      server: "web",
      url: "http://localhost/mcp",
      era,
      fetch: (url, init) => handler(new Request(url, init)),
    });
    try {
      const { structuredContent } = await client.callTool("count", { text: "a b" });
      words[era] = structuredContent.words;
    } finally {
      await client.close();
    }
  }
  return words;
}
