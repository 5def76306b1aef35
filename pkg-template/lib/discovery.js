/**
 * Owns discovery: `services.list` and `services.schema` as operations. Invariant: they show what
 * their caller may call, to whoever asks: a hidden operation reads as unknown, a denied one as
 * denied.
 */

import { doorOf } from "./doors.js";
import { pick } from "./options.js";

const NAMESPACE = "services";

const LIST = {
  namespace: NAMESPACE,
  name: "list",
  version: "1.0.0",
  type: "query",
  description: "Lists the operations that the caller may call",
  inputSchema: {},
  outputSchema: {
    type: "object",
    properties: {
      operations: {
        type: "array",
        items: {
          type: "object",
          properties: {
            name: { type: "string" },
            namespace: { type: "string" },
            type: { enum: ["query", "mutation", "subscription", "publish"] },
            description: { type: "string" },
          },
          required: ["name", "namespace", "type"],
        },
      },
    },
    required: ["operations"],
  },
};

const SCHEMA = {
  namespace: NAMESPACE,
  name: "schema",
  version: "1.0.0",
  type: "query",
  description: "Gives the specification of an operation, by its id",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string" } },
    required: ["name"],
  },
  outputSchema: { type: "object" },
};

function registerDiscovery(registry, options) {
  const door = doorOf(registry);
  const { accessControl = { requiredScopes: [] }, replace } = pick(options, [
    "accessControl",
    "replace",
  ]);
  const entries = [
    {
      spec: { ...LIST, accessControl },
      handler: (_, { identity }) => ({ operations: listed(door, identity) }),
    },
    {
      spec: { ...SCHEMA, accessControl },
      handler: ({ name }, { identity }) => described(door.specFor(name, identity)),
    },
  ];
  const ids = door.add(entries, { replace });
  for (const id of ids) {
    door.discovery.add(id);
  }
  return ids;
}

function listed(door, identity) {
  return door
    .visible(identity)
    .map((spec) => ({ id: `${spec.namespace}.${spec.name}`, ...spec }))
    .filter(({ id }) => !door.discovery.has(id))
    .map(({ id, namespace, type, description }) =>
      description === ""
        ? { name: id, namespace, type }
        : { name: id, namespace, type, description },
    );
}

/** A specification as callers see it: what it leaves open is said, what it may do inside is not. */
function described(spec) {
  const { authority, accessControl, ...rest } = spec;
  return {
    visibility: "external",
    outputSchema: {},
    errorSchemas: [],
    ...rest,
    accessControl: {
      requiredScopesAny: null,
      resourceType: null,
      resourceAction: null,
      ...accessControl,
    },
  };
}

export { described, registerDiscovery };
