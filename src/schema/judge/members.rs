//! `properties`, `required`, `patternProperties`, `additionalProperties` explained: every violation,
//! in the order of the schema rather than of the value.

use std::task::Poll;

use crate::json::Tag;
use crate::schema::program::{NO_NODE, ObjectOp};
use crate::sorted::sort_by;

use super::frame::{Answer, Frame, OpState, Step};
use super::{Context, Entry, Judge};

impl Judge {
    /// The same keywords, reported in the order `required`, `properties` (as declared), then the
    /// other members as they come.
    pub(super) fn explain_object(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
    ) -> Step {
        let Some(op) = cx.program.objects.get(index as usize) else { return Step::Doubt };
        let word = cx.word(frame.at);
        if word.tag() != Tag::ObjectOpen {
            return Step::Next;
        }
        let end = frame.at + word.payload();
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.base = self.scratch.len() as u32;
            self.find_members(cx, op, frame.at, end);
            state.stage = state.base;
            state.seen = self.scratch.len() as u64;
            self.explain_required(cx, op, frame.at, &mut state);
        }
        let mut returned = self.returned.take();
        while (state.stage as u64) < state.seen {
            let pair = self.scratch.get(state.stage as usize..).and_then(|rest| rest.first_chunk());
            let &[slot, value] = pair.unwrap_or(&[0, 0]);
            let node = op.nodes.get(slot as usize).copied().unwrap_or(NO_NODE);
            if node != NO_NODE {
                if self.meter.spent() && returned.is_none() {
                    self.store(top, state);
                    return Step::Pause;
                }
                self.meter.count(1);
                let entry = Entry::member(node, value, 0, true);
                match self.child(cx, &mut state, returned.take(), entry) {
                    None => {
                        self.store(top, state);
                        return Step::Await;
                    }
                    Some(Answer::Valid) => {}
                    Some(Answer::Invalid) => state.failed = true,
                    Some(Answer::Unknown) => state.doubtful = 1,
                }
            }
            state.stage += 2;
            state.child = frame.at + 1;
        }
        if op.additional == NO_NODE && op.patterns.is_empty() && !frame.tracks {
            self.scratch.truncate(state.base as usize);
            return Step::of(state.failed, state.doubtful > 0);
        }
        state.child = state.child.max(frame.at + 1);
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
            if !self.is_matching() {
                self.meter.count(1);
            }
            if let Some(step) = self.explain_other(cx, op, frame.at, &mut state, returned.take()) {
                self.store(top, state);
                return step;
            }
            if frame.tracks && state.flag {
                self.note_evaluated(state.index);
            }
            state.child = cx.after(state.child + 1);
            state.index += 1;
            state.valid = 0;
            state.flag = false;
        }
        self.scratch.truncate(state.base as usize);
        Step::of(state.failed, state.doubtful > 0)
    }

    /// Notes in scratch the members whose names are declared: slot and value, in the order of the
    /// declaration; the last of repeated members.
    fn find_members(&mut self, cx: Context<'_>, op: &ObjectOp, at: u32, end: u32) {
        let mut found: Vec<[u32; 2]> = Vec::new();
        let mut key = at + 1;
        let mut guess = 0;
        while key < end {
            self.meter.count(1);
            if let Some(slot) = cx.value(key).text().and_then(|name| op.names.find(name, guess)) {
                guess = slot + 1;
                found.push([slot, key + 1]);
            }
            key = cx.after(key + 1);
        }
        // Later members have later places.
        sort_by(&mut found, |one, other| (one[0], other[1]).cmp(&(other[0], one[1])));
        let all = found.len();
        found.dedup_by_key(|&mut [slot, _]| slot);
        self.repeated_member |= found.len() < all;
        self.scratch.extend(found.into_iter().flatten());
    }

    fn explain_required(&mut self, cx: Context<'_>, op: &ObjectOp, at: u32, state: &mut OpState) {
        let found = self.scratch.get(state.base as usize..).unwrap_or(&[]);
        let slots: Vec<u32> = found.iter().copied().step_by(2).collect();
        for &slot in &op.required {
            if slots.binary_search(&slot).is_err() {
                state.failed = true;
                let name = op.names.name(slot);
                self.violate(cx, at, "required", |params| params.text("missingProperty", name));
            }
        }
    }

    /// The schemas of patterns and of other members for the member under way; what to do first if
    /// an answer is awaited or a pattern takes long. `valid` counts them, `flag` says that the
    /// member is evaluated.
    fn explain_other(
        &mut self,
        cx: Context<'_>,
        op: &ObjectOp,
        object: u32,
        state: &mut OpState,
        mut returned: Option<Answer>,
    ) -> Option<Step> {
        let key = state.child;
        let slot = cx.value(key).text().and_then(|name| op.names.find(name, state.guess));
        if let Some(slot) = slot {
            state.guess = slot + 1;
            state.flag |= op.nodes.get(slot as usize).is_some_and(|&node| node != NO_NODE);
        }
        loop {
            // The patterns in turn, then the schema of all other members once.
            let turn = state.valid as usize;
            let node = match op.patterns.get(turn) {
                // An answer that came back is that of a pattern which matched.
                Some(&(_, node)) if returned.is_some() => node,
                Some(&(pattern, node)) => match self.name_matches(cx, pattern, key) {
                    Poll::Pending => return Some(Step::Pause),
                    Poll::Ready(Some(true)) => node,
                    Poll::Ready(matched) => {
                        if matched.is_none() {
                            state.flag = true;
                            state.doubtful = 1;
                        }
                        state.valid += 1;
                        continue;
                    }
                },
                None if turn > op.patterns.len() || op.additional == NO_NODE => return None,
                None if state.flag && returned.is_none() => return None,
                None => op.additional,
            };
            state.flag = true;
            let closed = turn == op.patterns.len() && op.closed;
            let entry = Entry::member(node, key + 1, key, !closed);
            let Some(answer) = self.child(cx, state, returned.take(), entry) else {
                return Some(Step::Await);
            };
            state.failed |= answer == Answer::Invalid;
            state.doubtful |= (answer == Answer::Unknown) as u32;
            if closed && answer == Answer::Invalid {
                self.violate(cx, object, "additionalProperties", |params| {
                    params.name("additionalProperty", cx.value(key));
                });
            }
            state.valid += 1;
        }
    }
}
