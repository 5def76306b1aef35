/**
 * Kinds `defaults` and `options`: the limits of the strict profile, and their check before anything
 * starts.
 */

import { readMembers, same } from "./expect.mjs";
import { throwsError } from "./client-errors.mjs";
import { withStrictSession } from "./client-strict.mjs";
import { numberOf } from "./numbers.mjs";

export const kinds = {
  defaults({ input, expected }, { core }) {
    readMembers(input, "in", {});
    const readers = {};
    for (const [name, value] of Object.entries(core.limits.strict)) {
      readers[name] = (wanted, at) => same(value, wanted, at);
    }
    readMembers(expected, "out", readers);
  },

  options({ input, expected }, toolwire) {
    const options = {};
    const readers = {};
    for (const name of Object.keys(toolwire.core.limits.strict)) {
      readers[name] = (value) => (options[name] = numberOf(value));
    }
    readMembers(input, "in", readers);
    const start = () => withStrictSession(toolwire, options, (driver) => driver.session.state);
    readMembers(expected, "out", {
      ok: (ok, at) => same(start() === "idle", ok, at),
      error: (error, at) => throwsError(start, error, at, { toolwire: toolwire.core }),
    });
  },
};
