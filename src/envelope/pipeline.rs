//! The pipeline: detect, wrap, normalize, validate, in this order (DESIGN.md 6.4).
//!
//! Invariant: what came in is never changed. An outcome says where in the input the envelope's data
//! stands, or holds its new text if normalizing changed it; validation judges that and only reports.
//! What cannot be normalized is handed on as it came, with a diagnostic.

use crate::error::{Code, Error, Facts};
use crate::json::{Limits, Tape, Value, read};
use crate::schema::{
    self, CastMode, CastOptions, Change, Changed, MAX_MADE_BYTES, Program, SchemaError, Verdict,
    Violation,
};

use super::guard::{Source, source_of, source_of_meta};
use super::meta::{ResponseEnvelope, local_meta};

/// How data is made to fit its schema before it is judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Normalize {
    /// Fills and upcasts, keeping undeclared members.
    Cast,
    /// As TypeBox 0.34 casts.
    Cast034,
    /// Fills absent members that declare a default.
    Defaults,
    /// Not at all.
    Off,
}

impl Normalize {
    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "cast" => Normalize::Cast,
            "cast-0.34" => Normalize::Cast034,
            "defaults" => Normalize::Defaults,
            "off" => Normalize::Off,
            _ => return None,
        })
    }
}

pub(super) fn option_invalid(option: &'static str) -> Error {
    let facts = Facts { option: Some(option.into()), ..Facts::default() };
    Error::new(Code::InvalidArguments, "option_invalid").facts(facts)
}

/// Options of a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct PipelineOptions {
    /// How data is made to fit. None stands for what the source asks for: `cast` for local data whose
    /// schema says something, `off` for what came over HTTP or from a tool.
    pub normalize: Option<Normalize>,
    /// Wraps what looks like an envelope unless a factory made it.
    pub wrap_always: bool,
    /// The time of the run in epoch milliseconds: an envelope made now carries it.
    pub now: f64,
}

/// What output is judged by.
#[derive(Clone, Copy, Debug)]
pub enum OutputSchema<'a> {
    /// No schema was declared.
    Absent,
    /// A schema that compiled.
    Compiled(&'a Program),
    /// One that compiled and was written by TypeBox, see [`CastOptions::native`].
    Native(&'a Program),
    /// A schema that did not.
    Uncompilable(&'a SchemaError),
}

impl OutputSchema<'_> {
    pub(super) fn program(&self) -> Option<&Program> {
        match self {
            OutputSchema::Compiled(program) | OutputSchema::Native(program) => Some(program),
            OutputSchema::Absent | OutputSchema::Uncompilable(_) => None,
        }
    }

    /// True if the schema says something of the data: not if it is absent, `true` or `{}`.
    fn is_known(&self) -> bool {
        self.program().is_some_and(Program::restricts)
    }
}

/// The operation whose output runs through the pipeline.
#[derive(Clone, Copy, Debug)]
pub struct Operation<'a> {
    /// Its id, for the meta of an envelope made here.
    pub id: &'a str,
    /// Its output schema.
    pub output: OutputSchema<'a>,
}

/// What a handler returned.
#[derive(Clone, Copy, Debug)]
pub enum Returned<'a> {
    /// JSON text of the value, none for JavaScript's `undefined`. It is an envelope if the guard
    /// says so.
    Value(Option<&'a str>),
    /// An envelope taken apart: one whose data may be `undefined`, or one that a factory of ours
    /// made, which even [`PipelineOptions::wrap_always`] lets through.
    Envelope {
        /// JSON text of its data, none for `undefined`.
        data: Option<&'a str>,
        /// JSON text of its meta.
        meta: &'a str,
    },
}

/// A JSON text and its tape.
pub(super) struct Document<'a> {
    text: &'a str,
    tape: Tape,
}

impl<'a> Document<'a> {
    /// Reads a text in which what the schema judges stands one level down at most.
    pub(super) fn read(text: &'a str, output: &OutputSchema<'_>) -> Result<Self, Error> {
        let depth =
            output.program().map_or(u32::MAX, |program| program.max_depth().saturating_add(1));
        match read(text.as_bytes(), Limits::depth(depth)) {
            Ok(tape) => Ok(Document { text, tape }),
            Err(_) => Err(Error::new(Code::InvalidArguments, "not_json")),
        }
    }

