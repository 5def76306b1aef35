//! A match under way: the text without its escapes, then the pattern's engine over it.
//!
//! Invariant: plain data between two steps, and what is counted depends on the pattern and the
//! text alone, so how a match is sliced changes nothing.

use std::task::Poll;

use crate::json::{Meter, Text, push_wtf8};

use super::backtrack::Backtracking;
use super::forms::{self, Form, Run};
use super::simulate::{Simulation, after};
use super::{Engine, Found, Pattern};

/// Code points, or instructions on them, for one step.
const A_STEP: usize = 4;

/// Bytes searched for a literal at once.
const WINDOW: usize = 4096;

/// Memory that is kept from one match to the next, in bytes of text.
const KEPT: usize = 1 << 16;

/// A match under way, or the memory for the next one.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    active: bool,
    /// The text without its escapes, so far.
    buffer: Vec<u8>,
    /// Bytes of the escaped text that are read.
    unescaped: usize,
    /// Position in the text without escapes.
    at: usize,
    /// Run of a chain, and how many code points it took.
    run: usize,
    taken: u32,
    simulation: Simulation,
    backtracking: Backtracking,
}

impl Matcher {
    /// True between a step that stopped and the one that ends the match.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Goes on until done or until the meter is spent. Every step of a match must be given the
    /// same pattern and text.
    pub(crate) fn step(
        &mut self,
        pattern: &Pattern,
        text: Text<'_>,
        meter: &mut Meter,
    ) -> Poll<Found> {
        let outcome = self.advance(pattern, text, meter);
        self.active = outcome.is_pending();
        if !self.active && self.buffer.capacity() > KEPT {
            *self = Matcher::default();
        }
        outcome
    }

    fn advance(&mut self, pattern: &Pattern, text: Text<'_>, meter: &mut Meter) -> Poll<Found> {
        if !self.active {
            self.buffer.clear();
            self.unescaped = 0;
            self.at = 0;
            self.run = 0;
            self.taken = 0;
            match pattern.engine {
                Engine::Form(_) | Engine::Unsupported => {}
                Engine::Machine(_) => self.simulation.reset(),
                Engine::Backtracker(_) => self.backtracking.reset(),
            }
        }
        if text.is_plain() {
            return self.search(pattern, text.raw_bytes(), meter);
        }
        while self.unescaped < text.raw_bytes().len() {
            if meter.spent() {
                return Poll::Pending;
            }
            let mut points = text.points_from(self.unescaped);
            for point in points.by_ref().take(A_STEP) {
                push_wtf8(&mut self.buffer, point);
            }
            self.unescaped = points.position();
            meter.count(2);
        }
        let buffer = std::mem::take(&mut self.buffer);
        let outcome = self.search(pattern, &buffer, meter);
        self.buffer = buffer;
        outcome
    }

    /// Runs the engine over a text without escapes.
    fn search(&mut self, pattern: &Pattern, text: &[u8], meter: &mut Meter) -> Poll<Found> {
        let holds = match &pattern.engine {
            Engine::Unsupported => return Poll::Ready(Found::Undecided("unsupported_pattern")),
            Engine::Machine(machine) => return self.simulation.step(machine, text, meter),
            Engine::Backtracker(pattern) => return self.backtracking.step(pattern, text, meter),
            Engine::Form(Form::Chain(runs, end)) => return self.chain(runs, *end, text, meter),
            Engine::Form(Form::Contains(literal)) => return self.find(literal, text, meter),
            Engine::Form(Form::Always) => true,
            Engine::Form(Form::Prefix(literal)) => text.starts_with(literal.as_bytes()),
            Engine::Form(Form::Suffix(literal)) => text.ends_with(literal.as_bytes()),
            Engine::Form(Form::Exact(names)) => {
                let whole = Text { raw: text, escaped: false, lone: false };
                names.find(whole, 0).is_some()
            }
        };
        Poll::Ready(if holds { Found::Yes } else { Found::No })
    }

    /// Looks for a literal, one window after the other.
    fn find(&mut self, literal: &str, text: &[u8], meter: &mut Meter) -> Poll<Found> {
        loop {
            if meter.spent() {
                return Poll::Pending;
            }
            // A literal that begins in the window may end beyond it.
            let end = (self.at + WINDOW + literal.len()).min(text.len());
            let window = text.get(self.at..end).unwrap_or(&[]);
            meter.count_bytes(window.len() * 3);
            if forms::contains(window, literal) {
                return Poll::Ready(Found::Yes);
            }
            if end == text.len() {
                return Poll::Ready(Found::No);
            }
            self.at += WINDOW;
        }
    }

    /// Goes along a chain of runs.
    fn chain(&mut self, runs: &[Run], end: bool, text: &[u8], meter: &mut Meter) -> Poll<Found> {
        loop {
            if meter.spent() {
                return Poll::Pending;
            }
            for _ in 0..A_STEP {
                let Some(run) = runs.get(self.run) else {
                    let holds = !end || self.at == text.len();
                    return Poll::Ready(if holds { Found::Yes } else { Found::No });
                };
                let next = after(text, self.at).filter(|next| run.set.contains(next.0));
                match next {
                    Some((_, at)) if self.taken < run.max => {
                        self.at = at;
                        self.taken += 1;
                    }
                    _ if self.taken < run.min => return Poll::Ready(Found::No),
                    _ => {
                        self.run += 1;
                        self.taken = 0;
                    }
                }
            }
            meter.count(2);
        }
    }
}
