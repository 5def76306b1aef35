// After a trap of the main instance a registry is what it was.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { failure, identity, spec } from "./support/operations.mjs";
import { toolwire } from "./support/toolwire.mjs";

const require = createRequire(import.meta.url);
const { guard, mainInstance } = require("../../pkg/cjs/lib/core.cjs");

const { OperationRegistry } = toolwire;

/** Retires the main instance, as anything does that is no fault the core throws on purpose. */
function trap() {
  const attempt = () =>
    guard(mainInstance(), () => {
      throw new WebAssembly.RuntimeError("unreachable");
    });
  assert.throws(attempt, { code: "core_trapped" });
}

test("specifications, order, rules and handlers outlive a trap", async () => {
  const registry = new OperationRegistry();
  const outputSchema = { type: "object", properties: { n: { type: "integer", default: 1 } }, required: ["n"] };
  registry.register(spec("b.1", { outputSchema }), () => ({}));
  registry.register(spec("a.2", { accessControl: { requiredScopes: ["x"] } }), () => "ran");
  registry.register(spec("c.3", { inputSchema: { type: "string" } }), (input) => input);
  registry.importClient({
    server: "s",
    tools: [{ name: "odd", inputSchema: { type: "object", required: "n" } }],
    callTool: async () => ({ content: [], isError: false }),
  });
  const before = registry.list();
  trap();
  assert.deepEqual(registry.list(), before);
  assert.deepEqual(
    registry.list({ identity: identity("x") }).map(({ namespace }) => namespace),
    ["b", "a", "c"],
  );
  assert.deepEqual((await registry.execute("b.1")).data, { n: 1 });
  assert.equal((await failure(registry.execute("a.2"))).code, "ACCESS_DENIED");
  trap();
  assert.equal((await failure(registry.execute("c.3", 3))).code, "VALIDATION_ERROR");
  assert.equal((await registry.execute("c.3", "x")).data, "x");
  assert.equal((await registry.execute("s.odd", {})).meta.source, "mcp");
  trap();
  assert.equal((await failure(() => registry.register(spec("b.1")))).reason, "operation_exists");
  registry.register(spec("d.4"), () => 4);
  assert.equal((await registry.execute("d.4")).data, 4);
});

test("a trap while a call runs costs the verdict, not the registry", async () => {
  const registry = new OperationRegistry();
  registry.register(spec("ns.op", { outputSchema: { type: "integer" } }), async () => {
    trap();
    return 5;
  });
  assert.equal((await registry.execute("ns.op")).data, 5);
});
