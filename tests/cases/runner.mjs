/**
 * Owns the running of a case file: which lines are cases, which of them are prose, and which module
 * runs a kind. Invariant: the kind decides, never the id; a case passes only if its kind's module
 * ran it to the end.
 */

import { readFileSync } from "node:fs";

import { kinds as clientArguments } from "./client-arguments.mjs";
import { kinds as clientCalls } from "./client-calls.mjs";
import { kinds as clientConfig } from "./client-config.mjs";
import { kinds as clientHandshake } from "./client-handshake.mjs";
import { kinds as clientOptions } from "./client-options.mjs";
import { kinds as clientProjection } from "./client-projection.mjs";
import { kinds as clientSchema } from "./client-schema.mjs";
import { kinds as clientSession } from "./client-session.mjs";
import { kinds as clientWire } from "./client-wire.mjs";
import { Mismatch } from "./expect.mjs";
import { kinds as fieldPipeline } from "./field-pipeline.mjs";
import { kinds as fieldSession } from "./field-session.mjs";
import { kinds as fieldValidate } from "./field-validate.mjs";

/** The two formats, told apart by the names of a case's input and expectation. */
const FORMATS = [
  {
    input: "in",
    expected: "out",
    kinds: {
      ...clientOptions,
      ...clientWire,
      ...clientHandshake,
      ...clientSchema,
      ...clientArguments,
      ...clientCalls,
      ...clientSession,
      ...clientProjection,
      ...clientConfig,
    },
  },
  {
    input: "input",
    expected: "expected",
    kinds: { ...fieldValidate, ...fieldSession, ...fieldPipeline },
  },
];

/** Kinds that are prose in either format. */
const PROSE_KINDS = new Set(["gateway", "packaging"]);

/** Runs the cases of a file that the filter lets through; gives `{ id, kind, status, note }`s. */
export function runFile(path, { kind, id } = {}, toolwire) {
  return readCases(path)
    .filter((one) => kind === undefined || one.kind === kind)
    .filter((one) => id === undefined || one.id === id)
    .map((one) => ({ id: one.id, kind: one.kind, ...runCase(one, toolwire) }));
}

/** The lines of a file. One that is no JSON object stays, so that it is counted as failed. */
export function readCases(path) {
  return readFileSync(path, "utf8")
    .split("\n")
    .map((text, index) => ({ text, name: `line ${index + 1}` }))
    .filter(({ text }) => text.trim() !== "")
    .map(({ text, name }) => {
      try {
        const line = JSON.parse(text);
        return { ...line, id: line.id ?? name };
      } catch {
        return { id: name, kind: undefined };
      }
    });
}

export function runCase(line, toolwire) {
  const format = FORMATS.find(
    ({ input, expected }) => Object.hasOwn(line, input) && Object.hasOwn(line, expected),
  );
  if (format === undefined) {
    return { status: "failed", note: "not a case of a format that the runner knows" };
  }
  const one = { ...line, input: line[format.input], expected: line[format.expected] };
  const prose = whyProse(one);
  if (prose !== undefined) {
    return { status: "skipped", note: prose };
  }
  if (!Object.hasOwn(format.kinds, line.kind)) {
    return { status: "failed", note: `the kind ${JSON.stringify(line.kind)} is not built` };
  }
  try {
    format.kinds[line.kind](one, toolwire);
    return { status: "passed" };
  } catch (error) {
    return { status: "failed", note: describe(error) };
  }
}

/** Why a case is prose; undefined for one that must run. */
function whyProse({ kind, modelled, input }) {
  if (PROSE_KINDS.has(kind)) {
    return `the kind ${kind} is prose`;
  }
  if (modelled === false) {
    return "not modelled";
  }
  for (const member of ["hostTest", "generate"]) {
    if (Object.hasOwn(input, member)) {
      return `${member} is prose`;
    }
  }
  return input.state === "matrix" ? "a matrix of states is prose" : undefined;
}

/** One line about why a case failed. */
function describe(error) {
  if (error instanceof Mismatch) {
    return oneLine(error.message);
  }
  const { name = "no error", code, reason, at, message = String(error) } = error ?? {};
  const facts = [name, code, reason, at].filter((fact) => fact !== undefined);
  const place = /([^\s(]+:\d+):\d+\)?$/m.exec(error?.stack ?? "")?.[1] ?? "nowhere";
  return oneLine(`threw ${facts.join(" ")}: ${message} (${place})`);
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, " ");
}
