/** Kinds `call_result` and `remote_error`: how one answered request comes out. */

import { fail, readElsewhere, readMembers, same } from "./expect.mjs";
import { sameError } from "./client-errors.mjs";
import {
  TOOL,
  answer,
  connectError,
  initialize,
  lastRequest,
  ready,
  sameResult,
  withStrictSession,
} from "./client-strict.mjs";

export const kinds = {
  call_result({ input, expected }, toolwire) {
    readMembers(input, "in", { result: readElsewhere, outputSchema: readElsewhere });
    const tool = { ...TOOL, outputSchema: input.outputSchema };
    const outcome = withStrictSession(toolwire, {}, (driver) => {
      ready(driver, [tool]);
      const call = driver.call(TOOL.name, {});
      answer(driver, lastRequest(driver, "tools/call"), input.result);
      return call.outcome ?? fail("in.result", "the call has not settled");
    });
    if (!outcome.ok && expected.error === undefined) {
      throw outcome.error;
    }
    const context = { toolwire: toolwire.core, judged: input.result?.structuredContent };
    readMembers(expected, "out", {
      ok: (result, at) => sameResult(outcome.result, result, at),
      error: (error, at) => sameError(outcome.error, error, at, context),
    });
  },

  remote_error({ input, expected }, toolwire) {
    const { method, ...error } = input;
    readMembers(input, "in", {
      method: readElsewhere,
      code: readElsewhere,
      message: readElsewhere,
      data: readElsewhere,
    });
    const found = withStrictSession(toolwire, {}, (driver) => failing(driver, method, error));
    sameError(found, { ...expected, remoteCode: input.code }, "out", { toolwire: toolwire.core });
  },
};

/** The error that a request of this method settles with when it is answered with `error`. */
function failing(driver, method, error) {
  const refuse = () => {
    const { id } = lastRequest(driver, method);
    driver.receiveMessage({ jsonrpc: "2.0", id, error });
  };
  if (method === "initialize" || method === "tools/list") {
    if (method === "initialize") {
      driver.connect();
    } else {
      initialize(driver);
    }
    refuse();
    return connectError(driver);
  }
  ready(driver, [TOOL]);
  const request =
    method === "tools/call"
      ? driver.call(TOOL.name, {})
      : driver.request((session, now) => session.request(method, undefined, undefined, now));
  refuse();
  return request.outcome?.error;
}
