/** The servers themselves. They import nothing of the core: each speaks the protocol by hand. */

import type { ServerProcess } from "./runtime.js";

interface Message {
  id?: string | number;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown>; protocolVersion?: string; _meta?: Record<string, unknown> };
  result?: { action?: string; content?: { name?: string } };
}

interface Server {
  start(process: ServerProcess): (line: string) => void;
}

type Call = (name: string, message: Message) => void;

const OBJECT = { type: "object" };
const DEFAULT_REVISION = "2025-06-18";

/** A tool whose output is an object with these members. */
function tool(name: string, description: string, output?: object, input: object = OBJECT): object {
  const outputSchema = output && { type: "object", properties: output, required: Object.keys(output) };
  return { name, description, inputSchema: input, ...(outputSchema && { outputSchema }) };
}

const structured = (value: object): object => ({
  content: [{ type: "text", text: JSON.stringify(value) }],
  structuredContent: value,
});

/** A server with a handshake: what differs between them is the catalog and what calls come to. */
function legacy(tools: object[], calls: (process: ServerProcess) => Call): Server {
  return {
    start(process) {
      const call = calls(process);
      return (line) => {
        const message = JSON.parse(line) as Message;
        const { id, method, params } = message;
        const answer = (result: object): void => process.send({ jsonrpc: "2.0", id, result });
        if (method === "initialize") {
          answer({
            protocolVersion: params?.protocolVersion ?? DEFAULT_REVISION,
            capabilities: { tools: {} },
            serverInfo: { name: "page", version: "1.0.0" },
          });
        } else if (method === "ping") answer({});
        else if (method === "tools/list") answer({ tools });
        else if (method === "tools/call" || method === undefined) call(params?.name ?? "", message);
      };
    },
  };
}

const wordCount = tool(
  "word_count",
  "Counts the words of a text.",
  { words: { type: "integer" } },
  { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
);

function wordsOf(message: Message): number {
  return String(message.params?.arguments?.["text"] ?? "").split(/\s+/).filter(Boolean).length;
}

const quickstart = legacy([wordCount, tool("explode", "Refuses.")], (process) => (name, message) => {
  const { id } = message;
  if (name === "word_count") {
    process.send({ jsonrpc: "2.0", id, result: structured({ words: wordsOf(message) }) });
  } else if (name === "explode") {
    const content = [{ type: "text", text: "the tool refused" }];
    process.send({ jsonrpc: "2.0", id, result: { content, isError: true } });
  }
});

const VERSION = "io.modelcontextprotocol/protocolVersion";
const MODERN = "2026-07-28";

const modern: Server = {
  start(process) {
    const numbers = { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] };
    const tools = [
      { name: "add", description: "Adds two numbers.", inputSchema: numbers, outputSchema: { type: "number" } },
      tool("forecast", "The weather in a city.", { sky: { enum: ["clear", "cloudy", "rain"] } }),
    ];
    return (line) => {
      const { id, method, params } = JSON.parse(line) as Message;
      if (id === undefined) return;
      const answer = (result: object): void => process.send({ jsonrpc: "2.0", id, result });
      const requested = params?._meta?.[VERSION];
      if (method === "initialize" || requested !== MODERN) {
        const error = { code: -32022, message: "unsupported", data: { supported: [MODERN], requested: requested ?? "none" } };
        process.send({ jsonrpc: "2.0", id, error });
      } else if (method === "server/discover") {
        answer({ resultType: "complete", supportedVersions: [MODERN], capabilities: { tools: {} }, serverInfo: { name: "page", version: "2.0.0" }, ttlMs: 0, cacheScope: "private" });
      } else if (method === "tools/list") {
        answer({ resultType: "complete", tools, ttlMs: 60_000, cacheScope: "public" });
      } else if (params?.name === "add") {
        const sum = Number(params.arguments?.["a"]) + Number(params.arguments?.["b"]);
        answer({ resultType: "complete", content: [{ type: "text", text: String(sum) }], structuredContent: sum });
      } else if (params?.name === "forecast") {
        answer({ resultType: "complete", ...structured({ sky: "clear" }) });
      } else {
        process.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "method not found" } });
      }
    };
  },
};

const asks = legacy([tool("book", "Books a table.", { booked: { type: "string" } })], (process) => {
  let asked: Message["id"];
  return (_name, message) => {
    if (message.method === "tools/call") {
      asked = message.id;
      const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
      const params = { message: "In whose name?", requestedSchema };
      process.send({ jsonrpc: "2.0", id: "question-1", method: "elicitation/create", params }, 400);
    } else if (asked !== undefined) {
      const { result } = message;
      const booked = result?.action === "accept" ? `for ${result.content?.name}` : "nothing";
      process.send({ jsonrpc: "2.0", id: asked, result: structured({ booked }) }, 200);
    }
  };
});

