/**
 * Owns the shape of a verdict and of its violations in JavaScript, and their renderings.
 */

/** The verdict the core gave; `undefined` is its word for valid. */
function verdictOf(out) {
  if (out === undefined) {
    return { verdict: "valid", valid: true, errors: [], truncated: false };
  }
  const verdict = {
    verdict: out.verdict,
    valid: false,
    errors: out.errors.map(violationOf),
    truncated: out.truncated,
  };
  if (out.reason !== undefined) {
    verdict.reason = out.reason;
  }
  return verdict;
}

function violationOf({ instancePath, schemaPath, keyword, message, params }) {
  return { instancePath, schemaPath, keyword, message, params: JSON.parse(params) };
}

/** The errors as Ajv words and orders their members. */
function toAjvErrors(errors) {
  return errors.map(({ instancePath, schemaPath, keyword, params, message }) => ({
    instancePath,
    schemaPath: `#${schemaPath}`,
    keyword,
    params: params ?? {},
    message,
  }));
}

/** The verdict in the "basic" output format of JSON Schema 2020-12. */
function toBasicOutput(verdict) {
  if (verdict.valid) {
    return { valid: true };
  }
  return {
    valid: false,
    errors: verdict.errors.map(({ instancePath, schemaPath, message }) => ({
      keywordLocation: schemaPath,
      instanceLocation: instancePath,
      error: message,
    })),
  };
}

/** One line an error: where, and what is wrong. For the host: paths name properties. */
function formatErrors(errors) {
  return errors
    .map(({ instancePath, message }) => `${instancePath === "" ? "(root)" : instancePath}: ${message}`)
    .join("\n");
}

export { formatErrors, toAjvErrors, toBasicOutput, verdictOf, violationOf };
