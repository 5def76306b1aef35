/**
 * Owns what happens between a server's `elicitation/create` and the host's handler: only modes the
 * client declares reach it, what it leaves out takes the form's defaults, and what it accepts with
 * is judged by the form. Invariant: nothing that breaks the form reaches the server.
 */

import { Redacted } from "./redacted.js";
import { compileSchemaAsync } from "./schema.js";

const ELICITATION = "elicitation/create";
const INVALID_PARAMS = -32602;
const ACTIONS = ["accept", "decline", "cancel"];

/**
 * Has a handler answer. `capabilities` are those the client declares; `diagnose` is told when the
 * answer is none, because that is the host's fault.
 */
async function elicit(handler, params, context, { elicitation }, diagnose) {
  const mode = params?.mode ?? "form";
  if (!offers(elicitation, mode)) {
    throw refusal("this elicitation mode is not offered");
  }
  if (mode === "url" && !isWebUrl(params.url)) {
    throw refusal("url must be an absolute http or https URL");
  }
  const answer = await handler(params, context);
  if (!ACTIONS.includes(answer?.action)) {
    throw rejected({ reason: "action" }, diagnose);
  }
  if (answer.action !== "accept") {
    return answer;
  }
  if (mode === "url") {
    return { action: "accept" };
  }
  const content = withDefaults(answer.content ?? {}, params?.requestedSchema);
  const violations = await violationsOf(content, params?.requestedSchema, context.signal);
  if (violations !== undefined) {
    throw rejected({ violations }, diagnose);
  }
  return { ...answer, content };
}

/** An empty capability is that of forms alone. */
function offers(capability, mode) {
  if (mode === "form") {
    return capability?.form !== undefined || capability?.url === undefined;
  }
  return mode === "url" && capability?.url !== undefined;
}

function isWebUrl(text) {
  try {
    return ["http:", "https:"].includes(new URL(text).protocol);
  } catch {
    return false;
  }
}

function withDefaults(content, schema) {
  const filled = { ...content };
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    const isDeclared = typeof property === "object" && property !== null;
    if (isDeclared && Object.hasOwn(property, "default") && filled[name] === undefined) {
      Object.defineProperty(filled, name, {
        value: property.default,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
  }
  return filled;
}

/** What the form says against the content; nothing if it cannot say. */
async function violationsOf(content, schema, signal) {
  if (typeof schema !== "object" || schema === null) {
    return undefined;
  }
  let compiled;
  try {
    compiled = await compileSchemaAsync(schema, { signal });
  } catch {
    // A form that is no schema holds nobody to anything.
    return undefined;
  }
  try {
    const { verdict, errors } = await compiled.validateAsync(content, { signal });
    return verdict === "invalid" ? errors : undefined;
  } finally {
    compiled.free();
  }
}

function rejected(reason, diagnose) {
  const detail = new Redacted(JSON.stringify(reason));
  diagnose({
    source: "invalid-arguments",
    code: "invalid_arguments",
    detail,
    truncated: false,
  });
  return new Error("the answer to an elicitation was rejected");
}

function refusal(message) {
  return Object.assign(new Error(message), { rpcCode: INVALID_PARAMS });
}

export { ELICITATION, elicit };
