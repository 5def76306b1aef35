/**
 * Owns how a specification of the host's is read: each member once, as JSON, before the core checks
 * it. A schema made by a library may carry symbols, which JSON has no word for; they are left out.
 */

import { pick } from "./options.js";
import { errorFor } from "./sentences.js";
import { copyJson } from "./snapshot.js";

const MEMBERS = [
  "namespace",
  "name",
  "version",
  "type",
  "title",
  "description",
  "tags",
  "inputSchema",
  "outputSchema",
  "errorSchemas",
  "accessControl",
  "visibility",
  "resourceIdPath",
  "authority",
  "annotations",
  "_meta",
];

const KNOWN = new Set([...MEMBERS, "handler"]);

const COPY = {
  budget: 134_217_728,
  maxDepth: 65_536,
  omitUndefined: true,
  omitSymbols: true,
  bigintDigits: true,
};

/**
 * A specification as JSON text, with its id and type as far as they are strings, and its output
 * schema as it was given, if it says anything: what a library marked it with is in no text. What a
 * server calls its tool is in no message.
 */
function specText(spec, index, isImported) {
  if (typeof spec !== "object" || spec === null) {
    throw errorFor({ code: "invalid_arguments", reason: "spec_member", option: "spec", index });
  }
  const picked = pick(spec, MEMBERS);
  const { namespace, name, type } = picked;
  const isNamed = typeof namespace === "string" && typeof name === "string";
  const id = isNamed ? `${namespace}.${name}` : undefined;
  const texts = {};
  for (const [member, value] of Object.entries(picked)) {
    const { text, fault } = copyJson(value, COPY);
    if (fault !== undefined) {
      const reason = "not_json";
      const operation = isImported ? undefined : id;
      const facts = { option: member, operation, index, private: fault };
      throw errorFor({ code: "invalid_arguments", reason, ...facts });
    }
    texts[member] = text;
  }
  // The core refuses what it does not know: a misspelt rule must not be no rule.
  const unknown = Object.keys(spec).find((key) => !KNOWN.has(key) && spec[key] !== undefined);
  if (unknown !== undefined) {
    texts[unknown] = "null";
  }
  const members = Object.entries(texts).map(([member, text]) => `${JSON.stringify(member)}:${text}`);
  const saysNothing = texts.outputSchema === "{}" || texts.outputSchema === "true";
  const output = saysNothing ? undefined : picked.outputSchema;
  return { text: `{${members.join(",")}}`, id, type, output };
}

/** True if a function can be the handler of an operation of this type. */
function fitsType(type, handler) {
  const kind = Object.prototype.toString.call(handler).slice(8, -1);
  switch (type) {
    case "publish":
      return false;
    case "subscription":
      // It could only ever give a promise.
      return kind !== "AsyncFunction";
    default:
      return kind !== "AsyncGeneratorFunction" && kind !== "GeneratorFunction";
  }
}

export { fitsType, specText };
