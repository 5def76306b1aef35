// Handlers of the host's: questions of both modes, what the form says, lists in pages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { connectStreams, replay } = toolwire;

const FORM = {
  type: "object",
  properties: {
    name: { type: "string", default: "anonymous" },
    count: { type: "integer", default: 1, minimum: 1 },
    __proto__: undefined,
  },
  required: ["name", "count"],
};

/** What the server is answered when it asks with these params. */
async function asked(params, handler, capabilities) {
  const server = new MemoryServer();
  const diagnostics = [];
  const client = await connectStreams(
    server.options({
      capabilities,
      handlers: { "elicitation/create": handler },
      onDiagnostic: ({ code, detail }) => diagnostics.push({ code, detail: detail.reveal() }),
    }),
  );
  server.say({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params });
  let answer;
  while (answer === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    answer = server.received.find(({ id, method }) => id === "q" && method === undefined);
  }
  await client.close();
  return { answer, diagnostics };
}

const form = (more) => ({ message: "?", requestedSchema: FORM, ...more });
const accept = (content) => () => ({ action: "accept", content });

test("what an accepted form leaves out takes its default", async () => {
  for (const [content, expected] of [
    [undefined, { name: "anonymous", count: 1 }],
    [{ count: 5 }, { name: "anonymous", count: 5 }],
    [{ name: "n", count: 2, more: true }, { name: "n", count: 2, more: true }],
  ]) {
    const { answer } = await asked(form(), accept(content));
    assert.deepEqual(answer.result, { action: "accept", content: expected });
  }
});

test("what breaks the form does not reach the server, and the host is told", async () => {
  for (const content of [{ count: "many" }, { count: 0 }, { name: 7 }]) {
    const { answer, diagnostics } = await asked(form(), accept(content));
    assert.equal(answer.error.code, -32603);
    assert.equal(answer.result, undefined);
    assert.equal(diagnostics.length, 1);
    assert.equal(diagnostics[0].code, "invalid_arguments");
    assert.match(diagnostics[0].detail, /violations/);
  }
  const { answer } = await asked(form(), () => ({ action: "yes" }));
  assert.equal(answer.error.code, -32603);
});

test("what is declined is passed on as it is", async () => {
  for (const action of ["decline", "cancel"]) {
    const { answer } = await asked(form(), () => ({ action }));
    assert.deepEqual(answer.result, { action });
  }
});

test("a form that is no schema holds nobody to anything", async () => {
  for (const requestedSchema of [undefined, null, 7, { type: 7 }, { properties: null }]) {
    const { answer } = await asked({ message: "?", requestedSchema }, accept({ a: 1 }));
    assert.deepEqual(answer.result, { action: "accept", content: { a: 1 } });
  }
});

test("a URL is offered to a host that declares it, and to no other", async () => {
  const url = { mode: "url", message: "?", url: "https://h.test/consent", elicitationId: "e" };
  let seen;
  const handler = (params) => {
    seen = params;
    return { action: "accept", content: { secret: 1 } };
  };
  const both = { elicitation: { form: {}, url: {} } };
  const { answer } = await asked(url, handler, both);
  assert.deepEqual(answer.result, { action: "accept" });
  assert.equal(seen.url, url.url);
  assert.equal((await asked(url, () => assert.fail("asked"))).answer.error.code, -32602);
  const script = { ...url, url: "javascript:alert(1)" };
  const refused = await asked(script, () => assert.fail("asked"), both);
  assert.equal(refused.answer.error.code, -32602);
  const urlAlone = { elicitation: { url: {} } };
  const noForm = await asked(form(), () => assert.fail("asked"), urlAlone);
  assert.equal(noForm.answer.error.code, -32602);
});

/** A client whose server answers `prompts/list` by these pages, by cursor. */
async function pages(t, answers) {
  const server = new MemoryServer({
    answer: ({ method, params }) =>
      method === "prompts/list" ? answers(params?.cursor, params) : undefined,
  });
  const client = await connectStreams(server.options());
  t.after(() => client.close());
  return { client, server };
}

const prompt = (name) => ({ name });

test("all pages are read, an empty cursor too", async (t) => {
  const { client, server } = await pages(t, (cursor) =>
    cursor === undefined
      ? { prompts: [prompt("a")], nextCursor: "" }
      : { prompts: [prompt("b")], nextCursor: null },
  );
  assert.deepEqual(await client.requestAll("prompts/list"), [prompt("a"), prompt("b")]);
  assert.deepEqual(
    server.got("prompts/list").map(({ params }) => params),
    [undefined, { cursor: "" }],
  );
  const seen = [];
  for await (const page of client.pages("prompts/list", { filter: 1 })) {
    seen.push(page.prompts.length);
  }
  assert.deepEqual(seen, [1, 1]);
  assert.deepEqual(server.got("prompts/list")[3].params, { filter: 1, cursor: "" });
});

test("a walk ends with a cursor that brings nothing new, and at its bound", async (t) => {
  const { client, server } = await pages(t, () => ({ prompts: [prompt("a")], nextCursor: "x" }));
  assert.deepEqual(await client.requestAll("prompts/list"), [prompt("a"), prompt("a"), ]);
  let count = 0;
  const endless = await pages(t, () => {
    count += 1;
    return { prompts: [prompt(`p${count}`)], nextCursor: `c${count}` };
  });
  assert.equal((await endless.client.requestAll("prompts/list")).length, 256);
  assert.equal((await endless.client.requestAll("prompts/list", {}, { maxPages: 3 })).length, 3);
  assert.equal(server.got("prompts/list").length, 2);
  await assert.rejects(client.requestAll("completion/complete"), { option: "items" });
  await assert.rejects(client.requestAll("prompts/list", {}, { maxPages: 0 }), {
    option: "maxPages",
  });
});

test("a replay has a budget", async () => {
  const lines = [];
  const server = new MemoryServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  const client = await connectStreams(server.options({ record: (line) => lines.push(line) }));
  await client.close();
  const recording = lines.join("\n");
  assert.ok(replay(recording).events.length > 0);
  assert.throws(() => replay(recording, { maxSteps: 3 }), {
    code: "limit",
    reason: "replay_budget",
    limit: 3,
  });
  for (const maxSteps of [0, 1.5, "9", Infinity]) {
    assert.throws(() => replay(recording, { maxSteps }), {
      code: "invalid_arguments",
      option: "maxSteps",
    });
  }
});
