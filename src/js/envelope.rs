//! Envelopes: the pipeline over texts. The facade keeps the host's own values and is told where in
//! them the data stands.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use crate::envelope::{
    Data, Normalize, Operation, OutputSchema, PipelineOptions, PipelineOutcome, Returned,
    ToolOptions, View, envelope_of_tool_result, run_pipeline, source_of_meta, view_of_tool_result,
};
use crate::json::{Limits, read};
use crate::schema::{self, CompileOptions, Program, SchemaError};
use crate::session::options::Validation;

use super::fault::{fault, refused};
use super::plain::{Members, Plain, list};
use super::schema::{CompiledSchema, changes_out, violations_out};
use super::session::validation;

/// An output schema and the pipeline that ends in it.
#[wasm_bindgen]
pub struct Output {
    compiled: Option<Result<Rc<Program>, SchemaError>>,
    native: bool,
}

#[wasm_bindgen]
impl Output {
    /// Compiles the JSON text of a schema; one that does not compile makes verdicts unknown.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: Option<String>, native: bool) -> Output {
        let options = CompileOptions::default();
        let compiled = schema.map(|text| schema::compile(text.as_bytes(), &options).map(Rc::new));
        Output { compiled, native }
    }

    /// The pipeline that ends in a schema that was compiled before.
    pub fn of(schema: &CompiledSchema, native: bool) -> Output {
        Output { compiled: Some(Ok(schema.program())), native }
    }

    /// Runs a value that is no envelope: its JSON text, none for `undefined`.
    #[wasm_bindgen(js_name = runValue)]
    pub fn run_value(
        &self,
        id: &str,
        value: Option<String>,
        normalize: Option<String>,
        now: f64,
    ) -> Result<JsValue, JsValue> {
        self.pipeline(id, &Returned::Value(value.as_deref()), normalize.as_deref(), now)
    }

    /// Runs an envelope: the JSON texts of its data, none for `undefined`, and of its meta.
    #[wasm_bindgen(js_name = runEnvelope)]
    pub fn run_envelope(
        &self,
        id: &str,
        data: Option<String>,
        meta: &str,
        normalize: Option<String>,
    ) -> Result<JsValue, JsValue> {
        let returned = Returned::Envelope { data: data.as_deref(), meta };
        self.pipeline(id, &returned, normalize.as_deref(), 0.0)
    }

    /// Runs a tool's result, a JSON text.
    #[wasm_bindgen(js_name = runToolResult)]
    pub fn run_tool_result(&self, result: &str, options: JsValue) -> Result<JsValue, JsValue> {
        let members = Members(&options);
        let wrong = |_| refused("validation");
        let mode = members.text("normalize").map_err(wrong)?;
        let protocol_version = members.text("protocolVersion").map_err(wrong)?;
        let options = ToolOptions {
            normalize: normalize(mode.as_deref())?.unwrap_or(Normalize::Off),
            validation: validation(&members).map_err(wrong)?.unwrap_or(Validation::Enforce),
            require_structured: members.is_set("requireStructured").map_err(wrong)?,
            parse_text_fallback: members.is_set("parseTextFallback").map_err(wrong)?,
            protocol_version: protocol_version.as_deref(),
        };
        envelope_of_tool_result(result, &self.schema(), &options)
            .map(|outcome| outcome_out(&outcome))
            .map_err(|error| fault(&error))
    }
}

impl Output {
    fn schema(&self) -> OutputSchema<'_> {
        match &self.compiled {
            None => OutputSchema::Absent,
            Some(Ok(program)) if self.native => OutputSchema::Native(program),
            Some(Ok(program)) => OutputSchema::Compiled(program),
            Some(Err(error)) => OutputSchema::Uncompilable(error),
        }
    }

    fn pipeline(
        &self,
        id: &str,
        returned: &Returned<'_>,
        mode: Option<&str>,
        now: f64,
    ) -> Result<JsValue, JsValue> {
        // Whether a value is an envelope was settled before it crossed.
        let options = PipelineOptions { normalize: normalize(mode)?, wrap_always: true, now };
        run_pipeline(returned, &Operation { id, output: self.schema() }, &options)
            .map(|outcome| outcome_out(&outcome))
            .map_err(|error| fault(&error))
    }
}

fn outcome_out(outcome: &PipelineOutcome) -> JsValue {
    let (data, block, normalized) = match &outcome.data {
        Data::Whole => ("whole", None, None),
        Data::DataMember => ("data", None, None),
        Data::Structured => ("structured", None, None),
        Data::Content => ("content", None, None),
        Data::TextBlock(index) => ("text", Some(*index), None),
        Data::Normalized(text) => ("normalized", None, text.as_deref()),
    };
    let conclusion = &outcome.conclusion;
    let mut diagnostics = outcome.diagnostics.iter().map(|found| {
        Plain::new().text("code", found.code).maybe_text("at", found.at.as_deref()).done()
    });
    Plain::new()
        .flag("passedThrough", outcome.passed_through)
        // `whole`, `data`, `structured`, `content`, `text` or `normalized`.
        .text("data", data)
        // JSON text for `normalized`; absent if the data is `undefined`.
        .maybe_text("normalized", normalized)
        .value("changes", &changes_out(&outcome.changes))
        // The index of the block for `text`.
        .maybe_number("block", block.map(f64::from))
        // JSON text.
        .text("meta", &outcome.meta)
        .text("verdict", conclusion.verdict.as_str())
        .maybe_text("reason", conclusion.reason)
        .value("errors", &violations_out(&conclusion.errors))
        .flag("truncated", conclusion.truncated)
        .maybe_text("violation", outcome.violation)
        .value("contentProblems", &content_problems(&outcome.content_problems))
        .numbers("dropped", &outcome.dropped)
        .list("diagnostics", &mut diagnostics)
        .done()
}

/// Blocks that are not as their revision has them: which, and why.
pub(super) fn content_problems(problems: &[(u32, &'static str)]) -> JsValue {
    let mut problems = problems.iter().map(|&(index, reason)| {
        Plain::new().number("index", f64::from(index)).text("reason", reason).done()
    });
    list(&mut problems)
}

/// True if the JSON text is the `meta` of an envelope.
#[wasm_bindgen(js_name = isEnvelopeMeta)]
pub fn is_envelope_meta(meta: &str) -> bool {
    read(meta.as_bytes(), Limits::depth(u32::MAX))
        .is_ok_and(|tape| source_of_meta(tape.root(meta.as_bytes())).is_some())
}

/// A tool's result as one text for a model; content and structured value are JSON texts.
#[wasm_bindgen(js_name = viewOfToolResult)]
pub fn view(content: &str, structured: Option<String>, view: &str) -> Result<String, JsValue> {
    let view = View::from_name(view).ok_or_else(|| refused("view"))?;
    view_of_tool_result(content, structured.as_deref(), view).map_err(|error| fault(&error))
}

fn normalize(name: Option<&str>) -> Result<Option<Normalize>, JsValue> {
    name.map(|name| Normalize::from_name(name).ok_or_else(|| refused("normalize"))).transpose()
}
