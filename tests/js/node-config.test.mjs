// Configuration files (rows R05, R82 to R84).
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { node } from "./support/toolwire.mjs";

const { loadConfig, parseConfig } = node;

const STDIO = { server: "s", command: "node", args: ["x"] };
const HTTP = { server: "h", url: "https://mcp.example.test/mcp" };

const parse = (value, env = {}) => parseConfig(JSON.stringify(value), { env });

function refusal(value, env) {
  try {
    parse(value, env);
  } catch (error) {
    return error;
  }
  throw new Error(`accepted: ${JSON.stringify(value)}`);
}

test("entries keep the order of the file, and only members that mean something", () => {
  const entries = parse([
    {
      ...STDIO,
      cwd: "/w",
      env: { A: "1" },
      maxFrameBytes: 5,
      include: ["t"],
      nonsense: { deep: 1 },
    },
    { ...HTTP, headers: { "x-a": "b" }, namePrefix: "", command_: "no" },
    { ...STDIO, server: "s2", args: [], profile: "strict", shutdownGraceMs: 0, stderr: "inherit" },
  ]);
  assert.deepEqual(entries, [
    { ...STDIO, cwd: "/w", env: { A: "1" }, maxFrameBytes: 5, include: ["t"] },
    { ...HTTP, headers: { "x-a": "b" }, namePrefix: "" },
    { ...STDIO, server: "s2", args: [], profile: "strict", shutdownGraceMs: 0, stderr: "inherit" },
  ]);
});

test("what is no list of entries is refused, and the place is named", () => {
  const cases = [
    [1, ""],
    [null, ""],
    ["text", ""],
    [{}, ""],
    [{ mcpServers: [] }, ""],
    [[1], "/0"],
    [[STDIO, null], "/1"],
    [[[]], "/0"],
    [[{ server: "s" }], "/0"],
    [[{ ...STDIO, url: HTTP.url }], "/0"],
    [[{ server: "s", command: "node" }], "/0"],
    [[{ command: "node", args: [] }], "/0"],
    [[{ ...STDIO, server: "" }], "/0/server"],
    [[{ ...STDIO, server: 1 }], "/0/server"],
    [[{ ...STDIO, command: "" }], "/0/command"],
    [[{ ...STDIO, args: "x" }], "/0/args"],
    [[{ ...STDIO, args: [1] }], "/0/args"],
    [[{ ...STDIO, env: ["A"] }], "/0/env"],
    [[{ ...STDIO, env: { A: 1 } }], "/0/env"],
    [[{ ...STDIO, env: null }], "/0/env"],
    [[{ ...STDIO, cwd: "" }], "/0/cwd"],
    [[{ ...STDIO, maxStderrBytes: 0 }], "/0/maxStderrBytes"],
    [[{ ...STDIO, maxTools: "5" }], "/0/maxTools"],
    [[{ ...STDIO, shutdownGraceMs: -1 }], "/0/shutdownGraceMs"],
    [[{ ...STDIO, include: "t" }], "/0/include"],
    [[{ ...STDIO, profile: "lax" }], "/0/profile"],
    [[{ ...HTTP, url: "/mcp" }], "/0/url"],
    [[{ ...HTTP, url: "ftp://h/x" }], "/0/url"],
    [[{ ...HTTP, url: "https://u:p@h/x" }], "/0/url"],
    [[{ ...HTTP, url: "https://t@h/x" }], "/0/url"],
    [[{ ...HTTP, url: 5 }], "/0/url"],
    [[{ ...HTTP, maxFrameBytes: 1.5 }], "/0/maxFrameBytes"],
    [[{ ...HTTP, requestTimeoutMs: 2 ** 53 }], "/0/requestTimeoutMs"],
    [[{ ...HTTP, bearerTokenEnv: "A-B" }], "/0/bearerTokenEnv"],
    [[{ ...HTTP, bearerTokenEnv: "" }], "/0/bearerTokenEnv"],
    [[{ ...HTTP, bearerTokenEnv: "1A" }], "/0/bearerTokenEnv"],
  ];
  for (const [value, at] of cases) {
    const error = refusal(value);
    assert.equal(error.code, "invalid_arguments", JSON.stringify(value));
    assert.equal(error.reason, "config_not_entries");
    assert.equal(error.at, at, JSON.stringify(value));
  }
  assert.equal(refusal([{ ...STDIO, cwd: "" }]).server, "s");
});

test("what is no JSON is refused too, and a byte order mark is none of its business", () => {
  for (const text of ["", "[", "// no\n[]", undefined, "[".repeat(1_000_000)]) {
    assert.throws(() => parseConfig(text), { reason: "config_not_entries" });
  }
  assert.deepEqual(parseConfig("\ufeff[]"), []);
});

