/**
 * Kind `validate` of `field.jsonl`: schemas and values as JSON text, because what matters (spelling
 * of numbers, repeated members, `__proto__`) exists in text only.
 */

import { contains, fail, readElsewhere, readMembers, same, show } from "./expect.mjs";
import { callOnce } from "./field-connection.mjs";
import { PROSE, compileReasons, includesAll, sameCount } from "./field-words.mjs";

/** Members of `input` that are options of `compileSchema`, by our name. */
const OPTIONS = {
  defaultDialect: "dialect",
  formats: "formats",
  duplicateKeys: "duplicateKeys",
  maxDepth: "maxDepth",
  maxErrors: "maxErrors",
  maxSteps: "maxSteps",
};

export const kinds = {
  validate({ input, expected }, toolwire) {
    const { core } = toolwire;
    const options = {};
    const readers = {
      schemaJson: readElsewhere,
      schemasJson: readElsewhere,
      valuesJson: readElsewhere,
    };
    for (const [name, ours] of Object.entries(OPTIONS)) {
      readers[name] = (value) => (options[ours] = value);
    }
    readMembers(input, "input", readers, PROSE);
    const start = process.cpuUsage();
    const judgements = judgeAll(core, input, options);
    const { user, system } = process.cpuUsage(start);
    const elapsedMs = (user + system) / 1000;
    const [{ fault, problems, verdicts }] = judgements;
    readMembers(
      expected,
      "expected",
      {
        compile: (wanted, at) => {
          for (const judgement of judgements) {
            compareCompilation(judgement.fault, wanted, at, core);
          }
        },
        valid: (valid, at) => compareVerdicts(verdicts, valid, at),
        matrix: (rows, at) => {
          same(rows.length, judgements.length, `${at} (rows)`);
          for (const [index, row] of rows.entries()) {
            compareVerdicts(judgements[index].verdicts, row, `${at}[${index}]`);
          }
        },
        errorsAt: (pointers, at) => eachValue(verdicts, pointers, at, compareErrorsAt),
        errors: (errors, at) => eachValue(verdicts, errors, at, compareErrors),
        lint: (lint, at) => includesAll(problems, lint, at),
        scope: readElsewhere,
        maxMs: (ms, at) => sameCount(Math.ceil(elapsedMs), `<=${ms}`, at),
        pipeline: (policy, at) => comparePolicies(core, input, verdicts, policy, at),
        roundTrip: (claim, at) => compareRoundTrip(toolwire, claim, at),
        afterwards: (claims, at) => compareAfterwards(toolwire, input, verdicts, claims, at),
      },
      PROSE,
    );
    if (fault !== undefined && expected.compile === undefined) {
      throw fault;
    }
  },
};

/** Every schema's compilation and its verdicts. All schemas live while the values are judged. */
function judgeAll(core, { schemaJson, schemasJson = [schemaJson], valuesJson }, options) {
  const compilations = schemasJson.map((text) => compile(core, text, options));
  try {
    return compilations.map(({ schema, fault }) => ({
      fault,
      problems: schema?.problems,
      verdicts: valuesJson.map((text) => schema?.validateJson(text)),
    }));
  } finally {
    for (const { schema } of compilations) {
      schema?.free();
    }
  }
}

function compile(core, text, options) {
  try {
    return { schema: core.compileSchema(text, options) };
  } catch (fault) {
    if (!(fault instanceof core.ToolwireError)) {
      throw fault;
    }
    return { fault };
  }
}

function compareCompilation(fault, wanted, where, core) {
  if (wanted === "ok") {
    if (fault !== undefined) {
      fail(where, `it does not compile: ${fault.reason} at ${show(fault.at)}`);
    }
    return;
  }
  if (!(fault instanceof core.ToolwireError)) {
    fail(where, "it compiles");
  }
  same(fault.code, "schema_error", where);
  readMembers(
    wanted,
    where,
    {
      error: (name, at) => {
        if (!compileReasons(name, at).includes(fault.reason)) {
          fail(at, `expected ${name}, got ${fault.reason}`);
        }
      },
      at: (pointer, at) => same(fault.at, pointer, at),
      target: (target, at) => same(fault.target, target, at),
      supported: (dialects, at) => includesAll(fault.supported, dialects, at),
      hint: readElsewhere,
    },
    PROSE,
  );
}

