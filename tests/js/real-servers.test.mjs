// Servers as they are, from npm, PyPI and crates.io: connected, listed, called; era and revision as
// docs/eras.md says.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { documented, furnish, peers } from "../peers/peers.mjs";
import { assertNothingRuns } from "./support/servers.mjs";
import { node } from "./support/toolwire.mjs";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwire-servers-")));
furnish(folder);

/** Python servers need seconds to start, many of them on a busy machine. */
const PATIENCE_MS = 180_000;

test.after(assertNothingRuns);

for (const { name, launch, env, tool, arguments: given, expected } of peers(folder)) {
  const skip = launch === undefined && `${name} is not installed`;
  test(`${name} is connected to, listed and called`, { skip }, async () => {
    const options = { server: "real", ...launch, env, era: "auto", connectTimeoutMs: PATIENCE_MS };
    const client = await node.connect(options);
    try {
      assert.ok(client.tools.some((listed) => listed.name === tool), "the tool is listed");
      const result = await client.callTool(tool, given);
      assert.equal(result.isError, false, JSON.stringify(result.content));
      assert.match(JSON.stringify(result), expected);
      assert.deepEqual(documented(name), { era: client.era, revision: client.protocolVersion });
    } finally {
      await client.close();
    }
  });
}
