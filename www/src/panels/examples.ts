/** Examples of the Validate panel: schemas in the manner of real tools, and what is notable about each. */

import type { Dialect } from "../core/protocol.js";

export interface Example {
  name: string;
  schema: unknown;
  value: string;
  dialect?: Dialect;
  formats?: "annotate" | "assert";
}

const draft07 = "http://json-schema.org/draft-07/schema#";

export const examples: readonly Example[] = [
  {
    name: "Weather: a tool's result",
    schema: {
      type: "object",
      properties: {
        city: { type: "string", minLength: 1 },
        temperature: { type: "number" },
        unit: { enum: ["celsius", "fahrenheit"], default: "celsius" },
        sky: { enum: ["clear", "cloudy", "rain"] },
        observedAt: { type: "string", format: "date-time" },
      },
      required: ["city", "temperature", "sky"],
      additionalProperties: false,
    },
    value: `{\n  "city": "Lisbon",\n  "temperature": "21",\n  "sky": "sunny",\n  "wind": 12\n}\n`,
  },
  {
    name: "Files: edits with a dry run (draft-07)",
    schema: {
      $schema: draft07,
      type: "object",
      properties: {
        path: { type: "string" },
        edits: {
          type: "array",
          items: {
            type: "object",
            properties: {
              oldText: { type: "string", description: "Text to search for - must match exactly" },
              newText: { type: "string", description: "Text to replace with" },
            },
            required: ["oldText", "newText"],
            additionalProperties: false,
          },
        },
        dryRun: { type: "boolean", default: false },
      },
      required: ["path", "edits"],
      additionalProperties: false,
    },
    value: `{\n  "path": "src/lib.rs",\n  "edits": [\n    { "oldText": "fn old()", "newText": "fn new()" },\n    { "oldText": "mod a;" }\n  ]\n}\n`,
  },
  {
    name: "Time: references into $defs",
    schema: {
      $defs: {
        TimeResult: {
          type: "object",
          properties: {
            timezone: { type: "string" },
            datetime: { type: "string", format: "date-time" },
            is_dst: { type: "boolean" },
          },
          required: ["timezone", "datetime", "is_dst"],
        },
      },
      type: "object",
      properties: {
        source: { $ref: "#/$defs/TimeResult" },
        target: { $ref: "#/$defs/TimeResult" },
        time_difference: { type: "string", pattern: "^[+-]\\d+(\\.\\d+)?h$" },
      },
      required: ["source", "target", "time_difference"],
    },
    value: `{\n  "source": { "timezone": "Europe/Lisbon", "datetime": "2026-03-01T10:00:00Z", "is_dst": false },\n  "target": { "timezone": "Asia/Tokyo", "datetime": "yesterday", "is_dst": "no" },\n  "time_difference": "9 hours"\n}\n`,
    formats: "assert",
  },
  {
    name: "Knowledge graph: entities and relations",
    schema: {
      type: "object",
      properties: {
        entities: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              entityType: { type: "string" },
              observations: { type: "array", items: { type: "string" } },
            },
            required: ["name", "entityType", "observations"],
          },
        },
      },
      required: ["entities"],
    },
    value: `{\n  "entities": [\n    { "name": "Ada", "entityType": "person", "observations": ["writes programs", 1843] },\n    { "name": "Engine", "observations": [] }\n  ]\n}\n`,
  },
  {
    name: "Issue tracker: a choice of shapes",
    schema: {
      oneOf: [
        { properties: { type: { const: "open" }, title: { type: "string", minLength: 3 } }, required: ["type", "title"] },
        { properties: { type: { const: "close" }, number: { type: "integer" }, reason: { enum: ["done", "wontfix"] } }, required: ["type", "number"] },
      ],
    },
    value: `{\n  "type": "close",\n  "number": "17",\n  "reason": "done"\n}\n`,
  },
  {
    name: "Numbers that JSON.parse would change",
    schema: `{\n  "properties": {\n    "id": { "const": 9007199254740993 },\n    "share": { "multipleOf": 0.01 }\n  }\n}\n`,
    value: `{\n  "id": 9007199254740992,\n  "share": 0.29\n}\n`,
  },
  {
    name: "Unevaluated members",
    schema: {
      anyOf: [
        { properties: { email: { type: "string", format: "email" } }, required: ["email"] },
        { properties: { phone: { type: "string" } }, required: ["phone"] },
      ],
      unevaluatedProperties: false,
    },
    value: `{\n  "email": "ada@example.org",\n  "fax": "none"\n}\n`,
  },
  {
    name: "A schema that refers to nothing",
    schema: { items: { $ref: "#/$defs/row" } },
    value: "[]\n",
  },
  {
    name: "A pattern that takes for ever: neither valid nor invalid",
    schema: { type: "string", pattern: "^(\\w+\\s?)+\\1$" },
    value: `"${"a".repeat(40)}!"\n`,
  },
  {
    name: "A hostile schema",
    schema: {
      $defs: Object.fromEntries(
        Array.from({ length: 41 }, (_, level) => [
          `l${level}`,
          level === 0 ? { type: "string" } : { oneOf: [{ $ref: `#/$defs/l${level - 1}` }, { $ref: `#/$defs/l${level - 1}`, minLength: level }] },
        ]),
      ),
      $ref: "#/$defs/l40",
    },
    value: '"judged until the budget is spent"\n',
  },
];
