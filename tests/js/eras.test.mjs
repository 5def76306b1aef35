// Servers of both eras in processes of their own: modern ones, legacy ones, one that dies of the
// probe, ones that answer late.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { node } from "./support/toolwire.mjs";

const { connect } = node;
const at = (path) => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));

async function connected(t, file, args = [], more = {}) {
  const diagnostics = [];
  const client = await connect({
    server: "era",
    command: process.execPath,
    args: [at(file), ...args],
    onDiagnostic: ({ code, detail }) => diagnostics.push(`${code} ${detail.reveal()}`),
    ...more,
  });
  t.after(() => client.close());
  return { client, diagnostics };
}

const textOf = ({ content }) => content[0].text;

for (const legacy of ["serve", "reject"]) {
  test(`the official SDK's server (legacy: ${legacy}) is spoken to without a handshake`, async (t) => {
    const asked = [];
    const { client, diagnostics } = await connected(t, "sdk/serve-v2.mjs", [legacy], {
      probeHedgeMs: 10_000,
      handlers: {
        "elicitation/create": (params) => {
          asked.push(params.message);
          return { action: "accept", content: { note: "é" } };
        },
      },
    });
    assert.equal(client.era, "modern");
    assert.equal(client.protocolVersion, "2026-07-28");
    assert.equal(client.serverInfo.name, "eras");
    assert.deepEqual(client.tools.map(({ name }) => name), ["zero", "ask", "grow", "where"]);
    const zero = await client.callTool("zero");
    assert.equal(zero.structuredContent, 0);
    assert.equal(zero.verdict, "valid");
    // A question in place of a result: answered, with the form's default, and sent again.
    const answer = JSON.parse(textOf(await client.callTool("ask")));
    assert.deepEqual(asked, ["How many?"]);
    assert.deepEqual(answer.asked, { action: "accept", content: { note: "é", count: 3 } });
    const prompts = await client.requestAll("prompts/list");
    assert.deepEqual(prompts.map(({ name }) => name), ["prompt-0", "prompt-1", "prompt-2"]);
    assert.deepEqual(diagnostics, []);
  });
}

test("the same server in the legacy era", async (t) => {
  const { client } = await connected(t, "sdk/serve-v2.mjs", ["serve"], { era: "legacy" });
  assert.equal(client.era, "legacy");
  assert.equal(client.protocolVersion, "2025-11-25");
  assert.equal(textOf(await client.callTool("where", { region: "x" })), "x");
});

test("the same server, asked for both at once, is spoken to as it opened the pipe last", async (t) => {
  const { client } = await connected(t, "sdk/serve-v2.mjs", ["serve", "hedged"], {
    probeHedgeMs: 1,
  });
  assert.equal(client.era, "legacy");
  assert.equal(textOf(await client.callTool("where", { region: "x" })), "x");
});

test("changes of the catalog are subscribed to", async (t) => {
  const { client } = await connected(t, "sdk/serve-v2.mjs", ["reject"]);
  const changed = new Promise((resolve) => {
    client.onNotification(({ method }) => {
      if (method === "notifications/tools/list_changed") {
        resolve();
      }
    });
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  await client.callTool("grow");
  await changed;
});

test("a legacy server of the official SDK", async (t) => {
  const { client } = await connected(t, "sdk/server-v1.mjs");
  assert.equal(client.era, "legacy");
  assert.equal(client.protocolVersion, "2025-11-25");
});

test("a server that dies of the probe is started again, once per process", async (t) => {
  const { client, diagnostics } = await connected(t, "servers/dies-on-probe.mjs");
  assert.equal(client.era, "legacy");
  assert.equal(textOf(await client.callTool("hello")), "hello");
  assert.deepEqual(diagnostics, ["transport respawn"]);
  // The next connection knows.
  const again = await connected(t, "servers/dies-on-probe.mjs");
  assert.equal(again.client.era, "legacy");
  assert.deepEqual(again.diagnostics, []);
});

test("a modern server that starts slowly is not taken for a legacy one", async (t) => {
  const { client } = await connected(t, "servers/slow-modern.mjs");
  assert.equal(client.era, "modern");
  assert.equal(textOf(await client.callTool("hello")), "hello");
  // What is known is asked for directly.
  const again = await connected(t, "servers/slow-modern.mjs");
  assert.equal(again.client.era, "modern");
});

test("a legacy server that starts slowly is served by the hedge", async (t) => {
  const { client } = await connected(t, "servers/slow-legacy.mjs", ["900"]);
  assert.equal(client.era, "legacy");
  assert.equal(textOf(await client.callTool("hello")), "hello");
});

test("a server that is silent about the probe is ready after the hedge, and known from then on", async (t) => {
  /** What the server read, as milliseconds and method. */
  const read = async () => {
    const { client } = await connected(t, "servers/slow-legacy.mjs", ["0", "silent"]);
    assert.equal(client.era, "legacy");
    const told = JSON.parse(textOf(await client.callTool("hello")));
    await client.close();
    return told;
  };
  const first = await read();
  const methods = first.map(([, method]) => method);
  assert.deepEqual(methods.slice(0, 2), ["server/discover", "initialize"]);
  // `probeTimeoutMs` is 10 s: without the hedge it would be that.
  assert.ok(first[1][0] - first[0][0] < 8_000, String(first));
  const [[, method]] = await read();
  assert.equal(method, "initialize");
});

test("modern alone means modern alone", async (t) => {
  await assert.rejects(
    connected(t, "sdk/server-v1.mjs", [], { era: "modern" }),
    { code: "protocol_error", reason: "remote", rpcCode: -32601 },
  );
  await assert.rejects(
    connected(t, "sdk/serve-v2.mjs", ["reject"], { era: "legacy" }),
    (error) => {
      assert.equal(error.reason, "init_version_unsupported");
      assert.deepEqual(error.supported, ["2026-07-28"]);
      return true;
    },
  );
});

test("a question that the handler cannot answer fails the call alone", async (t) => {
  const { client, diagnostics } = await connected(t, "sdk/serve-v2.mjs", ["reject"], {
    handlers: { "elicitation/create": () => ({ action: "accept", content: { count: "many" } }) },
  });
  await assert.rejects(client.callTool("ask"), { code: "protocol_error", reason: "input_refused" });
  assert.equal(diagnostics.length, 1);
  assert.match(diagnostics[0], /^invalid_arguments .*"\/count"/);
  assert.equal((await client.callTool("zero")).structuredContent, 0);
});

test("a question that the client did not offer to answer fails the call alone", async (t) => {
  const { client } = await connected(t, "sdk/serve-v2.mjs", ["reject"]);
  // The server looks at what the client declares, and says -32021.
  await assert.rejects(client.callTool("ask"), { code: "tool_failed", rpcCode: -32021 });
  assert.equal((await client.callTool("zero")).structuredContent, 0);
});
