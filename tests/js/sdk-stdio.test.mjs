// `ToolwireStdioTransport`: clients of both lines of the official SDK over our processes, framing and
// bounds, with servers built with each line, the reference server, and servers that misbehave.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { isRunning, until } from "./support/processes.mjs";

const packageRequire = createRequire(new URL("../../pkg/package.json", import.meta.url));
const { ToolwireError, ToolwireJsonSchemaValidator, ToolwireStdioTransport } = packageRequire("toolwire/sdk");
const localRequire = createRequire(import.meta.url);

const LINES = [
  { line: "v1", Client: ClientV1 },
  { line: "v2", Client: ClientV2 },
];

const fixture = (path) => fileURLToPath(new URL(`../fixtures/${path}.mjs`, import.meta.url));

function transportOf(file, options = {}) {
  const { args = [], ...more } = options;
  return new ToolwireStdioTransport({ command: process.execPath, args: [file, ...args], ...more });
}

/** A connected client that ends with the test, and what its transport told. */
async function connected(t, Client, transport) {
  // The fixtures list a schema that does not compile, on which the first line's own validator fails.
  const jsonSchemaValidator = new ToolwireJsonSchemaValidator({ onUncompilable: "report" });
  const client = new Client({ name: "stdio-test", version: "1.0.0" }, { jsonSchemaValidator });
  const errors = [];
  let closed = 0;
  client.onerror = (error) => errors.push(error);
  client.onclose = () => {
    closed += 1;
  };
  t.after(() => client.close());
  await client.connect(transport);
  return { client, errors, closed: () => closed };
}

const textOf = ({ content }) => content[0].text;

for (const { line, Client } of LINES) {
  describe(`a client of SDK ${line}`, () => {
    for (const server of ["v1", "v2"]) {
      test(`talks to a server of SDK ${server}`, async (t) => {
        const transport = transportOf(fixture(`sdk/server-${server}`));
        const { client, errors, closed } = await connected(t, Client, transport);
        assert.ok(transport.pid > 0);
        const { tools } = await client.listTools();
        assert.equal(tools.length, 6);
        assert.equal(textOf(await client.callTool({ name: "plain" })), "plain");
        const { pid } = transport;
        await client.close();
        assert.equal(isRunning(pid), false);
        assert.equal(transport.pid, null);
        assert.equal(closed(), 1);
        assert.deepEqual(errors, []);
        await assert.rejects(client.callTool({ name: "plain" }));
      });
    }

    test("talks to the reference server", async (t) => {
      const bin = localRequire.resolve("@modelcontextprotocol/server-everything/dist/index.js");
      const { client } = await connected(t, Client, transportOf(bin, { args: ["stdio"] }));
      const echoed = await client.callTool({ name: "echo", arguments: { message: "hé" } });
      assert.match(textOf(echoed), /hé/);
    });

    test("leaves lines that are no messages out", async (t) => {
      const transport = transportOf(fixture("servers/banner"));
      const { client, errors } = await connected(t, Client, transport);
      assert.equal(textOf(await client.callTool({ name: "hello" })), "hello");
      assert.ok(transport.ignored.noise >= 3);
      assert.deepEqual(errors, []);
    });

    test("skips a line that is too long, and goes on", async (t) => {
      const transport = transportOf(fixture("servers/long-line"), { maxFrameBytes: 1_000_000 });
      const { client, errors } = await connected(t, Client, transport);
      assert.equal(textOf(await client.callTool({ name: "long_noise" })), "after the noise");
      assert.equal(transport.ignored.tooLong, 1);
      assert.equal(errors.length, 1);
      assert.equal(errors[0].reason, "frame_too_long");
      assert.equal(errors[0].limit, 1_000_000);
    });

    test("ends what the server started, in groups of their own too", async (t) => {
      const options = { args: ["group", "detached"], shutdownGraceMs: 100 };
      const { client } = await connected(t, Client, transportOf(fixture("servers/grandchild"), options));
      const family = JSON.parse(textOf(await client.callTool({ name: "family" })));
      await client.close();
      const pids = [family.server, ...family.children];
      assert.deepEqual(pids.map(isRunning), pids.map(() => false));
    });

    test("is told when the server dies, and nothing of it is left", async (t) => {
      const options = { args: ["group"], shutdownGraceMs: 100 };
      const transport = transportOf(fixture("servers/grandchild"), options);
      const { client, closed } = await connected(t, Client, transport);
      const { children } = JSON.parse(textOf(await client.callTool({ name: "family" })));
      await assert.rejects(client.callTool({ name: "die" }));
      await until(() => closed() === 1);
      assert.deepEqual(children.map(isRunning), [false]);
    });

    test("fails the one request that is answered with a malformed reply", async (t) => {
      const { client, errors } = await connected(t, Client, transportOf(fixture("servers/malformed")));
      await assert.rejects(client.callTool({ name: "neither" }), (error) => {
        assert.match(error.message, /neither result nor error/);
        assert.doesNotMatch(error.message, /s3cret/);
        return true;
      });
      assert.equal(textOf(await client.callTool({ name: "fine" })), "fine");
      assert.deepEqual(errors.map(({ reason }) => reason), ["reply_neither"]);
    });
  });
}

