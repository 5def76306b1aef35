//! Schemas: compiling and judging in slices, seen from JavaScript.
//!
//! A text crosses once, as bytes; what comes back is a verdict of small facts. `undefined` stands
//! for `valid` without more to say, so that the common verdict costs no object.

use std::rc::Rc;
use std::task::Poll;

use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error, Facts};
use crate::json::{Fault, Limits, Progress, Reader, Tape};
use crate::schema::{
    self, CastMode, CastOptions, Change, Changed, CompileOptions, Compiler, Dialect, DuplicateKeys,
    Formats, Judge, Keywords, MAX_MADE_BYTES, Outcome, Program, SchemaError, SchemaProblem,
    Verdict, Violation,
};

use super::fault::{fault, value};

/// Bytes read for each step of a budget: both then take about as long.
const BYTES_PER_STEP: usize = 8;

/// `SchemaOptions` as they cross; what is absent keeps its default.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OptionsIn {
    dialect: Option<String>,
    keywords: Option<String>,
    formats: Option<String>,
    duplicate_keys: Option<String>,
    resources: Vec<(String, String)>,
    max_depth: Option<f64>,
    max_errors: Option<f64>,
    max_steps: Option<f64>,
    max_subschemas: Option<f64>,
    max_schema_bytes: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct VerdictOut<'a> {
    verdict: &'static str,
    errors: Vec<ViolationOut<'a>>,
    truncated: bool,
    reason: Option<&'static str>,
}

/// One violation on its way out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViolationOut<'a> {
    instance_path: &'a str,
    schema_path: &'a str,
    keyword: &'a str,
    message: String,
    /// JSON text of an object.
    params: &'a str,
}

impl<'a> ViolationOut<'a> {
    pub(super) fn of(violation: &'a Violation) -> Self {
        ViolationOut {
            instance_path: &violation.instance_path,
            schema_path: &violation.schema_path,
            keyword: violation.keyword,
            message: violation.message(),
            params: &violation.params,
        }
    }
}

#[derive(Serialize)]
struct SchemaFacts<'a> {
    dialect: &'static str,
    problems: Vec<ProblemOut<'a>>,
}

#[derive(Serialize)]
struct ProblemOut<'a> {
    code: &'static str,
    at: &'a str,
    message: &'static str,
}

impl<'a> ProblemOut<'a> {
    fn of(problem: &'a SchemaProblem) -> Self {
        ProblemOut { code: problem.code, at: &problem.at, message: problem.message }
    }
}

/// What was made of a value.
#[derive(Serialize)]
struct ChangedOut<'a> {
    /// JSON text; absent if the value is `undefined` still.
    text: Option<&'a str>,
    changes: Vec<ChangeOut<'a>>,
}

/// One change on its way out.
#[derive(Serialize)]
pub(super) struct ChangeOut<'a> {
    path: &'a str,
    kind: &'static str,
}

impl<'a> ChangeOut<'a> {
    pub(super) fn of(change: &'a Change) -> Self {
        ChangeOut { path: &change.path, kind: change.kind.as_str() }
    }
}

/// A compilation under way.
#[wasm_bindgen]
pub struct Compiling {
    compiler: Compiler,
}

#[wasm_bindgen]
impl Compiling {
    /// Starts compiling a schema's JSON text.
    #[wasm_bindgen(constructor)]
    pub fn new(text: Vec<u8>, options: &JsValue) -> Result<Compiling, JsValue> {
        Ok(Compiling { compiler: Compiler::new(text, compile_options(options)?) })
    }

    /// Goes on for so many steps; undefined until done.
    pub fn step(&mut self, steps: f64) -> Result<Option<CompiledSchema>, JsValue> {
        let mut steps = steps as u64;
        match self.compiler.step(&mut steps) {
            Poll::Pending => Ok(None),
            Poll::Ready(Ok(program)) => Ok(Some(CompiledSchema { program: Rc::new(program) })),
            Poll::Ready(Err(error)) => Err(fault(&schema_fault(error))),
        }
    }
}

/// A compiled schema.
#[wasm_bindgen]
pub struct CompiledSchema {
    program: Rc<Program>,
}

#[wasm_bindgen]
impl CompiledSchema {
    /// Judges a JSON text in one go; undefined if it is valid.
    pub fn judge(&self, text: Vec<u8>) -> JsValue {
        let mut judging = self.judging(text);
        loop {
            if let Some(verdict) = judging.run(u64::MAX) {
                return verdict;
            }
        }
    }

    /// Starts judging a text of about so many bytes in slices; its bytes are pushed.
    pub fn start(&self, length: usize) -> Judging {
        self.judging(Vec::with_capacity(length))
    }

    /// Casts a value, absent for `undefined`: `mode` is `cast` or `cast-0.34`. Undefined if nothing
    /// was changed.
    pub fn cast(
        &self,
        value: Option<Vec<u8>>,
        mode: &str,
        native: bool,
        max_made_bytes: Option<f64>,
    ) -> Result<JsValue, JsValue> {
        let mode = match mode {
            "cast" => CastMode::Cast,
            "cast-0.34" => CastMode::Cast034,
            _ => return Err(refused("mode")),
        };
        let max_made_bytes = made_bytes(max_made_bytes)?;
        let options = CastOptions { mode, native, max_made_bytes };
        changed(schema::cast(&self.program, value.as_deref(), &options))
    }

