// Errors, what they show, and what they keep to themselves.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import vm from "node:vm";
import { toolwire } from "./support/toolwire.mjs";

const { Redacted, ToolwireError, explain } = toolwire;

const SECRET = "what the peer wrote";

function everyRendering(value) {
  return [
    String(value),
    `${value}`,
    JSON.stringify(value),
    JSON.stringify({ value }),
    inspect(value),
    inspect(value, { showHidden: true, depth: 9 }),
    inspect({ nested: [value] }, { depth: 9 }),
    Object.prototype.toString.call(value),
    JSON.stringify(Object.entries(value)),
    JSON.stringify(structuredClone(value) ?? null),
  ];
}

test("a redacted value shows itself to reveal() alone", () => {
  const box = new Redacted(SECRET);
  assert.equal(box.reveal(), SECRET);
  for (const rendering of everyRendering(box)) {
    assert.ok(!rendering.includes(SECRET), rendering);
  }
  assert.equal(String(box), "<redacted>");
  assert.equal(box + "", "<redacted>");
  assert.equal(`${box}`, "<redacted>");
  assert.equal(JSON.stringify(box), '"<redacted>"');
  assert.equal(inspect(box), "<redacted>");
  assert.deepEqual(Reflect.ownKeys(box), []);
  assert.ok(Number.isNaN(Number(box)));
});

test("an error is made of what it is given", () => {
  const error = new ToolwireError({ code: "timeout", message: "No answer", server: "s", ms: 5 });
  assert.equal(error.name, "ToolwireError");
  assert.equal(error.message, "No answer");
  assert.equal(error.retryable, false);
  assert.ok(error instanceof Error);
  assert.ok(error instanceof ToolwireError);
  assert.match(error.stack, /^ToolwireError: No answer\n/);
  assert.deepEqual({ ...error }, { code: "timeout", server: "s", retryable: false, ms: 5 });
  assert.deepEqual(error.toJSON(), {
    name: "ToolwireError",
    message: "No answer",
    code: "timeout",
    server: "s",
    retryable: false,
    ms: 5,
  });
});

test("an error crosses threads as JSON", () => {
  const error = new ToolwireError({
    code: "tool_failed",
    message: "m",
    reason: "remote",
    rpcCode: -32000,
    retryable: true,
    private: { stderr: SECRET },
  });
  const copy = ToolwireError.fromJSON(JSON.parse(JSON.stringify(error)));
  assert.ok(copy instanceof ToolwireError);
  assert.deepEqual(copy.toJSON(), error.toJSON());
  assert.equal(copy.private, undefined);
});

test("private details are not shown", () => {
  const error = new ToolwireError({ code: "tool_failed", message: "m", private: { text: SECRET } });
  assert.deepEqual(error.private.reveal(), { text: SECRET });
  assert.ok(!Object.keys(error).includes("private"));
  for (const rendering of [...everyRendering(error), error.stack, error.message]) {
    assert.ok(!rendering.includes(SECRET), rendering);
  }
});

test("copies and realms recognise each other's errors, and nothing else", () => {
  const brand = Symbol.for("toolwire.error");
  const foreign = vm.runInNewContext(`({ [brand]: true })`, { brand });
  assert.ok(foreign instanceof ToolwireError);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const other of [new Error("x"), {}, null, undefined, 1, "ToolwireError", proxy]) {
    assert.ok(!(other instanceof ToolwireError));
    assert.ok(!(other instanceof Redacted));
  }
  class Special extends ToolwireError {}
  assert.ok(!(new ToolwireError({ code: "limit" }) instanceof Special));
  assert.ok(new Special({ code: "limit" }) instanceof ToolwireError);
});

test("a human is told what helps, and the terminal is not steered", () => {
  const error = new ToolwireError({
    code: "connection_closed",
    reason: "exited",
    message: 'The process of MCP server "s" exited with code 3',
    exitCode: 3,
    private: { stderr: "no\u001b[2Jsuch\u202e file\nbye\n" },
  });
  assert.equal(
    explain(error),
    [
      'The process of MCP server "s" exited with code 3',
      "exit code: 3",
      "stderr:",
      "  no\ufffd[2Jsuch\ufffd file",
      "  bye",
      "hint: Run the server's command by hand to see why it ends.",
    ].join("\n"),
  );
  const schema = new ToolwireError({ code: "schema_error", reason: "not_a_schema", at: "/a" });
  assert.match(explain(schema), /at: \/a/);
  assert.equal(explain(new TypeError("plain")), "TypeError: plain");
});
