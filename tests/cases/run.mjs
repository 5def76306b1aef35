#!/usr/bin/env node
/**
 * The case runner's command line:
 *
 *   node tests/cases/run.mjs FILE [--kind K] [--id ID] [--package DIR]
 *
 * A line for each case that failed or was skipped, and last `N passed, M failed, K skipped`.
 * Exit status 0 if nothing failed, 1 if a case did, 2 if the run could not start.
 */

import { parseArgs } from "node:util";

import { loadPackage } from "./package.mjs";
import { runFile } from "./runner.mjs";

const USAGE = "usage: node tests/cases/run.mjs FILE [--kind K] [--id ID] [--package DIR]";

function main() {
  let results;
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        kind: { type: "string" },
        id: { type: "string" },
        package: { type: "string" },
      },
    });
    if (positionals.length !== 1) {
      throw new Error(USAGE);
    }
    results = runFile(positionals[0], values, loadPackage(values.package));
  } catch (error) {
    console.error(error.message);
    return 2;
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { id, kind, status, note } of results) {
    counts[status] += 1;
    if (status !== "passed") {
      console.log(`${status === "failed" ? "FAIL" : "skip"} ${id} (${kind}): ${note}`);
    }
  }
  if (results.length === 0) {
    console.error("no case matches");
  }
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed > 0 || results.length === 0 ? 1 : 0;
}

process.exitCode = main();