    /// Fills absent members that declare a default. Undefined if there were none.
    #[wasm_bindgen(js_name = applyDefaults)]
    pub fn apply_defaults(
        &self,
        value: Option<Vec<u8>>,
        max_made_bytes: Option<f64>,
    ) -> Result<JsValue, JsValue> {
        let bytes = made_bytes(max_made_bytes)?;
        changed(schema::apply_defaults(&self.program, value.as_deref(), bytes))
    }

    /// What the schema says of itself.
    pub fn facts(&self) -> JsValue {
        value(&SchemaFacts {
            dialect: self.program.dialect().name(),
            problems: self.program.problems().iter().map(ProblemOut::of).collect(),
        })
    }
}

impl CompiledSchema {
    pub(super) fn program(&self) -> Rc<Program> {
        Rc::clone(&self.program)
    }

    fn judging(&self, text: Vec<u8>) -> Judging {
        let reader = Reader::new(Limits::depth(self.program.max_depth()));
        Judging { program: Rc::clone(&self.program), text, stage: Stage::Reading(reader) }
    }
}

fn changed(outcome: Result<Option<Changed>, Error>) -> Result<JsValue, JsValue> {
    match outcome.map_err(|error| fault(&error))? {
        None => Ok(JsValue::UNDEFINED),
        Some(Changed { text, changes }) => Ok(value(&ChangedOut {
            text: text.as_deref(),
            changes: changes.iter().map(ChangeOut::of).collect(),
        })),
    }
}

/// The bound on what is made: a positive integer or Infinity.
fn made_bytes(given: Option<f64>) -> Result<usize, JsValue> {
    match given {
        None => Ok(MAX_MADE_BYTES),
        Some(f64::INFINITY) => Ok(usize::MAX),
        Some(bytes) if bytes >= 1.0 && bytes.fract() == 0.0 => Ok(bytes as usize),
        Some(_) => Err(refused("maxMadeBytes")),
    }
}

fn refused(option: &'static str) -> JsValue {
    let facts = Facts { option: Some(option.into()), ..Facts::default() };
    fault(&Error::new(Code::InvalidArguments, "option_invalid").facts(facts))
}

enum Stage {
    Reading(Reader),
    Judging(Tape, Box<Judge>),
    Done,
}

/// A judgement under way.
#[wasm_bindgen]
pub struct Judging {
    program: Rc<Program>,
    text: Vec<u8>,
    stage: Stage,
}

#[wasm_bindgen]
impl Judging {
    /// Appends bytes of the text; only before the first step.
    pub fn push(&mut self, piece: &[u8]) {
        self.text.extend_from_slice(piece);
    }

    /// Goes on for so many steps. False until done; then the verdict, undefined for `valid`.
    pub fn step(&mut self, steps: f64) -> JsValue {
        self.run(steps as u64).unwrap_or(JsValue::FALSE)
    }
}

impl Judging {
    fn run(&mut self, mut steps: u64) -> Option<JsValue> {
        if let Stage::Reading(reader) = &mut self.stage {
            let budget = usize::try_from(steps).unwrap_or(usize::MAX);
            match reader.run(&self.text, budget.saturating_mul(BYTES_PER_STEP)) {
                Ok(Progress::Pending) => return None,
                Err(fault) => return Some(unread(fault)),
                Ok(Progress::Done) => {
                    if let Stage::Reading(reader) = std::mem::replace(&mut self.stage, Stage::Done)
                    {
                        self.stage =
                            Stage::Judging(reader.finish(), Box::new(Judge::new(&self.program, 0)));
                    }
                }
            }
        }
        let Stage::Judging(tape, judge) = &mut self.stage else {
            return Some(JsValue::UNDEFINED);
        };
        match judge.step(&self.program, &self.text, tape, &mut steps) {
            Poll::Pending => None,
            Poll::Ready(outcome) => Some(verdict_out(&outcome)),
        }
    }
}

fn verdict_out(outcome: &Outcome) -> JsValue {
    let verdict = match outcome.verdict {
        Verdict::Valid => return JsValue::UNDEFINED,
        Verdict::Invalid => "invalid",
        Verdict::Unknown => "unknown",
    };
    value(&VerdictOut {
        verdict,
        errors: outcome.violations.iter().map(ViolationOut::of).collect(),
        truncated: outcome.truncated,
        reason: outcome.reason,
    })
}

