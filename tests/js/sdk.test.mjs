// `toolwire/sdk`: the validator option of the official SDK, in clients of both lines, with servers
// that are processes: the reference server and one built with each line of the SDK.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as ClientV2, fromJsonSchema } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";

const packageRequire = createRequire(new URL("../../pkg/package.json", import.meta.url));
const { ToolwireError, ToolwireJsonSchemaValidator } = packageRequire("toolwire/sdk");
const { coreInfo } = packageRequire("toolwire");

const localRequire = createRequire(import.meta.url);

const LINES = [
  { line: "v1", Client: ClientV1, Transport: TransportV1 },
  { line: "v2", Client: ClientV2, Transport: TransportV2 },
];

/** A connected client of the given line that ends with the test. */
async function connected(t, { Client, Transport }, args, options) {
  const client = new Client(
    { name: "sdk-test", version: "1.0.0" },
    { jsonSchemaValidator: new ToolwireJsonSchemaValidator(options) },
  );
  t.after(() => client.close());
  await client.connect(new Transport({ command: process.execPath, args, stderr: "ignore" }));
  return client;
}

function fixture(line) {
  return [fileURLToPath(new URL(`../fixtures/sdk/server-${line}.mjs`, import.meta.url))];
}

/** Nothing that the fixture's answers or schemas say may be in a message. */
function withholds(error) {
  assert.doesNotMatch(error.message, /s3cret|measured|account|balance|example\.com/);
  return true;
}

async function rejects(calling, message) {
  await assert.rejects(calling, (error) => {
    assert.match(error.message, message);
    return withholds(error);
  });
}

for (const side of LINES) {
  describe(`a client of SDK ${side.line}`, () => {
    test("judges what the reference server answers", async (t) => {
      const bin = "@modelcontextprotocol/server-everything/dist/index.js";
      const client = await connected(t, side, [localRequire.resolve(bin), "stdio"]);
      const { tools } = await client.listTools();
      const declaring = tools.filter((tool) => tool.outputSchema !== undefined);
      assert.deepEqual(declaring.map((tool) => tool.name), ["get-structured-content"]);
      const result = await client.callTool({
        name: "get-structured-content",
        arguments: { location: "Chicago" },
      });
      assert.equal(typeof result.structuredContent.temperature, "number");
    });

    for (const { line } of LINES) {
      test(`contains faults to their tool, server of SDK ${line}`, async (t) => {
        const client = await connected(t, side, fixture(line), { onUncompilable: "report" });
        const { tools } = await client.listTools();
        assert.equal(tools.length, 6);
        const measure = await client.callTool({ name: "measure" });
        assert.deepEqual(measure.structuredContent, { measured: ["mass", 12.5] });
        const namesake = await client.callTool({ name: "namesake" });
        assert.deepEqual(namesake.structuredContent, { other: true });
        const plain = await client.callTool({ name: "plain" });
        assert.deepEqual(plain.content, [{ type: "text", text: "plain" }]);
        await rejects(client.callTool({ name: "violates" }), /property paths withheld/);
        const unresolved = /does not compile \(unresolved_ref\); the value was not judged/;
        await rejects(client.callTool({ name: "dangling" }), unresolved);
        await rejects(client.callTool({ name: "both" }), unresolved);
      });
    }
  });
}

test("SDK v1: throwing at a schema that does not compile fails the listing, as its own does", async (t) => {
  const client = await connected(t, LINES[0], fixture("v1"));
  await assert.rejects(client.listTools(), (error) => {
    assert.ok(error instanceof ToolwireError);
    assert.equal(error.code, "schema_error");
    assert.equal(error.reason, "unresolved_ref");
    return withholds(error);
  });
});

test("SDK v2: throwing at a schema that does not compile refuses that tool alone", async (t) => {
  const client = await connected(t, LINES[1], fixture("v2"));
  await client.listTools();
  const measure = await client.callTool({ name: "measure" });
  assert.deepEqual(measure.structuredContent, { measured: ["mass", 12.5] });
  await assert.rejects(client.callTool({ name: "dangling" }));
  await rejects(client.callTool({ name: "violates" }), /property paths withheld/);
});

