/** Kind `args`: what becomes of a JavaScript value that is given as a tool's arguments. */

import { runInThisContext } from "node:vm";

import { fail, readElsewhere, readMembers, same } from "./expect.mjs";
import { sameError } from "./client-errors.mjs";

export const kinds = {
  args({ input, expected }, { core }) {
    const options = {};
    readMembers(input, "in", {
      js: readElsewhere,
      maxOutboundFrameBytes: (bytes) => (options.maxBytes = bytes),
    });
    // The value must belong to this realm: another realm's plain object is not one here.
    const { text, error } = snapshot(core, runInThisContext(`(${input.js})`), options);
    const textNow = (at) => text ?? fail(at, `refused: ${error.reason}`);
    const errorNow = (at) => error ?? fail(at, `expected an error, got ${text}`);
    readMembers(expected, "out", {
      ok: (value, at) => same(JSON.parse(textNow(at)), value, at),
      okText: (wanted, at) => same(textNow(at), wanted, at),
      pass: (pass, at) => same(error === undefined, pass, at),
      error: (wanted, at) => sameError(errorNow(at), wanted, at, { toolwire: core }),
      errorReason: (reason, at) => sameError(errorNow(at), { reason }, at, { toolwire: core }),
    });
  },
};

function snapshot(core, value, options) {
  try {
    return { text: core.snapshotJson(value, options) };
  } catch (error) {
    return { error };
  }
}
