//! Regular expressions of `pattern` and `patternProperties`: does it match somewhere in the text?
//!
//! ECMA-262 under the flag `u`, and where that grammar refuses a pattern, Annex B. A pattern and a
//! text are compared by code points; an escape that is half of a surrogate pair is one of its own.
//! Only whether there is a match matters, so nothing is captured, and time is linear in the text
//! whatever the pattern: see `simulate`. Backreferences are the exception: they run under a hard
//! bound of steps and may end undecided.
//!
//! | file | owns |
//! |---|---|
//! | `parse`, `escape` | the grammar: text to tree |
//! | `tree`, `set`, `unicode` | the tree, sets of code points, properties of code points |
//! | `fold` | what the modifier `i` makes equal |
//! | `forms` | patterns that need no machine |
//! | `nfa`, `simulate` | tree to instructions, and running those in linear time |
//! | `backtrack` | patterns with backreferences |
//! | `matcher` | a match under way, whatever its engine |

mod backtrack;
mod escape;
mod fold;
mod forms;
mod matcher;
mod nfa;
mod parse;
mod set;
mod simulate;
#[cfg(test)]
mod tests;
mod tree;
mod unicode;

use backtrack::Backtracker;
use forms::Form;
use nfa::Machine;

pub(crate) use matcher::Matcher;
pub(crate) use set::Set;
pub(crate) use simulate::after as point_after;
pub(crate) use unicode::{Reader as PropertyReader, property, version as unicode_version};

/// Instructions and ranges of all patterns of one schema together.
const MAX_INSTRUCTIONS: usize = 200_000;
const MAX_RANGES: usize = 1_000_000;

/// Up to this size a machine runs over a short text at once.
const LIGHT: usize = 64;

/// Bytes of a text that is read as a pattern to see whether it is one.
const MAX_PATTERN_BYTES: usize = 1 << 16;

/// Bytes of a text that counts as short.
pub(crate) const SHORT: u32 = 256;

/// Why a pattern does not compile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PatternFault {
    /// It is none of either grammar.
    Syntax,
    /// It, or all patterns of the schema together, are too large.
    TooLarge,
}

impl From<tree::TooLarge> for PatternFault {
    fn from(_: tree::TooLarge) -> Self {
        PatternFault::TooLarge
    }
}

/// What a match came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Yes,
    No,
    /// It cannot be said, and why.
    Undecided(&'static str),
}

/// What the patterns of one schema took so far.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    instructions: usize,
    ranges: usize,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    engine: Engine,
    is_annex_b: bool,
}

#[derive(Debug)]
enum Engine {
    Form(Form),
    Machine(Machine),
    Backtracker(Backtracker),
    Unsupported,
}

impl Pattern {
    /// Compiles the code points of a pattern.
    ///
    /// # Errors
    /// `Syntax` and `TooLarge`; a pattern that is not supported compiles and decides nothing.
    pub(crate) fn new(points: &[u32], spent: &mut Spent) -> Result<Self, PatternFault> {
        if let Some(form) = plain_literal(points) {
            return Ok(Pattern { engine: Engine::Form(form), is_annex_b: false });
        }
        let mut tree = parse::parse(points, &mut spent.ranges)?;
        let is_annex_b = tree.is_annex_b;
        let engine = if tree.is_unsupported {
            Engine::Unsupported
        } else if tree.has_backreference {
            Engine::Backtracker(Backtracker::new(&mut tree, &mut spent.instructions)?)
        } else if let Some(form) = forms::recognise(&tree) {
            Engine::Form(form)
        } else {
            Engine::Machine(Machine::new(&mut tree, &mut spent.instructions)?)
        };
        if spent.instructions > MAX_INSTRUCTIONS || spent.ranges > MAX_RANGES {
            return Err(PatternFault::TooLarge);
        }
        Ok(Pattern { engine, is_annex_b })
    }

    /// True if the flag `u` refuses the pattern: other validators may refuse the schema.
    pub(crate) fn is_annex_b(&self) -> bool {
        self.is_annex_b
    }

    /// True if matching a text of at most [`SHORT`] bytes is little work, not worth stopping in.
    pub(crate) fn is_light(&self) -> bool {
        match &self.engine {
            Engine::Form(_) | Engine::Unsupported => true,
            Engine::Machine(machine) => machine.size() <= LIGHT,
            Engine::Backtracker(_) => false,
        }
    }
}

/// Whether a text, as generalised UTF-8, is a pattern under the flag `u`; `None` for one that is
/// too large to say.
pub(crate) fn is_unicode_pattern(text: &[u8]) -> Option<bool> {
    if text.len() > MAX_PATTERN_BYTES {
        return None;
    }
    match parse::parse(&points_of(text), &mut 0) {
        Ok(tree) => Some(!tree.is_annex_b),
        Err(PatternFault::Syntax) => Some(false),
        Err(PatternFault::TooLarge) => None,
    }
}

/// The code points of generalised UTF-8.
pub(crate) fn points_of(text: &[u8]) -> Vec<u32> {
    let mut points = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some((point, next)) = simulate::after(text, at) {
        points.push(point);
        at = next;
    }
    points
}

/// The form of a pattern without special characters, but for anchors.
fn plain_literal(points: &[u32]) -> Option<Form> {
    let (start, rest) = match points.split_first() {
        Some((0x5E, rest)) => (true, rest),
        _ => (false, points),
    };
    let (end, literal) = match rest.split_last() {
        Some((0x24, literal)) => (true, literal),
        _ => (false, rest),
    };
    let plain = |&point: &u32| {
        char::from_u32(point).filter(|&character| !"\\^$.*+?()[]{}|".contains(character))
    };
    let literal = literal.iter().map(plain).collect::<Option<String>>()?;
    Some(forms::literal(start, end, literal))
}
