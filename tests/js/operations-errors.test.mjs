// Call errors: what anything thrown becomes, and that it always crosses a wire.
import assert from "node:assert/strict";
import { createContext, runInContext } from "node:vm";
import { test } from "node:test";
import { toolwire } from "./support/toolwire.mjs";

const { CallError, ToolwireError, mapError } = toolwire;

const declared = (...codes) => codes.map((code) => ({ code, description: "d", schema: {} }));

test("AT-104: a call error stays the same object, with its values", () => {
  const error = new CallError({ code: "X", message: "m", details: { k: 1 } });
  assert.equal(mapError(error, declared("m")), error);
  assert.deepEqual({ ...error }, { code: "X", retryable: false, details: { k: 1 } });
  assert.equal(error.message, "m");
  assert.equal(error.name, "CallError");
  assert.deepEqual(new CallError("X", "m", { k: 1 }, true).toJSON(), {
    code: "X",
    message: "m",
    retryable: true,
    details: { k: 1 },
  });
});

for (const [id, message, codes, code] of [
  ["AT-105", "NOT_FOUND: gone", ["NOT_FOUND"], "NOT_FOUND"],
  ["AT-106", "NOT_FOUND", ["NOT_FOUND"], "NOT_FOUND"],
  ["AT-107", "ITEM_NOT_FOUND: x", ["NOT_FOUND"], "EXECUTION_ERROR"],
  ["A-31, declaration order", "A:B: x", ["A:B", "A"], "A:B"],
  ["A-31, declaration order", "A:B: x", ["A", "A:B"], "A"],
]) {
  test(`${id}: an exception named "${message}" reads ${code}`, () => {
    const error = mapError(new Error(message), declared(...codes));
    assert.ok(error instanceof CallError);
    assert.deepEqual([error.code, error.message, error.retryable], [code, message, false]);
    assert.equal(error.cause.message, message);
  });
}

test("AT-108: the details of an exception are JSON", () => {
  const error = mapError(new TypeError("boom"));
  assert.deepEqual(JSON.parse(JSON.stringify(error)), {
    code: "EXECUTION_ERROR",
    message: "boom",
    retryable: false,
    details: { name: "TypeError" },
  });
  assert.equal(mapError(new Error("TIMEOUT: slow"), declared("TIMEOUT")).retryable, true);
  const own = mapError(Object.assign(new Error("E: x"), { details: { id: 7n } }), declared("E"));
  assert.deepEqual(own.toJSON().details, { id: "7" });
});

test("AT-109: what is no error is UNKNOWN_ERROR", () => {
  for (const [thrown, message, raw] of [
    [42, "42", "42"],
    ["text", "text", "text"],
    [undefined, "undefined", "undefined"],
    [null, "null", "null"],
    [Symbol("s"), "Symbol(s)", "Symbol(s)"],
    [{ code: "X" }, "[object Object]", "[object Object]"],
  ]) {
    const error = mapError(thrown, declared("X", "text"));
    assert.deepEqual(error.toJSON(), {
      code: "UNKNOWN_ERROR",
      message,
      retryable: false,
      details: { raw },
    });
  }
});

test("AT-111: without details there is no such member", () => {
  const error = new CallError({ code: "INTERNAL", message: "boom", retryable: false });
  assert.equal(
    JSON.stringify(error),
    '{"code":"INTERNAL","message":"boom","retryable":false}',
  );
});

test("AT-112: whether a retry can help follows from the code, unless it is said", () => {
  for (const code of [
    ...["NOT_FOUND", "FORBIDDEN", "INVALID_INPUT", "INTERNAL", "INVALID_OPERATION_TYPE"],
    ...["OPERATION_NOT_FOUND", "ACCESS_DENIED", "VALIDATION_ERROR", "ABORTED"],
    ...["EXECUTION_ERROR", "UNKNOWN_ERROR", "LIMIT", "ANYTHING"],
  ]) {
    assert.equal(new CallError({ code, message: "" }).retryable, false, code);
  }
  assert.equal(new CallError({ code: "TIMEOUT", message: "" }).retryable, true);
  assert.equal(new CallError({ code: "TIMEOUT", message: "", retryable: false }).retryable, false);
  assert.equal(new CallError({ code: "BUSY", message: "", retryable: true }).retryable, true);
});

test("AT-365: the codes that any call may end with", () => {
  assert.deepEqual(CallError.codes, [
    "OPERATION_NOT_FOUND",
    "ACCESS_DENIED",
    "VALIDATION_ERROR",
    "TIMEOUT",
    "ABORTED",
    "EXECUTION_ERROR",
    "UNKNOWN_ERROR",
  ]);
});

