/**
 * Kinds `validate` and `validate_text`: the five keywords. Values of the first kind cross as
 * JavaScript values and as text, and both ways must agree; those of the second exist as text only.
 */

import { readElsewhere, readMembers, same } from "./expect.mjs";
import { sameIssue } from "./client-errors.mjs";

export const kinds = {
  validate(line, toolwire) {
    const { schema, value } = inputOf(line);
    compare(line, toolwire, JSON.stringify(schema), (compiled) =>
      compiled.validateJson(JSON.stringify(value)),
    );
    compare(line, toolwire, schema, (compiled) => compiled.validate(value));
  },

  validate_text(line, toolwire) {
    const { schema, value } = inputOf(line);
    compare(line, toolwire, schema, (compiled) => compiled.validateJson(value));
  },
};

function inputOf({ input }) {
  readMembers(input, "in", { schema: readElsewhere, value: readElsewhere });
  return input;
}

function compare({ kind, input, expected }, { core }, schema, judge) {
  const compiled = core.compileSchema(schema, { keywords: "structural" });
  try {
    const found = judge(compiled);
    const judged = kind === "validate_text" ? JSON.parse(input.value) : input.value;
    readMembers(expected, "out", {
      valid: (valid, at) => {
        same(found.verdict, valid ? "valid" : "invalid", at);
        same(found.valid, valid, at);
      },
      issue: (issue, at) => sameIssue(found.errors[0], issue, judged, at),
    });
  } finally {
    compiled.free();
  }
}