    pub(super) fn root(&self) -> Value<'_> {
        self.tape.root(self.text.as_bytes())
    }

    pub(super) fn root_at(&self, position: u32) -> Value<'_> {
        self.tape.value(self.text.as_bytes(), position)
    }

    /// The verdict of a schema on the value at a position.
    pub(super) fn judge(&self, position: u32, output: &OutputSchema<'_>) -> Conclusion {
        let program = match output {
            OutputSchema::Absent => return Conclusion::unchecked("no_schema"),
            OutputSchema::Uncompilable(_) => {
                return Conclusion::bare(OutputVerdict::Unknown, Some("uncompilable"));
            }
            OutputSchema::Compiled(program) | OutputSchema::Native(program) => program,
        };
        let outcome = schema::judge(program, self.text.as_bytes(), &self.tape, position);
        Conclusion {
            verdict: match outcome.verdict {
                Verdict::Valid => OutputVerdict::Valid,
                Verdict::Invalid => OutputVerdict::Invalid,
                Verdict::Unknown => OutputVerdict::Unknown,
            },
            reason: outcome.reason,
            errors: outcome.violations,
            truncated: outcome.truncated,
        }
    }
}

/// What a judgement of output came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputVerdict {
    /// It satisfies its schema.
    Valid,
    /// It does not.
    Invalid,
    /// It cannot be judged.
    Unknown,
    /// It was not judged.
    Unchecked,
}

impl OutputVerdict {
    /// The verdict as JavaScript sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            OutputVerdict::Valid => "valid",
            OutputVerdict::Invalid => "invalid",
            OutputVerdict::Unknown => "unknown",
            OutputVerdict::Unchecked => "unchecked",
        }
    }
}

/// What normalizing and validating came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Conclusion {
    /// The verdict.
    pub verdict: OutputVerdict,
    /// Why the verdict is unknown or unchecked.
    pub reason: Option<&'static str>,
    /// Violations of the schema, in a fixed order.
    pub errors: Vec<Violation>,
    /// True if there were more.
    pub truncated: bool,
}

impl Conclusion {
    pub(super) fn unchecked(reason: &'static str) -> Self {
        Conclusion::bare(OutputVerdict::Unchecked, Some(reason))
    }

    pub(super) fn bare(verdict: OutputVerdict, reason: Option<&'static str>) -> Self {
        Conclusion { verdict, reason, errors: Vec::new(), truncated: false }
    }
}

/// Where an envelope's data stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Data {
    /// The returned value itself; none of it if it was `undefined`.
    Whole,
    /// The `data` member of the returned envelope.
    DataMember,
    /// The `structuredContent` member of the tool's result.
    Structured,
    /// The `content` member of the tool's result, without the blocks that were dropped.
    Content,
    /// The JSON text in this block of the tool's content.
    TextBlock(u32),
    /// A new text that normalizing made; none if the data is `undefined` still.
    Normalized(Option<String>),
}

/// Something worth an operator's notice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// One of the codes of DESIGN.md 6.1.
    pub code: &'static str,
    /// JSON Pointer into the result, or into the schema it concerns.
    pub at: Option<String>,
}

