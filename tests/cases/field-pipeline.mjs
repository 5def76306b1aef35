/**
 * Kind `pipeline`: a tool's result through `envelopeOfToolResult`, once per policy, or a JSON-RPC
 * error through a call. Keys that name no policy are read under `validation: "report"`.
 */

import { inspect } from "node:util";

import { contains, fail, isObject, readElsewhere, readMembers, same, show } from "./expect.mjs";
import { SERVER, callOnce } from "./field-connection.mjs";
import { PROSE, compileReasons, includesAll, sameError } from "./field-words.mjs";

const TOOL = { name: "tool", inputSchema: { type: "object" } };

/** Kinds of violations that go by another name with us. */
const VIOLATIONS = { content_shape: "bad_content_block" };

export const kinds = {
  pipeline({ input, expected }, toolwire) {
    readMembers(
      input,
      "input",
      {
        protocol: readElsewhere,
        outputSchema: readElsewhere,
        tool: readElsewhere,
        catalogue: readElsewhere,
        result: readElsewhere,
        rpcError: readElsewhere,
        matrix: readElsewhere,
      },
      PROSE,
    );
    const { matrix, rpcError, result } = input;
    if ([matrix, rpcError, result].filter((one) => one !== undefined).length !== 1) {
      fail("input", "a pipeline case has one of result, rpcError and matrix");
    }
    if (matrix !== undefined) {
      compareMatrix(toolwire, input, expected);
    } else if (rpcError !== undefined) {
      compareRpcError(toolwire, input, expected);
    } else {
      compareResult(toolwire, input, expected);
    }
  },
};

function toolOf({ tool = TOOL, outputSchema }) {
  return outputSchema === undefined || outputSchema === null ? tool : { ...tool, outputSchema };
}

/** What the pipeline makes of a result under one policy: an outcome, or the error it throws. */
function run({ core }, { protocol, result, tool }, validation) {
  const options = { validation };
  if (protocol !== undefined) {
    options.protocolVersion = protocol;
  }
  try {
    return { outcome: core.envelopeOfToolResult(JSON.stringify(result), tool, options) };
  } catch (error) {
    if (!(error instanceof core.ToolwireError)) {
      throw error;
    }
    return { error };
  }
}

function compareResult(toolwire, input, expected) {
  const subject = { protocol: input.protocol, result: input.result, tool: toolOf(input) };
  const report = run(toolwire, subject, "report");
  const enforce = run(toolwire, subject, "enforce");
  const read = (ran) => readersOf(toolwire, subject, ran);
  readMembers(
    expected,
    "expected",
    {
      ...read(report),
      violation: (violation, at) => {
        compareViolation(outcomeOf(report, at), violation, at);
        if (violation === null) {
          outcomeOf(enforce, `${at} (enforce)`);
        }
      },
      policyWarn: (wanted, at) => readMembers(wanted, at, read(report), PROSE),
      policyStrict: (wanted, at) => readMembers(wanted, at, read(enforce), PROSE),
    },
    PROSE,
  );
  if (input.catalogue !== undefined) {
    compareCatalogue(toolwire, input.catalogue, subject, outcomeOf(report, "input.catalogue"));
  }
}

function outcomeOf({ outcome, error }, where) {
  return outcome ?? fail(where, `it failed: ${error.code} (${error.reason})`);
}

/** Readers of what one policy's run is expected to give. */
function readersOf(toolwire, subject, ran) {
  const { core } = toolwire;
  const { result, tool } = subject;
  const outcome = (at) => outcomeOf(ran, at);
  return {
    validated: (validated, at) =>
      same(outcome(at).verdict.verdict !== "unchecked", validated, at),
    validator: (validator, at) => {
      same(validator, "unavailable", `${at} (known word)`);
      same(outcome(at).verdict.verdict, "unknown", at);
    },
    violation: (violation, at) => compareViolation(outcome(at), violation, at),
    envelope: (envelope, at) => compareEnvelope(outcome(at).envelope, result, envelope, at),
    keptIndexes: (indexes, at) =>
      same(
        outcome(at).envelope.meta.content,
        indexes.map((index) => result.content[index]),
        at,
      ),
    unknownMarked: (indexes, at) => {
      const unknown = outcome(at).contentProblems.filter(({ reason }) => reason === "unknown_type");
      same(
        unknown.map(({ index }) => index),
        indexes,
        at,
      );
    },
    views: (views, at) => {
      for (const [view, wanted] of Object.entries(views)) {
        compareView(core, result, view, wanted, `${at}.${view}`);
      }
    },
    modelText: (text, at) => same(core.viewOfToolResult(result, "content_first"), text, at),
    diag: (diag, at) => compareDiagnostic(core, outcome(at).diagnostics, tool, diag, at),
    error: (error, at) =>
      sameError(ran.error ?? fail(at, "it succeeded"), error, at, core),
  };
}

