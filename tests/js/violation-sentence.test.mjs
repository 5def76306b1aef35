// The sentence of an output violation, word for word, and that nothing of the peer's is in it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { MemoryServer } from "./support/memory-server.mjs";
import { toolwire } from "./support/toolwire.mjs";

const object = (properties) => ({ type: "object", properties });

const CASES = [
  {
    title: "a type",
    outputSchema: object({ secretName: { type: "integer" } }),
    structuredContent: { secretName: "SECRET" },
    why: "expected integer",
    path: "/secretName",
    value: "SECRET",
  },
  {
    title: "a union, in declared order",
    outputSchema: object({ secretName: { type: ["null", "integer", "boolean"] } }),
    structuredContent: { secretName: "SECRET" },
    why: "expected null or integer or boolean",
    path: "/secretName",
    value: "SECRET",
  },
  {
    title: "an enum",
    outputSchema: object({ secretName: { enum: ["a", "b"] } }),
    structuredContent: { secretName: "SECRET" },
    why: "expected a declared enum value",
    path: "/secretName",
    value: "SECRET",
  },
  {
    title: "a required member",
    outputSchema: { ...object({}), required: ["secretName"] },
    structuredContent: { other: "SECRET" },
    why: "required property is missing",
    path: "",
    value: { other: "SECRET" },
  },
  {
    title: "at depth",
    outputSchema: object({ secretName: { type: "array", items: object({ b: { type: "string" } }) } }),
    structuredContent: { secretName: [{ b: "x" }, { b: ["SECRET"] }] },
    why: "expected string",
    path: "/secretName/1/b",
    value: ["SECRET"],
  },
  {
    title: "any other keyword",
    outputSchema: { ...object({}), additionalProperties: false },
    structuredContent: { secretName: "SECRET" },
    why: "additionalProperties is not satisfied",
    path: "",
    value: { secretName: "SECRET" },
  },
];

for (const { title, outputSchema, structuredContent, why, path, value } of CASES) {
  for (const profile of ["contain", "strict"]) {
    if (profile === "strict" && title === "any other keyword") {
      // System C reads five keywords.
      continue;
    }
    test(`${title} (${profile})`, async () => {
      const content = [{ type: "text", text: "SECRET content" }];
      const server = new MemoryServer({
        tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }],
        answer: () => ({ content, structuredContent }),
      });
      const client = await toolwire.connectStreams(server.options({ profile }));
      const error = await client.callTool("t").then(assert.fail, (reason) => reason);
      await client.close();
      assert.equal(error.code, "invalid_response");
      assert.equal(error.reason, "output_schema_violation");
      assert.equal(
        error.message,
        'MCP server "memory" returned structuredContent that its own outputSchema rejects: ' +
          `${why}; property path withheld`,
      );
      const shown = [error.message, String(error), inspect(error, { depth: 9, showHidden: true })];
      shown.push(JSON.stringify(error), String(error.private), JSON.stringify(error.private));
      for (const text of shown) {
        assert.ok(!/SECRET|secretName/.test(text), text);
      }
      const seen = error.private.reveal();
      assert.deepEqual([seen.path, seen.value, seen.content], [path, value, content]);
    });
  }
}
