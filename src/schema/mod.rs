//! JSON Schema: a schema becomes a program, and the program judges values on their tape.
//!
//! Compiling and judging are state machines that stop when their step budget is spent and go on
//! where they stopped; nothing recurses over what the peer nests. Three verdicts: a schema that
//! cannot be judged gives `unknown`, never a violation.

use std::task::Poll;

use crate::json::Tape;

/// Options of one compilation. Defaults are those of the JavaScript `SchemaOptions`.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// Which keywords count.
    pub keywords: Keywords,
    /// Containers that may nest, in schema and value.
    pub max_depth: u32,
    /// Violations collected before the list is cut.
    pub max_errors: usize,
    /// Instructions of one verdict; spent, the verdict is unknown.
    pub max_steps: u64,
    /// Subschemas of one schema.
    pub max_subschemas: usize,
    /// Bytes of one schema's text.
    pub max_schema_bytes: usize,
}

/// Which keywords count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keywords {
    /// All of the dialect.
    Full,
    /// `type`, `required`, `properties`, `items`, `enum`; everything else is ignored and compiling
    /// never fails on an object.
    Structural,
}

impl Default for CompileOptions {
    fn default() -> Self {
        CompileOptions {
            keywords: Keywords::Full,
            max_depth: 512,
            max_errors: 16,
            max_steps: 50_000_000,
            max_subschemas: 50_000,
            max_schema_bytes: 1_048_576,
        }
    }
}

/// Why a schema does not compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaError {
    /// One of `unresolved_ref`, `unsupported_dialect`, `invalid_keyword`, `limit`,
    /// `not_a_schema`, `reference_cycle`, `bad_pattern`.
    pub reason: &'static str,
    /// A JSON Pointer into the schema.
    pub at: String,
}

/// A compiled schema. Immutable; share it behind an `Rc`.
#[derive(Debug)]
pub struct Program {}

/// A compilation under way.
pub struct Compiler {}

impl Compiler {
    /// Starts compiling a schema's JSON text.
    pub fn new(_text: Vec<u8>, _options: CompileOptions) -> Self {
        Compiler {}
    }

    /// Goes on until done or until `steps` are spent, counting them down.
    pub fn step(&mut self, _steps: &mut u64) -> Poll<Result<Program, SchemaError>> {
        Poll::Ready(Ok(Program {}))
    }
}

/// Compiles a schema's JSON text in one go.
pub fn compile(text: &[u8], options: &CompileOptions) -> Result<Program, SchemaError> {
    let mut compiler = Compiler::new(text.to_vec(), options.clone());
    loop {
        let mut steps = u64::MAX;
        if let Poll::Ready(outcome) = compiler.step(&mut steps) {
            return outcome;
        }
    }
}

/// What a judgement came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The value satisfies the schema.
    Valid,
    /// It does not.
    Invalid,
    /// It cannot be judged.
    Unknown,
}

/// One violation of a schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Violation {
    /// JSON Pointer into the value.
    pub instance_path: String,
    /// JSON Pointer into the schema, through the references taken.
    pub schema_path: String,
    /// The keyword that is not satisfied.
    pub keyword: &'static str,
    /// What was wanted, as a JSON object's text (may hold names of the schema).
    pub params: String,
}

/// A judgement with its reasons.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is unknown.
    pub reason: Option<&'static str>,
    /// Violations in a fixed order, at most `max_errors`.
    pub violations: Vec<Violation>,
    /// True if there were more.
    pub truncated: bool,
}

/// A judgement under way. Owns its state and borrows nothing between steps.
pub struct Judge {}

impl Judge {
    /// Starts judging the value at a position of a tape.
    pub fn new(_program: &Program, _position: u32) -> Self {
        Judge {}
    }

    /// Goes on until done or until `steps` are spent, counting them down. Every step must be given
    /// the same program, bytes and tape.
    pub fn step(
        &mut self,
        _program: &Program,
        _bytes: &[u8],
        _tape: &Tape,
        _steps: &mut u64,
    ) -> Poll<Outcome> {
        Poll::Ready(Outcome {
            verdict: Verdict::Unknown,
            reason: None,
            violations: Vec::new(),
            truncated: false,
        })
    }
}

/// Judges a value in one go.
pub fn judge(program: &Program, bytes: &[u8], tape: &Tape, position: u32) -> Outcome {
    let mut judge = Judge::new(program, position);
    loop {
        let mut steps = u64::MAX;
        if let Poll::Ready(outcome) = judge.step(program, bytes, tape, &mut steps) {
            return outcome;
        }
    }
}