function compareViolation({ violation, contentProblems }, expected, where) {
  if (expected === null) {
    same(violation, undefined, where);
    return;
  }
  readMembers(
    expected,
    where,
    {
      kind: (kind, at) => same(violation?.kind, VIOLATIONS[kind] ?? kind, at),
      errors: (errors, at) => includesAll(violation?.errors, errors, at),
      items: (items, at) => same(contentProblems, items, at),
    },
    PROSE,
  );
}

function compareEnvelope({ data, meta }, result, expected, where) {
  readMembers(
    expected,
    where,
    {
      data: (value, at) => same(data, value, at),
      isError: (isError, at) => same(meta.isError, isError, at),
      content: (content, at) => same(meta.content, content, at),
      contentKept: (kept, at) => {
        same(kept, true, `${at} (known word)`);
        same(withoutNulls(meta.content), withoutNulls(result.content), at);
      },
    },
    PROSE,
  );
}

/** Optional members that are null count as absent, so either form of a block is the kept one. */
function withoutNulls(content) {
  return content.map((block) =>
    isObject(block)
      ? Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null))
      : block,
  );
}

const BOTH = "both, structured omitted when equal JSON";

function compareView(core, result, view, wanted, where) {
  const text = core.viewOfToolResult(result, view);
  if (wanted !== BOTH) {
    same(text, wanted, where);
    return;
  }
  const structured = JSON.stringify(result.structuredContent);
  for (const part of [core.viewOfToolResult(result, "content_first"), structured]) {
    if (!text.includes(part)) {
      fail(where, `${show(text)} does not hold ${show(part)}`);
    }
  }
  const twin = { ...result, content: [{ type: "text", text: ` ${structured}` }] };
  same(core.viewOfToolResult(twin, view), ` ${structured}`, `${where} (equal JSON)`);
}

/** A code alone, or a code with its place and with why the schema does not compile. */
function compareDiagnostic(core, diagnostics, tool, expected, where) {
  if (typeof expected === "string") {
    includesAll(diagnostics, [{ code: expected }], where);
    return;
  }
  readMembers(expected, where, {
    kind: (code, at) => includesAll(diagnostics, [{ code }], at),
    at: (pointer, at) => includesAll(diagnostics, [{ code: expected.kind, at: pointer }], at),
    code: (name, at) => {
      const reasons = compileReasons(name, at);
      let reason;
      try {
        core.compileSchema(tool.outputSchema).free();
      } catch (error) {
        reason = error.reason;
      }
      if (!reasons.includes(reason)) {
        fail(at, `expected ${name}, compiling gives ${reason}`);
      }
    },
  });
}

/** The same result on a session that has the tool from its host and so never asks for a list. */
function compareCatalogue(toolwire, catalogue, { result, tool, protocol }, { verdict }) {
  if (catalogue !== "supplied by host, tools/list never called") {
    fail("input.catalogue", `the runner does not know ${show(catalogue)}`);
  }
  const { outcome, frames } = callOnce(toolwire, {
    tool,
    protocol,
    validation: "report",
    reply: `"result":${JSON.stringify(result)}`,
  });
  same(outcome.ok, true, "input.catalogue (settled)");
  same(outcome.result.verdict, verdict.verdict, "input.catalogue (verdict)");
  same(
    frames.map(({ message }) => message.method),
    ["tools/call"],
    "input.catalogue (sent)",
  );
}

/** Several inputs with one expectation for each (`results`) or one for all. */
function compareMatrix(toolwire, { matrix, protocol }, expected) {
  readMembers(
    expected,
    "expected",
    {
      all: (wanted, at) => {
        for (const [index, item] of matrix.entries()) {
          comparePresence(toolwire, item, protocol, wanted, `${at} [${index}]`);
        }
      },
      results: (results, at) => {
        same(results.length, matrix.length, `${at} (items)`);
        for (const [index, wanted] of results.entries()) {
          compareResultType(toolwire, matrix[index].result, protocol, wanted, `${at}[${index}]`);
        }
      },
    },
    PROSE,
  );
}

