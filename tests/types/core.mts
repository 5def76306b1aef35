// What a program may write against `toolwire`, and what it may not. Checked, never run.
import {
  CallEventSchema,
  ClientSession,
  Redacted,
  ResponseEnvelopeSchema,
  Schema,
  ToolwireError,
  collectErrors,
  compileSchema,
  compileSchemaAsync,
  connectStreams,
  coreInfo,
  flowsOf,
  formatValueErrors,
  formatErrors,
  init,
  initSync,
  limits,
  replay,
  runPipeline,
  snapshotJson,
  type Change,
  type Client,
  type SessionEvent,
  type ToolResult,
  type ValidationError,
  type Verdict,
} from "toolwire";

const schema: Schema = compileSchema({ type: "object" }, { dialect: "2020-12", maxErrors: 4 });
const elder: Schema = compileSchema({}, { dialect: "draft-04" });
const fromText: Schema = compileSchema("true");
const fromBytes: Schema = compileSchema(new Uint8Array());
const verdict: Verdict = schema.validate({});
const first: ValidationError | undefined = verdict.errors[0];
const keyword: string | undefined = first?.keyword;
const later: Promise<Verdict> = schema.validateJsonAsync("{}", { signal: new AbortController().signal });
const compiled: Promise<Schema> = compileSchemaAsync(false);
const lines: string = formatErrors(verdict.errors, { audience: "model" });
// @ts-expect-error an unknown audience
formatErrors(verdict.errors, { audience: "machine" });
compileSchema({}, { formats: "assert" });
schema.free();
const cast: { value: unknown; changes: Change[] } = schema.cast({}, { mode: "cast-0.34" });
const filled: Change[] = schema.applyDefaults({}, { maxMadeBytes: Infinity }).changes;
// @ts-expect-error an unknown mode
schema.cast({}, { mode: "convert" });
const shortLines: string = formatValueErrors(collectErrors(schema, 1), "* ");
formatValueErrors(verdict.errors);
runPipeline({}, { id: "a.b", outputSchema: schema }, { normalize: "defaults", wrapAlways: true });
compileSchema(ResponseEnvelopeSchema);
compileSchema(CallEventSchema["call.responded"]);
// @ts-expect-error no such event
CallEventSchema["call.published"];
// @ts-expect-error an unknown dialect
compileSchema({}, { dialect: "draft-03" });
// @ts-expect-error a schema is an object, a boolean or JSON text
compileSchema(1);

const session = new ClientSession({ server: "a", profile: "strict", maxTools: 8 });
session.connect(0);
session.receive(new Uint8Array(), 1);
const handle: number = session.callTool("t", {}, { timeoutMs: 5 }, 1);
const frame: Uint8Array | undefined = session.takeOutput();
const deadline: number | undefined = session.nextDeadline;
// @ts-expect-error the server's name is required
new ClientSession({});

const { output, events } = replay("");
const again: Uint8Array | undefined = output[0];
const lived: SessionEvent | undefined = events[0];

function told(event: SessionEvent): string {
  switch (event.type) {
    case "ready":
      return event.protocolVersion;
    case "settled":
      return event.ok ? "ok" : event.error.code;
    case "progress":
      return String(event.progress);
    case "diagnostic":
      return event.detail.reveal();
    default:
      return event.type;
  }
}

async function use(client: Client): Promise<void> {
  const result: ToolResult = await client.callTool("t", { a: 1 }, { onProgress: (progress) => void progress });
  const isError: boolean = result.isError;
  const block = result.content[0];
  if (block?.type === "text") {
    const text: string = block.text;
    void text;
  }
  const names: string[] = flowsOf(client).bindings().map((binding) => binding.descriptor.name);
  await client.close();
  void [isError, names];
}

function explainTo(error: unknown): string | undefined {
  return error instanceof ToolwireError && error.code === "timeout" ? error.reason : undefined;
}

const hidden: Redacted<string> = new Redacted("secret");
const ready: Promise<void> = init(new URL("file:///x.wasm"));
initSync(new Uint8Array());
const text: string = snapshotJson({ a: 1 }, { root: "any" });
const most: number | undefined = limits.contain.maxTools;
const version: string = coreInfo().version;

export { again, compiled, connectStreams, deadline, explainTo, frame, fromBytes, fromText, handle, hidden };
export { keyword, later, lines, lived, shortLines, most, ready, text, told, use, version };
