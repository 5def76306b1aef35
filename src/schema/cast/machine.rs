//! Casts a value: visits it by its type, keeps what has the type and makes what does not.
//!
//! Follows `Value.Cast` of TypeBox 0.34 rule by rule. Invariants: a value that has its type is kept
//! as it is; every step is counted, and everything made is counted in bytes, before it is made.
//! Visiting and making share one stack of frames, so neither the value's nor the schema's nesting
//! costs call stack.

use std::collections::{HashMap, HashSet};
use std::task::Poll;

use crate::error::{Code, Error, Facts};
use crate::json::{Kind as JsonKind, Numbers, Value, equal, number, pointer};

use super::super::judge::Judge;
use super::super::outcome::Verdict;
use super::super::program::{Place, Program};
use super::types::{Array, Kind, Member, Reading, Rest, Type, TypeId, Types, not_castable};
use super::write::{At, Part, PartId, Parts, members_of};
use super::{Change, ChangeKind};

/// Values that may be made inside each other: a type that must hold itself has no end.
const MAX_MADE_DEPTH: usize = 512;

/// Bytes that an element or member costs when it is planned.
const PLANNED: usize = 8;

/// One value to be cast or made.
#[derive(Clone)]
struct Task {
    /// The last token of its path; none if the path is that of the task's owner.
    token: Option<Box<str>>,
    work: Work,
    /// Its changes are told by a change above.
    quiet: bool,
}

#[derive(Clone)]
enum Work {
    /// Cast a value, or what is absent.
    Visit(TypeId, Option<At>),
    /// Make a value.
    Make(TypeId),
    /// Keep a value.
    Keep(At),
}

/// A container under way, and what becomes of its parts.
struct Frame {
    tasks: Vec<Task>,
    next: usize,
    done: Vec<PartId>,
    path: usize,
    quiet: bool,
    makes: bool,
    finish: Finish,
}

enum Finish {
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
    source: &'p Program,
    types: &'p Types,
    reading: Reading,
    pub(super) parts: Parts<'p>,
    pub(super) changes: Vec<Change>,
    frames: Vec<Frame>,
    /// Frames that make.
    making: usize,
    path: String,
    steps: u64,
}

impl<'p> Caster<'p> {
    pub(super) fn new(
        source: &'p Program,
        types: &'p Types,
        reading: Reading,
        parts: Parts<'p>,
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
            steps: source.max_steps,
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
    fn advance(&mut self) -> Result<Option<PartId>, Error> {
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

    fn start(&mut self, task: Task) -> Result<Option<PartId>, Error> {
        if let Some(token) = &task.token {
            pointer::push(&mut self.path, token);
        }
        match task.work {
            Work::Keep(at) => Ok(Some(self.parts.add(Part::Given(at)))),
            Work::Make(node) => self.make(node),
            Work::Visit(node, item) => self.visit(node, item, task.quiet),
        }
    }

    fn count(&mut self, steps: u64) -> Result<(), Error> {
        match self.steps.checked_sub(steps) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => Err(self.out_of_steps()),
        }
    }

    fn out_of_steps(&self) -> Error {
        let facts = Facts { limit: Some(self.source.max_steps), ..Facts::default() };
        Error::new(Code::Limit, "cast_limit").facts(facts)
    }

    fn get(&self, node: TypeId) -> Result<&'p Type, Error> {
        self.types.get(node).ok_or_else(|| Error::new(Code::SchemaError, "not_castable"))
    }

    fn impossible(&self, found: &Type) -> Error {
        not_castable(self.source, found.place, "not_castable")
    }

    /// True if the value has the type.
    fn has(&mut self, node: TypeId, item: Option<At>) -> Result<bool, Error> {
        let found = self.get(node)?;
        let Some(at) = item else { return Ok(found.absent) };
        let Some(source) = self.parts.source(at) else { return Ok(false) };
        let mut judge = Judge::of_node(&self.types.program, found.node, at.position);
        let mut steps = self.steps;
        let outcome = judge.step(&self.types.program, &source.bytes, &source.tape, &mut steps);
        self.steps = steps;
        match outcome {
            Poll::Ready(outcome) if outcome.verdict != Verdict::Unknown => {
                Ok(outcome.verdict == Verdict::Valid)
            }
            _ => Err(self.out_of_steps()),
        }
    }