test("SDK v2: standard schemas made of JSON Schema are judged by it", async () => {
  const schema = fromJsonSchema({ type: "object", required: ["a"] }, new ToolwireJsonSchemaValidator());
  const good = { a: 1 };
  const judged = await schema["~standard"].validate(good);
  assert.equal(judged.value, good);
  const refused = await schema["~standard"].validate({});
  assert.equal(refused.issues.length, 1);
});

test("the value that was judged is given back, and a message holds no value and no name", () => {
  const provider = new ToolwireJsonSchemaValidator();
  const validator = provider.getValidator({
    type: "object",
    properties: { "s3cret-name": { type: "string" }, kind: { enum: ["s3cret-kind"] } },
    required: ["kind"],
  });
  const value = { kind: "s3cret-kind", extra: [1] };
  const judged = validator(value);
  assert.equal(judged.data, value);
  assert.deepEqual(judged, { valid: true, data: value, errorMessage: undefined });
  for (const bad of [{ "s3cret-name": 5 }, { kind: "s3cret-value" }, "s3cret-text", null]) {
    const refused = validator(bad);
    assert.equal(refused.valid, false);
    assert.equal(refused.data, undefined);
    assert.match(refused.errorMessage, /property paths? withheld$/);
    assert.doesNotMatch(refused.errorMessage, /s3cret/);
  }
});

test("what is not JSON is not valid, and nothing of it runs", () => {
  const validator = new ToolwireJsonSchemaValidator().getValidator({});
  const armed = {
    get member() {
      throw new Error("ran");
    },
  };
  for (const value of [undefined, () => {}, armed, { a: Symbol("s") }]) {
    const refused = { valid: false, data: undefined, errorMessage: "the value is not JSON" };
    assert.deepEqual(validator(value), refused);
  }
});

test("a value that costs too much is reported as not judged", () => {
  const provider = new ToolwireJsonSchemaValidator({ maxSteps: 10 });
  const validator = provider.getValidator({ type: "array", items: { type: "integer" } });
  assert.equal(validator([1]).valid, true);
  const { valid, errorMessage } = validator(Array.from({ length: 1000 }, () => 1));
  assert.equal(valid, false);
  assert.match(errorMessage, /^the value could not be judged \(\w+\)$/);
});

test("options: which are refused, and which reach the engine", () => {
  assert.throws(
    () => new ToolwireJsonSchemaValidator({ onUncompilable: "ignore" }),
    (error) => error instanceof ToolwireError && error.option === "onUncompilable",
  );
  const uri = "https://example.com/money";
  const money = { [uri]: { type: "integer" } };
  const provider = new ToolwireJsonSchemaValidator({ resources: money });
  const validator = provider.getValidator({ $ref: uri });
  assert.equal(validator(5).valid, true);
  assert.equal(validator("5").valid, false);
  const reporting = new ToolwireJsonSchemaValidator({ onUncompilable: "report", maxDepth: -1 });
  assert.throws(() => reporting.getValidator({}), ToolwireError);
});

test("a schema object is compiled once, and what was compiled goes with it", async () => {
  const provider = new ToolwireJsonSchemaValidator();
  const schema = { type: "string" };
  assert.equal(provider.getValidator(schema), provider.getValidator(schema));
  assert.notEqual(provider.getValidator(schema), provider.getValidator({ type: "string" }));

  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc");
  const many = () => {
    for (let index = 0; index < 300; index += 1) {
      const names = Array.from({ length: 100 }, (_, number) => `member-${index}-${number}`);
      provider.getValidator({ enum: names });
    }
  };
  const rounds = [];
  for (let round = 0; round < 6; round += 1) {
    many();
    // Finalizers run in tasks of their own.
    for (let turn = 0; turn < 3; turn += 1) {
      collectGarbage();
      await new Promise(setImmediate);
    }
    rounds.push(coreInfo().memoryBytes);
  }
  assert.equal(rounds.at(-1), rounds[2], "memory stops growing once schemas are forgotten");
});
