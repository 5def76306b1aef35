//! What a judgement reads: the program, and the value as words of its tape.

use crate::json::{Tag, Tape, Value, Word};
use crate::schema::pattern;
use crate::schema::program::{Program, kinds, kinds_of_tag};

/// What every step needs and none changes.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) bytes: &'a [u8],
    pub(super) tape: &'a Tape,
}

impl<'a> Context<'a> {
    #[inline(always)]
    pub(super) fn word(self, at: u32) -> Word {
        self.tape.words.get(at as usize).copied().unwrap_or(Word::new(Tag::Null, 0, 0))
    }

    #[inline(always)]
    pub(super) fn value(self, at: u32) -> Value<'a> {
        self.tape.value(self.bytes, at)
    }

    /// The position after the value at a position.
    #[inline(always)]
    pub(super) fn after(self, at: u32) -> u32 {
        let word = self.word(at);
        match word.tag() {
            Tag::ObjectOpen | Tag::ArrayOpen => at + word.payload() + 1,
            _ => at + 1,
        }
    }

    /// Elements or members of the container at a position.
    #[inline(always)]
    pub(super) fn count(self, at: u32) -> u32 {
        self.word(at + self.word(at).payload()).payload()
    }

    /// True for a string or name that takes many bytes.
    #[inline(always)]
    pub(super) fn is_long_string(self, at: u32) -> bool {
        let word = self.word(at);
        word.payload() > pattern::SHORT && kinds_of_tag(word.tag()) == kinds::STRING
    }
}
