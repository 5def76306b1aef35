/** The examples of the page: what makes each worth a look is in its name. */

const examples = [
  {
    name: "A tool's result",
    schema: `{
  "type": "object",
  "properties": {
    "city": { "type": "string", "minLength": 1 },
    "temperature": { "type": "number" },
    "sky": { "enum": ["clear", "cloudy", "rain"] }
  },
  "required": ["city", "temperature"],
  "additionalProperties": false
}`,
    value: `{
  "city": "Lisbon",
  "temperature": "21",
  "sky": "sunny"
}`,
  },
  {
    name: "Numbers that JSON.parse would change",
    schema: `{
  "properties": {
    "id": { "const": 9007199254740993 },
    "share": { "multipleOf": 0.01 }
  }
}`,
    value: `{
  "id": 9007199254740992,
  "share": 0.29
}`,
  },
  {
    name: "Unevaluated members",
    schema: `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "anyOf": [
    { "properties": { "email": { "type": "string" } }, "required": ["email"] },
    { "properties": { "phone": { "type": "string" } }, "required": ["phone"] }
  ],
  "unevaluatedProperties": false
}`,
    value: `{
  "email": "ada@example.org",
  "fax": "none"
}`,
  },
  {
    name: "A schema that refers to nothing",
    schema: `{
  "items": { "$ref": "#/$defs/row" }
}`,
    value: `[]`,
  },
];

export { examples };