test("details are JSON whatever is given", () => {
  const cycle = { a: 1 };
  cycle.self = cycle;
  for (const [given, expected] of [
    [{ at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    [{ big: 12345678901234567890n }, { big: "12345678901234567890" }],
    [{ error: new RangeError("r") }, { error: { name: "RangeError", message: "r" } }],
    [{ f() {}, u: undefined, n: NaN }, { n: null }],
    [new Error("e"), { name: "Error", message: "e" }],
    [cycle, "[object Object]"],
    [() => 1, "() => 1"],
    [null, null],
    [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
  ]) {
    const error = new CallError({ code: "X", message: "", details: given });
    assert.deepEqual(error.details, expected);
    assert.deepEqual(JSON.parse(JSON.stringify(error)).details, expected);
  }
  const given = { list: [1] };
  const error = new CallError({ code: "X", message: "", details: given });
  given.list.push(2);
  assert.deepEqual(error.details, { list: [1] });
});

test("errors of sessions become errors of calls", () => {
  for (const [init, code, retryable, details] of [
    [{ code: "timeout", reason: "deadline", ms: 5 }, "TIMEOUT", true, { reason: "deadline", ms: 5 }],
    [{ code: "connection_closed", reason: "exited" }, "EXECUTION_ERROR", false],
    [{ code: "connection_closed", retryable: true }, "EXECUTION_ERROR", true],
    [{ code: "spawn_failed", retryable: true }, "EXECUTION_ERROR", true],
    [{ code: "tool_failed", rpcCode: -32602 }, "EXECUTION_ERROR", false, { rpcCode: -32602 }],
    [{ code: "tool_not_found" }, "EXECUTION_ERROR", false],
    [{ code: "invalid_response" }, "EXECUTION_ERROR", false],
    [{ code: "invalid_arguments", reason: "arguments_rejected" }, "VALIDATION_ERROR", false],
    [{ code: "aborted" }, "ABORTED", false],
    [{ code: "core_trapped" }, "EXECUTION_ERROR", false],
  ]) {
    const theirs = new ToolwireError({ message: "m", server: "s", private: { secret: 1 }, ...init });
    const error = mapError(theirs, declared("m"));
    assert.deepEqual([error.code, error.message, error.retryable], [code, "m", retryable]);
    assert.equal(error.details.code, init.code);
    assert.equal(error.details.server, "s");
    assert.equal("private" in error.details, false);
    for (const [name, value] of Object.entries(details ?? {})) {
      assert.equal(error.details[name], value);
    }
    assert.equal(error.cause, theirs);
  }
});

test("call errors cross realms, copies and threads", () => {
  const error = new CallError({ code: "X", message: "m", retryable: true, details: [1] });
  const copy = CallError.fromJSON(JSON.parse(JSON.stringify(error)));
  assert.deepEqual(copy.toJSON(), error.toJSON());
  assert.ok(copy instanceof CallError && copy instanceof Error);
  const foreign = runInContext(
    `Object.assign(new Error("m"), {
      code: "X", retryable: true, details: [1], [Symbol.for("toolwire.call-error")]: true,
    })`,
    createContext({}),
  );
  assert.ok(foreign instanceof CallError);
  assert.deepEqual(mapError(foreign).toJSON(), error.toJSON());
  const other = runInContext(`new RangeError("E: x")`, createContext({}));
  assert.equal(mapError(other, declared("E")).code, "E");
  class Mine extends CallError {}
  assert.equal(error instanceof Mine, false);
  assert.ok(new Mine({ code: "X", message: "" }) instanceof CallError);
});

test("hostile values become call errors too", () => {
  const traps = new Proxy(
    {},
    {
      get() {
        throw new Error("no");
      },
    },
  );
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const throwing = { toString: () => JSON.parse("{") };
  const getters = Object.defineProperty(new Error(""), "message", {
    get() {
      throw new Error("no");
    },
  });
  const yes = new Proxy({}, { get: () => true });
  for (const [hostile, code] of [
    [traps, "UNKNOWN_ERROR"],
    [proxy, "UNKNOWN_ERROR"],
    [throwing, "UNKNOWN_ERROR"],
    [Object.create(null), "UNKNOWN_ERROR"],
    [getters, "EXECUTION_ERROR"],
    [yes, "true"],
  ]) {
    const error = mapError(hostile, [traps, null, { code: 3 }]);
    assert.equal(error.code, code);
    assert.equal(typeof error.message, "string");
    assert.equal(typeof JSON.stringify(error), "string");
  }
});

test("vast and sparse arrays are neither copied nor joined", { timeout: 20_000 }, () => {
  const sparse = [, , , 1];
  sparse.length = 2 ** 32 - 1;
  const half = new Array(2 ** 28);
  let doubled = ["x"];
  for (let level = 0; level < 40; level += 1) {
    doubled = [doubled, doubled];
  }
  for (const value of [sparse, half, doubled, [[half]]]) {
    const thrown = mapError(value);
    assert.equal(thrown.code, "UNKNOWN_ERROR");
    assert.ok(thrown.message.length < 100);
    assert.deepEqual(thrown.details, { raw: thrown.message });
    const given = new CallError({ code: "X", details: value });
    assert.ok(JSON.stringify(given.toJSON()).length < 200);
    assert.ok(JSON.stringify(new CallError({ code: "X", details: { value, f() {} } })).length < 200);
  }
  assert.equal(mapError([1, [2, 3]]).message, "1,2,3");
  assert.deepEqual(new CallError({ code: "X", details: [1, , undefined] }).details, [1, null, null]);
});
