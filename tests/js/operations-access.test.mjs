// Who may call: the rules, and that no path goes around them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { collect, failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { OperationRegistry, ToolwireError, checkAccess } = toolwire;

const holding = (scopes, resources) => ({ id: "u", scopes, resources });

for (const [id, accessControl, who, expected] of [
  ["AT-052", { requiredScopes: [] }, null, true],
  ["AT-052", { requiredScopes: [] }, undefined, true],
  ["AT-053", { requiredScopes: ["a"] }, null, false],
  ["AT-054", { requiredScopes: ["a", "b"] }, identity("a"), false],
  ["A-16", { requiredScopes: ["a", "b"] }, identity("b", "c", "a"), true],
  ["AT-056", { requiredScopes: [], requiredScopesAny: ["x", "y"] }, identity("z"), false],
  ["AT-057", { requiredScopes: [], requiredScopesAny: ["x", "y"] }, identity("y"), true],
  ["A-16", { requiredScopes: ["a"], requiredScopesAny: ["x"] }, identity("x"), false],
  // DESIGN.md 6.5: an empty list adds no demand.
  ["AT-059", { requiredScopes: [], requiredScopesAny: [] }, null, true],
  ["AT-060", { requiredScopesAny: [] }, identity("z"), true],
  [
    "AT-061",
    { requiredScopes: [], resourceType: "project", resourceAction: "read" },
    holding([], { "project:abc": ["read"] }),
    true,
  ],
  [
    "AT-062",
    { requiredScopes: [], resourceType: "project", resourceAction: "read" },
    holding([], { "projects:abc": ["read"], "project:abc": ["write"] }),
    false,
  ],
  ["AT-067", { requiredScopes: ["a"] }, null, false],
  ["AT-068", { resourceAction: "read" }, holding([], { x: ["read"] }), true],
  // DESIGN.md 6.5: keys are type:id.
  ["AT-069", { resourceType: "svc" }, holding([], { "svc:1": [] }), false],
  ["AT-069", { resourceType: "svc" }, holding([], { "svc:1": ["x"] }), true],
  ["DESIGN 6.5", { resourceType: "svc" }, holding([], { svc: ["x"] }), false],
  ["DESIGN 6.5", { requiredScopes: [], resourceType: "svc" }, null, false],
  ["AT-360", { requiredScopes: [] }, { id: "u" }, false],
  ["AT-361", { requiredScopes: ["a"] }, { id: "u", scopes: ["a"] }, true],
]) {
  const named = JSON.stringify([accessControl, who]);
  test(`${id}: ${named} is ${expected ? "allowed" : "denied"}`, () => {
    assert.equal(checkAccess(accessControl, who), expected);
  });
}

test("a resource id is compared when it is given", () => {
  const access = { requiredScopes: [], resourceType: "project", resourceAction: "read" };
  const who = holding([], { "project:abc": ["read"], "project:a:b": ["write"] });
  for (const [resourceId, expected] of [
    ["abc", true],
    ["ab", false],
    ["a:b", false],
    ["", false],
    [undefined, true],
  ]) {
    assert.equal(checkAccess(access, who, { resourceId }), expected, resourceId);
  }
  assert.equal(checkAccess({ requiredScopes: [] }, null, { resourceId: "x" }), true);
});

test("what is no access control is refused, what is no identity is denied", async () => {
  for (const accessControl of [
    null,
    [],
    { requiredScopes: "a" },
    { requiredScope: ["a"] },
    { resourceType: "" },
    () => 1,
  ]) {
    const error = await failure(() => checkAccess(accessControl, identity("a")));
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.code, "invalid_arguments");
  }
  const error = await failure(() => checkAccess({}, undefined, { resourceId: 3 }));
  assert.equal(error.option, "resourceId");
  const fail = () => {
    throw new Error("hostile");
  };
  for (const who of [
    3,
    "admin",
    {},
    { id: "u", scopes: "a" },
    { id: 1, scopes: ["a"] },
    { id: "u", scopes: ["a"], resources: [] },
    { id: "u", scopes: new Set(["a"]) },
    Object.defineProperty({ id: "u" }, "scopes", { get: fail }),
    new Proxy({}, { get: fail }),
  ]) {
    assert.equal(checkAccess({ requiredScopes: ["a"] }, who), false);
    assert.equal(checkAccess({ requiredScopes: [] }, who), false);
  }
  class User {
    constructor() {
      this.id = "u";
      this.name = new Date(0);
    }
    get scopes() {
      return ["a"];
    }
  }
  assert.equal(checkAccess({ requiredScopes: ["a"] }, new User()), true);
});

