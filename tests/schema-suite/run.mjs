// Owns the reading of the suite's files and of the list of exceptions. Invariant: no required test is
// listed.
import { readFileSync, readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { DRAFTS, KINDS, judgeDraft, kindOf } from "./judge.mjs";

/** Under which address the suite's schemas mean the files in `remotes/`. */
const REMOTES = "http://localhost:1234/";

/** The JSON files below a folder: their texts by their paths. */
function textsBelow(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".json"));
  const paths = names.map((name) => name.split(sep).join("/")).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** What `judgeDraft` needs of a draft: its tests, and the documents that schemas refer to. */
function readDraft(suite, draft) {
  const remotes = Object.entries(textsBelow(join(suite, "remotes")));
  return {
    files: textsBelow(join(suite, "tests", draft)),
    remotes: Object.fromEntries(remotes.map(([path, text]) => [REMOTES + path, text])),
  };
}

/** Runs one kind of one draft's tests, read from the suite's folder. */
function runDraft(toolwire, suite, draft, kind, exceptions) {
  return judgeDraft(toolwire, readDraft(suite, draft), draft, kind, exceptions);
}

/** The list of exceptions; each has a reason. */
function readExceptions(path) {
  const exceptions = JSON.parse(readFileSync(path, "utf8"));
  for (const entry of exceptions) {
    const complete = entry.draft in DRAFTS && typeof entry.file === "string";
    if (!complete || typeof entry.reason !== "string" || entry.reason === "") {
      throw new Error(`an exception needs a draft, a file and a reason: ${JSON.stringify(entry)}`);
    }
    if (kindOf(entry.file) === "required") {
      throw new Error(`what the suite requires has no exception: ${JSON.stringify(entry)}`);
    }
  }
  return exceptions;
}

export { DRAFTS, KINDS, readDraft, readExceptions, runDraft };