/// The verdict on a text that could not be read.
fn unread(fault: Fault) -> JsValue {
    match fault {
        Fault::Syntax(_) | Fault::Utf8(_) => {
            let violation = Violation {
                instance_path: String::new(),
                schema_path: String::new(),
                keyword: "json",
                params: "{}".to_owned(),
            };
            value(&VerdictOut {
                verdict: "invalid",
                errors: vec![ViolationOut::of(&violation)],
                truncated: false,
                reason: None,
            })
        }
        Fault::Tokens | Fault::Size => value(&VerdictOut {
            verdict: "unknown",
            errors: Vec::new(),
            truncated: false,
            reason: Some("limit"),
        }),
    }
}

fn schema_fault(error: SchemaError) -> Error {
    let supported = (error.reason == "unsupported_dialect")
        .then(|| Dialect::SUPPORTED.iter().map(|&name| name.to_owned()).collect());
    let facts = Facts { at: Some(error.at), target: error.target, supported, ..Facts::default() };
    Error::new(Code::SchemaError, error.reason).facts(facts)
}

fn compile_options(options: &JsValue) -> Result<CompileOptions, JsValue> {
    let input: OptionsIn =
        serde_wasm_bindgen::from_value(options.clone()).map_err(|_| refused("options"))?;
    let mut compile = CompileOptions::default();
    match input.keywords.as_deref() {
        None | Some("full") => {}
        Some("structural") => compile.keywords = Keywords::Structural,
        Some(_) => return Err(refused("keywords")),
    }
    if let Some(name) = input.dialect.as_deref() {
        compile.dialect = Dialect::from_name(name).ok_or_else(|| refused("dialect"))?;
    }
    match input.duplicate_keys.as_deref() {
        None | Some("last") => {}
        Some("reject") => compile.duplicate_keys = DuplicateKeys::Reject,
        Some(_) => return Err(refused("duplicateKeys")),
    }
    match input.formats.as_deref() {
        None | Some("annotate") => {}
        Some("assert") => compile.formats = Formats::Assert,
        Some(_) => return Err(refused("formats")),
    }
    let resource = |(uri, text): (String, String)| (uri, text.into_bytes());
    compile.resources = input.resources.into_iter().map(resource).collect();
    let limit = |given: Option<f64>, option, or: u64| match given {
        None => Ok(or),
        Some(value) if value == f64::INFINITY => Ok(u64::MAX),
        Some(value) if value >= 1.0 && value.fract() == 0.0 => Ok(value as u64),
        Some(_) => Err(refused(option)),
    };
    let narrow = |wide: u64| usize::try_from(wide).unwrap_or(usize::MAX);
    compile.max_depth =
        u32::try_from(limit(input.max_depth, "maxDepth", u64::from(compile.max_depth))?)
            .unwrap_or(u32::MAX);
    compile.max_errors = narrow(limit(input.max_errors, "maxErrors", compile.max_errors as u64)?);
    compile.max_steps = limit(input.max_steps, "maxSteps", compile.max_steps)?;
    compile.max_subschemas =
        narrow(limit(input.max_subschemas, "maxSubschemas", compile.max_subschemas as u64)?);
    compile.max_schema_bytes =
        narrow(limit(input.max_schema_bytes, "maxSchemaBytes", compile.max_schema_bytes as u64)?);
    Ok(compile)
}

#[cfg(test)]
mod tests {
    use js_sys::{JSON, Object, Reflect};
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn compiled(schema: &str) -> CompiledSchema {
        let mut compiling = Compiling::new(schema.into(), &Object::new()).unwrap();
        loop {
            if let Some(compiled) = compiling.step(1.0).unwrap() {
                return compiled;
            }
        }
    }

    fn field(value: &JsValue, name: &str) -> JsValue {
        Reflect::get(value, &JsValue::from_str(name)).unwrap()
    }

    #[test]
    fn slices_come_to_the_verdict_of_one_run() {
        let schema = compiled(r#"{"items":{"type":"integer"}}"#);
        for text in ["[1,2,3]", "[1,\"x\",3]", "[1", "\"é\""] {
            let whole = schema.judge(text.into());
            let mut judging = schema.start(0);
            for byte in text.as_bytes() {
                judging.push(std::slice::from_ref(byte));
            }
            let mut sliced = judging.step(1.0);
            while sliced.as_bool() == Some(false) {
                sliced = judging.step(1.0);
            }
            assert_eq!(JSON::stringify(&sliced).ok(), JSON::stringify(&whole).ok(), "{text}");
        }
        assert!(schema.judge("[1]".into()).is_undefined());
    }

    #[test]
    fn a_bad_option_is_named() {
        for (name, given) in [
            ("dialect", JsValue::from_str("draft-03")),
            ("maxDepth", JsValue::from_f64(0.0)),
            ("maxSteps", JsValue::from_f64(f64::NAN)),
            ("keywords", JsValue::from_str("some")),
        ] {
            let options = Object::new();
            Reflect::set(&options, &JsValue::from_str(name), &given).unwrap();
            let fault = Compiling::new(b"true".to_vec(), &options).map(|_| ()).unwrap_err();
            assert_eq!(field(&fault, "code").as_string().as_deref(), Some("invalid_arguments"));
            let named = field(&field(&fault, "facts"), "option");
            assert_eq!(named.as_string().as_deref(), Some(name));
        }
    }
}
