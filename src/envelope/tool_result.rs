//! A tool's result as an envelope (DESIGN.md 5.4, 6.2 to 6.4).
//!
//! Invariant: the result is read by the rules that a session in `contain` reads it by, and every
//! envelope that comes out passes the guard. What fails a call here travels in the error's private
//! part, so nothing that arrived is lost.

use crate::error::{Code, Error};
use crate::json::Value;
use crate::session::options::Validation;
use crate::session::result::{self, Shape};
use crate::session::revision::{self, Family};
use crate::wire::Profile;

use super::guard::Source;
use super::meta::mcp_meta;
use super::pipeline::{
    Conclusion, Data, Diagnostic, Document, Found, Given, Normalize, OutputSchema, OutputVerdict,
    PipelineOutcome, diagnostic_of, fit, kept_content, option_invalid,
};

/// Options of a run on a tool's result.
#[derive(Clone, Copy, Debug)]
pub struct ToolOptions<'a> {
    /// How data is made to fit.
    pub normalize: Normalize,
    /// What a violation leads to.
    pub validation: Validation,
    /// A structured value that was declared and not sent is a violation.
    pub require_structured: bool,
    /// Without a structured value, the text of a single text block becomes the data if it is JSON.
    pub parse_text_fallback: bool,
    /// The revision the result came in. Without one the result is read as one of the newest revision
    /// with a handshake, and a `resultType` counts all the same.
    pub protocol_version: Option<&'a str>,
}

impl Default for ToolOptions<'_> {
    fn default() -> Self {
        ToolOptions {
            normalize: Normalize::Off,
            validation: Validation::Enforce,
            require_structured: false,
            parse_text_fallback: false,
            protocol_version: None,
        }
    }
}

/// Runs a tool's result, a JSON text, through the pipeline.
///
/// # Errors
/// - `invalid_arguments`: the text is no JSON (`not_json`), or an option has a value that is not
///   allowed (`option_invalid`: `protocolVersion`).
/// - `protocol_error`: the result is no object (`result_not_object`), repeats a member that is read
///   (`duplicate_member`), or is of an unknown type (`result_type`).
/// - `invalid_response`: its shape cannot be read (`no_content_array`, `is_error_type`), or, under
///   `enforce`, it violates its contract.
pub fn envelope_of_tool_result(
    result: &str,
    output: &OutputSchema<'_>,
    options: &ToolOptions<'_>,
) -> Result<PipelineOutcome, Error> {
    let (any_structured, reads_type) = match options.protocol_version {
        None => (false, true),
        Some(version) => {
            let revision =
                revision::named(version).ok_or_else(|| option_invalid("protocolVersion"))?;
            (revision.any_structured, revision.family == Family::Modern)
        }
    };
    let document = Document::read(result, output)?;
    let root = document.root();
    if let Some(kind) = root.get("resultType").filter(|_| reads_type) {
        let is = |name: &str| kind.text().is_some_and(|text| text.eq_str(name));
        if is("input_required") {
            return Ok(unfinished(root));
        }
        if !is("complete") {
            let private = result::private_json(root, "/resultType", kind, &[]);
            return Err(Error::new(Code::ProtocolError, "result_type").private(private));
        }
    }
    let shape = result::read(root, Profile::Contain, any_structured).map_err(|fault| {
        let private = result::private_json(root, "", root, &[]);
        Error::new(fault.code, fault.reason).private(private)
    })?;
    complete(&document, shape, output, options)
}

/// A round that asks the host for input: the host finds all of it in the data.
fn unfinished(root: Value<'_>) -> PipelineOutcome {
    PipelineOutcome {
        source: Source::Mcp,
        passed_through: false,
        data: Data::Whole,
        meta: mcp_meta(false, "[]", None, extra(root)),
        changes: Vec::new(),
        conclusion: Conclusion::unchecked("input_required"),
        violation: None,
        content_problems: Vec::new(),
        dropped: Vec::new(),
        diagnostics: Vec::new(),
    }
}

