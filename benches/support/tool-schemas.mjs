// Owns the file of gathered tool schemas: where it is, and how a thousand are made of it.
import { readFileSync } from "node:fs";
import { fileOf } from "./packages.mjs";

const FILE = fileOf("target/bench/tool-schemas.json");

/** The gathered schemas, each different, as texts. */
function gathered() {
  return JSON.parse(readFileSync(FILE, "utf8")).map(({ schema }) => JSON.stringify(schema));
}

/** The first `count` of them, begun anew when there are fewer. */
function repeated(count) {
  const texts = gathered();
  return Array.from({ length: count }, (_, index) => texts[index % texts.length]);
}

export { FILE, gathered, repeated };
