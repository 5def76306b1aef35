/** Kind `projection`: a catalog as flows. */

import { readElsewhere, readMembers, same } from "./expect.mjs";
import { throwsError } from "./client-errors.mjs";

export const kinds = {
  projection({ input, expected }, { core }) {
    readMembers(input, "in", {
      client: (client, at) =>
        readMembers(client, at, { server: readElsewhere, tools: readElsewhere }),
      options: (options, at) =>
        readMembers(options, at, {
          namePrefix: readElsewhere,
          include: readElsewhere,
          exclude: readElsewhere,
        }),
      checked: readElsewhere,
    });
    const project = () => core.flowsOf(input.client, { ...input.options, checked: input.checked });
    readMembers(expected, "out", {
      ok: (ok, at) => same(typeof project().name === "string", ok, at),
      source: (name, at) => same(project().name, name, at),
      flows: (names, at) => same(flowNames(project()), names, at),
      error: (error, at) => throwsError(project, error, at, { toolwire: core }),
    });
  },
};

function flowNames(source) {
  return source.bindings().map(({ descriptor }) => descriptor.name);
}
