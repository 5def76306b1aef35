/**
 * Owns the schema documents of envelopes and call events. Invariant: `ResponseEnvelopeSchema` accepts
 * exactly what `isResponseEnvelope` accepts, and is the document that the core judges its own guard
 * by; a test holds the two together. The documents are frozen.
 */

import { deepFreeze } from "./json.js";

const STRING = { type: "string" };
const NUMBER = { type: "number" };
const OBJECT = { type: "object" };

function object(properties, required) {
  return { type: "object", properties, required };
}

const BLOCKS = ["text", "image", "audio", "resource", "resource_link"];

const ResponseMetaSchema = {
  anyOf: [
    object({ source: { const: "local" }, operationId: STRING, timestamp: NUMBER }, [
      "source",
      "operationId",
      "timestamp",
    ]),
    object(
      {
        source: { const: "http" },
        statusCode: NUMBER,
        headers: { type: "object", additionalProperties: STRING },
        contentType: STRING,
      },
      ["source", "statusCode", "headers", "contentType"],
    ),
    object(
      {
        source: { const: "mcp" },
        isError: { type: "boolean" },
        content: {
          type: "array",
          items: {
            anyOf: [
              object({ type: { const: "text" }, text: STRING }, ["type", "text"]),
              object({ type: { enum: ["image", "audio"] }, data: STRING, mimeType: STRING }, [
                "type",
                "data",
                "mimeType",
              ]),
              object({ type: { const: "resource" }, resource: object({ uri: STRING }, ["uri"]) }, [
                "type",
                "resource",
              ]),
              object({ type: { const: "resource_link" }, uri: STRING, name: STRING }, [
                "type",
                "uri",
                "name",
              ]),
              object({ type: { type: "string", not: { enum: BLOCKS } } }, ["type"]),
            ],
          },
        },
        structuredContent: true,
        _meta: OBJECT,
      },
      ["source", "isError", "content"],
    ),
  ],
};

const ResponseEnvelopeSchema = object({ data: true, meta: ResponseMetaSchema }, ["data", "meta"]);

const STRINGS = { type: "array", items: STRING };

const IDENTITY = object(
  {
    id: STRING,
    scopes: STRINGS,
    resources: { type: "object", additionalProperties: STRINGS },
  },
  ["id", "scopes"],
);

const CallEventSchema = {
  "call.requested": object(
    {
      requestId: STRING,
      operationId: STRING,
      input: true,
      parentRequestId: STRING,
      deadline: NUMBER,
      idleTimeout: NUMBER,
      identity: IDENTITY,
      metadata: OBJECT,
    },
    ["requestId", "operationId", "input"],
  ),
  "call.responded": object({ requestId: STRING, output: ResponseEnvelopeSchema }, [
    "requestId",
    "output",
  ]),
  "call.completed": object({ requestId: STRING }, ["requestId"]),
  "call.aborted": object({ requestId: STRING }, ["requestId"]),
  "call.error": object(
    {
      requestId: STRING,
      code: STRING,
      message: STRING,
      details: true,
      retryable: { type: "boolean" },
    },
    ["requestId", "code", "message"],
  ),
};

deepFreeze(CallEventSchema);

export { CallEventSchema, ResponseEnvelopeSchema, ResponseMetaSchema };
