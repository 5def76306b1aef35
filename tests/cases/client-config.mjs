/** Kinds `config` and `config_entry`: the file that names the servers. */

import { readElsewhere, readMembers, same } from "./expect.mjs";
import { throwsError } from "./client-errors.mjs";

/** What `usage` says, as the reason of our error. */
const REASONS = { not_entries: "config_not_entries", token_unset: "config_token_unset" };

export const kinds = {
  config({ input, expected }, { core, node }) {
    readMembers(input, "in", { file: readElsewhere, env: readElsewhere });
    const parse = () => node.parseConfig(input.file, { env: input.env });
    const refused = (facts, at) =>
      throwsError(parse, { code: "invalid_arguments", ...facts }, at, { toolwire: core });
    readMembers(expected, "out", {
      ok: (names, at) =>
        same(
          parse().map(({ server }) => server),
          names,
          at,
        ),
      usage: (usage, at) => refused({ why: REASONS[usage] ?? usage }, at),
      server: (server, at) => refused({ server }, at),
      variable: (variable, at) => refused({ variable }, at),
    });
  },

  config_entry({ input, expected }, { core, node }) {
    readMembers(input, "in", { entry: readElsewhere });
    // The kind is about the entry, so the variable that one names is set.
    const variable = input.entry?.bearerTokenEnv;
    const env = typeof variable === "string" ? { [variable]: "token" } : {};
    const parse = () => node.parseConfig(JSON.stringify([input.entry]), { env });
    readMembers(expected, "out", {
      ok: (ok, at) => {
        if (ok) {
          same(parse().length, 1, at);
        } else {
          const facts = { code: "invalid_arguments", why: REASONS.not_entries };
          throwsError(parse, facts, at, { toolwire: core });
        }
      },
    });
  },
};
