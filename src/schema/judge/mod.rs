//! Judging: a program runs over a tape.
//!
//! Two runs of one loop: the first wants the verdict only and stops at the first failure. If the
//! value is invalid, the second goes through it again and explains: it enters a subschema only
//! once a quiet run of it failed, so nothing that is explained is ever taken back. Both keep all
//! their state in plain data (frames, journal, scratch), so they stop at any count of steps and go
//! on as if they had not. Nothing recurses.
//!
//! Answers are three-valued: invalid dominates, then doubt. Of repeated members the last counts:
//! members are judged as they come, and an answer other than valid is dropped if the same name
//! comes again.

mod arrays;
mod branches;
mod common;
mod context;
mod explain;
mod flat;
mod frame;
mod locate;
mod members;
mod memo;
mod nearest;
mod objects;
mod repeats;
mod scalars;
mod scope;
mod unevaluated;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::task::Poll;

use crate::json::{Hashing, Meter, Tag, Tape};

use super::budget::Budget;
use super::options::DuplicateKeys;
use super::outcome::{Outcome, Verdict, Violation};
use super::pattern::Matcher;
use super::program::{Fast, Leaf, NodeId, Op, Program, Span};
use branches::Choice;
use context::Context;
use frame::{Answer, Frame, OpState, Step, Via};
use memo::Prehashed;

/// Frames at once; more make the verdict unknown. A frame takes about 100 bytes.
const MAX_FRAMES: usize = 200_000;

/// Steps of entering a frame beside the instruction that does: together as much as five plain ones.
const A_FRAME: u64 = 4;

/// Where a judgement stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Looking for repeated names, if the options refuse them.
    Repeats,
    /// Running for the verdict.
    Verdict,
    /// Running for the violations.
    Explain,
}

/// A judgement under way. Owns its state and borrows nothing between steps.
pub struct Judge {
    position: u32,
    phase: Phase,
    meter: Meter,
    frames: Vec<Frame>,
    /// The answer of the frame last popped, for the instruction that awaits it.
    returned: Option<Answer>,
    /// Evaluated members or elements of the values under way; see [`unevaluated`].
    journal: Vec<u32>,
    /// Stack of scratch words of instructions under way.
    scratch: Vec<u32>,
    hashing: Option<Hashing>,
    /// The pattern under way, and memory for the next one; made for the first.
    matcher: Option<Box<Matcher>>,
    /// Items of the array under way by hash.
    items: HashMap<u64, u32, BuildHasherDefault<Prehashed>>,
    memo: memo::Memo,
    /// Made for the first dynamic reference.
    scopes: Option<Box<scope::Scopes>>,
    /// Made for the first violation.
    locator: Option<Box<locate::Locator>>,
    reason: Option<&'static str>,
    repeated_member: bool,
    violations: Vec<Violation>,
    truncated: bool,
    /// What is counted of a branch, instead of telling it.
    score: Option<nearest::Score>,
    /// The root was entered in this phase.
    entered: bool,
    /// The node to judge by.
    root: NodeId,
    /// Ends with the verdict: violations are not asked for.
    verdict_only: bool,
    /// Where to go on looking for repeated names.
    repeats_from: u32,
}

impl Judge {
    /// Starts judging the value at a position of a tape.
    pub fn new(program: &Program, position: u32) -> Self {
        let phase = match program.duplicate_keys {
            DuplicateKeys::Last => Phase::Verdict,
            DuplicateKeys::Reject => Phase::Repeats,
        };
        Judge {
            position,
            phase,
            meter: Meter { used: 0, stop: 0 },
            frames: Vec::new(),
            returned: None,
            journal: Vec::new(),
            scratch: Vec::new(),
            hashing: None,
            matcher: None,
            items: HashMap::default(),
            memo: memo::Memo::default(),
            scopes: None,
            locator: None,
            reason: None,
            repeated_member: false,
            violations: Vec::new(),
            truncated: false,
            score: None,
            entered: false,
            root: program.root,
            verdict_only: false,
            repeats_from: position,
        }
    }

    /// Starts judging by a node inside the program, for the verdict alone. Dynamic references start
    /// from that node's own resource.
    pub(crate) fn of_node(program: &Program, node: NodeId, position: u32) -> Self {
        Judge { root: node, phase: Phase::Verdict, ..Judge::for_verdict(program, position) }
    }

    /// Starts judging the value at a position for the verdict alone.
    pub(crate) fn for_verdict(program: &Program, position: u32) -> Self {
        Judge { verdict_only: true, ..Judge::new(program, position) }
    }

