// A server behind `fetch`, in this process: each request is answered by a function.

/** A response with a JSON body. */
export function json(body, { status = 200, headers = {} } = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
}

/** A response whose body is a stream of events, as text, in the pieces given. */
export function events(pieces, { headers = {} } = {}) {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(controller) {
      for (const piece of [pieces].flat()) {
        controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
        await new Promise(setImmediate);
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream", ...headers } });
}

export function reply(id, result) {
  return { jsonrpc: "2.0", id, result };
}

/** An event with this message. */
export function event(message, fields = "") {
  return `${fields}data: ${JSON.stringify(message)}\n\n`;
}

/**
 * A server that knows the handshake and one tool. `answer({ message, request })` is asked first for
 * each request; what it returns is the response, undefined leaves it to the handshake.
 */
export class HttpServer {
  /** What arrived: `{ method, headers, message }`, in order. */
  requests = [];

  constructor({ answer = () => undefined, openingHeaders = {}, tools = [TOOL] } = {}) {
    this.answer = answer;
    this.openingHeaders = openingHeaders;
    this.tools = tools;
    this.fetch = (url, init) => this.#fetch(new Request(url, { ...init, signal: undefined }), init);
  }

  /** Options for `connectHttp`. */
  options(more = {}) {
    return { server: "web", url: "https://h.test/mcp", era: "legacy", fetch: this.fetch, ...more };
  }

  got(method) {
    return this.requests.filter(({ message }) => message?.method === method);
  }

  async #fetch(request, { signal }) {
    const text = await request.text();
    const message = text === "" ? undefined : JSON.parse(text);
    const seen = {
      url: request.url,
      method: request.method,
      headers: Object.fromEntries(request.headers),
      message,
    };
    this.requests.push(seen);
    const response = (await this.answer({ ...seen, signal })) ?? this.#answer(seen);
    signal?.throwIfAborted();
    return response;
  }

  #answer({ method, message }) {
    if (method === "GET") {
      return new Response(null, { status: 405 });
    }
    if (message?.id === undefined) {
      return new Response(null, { status: message === undefined ? 200 : 202 });
    }
    if (message.method === "initialize") {
      const result = { protocolVersion: "2025-06-18", capabilities: { tools: {} } };
      return json(reply(message.id, result), { headers: this.openingHeaders });
    }
    if (message.method === "tools/list") {
      return json(reply(message.id, { tools: this.tools }));
    }
    return json(reply(message.id, { content: [] }));
  }
}

export const TOOL = { name: "t", inputSchema: { type: "object" } };
