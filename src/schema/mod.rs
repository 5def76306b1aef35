//! JSON Schema: a schema becomes a program, and the program judges values on their tape.
//!
//! Compiling and judging are state machines that stop when their step budget is spent and go on
//! where they stopped; nothing recurses over what the peer nests. Three verdicts: a schema that
//! cannot be judged gives `unknown`, never a violation.
//!
//! | file | owns |
//! |---|---|
//! | `options` | what a compilation can be told, dialects |
//! | `compile/` | schema to program |
//! | `program` | the program's form: nodes, instructions, tables |
//! | `names` | tables of names |
//! | `pattern/` | regular expressions |
//! | `format/` | what `format` names, where it is asserted |
//! | `judge/` | program over tape: the verdict, then the violations |
//! | `text` | reading and judging a text as one |
//! | `cast/` | values made to fit, and defaults |
//! | `outcome` | verdicts, violations and their words |

mod budget;
mod cast;
mod compile;
mod error;
mod format;
mod judge;
mod member;
mod names;
mod options;
mod outcome;
mod pattern;
mod program;
mod text;

use std::task::Poll;

use crate::json::Tape;

pub use budget::MAX_STEPS;
pub use cast::{
    CastMode, CastOptions, Change, ChangeKind, Changed, MAX_MADE_BYTES, apply_defaults, cast,
};
pub use compile::Compiler;
pub use error::SchemaError;
pub use judge::Judge;
pub use options::{CompileOptions, Dialect, DuplicateKeys, Formats, Keywords};
pub use outcome::{Outcome, Verdict, Violation};
pub use program::{Program, SchemaProblem};
pub use text::{TextJudge, judge_text};

/// The version of Unicode that the properties of patterns (`\p{…}`) are taken from.
pub fn unicode_version() -> &'static str {
    pattern::unicode_version()
}

/// Compiles a schema's JSON text in one go.
///
/// # Errors
/// The first reason why it does not compile.
pub fn compile(text: &[u8], options: &CompileOptions) -> Result<Program, SchemaError> {
    let mut compiler = Compiler::new(text.to_vec(), options.clone());
    loop {
        let mut steps = u64::MAX;
        if let Poll::Ready(outcome) = compiler.step(&mut steps) {
            return outcome;
        }
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
