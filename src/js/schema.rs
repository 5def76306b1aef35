//! Schemas: compiling and judging in slices, seen from JavaScript.
//!
//! A text crosses once, as bytes; what comes back is a verdict of small facts. `undefined` stands
//! for `valid` without more to say, so that the common verdict costs no object.

use std::rc::Rc;
use std::task::Poll;

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error, Facts};
use crate::json::{Fault, Limits, Progress, Reader, Tape};
use crate::schema::{
    self, CastMode, CastOptions, Change, Changed, CompileOptions, Compiler, Dialect, DuplicateKeys,
    Formats, Judge, Keywords, MAX_MADE_BYTES, Outcome, Program, SchemaError, SchemaProblem,
    Verdict, Violation,
};

use super::fault::{fault, refused};
use super::plain::{Members, Plain, Wrong, list};

/// Bytes read for each step of a budget: both then take about as long.
const BYTES_PER_STEP: usize = 8;

/// Violations on their way out; their `params` are the JSON text of an object.
pub(super) fn violations_out(violations: &[Violation]) -> JsValue {
    let mut violations = violations.iter().map(|violation| {
        Plain::new()
            .text("instancePath", &violation.instance_path)
            .text("schemaPath", &violation.schema_path)
            .text("keyword", violation.keyword)
            .text("message", &violation.message())
            .text("params", &violation.params)
            .done()
    });
    list(&mut violations)
}

/// Changes on their way out.
pub(super) fn changes_out(changes: &[Change]) -> JsValue {
    let mut changes = changes.iter().map(|change| {
        Plain::new().text("path", &change.path).text("kind", change.kind.as_str()).done()
    });
    list(&mut changes)
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
        let mut problems = self.program.problems().iter().map(|problem: &SchemaProblem| {
            Plain::new()
                .text("code", problem.code)
                .text("at", &problem.at)
                .text("message", problem.message)
                .done()
        });
        Plain::new()
            .text("dialect", self.program.dialect().name())
            .list("problems", &mut problems)
            .done()
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
        // The text is JSON; absent if the value is `undefined` still.
        Some(Changed { text, changes }) => Ok(Plain::new()
            .maybe_text("text", text.as_deref())
            .value("changes", &changes_out(&changes))
            .done()),
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
    verdict_object(verdict, &outcome.violations, outcome.truncated, outcome.reason)
}

fn verdict_object(
    verdict: &str,
    violations: &[Violation],
    truncated: bool,
    reason: Option<&str>,
) -> JsValue {
    Plain::new()
        .text("verdict", verdict)
        .value("errors", &violations_out(violations))
        .flag("truncated", truncated)
        .maybe_text("reason", reason)
        .done()
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
            verdict_object("invalid", &[violation], false, None)
        }
        Fault::Tokens | Fault::Size => verdict_object("unknown", &[], false, Some("limit")),
    }
}

fn schema_fault(error: SchemaError) -> Error {
    let supported = (error.reason == "unsupported_dialect")
        .then(|| Dialect::SUPPORTED.iter().map(|&name| name.to_owned()).collect());
    let facts = Facts { at: Some(error.at), target: error.target, supported, ..Facts::default() };
    Error::new(Code::SchemaError, error.reason).facts(facts)
}

fn compile_options(options: &JsValue) -> Result<CompileOptions, JsValue> {
    read_options(&Members(options)).map_err(refused)
}

/// Reads `SchemaOptions` as they cross; what is absent keeps its default.
fn read_options(members: &Members<'_>) -> Result<CompileOptions, Wrong> {
    let mut compile = CompileOptions::default();
    let keywords = [Keywords::Full, Keywords::Structural];
    if let Some(keywords) = members.choice("keywords", ["full", "structural"], keywords)? {
        compile.keywords = keywords;
    }
    if let Some(name) = members.text("dialect")? {
        compile.dialect = Dialect::from_name(&name).ok_or("dialect")?;
    }
    let duplicates = [DuplicateKeys::Last, DuplicateKeys::Reject];
    if let Some(duplicates) = members.choice("duplicateKeys", ["last", "reject"], duplicates)? {
        compile.duplicate_keys = duplicates;
    }
    let formats = [Formats::Annotate, Formats::Assert];
    if let Some(formats) = members.choice("formats", ["annotate", "assert"], formats)? {
        compile.formats = formats;
    }
    for pair in members.entries("resources")?.unwrap_or_default() {
        let texts = pair.dyn_ref::<Array>().map(|pair| (pair.get(0), pair.get(1)));
        match texts.map(|(uri, text)| (uri.as_string(), text.as_string())) {
            Some((Some(uri), Some(text))) => compile.resources.push((uri, text.into_bytes())),
            _ => return Err("options"),
        }
    }
    let limit = |option, or: u64| match members.number(option)? {
        None => Ok(or),
        Some(f64::INFINITY) => Ok(u64::MAX),
        Some(value) if value >= 1.0 && value.fract() == 0.0 => Ok(value as u64),
        Some(_) => Err(option),
    };
    let narrow = |wide: u64| usize::try_from(wide).unwrap_or(usize::MAX);
    compile.max_depth =
        u32::try_from(limit("maxDepth", u64::from(compile.max_depth))?).unwrap_or(u32::MAX);
    compile.max_errors = narrow(limit("maxErrors", compile.max_errors as u64)?);
    if members.get("maxSteps").is_some() {
        compile.max_steps = Some(limit("maxSteps", 0)?);
    }
    compile.max_subschemas = narrow(limit("maxSubschemas", compile.max_subschemas as u64)?);
    compile.max_schema_bytes = narrow(limit("maxSchemaBytes", compile.max_schema_bytes as u64)?);
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
