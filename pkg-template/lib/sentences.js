/**
 * Owns errors that arise on this side of the core: their sentences come from the core's one table,
 * by reason. Where there is no core yet (before `init`), the reason stands for its sentence.
 */

import { guard, mainInstance } from "./core.js";
import { ToolwireError } from "./errors.js";

/** The error for a reason. `init` is what `ToolwireError` takes, without the message. */
function errorFor(init) {
  const { code, reason, server, retryable, private: detail, ...facts } = init;
  return new ToolwireError({ ...init, message: sentence(reason ?? code, server, facts) });
}

function sentence(reason, server, facts) {
  try {
    return guard(mainInstance(), (glue) => glue.sentence(reason, server, facts));
  } catch {
    return reason;
  }
}

function abortedError(server) {
  return errorFor({ code: "aborted", reason: "aborted", server });
}

function freedError() {
  return errorFor({ code: "freed", reason: "freed" });
}

export { abortedError, errorFor, freedError, sentence };
