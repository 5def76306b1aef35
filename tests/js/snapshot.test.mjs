// Copying a host's value as JSON text: rows R22 to R26.
import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { toolwire } from "./support/toolwire.mjs";

const { ToolwireError, snapshotJson } = toolwire;

function refusal(value, options) {
  try {
    snapshotJson(value, options);
  } catch (error) {
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.code, "protocol_error");
    const { reason, path } = error.private.reveal();
    return { why: error.reason, reason, path };
  }
  return undefined;
}

function refused(value, reason, path, options) {
  assert.deepEqual(refusal(value, options), { why: "args_not_json", reason, path });
}

test("plain data is written as JSON.stringify writes it", () => {
  for (const value of [
    {},
    { a: [1, -0, 1.5e300, true, null, "é\"\\\n\u2028\ud800"], b: { 2: 1, 1: 2, c: [] } },
    JSON.parse('{"__proto__":{"a":1},"constructor":2}'),
    Object.assign(Object.create(null), { ok: true }),
  ]) {
    assert.equal(snapshotJson(value), JSON.stringify(value));
  }
});

test("what is not JSON is refused by name and place", () => {
  refused({ v: [1, undefined] }, "undefined", "arguments.v[1]");
  refused({ v: NaN }, "non_finite", "arguments.v");
  refused({ v: 1n }, "bigint", "arguments.v");
  refused({ v: { w: () => 1 } }, "function", "arguments.v.w");
  refused({ v: Symbol("s") }, "symbol", "arguments.v");
  refused({ v: new Date(0) }, "prototype", "arguments.v");
  refused({ v: Object.create({}) }, "prototype", "arguments.v");
  refused({ v: { [Symbol("k")]: 1 } }, "symbol_key", "arguments.v");
  refused(vm.runInNewContext("({})"), "prototype", "arguments");
  refused(undefined, "undefined", "arguments");
});

test("a cycle is found at any depth, and what is there twice is none", () => {
  for (let depth = 1; depth <= 20; depth += 1) {
    for (let back = 0; back < depth; back += 1) {
      const nested = [{}];
      for (let level = 1; level < depth; level += 1) {
        nested.push({});
        nested[level - 1].v = nested[level];
      }
      nested[depth - 1].v = nested[back];
      refused(nested[0], "cycle", `arguments${".v".repeat(depth)}`);
      const shared = { leaf: [] };
      nested[depth - 1].v = [shared, shared];
      nested[depth - 1].w = shared;
      assert.equal(snapshotJson(nested[0]), JSON.stringify(nested[0]));
    }
  }
});

