//! Running a [`Machine`]: every program in turn goes once over the text with the set of places it
//! may be at.
//!
//! Time is the length of the text times that of the programs, whatever they are. A lookaround's
//! program leaves one bit for each position of the text, which those after it read as a condition:
//! looking behind reads forward and notes where a match can end, looking ahead reads backward and
//! notes where one can start. All state is plain data between two positions, so a run stops there
//! and goes on later.

use std::task::Poll;

use crate::json::Meter;

use super::Found;
use super::nfa::{Inst, Machine, Program};
use super::set::{is_folded_word, is_line_end, is_word};
use super::tree::Assertion;

/// Instructions looked at for one step.
const A_STEP: u32 = 2;

/// Words that the bits of all lookarounds may take: 16 MiB.
const MAX_WORDS: usize = 1 << 21;

/// A run under way.
#[derive(Debug, Default)]
pub(super) struct Simulation {
    started: bool,
    /// The program under way.
    stage: usize,
    /// Position in the text.
    at: usize,
    /// The program reached this position.
    begun: bool,
    /// Places to go on from.
    seeds: Vec<u32>,
    next: Vec<u32>,
    stack: Vec<u32>,
    /// For each place, the position at which it was last seen, in `turn`s.
    seen: Vec<u32>,
    turn: u32,
    /// Instructions looked at that are not counted yet.
    uncounted: u32,
    /// What lookarounds found: for each, one bit a position.
    bits: Vec<Vec<u64>>,
}

impl Simulation {
    /// Forgets what was under way; keeps the memory, unless it is much.
    pub(super) fn reset(&mut self) {
        self.started = false;
        self.stage = 0;
        self.uncounted = 0;
        self.bits.clear();
    }

    /// Goes on until the meter is spent. `text` is generalised UTF-8.
    pub(super) fn step(
        &mut self,
        machine: &Machine,
        text: &[u8],
        meter: &mut Meter,
    ) -> Poll<Found> {
        while let Some(program) = machine.programs.get(self.stage) {
            let is_main = self.stage + 1 == machine.programs.len();
            if !self.started {
                if !is_main {
                    let words = text.len() / 64 + 1;
                    if words * machine.programs.len() > MAX_WORDS {
                        return Poll::Ready(Found::Undecided("limit"));
                    }
                    self.bits.push(vec![0; words]);
                }
                self.start(program, text);
                // Clearing the marks of a large program takes longer than a short text.
                meter.count_bytes(size_of_val(self.seen.as_slice()));
            }
            loop {
                if meter.spent() {
                    return Poll::Pending;
                }
                let matched = self.position(machine, program, text);
                meter.count((self.uncounted / A_STEP) as u64);
                self.uncounted %= A_STEP;
                if matched {
                    if is_main {
                        return Poll::Ready(Found::Yes);
                    }
                    let word = self.bits.last_mut().and_then(|bits| bits.get_mut(self.at / 64));
                    if let Some(word) = word {
                        *word |= 1 << (self.at % 64);
                    }
                }
                let dead = program.anchored && self.next.is_empty();
                std::mem::swap(&mut self.seeds, &mut self.next);
                if dead || !self.advance(program, text) {
                    break;
                }
            }
            self.stage += 1;
            self.started = false;
        }
        Poll::Ready(Found::No)
    }

    fn start(&mut self, program: &Program, text: &[u8]) {
        self.started = true;
        self.at = if program.backward { text.len() } else { 0 };
        self.begun = false;
        self.seeds.clear();
        self.seen.clear();
        self.seen.resize(program.insts.len(), 0);
        self.turn = 0;
    }

    /// Moves to the next position; false at the end.
    fn advance(&mut self, program: &Program, text: &[u8]) -> bool {
        self.begun = true;
        match program.backward {
            true => match before(text, self.at) {
                Some((_, start)) => self.at = start,
                None => return false,
            },
            false => match after(text, self.at) {
                Some((_, end)) => self.at = end,
                None => return false,
            },
        }
        true
    }