    /// Goes on until done or until `steps` are spent, counting them down. Every step must be given
    /// the same program, bytes and tape.
    pub fn step(
        &mut self,
        program: &Program,
        bytes: &[u8],
        tape: &Tape,
        steps: &mut u64,
    ) -> Poll<Outcome> {
        let cx = Context { program, bytes, tape };
        if tape.is_too_deep() || tape.depth() > program.max_depth {
            return Poll::Ready(self.unknown("limit"));
        }
        let budget = Budget::of(program, tape, self.position);
        let before = self.meter.used;
        self.meter.stop = before.saturating_add(*steps).min(self.limit(budget));
        let done = self.advance(cx);
        *steps = steps.saturating_sub(self.meter.used - before);
        match done {
            Some(outcome) => Poll::Ready(outcome),
            None if self.meter.used < self.limit(budget) => Poll::Pending,
            // An explanation that takes too long is cut, the verdict stands.
            None if self.phase == Phase::Explain => {
                self.cut(cx);
                Poll::Ready(self.invalid())
            }
            None => Poll::Ready(self.unknown("limit")),
        }
    }

    /// The count of steps at which the phase ends.
    fn limit(&self, budget: Budget) -> u64 {
        match self.phase {
            Phase::Explain => budget.explained,
            _ => budget.verdict,
        }
    }

    fn advance(&mut self, cx: Context<'_>) -> Option<Outcome> {
        loop {
            match self.phase {
                Phase::Repeats => {
                    if self.find_repeats(cx)? {
                        return Some(self.invalid());
                    }
                    self.phase = Phase::Verdict;
                }
                Phase::Verdict => match self.run::<false>(cx)? {
                    Answer::Valid => return Some(self.outcome(Verdict::Valid)),
                    Answer::Unknown => {
                        let reason = self.reason.unwrap_or("limit");
                        return Some(self.unknown(reason));
                    }
                    Answer::Invalid if self.verdict_only => {
                        return Some(self.outcome(Verdict::Invalid));
                    }
                    Answer::Invalid => {
                        self.phase = Phase::Explain;
                        self.frames.clear();
                        self.journal.clear();
                        self.scratch.clear();
                        self.entered = false;
                    }
                },
                Phase::Explain => {
                    self.run::<true>(cx)?;
                    return Some(self.invalid());
                }
            }
        }
    }

    fn outcome(&mut self, verdict: Verdict) -> Outcome {
        Outcome {
            verdict,
            reason: None,
            violations: Vec::new(),
            truncated: false,
            repeated_member: self.repeated_member,
        }
    }

    fn unknown(&mut self, reason: &'static str) -> Outcome {
        Outcome { reason: Some(reason), ..self.outcome(Verdict::Unknown) }
    }

    fn invalid(&mut self) -> Outcome {
        Outcome {
            violations: std::mem::take(&mut self.violations),
            truncated: self.truncated,
            ..self.outcome(Verdict::Invalid)
        }
    }

    /// Runs frames until the root's answer is there (`Some`) or the meter is spent.
    fn run<const EXPLAIN: bool>(&mut self, cx: Context<'_>) -> Option<Answer> {
        if !self.entered {
            self.entered = true;
            self.returned = self.apply(cx, Entry::member(self.root, self.position, 0, EXPLAIN));
        }
        loop {
            if self.meter.spent() || !self.run_common(cx) {
                return None;
            }
            let Some(frame) = self.frames.last() else {
                return Some(self.returned.take().unwrap_or(Answer::Unknown));
            };
            if frame.pc >= frame.pc_end {
                let answer = match (frame.failed, frame.doubt) {
                    (true, _) => Answer::Invalid,
                    (_, true) => Answer::Unknown,
                    _ => Answer::Valid,
                };
                self.pop(cx, answer);
                continue;
            }
            if !frame.op.started {
                // Once for each instruction: one that goes on has been counted, and must get
                // further even in the smallest slice.
                self.meter.count(1);
            }
            let explains = EXPLAIN && !frame.quiet;
            let op = match cx.program.ops.get(frame.pc as usize) {
                Some(&op) => op,
                None => return Some(Answer::Unknown),
            };
            match self.execute(cx, op, explains) {
                Step::Next => self.next_op(false, false),
                Step::Doubt => self.next_op(false, true),
                Step::Fail if explains => {
                    self.next_op(true, false);
                    if self.leave_counted() {
                        continue;
                    }
                    if self.truncated {
                        // Whatever is left would not be told.
                        return Some(Answer::Invalid);
                    }
                }
                Step::Fail => self.pop(cx, Answer::Invalid),
                Step::Await => {}
                Step::Pause => return None,
            }
        }
    }

