// The tools of an MCP server as operations of a registry.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer, rpcError } from "./support/memory-server.mjs";
import { failure, identity, spec } from "./support/operations.mjs";
import { node, toolwire } from "./support/toolwire.mjs";

const { CallError, OperationRegistry, ToolwireError, buildEnv, connectStreams } = toolwire;

const ANY = { type: "object" };
const ids = (registry, options) =>
  registry.list(options).map(({ namespace, name }) => `${namespace}.${name}`);

/** A registry with the tools of a server in this process. */
async function imported(settings, options, more) {
  const server = new MemoryServer(settings);
  const client = await connectStreams(server.options(more));
  const registry = new OperationRegistry();
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  const names = registry.importClient(client, options);
  return { server, client, registry, warnings, names };
}

/** A client that is only what an import needs. */
function fakeClient(tools, callTool = async () => assert.fail("called")) {
  const listeners = new Set();
  let close;
  const closed = new Promise((resolve) => {
    close = resolve;
  });
  return {
    server: "fake",
    tools,
    callTool,
    closed,
    close,
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(next) {
      this.tools = next;
      for (const listener of listeners) {
        listener({ tools: next });
      }
    },
    listeners,
  };
}

const tool = (name, more = {}) => ({ name, inputSchema: ANY, ...more });

test("AT-269, AT-270: all pages are read", async () => {
  const pages = [["a", "b"], ["c"], ["d"]];
  let page = 0;
  const catalog = () => {
    const tools = pages[page].map((name) => tool(name));
    page += 1;
    return page < pages.length ? { tools, nextCursor: `p${page}` } : { tools };
  };
  const { client, registry, names } = await imported({ tools: catalog });
  assert.deepEqual(names, ["memory.a", "memory.b", "memory.c", "memory.d"]);
  assert.deepEqual(ids(registry), names);
  await client.close();
});

test("AT-271: a catalog without end is bounded before there is anything to import", async () => {
  const tools = () => ({ tools: [tool("a")], nextCursor: "a" });
  let page = 0;
  const server = new MemoryServer({
    tools: () => ({ tools: [tool(`t${(page += 1)}`)], nextCursor: "a" }),
  });
  // The strict profile fails the connection; contain imports what it read, once.
  const strict = await failure(connectStreams(server.options({ profile: "strict" })));
  assert.equal(strict.reason, "cursor_repeated");
  const { client, names } = await imported({ tools });
  assert.deepEqual(names, ["memory.a"]);
  await client.close();
});

test("AT-272 to AT-275: names that would be lost are refused, the others stand", () => {
  const registry = new OperationRegistry();
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  const names = ["a/b", "", "a b", "  padded ", "good", "padded", "a.b"];
  const taken = registry.importClient(fakeClient(names.map((name) => tool(name))));
  assert.deepEqual(taken, ["fake.good", "fake.padded", "fake.a.b"]);
  assert.deepEqual(
    warnings.map(({ type, server, tool: name }) => [type, server, name]),
    ["a/b", "", "a b", "  padded "].map((name) => ["import", "fake", name]),
  );
  for (const { error } of warnings) {
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.reason, "tool_name_forbidden");
    assert.ok(!error.message.includes("padded"));
  }
});

test("AT-277: a tool becomes a hidden mutation with its schemas", async () => {
  const get = tool("get", {
    title: "Get",
    description: "Gets",
    outputSchema: ANY,
    annotations: { readOnlyHint: true },
    _meta: { a: 1 },
  });
  const { client, registry, names } = await imported({ tools: [get] }, { namespace: "w" });
  assert.deepEqual(names, ["w.get"]);
  const shown = registry.getSpec("w.get");
  assert.deepEqual(shown, {
    namespace: "w",
    name: "get",
    version: "1",
    type: "mutation",
    title: "Get",
    description: "Gets",
    inputSchema: ANY,
    outputSchema: ANY,
    annotations: { readOnlyHint: true },
    _meta: { a: 1 },
    errorSchemas: shown.errorSchemas,
    visibility: "internal",
    accessControl: { requiredScopes: [] },
  });
  // DESIGN.md 6.4 names the codes.
  assert.deepEqual(shown.errorSchemas.map(({ code }) => code), ["EXECUTION_ERROR", "TIMEOUT"]);
  assert.deepEqual(ids(registry, { identity: identity("all") }), []);
  await client.close();
});

