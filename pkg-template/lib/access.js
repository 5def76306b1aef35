/**
 * Owns how a caller's identity and an access control reach the core, which decides. Invariant: what
 * cannot be read as an identity is presented as one that cannot be read, and so denied.
 */

import { refused } from "./arguments.js";
import { guard, mainInstance } from "./core.js";
import { documentText, pick } from "./options.js";

/** JSON text that is no identity. */
const UNREADABLE = "null";

/** An identity as JSON text; undefined for nobody. */
function identityText(identity) {
  if (identity === undefined || identity === null) {
    return undefined;
  }
  if (typeof identity !== "object") {
    return UNREADABLE;
  }
  try {
    return documentText(pick(identity, ["id", "scopes", "resources"]));
  } catch {
    return UNREADABLE;
  }
}

function checkAccess(accessControl, identity, options) {
  const text = documentText(accessControl);
  const { resourceId } = pick(options, ["resourceId"]);
  if (resourceId !== undefined && typeof resourceId !== "string") {
    throw refused("resourceId");
  }
  const caller = identityText(identity);
  return guard(mainInstance(), (glue) => glue.checkAccess(text, caller, resourceId));
}

export { checkAccess, identityText };
