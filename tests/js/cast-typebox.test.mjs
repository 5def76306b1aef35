// `cast-0.34` against the library it follows: TypeBox itself, over made-up schemas and values.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

import { fromSchema } from "./support/from-schema.mjs";
import { toolwire } from "./support/toolwire.mjs";

const { ToolwireError, compileSchema } = toolwire;
const EXACT = { mode: "cast-0.34" };
const ROUNDS = Number(process.env.TOOLWIRE_CAST_ROUNDS ?? 3_000);

/** A small generator of numbers, so that a failure can be repeated. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

const NAMES = ["a", "b", "kind", "n"];
const SCALARS = [0, 1, -3, 2.5, "", "a", "xyz", true, false, null];

function oneOf(pick, list) {
  return list[pick(list.length)];
}

function madeValue(pick, depth) {
  switch (depth === 0 ? 0 : pick(4)) {
    case 1:
      return Array.from({ length: pick(4) }, () => madeValue(pick, depth - 1));
    case 2:
    case 3:
      return Object.fromEntries(
        Array.from({ length: pick(4) }, () => [
          oneOf(pick, [...NAMES, "extra"]),
          madeValue(pick, depth - 1),
        ]),
      );
    default:
      return oneOf(pick, SCALARS);
  }
}

function madeSchema(pick, depth) {
  const schema = bareSchema(pick, depth);
  if (pick(6) === 0 && schema.enum === undefined) {
    // No arrays: laid over in an intersection, those become objects with a `length` there. And no
    // strings for arrays, where they count as such.
    const made = madeValue(pick, 1);
    const isOdd = Array.isArray(made) || (schema.type === "array" && typeof made === "string");
    schema.default = isOdd ? made.length : made;
  }
  return schema;
}

function bareSchema(pick, depth) {
  switch (depth === 0 ? pick(6) : pick(12)) {
    case 0:
      return pick(3) === 0 ? { type: "string", minLength: pick(3) } : { type: "string" };
    case 1:
      return pick(3) === 0 ? { type: "number", minimum: pick(5) } : { type: "number" };
    case 2:
      return { type: "integer" };
    case 3:
      return { type: oneOf(pick, ["boolean", "null"]) };
    case 4:
      return { enum: [...new Set([oneOf(pick, ["a", 1]), oneOf(pick, ["b", "a", true])])] };
    case 5:
      return oneOf(pick, [{}, { type: ["string", "null"] }, { type: "object" }]);
    case 6: {
      const items = madeSchema(pick, depth - 1);
      const schema = { type: "array", items };
      if (pick(3) === 0) schema.minItems = pick(3);
      if (pick(3) === 0) schema.maxItems = 2 + pick(2);
      if (pick(5) === 0) schema.uniqueItems = true;
      return schema;
    }
    case 7: {
      const items = Array.from({ length: 1 + pick(2) }, () => madeSchema(pick, depth - 1));
      return { type: "array", items, minItems: items.length, maxItems: items.length };
    }
    case 8: {
      const keyword = oneOf(pick, ["anyOf", "oneOf"]);
      return { [keyword]: Array.from({ length: 2 + pick(2) }, () => madeSchema(pick, depth - 1)) };
    }
    case 9:
      return { allOf: [madeObject(pick, depth - 1), madeObject(pick, depth - 1)] };
    default:
      return madeObject(pick, depth);
  }
}

function madeObject(pick, depth) {
  const names = NAMES.filter(() => pick(2) === 0);
  const properties = Object.fromEntries(
    names.map((name) => [name, madeSchema(pick, Math.max(0, depth - 1))]),
  );
  const schema = { type: "object", properties };
  if (pick(4) > 0) schema.required = names.filter(() => pick(2) === 0);
  if (pick(6) === 0) schema.additionalProperties = false;
  return schema;
}

function attempt(action) {
  try {
    return { value: action() };
  } catch (error) {
    return { error };
  }
}

/** Members that are `undefined` are none in JSON. */
function plain(value) {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** True if some member is there and `undefined`, which JSON cannot say. */
function hasUndefined(value) {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).some((member) => member === undefined || hasUndefined(member))
  );
}

test("casts come out as TypeBox's do", () => {
  const pick = random(34);
  let cast = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const schema = madeSchema(pick, 3);
    const type = fromSchema(schema);
    const compiled = compileSchema(schema, { dialect: "draft-07" });
    for (let count = 0; count < 4; count += 1) {
      const value = madeValue(pick, 3);
      const expected = attempt(() => Value.Cast(type, structuredClone(value)));
      const actual = attempt(() => compiled.cast(value, EXACT));
      if (actual.error !== undefined && hasUndefined(expected.value)) {
        continue;
      }
      const where = JSON.stringify({ round, schema, value });
      if (expected.error !== undefined) {
        refused += 1;
        assert.ok(actual.error instanceof ToolwireError, where);
        continue;
      }
      assert.equal(actual.error, undefined, `${where} ${actual.error?.reason}`);
      const { value: made, changes } = actual.value;
      if (compiled.isValid(value)) {
        assert.equal(made, value, where);
        continue;
      }
      assert.deepEqual(made, plain(expected.value), where);
      assert.equal(changes.length > 0, made !== value, where);
      cast += made !== value;
    }
    compiled.free();
  }
  assert.ok(cast > ROUNDS, `${cast} casts`);
  assert.ok(refused > 10, `${refused} refusals`);
});
