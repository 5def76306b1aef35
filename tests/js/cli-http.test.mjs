// Servers behind a URL, as a configuration names them: their token is used and never printed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { configFile, folder, run } from "./support/cli.mjs";
import { listen } from "./support/http.mjs";
import { web } from "./support/toolwire.mjs";

const TOKEN = "token-nobody-may-read";

test("a server behind a URL is listed, called and recorded", async (t) => {
  const seen = [];
  const served = {
    serverInfo: { name: "remote", version: "1.0.0" },
    tools: [{ name: "tell", description: "Tells what it got.", inputSchema: { type: "object" } }],
    handleCall: async (_, args, identity) => ({
      content: [{ type: "text", text: `${identity} ${JSON.stringify(args)}` }],
    }),
  };
  const handler = web.createHttpHandler(served, {
    identify: (request) => {
      seen.push(request.headers.get("authorization"));
      return request.headers.get("authorization");
    },
  });
  const url = (await listen(t, handler)).href;
  const config = configFile(t, [{ server: "remote", url, bearerTokenEnv: "REMOTE_TOKEN" }]);
  const env = { REMOTE_TOKEN: TOKEN };
  const listed = await run(["tools", "--config", config], { env });
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /^remote {2}modern 2026-07-28 · remote 1\.0\.0 · 1 tool$/m);
  const record = path.join(folder(t), "r.jsonl");
  const called = await run(
    ["call", "--config", config, "--record", record, "remote", "tell", '{"a":1}'],
    { env },
  );
  assert.equal(called.code, 0, called.stderr);
  assert.equal(called.stdout, 'Bearer [REDACTED] {"a":1}\n');
  assert.ok(seen.every((header) => header === `Bearer ${TOKEN}`));
  assert.match(readFileSync(record, "utf8"), /"name":"tell"/);
  assert.equal((await run(["replay", record])).code, 0);
  const unset = await run(["tools", "--config", config]);
  assert.equal(unset.code, 2);
  assert.match(unset.stderr, /REMOTE_TOKEN/);
});

test("one that cannot be reached is exit code 3", async (t) => {
  const config = configFile(t, { mcpServers: { away: { url: "http://127.0.0.1:9/mcp" } } });
  const { code, stdout } = await run(["tools", "--config", config]);
  assert.equal(code, 3);
  assert.match(stdout, /away {2}not available/);
});