test("the server's environment is the chosen names and what is declared", async (t) => {
  process.env.TOOLWIRE_TEST_SECRET = "s3cret";
  t.after(() => delete process.env.TOOLWIRE_TEST_SECRET);
  const transport = transportOf(fixture("servers/environment"), { env: { DECLARED: "yes" } });
  const { client } = await connected(t, ClientV1, transport);
  const names = JSON.parse(textOf(await client.callTool({ name: "names" })));
  assert.ok(names.includes("PATH") && names.includes("DECLARED"));
  assert.ok(!names.includes("TOOLWIRE_TEST_SECRET"));
});

test("a command that cannot be started rejects, and says which option is to blame", async () => {
  const client = new ClientV1({ name: "stdio-test", version: "1.0.0" });
  const transport = new ToolwireStdioTransport({ command: "toolwire-there-is-no-such-program" });
  await assert.rejects(client.connect(transport), (error) => {
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.code, "spawn_failed");
    assert.equal(error.option, "command");
    return true;
  });
});

test("options are checked when it is made", () => {
  for (const [options, option] of [
    [undefined, "server"],
    [{}, "command"],
    [{ command: "node", args: [1] }, "args"],
    [{ command: "node", maxFrameBytes: "1" }, "maxFrameBytes"],
    [{ command: "node", maxOutboundFrameBytes: {} }, "maxOutboundFrameBytes"],
  ]) {
    assert.throws(() => new ToolwireStdioTransport(options), { name: "ToolwireError", option });
  }
});

test("what cannot be sent rejects, and the transport goes on", async (t) => {
  const transport = transportOf(fixture("servers/well-behaved"), { maxOutboundFrameBytes: 1_000 });
  await assert.rejects(transport.send({}), { code: "connection_closed" });
  const { client } = await connected(t, ClientV1, transport);
  await assert.rejects(transport.send({ method: "m", params: { text: "x".repeat(1_000) } }), {
    code: "limit",
    reason: "outbound_frame_too_long",
    limit: 1_000,
  });
  await assert.rejects(transport.send({ big: 1n }), { code: "protocol_error", reason: "args_not_json" });
  await assert.rejects(transport.start(), { code: "invalid_arguments", reason: "already_started" });
  assert.ok((await client.listTools()).tools.length > 0);
  await client.close();
  await assert.rejects(transport.send({}), { code: "connection_closed" });
});

test("raw bytes of stderr reach the host that asks for them", async (t) => {
  const chunks = [];
  const stderr = (chunk) => {
    chunks.push(chunk);
    throw new Error("the host's own affair");
  };
  const transport = transportOf(fixture("servers/environment"), { stderr });
  await connected(t, ClientV2, transport);
  await until(() => Buffer.concat(chunks).includes("ready"));
});