    fn tell(&mut self, kind: ChangeKind, quiet: bool) -> Result<(), Error> {
        if !quiet {
            self.parts.spend(self.path.len() + PLANNED)?;
            self.changes.push(Change { path: self.path.clone(), kind });
        }
        Ok(())
    }

    fn tell_at(&mut self, token: &str, kind: ChangeKind, quiet: bool) -> Result<(), Error> {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let told = self.tell(kind, quiet);
        self.path.truncate(length);
        told
    }

    fn push(
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

    fn visit(
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
    fn tell_made(&mut self, node: TypeId, item: Option<At>, quiet: bool) -> Result<(), Error> {
        let kind = match item {
            Some(_) => ChangeKind::Replaced,
            None if self.is_default(node)? => ChangeKind::Default,
            None => ChangeKind::Created,
        };
        self.tell(kind, quiet)
    }

    /// True if what is made for the type is a default.
    fn is_default(&mut self, mut node: TypeId) -> Result<bool, Error> {
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

    fn visit_object(
        &mut self,
        found: &Type,
        members: &[Member],
        rest: Rest,
        at: At,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let is_object = self.parts.value(at).is_some_and(Value::is_object);
        if !is_object {
            // An array counts as an object without members.
            self.tell(ChangeKind::Replaced, quiet)?;
        }
        let quiet = quiet || !is_object;
        let given = self.parts.value(at).map(members_of).unwrap_or_default();
        self.count((given.len() + members.len()) as u64)?;
        let at_member = |position: u32| At { position, ..at };
        let mut tasks = Vec::new();
        let mut names: Vec<Box<str>> = Vec::new();
        let mut add = |name: &str, work: Work| {
            names.push(name.into());
            tasks.push(Task { token: Some(name_of(name)), work, quiet });
        };
        if self.reading.exact {
            let by_key: HashMap<&[u8], u32> =
                given.iter().map(|(key, _, position)| (key.as_slice(), *position)).collect();
            for member in members {
                let item = by_key.get(member.key.as_slice()).copied().map(at_member);
                if item.is_some() || member.required {
                    add(&member.name, Work::Visit(member.node, item));
                }
            }
            let declared: HashSet<&[u8]> =
                members.iter().map(|member| member.key.as_slice()).collect();
            for (key, name, position) in &given {
                if declared.contains(key.as_slice()) {
                    continue;
                }
                match rest {
                    // The name of a prototype is none that the measured cast hands on.
                    Rest::Typed(node) if key != b"__proto__" => {
                        add(name, Work::Visit(node, Some(at_member(*position))));
                    }
                    Rest::Opaque => return Err(self.impossible(found)),
                    Rest::Open | Rest::Typed(_) => {
                        self.tell_at(&name_of(name), ChangeKind::Removed, quiet)?;
                    }
                }
            }
        } else {
            let declared: HashMap<&[u8], TypeId> =
                members.iter().map(|member| (member.key.as_slice(), member.node)).collect();
            for (key, name, position) in &given {
                let item = at_member(*position);
                let work = match (declared.get(key.as_slice()), rest) {
                    (Some(&node), _) | (None, Rest::Typed(node)) => Work::Visit(node, Some(item)),
                    (None, Rest::Open | Rest::Opaque) => Work::Keep(item),
                };
                add(name, work);
            }
            let present: HashSet<&[u8]> = given.iter().map(|(key, ..)| key.as_slice()).collect();
            let missing = members
                .iter()
                .filter(|member| member.required && !present.contains(member.key.as_slice()));
            for member in missing {
                add(&member.name, Work::Visit(member.node, None));
            }
        }
        self.push(tasks, Finish::Object(names), quiet, false)
    }

    fn visit_record(
        &mut self,
        values: TypeId,
        at: At,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let given = self.parts.value(at).map(members_of).unwrap_or_default();
        let mut tasks = Vec::new();
        let mut names = Vec::new();
        for (key, name, position) in given {
            if self.reading.exact && key == b"__proto__" {
                self.tell_at(&name_of(&name), ChangeKind::Removed, quiet)?;
                continue;
            }
            let work = Work::Visit(values, Some(At { position, ..at }));
            tasks.push(Task { token: Some(name_of(&name)), work, quiet });
            names.push(name);
        }
        self.push(tasks, Finish::Object(names), quiet, false)
    }

    fn visit_array(
        &mut self,
        node: TypeId,
        array: &Array,
        at: At,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let length = self.parts.value(at).map_or(0, Value::len) as usize;
        if length > array.max {
            self.tell(ChangeKind::Truncated, quiet)?;
        }
        self.parts
            .spend(array.min.min(array.max).saturating_sub(length).saturating_mul(PLANNED))?;
        let elements = self.parts.value(at).into_iter().flat_map(Value::elements);
        let positions: Vec<u32> = elements.take(array.max).map(Value::position).collect();
        let visit = |position| Work::Visit(array.items, Some(At { position, ..at }));
        let mut tasks: Vec<Task> = positions
            .into_iter()
            .enumerate()
            .map(|(index, position)| element(index, visit(position), quiet))
            .collect();
        if length < array.min.min(array.max) {
            // What pads is cast from null, as an element that was null would be.
            let null = self.parts.intern_text("null".to_owned())?;
            for index in length..array.min.min(array.max) {
                self.tell_at(&index.to_string(), ChangeKind::Padded, quiet)?;
                tasks.push(element(index, Work::Visit(array.items, Some(null)), true));
            }
        }
        let finish = if array.unique { Finish::Unique(node) } else { Finish::Array };
        self.push(tasks, finish, quiet, false)
    }

    fn visit_tuple(
        &mut self,
        parts: &[TypeId],
        at: At,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let elements = self.parts.value(at).into_iter().flat_map(Value::elements);
        let positions: Vec<u32> = elements.take(parts.len() + 1).map(Value::position).collect();
        if positions.len() > parts.len() {
            self.tell(ChangeKind::Truncated, quiet)?;
        }
        let mut tasks = Vec::new();
        for (index, &node) in parts.iter().enumerate() {
            let item = positions.get(index).map(|&position| At { position, ..at });
            if item.is_none() {
                self.tell_at(&index.to_string(), ChangeKind::Padded, quiet)?;
            }
            tasks.push(element(index, Work::Visit(node, item), quiet || item.is_none()));
        }
        self.push(tasks, Finish::Array, quiet, false)
    }

    /// Makes a value of a type.
    fn make(&mut self, node: TypeId) -> Result<Option<PartId>, Error> {
        let mut node = node;
        loop {
            self.count(1)?;
            let found = self.get(node)?;
            if self.making > MAX_MADE_DEPTH {
                return Err(not_castable(self.source, found.place, "reference_cycle"));
            }
            if let Some(place) = found.default.or(found.constant) {
                return self.schema_value(place);
            }
            let text = match &found.kind {
                Kind::Reference(target) => {
                    node = *target;
                    continue;
                }
                Kind::Union(variants) => {
                    node = *variants.first().ok_or_else(|| self.impossible(found))?;
                    continue;
                }
                Kind::Unresolved => {
                    return Err(not_castable(self.source, found.place, "unresolved_ref"));
                }
                Kind::Never | Kind::Not | Kind::String { create: false, .. } => {
                    return Err(self.impossible(found));
                }
                Kind::Array(array) if array.unique || array.contains => {
                    return Err(self.impossible(found));
                }
                Kind::Literal { first, .. } => return self.schema_value(*first),
                Kind::Number(Some(minimum)) => return self.schema_value(*minimum),
                Kind::Object { members, .. } => return self.make_object(members),
                Kind::Array(array) if array.min > 0 => {
                    self.parts.spend(array.min.saturating_mul(PLANNED))?;
                    let made = vec![array.items; array.min];
                    return self.make_array(&made);
                }
                Kind::Tuple(parts) if !parts.is_empty() => return self.make_array(parts),
                Kind::Intersect(parts) => {
                    let tasks = parts.iter().map(|&part| making(part, None)).collect();
                    return self.push(tasks, Finish::Join(node), true, true);
                }
                Kind::String { min_length, .. } => {
                    self.parts.spend(*min_length as usize)?;
                    format!("\"{}\"", " ".repeat(*min_length as usize))
                }
                // What accepts everything says nothing of what to make.
                Kind::Unknown if !self.reading.exact => {
                    return Ok(Some(self.parts.add(Part::Absent)));
                }
                Kind::Unknown | Kind::Record(_) => "{}".to_owned(),
                Kind::Array(_) | Kind::Tuple(_) => "[]".to_owned(),
                Kind::Number(None) => "0".to_owned(),
                Kind::Boolean => "false".to_owned(),
                Kind::Null => "null".to_owned(),
            };
            return Ok(Some(self.parts.add(Part::Text(text.into()))));
        }
    }

    fn schema_value(&mut self, place: Place) -> Result<Option<PartId>, Error> {
        let length = self.source.value(place).map_or(0, |value| value.raw().len());
        self.parts.spend(length)?;
        Ok(Some(self.parts.add(Part::Schema(place))))
    }

    fn make_object(&mut self, members: &[Member]) -> Result<Option<PartId>, Error> {
        let required = || members.iter().filter(|member| member.required);
        self.parts.spend(required().map(|member| member.name.len() + PLANNED).sum())?;
        let names = required().map(|member| member.name.clone()).collect();
        let tasks = required().map(|member| making(member.node, None)).collect();
        self.push(tasks, Finish::Object(names), true, true)
    }

    fn make_array(&mut self, parts: &[TypeId]) -> Result<Option<PartId>, Error> {
        let tasks = parts.iter().map(|&part| making(part, None)).collect();
        self.push(tasks, Finish::Array, true, true)
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

    /// Drops elements that repeat a scalar; containers are never the same, as in a `Set`.
    fn unique(
        &mut self,
        node: TypeId,
        elements: Vec<PartId>,
        quiet: bool,
    ) -> Result<Option<PartId>, Error> {
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let mut kept = Vec::new();
        for (index, part) in elements.into_iter().enumerate() {
            self.count(1)?;
            if scalar_key(&self.parts, part).is_some_and(|key| !seen.insert(key)) {
                self.tell_at(&index.to_string(), ChangeKind::Removed, quiet)?;
            } else {
                kept.push(part);
            }
        }
        let part = self.parts.add(Part::Array(kept));
        let at = self.parts.intern(part)?;
        if self.has(node, Some(at))? {
            return Ok(Some(part));
        }
        let found = self.get(node)?;
        Err(self.impossible(found))
    }

    /// The variant that fits best: the first of those with the highest score.
    fn select(&mut self, variants: &[TypeId], item: Option<At>) -> Result<TypeId, Error> {
        let mut selected = *variants.first().unwrap_or(&0);
        let mut best = 0;
        let given = item.and_then(|at| self.parts.value(at)).map(members_of).unwrap_or_default();
        let given: HashMap<Vec<u8>, u32> =
            given.into_iter().map(|(key, _, position)| (key, position)).collect();
        for &variant in variants {
            let score = self.score(variant, item, &given)?;
            if score > best {
                selected = variant;
                best = score;
            }
        }
        Ok(selected)
    }

    fn score(
        &mut self,
        variant: TypeId,
        item: Option<At>,
        given: &HashMap<Vec<u8>, u32>,
    ) -> Result<u64, Error> {
        let is_container = item
            .and_then(|at| self.parts.value(at))
            .is_some_and(|at| at.is_object() || at.is_array());
        let mut best = 0;
        let mut open = vec![variant];
        let mut seen = HashSet::new();
        while let Some(node) = open.pop() {
            self.count(1)?;
            let node = self.types.resolved(node);
            if !seen.insert(node) {
                continue;
            }
            let score = match &self.get(node)?.kind {
                Kind::Union(variants) => {
                    open.extend(variants);
                    0
                }
                Kind::Object { members, .. } if is_container => {
                    let mut sum = 0;
                    for member in members {
                        let position = given.get(&member.key).copied();
                        let value = position.zip(item).map(|(position, at)| At { position, ..at });
                        sum += u64::from(self.is_literal(member.node, value)?) * 100
                            + u64::from(self.has(member.node, value)?) * 10
                            + u64::from(value.is_some());
                    }
                    sum
                }
                _ => u64::from(self.has(node, item)?),
            };
            best = best.max(score);
        }
        Ok(best)
    }

    /// True if the type is one constant and the value is it.
    fn is_literal(&self, node: TypeId, item: Option<At>) -> Result<bool, Error> {
        let found = self.get(self.types.resolved(node))?;
        let place = match found.kind {
            Kind::Literal { first, only: true } => Some(first),
            _ => found.constant,
        };
        let constant = place.and_then(|place| self.source.value(place));
        let value = item.and_then(|at| self.parts.value(at));
        Ok(constant.zip(value).is_some_and(|(left, right)| equal(left, right, Numbers::Doubles)))
    }

    /// Lays a value over what was made for an intersection: the value's members count if the whole
    /// then has the type. The loose reading keeps what else the value has.
    fn overlay(&mut self, node: TypeId, made: At, item: Option<At>) -> Result<PartId, Error> {
        let mut base = made;
        for keeps in [true, false] {
            if keeps && self.reading.exact {
                continue;
            }
            let Some(at) = item else { break };
            let text = self.assigned(made, at, keeps)?;
            let assigned = self.parts.intern_text(text)?;
            if self.has(node, Some(assigned))? {
                if keeps {
                    return Ok(self.parts.add(Part::Given(assigned)));
                }
                base = assigned;
            }
        }
        let is_object = |at: At| self.parts.value(at).is_some_and(Value::is_object);
        let extended = item.filter(|&at| !self.reading.exact && is_object(at) && is_object(base));
        if let Some(at) = extended {
            let all = self.extended(base, at, |_| true)?;
            if self.has(node, Some(all))? {
                return Ok(self.parts.add(Part::Given(all)));
            }
            let types = self.types;
            base = self.extended(base, at, |key| !types.declares(node, key))?;
        }
        Ok(self.parts.add(Part::Given(base)))
    }

    /// An object with those members of another that it lacks and that are wanted.
    fn extended(
        &mut self,
        base: At,
        other: At,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<At, Error> {
        let (base, other) = (self.parts.value(base), self.parts.value(other));
        let mut members = base.map(raw_members).unwrap_or_default();
        let known: HashSet<Vec<u8>> = members.iter().map(|(key, ..)| key.clone()).collect();
        let others = other.map(raw_members).unwrap_or_default();
        let lacking = others.into_iter().filter(|(key, ..)| !known.contains(key) && wanted(key));
        members.extend(lacking);
        let text = object_text(&members);
        self.parts.intern_text(text)
    }

    /// JSON text of what was made with the value's scalars in the places of its own, as deep as both
    /// have objects; `keeps` adds what else the value's objects have.
    fn assigned(&mut self, made: At, at: At, keeps: bool) -> Result<String, Error> {
        enum Piece<'a> {
            Pair(Value<'a>, Value<'a>),
            Text(String),
        }
        let (Some(made), Some(value)) = (self.parts.value(made), self.parts.value(at)) else {
            return Ok("null".to_owned());
        };
        let is_container = |value: Value<'_>| value.is_object() || value.is_array();
        let mut out = String::new();
        let mut steps = 0;
        let mut work = vec![Piece::Pair(made, value)];
        while let Some(piece) = work.pop() {
            steps += 1;
            let (made, value) = match piece {
                Piece::Text(text) => {
                    out += &text;
                    continue;
                }
                Piece::Pair(made, value) => (made, value),
            };
            if !is_container(made) && !is_container(value) {
                out += value.raw();
                continue;
            }
            if !made.is_object() || !value.is_object() {
                out += made.raw();
                continue;
            }
            let given: HashMap<Vec<u8>, Value<'_>> =
                value.members().map(|(name, value)| (name.to_wtf8().into_owned(), value)).collect();
            let mut pieces = Vec::new();
            let mut known = HashSet::new();
            for (key, name, made_member) in pairs(made) {
                pieces.push((
                    name,
                    match given.get(&key) {
                        Some(&value) => Piece::Pair(made_member, value),
                        None => Piece::Text(made_member.raw().to_owned()),
                    },
                ));
                known.insert(key);
            }
            if keeps {
                let more = pairs(value).into_iter().filter(|(key, ..)| !known.contains(key));
                pieces.extend(
                    more.map(|(_, name, value)| (name, Piece::Text(value.raw().to_owned()))),
                );
            }
            steps += pieces.len() as u64;
            out.push('{');
            work.push(Piece::Text("}".to_owned()));
            let last = pieces.len().saturating_sub(1);
            for (index, (name, piece)) in pieces.into_iter().enumerate().rev() {
                work.push(if index < last {
                    Piece::Text(",".to_owned())
                } else {
                    Piece::Text(String::new())
                });
                work.push(piece);
                work.push(Piece::Text(format!("{name}:")));
            }
        }
        self.count(steps)?;
        Ok(out)
    }

    /// Joins what was made for the branches of an intersection.
    fn join(&mut self, node: TypeId, made: &[PartId]) -> Result<PartId, Error> {
        let mut members: Vec<(Vec<u8>, Box<str>, String)> = Vec::new();
        let mut scalar = None;
        for &part in made {
            let at = self.parts.intern(part)?;
            let Some(value) = self.parts.value(at) else { continue };
            if !value.is_object() && !value.is_array() && !value.is_null() {
                scalar = Some(at);
                members.clear();
                continue;
            }
            scalar = None;
            for (key, name, text) in raw_members(value) {
                match members.iter_mut().find(|(known, ..)| *known == key) {
                    Some(member) => member.2 = text,
                    None => members.push((key, name, text)),
                }
            }
        }
        let at = match scalar {
            Some(at) => at,
            None => self.parts.intern_text(object_text(&members))?,
        };
        if self.has(node, Some(at))? {
            return Ok(self.parts.add(Part::Given(at)));
        }
        let found = self.get(node)?;
        Err(self.impossible(found))
    }
}

fn element(index: usize, work: Work, quiet: bool) -> Task {
    Task { token: Some(index.to_string().into()), work, quiet }
}

fn making(node: TypeId, token: Option<Box<str>>) -> Task {
    Task { token, work: Work::Make(node), quiet: true }
}

/// The name that a JSON text with quotes stands for, as a token of a path.
fn name_of(quoted: &str) -> Box<str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    if !inner.contains('\\') {
        return inner.into();
    }
    let text = quoted.as_bytes();
    let tape = crate::json::read(text, crate::json::Limits::depth(0));
    let name = tape.ok().and_then(|tape| Some(tape.root(text).text()?.to_str().into_owned()));
    name.unwrap_or_default().into()
}

fn pairs(value: Value<'_>) -> Vec<(Vec<u8>, Box<str>, Value<'_>)> {
    let last: HashMap<Vec<u8>, Value<'_>> =
        value.members().map(|(name, value)| (name.to_wtf8().into_owned(), value)).collect();
    members_of(value)
        .into_iter()
        .filter_map(|(key, name, _)| last.get(&key).copied().map(|value| (key, name, value)))
        .collect()
}

fn raw_members(value: Value<'_>) -> Vec<(Vec<u8>, Box<str>, String)> {
    pairs(value).into_iter().map(|(key, name, value)| (key, name, value.raw().to_owned())).collect()
}

fn object_text(members: &[(Vec<u8>, Box<str>, String)]) -> String {
    let members: Vec<String> =
        members.iter().map(|(_, name, text)| format!("{name}:{text}")).collect();
    format!("{{{}}}", members.join(","))
}

/// A key that equal scalars share; none for a container.
fn scalar_key(parts: &Parts<'_>, id: PartId) -> Option<Vec<u8>> {
    let value = match parts.part(id) {
        Part::Text(text) => {
            let is_container = text.starts_with(['{', '[']);
            return (!is_container).then(|| key_of_text(text));
        }
        _ => parts.given(id)?,
    };
    match value.kind() {
        JsonKind::Object | JsonKind::Array => None,
        JsonKind::String => {
            let mut key = b"\"".to_vec();
            key.extend_from_slice(&value.text()?.to_wtf8());
            Some(key)
        }
        _ => Some(key_of_text(value.raw())),
    }
}

/// The key of a scalar's text: numbers by the double they are, strings without their last quote.
fn key_of_text(text: &str) -> Vec<u8> {
    if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return number::double(text).to_bits().to_be_bytes().to_vec();
    }
    text.strip_suffix('"').unwrap_or(text).as_bytes().to_vec()
}
