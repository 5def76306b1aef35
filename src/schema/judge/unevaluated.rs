//! What `unevaluatedItems` and `unevaluatedProperties` know: the journal.
//!
//! The journal is one stack of ordinals of members or elements that some keyword evaluated. A
//! frame that fails, or that judges another value than the frame below, takes its entries with it;
//! so the entries above a frame's own mark are what its subschemas evaluated of its value.

use crate::json::Tag;
use crate::schema::program::NodeId;
use crate::sorted::sort;

use super::frame::{Answer, Frame, Step};
use super::{Context, Entry, Judge};

/// Entry: every member or element.
pub(super) const EVERYTHING: u32 = u32::MAX;

/// Entry: a subschema that could not be decided may have evaluated less than what is noted.
pub(super) const UNCERTAIN: u32 = u32::MAX - 1;

/// Marks an entry that stands for all elements before an ordinal. Ordinals have fewer bits.
const UP_TO: u32 = 1 << 31;

/// Entry: all elements before this ordinal.
pub(super) fn up_to(ordinal: u32) -> u32 {
    UP_TO | ordinal
}

/// Entries of the journal; with more nothing certain is said.
const MAX_JOURNAL: usize = 1 << 22;

impl Judge {
    /// Writes an entry of the top frame.
    pub(super) fn note_evaluated(&mut self, entry: u32) {
        if self.journal.len() < MAX_JOURNAL {
            self.journal.push(entry);
            return;
        }
        let start = self.frames.last().map_or(0, |frame| frame.journal as usize);
        if self.journal.get(start..).is_none_or(|own| own.last() != Some(&UNCERTAIN)) {
            self.reason.get_or_insert("limit");
            self.journal.extend([EVERYTHING, UNCERTAIN]);
        }
    }

    /// `unevaluatedItems` and `unevaluatedProperties`, told apart by the tag they work on.
    pub(super) fn unevaluated(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        (id, tag): (NodeId, Tag),
        explain: bool,
    ) -> Step {
        let word = cx.word(frame.at);
        if word.tag() != tag {
            return Step::Next;
        }
        let object = tag == Tag::ObjectOpen;
        let end = frame.at + word.payload();
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.base = self.scratch.len() as u32;
            state.stage = state.base;
            let entries = self.journal.get(frame.journal as usize..).unwrap_or(&[]);
            for &entry in entries {
                match entry {
                    EVERYTHING => state.guess = u32::MAX,
                    UNCERTAIN => state.flag = true,
                    entry if entry & UP_TO != 0 => state.guess = state.guess.max(entry & !UP_TO),
                    entry => self.scratch.push(entry),
                }
            }
            if let Some(noted) = self.scratch.get_mut(state.base as usize..) {
                sort(noted);
            }
            self.meter.count(entries.len() as u64 * 3);
            state.child = if state.guess == u32::MAX { end } else { frame.at + 1 };
        }
        let mut returned = self.returned.take();
        while state.child < end {
            if self.truncated {
                // Whatever is left would not be told.
                self.scratch.truncate(state.base as usize);
                return Step::Fail;
            }
            if self.meter.spent() && returned.is_none() {
                self.store(top, state);
                return Step::Pause;
            }
            self.meter.count(1);
            while self.scratch.get(state.stage as usize).is_some_and(|&noted| noted < state.index) {
                state.stage += 1;
            }
            let value = state.child + object as u32;
            let evaluated = state.index < state.guess
                || self.scratch.get(state.stage as usize) == Some(&state.index);
            if !evaluated {
                let key = if object { state.child } else { 0 };
                let never = cx.program.node(id).never;
                let entry = Entry::member(id, value, key, explain && !never);
                match self.child(cx, &mut state, returned.take(), entry) {
                    None => {
                        self.store(top, state);
                        return Step::Await;
                    }
                    Some(Answer::Valid) => {}
                    Some(Answer::Unknown) => state.doubtful = 1,
                    Some(Answer::Invalid) if explain => {
                        state.failed = true;
                        if never {
                            self.explain_unevaluated(cx, frame.at, state.child, object);
                        }
                    }
                    Some(Answer::Invalid) => {
                        self.scratch.truncate(state.base as usize);
                        return Step::Fail;
                    }
                }
            }
            state.child = cx.after(value);
            state.index += 1;
        }
        self.scratch.truncate(state.base as usize);
        self.note_evaluated(EVERYTHING);
        Step::of(state.failed, state.flag || state.doubtful > 0)
    }

    fn explain_unevaluated(&mut self, cx: Context<'_>, at: u32, child: u32, object: bool) {
        if object {
            self.violate(cx, at, "unevaluatedProperties", |params| {
                params.name("unevaluatedProperty", cx.value(child));
            });
        } else {
            self.violate(cx, child, "unevaluatedItems", |_| {});
        }
    }
}