/// What a run came to.
#[derive(Clone, PartialEq, Debug)]
pub struct PipelineOutcome {
    /// Where the data came from.
    pub source: Source,
    /// True if the returned value is the envelope: hand out the very same, or, if its data was
    /// normalized, a new one with its meta.
    pub passed_through: bool,
    /// Where the data stands.
    pub data: Data,
    /// JSON text of the envelope's meta.
    pub meta: String,
    /// What normalizing changed, in order.
    pub changes: Vec<Change>,
    /// The verdict on the data and its reasons.
    pub conclusion: Conclusion,
    /// The worst violation: `schema`, whose errors are those of the conclusion, or, without errors,
    /// `missing_structured_content`, `non_object_structured_content`, `malformed_result` or
    /// `bad_content_block`.
    pub violation: Option<&'static str>,
    /// Content blocks with a problem: index and reason.
    pub content_problems: Vec<(u32, &'static str)>,
    /// Indices of the content blocks that are not in the envelope, in order.
    pub dropped: Vec<u32>,
    /// Diagnostics, each code at most once for each place.
    pub diagnostics: Vec<Diagnostic>,
}

impl PipelineOutcome {
    /// The envelope as texts, given the text that was run: a returned value, none if that was
    /// `undefined`, or a tool's result. An envelope that came in parts is in the caller's hands.
    pub fn envelope(&self, returned: Option<&str>) -> ResponseEnvelope {
        if let Data::Normalized(text) = &self.data {
            return ResponseEnvelope { data: text.clone(), meta: self.meta.clone() };
        }
        let data = returned.and_then(|text| {
            if self.data == Data::Whole {
                return Some(text.to_owned());
            }
            let tape = read(text.as_bytes(), Limits::depth(u32::MAX)).ok()?;
            let root = tape.root(text.as_bytes());
            match self.data {
                Data::Whole | Data::Normalized(_) => None,
                Data::DataMember => root.get("data").map(|data| data.raw().to_owned()),
                Data::Structured => root.get("structuredContent").map(|data| data.raw().to_owned()),
                Data::Content => Some(kept_content(root, &self.dropped)),
                Data::TextBlock(index) => {
                    let block = root.get("content")?.at(index as usize)?;
                    block.get("text")?.as_str().map(|text| text.into_owned())
                }
            }
        });
        ResponseEnvelope { data, meta: self.meta.clone() }
    }
}

/// JSON text of a result's content without the blocks at these indices; an empty array if there is
/// none.
pub(super) fn kept_content(result: Value<'_>, dropped: &[u32]) -> String {
    let Some(content) = result.get("content").filter(|content| content.is_array()) else {
        return "[]".to_owned();
    };
    if dropped.is_empty() {
        return content.raw().to_owned();
    }
    let mut dropped = dropped.iter().peekable();
    let mut kept = Vec::new();
    for (index, block) in (0..).zip(content.elements()) {
        if dropped.next_if_eq(&&index).is_none() {
            kept.push(block.raw());
        }
    }
    format!("[{}]", kept.join(","))
}

/// Runs what a handler returned through the pipeline.
///
/// # Errors
/// `invalid_arguments`: reason `not_json` if a text is no JSON, `not_an_envelope` if a meta is
/// none.
pub fn run_pipeline(
    returned: &Returned<'_>,
    operation: &Operation<'_>,
    options: &PipelineOptions,
) -> Result<PipelineOutcome, Error> {
    let output = &operation.output;
    match returned {
        Returned::Value(text) => {
            // On a wire `undefined` is `null`, and it is judged as that.
            let document = Document::read(text.unwrap_or("null"), output)?;
            let root = document.root();
            match source_of(root).filter(|_| !options.wrap_always) {
                Some(source) => {
                    let meta = root.get("meta").unwrap_or(root);
                    let data = root.get("data").unwrap_or(root);
                    let given =
                        Given { document: &document, position: data.position(), sent: true };
                    Ok(passed(source, meta, given, output, options))
                }
                None => {
                    let meta = local_meta(operation.id, options.now);
                    let given = Given { document: &document, position: 0, sent: text.is_some() };
                    let found = normalized(Source::Local, given, Data::Whole, output, options);
                    Ok(outcome(Source::Local, false, meta, found, output))
                }
            }
        }
        Returned::Envelope { data, meta } => {
            let meta = Document::read(meta, &OutputSchema::Absent)?;
            let source = source_of_meta(meta.root())
                .ok_or_else(|| Error::new(Code::InvalidArguments, "not_an_envelope"))?;
            let document = Document::read(data.unwrap_or("null"), output)?;
            let given = Given { document: &document, position: 0, sent: data.is_some() };
            Ok(passed(source, meta.root(), given, output, options))
        }
    }
}

/// Data on its way through the pipeline.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) position: u32,
    /// False for `undefined`, which the document shows as `null`.
    pub(super) sent: bool,
}

/// Data that was normalized and judged.
pub(super) struct Found {
    pub(super) data: Data,
    pub(super) changes: Vec<Change>,
    pub(super) conclusion: Conclusion,
    /// Why normalizing failed, and where in the schema.
    pub(super) failed: Option<Diagnostic>,
}

impl Found {
    fn as_given(data: Data, conclusion: Conclusion) -> Self {
        Found { data, changes: Vec::new(), conclusion, failed: None }
    }
}

/// Normalizes data as asked for, or as its source wants it, and judges what comes of it.
fn normalized(
    source: Source,
    given: Given<'_>,
    data: Data,
    output: &OutputSchema<'_>,
    options: &PipelineOptions,
) -> Found {
    let wanted = match source {
        Source::Local if output.is_known() => Normalize::Cast,
        Source::Local | Source::Http | Source::Mcp => Normalize::Off,
    };
    fit(given, data, output, options.normalize.unwrap_or(wanted))
}

