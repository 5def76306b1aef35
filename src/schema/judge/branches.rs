//! Keywords that apply subschemas to the value itself.

use crate::json::Tag;
use crate::schema::names::NameTable;
use crate::schema::program::{DependenciesOp, NO_NODE, NodeId, Span, SwitchOp};

use super::frame::{Answer, Frame, OpState, Step, Via};
use super::{Context, Entry, Judge};

/// Stages of `anyOf` and `oneOf`: which branches hold; how near each comes; explaining the nearest.
const ASKING: u32 = 0;
const COUNTING: u32 = 1;
const TELLING: u32 = 2;

/// Branches of `oneOf` told to hold, if more than one does.
const MAX_MATCHES: u32 = 16;

fn branch(id: NodeId, at: u32, explain: bool) -> Entry {
    Entry { id, at, via: Via::Inside, in_place: true, explain, key: 0 }
}

impl Judge {
    /// `$ref` and `$dynamicRef`: what the target says.
    pub(super) fn reference(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        target: (NodeId, Via),
        explain: bool,
    ) -> Step {
        let mut state = OpState { started: true, ..frame.op };
        let returned = self.returned.take();
        let entry = Entry { via: target.1, ..branch(target.0, frame.at, explain) };
        match self.child(cx, &mut state, returned, entry) {
            None => {
                self.store(top, state);
                Step::Await
            }
            Some(answer) => Step::of(answer == Answer::Invalid, answer == Answer::Unknown),
        }
    }

    /// The target of a dynamic reference: the outermost resource entered that has the anchor.
    pub(super) fn dynamic_target(&self, cx: Context<'_>, index: u32) -> (NodeId, Via) {
        let Some(op) = cx.program.dynamics.get(index as usize) else {
            return (NO_NODE, Via::DynamicReference);
        };
        let via = if op.recursive { Via::RecursiveReference } else { Via::DynamicReference };
        (self.dynamic_node(cx, op), via)
    }

    pub(super) fn all_of(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        span: Span,
        explain: bool,
    ) -> Step {
        let branches = cx.program.list(span);
        let mut state = OpState { started: true, ..frame.op };
        let mut returned = self.returned.take();
        while let Some(&id) = branches.get(state.index as usize) {
            match self.child(cx, &mut state, returned.take(), branch(id, frame.at, explain)) {
                None => {
                    self.store(top, state);
                    return Step::Await;
                }
                Some(Answer::Valid) => {}
                Some(Answer::Invalid) if explain => state.failed = true,
                Some(Answer::Invalid) => return Step::Fail,
                Some(Answer::Unknown) => state.doubtful = 1,
            }
            state.index += 1;
        }
        Step::of(state.failed, state.doubtful > 0)
    }

    /// `anyOf` and `oneOf`. If no branch holds, explains the one that came nearest.
    pub(super) fn some_of(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        span: Span,
        choice: Choice,
        explain: bool,
    ) -> Step {
        let branches = cx.program.list(span);
        let mut state = OpState { started: true, ..frame.op };
        if !frame.op.started {
            state.base = self.scratch.len() as u32;
        }
        let mut returned = self.returned.take();
        while let (ASKING, Some(&id)) = (state.stage, branches.get(state.index as usize)) {
            let answer = match returned.take() {
                Some(answer) => Some(answer),
                None => self.apply(cx, branch(id, frame.at, false)),
            };
            match answer {
                None => {
                    self.store(top, state);
                    return Step::Await;
                }
                Some(Answer::Valid) if choice == Choice::Any && !frame.tracks => return Step::Next,
                Some(Answer::Valid) => {
                    state.valid += 1;
                    if explain && choice == Choice::One && state.valid <= MAX_MATCHES {
                        self.scratch.push(state.index);
                    }
                }
                Some(Answer::Invalid) => {}
                Some(Answer::Unknown) => state.doubtful += 1,
            }
            if choice == Choice::One && state.valid > 1 && !explain {
                return Step::Fail;
            }
            state.index += 1;
        }
        if state.stage == ASKING {
            let matches = match explain {
                true => self.scratch.split_off((state.base as usize).min(self.scratch.len())),
                false => Vec::new(),
            };
            match (choice, state.valid, state.doubtful) {
                (Choice::Any, 1.., _) | (Choice::One, 1, 0) => return Step::Next,
                (Choice::One, 2.., _) => {
                    self.violate(cx, frame.at, choice.keyword(), |params| {
                        params.counts("passingSchemas", &matches);
                    });
                    return Step::Fail;
                }
                (_, 0, 0) if self.violations.len() >= cx.program.max_errors && explain => {
                    self.truncated = true;
                    return Step::Fail;
                }
                (_, 0, 0) if explain => {}
                (_, 0, 0) => return Step::Fail,
                _ => return Step::Doubt,
            }
            if self.count_violation(choice.keyword(), false) {
                return Step::Fail;
            }
            state.stage = COUNTING;
            state.index = 0;
            state.seen = u64::MAX;
            state.guess = 0;
        }
        while let (COUNTING, Some(&id)) = (state.stage, branches.get(state.index as usize)) {
            if returned.take().is_none() {
                self.begin_score(top);
                if self.apply(cx, branch(id, frame.at, true)).is_none() {
                    self.store(top, state);
                    return Step::Await;
                }
            }
            let score = self.end_score();
            if score < state.seen {
                state.seen = score;
                state.guess = state.index;
            }
            state.index += 1;
        }
        if state.stage == COUNTING {
            state.stage = TELLING;
            self.violate(cx, frame.at, choice.keyword(), |params| {
                if choice == Choice::One {
                    params.null("passingSchemas");
                }
                params.count("nearest", state.guess as u64);
            });
            if let (false, Some(&id)) = (self.truncated, branches.get(state.guess as usize))
                && self.apply(cx, branch(id, frame.at, true)).is_none()
            {
                self.store(top, state);
                return Step::Await;
            }
        }
        Step::Fail
    }