    fn next_op(&mut self, failed: bool, doubt: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc += 1;
            frame.failed |= failed;
            frame.doubt |= doubt;
            frame.op = OpState::default();
        }
    }

    fn pop(&mut self, cx: Context<'_>, answer: Answer) {
        self.returned = Some(answer);
        let Some(frame) = self.frames.pop() else { return };
        if !frame.in_place || answer == Answer::Invalid {
            self.journal.truncate(frame.journal as usize);
        } else if answer == Answer::Unknown && frame.tracks {
            self.journal.push(unevaluated::UNCERTAIN);
        }
        if frame.quiet
            && self.meter.used > memo::AFTER
            && cx.program.fast(frame.node).shared
            && let Some(evaluated) = self.journal.get(frame.journal as usize..)
        {
            let key = (frame.node, frame.at, frame.scope);
            let wanted = frame.in_place && self.frames.last().is_some_and(|below| below.tracks);
            self.meter.count(memo::A_NOTE + if wanted { evaluated.len() as u64 } else { 0 });
            let noted = self.memo.note(key, wanted, answer, evaluated);
            if let Some(few) = noted.filter(|_| wanted) {
                // Without the repetitions, which would double from one reference to the next.
                self.journal.truncate(frame.journal as usize);
                self.journal.extend_from_slice(few);
            }
        }
    }

    /// Judges a value by a node: answers at once, or pushes a frame whose answer will come.
    #[inline]
    fn apply(&mut self, cx: Context<'_>, entry: Entry) -> Option<Answer> {
        if entry.explain {
            return self.apply_aloud(cx, entry);
        }
        let fast = cx.program.fast(entry.id);
        if !self.accepts_kinds(cx, fast.kinds, entry.at) {
            return Some(Answer::Invalid);
        }
        let framed = match fast.leaf {
            Leaf::Always | Leaf::Kinds => false,
            Leaf::Short => cx.is_long_string(entry.at),
            Leaf::Never | Leaf::Flat => true,
        };
        if framed {
            return self.apply_in_frame(cx, entry, fast);
        }
        if fast.ops.start == fast.ops.end {
            return Some(Answer::Valid);
        }
        Some(self.leaf(cx, fast.ops, entry.at))
    }

    #[inline(never)]
    fn apply_aloud(&mut self, cx: Context<'_>, entry: Entry) -> Option<Answer> {
        let node = cx.program.node(entry.id);
        if node.never {
            return Some(self.explain_never(cx, entry, &node));
        }
        self.enter(cx, entry, node.full, node.tracks)
    }

    #[inline(never)]
    fn apply_in_frame(&mut self, cx: Context<'_>, entry: Entry, fast: Fast) -> Option<Answer> {
        let entry = Entry { id: fast.id, ..entry };
        if fast.shared && self.meter.used > memo::AFTER {
            let wanted = self.is_tracked(entry);
            let Some(scope) = self.scope(cx, entry.id) else { return Some(Answer::Unknown) };
            if let Some((answer, evaluated)) = self.memo.get((entry.id, entry.at, scope), wanted) {
                self.journal.extend_from_slice(evaluated);
                return Some(answer);
            }
        }
        self.enter(cx, entry, fast.ops, fast.tracks)
    }

    /// The scope in which a node is judged that is about to be entered.
    #[inline]
    fn scope(&mut self, cx: Context<'_>, id: NodeId) -> Option<u32> {
        if cx.program.dynamic_names.is_empty() {
            return Some(0);
        }
        self.scope_within(cx, id)
    }

    /// True if what is evaluated of the value matters to a frame below.
    fn is_tracked(&self, entry: Entry) -> bool {
        entry.in_place && self.frames.last().is_some_and(|frame| frame.tracks)
    }

    fn enter(&mut self, cx: Context<'_>, entry: Entry, ops: Span, tracks: bool) -> Option<Answer> {
        if self.frames.len() >= MAX_FRAMES {
            self.reason.get_or_insert("limit");
            return Some(Answer::Unknown);
        }
        let Some(scope) = self.scope(cx, entry.id) else { return Some(Answer::Unknown) };
        self.meter.count(A_FRAME);
        let tracks = tracks || self.is_tracked(entry);
        let mut frame = Frame::new(entry.id, ops, tracks, entry.at, entry.explain);
        frame.via = entry.via;
        frame.in_place = entry.in_place;
        frame.scope = scope;
        frame.journal = self.journal.len() as u32;
        self.frames.push(frame);
        None
    }

    /// Judges by assertions on the value alone.
    fn leaf(&mut self, cx: Context<'_>, ops: Span, at: u32) -> Answer {
        let mut answer = Answer::Valid;
        let ops = cx.program.ops.get(ops.start as usize..ops.end as usize);
        for &op in ops.unwrap_or(&[]) {
            self.meter.count(1);
            match self.scalar(cx, op, at) {
                Answer::Valid => {}
                Answer::Invalid => return Answer::Invalid,
                Answer::Unknown => answer = Answer::Unknown,
            }
        }
        answer
    }

    /// Goes on with a child of the instruction under way: judged quietly, then, if it failed and
    /// is to be explained, once more aloud. A member that comes again later counts as valid.
    /// `None` if the answer is still to come.
    fn child(
        &mut self,
        cx: Context<'_>,
        state: &mut OpState,
        returned: Option<Answer>,
        entry: Entry,
    ) -> Option<Answer> {
        let answer = match returned {
            Some(answer) => answer,
            None => self.apply(cx, Entry { explain: false, ..entry })?,
        };
        if answer == Answer::Valid || state.explaining {
            state.explaining = false;
            return Some(answer);
        }
        if entry.key != 0 && self.is_overridden(cx, entry.key) {
            return Some(Answer::Valid);
        }
        if entry.explain && answer == Answer::Invalid {
            state.explaining = true;
            self.apply(cx, entry)?;
            state.explaining = false;
        }
        Some(answer)
    }

    /// Keeps the state of the instruction of frame `top`, which waits or pauses.
    fn store(&mut self, top: usize, state: OpState) {
        if let Some(frame) = self.frames.get_mut(top) {
            frame.op = state;
        }
    }

    /// Runs one instruction of the top frame, from its start or from where it stopped.
    fn execute(&mut self, cx: Context<'_>, op: Op, explain: bool) -> Step {
        let Some(top) = self.frames.len().checked_sub(1) else { return Step::Pause };
        let Some(&frame) = self.frames.get(top) else { return Step::Pause };
        match op {
            Op::Enum(index) => self.enumeration(cx, top, frame, index, explain),
            Op::Pattern(index) => self.pattern(cx, top, frame, index, explain),
            Op::Object(index) if explain => self.explain_object(cx, top, frame, index),
            Op::Object(index) => self.object(cx, top, frame, index),
            Op::PropertyNames(node) => self.property_names(cx, top, frame, node, explain),
            Op::MinProperties(2..) | Op::MaxProperties(_) => {
                self.property_count(cx, top, frame, op, explain)
            }
            Op::Items(index) => self.items(cx, top, frame, index, explain),
            Op::Contains(index) => self.contains(cx, top, frame, index, explain),
            Op::Unique => self.unique(cx, top, frame, explain),
            Op::AllOf(span) => self.all_of(cx, top, frame, span, explain),
            Op::AnyOf(span) => self.some_of(cx, top, frame, span, Choice::Any, explain),
            Op::OneOf(span) => self.some_of(cx, top, frame, span, Choice::One, explain),
            Op::Switch(index) => self.switch(cx, top, frame, index),
            Op::Not(node) => self.not(cx, top, frame, node, explain),
            Op::If(index) => self.conditional(cx, top, frame, index, explain),
            Op::Dependencies(index) => self.dependencies(cx, top, frame, index, explain),
            Op::Reference(node) => self.reference(cx, top, frame, (node, Via::Reference), explain),
            Op::DynamicReference(index) => {
                let target = self.dynamic_target(cx, index);
                self.reference(cx, top, frame, target, explain)
            }
            Op::UnevaluatedItems(node) => {
                self.unevaluated(cx, top, frame, (node, Tag::ArrayOpen), explain)
            }
            Op::UnevaluatedProperties(node) => {
                self.unevaluated(cx, top, frame, (node, Tag::ObjectOpen), explain)
            }
            _ => {
                let answer = self.scalar(cx, op, frame.at);
                if answer == Answer::Invalid && explain {
                    self.explain_scalar(cx, op, frame.at);
                }
                Step::of(answer == Answer::Invalid, answer == Answer::Unknown)
            }
        }
    }
}

/// A subschema about to be entered.
#[derive(Clone, Copy)]
struct Entry {
    id: NodeId,
    at: u32,
    via: Via,
    in_place: bool,
    explain: bool,
    /// Position of the name, if the value is a member whose name may come again; else 0.
    key: u32,
}

impl Entry {
    /// A member or element of the value under way.
    fn member(id: NodeId, at: u32, key: u32, explain: bool) -> Self {
        Entry { id, at, via: Via::Inside, in_place: false, explain, key }
    }
}