    /// Follows every place from the position under way over one code point; true if a match is
    /// complete here.
    fn position(&mut self, machine: &Machine, program: &Program, text: &[u8]) -> bool {
        if self.turn == u32::MAX {
            self.seen.fill(0);
            self.turn = 0;
        }
        self.turn += 1;
        self.next.clear();
        self.stack.clear();
        self.stack.append(&mut self.seeds);
        if !self.begun || !program.anchored {
            self.stack.push(0);
        }
        let point = match program.backward {
            true => before(text, self.at),
            false => after(text, self.at),
        };
        let point = point.map(|(point, _)| point);
        let mut matched = false;
        while let Some(place) = self.stack.pop() {
            match self.seen.get_mut(place as usize) {
                Some(seen) if *seen != self.turn => *seen = self.turn,
                _ => continue,
            }
            self.uncounted += 1;
            let holds = match program.insts.get(place as usize).copied() {
                Some(Inst::Point(wanted)) => {
                    if point == Some(wanted) {
                        self.next.push(place + 1);
                    }
                    false
                }
                Some(Inst::Set(index)) => {
                    let set = machine.sets.get(index as usize);
                    if set.zip(point).is_some_and(|(set, point)| set.contains(point)) {
                        self.next.push(place + 1);
                    }
                    false
                }
                Some(Inst::Jump(target)) => {
                    self.stack.push(target);
                    false
                }
                Some(Inst::Fork(one, other)) => {
                    self.stack.extend([other, one]);
                    false
                }
                Some(Inst::Assert(assertion)) => holds(assertion, text, self.at),
                Some(Inst::Look { index, negative }) => {
                    let word =
                        self.bits.get(index as usize).and_then(|bits| bits.get(self.at / 64));
                    let found = word.is_some_and(|word| word >> (self.at % 64) & 1 == 1);
                    found != negative
                }
                Some(Inst::Match) => {
                    // A lookaround goes on: every match counts.
                    matched = true;
                    false
                }
                None => false,
            };
            if holds {
                self.stack.push(place + 1);
            }
        }
        matched
    }
}

/// Whether an assertion holds at a position.
pub(super) fn holds(assertion: Assertion, text: &[u8], at: usize) -> bool {
    let boundary = |folded| {
        let is_word = |point| is_word(point) || (folded && is_folded_word(point));
        let left = before(text, at).is_some_and(|(point, _)| is_word(point));
        let right = after(text, at).is_some_and(|(point, _)| is_word(point));
        left != right
    };
    let ends_line = |next: Option<(u32, usize)>| next.is_none_or(|next| is_line_end(next.0));
    match assertion {
        Assertion::Start => at == 0,
        Assertion::End => at == text.len(),
        Assertion::Boundary => boundary(false),
        Assertion::NotBoundary => !boundary(false),
        Assertion::FoldedBoundary => boundary(true),
        Assertion::NotFoldedBoundary => !boundary(true),
        Assertion::LineStart => ends_line(before(text, at)),
        Assertion::LineEnd => ends_line(after(text, at)),
    }
}

/// The code point that starts at a position, and where it ends.
#[inline]
pub(crate) fn after(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let first = *text.get(at)? as u32;
    if first < 0x80 {
        return Some((first, at + 1));
    }
    let (length, bits) = match first {
        0..0xE0 => (2, first & 0x1F),
        0xE0..0xF0 => (3, first & 0x0F),
        _ => (4, first & 0x07),
    };
    let rest = text.get(at + 1..at + length).unwrap_or(&[]);
    let point = rest.iter().fold(bits, |point, &byte| point << 6 | (byte as u32 & 0x3F));
    Some((point, (at + length).min(text.len())))
}

/// The code point that ends at a position, and where it starts.
#[inline]
pub(super) fn before(text: &[u8], at: usize) -> Option<(u32, usize)> {
    let mut start = at.checked_sub(1)?;
    while start > 0 && text.get(start).is_some_and(|&byte| byte & 0xC0 == 0x80) {
        start -= 1;
    }
    after(text, start).map(|(point, _)| (point, start))
}
