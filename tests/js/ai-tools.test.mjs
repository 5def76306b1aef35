// `toolwire/ai`: aliases, and tools for the AI SDK with its own mock model, OpenAI and Anthropic.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { MemoryServer, rpcError } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const packageRequire = createRequire(new URL("../../pkg/package.json", import.meta.url));
const { aiTools, anthropicTools, openaiResponsesTools, openaiTools, toolAliases } =
  packageRequire("toolwire/ai");
const { OperationRegistry, ToolGateway, ToolwireError, connectStreams } = toolwire;

const PNG = "iVBORw0KGgo=";

const TOOLS = [
  {
    name: "word.count",
    description: "Counts words",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    outputSchema: { type: "object", properties: { words: { type: "integer" } } },
  },
  { name: "explode", title: "Explodes", inputSchema: { type: "object" } },
  { name: "picture", inputSchema: { type: "object" } },
  { name: "refuse", inputSchema: { type: "object" } },
];

const ANSWERS = {
  "word.count": ({ text }) => {
    const words = text.split(" ").length;
    return { content: [{ type: "text", text: String(words) }], structuredContent: { words } };
  },
  explode: () => ({ content: [{ type: "text", text: "it blew up" }], isError: true }),
  picture: () => ({
    content: [
      { type: "text", text: "a dot" },
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///a", name: "a" },
      { type: "resource", resource: { uri: "file:///b", text: "inside" } },
    ],
  }),
  refuse: () => rpcError(-32000, "s3cret words of the server"),
};

async function connected(t, server = "memory", tools = TOOLS) {
  const memory = new MemoryServer({
    tools,
    answer: ({ params }) => ANSWERS[params.name]?.(params.arguments) ?? { content: [] },
  });
  const client = await connectStreams(memory.options({ server }));
  t.after(() => client.close());
  return { client, memory };
}

const ALLOWED = /^[A-Za-z0-9_-]{1,64}$/;

test("aliases: what a provider takes stays, anything else is made to fit and can be undone", () => {
  const names = [
    "plain_name-1",
    "with.dot",
    "with dot",
    "with_dot",
    "ünïcödé",
    "日本語",
    "x".repeat(64),
    "x".repeat(65),
    `${"x".repeat(65)}y`,
    "",
    "a/b",
    "a:b",
    "😀",
  ];
  const { aliasOf, nameOf } = toolAliases(names);
  const aliases = names.map(aliasOf);
  assert.equal(new Set(aliases).size, names.length);
  names.forEach((name, index) => {
    assert.match(aliases[index], ALLOWED);
    assert.equal(nameOf(aliases[index]), name);
    if (ALLOWED.test(name)) {
      assert.equal(aliases[index], name);
    }
  });
  assert.equal(aliasOf("other"), undefined);
  assert.equal(nameOf("other"), undefined);
  const reversed = toolAliases([...names].reverse());
  assert.deepEqual(names.map(reversed.aliasOf), aliases);
  // Fixed for ever: models and records hold them.
  assert.equal(aliasOf("with.dot"), "with_dot_3aabebf8");
});

test("aliases: a name that looks like another's alias does not take its place", () => {
  const [taken] = [toolAliases(["a.b"]).aliasOf("a.b")];
  for (const names of [["a.b", taken], [taken, "a.b"]]) {
    const { aliasOf, nameOf } = toolAliases(names);
    assert.equal(aliasOf(taken), taken);
    assert.notEqual(aliasOf("a.b"), taken);
    assert.equal(nameOf(aliasOf("a.b")), "a.b");
    assert.match(aliasOf("a.b"), ALLOWED);
  }
});

test("aliases: ten thousand names that differ in one odd character stay apart", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `${"n".repeat(70)}.${index}`);
  const { aliasOf, nameOf } = toolAliases(names, { maxLength: 16 });
  for (const name of names) {
    assert.ok(aliasOf(name).length <= 16);
    assert.equal(nameOf(aliasOf(name)), name);
  }
  assert.throws(() => toolAliases(names, { maxLength: 15 }), { option: "maxLength" });
  assert.throws(() => toolAliases([1]), { option: "names" });
});

