// Nested calls: what an operation may call, and as whom.
import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { OperationRegistry, buildEnv } = toolwire;

const needs = (...requiredScopes) => ({ accessControl: { requiredScopes } });
const nested = (context, input) => context.env.ns.child(input);

/** A registry in which `ns.parent` calls `ns.child`, which gives its input and context. */
function composed(parent, child, handler = (input, context) => nested(context, input)) {
  const registry = new OperationRegistry();
  registry.register(spec("ns.parent", parent), handler);
  registry.register(spec("ns.child", child), (input, context) => ({ input, context }));
  return registry;
}

test("AT-161: any namespace and name is an ordinary key", async () => {
  const registry = new OperationRegistry();
  for (const [namespace, name] of [
    ["__proto__", "x"],
    ["constructor", "__proto__"],
    ["toString", "valueOf"],
  ]) {
    registry.register({ ...spec("a.b"), namespace, name }, () => `${namespace}.${name}`);
  }
  const env = buildEnv({ registry, context: {} });
  for (const { namespace, name } of registry.list()) {
    assert.equal((await env[namespace][name]()).data, `${namespace}.${name}`);
  }
  assert.equal({}.x, undefined);
  assert.equal(Object.getPrototypeOf(env), null);
  assert.equal(Object.prototype.x, undefined);
});

test("AT-164: an operation cannot authorise itself by being called", async () => {
  const admin = { ...needs("admin"), authority: { label: "child", scopes: ["admin"] } };
  const registry = composed({ authority: { label: "parent", scopes: ["x"] } }, admin);
  for (const caller of [identity(), identity("admin")]) {
    const error = await failure(registry.execute("ns.parent", {}, { identity: caller }));
    assert.equal(error.code, "ACCESS_DENIED");
  }
  const bare = composed({}, needs("admin"));
  const error = await failure(bare.execute("ns.parent", {}, { identity: identity("admin") }));
  assert.equal(error.code, "ACCESS_DENIED");
});

test("AT-380: a nested call presents the authority that its operation declares", async () => {
  const registry = composed({ authority: { label: "p", scopes: ["x"] } }, needs("x"));
  const { data } = await registry.execute("ns.parent", { a: 1 }, { identity: identity() });
  const inner = data;
  assert.deepEqual(inner.input, { a: 1 });
  assert.deepEqual(inner.context.identity, { id: "p", scopes: ["x"], resources: {} });
  // No login: nobody can present the label as an identity of their own and be more than it says.
  assert.equal((await failure(registry.execute("ns.child", {}, { identity: { id: "p" } }))).code, "ACCESS_DENIED");
});

test("AT-166: a nested call inherits the deadline", async () => {
  const registry = composed({}, {});
  registry.register(spec("ns.child"), () => new Promise(() => {}), { replace: true });
  const deadline = Date.now() + 30;
  const error = await failure(registry.execute("ns.parent", {}, { deadline }));
  assert.deepEqual([error.code, error.details], ["TIMEOUT", { deadline }]);
  registry.register(spec("ns.child"), (_, context) => context.deadline, { replace: true });
  const later = Date.now() + 10_000;
  assert.equal((await registry.execute("ns.parent", {}, { deadline: later })).data, later);
});

test("nested calls are linked, and inherit metadata and the signal", async () => {
  let count = 0;
  const registry = new OperationRegistry({ newId: () => `id${(count += 1)}` });
  registry.register(spec("ns.parent"), async (_, context) => [
    await nested(context, 1),
    await nested(context, 2),
  ]);
  let told = 0;
  registry.register(spec("ns.child"), (_, context) => {
    context.signal.addEventListener("abort", () => {
      told += 1;
    });
    return context;
  });
  const metadata = { trace: "t" };
  const { data } = await registry.execute("ns.parent", {}, { requestId: "r", metadata });
  const children = data.map((envelope) => envelope.data);
  assert.deepEqual(
    children.map(({ requestId, parentRequestId }) => [requestId, parentRequestId]),
    [
      ["id1", "r"],
      ["id2", "r"],
    ],
  );
  assert.equal(children[0].metadata, metadata);
  const controller = new AbortController();
  registry.register(
    spec("ns.child"),
    (_, { signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => {
          told += 1;
        });
      }),
    { replace: true },
  );
  const running = failure(registry.execute("ns.parent", {}, { signal: controller.signal }));
  await new Promise(setImmediate);
  controller.abort();
  assert.equal((await running).code, "ABORTED");
  assert.equal(told, 1);
});

test("authority is known by the very context, and by no copy of it", async () => {
  const restricted = { ...needs("x"), visibility: "internal" };
  const parent = { authority: { label: "p", scopes: ["x"] } };
  for (const [handler, code] of [
    [(_, context) => buildEnv({ registry, context }).ns.child(), undefined],
    [(_, context) => buildEnv({ registry, context: { ...context } }).ns.child(), "ACCESS_DENIED"],
    [(_, context) => registry.execute("ns.child", {}, context), "OPERATION_NOT_FOUND"],
    [(_, context) => buildEnv({ registry, context: { authority: parent.authority } }).ns.child(), "ACCESS_DENIED"],
  ]) {
    var registry = composed(parent, restricted, handler);
    const running = registry.execute("ns.parent", {}, { identity: identity() });
    if (code === undefined) {
      assert.equal((await running).data.context.identity.id, "p");
    } else {
      assert.equal((await failure(running)).code, code);
    }
  }
});