    /// `anyOf` or `oneOf` where a member's string says which branches may hold. A branch that
    /// wants another string there fails for sure, so leaving it out changes no answer.
    pub(super) fn switch(&mut self, cx: Context<'_>, top: usize, frame: Frame, index: u32) -> Step {
        let Some(op) = cx.program.switches.get(index as usize) else { return Step::Doubt };
        let choice = if op.one { Choice::One } else { Choice::Any };
        let mut frame = frame;
        if !frame.op.started {
            let span = self.select(cx, op, frame.at);
            // Kept in the state, which `some_of` leaves alone here.
            frame.op.seen = (span.start as u64) << 32 | span.end as u64;
            self.store(top, frame.op);
        }
        let span = Span { start: (frame.op.seen >> 32) as u32, end: frame.op.seen as u32 };
        self.some_of(cx, top, frame, span, choice, false)
    }

    /// The branches that the member's string leaves; all if it is absent or no string.
    fn select(&mut self, cx: Context<'_>, op: &SwitchOp, at: u32) -> Span {
        let word = cx.word(at);
        if word.tag() != Tag::ObjectOpen {
            return op.all;
        }
        let end = at + word.payload();
        let (mut key, mut found) = (at + 1, None);
        while key < end {
            self.meter.count(1);
            let name = cx.value(key).text();
            if name.is_some_and(|name| op.name.find(name, 0).is_some()) {
                // The last of repeated members counts.
                found = Some(key + 1);
            }
            key = cx.after(key + 1);
        }
        match found.map(|value| cx.value(value).text()) {
            Some(Some(text)) => match op.strings.find(text, 0) {
                Some(slot) => op.branches.get(slot as usize).copied().unwrap_or(op.all),
                None => op.others,
            },
            _ => op.all,
        }
    }