function comparePresence(toolwire, item, protocol, expected, where) {
  readMembers(item, "input.matrix", {
    outputSchema: readElsewhere,
    structuredContent: readElsewhere,
  });
  const { structuredContent } = item;
  const subject = { protocol, result: { content: [], structuredContent }, tool: toolOf(item) };
  for (const validation of ["report", "enforce"]) {
    const outcome = outcomeOf(run(toolwire, subject, validation), `${where} (${validation})`);
    readMembers(expected, where, {
      // What is present is judged, and is the envelope's data.
      present: (present, at) => {
        same(outcome.verdict.verdict === "valid", present, at);
        same(outcome.envelope.data, structuredContent, at);
      },
      violation: (violation, at) => compareViolation(outcome, violation, at),
    });
  }
}

/** "complete", "input_required" or "protocol_violation", with a remark in parentheses. */
function compareResultType(toolwire, result, protocol, expected, where) {
  const [type] = expected.split(" (");
  // No result of a tool satisfies this schema, so that it shows whether one was judged.
  const tool = { ...TOOL, outputSchema: { type: "object", required: ["never sent"] } };
  const structured = { ...result, structuredContent: {} };
  const plain = run(toolwire, { protocol, result, tool: TOOL }, "enforce");
  const judged = run(toolwire, { protocol, result: structured, tool }, "report");
  if (type === "complete") {
    outcomeOf(plain, where);
    same(outcomeOf(judged, where).verdict.verdict, "invalid", where);
  } else if (type === "input_required") {
    outcomeOf(plain, where);
    same(outcomeOf(judged, where).verdict.verdict, "unchecked", where);
  } else if (type === "protocol_violation") {
    const error = plain.error ?? fail(where, "it succeeded");
    sameError(error, { kind: type, code: "result_type" }, where, toolwire.core);
  } else {
    fail(where, `the runner does not know ${show(expected)}`);
  }
}

/** A JSON-RPC error in place of a result: what its error says, and what it does not. */
function compareRpcError(toolwire, { rpcError, protocol }, expected) {
  const { core } = toolwire;
  const { outcome } = callOnce(toolwire, {
    tool: TOOL,
    protocol,
    reply: `"error":${JSON.stringify(rpcError)}`,
  });
  const error = outcome.error ?? fail("input.rpcError", "the call succeeded");
  sameError(error, { kind: "rpc_error", code: rpcError.code }, "input.rpcError", core);
  const secrets = expected.modelTextExcludes ?? [];
  readMembers(
    expected,
    "expected",
    {
      // The wording is ours; it names the server and the number.
      modelText: (_, at) => excludes(error.message, secrets, at),
      modelTextExcludes: (strings, at) => {
        for (const text of [error.message, JSON.stringify(error), inspect(error), `${error}`]) {
          excludes(text, strings, at);
        }
        for (const part of [SERVER, String(rpcError.code)]) {
          same(error.message.includes(part), true, `${at} (names ${part})`);
        }
      },
      privateDetails: (details, at) =>
        readMembers(details, at, {
          available: (available, path) => {
            same(error.private !== undefined, available, path);
            contains(error.private.reveal(), { message: rpcError.message }, path);
          },
          bounded: (bounded, path) => {
            const bytes = Buffer.byteLength(JSON.stringify(error.private.reveal()), "utf8");
            same(bytes <= core.limits.contain.maxFrameBytes, bounded, path);
          },
        }),
      validationErrorsExclude: (what, at) => {
        same(what, "instance values and property names", `${at} (known words)`);
        compareViolationTexts(core, secrets, at);
      },
    },
    PROSE,
  );
}

/** Messages of violations hold neither the value's text nor the names of its members. */
function compareViolationTexts(core, secrets, where) {
  for (const secret of secrets) {
    const outputSchema = {
      type: "object",
      required: [`${secret} required`],
      properties: { [secret]: { type: "integer" } },
      additionalProperties: false,
    };
    const result = { content: [], structuredContent: { [secret]: secret, [`${secret} more`]: 1 } };
    const subject = { result, tool: { ...TOOL, outputSchema } };
    const { violation } = outcomeOf(run({ core }, subject, "report"), where);
    same(violation.errors.length >= 3, true, `${where} (violations)`);
    for (const { message } of violation.errors) {
      excludes(message, [secret], where);
    }
    const { error } = run({ core }, subject, "enforce");
    excludes((error ?? fail(where, "it succeeded")).message, [secret], where);
  }
}

function excludes(text, strings, where) {
  for (const string of strings) {
    if (text.includes(string)) {
      fail(where, `a text holds ${show(string)}`);
    }
  }
}