/** A model that asks for the calls given, then says what it was answered. */
function modelCalling(...calls) {
  const prompts = [];
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const model = new MockLanguageModelV3({
    doGenerate: async (options) => {
      prompts.push(options);
      const content =
        prompts.length === 1
          ? calls.map(([toolName, input], index) => ({
              type: "tool-call",
              toolCallId: `call-${index}`,
              toolName,
              input: JSON.stringify(input),
            }))
          : [{ type: "text", text: "done" }];
      const finishReason = { unified: prompts.length === 1 ? "tool-calls" : "stop", raw: undefined };
      return { content, finishReason, usage, warnings: [] };
    },
  });
  return { model, prompts };
}

test("the AI SDK: a model's calls reach the server, and their results the model", async (t) => {
  const { client, memory } = await connected(t);
  const tools = aiTools(client);
  const count = Object.keys(tools).find((name) => name.startsWith("word_count_"));
  const { model, prompts } = modelCalling(
    [count, { text: "a b c" }],
    ["explode", {}],
    ["picture", {}],
    ["refuse", {}],
    [count, { text: 7 }],
  );
  const { text } = await generateText({ model, tools, prompt: "go", stopWhen: stepCountIs(3) });
  assert.equal(text, "done");
  assert.deepEqual(
    prompts[0].tools.map(({ name, description }) => [name, description]),
    [[count, "Counts words"], ["explode", "Explodes"], ["picture", undefined], ["refuse", undefined]],
  );
  assert.deepEqual(prompts[0].tools[0].inputSchema, TOOLS[0].inputSchema);
  const answers = prompts[1].prompt
    .filter(({ role }) => role === "tool")
    .flatMap(({ content }) => content)
    .sort((a, b) => (a.toolCallId < b.toolCallId ? -1 : 1))
    .map(({ output }) => output);
  assert.deepEqual(answers.slice(0, 2), [
    { type: "text", value: "3" },
    { type: "error-text", value: "it blew up" },
  ]);
  assert.deepEqual(
    answers[2].value.map(({ type }) => type),
    ["text", "image-data", "file-data", "text", "text"],
  );
  assert.equal(answers[3].type, "error-text");
  assert.doesNotMatch(JSON.stringify(answers[3]), /s3cret/);
  assert.equal(answers[4].type, "error-text");
  // The call with wrong arguments never left.
  assert.equal(memory.got("tools/call").length, 4);
});

test("the AI SDK: its signal gives a call up", async (t) => {
  const memory = new MemoryServer({ tools: [{ name: "hang", inputSchema: { type: "object" } }] });
  const client = await connectStreams(memory.options());
  t.after(() => client.close());
  const controller = new AbortController();
  const { hang } = aiTools(client);
  const call = hang.execute({}, { toolCallId: "1", messages: [], abortSignal: controller.signal });
  controller.abort();
  await assert.rejects(call, { code: "aborted" });
});

test("OpenAI, Chat Completions", async (t) => {
  const { client } = await connected(t);
  const { tools, callTool, toolOf } = openaiTools(client);
  const [count] = tools;
  assert.equal(count.type, "function");
  assert.match(count.function.name, ALLOWED);
  assert.deepEqual(count.function.parameters, TOOLS[0].inputSchema);
  assert.deepEqual(tools[1].function.parameters, { type: "object", properties: {} });
  assert.deepEqual(toolOf(count.function.name), { server: "memory", tool: "word.count" });
  const ask = (name, args) => callTool({ id: "c", function: { name, arguments: args } });
  const said = async (name, args) => (await ask(name, args)).content;
  assert.deepEqual(await ask(count.function.name, '{"text":"a b"}'), {
    role: "tool",
    tool_call_id: "c",
    content: "2",
  });
  assert.equal(await said("explode", ""), "it blew up");
  assert.equal(
    await said("picture", "{}"),
    "a dot\n(image/png that cannot be shown)\n(audio/wav that cannot be shown)\na: file:///a\ninside",
  );
  assert.match(await said("refuse", "{}"), /JSON-RPC error -32000; its text is withheld/);
  assert.equal(await said("nothing", "{}"), "There is no tool of that name.");
  assert.equal(await said("explode", "{"), "The arguments are not a JSON object.");
  assert.equal(await said("explode", "[]"), "The arguments are not a JSON object.");
});

