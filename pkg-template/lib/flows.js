/**
 * Owns `flowsOf`: the tools of a client as flows for a workflow engine, rows R74 to R81. The core
 * names and describes them; here each gets the call that runs it. The projection is of the catalog
 * as it stands when `flowsOf` is called.
 */

import { refused } from "./arguments.js";
import { guard, mainInstance } from "./core.js";
import { deepFreeze } from "./json.js";
import { documentText, pick } from "./options.js";

const OPTIONS = ["namePrefix", "include", "exclude", "capabilities", "checked"];

function flowsOf(client, options) {
  const known = pick(client, ["server", "tools"]);
  if (typeof known.server !== "string") {
    throw refused("client");
  }
  const tools = documentText(known.tools ?? null);
  if (tools[0] !== "[") {
    throw refused("client");
  }
  const picked = pick(options, OPTIONS);
  const projected = guard(mainInstance(), (glue) =>
    glue.projectFlows(known.server, tools, picked),
  );
  const { name, flows } = JSON.parse(projected);
  const bindings = flows.map(({ tool, descriptor }) => binding(client, tool, descriptor));
  return Object.freeze({ name, bindings: () => [...bindings] });
}

function binding(client, tool, descriptor) {
  return Object.freeze({
    descriptor: deepFreeze(descriptor),
    async call(input, options) {
      const { content, isError, structuredContent } = await client.callTool(tool, input, options);
      return structuredContent === undefined
        ? { content, isError }
        : { content, isError, structuredContent };
    },
  });
}

export { flowsOf };
