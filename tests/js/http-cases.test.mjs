// Cases of kind "http" of client.jsonl (rows R86 to R92), each by its id, against `connectHttp`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HttpServer, events, json } from "./support/http-server.mjs";
import { until } from "./support/processes.mjs";
import { toolwire, web } from "./support/toolwire.mjs";

const { ToolwireError } = toolwire;
const { connectHttp } = web;

const lines = readFileSync(new URL("../cases/client.jsonl", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => JSON.parse(line))
  .filter(({ kind }) => kind === "http");
const cases = new Map(lines.map((line) => [line.id, line]));
const covered = new Set();

/** A test of a case: gets its `in` and `out`. */
function caseOf(id, run) {
  covered.add(id);
  const line = cases.get(id);
  test(`${id} (${line?.row}): ${line?.title}`, async () => {
    assert.ok(line, `${id} is no case`);
    await run(line.in, line.out);
  });
}

const strict = (server, more) => server.options({ profile: "strict", era: undefined, ...more });

/** Connects, and calls the tool with this response; gives how the call ended. */
async function called(response, more = {}, serverOptions = {}) {
  let calls = 0;
  const server = new HttpServer({
    ...serverOptions,
    answer: ({ message }) => {
      if (message?.method !== "tools/call") {
        return undefined;
      }
      calls += 1;
      return response(message);
    },
  });
  const client = await connectHttp(strict(server, more));
  try {
    const outcome = await client.callTool("t", {}).then(
      () => ({ ok: true }),
      (error) => ({ error }),
    );
    return { ...outcome, server, calls };
  } finally {
    await client.close();
  }
}

function sameEnd({ ok, error }, out) {
  if (out.ok) {
    assert.equal(ok, true, String(error));
    return;
  }
  assert.ok(error instanceof ToolwireError, String(error));
  assert.deepEqual({ code: error.code, why: error.reason }, out.error);
}

caseOf("C-503", async ({ contentType, body }, out) => {
  const ended = await called((message) => {
    assert.equal(message.id, body.id);
    return json(body, { headers: { "content-type": contentType } });
  });
  sameEnd(ended, out);
});

caseOf("C-505", async ({ bodyText }, out) => {
  sameEnd(await called(() => json(bodyText)), out);
});

for (const id of ["C-506", "C-507"]) {
  caseOf(id, async ({ body }, out) => {
    sameEnd(await called(() => json(body)), out);
  });
}

caseOf("C-508", async ({ maxFrameBytes, bodyBytes }, out) => {
  const long = (message) => {
    const text = (padding) =>
      JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { content: [], padding } });
    return json(text("x".repeat(bodyBytes - text("").length)));
  };
  sameEnd(await called(long, { maxFrameBytes }), out);
});

caseOf("C-509", async ({ initializeHeaders }, out) => {
  const { server } = await called(() => undefined, {}, { openingHeaders: initializeHeaders });
  const [first, ...later] = server.requests;
  assert.equal(first.message.method, "initialize");
  for (const name of Object.keys(out.laterHeaders)) {
    assert.equal(first.headers[name], out.initializeHeaders[name]);
    for (const request of later) {
      assert.equal(request.headers[name], out.laterHeaders[name], request.message?.method);
    }
  }
  assert.ok(later.length >= 3);
});

caseOf("C-510", async ({ initializeHeaders }, out) => {
  const server = new HttpServer({ openingHeaders: initializeHeaders });
  const ended = await connectHttp(strict(server)).then(
    () => ({ ok: true }),
    (error) => ({ error }),
  );
  sameEnd(ended, out);
  assert.equal(server.requests.length, 1);
});

for (const id of ["C-511", "C-512"]) {
  caseOf(id, async ({ sse }, out) => {
    sameEnd(await called(() => events(sse)), out);
    // And byte by byte.
    const bytes = [...new TextEncoder().encode(sse)].map((byte) => Uint8Array.of(byte));
    sameEnd(await called(() => events(bytes)), out);
  });
}