test("OpenAI, Responses", async (t) => {
  const { client } = await connected(t);
  const { tools, callTool } = openaiResponsesTools(client, { exclude: ["explode"] });
  assert.deepEqual(tools[1], {
    type: "function",
    name: "picture",
    parameters: { type: "object", properties: {} },
    strict: false,
  });
  const answer = (name) => callTool({ call_id: "c", name, arguments: '{"text":"a b"}' });
  assert.deepEqual(await answer(tools[0].name), {
    type: "function_call_output",
    call_id: "c",
    output: "2",
  });
  const { output } = await answer("picture");
  assert.deepEqual(output[1], {
    type: "input_image",
    image_url: `data:image/png;base64,${PNG}`,
    detail: "auto",
  });
  assert.equal(output[2].type, "input_text");
  assert.equal((await answer("explode")).output, "There is no tool of that name.");
});

test("Anthropic, Messages", async (t) => {
  const { client } = await connected(t);
  const { tools, callTool } = anthropicTools(client);
  assert.deepEqual(Object.keys(tools[0]), ["name", "description", "input_schema"]);
  const ask = (name, input) => callTool({ id: "u", name, input });
  assert.deepEqual(await ask(tools[0].name, { text: "a" }), {
    type: "tool_result",
    tool_use_id: "u",
    content: [{ type: "text", text: "1" }],
    is_error: false,
  });
  const picture = await ask("picture", {});
  assert.deepEqual(picture.content[1], {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: PNG },
  });
  assert.equal((await ask("explode", {})).is_error, true);
  assert.equal((await ask("refuse", {})).is_error, true);
  assert.deepEqual((await ask("nothing", {})).content, "There is no tool of that name.");
});

test("several servers: their names are part of the aliases, and each call finds its own", async (t) => {
  const one = await connected(t, "one");
  const two = await connected(t, "two words");
  const { tools, toolOf, callTool } = anthropicTools([one.client, two.client]);
  assert.equal(tools.length, 8);
  assert.equal(new Set(tools.map(({ name }) => name)).size, 8);
  assert.equal(tools[1].name, "one__explode");
  assert.match(tools[5].name, /^two_words__explode_[0-9a-f]{8}$/);
  assert.deepEqual(toolOf(tools[5].name), { server: "two words", tool: "explode" });
  await callTool({ id: "u", name: tools[5].name, input: {} });
  assert.equal(one.memory.got("tools/call").length, 0);
  assert.equal(two.memory.got("tools/call").length, 1);
  assert.throws(() => anthropicTools([one.client, one.client]), { option: "client" });
  assert.throws(() => anthropicTools({}), ToolwireError);
});

test("the host's signal alone makes a call reject", async (t) => {
  const memory = new MemoryServer({ tools: [{ name: "hang", inputSchema: { type: "object" } }] });
  const client = await connectStreams(memory.options());
  t.after(() => client.close());
  const { callTool } = anthropicTools(client, { call: { timeoutMs: 20 } });
  const late = await callTool({ id: "u", name: "hang", input: {} });
  assert.equal(late.is_error, true);
  assert.match(late.content, /within 20 ms/);
  const signal = AbortSignal.abort();
  await assert.rejects(callTool({ id: "u", name: "hang", input: {} }, { signal }), { code: "aborted" });
});

test("a gateway is a source of tools too", async () => {
  const registry = new OperationRegistry();
  registry.register(
    {
      namespace: "text",
      name: "upper",
      version: "1.0.0",
      type: "query",
      description: "Upper case",
      inputSchema: { type: "object" },
      accessControl: { requiredScopes: [] },
    },
    ({ text }) => text.toUpperCase(),
  );
  const gateway = new ToolGateway({ registry });
  const source = {
    server: "gateway",
    tools: gateway.tools,
    callTool: (name, args, options) => gateway.handleCall(name, args, undefined, options),
  };
  const { tools, callTool } = openaiTools(source);
  assert.deepEqual(tools.map((tool) => tool.function.name), ["search", "schema", "call", "batch"]);
  const args = JSON.stringify({ operation: "text.upper", input: { text: "abc" } });
  const { content } = await callTool({ id: "c", function: { name: "call", arguments: args } });
  assert.equal(content, '{"result":"ABC"}');
});
