// Operations, calls and envelopes against handlers and values that mean them no good.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const {
  OperationRegistry,
  PendingRequestMap,
  ToolwireError,
  buildCallHandler,
  buildEnv,
  viewOfToolResult,
} = toolwire;

const SUBSCRIPTION = { type: "subscription" };

function serving(operations) {
  const registry = new OperationRegistry();
  for (const [name, handler] of Object.entries(operations)) {
    registry.register(spec(`a.${name}`, SUBSCRIPTION), handler);
  }
  const events = [];
  const callMap = new PendingRequestMap({
    onEvent: (type, event) => events.push({ type, ...event }),
  });
  return { registry, events, callMap, handle: buildCallHandler({ registry, callMap }) };
}

describe("producers", () => {
  test("one that never waits lets timers and aborts run", { timeout: 20_000 }, async () => {
    const { callMap, handle, events } = serving({
      flood: async function* () {
        for (;;) {
          yield 1;
        }
      },
    });
    const over = handle({ requestId: "r", operationId: "a.flood", input: {} });
    setTimeout(() => callMap.abort("r"), 20);
    await over;
    assert.ok(events.length > 1);
    assert.equal(events.at(-1).type, "call.aborted");
    callMap.free();
  });

  test("one that never waits ends at its deadline", { timeout: 20_000 }, async () => {
    const { callMap, handle, events } = serving({
      flood: async function* () {
        for (;;) {
          yield 1;
        }
      },
    });
    const deadline = Date.now() + 30;
    await handle({ requestId: "r", operationId: "a.flood", input: {}, deadline });
    assert.equal(events.at(-1).code, "TIMEOUT");
    callMap.free();
  });

  test("one whose iterator gives no objects has failed", { timeout: 20_000 }, async () => {
    for (const step of [7, undefined, null, "step"]) {
      const source = { [Symbol.asyncIterator]: () => ({ next: () => step }) };
      const { registry, callMap, handle, events } = serving({ bad: () => source });
      await handle({ requestId: "r", operationId: "a.bad", input: {} });
      assert.deepEqual(
        events.map(({ type, code }) => [type, code]),
        [["call.error", "EXECUTION_ERROR"]],
      );
      const error = await failure(registry.subscribe("a.bad", {}).next());
      assert.equal(error.code, "EXECUTION_ERROR");
      callMap.free();
    }
  });
});

test("no copy of a context, nor what is made of one, has a composer's authority", async () => {
  const registry = new OperationRegistry();
  const accessControl = { requiredScopes: ["admin"] };
  registry.register(spec("s.secret", { accessControl }), () => "secret");
  registry.register(spec("s.hidden", { visibility: "internal" }), () => "hidden");
  const authority = { label: "composer", scopes: ["admin"] };
  let kept;
  registry.register(spec("s.composer", { authority }), (input, context) => {
    kept = context;
    return context.env.s.secret({});
  });
  const composed = await registry.execute("s.composer", {}, { identity: identity() });
  assert.equal(composed.data, "secret");
  for (const context of [
    { ...kept },
    Object.create(kept),
    new Proxy(kept, {}),
    Object.defineProperties({}, Object.getOwnPropertyDescriptors(kept)),
  ]) {
    const error = await failure(buildEnv({ registry, context }).s.secret({}));
    assert.equal(error.code, "ACCESS_DENIED");
  }
  assert.equal((await failure(registry.execute("s.secret", {}, kept))).code, "ACCESS_DENIED");
  const borrowed = { identity: undefined, env: kept.env };
  const hidden = await failure(registry.execute("s.hidden", {}, borrowed));
  assert.equal(hidden.code, "OPERATION_NOT_FOUND");
});

test("an identity that cannot be read is nobody's", async () => {
  const registry = new OperationRegistry();
  const accessControl = { requiredScopes: ["admin"] };
  registry.register(spec("s.secret", { accessControl }), () => "secret");
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const claimed of [
    "admin",
    proxy,
    new Proxy({}, { get: () => ["admin"], has: () => true }),
    { id: "x", scopes: "admin" },
    { id: "x", scopes: { 0: "admin", length: 1, includes: () => true } },
    { id: "x", scopes: [["admin"]] },
    { id: "x", scopes: [], trusted: true },
    { id: "x", scopes: [], toJSON: () => ({ id: "x", scopes: ["admin"] }) },
  ]) {
    const error = await failure(registry.execute("s.secret", {}, { identity: claimed }));
    assert.equal(error.code, "ACCESS_DENIED");
  }
});

test("a result that cannot be read has no view, and says so in our words", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const result of [
    proxy,
    Object.defineProperty({}, "content", {
      get() {
        throw new Error("theirs");
      },
    }),
  ]) {
    assert.throws(() => viewOfToolResult(result, "both"), (error) => {
      assert.ok(error instanceof ToolwireError);
      assert.equal(error.code, "invalid_arguments");
      return true;
    });
  }
});

describe("inputs", () => {
  test("one that replaces the operation while it is read is given to neither", async () => {
    const registry = new OperationRegistry();
    const ran = [];
    registry.register(spec("a.swap", { inputSchema: { type: "object" } }), () => ran.push("old"));
    const input = new Proxy({}, {
      ownKeys: () => {
        registry.unregister("a.swap");
        registry.register(spec("a.swap"), () => ran.push("new"));
        return [];
      },
    });
    await assert.rejects(registry.execute("a.swap", input), { code: "OPERATION_NOT_FOUND" });
    assert.deepEqual(ran, []);
  });
});
