// Owns what it means to pass the suite: every test has the verdict it asks for, except those the
// list of exceptions names. Invariants: a listed test must have no verdict at all, unless its entry
// says which one is given instead; an entry that covers nothing fails. It runs in Node and in a page.
import { readGroups } from "./spans.mjs";

/** The suite's folders and what `SchemaOptions.dialect` calls them. */
const DRAFTS = {
  "draft2020-12": "2020-12",
  "draft2019-09": "2019-09",
  draft7: "draft-07",
  draft6: "draft-06",
  draft4: "draft-04",
};

/** What a draft's tests are divided into, and whether formats are asserted there. */
const KINDS = { required: "annotate", optional: "annotate", format: "assert" };

function kindOf(file) {
  if (file.startsWith("optional/format/")) {
    return "format";
  }
  return file.startsWith("optional/") ? "optional" : "required";
}

/**
 * Runs one kind of one draft's tests. `texts` are the draft's files by name and the documents that
 * schemas refer to, by address. Gives the counts, a line for each failure, and a line for each entry
 * of `exceptions` that covered nothing.
 */
function judgeDraft(toolwire, { files, remotes }, draft, kind, exceptions) {
  const options = { dialect: DRAFTS[draft], formats: KINDS[kind], resources: remotes };
  const listed = exceptions.filter((entry) => entry.draft === draft && kindOf(entry.file) === kind);
  const outcome = { passed: 0, failed: 0, listed: 0, failures: [], stale: [] };
  const used = new Set();
  for (const [file, text] of Object.entries(files).filter(([name]) => kindOf(name) === kind)) {
    for (const group of readGroups(text)) {
      const judge = judgeOf(toolwire, group.schema, options);
      for (const test of group.tests) {
        const found = judge(test.data);
        const entry = listed.find((candidate) => covers(candidate, file, group, test));
        const wanted = test.valid ? "valid" : "invalid";
        if (found === wanted) {
          outcome.passed += 1;
        } else if (entry !== undefined && allows(entry, found)) {
          outcome.listed += 1;
          used.add(entry);
        } else {
          outcome.failed += 1;
          const title = `${draft}/${file}: ${group.description}: ${test.description}`;
          outcome.failures.push(`${title}: wanted ${wanted}, found ${found}`);
        }
      }
    }
  }
  for (const entry of listed.filter((candidate) => !used.has(candidate))) {
    outcome.stale.push(`the exception covers nothing: ${JSON.stringify(entry)}`);
  }
  return outcome;
}

/** An entry names a file, and may narrow it down to a group and to one test of it. */
function covers(entry, file, group, test) {
  return (
    entry.file === file &&
    (entry.group === undefined || entry.group === group.description) &&
    (entry.test === undefined || entry.test === test.description)
  );
}

/** An entry stands for a test without a verdict, or with exactly the one it names. */
function allows(entry, found) {
  const decided = found === "valid" || found === "invalid";
  return entry.verdict === undefined ? !decided : entry.verdict === found;
}

/** Compiles a group's schema; what it gives says what is found of a JSON text. */
function judgeOf(toolwire, schemaText, options) {
  let schema;
  try {
    schema = toolwire.compileSchema(schemaText, options);
  } catch (error) {
    if (error.code !== "schema_error") {
      throw error;
    }
    return () => `a schema that does not compile (${error.reason})`;
  }
  return (data) => {
    const { verdict, valid, errors, reason } = schema.validateJson(data);
    if (valid !== (verdict === "valid") || errors.length > 0 !== (verdict === "invalid")) {
      return `a verdict that contradicts itself (${verdict}, ${errors.length} errors)`;
    }
    return verdict === "unknown" ? `unknown (${reason})` : verdict;
  };
}

export { DRAFTS, KINDS, judgeDraft, kindOf };
