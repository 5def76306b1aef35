/** Cases of kind `packaging` in `tests/cases/field.jsonl`, and AT-371, by their ids. K01 and K02 are in hosts.test.mjs. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import {
  ClientSession,
  OperationRegistry,
  compileSchema,
  connectStreams,
  coreInfo,
  envelopeOfToolResult,
} from "toolwire";
import { MemoryServer } from "../js/support/memory-server.mjs";
import { hostProgram, root, run } from "./support/hosts.mjs";

const PACKAGE = path.join(root, "pkg");
const MEBIBYTE = 1_048_576;

test("K01: no published module evaluates text", async () => {
  const files = await published();
  for (const { path: name } of files.filter((file) => /\.(js|mjs|cjs)$/.test(file.path))) {
    assert.doesNotMatch(readFileSync(path.join(PACKAGE, name), "utf8"), /\beval\(|\bnew Function\(/, name);
  }
});

async function published() {
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], { cwd: PACKAGE });
  return JSON.parse(stdout)[0].files;
}

test("K06: the tarball holds what was built, and no .gitignore that empties it", async () => {
  const files = await published();
  const names = files.map((file) => file.path);
  for (const wanted of [
    "toolwire.wasm",
    "esm/entry/index.js",
    "cjs/entry/index.cjs",
    "types/index.d.ts",
    "types/index.d.cts",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
  ]) {
    assert.ok(names.includes(wanted), wanted);
  }
  assert.ok(files.reduce((sum, { size }) => sum + size, 0) > 100_000);
  assert.deepEqual(names.filter((name) => name.endsWith(".gitignore") || name.endsWith(".npmignore")), []);
});

const EXACT = '{"a":{"b":1},"big":9007199254740993,"__proto__":{"x":1},"f":1.0}';

test("K08: objects are plain, and how large integers are read is chosen", async (t) => {
  const server = new MemoryServer({ tools: [{ name: "exact", inputSchema: { type: "object" } }] });
  const diagnostics = [];
  const client = await connectStreams(
    server.options({ onDiagnostic: ({ code, detail }) => diagnostics.push([code, detail.reveal()]) }),
  );
  t.after(() => client.close());
  const call = async (numbers) => {
    const asked = client.callTool("exact", {}, { numbers });
    await new Promise(setImmediate);
    const { id } = server.got("tools/call").at(-1);
    server.raw(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${EXACT}}}\n`);
    return asked;
  };
  const plain = (await call("number")).structuredContent;
  assert.equal(Object.getPrototypeOf(plain), Object.prototype);
  assert.deepEqual(plain, JSON.parse(EXACT));
  assert.equal(plain.f, 1);
  assert.ok(Object.hasOwn(plain, "__proto__"));
  assert.equal({}.x, undefined);
  assert.deepEqual(diagnostics.filter(([code]) => code === "unsafe_integer"), [
    ["unsafe_integer", "/structuredContent/big"],
  ]);
  assert.equal((await call("bigint")).structuredContent.big, 9007199254740993n);
  assert.equal((await call("string")).structuredContent.big, "9007199254740993");
  assert.ok((await call("number")).rawJson().includes(EXACT));
  const outcome = envelopeOfToolResult(`{"content":[],"structuredContent":${EXACT}}`, {
    server: "s",
    tool: { name: "exact" },
  });
  assert.deepEqual(outcome.diagnostics, [{ code: "unsafe_integer", at: "/structuredContent/big" }]);
});

test("K09: schemas that nobody frees in a loop without a pause do not fill the memory", () => {
  const schema = () => ({ type: "object", properties: { a: { type: "integer" } }, required: ["a"] });
  let valid = 0;
  for (let index = 0; index < 200_000; index += 1) {
    valid += compileSchema(schema()).isValid({ a: index }) ? 1 : 0;
  }
  assert.equal(valid, 200_000);
  assert.ok(coreInfo().memoryBytes < 64 * MEBIBYTE, `${coreInfo().memoryBytes} bytes`);
});

test("K09: what schemas share lives until the last of them is freed", () => {
  const [first, second] = [compileSchema({ minimum: 3 }), compileSchema('{"minimum":3}')];
  first.free();
  assert.equal(second.isValid(2), false);
  second.free();
  assert.throws(() => second.isValid(2), { code: "freed" });
  assert.equal(compileSchema({ minimum: 3 }).isValid(3), true);
  // Other options are another schema.
  const full = compileSchema({ minimum: 3 });
  assert.equal(compileSchema({ minimum: 3 }, { keywords: "structural" }).isValid(2), true);
  assert.equal(full.isValid(2), false);
});

test("K09: catalogs that are read again and again do not fill the memory", async (t) => {
  const tools = Array.from({ length: 100 }, (_, index) => ({
    name: `tool-${index}`,
    inputSchema: { type: "object", properties: { [`p${index}`]: { type: "string" } } },
    outputSchema: { type: "object", properties: { [`o${index}`]: { type: "integer" } } },
  }));
  const server = new MemoryServer({ tools });
  const client = await connectStreams(server.options());
  t.after(() => client.close());
  const refreshes = async (count) => {
    for (let index = 0; index < count; index += 1) {
      await client.refreshTools();
    }
    return coreInfo().memoryBytes;
  };
  const early = await refreshes(50);
  const late = await refreshes(250);
  assert.ok(late <= early + MEBIBYTE, `${early} bytes, then ${late}`);
  assert.ok(late < 64 * MEBIBYTE, `${late} bytes`);
});

test("K09: a hundred thousand small messages do not fill the memory", () => {
  const session = new ClientSession({ server: "s", era: "legacy", tools: [] });
  session.connect(0);
  const drain = () => {
    const events = [];
    for (let event; (event = session.pollEvent()) !== undefined; ) {
      events.push(event.type);
    }
    while (session.takeOutput() !== undefined);
    return events;
  };
  const encoder = new TextEncoder();
  const say = (message) => session.receive(encoder.encode(`${JSON.stringify(message)}\n`), 1);
  drain();
  const initialized = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
  say({ jsonrpc: "2.0", id: 1, result: initialized });
  session.work(100_000, 1);
  assert.ok(drain().includes("ready"));
  const before = coreInfo().memoryBytes;
  let seen = 0;
  for (let index = 0; index < 100_000; index += 1) {
    say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: index } });
    session.work(100_000, 1);
    seen += drain().length;
  }
  assert.equal(seen, 100_000);
  assert.ok(coreInfo().memoryBytes <= before + MEBIBYTE);
  session.close(2);
  session.free();
});

test("K10: a listener may call, and close, from within what it is told", async (t) => {
  const server = new MemoryServer({
    tools: [{ name: "echo", inputSchema: { type: "object" } }],
    answer: ({ params }) => ({ content: [{ type: "text", text: String(params.arguments.n) }] }),
  });
  const client = await connectStreams(server.options());
  t.after(() => client.close());
  const told = [];
  const answers = [];
  const off = client.onNotification(({ params }) => {
    told.push(params.n);
    answers.push(client.callTool("echo", { n: params.n }).then(({ content }) => content[0].text));
    client.refreshTools().catch(() => {});
  });
  const lines = [1, 2, 3].map((n) =>
    JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { n } }),
  );
  server.raw(`${lines.join("\n")}\n`);
  while (answers.length < 3) {
    await new Promise(setImmediate);
  }
  assert.deepEqual(await Promise.all(answers), ["1", "2", "3"]);
  assert.deepEqual(told, [1, 2, 3]);
  assert.deepEqual(
    server.got("tools/call").map(({ params }) => params.arguments.n),
    [1, 2, 3],
  );
  off();
  const closed = new Promise((resolve) => {
    client.onNotification(() => resolve(client.close()));
  });
  server.raw(`${lines[0]}\n`);
  await closed;
  await assert.rejects(client.callTool("echo", {}), { code: "connection_closed" });
});

test("K10: a handler of an operation may use the registry that runs it", async () => {
  const registry = new OperationRegistry();
  const spec = (name) => ({
    namespace: "ns",
    name,
    version: "1.0.0",
    type: "query",
    description: "",
    inputSchema: {},
    accessControl: { requiredScopes: [] },
  });
  registry.register(spec("inner"), () => 1);
  registry.register(spec("outer"), async () => {
    registry.register(spec("late"), () => 2);
    const { data } = await registry.execute("ns.inner", {});
    return data + (await registry.execute("ns.late", {})).data;
  });
  assert.equal((await registry.execute("ns.outer", {})).data, 3);
});

test("K12: nothing of the core reaches for randomness, sockets, clocks or threads", async () => {
  const target = "wasm32-unknown-unknown";
  const args = ["tree", "--offline", "--locked", "-p", "toolwire", "-e", "no-dev", "--target", target];
  const { stdout } = await run("cargo", args, { cwd: root });
  assert.match(stdout, /serde_json/);
  assert.doesNotMatch(stdout, /getrandom|reqwest|rustls|\bmio\b|tokio|instant|rand\b/);
});

const TOP = `
  const session = new toolwire.ClientSession({ server: "a" });
  session.connect(0);
  console.log(toolwire.compileSchema({ type: "null" }).isValid(null), session.state);
`;

test("K13: a session is made at the top of a module, without waiting", async (t) => {
  const programs = [
    ["--input-type=module", `import * as toolwire from "toolwire";${TOP}`],
    ["--input-type=commonjs", `const toolwire = require("toolwire");${TOP}`],
  ];
  for (const [type, program] of programs) {
    const { stdout } = await run(process.execPath, [type, "--eval", program], { cwd: root });
    assert.equal(stdout, "true connecting\n");
  }
  const bun = await hostProgram("@oven/bun-linux-x64/bin/bun");
  if (bun === undefined) {
    t.diagnostic("Bun is not installed: hosts.test.mjs says why");
    return;
  }
  const { stdout } = await run(bun, ["--eval", programs[0][1]], { cwd: root });
  assert.equal(stdout, "true connecting\n");
});

/** Every module that an entry reaches, by path, and everything else that they import. */
function reached(entry) {
  const files = new Set();
  const others = new Set();
  const open = [path.join(PACKAGE, entry)];
  while (open.length > 0) {
    const file = open.pop();
    if (files.has(file)) {
      continue;
    }
    files.add(file);
    const text = readFileSync(file, "utf8");
    const imports = text.matchAll(/^(?:import|export)\b[^"';]*?"([^"]+)";|\brequire\("([^"]+)"\)/gms);
    for (const [, imported, required] of imports) {
      const name = imported ?? required;
      if (/^\.\.?\/.*\.(?:js|mjs|cjs)$/.test(name)) {
        open.push(path.resolve(path.dirname(file), name));
      } else {
        others.add(name);
      }
    }
  }
  return { files: [...files], others: [...others] };
}

test("AT-371: the root loads without adapters and without modules of Node's", () => {
  const { exports } = JSON.parse(readFileSync(path.join(PACKAGE, "package.json"), "utf8"));
  const leaves = new Set();
  const walk = (value) => {
    if (typeof value === "string") {
      leaves.add(value);
    } else {
      for (const [condition, inner] of Object.entries(value)) {
        if (condition !== "types") {
          walk(inner);
        }
      }
    }
  };
  for (const entry of [".", "./slim", "./web", "./ai"]) {
    walk(exports[entry]);
  }
  assert.ok(leaves.size >= 15);
  for (const leaf of leaves) {
    const { files, others } = reached(leaf);
    assert.ok(files.length > 20, leaf);
    const foreign = others.filter((name) => !/^\.\.\/\.\.\/toolwire\.wasm(?:\?module)?$/.test(name));
    assert.deepEqual(foreign, [], leaf);
    const adapters = files.filter((file) => /\/(?:esm|cjs)\/(?:node|sdk)\//.test(file));
    assert.deepEqual(adapters, [], leaf);
  }
  for (const leaf of ["esm/entry/sdk.js", "cjs/entry/sdk.cjs", "esm/entry/sdk-workerd.mjs"]) {
    assert.deepEqual(reached(leaf).others.filter((name) => name.startsWith("node:")), [], leaf);
  }
  assert.ok(reached("esm/entry/sdk-node.js").others.includes("node:child_process"));
});