test("a text of many parts is whole", () => {
  for (let count = 1; count < 400; count += 37) {
    const value = { rows: Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}` })) };
    assert.equal(snapshotJson(value), JSON.stringify(value));
  }
});

test("an array of another realm is an array", () => {
  assert.equal(snapshotJson({ v: vm.runInNewContext("[1]") }), '{"v":[1]}');
});

test("holes are undefined, never what a prototype holds", () => {
  const prototype = Object.create(Array.prototype, { 0: { value: "inherited" } });
  refused({ v: Object.setPrototypeOf(new Array(1), prototype) }, "undefined", "arguments.v[0]");
});

test("no code of the value runs", () => {
  let ran = 0;
  const run = () => {
    ran += 1;
    return 1;
  };
  refused(Object.defineProperty({}, "lazy", { get: run, enumerable: true }), "accessor", "arguments.lazy");
  refused({ v: Object.defineProperty([1], 0, { get: run }) }, "accessor", "arguments.v[0]");
  refused({ toJSON: run }, "function", "arguments.toJSON");
  assert.equal(snapshotJson(Object.defineProperty({ a: 1 }, "h", { get: run })), '{"a":1}');
  Object.defineProperty(Object.prototype, "toJSON", { value: run, configurable: true });
  try {
    assert.equal(snapshotJson({ a: ["x"] }), '{"a":["x"]}');
  } finally {
    delete Object.prototype.toJSON;
  }
  assert.equal(ran, 0);
});

test("proxies that throw or lie are refused or read once", () => {
  const fail = () => {
    throw new Error("trap");
  };
  for (const trap of ["ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"]) {
    refused({ v: new Proxy({ a: 1 }, { [trap]: fail }) }, "threw_when_read", "arguments.v");
  }
  refused({ v: new Proxy([1], { get: fail }) }, "threw_when_read", "arguments.v");
  refused(
    { v: new Proxy([1], { getOwnPropertyDescriptor: fail }) },
    "threw_when_read",
    "arguments.v[0]",
  );
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  refused({ v: proxy }, "threw_when_read", "arguments.v");
  for (const length of ["x", -1, 1.5, 2 ** 32, NaN, undefined]) {
    const lying = new Proxy([], { get: (target, key) => (key === "length" ? length : target[key]) });
    refused({ v: lying }, "threw_when_read", "arguments.v");
  }
  let listings = 0;
  const once = new Proxy(
    { a: 1 },
    {
      ownKeys: (target) => {
        listings += 1;
        if (listings > 1) {
          fail();
        }
        return [...Reflect.ownKeys(target), "gone"];
      },
    },
  );
  assert.equal(snapshotJson({ v: once }), '{"v":{"a":1}}');
  const vanishing = Symbol("vanishing");
  const symbol = new Proxy({ a: 1 }, { ownKeys: () => ["a", vanishing] });
  assert.equal(snapshotJson({ v: symbol }), '{"v":{"a":1}}');
});

test("each property is asked for once", () => {
  let reads = 0;
  const rows = Array.from({ length: 100 }, (_, id) => ({ id }));
  const counted = new Proxy(rows, {
    getOwnPropertyDescriptor: (target, key) => {
      reads += 1;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
  snapshotJson({ v: counted });
  assert.equal(reads, 100);
});

test("cycles are refused, sharing is not", () => {
  const shared = { a: 1 };
  assert.equal(snapshotJson({ x: shared, y: [shared] }), '{"x":{"a":1},"y":[{"a":1}]}');
  const cycle = { list: [] };
  cycle.list.push(cycle);
  refused(cycle, "cycle", "arguments.list[0]");
});

test("nesting is bounded and costs no stack", () => {
  const nested = (levels) => {
    let value = {};
    for (let level = 1; level < levels; level += 1) {
      value = { v: value };
    }
    return value;
  };
  assert.equal(snapshotJson(nested(126)).length, 126 * 6 - 4);
  assert.equal(refusal(nested(127)).reason, "depth");
  assert.equal(refusal(nested(10_000)).reason, "depth");
});

test("the budget is spent before anything is read", () => {
  const costs = [
    [{}, 2],
    [{ a: 1 }, 2 + 4 + 1],
    [{ a: 1, bc: null }, 2 + 4 + 1 + 6 + 4],
    [{ a: "é" }, 2 + 4 + 3],
    [{ a: [true, false] }, 2 + 4 + 2 + 1 + 4 + 5],
    [{ a: [] }, 2 + 4 + 2],
  ];
  for (const [value, cost] of costs) {
    assert.equal(snapshotJson(value, { maxBytes: cost }), JSON.stringify(value));
    assert.equal(refusal(value, { maxBytes: cost - 1 }).reason, "expansion_budget");
  }
  // Before its kind: undefined costs two.
  assert.equal(refusal({ a: undefined }, { maxBytes: 7 }).reason, "expansion_budget");
  assert.equal(refusal({ a: undefined }, { maxBytes: 8 }).reason, "undefined");
  // A claimed length is paid before its elements are looked at.
  assert.equal(refusal({ a: new Array(4_294_967_295) }).reason, "expansion_budget");
  // Sharing pays each time it occurs.
  let doubling = { value: "x".repeat(128) };
  for (let level = 0; level < 40; level += 1) {
    doubling = { left: doubling, right: doubling };
  }
  assert.equal(refusal(doubling).reason, "expansion_budget");
});

test("the root must be an object, which is said after everything else", () => {
  for (const root of [null, [], "text", 42, true]) {
    assert.equal(refusal(root).why, "args_root_not_object");
  }
  refused([undefined], "undefined", "arguments[0]");
  assert.equal(snapshotJson([1], { root: "any" }), "[1]");
});

test("undefined members and bigints pass on request", () => {
  const options = { undefinedMembers: "omit", bigint: "digits" };
  const value = { a: undefined, b: 9007199254740993n, c: -1n };
  assert.equal(snapshotJson(value, options), '{"b":9007199254740993,"c":-1}');
  refused([undefined], "undefined", "arguments[0]", { ...options, root: "any" });
});

test("a refusal says nothing of the value", () => {
  try {
    snapshotJson({ password: new Date() });
    assert.fail("not refused");
  } catch (error) {
    assert.ok(!JSON.stringify(error).includes("password"));
    assert.ok(!error.message.includes("password"));
  }
});