test("hidden operations are there for composition", async () => {
  const registry = composed({}, { visibility: "internal" });
  const { data } = await registry.execute("ns.parent", 5, { identity: identity() });
  assert.equal(data.input, 5);
  assert.equal(Object.keys(data.context).includes("identity"), false);
  const env = buildEnv({ registry, context: { identity: identity("u") } });
  assert.deepEqual((await env.ns.child()).data.context.identity, identity("u"));
});

test("a context that is handed on stays that of its caller", async () => {
  const registry = new OperationRegistry();
  registry.register(spec("ns.hidden", { visibility: "internal" }), () => "ran");
  registry.register(spec("ns.op"), (_, context) => registry.execute("ns.hidden", {}, context));
  registry.register(spec("ns.outer"), (_, { env }) => env.ns.op());
  for (const context of [{ identity: identity() }, { identity: undefined }, { identity: null }]) {
    assert.equal((await failure(registry.execute("ns.op", {}, context))).code, "OPERATION_NOT_FOUND");
  }
  assert.equal((await failure(registry.execute("ns.outer", {}))).code, "OPERATION_NOT_FOUND");
  assert.equal((await registry.execute("ns.op", {})).data, "ran");
});

test("an env built for an operation is made anew for the one that gets it", async () => {
  const parent = { authority: { label: "p", scopes: ["x"] } };
  const registry = composed(parent, needs("x"));
  registry.register(spec("other.op"), () => 1);
  const context = { identity: identity() };
  const env = buildEnv({ registry, context, allowedNamespaces: ["ns"] });
  assert.equal((await failure(env.ns.child())).code, "ACCESS_DENIED");
  const { data } = await registry.execute("ns.parent", {}, { ...context, env });
  assert.equal(data.context.identity.id, "p");
  registry.register(spec("ns.parent"), (_, { env: given }) => Object.keys(given), { replace: true });
  assert.deepEqual((await registry.execute("ns.parent", {}, { env })).data, ["ns"]);
  const foreign = { anything: 1 };
  registry.register(spec("ns.parent"), (_, { env: given }) => given, { replace: true });
  assert.equal((await registry.execute("ns.parent", {}, { env: foreign })).data, foreign);
});

test("A-48: namespaces are chosen, subscriptions left out, the view a snapshot", async () => {
  const registry = composed({}, {});
  registry.register(spec("ns.ticks", { type: "subscription" }), async function* () {});
  registry.register(spec("ns.take", { type: "publish" }));
  registry.register(spec("other.op", { type: "mutation" }), () => 1);
  const keys = (env) => Object.entries(env).map(([name, operations]) => [name, Object.keys(operations)]);
  const env = buildEnv({ registry, context: {} });
  assert.deepEqual(keys(env), [
    ["ns", ["parent", "child"]],
    ["other", ["op"]],
  ]);
  registry.register(spec("late.op"), () => 1);
  assert.equal(env.late, undefined);
  const some = buildEnv({ registry, context: {}, allowedNamespaces: ["other", "none"] });
  assert.deepEqual(keys(some), [["other", ["op"]]]);
  assert.ok(Object.isFrozen(some) && Object.isFrozen(some.other));
  registry.unregister("other.op");
  assert.equal((await failure(some.other.op())).code, "OPERATION_NOT_FOUND");
});

test("with a call map, nested calls go through it", async () => {
  const calls = [];
  const callMap = {
    call: async (...args) => {
      calls.push(args);
      return { data: "mapped", meta: { source: "local", operationId: "x", timestamp: 0 } };
    },
  };
  const registry = composed({ authority: { label: "p", scopes: ["x"] } }, needs("x"));
  const context = { requestId: "r", metadata: { k: 1 }, deadline: Date.now() + 10_000 };
  const env = buildEnv({ registry, context, callMap });
  assert.equal((await env.ns.child({ a: 1 })).data, "mapped");
  assert.deepEqual(calls.pop(), [
    "ns.child",
    { a: 1 },
    { metadata: { k: 1 }, deadline: context.deadline, parentRequestId: "r" },
  ]);
  await registry.execute("ns.parent", { a: 2 }, { ...context, identity: identity(), env });
  const [id, input, { identity: who, parentRequestId, signal }] = calls.pop();
  assert.deepEqual([id, input, parentRequestId], ["ns.child", { a: 2 }, "r"]);
  assert.deepEqual(who, { id: "p", scopes: ["x"], resources: {} });
  assert.equal(signal.aborted, false);
});

test("an env is refused what it cannot be made of", async () => {
  const registry = new OperationRegistry();
  for (const [config, option] of [
    [{}, "registry"],
    [{ registry: {} }, "registry"],
    [{ registry, allowedNamespaces: "ns" }, "allowedNamespaces"],
    [{ registry, callMap: {} }, "callMap"],
  ]) {
    assert.equal((await failure(() => buildEnv(config))).option, option);
  }
});
