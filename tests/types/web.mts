// What a program may write against `toolwire/web`. Checked, never run.
import { ClientSession, type CacheHint, type Client, type OutMessage } from "toolwire";
import { connectHttp } from "toolwire/web";

async function use(): Promise<Client> {
  const client = await connectHttp({
    server: "a",
    url: new URL("https://h.test/mcp"),
    headers: { "x-tenant": "t" },
    fetch: (url, init) => fetch(url, init),
    authProvider: async (context) => (context?.challenge === undefined ? "a" : undefined),
    handlers: { "elicitation/create": () => ({ action: "decline" }) },
    maxInputRounds: 3,
  });
  const cache: CacheHint | undefined = client.toolsCache;
  void cache;
  for await (const page of client.pages("prompts/list", {}, { maxPages: 2 })) {
    void page.prompts;
  }
  const items: unknown[] = await client.requestAll("resources/list");
  void items;
  // @ts-expect-error the URL is required
  await connectHttp({ server: "a" });
  return client;
}

function exchange(session: ClientSession, now: number): OutMessage | undefined {
  const message = session.takeMessage();
  if (message?.handle !== undefined) {
    session.receiveMessage(message.json, now, message.handle);
    session.replyEnded(message.handle, { status: 200 }, now);
    // @ts-expect-error an outcome says it by a word of ours
    session.replyEnded(message.handle, { reason: "gone" }, now);
  }
  return message;
}

export { exchange, use };
