//! Keywords over the elements of an array.

use crate::json::{self, Numbers, Tag};
use crate::schema::program::{ItemsOp, NO_NODE};

use std::collections::HashMap;

use super::frame::{Answer, Frame, Step};
use super::{Context, Entry, Judge, unevaluated};

/// Items by hash for which memory is kept.
const MAX_KEPT: usize = 256;

impl Judge {
    /// `prefixItems` and `items`, whatever the dialect calls them.
    pub(super) fn items(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
        explain: bool,
    ) -> Step {
        let Some(op) = cx.program.items.get(index as usize) else { return Step::Doubt };
        let word = cx.word(frame.at);
        if word.tag() != Tag::ArrayOpen {
            return Step::Next;
        }
        let end = frame.at + word.payload();
        let prefix = cx.program.list(op.prefix);
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.child = frame.at + 1;
        }
        let mut returned = self.returned.take();
        while state.child < end {
            let id = prefix.get(state.index as usize).copied().unwrap_or(op.rest);
            if id == NO_NODE {
                break;
            }
            if self.meter.spent() && returned.is_none() {
                self.store(top, state);
                return Step::Pause;
            }
            self.meter.count(1);
            if explain && id == op.rest && cx.program.node(id).never {
                self.explain_too_many(cx, op, frame.at, prefix.len());
                return Step::Fail;
            }
            let entry = Entry::member(id, state.child, 0, explain);
            match self.child(cx, &mut state, returned.take(), entry) {
                None => {
                    self.store(top, state);
                    return Step::Await;
                }
                Some(Answer::Valid) => {}
                Some(Answer::Invalid) if explain => state.failed = true,
                Some(Answer::Invalid) => return Step::Fail,
                Some(Answer::Unknown) => state.doubtful = 1,
            }
            state.child = cx.after(state.child);
            state.index += 1;
        }
        if frame.tracks {
            self.note_evaluated(match op.rest {
                NO_NODE => unevaluated::up_to(state.index),
                _ => unevaluated::EVERYTHING,
            });
        }
        Step::of(state.failed, state.doubtful > 0)
    }

    fn explain_too_many(&mut self, cx: Context<'_>, op: &ItemsOp, at: u32, limit: usize) {
        self.violate(cx, at, op.rest_keyword, |params| params.count("limit", limit as u64));
    }

    /// `contains` with its bounds.
    pub(super) fn contains(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
        explain: bool,
    ) -> Step {
        let Some(op) = cx.program.contains.get(index as usize) else { return Step::Doubt };
        let word = cx.word(frame.at);
        if word.tag() != Tag::ArrayOpen {
            return Step::Next;
        }
        let end = frame.at + word.payload();
        let marks = frame.tracks && op.evaluates;
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.child = frame.at + 1;
        }
        let mut returned = self.returned.take();
        while state.child < end {
            if !marks && op.max.is_none() && state.valid >= op.min {
                return Step::Next;
            }
            if self.meter.spent() && returned.is_none() {
                self.store(top, state);
                return Step::Pause;
            }
            self.meter.count(3);
            let entry = Entry::member(op.node, state.child, 0, false);
            match self.child(cx, &mut state, returned.take(), entry) {
                None => {
                    self.store(top, state);
                    return Step::Await;
                }
                Some(Answer::Valid) => {
                    state.valid += 1;
                    if marks {
                        self.note_evaluated(state.index);
                    }
                }
                Some(Answer::Invalid) => {}
                Some(Answer::Unknown) => {
                    state.doubtful += 1;
                    if marks {
                        self.note_evaluated(state.index);
                        self.note_evaluated(unevaluated::UNCERTAIN);
                    }
                }
            }
            state.child = cx.after(state.child);
            state.index += 1;
        }
        let most = op.max.unwrap_or(u32::MAX);
        let possible = state.valid.saturating_add(state.doubtful);
        let fails = possible < op.min || state.valid > most;
        if fails && explain {
            self.violate(cx, frame.at, "contains", |params| {
                params.count("minContains", op.min as u64);
                if let Some(most) = op.max {
                    params.count("maxContains", most as u64);
                }
            });
        }
        Step::of(fails, state.valid < op.min || possible > most)
    }

    /// `uniqueItems`: each element's hash, and a comparison where two are equal.
    pub(super) fn unique(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        explain: bool,
    ) -> Step {
        let word = cx.word(frame.at);
        if word.tag() != Tag::ArrayOpen || cx.count(frame.at) < 2 {
            return Step::Next;
        }
        let end = frame.at + word.payload();
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.child = frame.at + 1;
            self.forget_items();
        }
        while state.child < end {
            let at = state.child;
            let Some(hash) = self.hash_in_slices(cx, at, Numbers::Exact) else {
                self.store(top, state);
                return Step::Pause;
            };
            let same = |other| json::equal(cx.value(other), cx.value(at), Numbers::Exact);
            if let Some(other) = self.note_item(hash, at, same) {
                if explain {
                    let first = self.ordinal(cx, frame.at, other);
                    self.violate(cx, frame.at, "uniqueItems", |params| {
                        params.count("i", state.index as u64);
                        params.count("j", first as u64);
                    });
                }
                return Step::Fail;
            }
            state.child = cx.after(at);
            state.index += 1;
        }
        Step::Next
    }

    /// Empties the items for the next array or object. Emptying a large table takes long.
    pub(super) fn forget_items(&mut self) {
        match self.items.capacity() > MAX_KEPT {
            true => self.items = HashMap::default(),
            false => self.items.clear(),
        }
    }

    /// Notes a position under its hash; the position of an equal one that was noted before.
    pub(super) fn note_item(
        &mut self,
        hash: u64,
        at: u32,
        same: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut key = hash;
        while let Some(&other) = self.items.get(&key) {
            if same(other) {
                return Some(other);
            }
            // A collision: the next key is as good.
            key = key.wrapping_add(1);
        }
        self.items.insert(key, at);
        None
    }

    fn ordinal(&mut self, cx: Context<'_>, array: u32, position: u32) -> u32 {
        let mut at = array + 1;
        let mut ordinal = 0;
        while at < position {
            at = cx.after(at);
            ordinal += 1;
        }
        self.meter.count(ordinal as u64);
        ordinal
    }
}