test("AT-280: without an output schema the output is unknown", async () => {
  const { client, registry } = await imported({ tools: [tool("t")] });
  assert.equal("outputSchema" in registry.getSpec("memory.t"), false);
  await client.close();
});

for (const [id, result, data, meta] of [
  [
    "AT-281",
    { content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } },
    { a: 1 },
    { isError: false, content: [{ type: "text", text: "x" }], structuredContent: { a: 1 } },
  ],
  ["AT-283", { content: [], isError: false }, [], { isError: false, content: [] }],
  // DESIGN.md 6.4: an envelope, not an exception.
  ["AT-286", { content: [], isError: true }, [], { isError: true, content: [] }],
  [
    "AT-287",
    { content: [], isError: true, structuredContent: { code: "E1" }, _meta: { m: 1 } },
    { code: "E1" },
    { isError: true, content: [], structuredContent: { code: "E1" }, _meta: { m: 1 } },
  ],
]) {
  test(`${id}: a result becomes an envelope`, async () => {
    const answer = ({ method }) => (method === "tools/call" ? result : undefined);
    const { client, registry, warnings } = await imported({ tools: [tool("t")], answer });
    const envelope = await registry.execute("memory.t", {});
    assert.deepEqual(envelope, { data, meta: { source: "mcp", ...meta } });
    assert.ok(toolwire.isResponseEnvelope(envelope));
    assert.deepEqual(warnings, []);
    await client.close();
  });
}

test("AT-289, AT-290: failures of the server are failures of the call", async () => {
  const answer = ({ method, params }, server) => {
    if (method === "tools/call") {
      if (params.name === "refuses") {
        return rpcError(-32602, "REMOTE", 1);
      }
      server.pipe.end();
    }
  };
  const tools = [tool("refuses"), tool("dies")];
  const { registry } = await imported({ tools, answer });
  const refused = await failure(registry.execute("memory.refuses", {}));
  assert.ok(refused instanceof CallError);
  assert.deepEqual([refused.code, refused.retryable], ["EXECUTION_ERROR", false]);
  assert.equal(refused.details.rpcCode, -32602);
  assert.ok(!JSON.stringify(refused).includes("REMOTE"));
  const dead = await failure(registry.execute("memory.dies", {}));
  // It was sent: whether it was done is not known.
  assert.deepEqual([dead.code, dead.retryable], ["EXECUTION_ERROR", false]);
  assert.equal(dead.details.code, "connection_closed");
});

test("AT-299: blocks arrive as the server wrote them, as far as a result may hold them", async () => {
  // A session drops a block without what its type needs (DESIGN.md 6.2), so nothing is made up.
  const content = [{ type: "resource" }, { type: "text", text: "kept" }];
  const answer = ({ method }) => (method === "tools/call" ? { content } : undefined);
  const { client, registry } = await imported({ tools: [tool("t")], answer });
  assert.deepEqual((await registry.execute("memory.t", {})).data, [content[1]]);
  await client.close();
});

test("AT-385: a server that cannot be reached is a typed failure before there is a client", async () => {
  const error = await failure(node.connect({ server: "none", command: "/nowhere/at/all" }));
  assert.ok(error instanceof ToolwireError);
  assert.equal(error.code, "spawn_failed");
  const registry = new OperationRegistry();
  for (const client of [undefined, {}, { callTool() {} }, { tools: [] }]) {
    assert.equal((await failure(() => registry.importClient(client))).option, "client");
  }
});

test("AT-386: importing again takes the place of the first, and the client is closed by its owner", async () => {
  const registry = new OperationRegistry();
  const first = fakeClient([tool("a"), tool("b")]);
  assert.deepEqual(registry.importClient(first), ["fake.a", "fake.b"]);
  assert.deepEqual(registry.importClient(first, { exclude: ["a"] }), ["fake.b"]);
  assert.deepEqual(ids(registry), ["fake.b"]);
  assert.equal(first.listeners.size, 1);
  // Another server of that name stays out while the first is connected, and takes over after.
  const second = fakeClient([tool("b"), tool("c")]);
  assert.deepEqual(registry.importClient(second), ["fake.c"]);
  first.close();
  await first.closed;
  const third = fakeClient([tool("b")]);
  assert.deepEqual(registry.importClient(third), ["fake.b"]);
  assert.equal(first.listeners.size, 0);
});

