// `toolwire/sdk` as the official SDK takes it.
import type { jsonSchemaValidator as ValidatorV1 } from "@modelcontextprotocol/sdk/validation";
import { Client, type jsonSchemaValidator as ValidatorV2 } from "@modelcontextprotocol/client";
import { ToolwireJsonSchemaValidator } from "toolwire/sdk";

const validator = new ToolwireJsonSchemaValidator({ onUncompilable: "report", formats: "assert" });
export const v1: ValidatorV1 = validator;
export const v2: ValidatorV2 = validator;
export const client = new Client(
  { name: "types", version: "1.0.0" },
  { jsonSchemaValidator: validator },
);

const judged = validator.getValidator<{ words: number }>({ type: "object" })({ words: 4 });
export const words: number | undefined = judged.valid ? judged.data.words : undefined;
export const why: string | undefined = judged.errorMessage;

// @ts-expect-error: there is no third way.
new ToolwireJsonSchemaValidator({ onUncompilable: "ignore" });

// Its transport, for clients of both lines.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport as TransportV1 } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Transport as TransportV2 } from "@modelcontextprotocol/client";
import { ToolwireStdioTransport } from "toolwire/sdk";

const transport = new ToolwireStdioTransport({
  command: "node",
  args: ["server.mjs"],
  env: { A: "1" },
  stderr: (chunk) => void chunk.length,
  maxFrameBytes: 1_000_000,
});
export const connectedV1: Promise<void> = new ClientV1({ name: "a", version: "1" }).connect(transport);
export const connectedV2: Promise<void> = client.connect(transport);
export const pid: number | null = transport.pid;
export const noise: number = transport.ignored.noise;
// @ts-expect-error: a server needs a command.
new ToolwireStdioTransport({ args: [] });
