// TypeBox types from JSON Schema, by the rules that `cast-0.34` follows: the first keyword that is
// understood decides, its siblings are dropped, and the rest accepts everything.
import { Type } from "@sinclair/typebox";

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SCALARS = {
  string: Type.String,
  number: Type.Number,
  integer: Type.Integer,
  boolean: Type.Boolean,
  null: Type.Null,
};

export function fromSchema(schema) {
  if (!isObject(schema)) {
    return Type.Unknown();
  }
  if (Array.isArray(schema.allOf)) {
    return Type.Intersect(schema.allOf.map(fromSchema), schema);
  }
  for (const variants of [schema.anyOf, schema.oneOf]) {
    if (Array.isArray(variants)) {
      return Type.Union(variants.map(fromSchema), schema);
    }
  }
  const { type, items, properties, required } = schema;
  if (
    Array.isArray(schema.enum) &&
    schema.enum.every((value) => ["string", "number", "boolean"].includes(typeof value))
  ) {
    return Type.Union(schema.enum.map((value) => Type.Literal(value)));
  }
  if (type === "object" && isObject(properties)) {
    const members = Object.entries(properties).map(([name, member]) => [
      name,
      required?.includes(name) ? fromSchema(member) : Type.Optional(fromSchema(member)),
    ]);
    return Type.Object(Object.fromEntries(members), schema);
  }
  if (type === "array" && Array.isArray(items)) {
    return Type.Tuple(items.map(fromSchema), schema);
  }
  if (type === "array" && isObject(items)) {
    return Type.Array(fromSchema(items), schema);
  }
  if (isObject(schema.const)) {
    return Type.Literal(schema.const, schema);
  }
  if (typeof schema.$ref === "string") {
    return Type.Ref(schema.$ref);
  }
  return Object.hasOwn(SCALARS, type) ? SCALARS[type](schema) : Type.Unknown(schema);
}
