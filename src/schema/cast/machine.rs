//! Casts a value: visits it by its type, keeps what has the type and makes what does not.
//!
//! Follows `Value.Cast` of TypeBox 0.34 rule by rule. Invariants: a value that has its type is kept
//! as it is; every step is counted, and everything made is counted in bytes, before it is made.
//! Visiting and making share one stack of frames, so neither the value's nor the schema's nesting
//! costs call stack.

use std::task::Poll;

use crate::error::{Code, Error};
use crate::json::{Kind as JsonKind, Value, pointer};

use super::super::judge::Judge;
use super::super::outcome::Verdict;
use super::super::program::Program;
use super::types::{Array, Kind, Reading, Type, TypeId, Types, not_castable};
use super::write::{At, Part, PartId, Parts};
use super::{Change, ChangeKind, Steps};

/// Values that may be made inside each other: a type that must hold itself has no end.
pub(super) const MAX_MADE_DEPTH: usize = 512;

/// Steps for looking at one value or type, or planning to.
const A_STEP: u64 = 8;

/// Bytes that an element or member costs when it is planned.
pub(super) const PLANNED: usize = 8;

/// One value to be cast or made.
#[derive(Clone)]
pub(super) struct Task {
    /// The last token of its path; none if the path is that of the task's owner.
    pub(super) token: Option<Box<str>>,
    pub(super) work: Work,
    /// Its changes are told by a change above.
    pub(super) quiet: bool,
}

#[derive(Clone)]
pub(super) enum Work {
    /// Cast a value, or what is absent.
    Visit(TypeId, Option<At>),
    /// Make a value.
    Make(TypeId),
    /// Keep a value.
    Keep(At),
}

/// A container under way, and what becomes of its parts.
pub(super) struct Frame {
    pub(super) tasks: Vec<Task>,
    pub(super) next: usize,
    pub(super) done: Vec<PartId>,
    pub(super) path: usize,
    pub(super) quiet: bool,
    pub(super) makes: bool,
    pub(super) finish: Finish,
}

pub(super) enum Finish {
    Object(Vec<Box<str>>),
    Array,
    /// An array of different elements.
    Unique(TypeId),
    /// The part is an array made for a type: cast it in turn.
    Again(TypeId),
    /// The part is made for an intersection: lay the value over it.
    Overlay(TypeId, Option<At>),
    /// The parts are made for the branches of an intersection: join them.
    Join(TypeId),
}

pub(super) struct Caster<'p> {
    pub(super) source: &'p Program,
    pub(super) types: &'p Types,
    pub(super) reading: Reading,
    pub(super) parts: Parts<'p>,
    pub(super) changes: Vec<Change>,
    pub(super) frames: Vec<Frame>,
    /// Frames that make.
    pub(super) making: usize,
    pub(super) path: String,
    pub(super) steps: Steps,
}

impl<'p> Caster<'p> {
    pub(super) fn new(
        source: &'p Program,
        types: &'p Types,
        reading: Reading,
        parts: Parts<'p>,
        steps: Steps,
    ) -> Self {
        Caster {
            source,
            types,
            reading,
            parts,
            changes: Vec::new(),
            frames: Vec::new(),
            making: 0,
            path: String::new(),
            steps,
        }
    }

    /// Casts a value, or what is absent, by the root's type.
    pub(super) fn run(&mut self, value: Option<At>) -> Result<PartId, Error> {
        let root = Task { token: None, work: Work::Visit(0, value), quiet: false };
        let mut returned = self.start(root)?;
        while !self.frames.is_empty() {
            if let (Some(part), Some(top)) = (returned.take(), self.frames.last_mut()) {
                top.done.push(part);
            }
            returned = self.advance()?;
        }
        returned.ok_or_else(|| Error::new(Code::Limit, "cast_limit"))
    }

    /// Starts the next task of the top frame, or ends the frame.
    pub(super) fn advance(&mut self) -> Result<Option<PartId>, Error> {
        self.count(1)?;
        let Some(top) = self.frames.last_mut() else { return Ok(None) };
        self.path.truncate(top.path);
        if let Some(task) = top.tasks.get(top.next).cloned() {
            top.next += 1;
            return self.start(task);
        }
        let Some(frame) = self.frames.pop() else { return Ok(None) };
        self.making -= usize::from(frame.makes);
        self.finish(frame)
    }

    pub(super) fn start(&mut self, task: Task) -> Result<Option<PartId>, Error> {
        if let Some(token) = &task.token {
            pointer::push(&mut self.path, token);
        }
        match task.work {
            Work::Keep(at) => Ok(Some(self.parts.add(Part::Given(at)))),
            Work::Make(node) => self.make(node),
            Work::Visit(node, item) => self.visit(node, item, task.quiet),
        }
    }

    pub(super) fn count(&mut self, steps: u64) -> Result<(), Error> {
        self.steps.earn(self.parts.made());
        self.steps.count(steps.saturating_mul(A_STEP))
    }

