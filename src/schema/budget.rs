//! How many steps one verdict or one cast may take.
//!
//! A step stands for about fifteen nanoseconds of the built module, whatever is done in it: what takes
//! longer counts for more. Work that a schema means for a value grows with the value; work out of all
//! proportion to it is an attack, and ends soon.

use super::program::Program;
use crate::json::Tape;

/// Steps of one verdict at most, however large the value is.
pub const MAX_STEPS: u64 = 50_000_000;

/// What any value may take.
const BASE: u64 = 3_500_000;

/// What each word of a value's tape (a scalar, a name, a bracket) and each of its bytes adds: ten times
/// what ordinary schemas take of values that are large.
const PER_WORD: u64 = 40;
const PER_BYTE: u64 = 1;

/// The steps that a value may take, and those for its explanation too.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    pub(super) verdict: u64,
    pub(super) explained: u64,
}

impl Budget {
    /// Of the value at a position.
    pub(super) fn of(program: &Program, tape: &Tape, position: u32) -> Self {
        match program.max_steps {
            // Explaining may take as long as judging.
            Some(given) => Budget { verdict: given, explained: given.saturating_mul(2) },
            None => {
                let (words, bytes) = tape.extent(position);
                let words = u64::from(words) * PER_WORD;
                let verdict = MAX_STEPS.min(BASE + words + u64::from(bytes) * PER_BYTE);
                Budget { verdict, explained: verdict + verdict / 2 }
            }
        }
    }
}
