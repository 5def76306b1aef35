// The official conformance suite's scenarios for clients, against `connectHttp`: each is run for
// every revision it is for, or stands in conformance/left-out.json with a reason.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { listScenarios, runScenario } from "../conformance/run.mjs";

const file = new URL("../conformance/left-out.json", import.meta.url);
const leftOut = JSON.parse(readFileSync(file, "utf8"));
const scenarios = await listScenarios();
const isLeftOut = ({ name }) => leftOut.some(({ scenario }) => new RegExp(scenario).test(name));
const run = scenarios.filter((scenario) => !isLeftOut(scenario));

test("every scenario is run or left out for a reason that still stands", () => {
  assert.equal(run.length, 11, "scenarios that are run");
  for (const { scenario, reason } of leftOut) {
    assert.ok(scenarios.some(({ name }) => new RegExp(scenario).test(name)), scenario);
    assert.match(reason, /\S/);
  }
});

for (const { name, versions } of run) {
  for (const version of versions) {
    test(`${name}, ${version}`, async () => {
      const { passed, output } = await runScenario(name, version);
      assert.ok(passed, output.slice(-4_000));
    });
  }
}
