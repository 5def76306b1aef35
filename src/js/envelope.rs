//! Envelopes: the pipeline over texts. The facade keeps the host's own values and is told where in
//! them the data stands.

use std::rc::Rc;

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
use super::schema::{ChangeOut, CompiledSchema, ViolationOut};

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
    /// `whole`, `data`, `structured`, `content`, `text` or `normalized`.
    data: &'static str,
    /// JSON text for `normalized`; absent if the data is `undefined`.
    normalized: Option<&'a str>,
    changes: Vec<ChangeOut<'a>>,
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
        let input: ToolIn =
            serde_wasm_bindgen::from_value(options).map_err(|_| refused("validation"))?;
        let options = ToolOptions {
            normalize: normalize(input.normalize.as_deref())?.unwrap_or(Normalize::Off),
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
    let problem = |&(index, reason): &(u32, &'static str)| ProblemOut { index, reason };
    value(&OutcomeOut {
        passed_through: outcome.passed_through,
        data,
        block,
        normalized,
        changes: outcome.changes.iter().map(ChangeOut::of).collect(),
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

fn normalize(name: Option<&str>) -> Result<Option<Normalize>, JsValue> {
    name.map(|name| Normalize::from_name(name).ok_or_else(|| refused("normalize"))).transpose()
}

fn refused(option: &'static str) -> JsValue {
    let facts = Facts { option: Some(option.into()), ..Facts::default() };
    fault(&Error::new(Code::InvalidArguments, "option_invalid").facts(facts))
}
