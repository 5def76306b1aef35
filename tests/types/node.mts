// What a program may write against `toolwire/node`. Checked, never run.
import type { Client } from "toolwire";
import { connect, connectAll, loadConfig, parseConfig, type RecordingStream } from "toolwire/node";

async function recorded(stream: RecordingStream): Promise<void> {
  const start = { server: "a", command: "node" };
  await connect({ ...start, record: "session.jsonl" });
  await connect({ ...start, record: stream });
  await connect({ ...start, record: (line) => line.length });
  // @ts-expect-error a recording needs somewhere to go
  await connect({ ...start, record: 5 });
}

async function use(): Promise<Client[]> {
  const client: Client = await connect({ server: "a", command: "node", args: ["server.mjs"], env: { A: "1" } });
  const { clients, failures } = await connectAll(await loadConfig("servers.json"), { onFailure: "collect" });
  const servers: string[] = failures.map(({ server, error }) => `${server}: ${error.code}`);
  void servers;
  return [client, ...clients];
}

const names: string[] = parseConfig("[]").map((entry) => entry.server);
// @ts-expect-error the command is required
void connect({ server: "a" });

export { names, recorded, use };
