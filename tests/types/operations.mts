// What a program may write with operations, and what it may not. Checked, never run.
import {
  CallError,
  OperationRegistry,
  buildEnv,
  checkAccess,
  mapError,
  registerDiscovery,
  type AccessControl,
  type CallErrorJson,
  type Client,
  type Handler,
  type HandlerContext,
  type Identity,
  type OperationEnv,
  type OperationSpec,
  type OperationWarning,
  type ResponseEnvelope,
} from "toolwire";

const open: AccessControl = { requiredScopes: [] };
const spec: OperationSpec = {
  namespace: "ns",
  name: "op",
  version: "1.0.0",
  type: "query",
  description: "",
  inputSchema: true,
  accessControl: open,
};
const handler: Handler = async (input, context: HandlerContext) => context.env["ns"]?.["op"]?.(input);
const registry = new OperationRegistry({ now: () => 0, newId: () => "", normalize: "off" });
registry.register(spec, handler, { replace: true });
registry.register({ ...spec, handler });
registry.registerAll([spec, { ...spec, handler }]);
const ada: Identity = { id: "ada", scopes: ["a"], resources: { "a:b": ["c"] } };
const listed: OperationSpec[] = registry.list({ identity: ada });
const answer: Promise<ResponseEnvelope> = registry.execute("ns.op", {}, { identity: undefined });
const allowed: boolean = checkAccess({ resourceAction: "read" }, ada, { resourceId: "b" });
const env: OperationEnv = buildEnv({ registry, context: { identity: ada } });
const names: string[] = registerDiscovery(registry, { accessControl: open });
const error: CallError = mapError(3, [{ code: "E", description: "", schema: {} }]);
const json: CallErrorJson = CallError.fromJSON(error.toJSON()).toJSON();
const same: CallError = new CallError("X", "m", { k: 1 }, true);
declare const client: Client;
const ids: string[] = registry.importClient(client, { include: ["a"], visibility: "external" });
const off: () => void = registry.onWarning((warning: OperationWarning) => {
  if (warning.type === "import") {
    const tool: string = warning.tool;
  }
});
for await (const { data } of registry.subscribe("ns.op")) {
  const seen: unknown = data;
}
// @ts-expect-error a type that there is not
registry.register({ ...spec, type: "sub" });
// @ts-expect-error an operation says who may call it
registry.register({ namespace: "a", name: "b", version: "1", type: "query", description: "", inputSchema: {} });
// @ts-expect-error nothing in a context grants anything
registry.execute("ns.op", {}, { trusted: true });
// @ts-expect-error an identity holds scopes
registry.list({ identity: { id: "u" } });
