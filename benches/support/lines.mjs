// Owns the lines that are judged: `tools/call` responses of given sizes, one kind full of structure
// and one kind that is mostly text, with the output schemas they obey.

/** Wide enough for any id: it is written into the line in place, behind spaces. */
const ID_WIDTH = 9;

const HEAD = '{"jsonrpc":"2.0","id":';
const ID_AT = HEAD.length;

const SIZES = { "0.5 KB": 464, "2 KB": 2_200, "20 KB": 20_000, "200 KB": 200_000, "2 MB": 2_000_000 };

const STATES = ["open", "paid", "shipped", "returned"];
const WORDS = ["copper", "lantern", "meadow", "harbour", "façade", "violet", "granite", "orchard"];

/** Records as an order service answers them. Only keywords that tools of real servers use. */
const STRUCTURED_SCHEMA = {
  type: "object",
  properties: {
    total: { type: "integer", minimum: 0 },
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "integer" },
          name: { type: "string" },
          state: { type: "string", enum: STATES },
          price: { type: "number", minimum: 0 },
          paid: { type: "boolean" },
          tags: { type: "array", items: { type: "string" } },
          address: {
            type: "object",
            properties: { street: { type: "string" }, number: { type: "integer" } },
            required: ["street", "number"],
            additionalProperties: false,
          },
        },
        required: ["id", "name", "state", "price", "paid", "tags", "address"],
        additionalProperties: false,
      },
    },
  },
  required: ["total", "items"],
  additionalProperties: false,
};

const TEXT_SCHEMA = {
  type: "object",
  properties: { path: { type: "string" }, text: { type: "string" } },
  required: ["path", "text"],
  additionalProperties: false,
};

function word(index) {
  return WORDS[(index * 7) % WORDS.length];
}

function record(index) {
  return {
    id: 100_000 + index,
    name: `${word(index)} ${word(index + 3)}`,
    state: STATES[index % STATES.length],
    price: Math.round(((index * 37) % 10_000) + 50) / 100,
    paid: index % 3 === 0,
    tags: [word(index + 1), word(index + 2)],
    address: { street: `${word(index + 5)} street`, number: (index % 240) + 1 },
  };
}

function structured(size) {
  const items = [];
  let length = 120;
  for (let index = 0; length < size; index += 1) {
    items.push(record(index));
    length += JSON.stringify(items.at(-1)).length + 1;
  }
  return { total: items.length, items };
}

function text(size) {
  const sentences = [];
  let length = 130;
  for (let index = 0; length < size; index += 1) {
    const sentence = `The ${word(index)} by the ${word(index + 2)} is ${(index * 13) % 997} years old.`;
    sentences.push(sentence);
    length += sentence.length + 2;
  }
  return { path: "notes/old.txt", text: sentences.join("\n") };
}

/** A line without its newline; the id is blank until `writeId`. */
function lineOf(structuredContent) {
  const result = { content: [{ type: "text", text: "ok" }], structuredContent };
  return Buffer.from(`${HEAD}${" ".repeat(ID_WIDTH)},"result":${JSON.stringify(result)}}`);
}

/** Writes an id into the blank of a line. */
function writeId(line, id) {
  let rest = id;
  for (let at = ID_AT + ID_WIDTH - 1; at >= ID_AT; at -= 1) {
    line[at] = rest > 0 ? 0x30 + (rest % 10) : 0x20;
    rest = Math.floor(rest / 10);
  }
}

const KINDS = {
  structured: { schema: STRUCTURED_SCHEMA, value: structured },
  text: { schema: TEXT_SCHEMA, value: text },
};

/** Every case: its name, schema, value and line, with id 1. */
function cases({ quick }) {
  const all = [];
  for (const [kind, { schema, value }] of Object.entries(KINDS)) {
    for (const [name, size] of Object.entries(SIZES)) {
      if (quick && size > 200_000) {
        continue;
      }
      const content = value(size);
      const line = lineOf(content);
      writeId(line, 1);
      all.push({ name: `${kind} ${name}`, kind, size: name, schema, content, line });
    }
  }
  return all;
}

export { cases, writeId };
