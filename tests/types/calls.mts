// What a program may write with the call protocol, and what it may not. Checked, never run.
import {
  OperationRegistry,
  PendingRequestMap,
  buildCallHandler,
  buildEnv,
  type CallEvents,
  type CallHandler,
  type CallRequestedEvent,
  type ResponseEnvelope,
} from "toolwire";

const registry = new OperationRegistry();
const callMap = new PendingRequestMap({
  onEvent: (type, event) => {
    if (type === "call.requested") {
      const requested: CallRequestedEvent = event;
      void handler(requested);
    }
  },
  now: () => Date.now(),
  newId: () => "id",
  maxPending: 10,
});
const handler: CallHandler = buildCallHandler({ registry, callMap });
new PendingRequestMap().free();

const envelope: ResponseEnvelope = await callMap.call("ns.op", { n: 1 }, {
  parentRequestId: "p",
  deadline: Date.now() + 1_000,
  identity: { id: "u", scopes: ["a"], resources: { "doc:1": ["read"] } },
  metadata: { trace: "t" },
  signal: new AbortController().signal,
});
for await (const { data, meta } of callMap.subscribe("ns.op", {}, { idleTimeout: 5, highWaterMark: 9 })) {
  console.log(data, meta.source);
}
callMap.respond("r", envelope);
callMap.emitError("r", "X", "m", { any: 1 }, true);
callMap.complete("r");
callMap.abort("r");
callMap.failAll(new Error("gone"));
const { unknown, malformed }: { unknown: number; malformed: number } = callMap.ignored;
const error: CallEvents["call.error"] = { requestId: "r", code: "X", message: "m" };
callMap.dispatch("call.error", error);
const count: number = callMap.getPendingCount() + unknown + malformed;
buildEnv({ registry, context: { requestId: "r" }, callMap });

// @ts-expect-error an answer is an envelope
callMap.respond("r", { result: "raw" });
// @ts-expect-error a handler needs a registry
buildCallHandler({ callMap });
// @ts-expect-error times are numbers
callMap.call("ns.op", {}, { deadline: "soon" });
// @ts-expect-error a request names its operation
const nameless: CallRequestedEvent = { requestId: "r" };
export { count, nameless };