test("AT-387: what a failure is follows from its code, never from digits in its words", async () => {
  const callTool = async () => {
    throw new Error("error sending request for url (http://host:4010/mcp)");
  };
  const registry = new OperationRegistry();
  registry.importClient(fakeClient([tool("t")], callTool));
  assert.equal((await failure(registry.execute("fake.t", {}))).code, "EXECUTION_ERROR");
});

test("names of servers become namespaces", async () => {
  for (const [server, options, namespace] of [
    ["a.b.c", {}, "a_b_c"],
    ["@scope/server one", {}, "@scope_server_one"],
    ["a.b", { namespace: "x-y" }, "x-y"],
  ]) {
    const registry = new OperationRegistry();
    const client = { ...fakeClient([tool("t")]), server };
    assert.deepEqual(registry.importClient(client, options), [`${namespace}.t`]);
  }
});

test("tools are chosen, shown and guarded as asked", async () => {
  const registry = new OperationRegistry();
  const callTool = async () => ({ content: [], isError: false });
  const client = fakeClient([tool("a"), tool("b"), tool("c")], callTool);
  const options = {
    include: ["a", "b", "none"],
    exclude: ["b"],
    visibility: "external",
    accessControl: { requiredScopes: ["mcp"] },
  };
  assert.deepEqual(registry.importClient(client, options), ["fake.a"]);
  assert.deepEqual(ids(registry, { identity: identity("mcp") }), ["fake.a"]);
  assert.deepEqual(ids(registry, { identity: identity() }), []);
  assert.equal((await failure(registry.execute("fake.a", {}))).code, "ACCESS_DENIED");
  const allowed = { identity: identity("mcp") };
  assert.equal((await registry.execute("fake.a", {}, allowed)).meta.source, "mcp");
  for (const [bad, option] of [
    [{ visibility: "hidden" }, "visibility"],
    [{ namespace: "a.b" }, "namespace"],
    [{ namespace: "" }, "namespace"],
    [{ include: "a" }, "include"],
    [{ exclude: [1] }, "exclude"],
    [{ accessControl: { requiredScope: ["x"] } }, "accessControl"],
  ]) {
    const error = await failure(() => new OperationRegistry().importClient(client, bad));
    assert.deepEqual([error.code, error.option], ["invalid_arguments", option]);
  }
});

test("one bad tool costs the others nothing", async () => {
  const registry = new OperationRegistry();
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  registry.register(spec("fake.taken"), () => "ours");
  const seen = [];
  const client = fakeClient(
    [
      tool("taken"),
      tool("odd", { inputSchema: { type: "object", required: "n" }, outputSchema: { $ref: "#/x" } }),
      { name: "bare" },
      tool("strange", { description: 3, title: null, annotations: [], _meta: 1 }),
    ],
    async (name, input) => {
      seen.push([name, input]);
      return { content: [], isError: false };
    },
  );
  const taken = registry.importClient(client);
  // A schema that does not compile leaves the judging to the server.
  assert.deepEqual(taken, ["fake.odd", "fake.bare", "fake.strange"]);
  assert.deepEqual(warnings.map(({ tool: name, error }) => [name, error.reason]), [
    ["taken", "operation_exists"],
  ]);
  assert.equal((await registry.execute("fake.taken")).data, "ours");
  await registry.execute("fake.odd", { any: 1 });
  await registry.execute("fake.bare");
  assert.deepEqual(seen, [
    ["odd", { any: 1 }],
    ["bare", {}],
  ]);
  const text = await failure(registry.execute("fake.strange", "text"));
  assert.equal(text.code, "VALIDATION_ERROR");
});

test("what a server calls its tools is in no message", () => {
  const registry = new OperationRegistry();
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  registry.register(spec("fake.SECRET"), () => 1);
  registry.importClient(
    fakeClient([
      tool("SECRET"),
      tool("SECRET/"),
      tool("SECRET1", { annotations: { f() {} } }),
      tool("SECRET2", { annotations: { deep: nest(600) } }),
      null,
      3,
      { name: 4 },
      tool("plain"),
    ]),
  );
  assert.equal(warnings.length, 4);
  for (const { error } of warnings) {
    assert.ok(error instanceof ToolwireError);
    assert.ok(!`${error.message}${JSON.stringify(error)}`.includes("SECRET"), error.message);
  }
  assert.ok(registry.getSpec("fake.plain"));
});

