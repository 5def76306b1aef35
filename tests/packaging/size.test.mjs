/** What the package weighs is what `sizes.txt` says: a change of size is seen in review. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SNAPSHOT, measure, notPublished, read, written } from "./size.mjs";
import { installHosts } from "./support/hosts.mjs";

/** Compilers and compressors of other versions differ by this much. */
const TOLERANCE = 0.03;

const snapshot = readFileSync(SNAPSHOT, "utf8");

test("the snapshot is in the form in which it is written", () => {
  assert.equal(written(read(snapshot)), snapshot);
});

test("every size is about what the snapshot says", async (t) => {
  const why = (await installHosts()) ?? notPublished();
  if (why !== undefined) {
    t.skip(why);
    return;
  }
  const noted = read(snapshot);
  const sizes = await measure();
  assert.deepEqual(Object.keys(sizes), Object.keys(noted));
  const off = Object.entries(sizes).filter(
    ([name, bytes]) => Math.abs(bytes - noted[name]) > TOLERANCE * noted[name],
  );
  const told = off.map(([name, bytes]) => `${name}: ${bytes} bytes, the snapshot has ${noted[name]}`);
  assert.deepEqual(told, [], "node tests/packaging/size.mjs --write takes the new sizes over");
});
