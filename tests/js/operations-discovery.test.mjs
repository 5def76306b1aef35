// Discovery: services.list and services.schema show their caller what it may call.
import assert from "node:assert/strict";
import { test } from "node:test";
import { failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { OperationRegistry, registerDiscovery } = toolwire;

const admin = { accessControl: { requiredScopes: ["admin"] } };

function registryWith(...specs) {
  const registry = new OperationRegistry();
  assert.deepEqual(registerDiscovery(registry), ["services.list", "services.schema"]);
  for (const each of specs) {
    registry.register(each, () => 1);
  }
  return registry;
}

const list = async (registry, context) =>
  (await registry.execute("services.list", undefined, context)).data.operations;

const schema = async (registry, name, context) =>
  (await registry.execute("services.schema", { name }, context)).data;

test("AT-208: the list is in the order of registration, every time", async () => {
  const registry = registryWith(
    spec("d.1"),
    spec("b.2", { type: "mutation", description: "" }),
    spec("c.3", { visibility: "internal" }),
    spec("a.4", admin),
  );
  const shown = [
    { name: "d.1", namespace: "d", type: "query", description: "An operation" },
    { name: "b.2", namespace: "b", type: "mutation" },
  ];
  for (const context of [undefined, {}, { identity: identity("user") }]) {
    assert.deepEqual(await list(registry, context), shown);
  }
  const all = await list(registry, { identity: identity("admin") });
  assert.deepEqual(all.map(({ name }) => name), ["d.1", "b.2", "a.4"]);
  // Rows B-51: what it is given is ignored.
  const given = await registry.execute("services.list", { any: ["thing"] });
  assert.deepEqual(given.data.operations, shown);
});

test("AT-209: a leading slash is ignored", async () => {
  const registry = registryWith(spec("fs.readFile"));
  assert.deepEqual(await schema(registry, "/fs/readFile"), await schema(registry, "fs.readFile"));
});

test("AT-210: a hidden operation is unknown, whoever asks", async () => {
  const registry = registryWith(spec("int.x", { visibility: "internal" }));
  for (const context of [undefined, {}, { identity: identity("admin") }]) {
    const error = await failure(schema(registry, "int.x", context));
    const unknown = await failure(schema(registry, "int.y", context));
    assert.equal(error.code, "OPERATION_NOT_FOUND");
    assert.equal(JSON.stringify(error), JSON.stringify(unknown).replaceAll("int.y", "int.x"));
  }
});

test("AT-211, AT-212: a denied operation answers ACCESS_DENIED on every path", async () => {
  // DESIGN.md 6.5 and case G01: denied is FORBIDDEN at the gateway and ACCESS_DENIED below it.
  const registry = registryWith(spec("admin.secret", { ...admin, description: "SECRET" }));
  const error = await failure(schema(registry, "admin.secret", { identity: identity() }));
  assert.equal(error.code, "ACCESS_DENIED");
  assert.ok(!JSON.stringify(error).includes("SECRET"));
  const shown = await schema(registry, "admin.secret", { identity: identity("admin") });
  assert.equal(shown.description, "SECRET");
});

test("AT-214: a specification in camelCase says what it leaves open", async () => {
  const registry = registryWith(
    spec("ns.op", { authority: { label: "p", scopes: ["secret"] } }),
    spec("ns.full", {
      title: "T",
      tags: ["x"],
      outputSchema: { type: "object" },
      errorSchemas: [{ code: "E", description: "d", schema: {} }],
      resourceIdPath: "/id",
      accessControl: { requiredScopes: [], resourceType: "p" },
      _meta: { a: 1 },
    }),
  );
  assert.deepEqual(await schema(registry, "ns.op"), {
    namespace: "ns",
    name: "op",
    version: "1.0.0",
    type: "query",
    description: "An operation",
    visibility: "external",
    inputSchema: {},
    outputSchema: {},
    errorSchemas: [],
    accessControl: {
      requiredScopes: [],
      requiredScopesAny: null,
      resourceType: null,
      resourceAction: null,
    },
  });
  const who = { identity: { id: "u", scopes: [], resources: { "p:1": ["x"] } } };
  const full = await schema(registry, "ns.full", who);
  assert.deepEqual(full.errorSchemas, [{ code: "E", description: "d", schema: {} }]);
  assert.deepEqual([full.title, full.resourceIdPath, full._meta], ["T", "/id", { a: 1 }]);
});

test("discovery has rules of its own, takes its place once, and refuses what is no name", async () => {
  const registry = new OperationRegistry();
  registerDiscovery(registry, admin);
  assert.equal((await failure(list(registry))).code, "ACCESS_DENIED");
  assert.equal((await failure(() => registerDiscovery(registry))).reason, "operation_exists");
  registerDiscovery(registry, { replace: true });
  assert.deepEqual(await list(registry), []);
  assert.equal((await failure(schema(registry, 3))).code, "VALIDATION_ERROR");
  assert.equal((await schema(registry, "services.list")).name, "list");
});