test("the import is kept in step with the catalog", async () => {
  const { server, client, registry, warnings } = await imported({
    tools: [tool("a"), tool("b"), tool("c")],
  });
  const changed = new Promise((resolve) => {
    client.onToolsChanged(resolve);
  });
  server.tools = [tool("b"), tool("c", { description: "New" }), tool("d")];
  const before = registry.getSpec("memory.b");
  server.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  await changed;
  assert.deepEqual(ids(registry), ["memory.b", "memory.c", "memory.d"]);
  assert.equal(registry.getSpec("memory.b"), before);
  assert.equal(registry.getSpec("memory.c").description, "New");
  assert.deepEqual(warnings, []);
  await client.close();
  const gone = await failure(registry.execute("memory.b", {}));
  assert.deepEqual([gone.code, gone.details.code], ["EXECUTION_ERROR", "connection_closed"]);
});

test("a tool that turns bad leaves, and comes back when it is mended", () => {
  const registry = new OperationRegistry();
  const warnings = [];
  registry.onWarning((event) => warnings.push(event));
  const client = fakeClient([tool("t")]);
  registry.importClient(client, { visibility: "external" });
  client.change([tool("t", { annotations: { deep: nest(600) } })]);
  assert.deepEqual(ids(registry), []);
  assert.equal(warnings.length, 1);
  client.change([tool("t", { annotations: { deep: nest(600) } }), tool("u")]);
  assert.equal(warnings.length, 1);
  client.change([tool("t")]);
  assert.deepEqual(ids(registry), ["fake.t"]);
});

function nest(depth) {
  let value = 0;
  for (let level = 0; level < depth; level += 1) {
    value = [value];
  }
  return value;
}

test("giving up a call tells the server", async () => {
  const { server, client, registry } = await imported({ tools: [tool("t")] });
  const controller = new AbortController();
  const running = failure(registry.execute("memory.t", {}, { signal: controller.signal }));
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  controller.abort();
  assert.equal((await running).code, "ABORTED");
  await new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
  assert.equal(server.received.at(-1).method, "notifications/cancelled");
  const deadline = Date.now() + 20;
  assert.equal((await failure(registry.execute("memory.t", {}, { deadline }))).code, "TIMEOUT");
  await client.close();
});

test("a violation under report is handed on with a warning", async () => {
  const outputSchema = { type: "object", properties: { n: { type: "integer" } } };
  const answer = ({ method }) =>
    method === "tools/call" ? { content: [], structuredContent: { n: "x" } } : undefined;
  const tools = [tool("t", { outputSchema })];
  const { client, registry, warnings } = await imported({ tools, answer }, {}, { validation: "report" });
  assert.deepEqual((await registry.execute("memory.t", {})).data, { n: "x" });
  const [warning] = warnings;
  assert.deepEqual(
    [warning.type, warning.operationId, warning.verdict, warning.errors[0].instancePath],
    ["output", "memory.t", "invalid", "/n"],
  );
  await client.close();
  const strict = await imported({ tools, answer });
  const error = await failure(strict.registry.execute("memory.t", {}));
  assert.deepEqual([error.code, error.details.code], ["EXECUTION_ERROR", "invalid_response"]);
  await strict.client.close();
});

test("imported operations compose", async () => {
  const answer = ({ method, params }) =>
    method === "tools/call" ? { content: [{ type: "text", text: params.arguments.q }] } : undefined;
  const { client, registry } = await imported({ tools: [tool("t")], answer });
  registry.register(spec("ns.ask"), async (input, { env }) => (await env.memory.t(input)).data[0].text);
  const { data } = await registry.execute("ns.ask", { q: "hello" }, { identity: identity() });
  assert.equal(data, "hello");
  const env = buildEnv({ registry, context: {} });
  assert.equal((await env.memory.t({ q: "x" })).meta.source, "mcp");
  await client.close();
});
