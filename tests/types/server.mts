// `toolwire/web` and serving, as a program uses them.
import { ServerSession, serveStreams, type ServerEvent, type ToolServer } from "toolwire";
import { serveStdio } from "toolwire/node";
import { createHttpHandler, type HttpHandler } from "toolwire/web";

interface User {
  id: string;
}

const server: ToolServer<User> = {
  tools: [{ name: "who", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }],
  async handleCall(tool, args, identity, { signal, progress, log }) {
    progress(1, 2, "half");
    log("info", { args });
    signal.throwIfAborted();
    return { content: [{ type: "text", text: `${tool} ${identity?.id}` }] };
  },
};

export const stdio = serveStdio(server, { identity: { id: "me" }, maxOpenCalls: 10 });
export const closed: Promise<unknown> = stdio.closed;
stdio.setTools([{ name: "other" }]);

const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
const writer = writable.getWriter();
export const streams = serveStreams(server, { readable, write: (frame) => writer.write(frame) });

export const handler: HttpHandler = createHttpHandler(server, {
  identify: (request) =>
    request.headers.has("authorization") ? { id: "me" } : new Response(null, { status: 401 }),
  allowedHosts: ["mcp.example"],
  allowedOrigins: "any",
});
export const response: Promise<Response> = handler(new Request("http://localhost/mcp"));

const session = new ServerSession({ serverInfo: { name: "s", version: "1" }, tools: server.tools });
const event: ServerEvent | undefined = session.pollEvent();
if (event?.type === "call") {
  const name: string = event.name;
  session.respond(event.token, { result: { structuredContent: { name } } }, 0);
}
session.respond(1, { error: { code: -32000, message: "no" } }, 0);

// @ts-expect-error: identities are of one type.
serveStdio(server, { identity: 7 });
// @ts-expect-error: a server says who it is.
new ServerSession({ tools: [] });