/** `true`, `false`, or `null` for a value that cannot be judged. */
function compareVerdicts(verdicts, expected, where) {
  same(verdicts.length, expected.length, `${where} (values)`);
  for (const [index, valid] of expected.entries()) {
    const verdict = verdicts[index]?.verdict ?? "unknown";
    const wanted = valid === null ? "unknown" : valid ? "valid" : "invalid";
    same(verdict, wanted, `${where}[${index}]`);
    same(verdicts[index]?.valid ?? false, valid === true, `${where}[${index}]`);
  }
}

function eachValue(verdicts, expected, where, compare) {
  same(verdicts.length, expected.length, `${where} (values)`);
  for (const [index, wanted] of expected.entries()) {
    const errors = verdicts[index]?.errors ?? [];
    if (wanted === null) {
      same(errors.length, 0, `${where}[${index}]`);
    } else {
      compare(errors, wanted, `${where}[${index}]`);
    }
  }
}

function compareErrorsAt(errors, pointers, where) {
  const wanted = [pointers].flat().map((instancePath) => ({ instancePath }));
  includesAll(errors, wanted, where);
}

function compareErrors(errors, wanted, where) {
  same(errors.length, wanted.length, `${where} (errors)`);
  includesAll(errors, wanted, where);
}

const POLICIES =
  "policy warn (default): keep result, attach violation; " +
  "policy strict: error that still carries content";

/** The two policies on every value, as the result of a tool with this output schema. */
function comparePolicies(core, { schemaJson, valuesJson }, verdicts, policy, where) {
  if (policy !== POLICIES) {
    fail(where, `the runner does not know ${show(policy)}`);
  }
  const tool = {
    name: "tool",
    inputSchema: { type: "object" },
    outputSchema: JSON.parse(schemaJson),
  };
  for (const [index, value] of valuesJson.entries()) {
    const at = `${where} value ${index}`;
    const result = `{"content":[],"structuredContent":${value}}`;
    const kept = core.envelopeOfToolResult(result, tool, { validation: "report" });
    same(kept.envelope.data, JSON.parse(value), at);
    if (verdicts[index].valid) {
      same(kept.violation, undefined, at);
      core.envelopeOfToolResult(result, tool, { validation: "enforce" });
    } else {
      same(kept.violation?.kind, "schema", at);
      const error = thrownBy(() =>
        core.envelopeOfToolResult(result, tool, { validation: "enforce" }),
      );
      same(error?.code, "invalid_response", at);
      contains(error.private.reveal(), { content: [] }, at);
    }
  }
}

function thrownBy(run) {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

/** "TEXT re-serialises with the same digits": a structured result keeps its text. */
function compareRoundTrip(toolwire, claim, where) {
  const text = /^(\S+) re-serialises with the same digits$/.exec(claim)?.[1];
  if (text === undefined) {
    fail(where, `the runner does not know ${show(claim)}`);
  }
  const { outcome } = callOnce(toolwire, {
    tool: { name: "tool", inputSchema: { type: "object" } },
    reply: `"result":{"content":[],"structuredContent":${text}}`,
  });
  if (!outcome.ok || !outcome.result.rawJson().includes(text)) {
    fail(where, `the result does not hold ${text}`);
  }
}

/** Claims about the realm and the value after judging, joined by "; ". */
function compareAfterwards(toolwire, { valuesJson, schemaJson }, verdicts, claims, where) {
  for (const claim of claims.split("; ")) {
    const polluted = /^\(\{\}\)\.(\w+) === undefined$/.exec(claim)?.[1];
    const own = /^value handed to JS has an OWN key (\S+)$/.exec(claim)?.[1];
    if (polluted !== undefined) {
      same({}[polluted], undefined, `${where} (${claim})`);
    } else if (own !== undefined) {
      const { outcome } = callOnce(toolwire, {
        tool: {
          name: "tool",
          inputSchema: { type: "object" },
          outputSchema: JSON.parse(schemaJson),
        },
        reply: `"result":{"structuredContent":${valuesJson[verdicts.findIndex((v) => v.valid)]}}`,
      });
      same(outcome.ok && Object.hasOwn(outcome.result.structuredContent, own), true, where);
    } else {
      fail(where, `the runner does not know ${show(claim)}`);
    }
  }
}
