// Owns the in-memory pipe of the whole-call measure: a server of bytes, and the SDK's side of it.
import { bytesOf, toolOf } from "./session.mjs";

/** What answers request lines with reply lines, as bytes. */
function serverOf(schema, content) {
  const result = { content: [{ type: "text", text: "ok" }], structuredContent: content };
  const tail = Buffer.from(`,"result":${JSON.stringify(result)}}\n`);
  return (bytes) => {
    const message = bytes.toString("latin1");
    const id = /"id":(\d+)/.exec(message)?.[1];
    if (id === undefined) {
      return undefined;
    }
    if (message.includes('"tools/call"')) {
      return Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${id}`), tail]);
    }
    return bytesOf({ jsonrpc: "2.0", id: Number(id), ...otherReply(message, schema) });
  };
}

function otherReply(message, schema) {
  if (message.includes('"initialize"')) {
    const serverInfo = { name: "bench", version: "1.0.0" };
    return {
      result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
    };
  }
  if (message.includes('"tools/list"')) {
    return { result: { tools: [toolOf(schema)] } };
  }
  return { error: { code: -32601, message: "Method not found" } };
}

/** A stream of chunks that are pushed. */
class Chunks {
  #queue = [];
  #wake;

  push(chunk) {
    this.#queue.push(chunk);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#queue.length > 0) {
        yield this.#queue.shift();
      }
      await new Promise((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** The SDK's transport over the pipe, with the SDK's own framing and serialising, as over stdio. */
class PipeTransport {
  #server;
  #reader;
  #serialize;

  constructor(server, { ReadBuffer, serializeMessage }) {
    this.#server = server;
    this.#reader = new ReadBuffer();
    this.#serialize = serializeMessage;
  }

  async start() {}

  async send(message) {
    const reply = this.#server(Buffer.from(this.#serialize(message)));
    if (reply !== undefined) {
      queueMicrotask(() => {
        this.#reader.append(reply);
        for (let next = this.#reader.readMessage(); next !== null; next = this.#reader.readMessage()) {
          this.onmessage?.(next);
        }
      });
    }
  }

  async close() {
    this.onclose?.();
  }
}

export { Chunks, PipeTransport, serverOf };
