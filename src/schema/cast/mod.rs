//! Makes values fit: `cast`, which fills and upcasts, and `defaults`, which fills in defaults alone.
//!
//! Values are JSON texts, read and never changed: what comes out is a new text with the list of what
//! was changed, or nothing if nothing was. A value that satisfies the schema is never changed. What
//! the schema gives no value for is a typed failure, as is running out of steps or bytes; there is no
//! half-made value.
//!
//! | file | owns |
//! |---|---|
//! | `types`, `reader` | the types that casting knows, read from a schema |
//! | `machine` | casting a value by its type |
//! | `children`, `make`, `choose`, `overlay` | containers, made-up values, choices, intersections |
//! | `defaults` | filling in defaults |
//! | `write` | what is made, and its text |

mod children;
mod choose;
mod defaults;
mod machine;
mod make;
mod overlay;
mod reader;
mod types;
mod write;

use std::task::Poll;

use crate::error::{Code, Error, Facts};
use crate::json::{Fault, Limits, Numbers, Tape, equal, read};

use super::budget::{Budget, MAX_STEPS};
use super::judge::Judge;
use super::outcome::Verdict;
use super::program::Program;
use machine::Caster;
use types::{Reading, Types};
use write::{At, Part, Parts, Source};

/// Bytes that one cast may make, unless told otherwise.
pub const MAX_MADE_BYTES: usize = 16_777_216;

/// How values are cast.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CastMode {
    /// Fills and upcasts as TypeBox 0.34 does, but keeps undeclared members and reads references,
    /// formats and typed `additionalProperties` as the engine does.
    #[default]
    Cast,
    /// Exactly as TypeBox 0.34 does after its users' conversion from JSON Schema, with what that
    /// does not understand.
    Cast034,
}

/// Options of a cast.
#[derive(Clone, Copy, Debug)]
pub struct CastOptions {
    /// How values are cast.
    pub mode: CastMode,
    /// The schema was written by TypeBox, so that its keywords are that library's types.
    pub native: bool,
    /// Bytes that may be made; more are a failure of code `limit`.
    pub max_made_bytes: usize,
}

impl Default for CastOptions {
    fn default() -> Self {
        CastOptions { mode: CastMode::Cast, native: false, max_made_bytes: MAX_MADE_BYTES }
    }
}

/// What a change is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeKind {
    /// An absent member was filled by a default of the schema.
    Default,
    /// An absent member was made up.
    Created,
    /// A value that does not fit was replaced.
    Replaced,
    /// A member that is not declared, or a repeated element, was removed.
    Removed,
    /// An element was added to an array that was too short.
    Padded,
    /// Elements were cut from an array that was too long.
    Truncated,
}

impl ChangeKind {
    /// The kind as JavaScript sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Default => "default",
            ChangeKind::Created => "created",
            ChangeKind::Replaced => "replaced",
            ChangeKind::Removed => "removed",
            ChangeKind::Padded => "padded",
            ChangeKind::Truncated => "truncated",
        }
    }
}

/// One change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// A JSON Pointer into the value. One into an array counts elements as they came.
    pub path: String,
    /// What was done there.
    pub kind: ChangeKind,
}

/// What became of a value that did not fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// JSON text of the new value; none if there is still none.
    pub text: Option<String>,
    /// The changes, in the order in which they were made.
    pub changes: Vec<Change>,
}

/// Casts a value, none for `undefined`, by a schema. Nothing comes out if nothing was changed.
///
/// # Errors
/// - `invalid_arguments`, reason `not_json`: the value is no JSON text.
/// - `schema_error`, with `at` a JSON Pointer into the schema: a value must be made up and the schema
///   gives none (`not_castable`), the mode does not follow a reference (`unresolved_ref`), or a type
///   must hold itself (`reference_cycle`).
/// - `limit`, reason `cast_limit`: the steps of one verdict or the option's bytes are spent.
pub fn cast(
    program: &Program,
    value: Option<&[u8]>,
    options: &CastOptions,
) -> Result<Option<Changed>, Error> {
    let exact = options.mode == CastMode::Cast034;
    let source = source(program, value);
    let mut steps = Steps::of(program, source.as_ref().ok());
    // A value that the mode refuses is refused even if it is valid, but a valid one is not changed.
    if let (false, Some(_), Ok(source)) = (exact, value, &source)
        && is_valid(program, source, &mut steps)?
    {
        return Ok(None);
    }
    let reading = Reading { exact, native: options.native };
    let types = Types::read(program, reading)?;
    let parts = Parts::new(program, source?, options.max_made_bytes);
    let mut caster = Caster::new(program, &types, reading, parts, steps);
    let start = At { source: 0, position: 0 };
    let root = caster.run(value.map(|_| start))?;
    if caster.changes.is_empty() {
        return Ok(None);
    }
    if let (true, Some(_), Some(source)) = (exact, value, caster.parts.source(start))
        && is_valid(program, source, &mut caster.steps)?
    {
        return Ok(None);
    }
    let text = match caster.parts.part(root) {
        Part::Absent => None,
        _ => Some(caster.parts.text(root)),
    };
    if value.is_some_and(|value| text.as_deref().is_some_and(|text| is_same(value, text))) {
        // Replaced by its like.
        return Ok(None);
    }
    Ok(Some(Changed { text, changes: caster.changes }))
}