    pub(super) fn get(&self, node: TypeId) -> Result<&'p Type, Error> {
        self.types.get(node).ok_or_else(|| Error::new(Code::SchemaError, "not_castable"))
    }

    pub(super) fn impossible(&self, found: &Type) -> Error {
        not_castable(self.source, found.place, "not_castable")
    }

    /// True if the value has the type.
    pub(super) fn has(&mut self, node: TypeId, item: Option<At>) -> Result<bool, Error> {
        let found = self.get(node)?;
        let Some(at) = item else { return Ok(found.absent) };
        let Some(source) = self.parts.source(at) else { return Ok(false) };
        let mut judge = Judge::of_node(&self.types.program, found.node, at.position);
        let steps = &mut self.steps.left;
        let outcome = judge.step(&self.types.program, &source.bytes, &source.tape, steps);
        match outcome {
            Poll::Ready(outcome) if outcome.verdict != Verdict::Unknown => {
                Ok(outcome.verdict == Verdict::Valid)
            }
            _ => Err(self.steps.spent()),
        }
    }

    pub(super) fn tell(&mut self, kind: ChangeKind, quiet: bool) -> Result<(), Error> {
        if !quiet {
            self.parts.spend(self.path.len() + PLANNED)?;
            self.changes.push(Change { path: self.path.clone(), kind });
        }
        Ok(())
    }

    pub(super) fn tell_at(
        &mut self,
        token: &str,
        kind: ChangeKind,
        quiet: bool,
    ) -> Result<(), Error> {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let told = self.tell(kind, quiet);
        self.path.truncate(length);
        told
    }

    pub(super) fn push(
        &mut self,
        tasks: Vec<Task>,
        finish: Finish,
        quiet: bool,
        makes: bool,
    ) -> Result<Option<PartId>, Error> {
        self.count(tasks.len() as u64)?;
        let path = self.path.len();
        self.making += usize::from(makes);
        self.frames.push(Frame { tasks, next: 0, done: Vec::new(), path, quiet, makes, finish });
        Ok(None)
    }

    pub(super) fn visit(
        &mut self,
        node: TypeId,
        item: Option<At>,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let mut node = node;
        loop {
            self.count(1)?;
            let found = self.get(node)?;
            let value = item.and_then(|at| self.parts.value(at));
            let kind = value.map(Value::kind);
            match &found.kind {
                Kind::Reference(target) => {
                    node = *target;
                    continue;
                }
                Kind::Never => return Err(self.impossible(found)),
                Kind::Unresolved => {
                    return Err(not_castable(self.source, found.place, "unresolved_ref"));
                }
                Kind::Array(Array { opaque: true, .. })
                    if kind == Some(JsonKind::Array)
                        && value.is_some_and(|value| !value.is_empty()) =>
                {
                    return Err(self.impossible(found));
                }
                _ => {}
            }
            if self.has(node, item)? {
                return Ok(Some(self.parts.add(item.map_or(Part::Absent, Part::Given))));
            }
            let is_container = matches!(kind, Some(JsonKind::Object | JsonKind::Array));
            match (&found.kind, item) {
                (Kind::Union(variants), _) if found.default.is_none() => {
                    node = self.select(variants, item)?;
                }
                (Kind::Intersect(_), _) => {
                    let kind = match item {
                        Some(_) => ChangeKind::Replaced,
                        None => ChangeKind::Created,
                    };
                    self.tell(kind, quiet)?;
                    let task = Task { token: None, work: Work::Make(node), quiet: true };
                    return self.push(vec![task], Finish::Overlay(node, item), true, false);
                }
                (Kind::Object { members, rest }, Some(at)) if is_container => {
                    return self.visit_object(found, members, *rest, at, quiet);
                }
                (&Kind::Record(values), Some(at)) if kind == Some(JsonKind::Object) => {
                    return self.visit_record(values, at, quiet);
                }
                (Kind::Array(array), Some(at)) if kind == Some(JsonKind::Array) => {
                    return self.visit_array(node, array, at, quiet);
                }
                (Kind::Tuple(parts), Some(at)) if kind == Some(JsonKind::Array) => {
                    return self.visit_tuple(parts, at, quiet);
                }
                (Kind::Array(_), _) => {
                    self.tell_made(node, item, quiet)?;
                    let task = Task { token: None, work: Work::Make(node), quiet: true };
                    return self.push(vec![task], Finish::Again(node), true, false);
                }
                _ => {
                    self.tell_made(node, item, quiet)?;
                    return self.make(node);
                }
            }
        }
    }

    /// Tells that a value is made in the place of one, or of none.
    pub(super) fn tell_made(
        &mut self,
        node: TypeId,
        item: Option<At>,
        quiet: bool,
    ) -> Result<(), Error> {
        let kind = match item {
            Some(_) => ChangeKind::Replaced,
            None if self.is_default(node)? => ChangeKind::Default,
            None => ChangeKind::Created,
        };
        self.tell(kind, quiet)
    }

    /// True if what is made for the type is a default.
    pub(super) fn is_default(&mut self, mut node: TypeId) -> Result<bool, Error> {
        loop {
            self.count(1)?;
            let found = self.get(node)?;
            match (&found.kind, found.default) {
                (_, Some(_)) => return Ok(true),
                (Kind::Reference(target), None) => node = *target,
                (Kind::Union(variants), None) => match variants.first() {
                    Some(first) => node = *first,
                    None => return Ok(false),
                },
                _ => return Ok(false),
            }
        }
    }

    fn finish(&mut self, frame: Frame) -> Result<Option<PartId>, Error> {
        let part = match frame.finish {
            Finish::Object(names) => Part::Object(names.into_iter().zip(frame.done).collect()),
            Finish::Array => Part::Array(frame.done),
            Finish::Unique(node) => return self.unique(node, frame.done, frame.quiet),
            Finish::Again(node) => {
                let made = frame.done.last().copied().unwrap_or_default();
                let at = self.parts.intern(made)?;
                let found = self.get(node)?;
                return match (&found.kind, self.parts.value(at).map(Value::kind)) {
                    (Kind::Array(array), Some(JsonKind::Array)) => {
                        self.visit_array(node, array, at, true)
                    }
                    _ => Err(self.impossible(found)),
                };
            }
            Finish::Overlay(node, item) => {
                let made = frame.done.last().copied().unwrap_or_default();
                let made = self.parts.intern(made)?;
                return self.overlay(node, made, item).map(Some);
            }
            Finish::Join(node) => return self.join(node, &frame.done).map(Some),
        };
        Ok(Some(self.parts.add(part)))
    }
}