fn complete(
    document: &Document<'_>,
    shape: Shape,
    output: &OutputSchema<'_>,
    options: &ToolOptions<'_>,
) -> Result<PipelineOutcome, Error> {
    let root = document.root();
    let structured = shape.structured.and_then(|_| root.get("structuredContent"));
    let text = match structured {
        None if options.parse_text_fallback => single_text(root),
        _ => None,
    };
    let parsed = text.as_deref().and_then(|text| Document::read(text, output).ok());
    let judged = match (shape.structured, &parsed) {
        (Some(position), _) => Some((document, position)),
        (None, Some(parsed)) => Some((parsed, parsed.root().position())),
        (None, None) => None,
    };
    let data = match (structured, &parsed) {
        (Some(_), _) => Data::Structured,
        (None, Some(_)) => Data::TextBlock(0),
        (None, None) => Data::Content,
    };
    let (found, violation) = conclude(&shape, judged, data, output, options);
    let Found { data, changes, conclusion, failed } = found;
    let mut diagnostics = shape_diagnostics(&shape, root);
    if conclusion.reason == Some(NOT_SENT) || violation == Some(MISSING) {
        diagnostics.push(Diagnostic { code: "structured_content_missing", at: None });
    }
    diagnostics.extend(failed);
    diagnostics.extend(diagnostic_of(&conclusion, output));
    if let Some(violation) = violation.filter(|_| options.validation == Validation::Enforce) {
        return Err(result::refusal(violation, root, &conclusion.errors));
    }
    let content = kept_content(root, &shape.dropped);
    Ok(PipelineOutcome {
        source: Source::Mcp,
        passed_through: false,
        data,
        meta: mcp_meta(shape.is_error, &content, structured.map(Value::raw), extra(root)),
        changes,
        conclusion,
        violation: violation.or(shape.violation),
        content_problems: shape.content_problems,
        dropped: shape.dropped,
        diagnostics,
    })
}

/// Why a declared structured value was not judged.
const NOT_SENT: &str = "no_structured_content";
/// The violation it is if it was demanded.
const MISSING: &str = "missing_structured_content";

/// The data as it is handed on, the verdict on it, and the violation that the policy decides on.
fn conclude(
    shape: &Shape,
    judged: Option<(&Document<'_>, u32)>,
    data: Data,
    output: &OutputSchema<'_>,
    options: &ToolOptions<'_>,
) -> (Found, Option<&'static str>) {
    let found = |data, conclusion| Found { data, changes: Vec::new(), conclusion, failed: None };
    let unchecked = |data, reason| (found(data, Conclusion::unchecked(reason)), None);
    let violates =
        |data, kind| (found(data, Conclusion::bare(OutputVerdict::Invalid, None)), Some(kind));
    if shape.is_error && options.validation != Validation::Off {
        return unchecked(data, "is_error");
    }
    match (shape.violation, judged) {
        (Some(kind @ ("malformed_result" | "non_object_structured_content")), _)
            if options.validation != Validation::Off =>
        {
            violates(data, kind)
        }
        (None | Some("bad_content_block"), Some((document, position))) if !shape.is_error => {
            let given = Given { document, position, sent: true };
            let is_off = options.validation == Validation::Off;
            if is_off && options.normalize == Normalize::Off {
                return unchecked(data, "off");
            }
            let mut found = fit(given, data, output, options.normalize);
            if is_off {
                found.conclusion = Conclusion::unchecked("off");
            }
            let invalid = found.conclusion.verdict == OutputVerdict::Invalid;
            (found, invalid.then_some("schema"))
        }
        _ if options.validation == Validation::Off => unchecked(data, "off"),
        _ if matches!(output, OutputSchema::Absent) => unchecked(data, "no_schema"),
        _ if options.require_structured => violates(data, MISSING),
        _ => unchecked(data, NOT_SENT),
    }
}

/// The text of the only content block, if it is a text block.
fn single_text(root: Value<'_>) -> Option<String> {
    let content = root.get("content").filter(|content| content.len() == 1)?;
    let block = content.at(0)?;
    block.get("type")?.text().filter(|name| name.eq_str("text"))?;
    Some(block.get("text")?.as_str()?.into_owned())
}

/// The result's `_meta`, if it is an object.
fn extra(root: Value<'_>) -> Option<&str> {
    root.get("_meta").filter(|meta| meta.is_object()).map(Value::raw)
}

fn shape_diagnostics(shape: &Shape, root: Value<'_>) -> Vec<Diagnostic> {
    let at = |code, at: String| Diagnostic { code, at: Some(at) };
    let mut found = Vec::new();
    found.extend(shape.nulls.iter().map(|null| at("null_optional", null.clone())));
    if shape.content_missing {
        found.push(Diagnostic { code: "content_missing", at: None });
    }
    let blocks = shape.content_problems.iter();
    found.extend(blocks.map(|(index, _)| at("content_block", format!("/content/{index}"))));
    found.extend(result::unsafe_integer(root).map(|pointer| at("unsafe_integer", pointer)));
    found
}

#[cfg(test)]
mod tests;
