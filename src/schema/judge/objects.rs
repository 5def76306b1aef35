//! Keywords over the members of an object.

use std::task::Poll;

use crate::json::{self, Tag};
use crate::schema::program::{NO_NODE, NodeId, ObjectOp, Op};

use super::frame::{Answer, Frame, OpState, Step};
use super::{Context, Entry, Judge};

/// Names that fit the bits of a frame.
const BITS: usize = 64;

impl Judge {
    /// `properties`, `required`, `patternProperties`, `additionalProperties` in one pass over the
    /// members, as they come.
    pub(super) fn object(&mut self, cx: Context<'_>, top: usize, frame: Frame, index: u32) -> Step {
        let Some(op) = cx.program.objects.get(index as usize) else { return Step::Doubt };
        let word = cx.word(frame.at);
        if word.tag() != Tag::ObjectOpen {
            return Step::Next;
        }
        let end = frame.at + word.payload();
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.child = frame.at + 1;
            state.base = self.scratch.len() as u32;
            if op.names.len() > BITS {
                self.meter.count((op.names.len() / 64 + op.required.len() / 4) as u64);
                self.scratch.resize(self.scratch.len() + op.names.len().div_ceil(32), 0);
            }
        }
        let mut returned = self.returned.take();
        while state.child < end {
            if let Some(answer) = returned.take()
                && self.member_fails(cx, &mut state, answer)
            {
                return Step::Fail;
            }
            if self.meter.spent() {
                self.store(top, state);
                return Step::Pause;
            }
            if !self.is_matching() {
                self.meter.count(1 + u64::from(frame.tracks));
            }
            let value = state.child + 1;
            let mut waits = false;
            loop {
                let node = match self.next_schema(cx, op, &mut state) {
                    Poll::Ready(Some(node)) => node,
                    Poll::Ready(None) => break,
                    Poll::Pending => {
                        self.store(top, state);
                        return Step::Pause;
                    }
                };
                match self.apply(cx, Entry::member(node, value, state.child, false)) {
                    Some(Answer::Valid) => {}
                    Some(answer) => {
                        if self.member_fails(cx, &mut state, answer) {
                            return Step::Fail;
                        }
                    }
                    None => {
                        waits = true;
                        break;
                    }
                }
            }
            if waits {
                self.store(top, state);
                return Step::Await;
            }
            if frame.tracks && state.flag {
                self.note_evaluated(state.index);
            }
            state.child = cx.after(value);
            state.index += 1;
            state.stage = 0;
            state.flag = false;
        }
        let missing = if op.names.len() > BITS {
            op.required.iter().any(|&slot| !self.is_seen(&state, op, slot))
        } else {
            state.seen & op.required_bits != op.required_bits
        };
        self.scratch.truncate(state.base as usize);
        Step::of(missing, state.doubtful > 0)
    }

    /// Takes the answer of a schema for the member under way; true if that decides.
    fn member_fails(&mut self, cx: Context<'_>, state: &mut OpState, answer: Answer) -> bool {
        if answer == Answer::Valid || self.is_overridden(cx, state.child) {
            return false;
        }
        if answer == Answer::Unknown {
            state.doubtful = 1;
            return false;
        }
        self.scratch.truncate(state.base as usize);
        true
    }

    /// The next schema that applies to the member under way: its own, those of matching patterns,
    /// and if there were none that for all others. `stage` counts them, `flag` says that one
    /// applied. Pending if the meter asked for a pause within a pattern.
    #[inline]
    fn next_schema(
        &mut self,
        cx: Context<'_>,
        op: &ObjectOp,
        state: &mut OpState,
    ) -> Poll<Option<NodeId>> {
        if state.stage == 0 {
            state.stage = 1;
            if let Some(slot) =
                cx.value(state.child).text().and_then(|name| op.names.find(name, state.guess))
            {
                state.guess = slot + 1;
                self.see(state, op, slot);
                let node = op.nodes.get(slot as usize).copied().unwrap_or(NO_NODE);
                if node != NO_NODE {
                    state.flag = true;
                    return Poll::Ready(Some(node));
                }
            }
        }
        while let Some(&(pattern, node)) = op.patterns.get(state.stage as usize - 1) {
            let matched = match self.name_matches(cx, pattern, state.child) {
                Poll::Ready(matched) => matched,
                Poll::Pending => return Poll::Pending,
            };
            state.stage += 1;
            match matched {
                Some(false) => {}
                Some(true) => {
                    state.flag = true;
                    return Poll::Ready(Some(node));
                }
                None => {
                    state.flag = true;
                    state.doubtful = 1;
                }
            }
        }
        if !state.flag && op.additional != NO_NODE {
            state.flag = true;
            return Poll::Ready(Some(op.additional));
        }
        Poll::Ready(None)
    }

    /// Whether a pattern matches a member's name.
    pub(super) fn name_matches(
        &mut self,
        cx: Context<'_>,
        pattern: u32,
        key: u32,
    ) -> Poll<Option<bool>> {
        match cx.value(key).text() {
            Some(name) => self.matches(cx, pattern, name),
            None => Poll::Ready(None),
        }
    }

    #[inline]
    fn see(&mut self, state: &mut OpState, op: &ObjectOp, slot: u32) {
        if op.names.len() <= BITS {
            let bit = 1 << slot;
            self.repeated_member |= state.seen & bit != 0;
            state.seen |= bit;
        } else if let Some(word) = self.scratch.get_mut((state.base + slot / 32) as usize) {
            let bit = 1 << (slot % 32);
            self.repeated_member |= *word & bit != 0;
            *word |= bit;
        }
    }

    fn is_seen(&self, state: &OpState, op: &ObjectOp, slot: u32) -> bool {
        if op.names.len() <= BITS {
            return state.seen >> slot & 1 == 1;
        }
        let word = self.scratch.get((state.base + slot / 32) as usize).copied().unwrap_or(0);
        word >> (slot % 32) & 1 == 1
    }

    /// True if the member at a key comes again later in the object of the top frame.
    pub(super) fn is_overridden(&mut self, cx: Context<'_>, key: u32) -> bool {
        let object = self.frames.last().map_or(0, |frame| frame.at);
        let end = object + cx.word(object).payload();
        let Some(name) = cx.value(key).text() else { return false };
        let plain = cx.word(key);
        let mut at = cx.after(key + 1);
        while at < end {
            self.meter.count(1);
            let other = cx.word(at);
            // Most names differ in length, which needs no look at the bytes.
            let differ = plain.tag() == Tag::Key
                && other.tag() == Tag::Key
                && plain.payload() != other.payload();
            if !differ && cx.value(at).text().is_some_and(|other| other.eq_text(name)) {
                return true;
            }
            at = cx.after(at + 1);
        }
        false
    }

    /// `propertyNames`: a schema for each name.
    pub(super) fn property_names(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        id: NodeId,
        explain: bool,
    ) -> Step {
        let word = cx.word(frame.at);
        if word.tag() != Tag::ObjectOpen {
            return Step::Next;
        }
        let end = frame.at + word.payload();
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.child = frame.at + 1;
        }
        let mut returned = self.returned.take();
        while state.child < end {
            if self.meter.spent() && returned.is_none() {
                self.store(top, state);
                return Step::Pause;
            }
            self.meter.count(1);
            let entry = Entry::member(id, state.child, 0, false);
            match self.child(cx, &mut state, returned.take(), entry) {
                None => {
                    self.store(top, state);
                    return Step::Await;
                }
                Some(Answer::Valid) => {}
                Some(Answer::Unknown) => state.doubtful = 1,
                Some(Answer::Invalid) if explain => {
                    state.failed = true;
                    self.violate(cx, frame.at, "propertyNames", |params| {
                        params.name("propertyName", cx.value(state.child));
                    });
                    if self.truncated {
                        // Whatever is left would not be told.
                        return Step::Fail;
                    }
                }
                Some(Answer::Invalid) => return Step::Fail,
            }
            state.child = cx.after(state.child + 1);
        }
        Step::of(state.failed, state.doubtful > 0)
    }

    /// `minProperties` and `maxProperties`, where repeated names may matter.
    pub(super) fn property_count(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        op: Op,
        explain: bool,
    ) -> Step {
        let word = cx.word(frame.at);
        if word.tag() != Tag::ObjectOpen {
            return Step::Next;
        }
        let (least, most) = match op {
            Op::MinProperties(least) => (least, u32::MAX),
            Op::MaxProperties(most) => (0, most),
            _ => return Step::Doubt,
        };
        let members = cx.count(frame.at);
        // Repeated names can only make the count smaller.
        let distinct = if members < least || (members <= most && least == 0) {
            members
        } else {
            match self.count_names(cx, top, frame) {
                Some(distinct) => distinct,
                None => return Step::Pause,
            }
        };
        let holds = (least..=most).contains(&distinct);
        if !holds && explain {
            self.explain_scalar(cx, op, frame.at);
        }
        Step::of(!holds, false)
    }

    /// Distinct names of the top frame's object; `None` if the meter asked for a pause.
    fn count_names(&mut self, cx: Context<'_>, top: usize, frame: Frame) -> Option<u32> {
        let end = frame.at + cx.word(frame.at).payload();
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.child = frame.at + 1;
            self.forget_items();
        }
        while state.child < end {
            if self.meter.spent() {
                self.store(top, state);
                return None;
            }
            self.meter.count(json::A_HASH);
            if let Some(name) = cx.value(state.child).text() {
                self.meter.count_bytes(name.raw_bytes().len());
                let hash = json::hash_string(name, 0);
                let same = |other: u32| cx.value(other).text().is_some_and(|o| o.eq_text(name));
                state.valid += self.note_item(hash, state.child, same).is_none() as u32;
            }
            state.child = cx.after(state.child + 1);
        }
        Some(state.valid)
    }
}