caseOf("C-513", async ({ maxFrameBytes }, out) => {
  const padding = "x".repeat(290);
  const twoLines = `data: ${padding}\ndata: ${padding}\n\n`;
  sameEnd(await called(() => events(twoLines), { maxFrameBytes }), out);
  const oneLine = `data: ${padding}${padding}`;
  sameEnd(await called(() => events(oneLine), { maxFrameBytes }), out);
});

caseOf("C-515", async ({ status }, out) => {
  const ended = await called(
    () => new Response("gone", { status }),
    {},
    { openingHeaders: { "mcp-session-id": "s" } },
  );
  sameEnd(ended, out);
  assert.equal(ended.calls, out.attempts);
});

caseOf("C-517", async ({ messages }, out) => {
  let tokenCalls = 0;
  const authProvider = async () => {
    tokenCalls += 1;
    return "secret";
  };
  const { server } = await called(() => undefined, { authProvider });
  const posts = server.requests.filter(({ method }) => method === "POST");
  assert.equal(posts.length, messages);
  assert.equal(tokenCalls, out.tokenCalls);
  for (const { headers } of posts) {
    assert.equal(headers.authorization, "Bearer secret");
  }
});

caseOf("C-518", async (_, out) => {
  const server = new HttpServer();
  const own = new Error("the key store is locked");
  const authProvider = async () => {
    throw own;
  };
  await assert.rejects(connectHttp(strict(server, { authProvider })), (error) => error === own);
  assert.equal(server.requests.length, out.sent);
  // The same for one message of a connection that stands.
  let fails = false;
  const client = await connectHttp(
    strict(server, {
      authProvider: async () => {
        if (fails) {
          throw own;
        }
        return "t";
      },
    }),
  );
  const before = server.requests.length;
  fails = true;
  await assert.rejects(client.callTool("t", {}), (error) => error === own);
  assert.equal(server.requests.length, before);
  fails = false;
  assert.deepEqual((await client.callTool("t", {})).content, []);
  await client.close();
});

caseOf("C-519", async ({ session }, out) => {
  const deletes = async (openingHeaders, answer) => {
    const server = new HttpServer({ openingHeaders, answer });
    const client = await connectHttp(strict(server));
    const start = performance.now();
    await client.close();
    const took = performance.now() - start;
    return { took, count: server.requests.filter(({ method }) => method === "DELETE").length };
  };
  const id = { "mcp-session-id": session };
  assert.equal((await deletes(id)).count, out.deletes);
  assert.equal((await deletes({})).count, 0);
  // One that is not answered costs a second.
  const never = ({ method, signal }) =>
    method === "DELETE"
      ? new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        })
      : undefined;
  const { took, count } = await deletes(id, never);
  assert.equal(count, 1);
  assert.ok(took > 900 && took < 10_000, `${took} ms`);
});

caseOf("C-520", async (_, out) => {
  const silent = ({ message, signal }) =>
    message?.method === "tools/call"
      ? new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        })
      : undefined;
  const server = new HttpServer({ answer: silent });
  const client = await connectHttp(strict(server));
  await assert.rejects(client.callTool("t", {}, { timeoutMs: 60 }), {
    code: "timeout",
    reason: "deadline",
  });
  await until(() => server.got("notifications/cancelled").length > 0);
  const cancelled = server.got("notifications/cancelled");
  assert.equal(cancelled.length, out.cancellations);
  assert.equal(cancelled[0].message.params.requestId, server.got("tools/call")[0].message.id);
  await client.close();
  // Not for `initialize`.
  const mute = new HttpServer({
    answer: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  });
  await assert.rejects(connectHttp(strict(mute, { handshakeTimeoutMs: 60 })), { code: "timeout" });
  assert.deepEqual(
    mute.requests.map(({ message }) => message.method),
    ["initialize"],
  );
});

test("every case of kind http has a test", () => {
  assert.deepEqual([...cases.keys()].filter((id) => !covered.has(id)), []);
  assert.equal(covered.size, 15);
});
