/** The packed manifest and declarations, by the linters that users of packages trust. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { hostRequire, installHosts, packedProject, root, run } from "./support/hosts.mjs";

let away;
let packed;

before(async () => {
  away = await installHosts();
  packed = await packedProject();
});

after(() => packed?.remove());

/** What attw may find, each with the reason why it stays. */
const EXCLUSIONS = [
  // The oldest resolution does not read `exports`, so it finds `toolwire` alone. TypeScript 7 drops it.
  ["--profile", "node16"],
  // The binary is for those who load it themselves: bundlers and hosts differ in what an import of it
  // gives (an address, a module, bytes), so no one declaration would be true.
  ["--exclude-entrypoints", "toolwire.wasm"],
];

test("publint finds nothing", async (t) => {
  if (away !== undefined) {
    t.skip(away);
    return;
  }
  const { publint } = await import(pathToFileURL(hostRequire.resolve("publint")).href);
  const tarball = new Uint8Array(await readFile(packed.tarball)).buffer;
  const { messages } = await publint({ pack: { tarball }, strict: true });
  assert.deepEqual(messages, []);
});

test("attw finds nothing but what is excluded", async (t) => {
  if (away !== undefined) {
    t.skip(away);
    return;
  }
  const attw = path.join(root, "tests/hosts/node_modules/@arethetypeswrong/cli/dist/index.js");
  const args = [attw, packed.tarball, "--no-color", "--no-emoji", ...EXCLUSIONS.flat()];
  await run(process.execPath, args).catch(({ stdout }) => {
    throw new Error(stdout);
  });
});

test("every entry has declarations for import and for require, and each leaf names its own", async () => {
  const { exports } = JSON.parse(
    await readFile(path.join(packed.project, "node_modules/toolwire/package.json"), "utf8"),
  );
  const leaves = [];
  const walk = (value, trail) => {
    if (value.default !== undefined && typeof value.default === "string" && value.types) {
      leaves.push([trail, value.types, value.default]);
    } else if (typeof value === "object") {
      for (const [condition, inner] of Object.entries(value)) {
        walk(inner, [...trail, condition]);
      }
    }
  };
  walk(exports, []);
  assert.ok(leaves.length >= 40);
  for (const [trail, types, file] of leaves) {
    const commonjs = file.endsWith(".cjs");
    assert.equal(types.endsWith(".d.cts"), commonjs, trail.join(" "));
    assert.equal(trail.includes("require"), commonjs, trail.join(" "));
  }
  for (const [entry, conditions] of Object.entries(exports)) {
    if (typeof conditions === "object") {
      const order = ["workerd", "edge-light", "deno", "browser", "node", "import", "require", "default"];
      const places = Object.keys(conditions).map((condition) => order.indexOf(condition));
      assert.ok(!places.includes(-1), entry);
      assert.deepEqual(places, [...places].sort((a, b) => a - b), entry);
    }
  }
});