    pub(super) fn not(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        id: NodeId,
        explain: bool,
    ) -> Step {
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.base = self.journal.len() as u32;
        }
        let answer = match self.returned.take() {
            Some(answer) => Some(answer),
            None => self.apply(cx, branch(id, frame.at, false)),
        };
        let Some(answer) = answer else {
            self.store(top, state);
            return Step::Await;
        };
        // What a negated schema evaluated does not count.
        self.journal.truncate(state.base as usize);
        if answer == Answer::Valid && explain {
            self.violate(cx, frame.at, "not", |_| {});
        }
        Step::of(answer == Answer::Valid, answer == Answer::Unknown)
    }

    /// `if`, `then`, `else`. If the condition cannot be decided, both branches are asked: what
    /// they agree on holds.
    pub(super) fn conditional(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
        explain: bool,
    ) -> Step {
        const CONDITION: u32 = 0;
        const CHOSEN: u32 = 1;
        const THEN: u32 = 2;
        const OTHERWISE: u32 = 3;
        let Some(op) = cx.program.ifs.get(index as usize) else { return Step::Doubt };
        let mut state = OpState { started: true, ..frame.op };
        let mut returned = self.returned.take();
        loop {
            let id = match state.stage {
                CONDITION => op.condition,
                THEN => op.then,
                OTHERWISE => op.otherwise,
                _ if state.flag => op.then,
                _ => op.otherwise,
            };
            let entry = branch(id, frame.at, explain && state.stage == CHOSEN);
            let answer = match id {
                NO_NODE => Some(Answer::Valid),
                _ => self.child(cx, &mut state, returned.take(), entry),
            };
            let Some(answer) = answer else {
                self.store(top, state);
                return Step::Await;
            };
            match (state.stage, answer) {
                (CONDITION, Answer::Unknown) => state.stage = THEN,
                (CONDITION, _) => {
                    state.flag = answer == Answer::Valid;
                    state.stage = CHOSEN;
                }
                (CHOSEN, _) => {
                    return Step::of(answer == Answer::Invalid, answer == Answer::Unknown);
                }
                (THEN, _) => {
                    state.valid = (answer == Answer::Valid) as u32;
                    state.failed = answer == Answer::Invalid;
                    state.stage = OTHERWISE;
                }
                (_, Answer::Valid) if state.valid == 1 => return Step::Next,
                (_, Answer::Invalid) if state.failed => {
                    if explain {
                        self.violate(cx, frame.at, "if", |_| {});
                    }
                    return Step::Fail;
                }
                _ => return Step::Doubt,
            }
        }
    }

    /// `dependentRequired`, `dependentSchemas`, `dependencies`.
    pub(super) fn dependencies(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
        explain: bool,
    ) -> Step {
        let Some(op) = cx.program.dependencies.get(index as usize) else { return Step::Doubt };
        if cx.word(frame.at).tag() != Tag::ObjectOpen {
            return Step::Next;
        }
        let mut state = frame.op;
        if !state.started {
            state.started = true;
            state.base = self.scratch.len() as u32;
            self.note_names(cx, &op.names, frame.at);
        }
        let mut returned = self.returned.take();
        let mut failed = state.failed;
        while let Some(rule) = op.rules.get(state.index as usize) {
            if self.is_noted(&state, rule.name) {
                self.meter.count(1 + rule.required.len() as u64);
                if returned.is_none() && !rule.required.iter().all(|&n| self.is_noted(&state, n)) {
                    failed = true;
                    if explain {
                        self.explain_dependency(cx, op, &state, frame.at);
                    }
                }
                let entry = branch(rule.node, frame.at, explain);
                let answer = match rule.node {
                    NO_NODE => Some(Answer::Valid),
                    _ => self.child(cx, &mut state, returned.take(), entry),
                };
                let Some(answer) = answer else {
                    state.failed = failed;
                    self.store(top, state);
                    return Step::Await;
                };
                failed |= answer == Answer::Invalid;
                state.doubtful |= (answer == Answer::Unknown) as u32;
                if failed && !explain {
                    break;
                }
            }
            state.index += 1;
        }
        self.scratch.truncate(state.base as usize);
        Step::of(failed, state.doubtful > 0)
    }

    /// Notes in scratch which names of a table an object has.
    fn note_names(&mut self, cx: Context<'_>, names: &NameTable, object: u32) {
        let base = self.scratch.len();
        self.meter.count(names.len() as u64 / 8);
        self.scratch.resize(base + names.len().div_ceil(32), 0);
        let end = object + cx.word(object).payload();
        let mut key = object + 1;
        while key < end {
            self.meter.count(1);
            if let Some(slot) = cx.value(key).text().and_then(|name| names.find(name, 0))
                && let Some(word) = self.scratch.get_mut(base + slot as usize / 32)
            {
                *word |= 1 << (slot % 32);
            }
            key = cx.after(key + 1);
        }
    }

    fn is_noted(&self, state: &OpState, slot: u32) -> bool {
        let word = self.scratch.get((state.base + slot / 32) as usize).copied().unwrap_or(0);
        word >> (slot % 32) & 1 == 1
    }

    fn explain_dependency(
        &mut self,
        cx: Context<'_>,
        op: &DependenciesOp,
        state: &OpState,
        at: u32,
    ) {
        let Some(rule) = op.rules.get(state.index as usize) else { return };
        for &slot in &rule.required {
            if !self.is_noted(state, slot) {
                self.violate(cx, at, op.keyword, |params| {
                    params.text("property", op.names.name(rule.name));
                    params.text("missingProperty", op.names.name(slot));
                });
            }
        }
    }
}

/// How many branches must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// `anyOf`
    Any,
    /// `oneOf`
    One,
}

impl Choice {
    fn keyword(self) -> &'static str {
        match self {
            Choice::Any => "anyOf",
            Choice::One => "oneOf",
        }
    }
}
