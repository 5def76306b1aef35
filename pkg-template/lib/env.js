/**
 * Owns nested calls: the context a handler gets, and `env`, by which it calls other operations.
 * Invariant: a nested call has the authority that the composing operation declares and no other.
 * Which operation composes is known from the very context object it was given, which no copy and no
 * member can claim to be.
 */

import { refused } from "./arguments.js";
import { doorOf } from "./doors.js";
import { pick } from "./options.js";

/** What of a context nested calls inherit. */
const INHERITED = ["requestId", "metadata", "signal", "deadline"];

/** By the context a handler was given: whose call it is. */
const composing = new WeakMap();

/** By an env made here: how it was made, so that it can be made anew for another operation. */
const recipes = new WeakMap();

/** The context for the handler of an operation. `call` is the call as it was read. */
function handlerContext(registry, spec, call, signal) {
  const context = { requestId: call.requestId };
  for (const name of ["parentRequestId", "identity", "metadata", "deadline"]) {
    if (call[name] !== undefined && call[name] !== null) {
      context[name] = call[name];
    }
  }
  if (call.isNamed && context.identity === undefined) {
    // Handed on, the context is still that of a caller who is nobody, not of the host.
    Object.defineProperty(context, "identity", { configurable: true, writable: true });
  }
  context.signal = signal;
  composing.set(context, { authority: identityOf(spec.authority), ...inherited(context) });
  const recipe = recipes.get(call.env);
  if (call.env !== undefined && recipe === undefined) {
    context.env = call.env;
    return context;
  }
  let env;
  // Made when it is first asked for: most handlers call nothing.
  Object.defineProperty(context, "env", {
    configurable: true,
    get: () => (env ??= make({ registry, ...recipe, context })),
  });
  return context;
}

/** The identity that nested calls of an operation present; none if it declares no authority. */
function identityOf(authority) {
  if (authority === undefined) {
    return undefined;
  }
  const { label, scopes, resources = {} } = authority;
  return Object.freeze({ id: label, scopes, resources });
}

function inherited(context) {
  return pick(context, INHERITED);
}

function buildEnv(config) {
  return make(pick(config, ["registry", "context", "allowedNamespaces", "callMap"]));
}

function make(recipe) {
  const { registry, context, allowedNamespaces, callMap } = recipe;
  const door = doorOf(registry);
  if (allowedNamespaces !== undefined && !Array.isArray(allowedNamespaces)) {
    throw refused("allowedNamespaces");
  }
  if (callMap !== undefined && typeof callMap?.call !== "function") {
    throw refused("callMap");
  }
  const allowed = allowedNamespaces === undefined ? undefined : new Set(allowedNamespaces);
  const call = caller(door, context, callMap);
  const env = Object.create(null);
  for (const { namespace, name, type } of registry.list()) {
    const isCalled = type === "query" || type === "mutation";
    if (isCalled && (allowed === undefined || allowed.has(namespace))) {
      // Without a prototype, `__proto__` is a name like any other.
      env[namespace] ??= Object.create(null);
      env[namespace][name] = (input) => call(`${namespace}.${name}`, input);
    }
  }
  for (const operations of Object.values(env)) {
    Object.freeze(operations);
  }
  Object.freeze(env);
  recipes.set(env, { registry, allowedNamespaces, callMap });
  return env;
}

/** What one member of an env does. */
function caller(door, context, callMap) {
  const isObject = typeof context === "object" && context !== null;
  const known = isObject ? composing.get(context) : undefined;
  const { requestId, ...rest } = known ?? inherited(context);
  const { authority, ...shared } = rest;
  // A context that no handler was given composes nothing: it presents its own identity.
  const identity = known === undefined ? pick(context, ["identity"]).identity : authority;
  const parent = requestId === undefined ? {} : { parentRequestId: requestId };
  if (callMap !== undefined) {
    const options = identity === undefined ? shared : { ...shared, identity };
    return (id, input) => callMap.call(id, input, { ...options, ...parent });
  }
  return (id, input) =>
    door.executeInside(id, input, { ...shared, ...parent, requestId: door.newId() }, identity);
}

export { buildEnv, handlerContext };
