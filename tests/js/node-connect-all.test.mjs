// `connectAll`: several servers at the same time, some of which do not answer (row R85).
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNothingRuns, options, textOf, timed } from "./support/servers.mjs";
import { node } from "./support/toolwire.mjs";

const { connectAll, parseConfig } = node;

test.after(assertNothingRuns);

const good = (server, extra) => ({ ...options("well-behaved", extra), server });
const bad = (server, extra) => ({ ...options("exits-at-once", extra), server });
const absent = (server) => ({ server, command: "no-such-program-anywhere", args: [] });

test("who answers is handed out, who does not is listed, both in order", async () => {
  const { clients, failures } = await connectAll([bad("a"), good("b"), absent("c"), good("d")]);
  assert.deepEqual(
    clients.map((client) => client.server),
    ["b", "d"],
  );
  assert.deepEqual(
    failures.map(({ server, error }) => [server, error.server, error.code]),
    [
      ["a", "a", "connection_closed"],
      ["c", "c", "spawn_failed"],
    ],
  );
  assert.equal(textOf(await clients[0].callTool("word_count", { text: "a b" })), "2");
  await Promise.all(clients.map((client) => client.close()));
  await assertNothingRuns();
});

test("nobody waits for anybody", async () => {
  const { value, ms } = await timed(() =>
    connectAll(
      Array.from({ length: 4 }, (_, index) => ({ ...options("hangs"), server: String(index) })),
      { onFailure: "collect", signal: AbortSignal.timeout(500) },
    ),
  );
  assert.equal(value.failures.length, 4);
  assert.ok(ms < 3000, `${ms} ms`);
  await assertNothingRuns();
});

test("stop: all or none", async () => {
  const entries = [good("a"), { ...options("hangs"), server: "b" }, bad("c")];
  const { error, ms } = await timed(() => connectAll(entries, { onFailure: "stop" }));
  assert.equal(error.server, "c");
  assert.equal(error.exitCode, 3);
  assert.ok(ms < 6000, `${ms} ms`);
  await assertNothingRuns();

  const { clients, failures } = await connectAll([good("a"), good("b")], { onFailure: "stop" });
  assert.deepEqual(failures, []);
  assert.equal(clients.length, 2);
  await Promise.all(clients.map((client) => client.close()));
  await assertNothingRuns();
});

test("stop: an abort ends them all", async () => {
  const hang = { ...options("hangs"), server: "a" };
  for (const signal of [AbortSignal.abort(), AbortSignal.timeout(200)]) {
    await assert.rejects(connectAll([hang, good("b")], { onFailure: "stop", signal }), {
      code: "aborted",
    });
    await assertNothingRuns();
  }
});

test("stop: a selection that cannot be made is a failure", async () => {
  const stop = { onFailure: "stop" };
  await assert.rejects(connectAll([{ ...good("a"), include: ["no_such_tool"] }], stop), {
    code: "tool_not_found",
    reason: "include_missing",
  });
  await assert.rejects(connectAll([{ ...good("a"), namePrefix: "" }], stop), {
    code: "protocol_error",
    reason: "empty_name_prefix",
  });
  await assertNothingRuns();
  const { clients } = await connectAll(
    [{ ...good("a"), include: ["explode"], exclude: ["x"] }],
    stop,
  );
  await clients[0].close();
});

test("the entries of a configuration can be connected to as they are", async () => {
  const { command, args } = options("well-behaved");
  const entries = parseConfig(JSON.stringify({ mcpServers: { one: { command, args } } }));
  const { clients } = await connectAll(entries);
  assert.equal(clients[0].server, "one");
  await clients[0].close();
});

test("entries and options that are none are typed failures", async () => {
  const { failures } = await connectAll([undefined, {}, { server: "h", url: "ftp://h.test/" }]);
  assert.deepEqual(
    failures.map(({ error }) => [error.code, error.option]),
    [
      ["protocol_error", "server"],
      ["protocol_error", "server"],
      ["protocol_error", "url"],
    ],
  );
  await assert.rejects(connectAll([], { onFailure: "ignore" }), { option: "onFailure" });
  assert.deepEqual(await connectAll([]), { clients: [], failures: [] });
});
