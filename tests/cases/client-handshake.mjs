/** Kinds `initialize` and `catalog`: the handshake's check and the walk over the pages of tools. */

import { fail, readElsewhere, readMembers, same } from "./expect.mjs";
import { sameError } from "./client-errors.mjs";
import {
  answer,
  connectError,
  goodInitializeResult,
  initialize,
  isReady,
  lastRequest,
  withStrictSession,
} from "./client-strict.mjs";

export const kinds = {
  initialize({ input, expected }, toolwire) {
    readMembers(input, "in", { result: readElsewhere });
    withStrictSession(toolwire, {}, (driver) => {
      initialize(driver, input.result);
      const refused = connectError(driver);
      if (refused === undefined) {
        answer(driver, lastRequest(driver, "tools/list"), { tools: [] });
      }
      readMembers(expected, "out", {
        ok: (ok, at) => same(isReady(driver), ok, at),
        error: (error, at) => sameError(refused, error, at, { toolwire: toolwire.core }),
      });
    });
  },

  catalog({ input, expected }, toolwire) {
    const { pages, options } = { options: {}, ...input };
    readMembers(input, "in", { pages: readElsewhere, options: readElsewhere });
    withStrictSession(toolwire, options, (driver) => {
      const requested = walk(driver, pages);
      const refused = connectError(driver);
      if (refused === undefined && !isReady(driver)) {
        fail("in.pages", `the session asks for page ${pages.length + 1}`);
      }
      if (refused !== undefined && expected.error === undefined) {
        throw refused;
      }
      readMembers(expected, "out", {
        requested: (params, at) => same(requested, params, at),
        names: (names, at) => same(namesOf(driver.tools), names, at),
        tools: (tools, at) => same(driver.tools, tools, at),
        error: (error, at) => sameError(refused, error, at, { toolwire: toolwire.core }),
      });
    });
  },
};

/** Answers page after page while the session asks; gives the params it asked with. */
function walk(driver, pages) {
  const requested = [];
  initialize(driver, goodInitializeResult());
  for (const page of pages) {
    if (isReady(driver) || connectError(driver) !== undefined) {
      break;
    }
    const request = lastRequest(driver, "tools/list");
    requested.push(request.params);
    answer(driver, request, page);
  }
  return requested;
}

function namesOf(tools) {
  return tools.map(({ name }) => name);
}