/// Normalizes data and judges what comes of it.
pub(super) fn fit(
    given: Given<'_>,
    data: Data,
    output: &OutputSchema<'_>,
    normalize: Normalize,
) -> Found {
    let judged = given.document.judge(given.position, output);
    let program = output.program().filter(|_| normalize != Normalize::Off);
    // `undefined` that may be `null` is left as it is.
    let is_settled =
        judged.verdict == OutputVerdict::Valid && (!given.sent || normalize == Normalize::Cast);
    let Some(program) = program.filter(|_| !is_settled) else {
        return Found::as_given(data, judged);
    };
    let text = given.document.root_at(given.position).raw();
    let text = given.sent.then_some(text.as_bytes());
    let native = matches!(output, OutputSchema::Native(_));
    let cast =
        |mode| schema::cast(program, text, &CastOptions { mode, native, ..CastOptions::default() });
    let changed = match normalize {
        Normalize::Off => Ok(None),
        Normalize::Cast => cast(CastMode::Cast),
        Normalize::Cast034 => cast(CastMode::Cast034),
        Normalize::Defaults => schema::apply_defaults(program, text, MAX_MADE_BYTES),
    };
    match changed {
        Ok(None) => Found::as_given(data, judged),
        Ok(Some(Changed { text, changes })) => {
            let conclusion = match Document::read(text.as_deref().unwrap_or("null"), output) {
                Ok(document) => document.judge(0, output),
                Err(_) => Conclusion::bare(OutputVerdict::Unknown, Some("limit")),
            };
            Found { data: Data::Normalized(text), changes, conclusion, failed: None }
        }
        Err(error) => {
            let at = error.get_facts().at.clone();
            let failed = Some(Diagnostic { code: "not_normalized", at });
            Found { failed, ..Found::as_given(data, judged) }
        }
    }
}

/// The outcome for an envelope that is handed on.
fn passed(
    source: Source,
    meta: Value<'_>,
    given: Given<'_>,
    output: &OutputSchema<'_>,
    options: &PipelineOptions,
) -> PipelineOutcome {
    let found = match unjudged(source, meta, output) {
        Some(reason) => Found::as_given(Data::DataMember, Conclusion::unchecked(reason)),
        None => normalized(source, given, Data::DataMember, output, options),
    };
    outcome(source, true, meta.raw().to_owned(), found, output)
}

fn outcome(
    source: Source,
    passed_through: bool,
    meta: String,
    found: Found,
    output: &OutputSchema<'_>,
) -> PipelineOutcome {
    let Found { data, changes, conclusion, failed } = found;
    let violation = (conclusion.verdict == OutputVerdict::Invalid).then_some("schema");
    let diagnostics = failed.into_iter().chain(diagnostic_of(&conclusion, output)).collect();
    PipelineOutcome {
        source,
        passed_through,
        data,
        meta,
        changes,
        conclusion,
        violation,
        content_problems: Vec::new(),
        dropped: Vec::new(),
        diagnostics,
    }
}

/// What a verdict is worth telling.
pub(super) fn diagnostic_of(
    conclusion: &Conclusion,
    output: &OutputSchema<'_>,
) -> Option<Diagnostic> {
    match (conclusion.verdict, output) {
        (OutputVerdict::Invalid, _) => Some(Diagnostic { code: "output_violation", at: None }),
        (OutputVerdict::Unknown, OutputSchema::Uncompilable(error)) => {
            Some(Diagnostic { code: "schema_uncompilable", at: Some(error.at.clone()) })
        }
        (OutputVerdict::Unknown, _) => Some(Diagnostic { code: "output_unknown", at: None }),
        (OutputVerdict::Valid | OutputVerdict::Unchecked, _) => None,
    }
}

/// Why the data of an envelope that was made before is not judged.
fn unjudged(source: Source, meta: Value<'_>, output: &OutputSchema<'_>) -> Option<&'static str> {
    if source != Source::Mcp || matches!(output, OutputSchema::Absent) {
        return None;
    }
    if meta.get("isError").and_then(Value::as_bool) == Some(true) {
        return Some("is_error");
    }
    // The data is the content then, and no schema speaks of that.
    meta.get("structuredContent").is_none().then_some("no_structured_content")
}
