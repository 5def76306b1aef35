//! Envelopes: the pipeline over texts. The facade keeps the host's own values and is told where in
//! them the data stands.

use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::envelope::{
    Data, Normalize, Operation, OutputSchema, PipelineOptions, PipelineOutcome, Returned,
    ToolOptions, View, envelope_of_tool_result, run_pipeline, source_of_meta, view_of_tool_result,
};
use crate::error::{Code, Error, Facts};
use crate::json::{Limits, read};
use crate::schema::{self, CompileOptions, Program, SchemaError};
use crate::session::options::Validation;

use super::fault::{fault, value};
use super::schema::ViolationOut;

/// Options of a run on what a handler returned.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RunIn {
    normalize: Option<String>,
    wrap_always: bool,
    now: f64,
}

/// Options of a run on a tool's result.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToolIn {
    normalize: Option<String>,
    validation: Option<Validation>,
    require_structured: bool,
    parse_text_fallback: bool,
    protocol_version: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomeOut<'a> {
    passed_through: bool,
    /// `whole`, `data`, `structured`, `content` or `text`.
    data: &'static str,
    /// The index of the block for `text`.
    block: Option<u32>,
    /// JSON text.
    meta: &'a str,
    verdict: &'static str,
    reason: Option<&'static str>,
    errors: Vec<ViolationOut<'a>>,
    truncated: bool,
    violation: Option<&'static str>,
    content_problems: Vec<ProblemOut>,
    dropped: &'a [u32],
    diagnostics: Vec<DiagnosticOut<'a>>,
}

#[derive(Serialize)]
struct ProblemOut {
    index: u32,
    reason: &'static str,
}

#[derive(Serialize)]
struct DiagnosticOut<'a> {
    code: &'static str,
    at: Option<&'a str>,
}

/// An output schema and the pipeline that ends in it.
#[wasm_bindgen]
pub struct Output {
    compiled: Option<Result<Program, SchemaError>>,
}

#[wasm_bindgen]
impl Output {
    /// Compiles the JSON text of a schema; one that does not compile makes verdicts unknown.
    #[wasm_bindgen(constructor)]
    pub fn new(schema: Option<String>) -> Output {
        let options = CompileOptions::default();
        Output { compiled: schema.map(|text| schema::compile(text.as_bytes(), &options)) }
    }

    /// Runs what a handler returned: the JSON text of a value, none for `undefined`.
    pub fn run(
        &self,
        id: &str,
        returned: Option<String>,
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        self.pipeline(id, &Returned::Value(returned.as_deref()), options)
    }

    /// Runs an envelope: the JSON texts of its data, none for `undefined`, and of its meta.
    #[wasm_bindgen(js_name = runEnvelope)]
    pub fn run_envelope(
        &self,
        id: &str,
        data: Option<String>,
        meta: &str,
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        self.pipeline(id, &Returned::Envelope { data: data.as_deref(), meta }, options)
    }

    /// Runs a tool's result, a JSON text.
    #[wasm_bindgen(js_name = runToolResult)]
    pub fn run_tool_result(&self, result: &str, options: JsValue) -> Result<JsValue, JsValue> {
        let input: ToolIn =
            serde_wasm_bindgen::from_value(options).map_err(|_| refused("validation"))?;
        let options = ToolOptions {
            normalize: normalize(input.normalize.as_deref())?,
            validation: input.validation.unwrap_or(Validation::Enforce),
            require_structured: input.require_structured,
            parse_text_fallback: input.parse_text_fallback,
            protocol_version: input.protocol_version.as_deref(),
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
            Some(Ok(program)) => OutputSchema::Compiled(program),
            Some(Err(error)) => OutputSchema::Uncompilable(error),
        }
    }

    fn pipeline(
        &self,
        id: &str,
        returned: &Returned<'_>,
        options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let input: RunIn = serde_wasm_bindgen::from_value(options).map_err(|_| refused("now"))?;
        let options = PipelineOptions {
            normalize: normalize(input.normalize.as_deref())?,
            wrap_always: input.wrap_always,
            now: input.now,
        };
        run_pipeline(returned, &Operation { id, output: self.schema() }, &options)
            .map(|outcome| outcome_out(&outcome))
            .map_err(|error| fault(&error))
    }
}

fn outcome_out(outcome: &PipelineOutcome) -> JsValue {
    let (data, block) = match outcome.data {
        Data::Whole => ("whole", None),
        Data::DataMember => ("data", None),
        Data::Structured => ("structured", None),
        Data::Content => ("content", None),
        Data::TextBlock(index) => ("text", Some(index)),
    };
    let problem = |&(index, reason): &(u32, &'static str)| ProblemOut { index, reason };
    value(&OutcomeOut {
        passed_through: outcome.passed_through,
        data,
        block,
        meta: &outcome.meta,
        verdict: outcome.conclusion.verdict.as_str(),
        reason: outcome.conclusion.reason,
        errors: outcome.conclusion.errors.iter().map(ViolationOut::of).collect(),
        truncated: outcome.conclusion.truncated,
        violation: outcome.violation,
        content_problems: outcome.content_problems.iter().map(problem).collect(),
        dropped: &outcome.dropped,
        diagnostics: outcome
            .diagnostics
            .iter()
            .map(|found| DiagnosticOut { code: found.code, at: found.at.as_deref() })
            .collect(),
    })
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

fn normalize(name: Option<&str>) -> Result<Normalize, JsValue> {
    name.map_or(Ok(Normalize::Off), |name| {
        Normalize::from_name(name).ok_or_else(|| refused("normalize"))
    })
}

fn refused(option: &'static str) -> JsValue {
    let facts = Facts { option: Some(option.into()), ..Facts::default() };
    fault(&Error::new(Code::InvalidArguments, "option_invalid").facts(facts))
}
