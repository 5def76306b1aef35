//! The two instructions that most values are judged by, when nothing is explained and nothing need
//! be known of what was evaluated: members by their names, and elements all of one schema.
//!
//! Invariant: same answers as the general forms in [`super::objects`] and [`super::arrays`]; those
//! take what is excluded here, and no instruction changes sides half way. The state lives in locals
//! and is written to the frame only when the instruction waits.

use crate::json::{Tag, Word};
use crate::schema::member::{Member, Members};
use crate::schema::program::{Fast, ItemsOp, Leaf, NO_NODE, Op, kinds_of_word};

use super::frame::{Answer, OpState, Step};
use super::memo;
use super::{Context, Entry, Judge};

impl Judge {
    /// Runs the top frames as long as their instructions are of these two kinds; false if the meter
    /// asked for a pause. What else is on top then is the business of [`Judge::run`].
    pub(super) fn run_common(&mut self, cx: Context<'_>) -> bool {
        while let Some(frame) = self.frames.last() {
            if frame.tracks || !frame.quiet || frame.pc >= frame.pc_end {
                return true;
            }
            let step = match cx.program.ops.get(frame.pc as usize) {
                Some(&Op::Object(index)) => match cx.program.common_objects.get(index as usize) {
                    Some(Some(common)) => self.members(cx, index, common),
                    _ => return true,
                },
                Some(&Op::Items(index)) => match cx.program.items.get(index as usize) {
                    Some(op) if op.prefix.start == op.prefix.end && op.rest != NO_NODE => {
                        self.elements(cx, op)
                    }
                    _ => return true,
                },
                _ => return true,
            };
            match step {
                Step::Await => {}
                Step::Pause => return false,
                Step::Fail => self.leave(cx, Answer::Invalid),
                Step::Next | Step::Doubt => self.go_on(cx, matches!(step, Step::Doubt)),
            }
        }
        true
    }

    /// The top frame's instruction is done.
    #[inline(always)]
    fn go_on(&mut self, cx: Context<'_>, doubt: bool) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.pc += 1;
        frame.doubt |= doubt;
        if frame.pc < frame.pc_end {
            frame.op = OpState::default();
            return;
        }
        let answer = if frame.doubt { Answer::Unknown } else { Answer::Valid };
        self.leave(cx, answer);
    }

    /// The top frame came to an answer.
    #[inline(always)]
    fn leave(&mut self, cx: Context<'_>, answer: Answer) {
        let Some(frame) = self.frames.last() else { return };
        if frame.in_place
            || self.journal.len() > frame.journal as usize
            || self.meter.used > memo::AFTER
        {
            return self.pop(cx, answer);
        }
        self.frames.truncate(self.frames.len() - 1);
        self.returned = Some(answer);
    }

    /// `properties`, `required` and `additionalProperties` of the top frame's value.
    #[inline(always)]
    fn members(&mut self, cx: Context<'_>, index: u32, common: &Members) -> Step {
        let Some(frame) = self.frames.last() else { return Step::Pause };
        let (object, state) = (frame.at, &frame.op);
        let words = cx.tape.words.as_slice();
        let open = cx.word(object);
        if open.tag_bits() != Tag::ObjectOpen as usize {
            return Step::Next;
        }
        let end = (object + open.payload()) as usize;
        let Some(words) = words.get(..end) else { return Step::Doubt };
        // As in the general loop, an instruction counts when it starts.
        self.meter.count(!state.started as u64);
        let (mut key, mut guess, mut seen, mut doubtful) = match state.started {
            true => (state.child as usize, state.guess, state.seen, state.doubtful),
            false => (object as usize + 1, 0, 0, 0),
        };
        let span = common.span.start as usize..common.span.end as usize;
        let declared = cx.program.members.get(span).unwrap_or(&[]);
        let mut returned = self.returned.take();
        while let Some(&[name, value]) = words.get(key..).and_then(|rest| rest.first_chunk()) {
            let answer = if let Some(answer) = returned.take() {
                answer
            } else if self.meter.spent() {
                self.wait(0, state_of(key, guess, seen, doubtful));
                return Step::Pause;
            } else {
                self.meter.count(1);
                let fast = match find(cx, index, declared, name, key, guess) {
                    Some((slot, fast)) => {
                        guess = slot + 1;
                        let bit = 1 << (slot & 63);
                        self.repeated_member |= seen & bit != 0;
                        seen |= bit;
                        fast
                    }
                    None => &common.others,
                };
                match self.quick(cx, fast, value, key as u32 + 1) {
                    Some(answer) => answer,
                    None => {
                        self.wait(1, state_of(key, guess, seen, doubtful));
                        return Step::Await;
                    }
                }
            };
            if answer != Answer::Valid && !self.is_overridden(cx, key as u32) {
                if answer == Answer::Invalid {
                    return Step::Fail;
                }
                doubtful = 1;
            }
            key += 1 + value.span() as usize;
        }
        Step::of(seen & common.required != common.required, doubtful > 0)
    }