/** A registry with one guarded operation of each style. */
function guarded(members) {
  const registry = new OperationRegistry();
  registry.register(spec("ns.op", members), (_, context) => context);
  registry.register(spec("ns.sub", { ...members, type: "subscription" }), async function* (_, c) {
    yield c;
  });
  return registry;
}

test("AT-053, AT-054, AT-066, AT-067: a denial says what is missing", async () => {
  const registry = guarded({ accessControl: { requiredScopes: ["a", "b"] } });
  const nobody = await failure(registry.execute("ns.op"));
  assert.deepEqual(nobody.toJSON(), {
    code: "ACCESS_DENIED",
    message: "identity required: authentication required for this operation",
    retryable: false,
    details: { operationId: "ns.op", requiredScopes: ["a", "b"] },
  });
  const lacking = await failure(registry.execute("ns.op", {}, { identity: identity("b") }));
  assert.deepEqual(lacking.toJSON(), {
    code: "ACCESS_DENIED",
    message: "missing required scope a",
    retryable: false,
    details: { requiredScopes: ["a", "b"] },
  });
});

test("AT-074, AT-076: the input names the resource by a JSON Pointer", async () => {
  const registry = guarded({
    accessControl: { requiredScopes: [], resourceType: "p", resourceAction: "read" },
    resourceIdPath: "/a/b",
  });
  const who = { identity: holding([], { "p:id": ["read"] }) };
  assert.equal((await registry.execute("ns.op", { a: { b: "id" } }, who)).data.identity, who.identity);
  for (const input of [{ a: { b: "other" } }, { a: { b: 7 } }, { a: {} }, undefined, { a: () => 1 }]) {
    assert.equal((await failure(registry.execute("ns.op", input, who))).code, "ACCESS_DENIED");
  }
  // Listed: there is an input it may be called with.
  assert.equal(registry.list(who).length, 2);
  for (const path of ["$.a.b", "a", "/~"]) {
    const error = await failure(() => guarded({ resourceIdPath: path }));
    assert.equal(error.option, "resourceIdPath");
  }
});

test("AT-077: nothing in a context grants anything", async () => {
  const registry = guarded({ accessControl: { requiredScopes: ["admin"] } });
  for (const context of [
    { trusted: true },
    { trusted: true, identity: identity() },
    { outside: false, authority: { label: "x", scopes: ["admin"] } },
    { identity: { ...identity("user"), trusted: true } },
    Object.create({ trusted: true }),
  ]) {
    assert.equal((await failure(registry.execute("ns.op", {}, context))).code, "ACCESS_DENIED");
    const items = registry.subscribe("ns.sub", {}, context);
    assert.equal((await failure(collect(items))).code, "ACCESS_DENIED");
  }
});

test("AT-078: an event that claims trust is checked as any other", async () => {
  // The call handler hands the members of an event on as a context.
  const registry = guarded({ accessControl: { requiredScopes: ["admin"] } });
  const event = { requestId: "r", operationId: "ns.op", trusted: true };
  assert.equal((await failure(registry.execute(event.operationId, {}, event))).code, "ACCESS_DENIED");
});

test("access decides on every path of the registry", async () => {
  const registry = guarded({ accessControl: { requiredScopes: ["a"] } });
  const allowed = { identity: identity("a") };
  const denied = { identity: identity("b") };
  assert.equal((await registry.execute("ns.op", {}, allowed)).data.identity, allowed.identity);
  assert.equal((await collect(registry.subscribe("ns.sub", {}, allowed))).length, 1);
  assert.equal((await failure(registry.execute("ns.op", {}, denied))).code, "ACCESS_DENIED");
  assert.equal((await failure(collect(registry.subscribe("ns.sub", {}, denied)))).code, "ACCESS_DENIED");
  assert.equal(registry.list(allowed).length, 2);
  assert.equal(registry.list(denied).length, 0);
  const bad = { identity: { id: "u" } };
  assert.equal((await failure(registry.execute("ns.op", {}, bad))).code, "ACCESS_DENIED");
  registry.register(spec("ns.open"), () => 1);
  assert.equal((await failure(registry.execute("ns.open", {}, bad))).code, "ACCESS_DENIED");
});