/// True if a value satisfies the schema. A bound that was given is one of each verdict; else all that
/// a cast does shares one.
fn is_valid(program: &Program, source: &Source, steps: &mut Steps) -> Result<bool, Error> {
    let mut own = if program.max_steps.is_some() { u64::MAX } else { steps.left };
    let mut judge = Judge::for_verdict(program, 0);
    let outcome = judge.step(program, &source.bytes, &source.tape, &mut own);
    if program.max_steps.is_none() {
        steps.left = own;
        if own == 0 {
            return Err(steps.spent());
        }
    }
    Ok(matches!(outcome, Poll::Ready(outcome) if outcome.verdict == Verdict::Valid))
}

fn is_same(value: &[u8], text: &str) -> bool {
    let limits = Limits::depth(u32::MAX);
    match (read(value, limits), read(text.as_bytes(), limits)) {
        (Ok(left), Ok(right)) => {
            equal(left.root(value), right.root(text.as_bytes()), Numbers::Exact)
        }
        _ => false,
    }
}

/// Fills the absent members of a value that declare a default, and nothing else. Nothing comes out
/// if there are none.
///
/// # Errors
/// - `invalid_arguments`, reason `not_json`: the value is no JSON text.
/// - `limit`, reason `cast_limit`: the steps of one verdict or the bytes are spent.
pub fn apply_defaults(
    program: &Program,
    value: Option<&[u8]>,
    max_made_bytes: usize,
) -> Result<Option<Changed>, Error> {
    // What is absent has no members.
    let Some(value) = value else { return Ok(None) };
    let source = source(program, Some(value))?;
    let steps = Steps::of(program, Some(&source));
    defaults::fill(program, Parts::new(program, source, max_made_bytes), steps)
}

/// Steps that each made byte adds where `maxSteps` was not given: what is made has its own bound.
const PER_MADE: u64 = 4;

/// The steps of one cast.
struct Steps {
    left: u64,
    bound: u64,
    /// Made bytes that have added theirs, if they do.
    earned: Option<usize>,
}

impl Steps {
    fn of(program: &Program, source: Option<&Source>) -> Self {
        let empty = Tape::default();
        let tape = source.map_or(&empty, |source| &source.tape);
        let bound = Budget::of(program, tape, 0).verdict;
        let earned = program.max_steps.is_none().then_some(0);
        Steps { left: bound, bound, earned }
    }

    /// Adds the steps for so many bytes that were made by now.
    fn earn(&mut self, made: usize) {
        let Some(earned) = self.earned.filter(|earned| *earned < made) else { return };
        self.earned = Some(made);
        let more = (PER_MADE * (made - earned) as u64).min(MAX_STEPS.saturating_sub(self.bound));
        self.left += more;
        self.bound += more;
    }

    fn count(&mut self, steps: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(steps).ok_or_else(|| self.spent())?;
        Ok(())
    }

    fn spent(&self) -> Error {
        let facts = Facts { limit: Some(self.bound), ..Facts::default() };
        Error::new(Code::Limit, "cast_limit").facts(facts)
    }
}

/// The value as a text at hand; `null` where there is none.
fn source(program: &Program, value: Option<&[u8]>) -> Result<Source, Error> {
    let bytes = value.unwrap_or(b"null").to_vec();
    match read(&bytes, Limits::depth(program.max_depth())) {
        Ok(tape) if tape.is_too_deep() => Err(Error::new(Code::Limit, "cast_limit")),
        Ok(tape) => Ok(Source { bytes, tape }),
        Err(Fault::Tokens | Fault::Size) => Err(Error::new(Code::Limit, "cast_limit")),
        Err(_) => Err(Error::new(Code::InvalidArguments, "not_json")),
    }
}