    /// `items` of the top frame's value.
    #[inline(always)]
    fn elements(&mut self, cx: Context<'_>, op: &ItemsOp) -> Step {
        let Some(frame) = self.frames.last() else { return Step::Pause };
        let (array, state) = (frame.at, &frame.op);
        let open = cx.word(array);
        if open.tag_bits() != Tag::ArrayOpen as usize {
            return Step::Next;
        }
        let end = (array + open.payload()) as usize;
        let Some(words) = cx.tape.words.get(..end) else { return Step::Doubt };
        self.meter.count(!state.started as u64);
        let (mut at, mut doubtful) = match state.started {
            true => (state.child as usize, state.doubtful),
            false => (array as usize + 1, 0),
        };
        let fast = cx.program.fast(op.rest);
        let mut returned = self.returned.take();
        while let Some(&value) = words.get(at) {
            let answer = if let Some(answer) = returned.take() {
                answer
            } else if self.meter.spent() {
                self.wait(0, state_of(at, 0, 0, doubtful));
                return Step::Pause;
            } else {
                self.meter.count(1);
                match self.quick(cx, &fast, value, at as u32) {
                    Some(answer) => answer,
                    None => {
                        self.wait(1, state_of(at, 0, 0, doubtful));
                        return Step::Await;
                    }
                }
            };
            match answer {
                Answer::Valid => {}
                Answer::Invalid => return Step::Fail,
                Answer::Unknown => doubtful = 1,
            }
            at += value.span() as usize;
        }
        Step::of(false, doubtful > 0)
    }

    /// Judges a member or element quietly: answers at once, or pushes a frame.
    #[inline(always)]
    fn quick(&mut self, cx: Context<'_>, fast: &Fast, word: Word, at: u32) -> Option<Answer> {
        let possible = kinds_of_word(word);
        if fast.kinds & possible != possible && !self.accepts_kinds(cx, fast.kinds, at) {
            return Some(Answer::Invalid);
        }
        match fast.leaf {
            Leaf::Kinds => Some(Answer::Valid),
            Leaf::Always => Some(self.leaf(cx, fast.ops, at)),
            Leaf::Short if !cx.is_long_string(at) => Some(self.leaf(cx, fast.ops, at)),
            Leaf::Flat if self.is_flatly_valid(cx, fast, word, at) => Some(Answer::Valid),
            _ => self.apply_in_frame(cx, Entry::member(fast.id, at, 0, false), *fast),
        }
    }

    /// Keeps the state of an instruction, that of the frame so many below the top.
    fn wait(&mut self, below: usize, state: OpState) {
        if let Some(frame) = self.frames.iter_mut().rev().nth(below) {
            frame.op = state;
        }
    }
}

fn state_of(child: usize, guess: u32, seen: u64, doubtful: u32) -> OpState {
    let child = child as u32;
    OpState { started: true, child, guess, seen, doubtful, ..OpState::default() }
}

/// The slot of a name and how to judge its value, if it is declared.
#[inline(always)]
pub(super) fn find<'a>(
    cx: Context<'a>,
    index: u32,
    declared: &'a [Member],
    name: Word,
    key: usize,
    guess: u32,
) -> Option<(u32, &'a Fast)> {
    if let Some(member) = declared.get(guess as usize)
        && member.is_surely(cx.bytes, name)
    {
        return Some((guess, &member.fast));
    }
    search(cx, index, declared, key as u32, guess)
}

#[inline(never)]
fn search<'a>(
    cx: Context<'a>,
    index: u32,
    declared: &'a [Member],
    key: u32,
    guess: u32,
) -> Option<(u32, &'a Fast)> {
    let names = &cx.program.objects.get(index as usize)?.names;
    let word = cx.word(key);
    let slot = match word.tag() {
        Tag::Key => names.find_at(cx.bytes, word.offset(), word.payload(), guess)?,
        _ => names.find(cx.value(key).text()?, guess)?,
    };
    Some((slot, &declared.get(slot as usize)?.fast))
}