const noisyCall: Server = legacy([wordCount], (process) => (_name, message) => {
  process.write(`INFO calling word_count\n[####      ] 40 %\n`);
  process.write(`{\n  "level": "debug"\n}\n`, 20);
  process.send({ jsonrpc: "2.0", id: message.id, result: structured({ words: wordsOf(message) }) }, 40);
});

const noisy: Server = {
  start(process) {
    process.write("\uFEFF*** word server 1.0 ***\nlistening on stdio\n");
    return noisyCall.start(process);
  },
};

const liar = legacy(
  [
    tool("wrong_type", "A number that is text.", { celsius: { type: "number" } }),
    tool("missing_member", "Half a result.", { city: { type: "string" }, sky: { type: "string" } }),
    tool("big_integer", "An id beyond 2^53.", { id: { type: "integer" } }),
    tool("no_structure", "Text alone.", { ok: { type: "boolean" } }),
    tool("not_an_object", "An answer that is a list.", { ok: { type: "boolean" } }),
  ],
  (process) => (name, { id }) => {
    const answer = (result: unknown): void => process.send({ jsonrpc: "2.0", id, result });
    if (name === "wrong_type") answer(structured({ celsius: "21" }));
    if (name === "missing_member") answer(structured({ city: "Lisbon" }));
    if (name === "no_structure") answer({ content: [{ type: "text", text: "it went well" }] });
    if (name === "not_an_object") answer([]);
    if (name === "big_integer") {
      process.write(
        `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"id":9007199254740993}}}\n`,
      );
    }
  },
);

const sloppy = legacy(
  [
    tool("string_id", "Answers under its id as a string."),
    tool("twice", "Repeats a member, then answers well."),
    tool("bad_error", "An error without a code."),
    tool("unasked", "Answers what nobody asked, and answers twice."),
    tool("truncated", "Half a message."),
    { description: "has no name" },
    tool("string_id", "The same name again."),
    { name: "no_schema" },
  ],
  (process) => (name, { id }) => {
    const result = { content: [{ type: "text", text: "done" }] };
    const key = JSON.stringify(id);
    if (name === "string_id") {
      process.send({ jsonrpc: "2.0", id: String(id), result });
      process.send({ jsonrpc: "2.0", id, result }, 100);
    }
    if (name === "twice") process.write(`{"jsonrpc":"2.0","id":${key},"result":{"content":[],"content":[]}}\n`);
    if (name === "bad_error") process.send({ jsonrpc: "2.0", id, error: { message: "something went wrong" } });
    if (name === "unasked") {
      process.send({ jsonrpc: "2.0", id: 4096, result });
      process.send({ jsonrpc: "2.0", id, result });
      process.send({ jsonrpc: "2.0", id, result });
    }
    if (name === "truncated") process.write(`{"jsonrpc":"2.0","id":${key},"result":{"content":[{"type":"te\n`);
  },
);

const slow = legacy(
  [tool("patient", "Half a minute, with progress."), tool("late", "Answers too late."), tool("never", "Never answers.")],
  (process) => (name, { id, params }) => {
    const result = { content: [{ type: "text", text: "at last" }] };
    if (name === "patient") {
      const progressToken = params?._meta?.["progressToken"];
      for (let step = 1; step <= 5 && progressToken !== undefined; step += 1) {
        const progress = { progressToken, progress: step, total: 6, message: `step ${step}` };
        process.send({ jsonrpc: "2.0", method: "notifications/progress", params: progress }, step * 5_000);
      }
      process.send({ jsonrpc: "2.0", id, result }, 30_000);
    }
    if (name === "late") process.send({ jsonrpc: "2.0", id, result }, 45_000);
  },
);

const crashes = legacy([tool("steady", "Never gets to answer."), tool("fatal", "Ends the process.")], (process) => (name) => {
  if (name !== "fatal") return;
  process.complain("panic: index out of range\n  token=sk-live-0123456789abcdef0123\n");
  process.exit(3, 50);
});

const lsp: Server = {
  start: (process) => (line) => {
    const { id } = JSON.parse(line) as Message;
    const body = JSON.stringify({ jsonrpc: "2.0", id, result: {} });
    process.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  },
};

export const servers: Record<string, Server> = { quickstart, modern, asks, noisy, liar, sloppy, slow, crashes, lsp };