test("a token is read when the file is, and never shown", async () => {
  const entry = { ...HTTP, bearerTokenEnv: "TOK" };
  for (const env of [{}, { TOK: "" }, { TOK: undefined }]) {
    const error = refusal([entry], env);
    assert.equal(error.reason, "config_token_unset");
    assert.equal(error.server, "h");
    assert.equal(error.variable, "TOK");
    assert.match(error.message, /"h".*TOK/);
  }
  const env = { TOK: "hunter2" };
  const [read] = parse([entry], env);
  env.TOK = "later";
  assert.equal(await read.authProvider(), "hunter2");
  assert.doesNotMatch(inspect(read) + JSON.stringify(read), /hunter2/);
});

test("the array form is taken word for word", () => {
  const entry = { server: "${S}", command: "${C}", args: ["${A}"], env: { X: "${X}" } };
  assert.deepEqual(parse([entry]), [entry]);
});

test("the common form: names are keys, args may be absent, disabled servers are left out", () => {
  const document = {
    mcpServers: {
      files: { type: "stdio", command: "npx", args: ["-y", "files"], env: { A: "1" }, cwd: "/w" },
      bare: { command: "server" },
      off: { command: "server", disabled: true },
      remote: { type: "http", url: HTTP.url, headers: { "x-key": "k" }, server: "other" },
    },
  };
  assert.deepEqual(parse(document), [
    { server: "files", command: "npx", args: ["-y", "files"], cwd: "/w", env: { A: "1" } },
    { server: "bare", command: "server", args: [] },
    { server: "remote", url: HTTP.url, headers: { "x-key": "k" } },
  ]);
});

test("the common form: places are pointers into the file", () => {
  assert.equal(
    refusal({ mcpServers: { "a/b~c": { command: "x", args: 1 } } }).at,
    "/mcpServers/a~1b~0c/args",
  );
  assert.equal(refusal({ mcpServers: { "": { command: "x" } } }).at, "/mcpServers//server");
  assert.equal(refusal({ mcpServers: { a: 1 } }).at, "/mcpServers/a");
  assert.equal(refusal({ mcpServers: { a: {} } }).at, "/mcpServers/a");
});

test("the common form: variables", () => {
  const env = { HOME: "/h", TOKEN: "hunter2", EMPTY: "", NESTED: "${HOME}" };
  const [local, remote] = parse(
    {
      mcpServers: {
        local: {
          command: "${HOME}/bin/server",
          args: [
            "--root=${HOME}",
            "${MISSING:-fallback}",
            "${EMPTY:-filled}",
            "${EMPTY}",
            "$HOME $ {}",
          ],
          cwd: "${env:HOME}",
          env: { "${HOME}": "${NESTED}" },
        },
        remote: {
          url: "https://${HOST:-example.test}/mcp",
          headers: { authorization: "Bearer ${TOKEN}" },
        },
      },
    },
    env,
  );
  assert.deepEqual(local, {
    server: "local",
    command: "/h/bin/server",
    args: ["--root=/h", "fallback", "filled", "", "$HOME $ {}"],
    cwd: "/h",
    env: { "${HOME}": "${HOME}" },
  });
  assert.equal(remote.url, "https://example.test/mcp");
  assert.equal(remote.headers.authorization, "Bearer hunter2");
});

test("the common form: a variable that is not set is named, with its server", () => {
  const error = refusal({ mcpServers: { a: { command: "x", env: { K: "${MISSING}" } } } });
  assert.equal(error.reason, "config_token_unset");
  assert.equal(error.variable, "MISSING");
  assert.equal(error.server, "a");
  assert.equal(error.at, "/mcpServers/a/env");
});

test("no message repeats a value", () => {
  const secret = "hunter2";
  const documents = [
    [{ ...STDIO, env: { KEY: 1, OTHER: secret } }],
    [{ ...HTTP, url: `https://u:${secret}@h/` }],
    [{ ...STDIO, command: "", args: [secret] }],
    [{ ...STDIO, [secret]: 1, cwd: "" }],
    { mcpServers: { a: { command: "", args: ["${TOKEN}"] } } },
  ];
  for (const document of documents) {
    const error = refusal(document, { TOKEN: secret });
    assert.doesNotMatch(inspect(error) + JSON.stringify(error) + error.message, new RegExp(secret));
  }
});

test("a file is read from a path or a URL, and named when it is refused", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "toolwire-config-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "mcp.json");
  await writeFile(path, JSON.stringify([STDIO]));
  assert.deepEqual(await loadConfig(path), [STDIO]);
  assert.deepEqual(await loadConfig(pathToFileURL(path)), [STDIO]);

  await writeFile(path, "[1]");
  const named = (error) =>
    error.code === "invalid_arguments" &&
    error.reason === "config_not_entries" &&
    error.message.startsWith(`${path}: `);
  await assert.rejects(loadConfig(path), named);
  await rm(path);
  await assert.rejects(loadConfig(path), named);
  await assert.rejects(loadConfig(folder), { reason: "config_not_entries" });
});
