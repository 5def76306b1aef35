//! Fills the absent members that declare a default.
//!
//! Follows what applies to a value wherever it applies: `properties`, `items`, `allOf`, references,
//! the branch of a choice that the value satisfies as it came. Invariants: nothing that is there is
//! touched; of several defaults for one member the first met counts; a default that is filled in is
//! filled in turn, but never by the schema that it already came from, so filling ends. Iterative.

use std::borrow::Cow;
use std::task::Poll;

use crate::error::Error;
use crate::json::{Elements, Members, Value, pointer};
use crate::table::{Set, Table};

use super::super::judge::Judge;
use super::super::outcome::Verdict;
use super::super::program::{NodeId, Place, Program};
use super::types::{at, is_lone_reference, nodes_by_place, reference};
use super::write::{At, Parts, quoted};
use super::{Change, ChangeKind, Changed, Steps};

/// References and branches followed to find the default of one member.
const MAX_DEFAULT_SEARCH: usize = 64;

/// Steps for looking at one member or schema.
const A_STEP: u64 = 4;

/// Steps for filling a default in.
const A_DEFAULT: u64 = 64;

/// A default that was filled in: a text of its own.
struct Home {
    /// The text that it was filled into, and the schema it came from.
    parent: u32,
    schema: Place,
}

/// A member that was filled in.
struct Filled {
    /// The name as it stands in the schema, quotes included.
    name: Box<str>,
    /// The text of its value.
    source: u32,
}

struct Filler<'p> {
    program: &'p Program,
    nodes: Table<(u32, u32), NodeId>,
    parts: Parts<'p>,
    /// Schemas that apply to values, still to be read.
    open: Vec<(At, Place)>,
    seen: Set<(At, u32, u32)>,
    /// What is filled into which object: name and text.
    filled: Table<At, Vec<Filled>>,
    /// The same by name.
    named: Table<(At, Vec<u8>), u32>,
    /// One for each text but the first.
    homes: Vec<Home>,
    /// The object and the name of each member filled in; the text of its value is the next one.
    made: Vec<(At, Vec<u8>)>,
    steps: Steps,
}

pub(super) fn fill(
    program: &Program,
    parts: Parts<'_>,
    steps: Steps,
) -> Result<Option<Changed>, Error> {
    let root = program.node(program.root);
    let mut filler = Filler {
        program,
        nodes: nodes_by_place(program),
        parts,
        open: Vec::new(),
        seen: Set::new(),
        filled: Table::new(),
        named: Table::new(),
        homes: Vec::new(),
        made: Vec::new(),
        steps,
    };
    let start = At { source: 0, position: 0 };
    filler.ask(start, Place { document: root.document, position: root.position });
    while let Some((value, schema)) = filler.open.pop() {
        filler.apply(value, schema)?;
    }
    if filler.made.is_empty() {
        return Ok(None);
    }
    let changes = filler.changes()?;
    Ok(Some(Changed { text: Some(filler.text(start)), changes }))
}

impl<'p> Filler<'p> {
    fn ask(&mut self, value: At, schema: Place) {
        if self.seen.insert((value, schema.document, schema.position)) {
            self.open.push((value, schema));
        }
    }

    fn count(&mut self, steps: u64) -> Result<(), Error> {
        self.steps.earn(self.parts.made());
        self.steps.count(steps.saturating_mul(A_STEP))
    }

    /// Whether the value satisfies the schema; none if that cannot be judged.
    fn satisfies(&mut self, value: At, schema: Place) -> Result<Option<bool>, Error> {
        let node = self.nodes.get(&(schema.document, schema.position)).copied();
        let (Some(node), Some(source)) = (node, self.parts.source(value)) else {
            return Ok(None);
        };
        let mut judge = Judge::of_node(self.program, node, value.position);
        let steps = &mut self.steps.left;
        match judge.step(self.program, &source.bytes, &source.tape, steps) {
            Poll::Ready(outcome) => Ok(match outcome.verdict {
                Verdict::Valid => Some(true),
                Verdict::Invalid => Some(false),
                Verdict::Unknown => None,
            }),
            Poll::Pending => Err(self.steps.spent()),
        }
    }

    /// Reads one schema for one value. Later ones are pushed so that they come in order.
    fn apply(&mut self, value: At, place: Place) -> Result<(), Error> {
        self.count(1)?;
        let program = self.program;
        let Some(schema) = program.value(place).filter(|schema| schema.is_object()) else {
            return Ok(());
        };
        let asked = self.open.len();
        if let Some(target) = reference(program, &self.nodes, place) {
            self.ask(value, target);
        }
        if schema.get("$ref").is_none() || !is_lone_reference(program.dialect) {
            self.members(value, place, schema)?;
            self.elements(value, place, schema)?;
            self.branches(value, place, schema)?;
        }
        if let Some(asked) = self.open.get_mut(asked..) {
            asked.reverse();
        }
        Ok(())
    }

    fn members(&mut self, value: At, place: Place, schema: Value<'p>) -> Result<(), Error> {
        let Some(object) = self.parts.value(value).filter(|object| object.is_object()) else {
            return Ok(());
        };
        let members: Table<Vec<u8>, u32> = object
            .members()
            .map(|(name, member)| (name.to_wtf8().into_owned(), member.position()))
            .collect();
        self.count(members.len() as u64)?;
        let mut declared = Set::new();
        for (name, member) in schema.get("properties").into_iter().flat_map(Value::members) {
            self.count(1)?;
            let key = name.to_wtf8().into_owned();
            let member = at(place, member);
            if let Some(&position) = members.get(&key) {
                self.ask(At { position, ..value }, member);
            } else if let Some(source) = self.filled_source(value, &key) {
                self.descend(source, member);
            } else if let Some(default) = self.default_of(member)? {
                let source = self.insert(value, &key, quoted(name), member, default)?;
                self.descend(source, member);
            }
            declared.insert(key);
        }
        // Which members a pattern takes is for the engine to say; without patterns it is all others.
        let rest = schema.get("additionalProperties").filter(|rest| rest.is_object());
        if let Some(rest) = rest.filter(|_| schema.get("patternProperties").is_none()) {
            for (key, position) in members {
                if !declared.contains(&key) {
                    self.ask(At { position, ..value }, at(place, rest));
                }
            }
        }
        Ok(())
    }

    /// The text of a member that was filled in.
    fn filled_source(&self, object: At, key: &[u8]) -> Option<u32> {
        self.filled.get(&object)?;
        self.named.get(&(object, key.to_owned())).copied()
    }

    /// Applies a schema to a default that was filled in, unless the default came of it.
    fn descend(&mut self, source: u32, schema: Place) {
        let home = |source: u32| self.homes.get((source as usize).checked_sub(1)?);
        let mut outer = home(source).map_or(0, |home| home.parent);
        while let Some(found) = home(outer) {
            if found.schema == schema {
                return;
            }
            outer = found.parent;
        }
        self.ask(At { source, position: 0 }, schema);
    }

    fn insert(
        &mut self,
        object: At,
        key: &[u8],
        name: Box<str>,
        schema: Place,
        default: Value<'p>,
    ) -> Result<u32, Error> {
        self.steps.count(A_DEFAULT)?;
        let at = self.parts.intern_text(default.raw().to_owned())?;
        self.made.push((object, key.to_owned()));
        self.homes.push(Home { parent: object.source, schema });
        self.named.insert((object, key.to_owned()), at.source);
        let filled = Filled { name, source: at.source };
        match self.filled.get_mut(&object) {
            Some(list) => list.push(filled),
            None => drop(self.filled.insert(object, vec![filled])),
        }
        Ok(at.source)
    }

    /// The default that a schema declares: itself, through a reference, or in a branch of `allOf`.
    fn default_of(&mut self, schema: Place) -> Result<Option<Value<'p>>, Error> {
        let program = self.program;
        let mut open = vec![schema];
        for _ in 0..MAX_DEFAULT_SEARCH {
            let Some(place) = open.pop() else { break };
            self.count(1)?;
            let Some(found) = program.value(place) else { continue };
            let alone = found.get("$ref").is_some() && is_lone_reference(program.dialect);
            if !alone {
                if let Some(default) = found.get("default") {
                    return Ok(Some(default));
                }
                let parts: Vec<_> =
                    found.get("allOf").into_iter().flat_map(Value::elements).collect();
                open.extend(parts.into_iter().rev().map(|part| at(place, part)));
            }
            open.extend(reference(program, &self.nodes, place));
        }
        Ok(None)
    }

    fn elements(&mut self, value: At, place: Place, schema: Value<'p>) -> Result<(), Error> {
        let Some(array) = self.parts.value(value).filter(|array| array.is_array()) else {
            return Ok(());
        };
        let positions: Vec<u32> = array.elements().map(Value::position).collect();
        self.count(positions.len() as u64)?;
        let items = schema.get("items");
        let listed = items.filter(|items| items.is_array());
        let prefix = listed.or_else(|| schema.get("prefixItems")).filter(|found| found.is_array());
        let rest = match listed {
            Some(_) => schema.get("additionalItems"),
            None => items,
        };
        let mut parts = prefix.into_iter().flat_map(Value::elements);
        for position in positions {
            if let Some(schema) = parts.next().or(rest) {
                self.ask(At { position, ..value }, at(place, schema));
            }
        }
        Ok(())
    }

    /// The schemas that apply to the value in its own place.
    fn branches(&mut self, value: At, place: Place, schema: Value<'p>) -> Result<(), Error> {
        for part in schema.get("allOf").into_iter().flat_map(Value::elements) {
            self.ask(value, at(place, part));
        }
        for keyword in ["anyOf", "oneOf"] {
            for branch in schema.get(keyword).into_iter().flat_map(Value::elements) {
                if self.satisfies(value, at(place, branch))? == Some(true) {
                    self.ask(value, at(place, branch));
                    break;
                }
            }
        }
        if let Some(condition) = schema.get("if") {
            let holds = self.satisfies(value, at(place, condition))?;
            let branch = match holds {
                Some(true) => {
                    self.ask(value, at(place, condition));
                    schema.get("then")
                }
                Some(false) => schema.get("else"),
                None => None,
            };
            if let Some(branch) = branch {
                self.ask(value, at(place, branch));
            }
        }
        let object = self.parts.value(value).filter(|object| object.is_object());
        let mut present = Vec::new();
        for (name, part) in schema.get("dependentSchemas").into_iter().flat_map(Value::members) {
            let is_there = |object: Value<'_>| object.members().any(|(key, _)| key.eq_text(name));
            self.steps.count(1 + object.map_or(0, |object| u64::from(object.len())))?;
            if object.is_some_and(is_there) {
                present.push(at(place, part));
            }
        }
        for part in present {
            self.ask(value, part);
        }
        Ok(())
    }

    /// What was filled in, and where. Ways are found in one walk through each text.
    fn changes(&mut self) -> Result<Vec<Change>, Error> {
        let mut changes: Vec<Change> = Vec::with_capacity(self.made.len());
        let mut located: Table<u32, Table<u32, String>> = Table::new();
        for (object, key) in std::mem::take(&mut self.made) {
            if !located.contains_key(&object.source) {
                located.insert(object.source, self.ways(object.source));
            }
            // A text that is not the first one is the value of an earlier change.
            let outer =
                (object.source as usize).checked_sub(1).and_then(|index| changes.get(index));
            let mut path = outer.map(|outer| outer.path.clone()).unwrap_or_default();
            let ways = located.get(&object.source);
            path += ways.and_then(|ways| ways.get(&object.position)).map_or("", String::as_str);
            pointer::push(&mut path, &String::from_utf8_lossy(&key));
            self.parts.spend(path.len())?;
            changes.push(Change { path, kind: ChangeKind::Default });
        }
        Ok(changes)
    }

    /// The pointers to the objects of a text into which something was filled.
    fn ways(&self, source: u32) -> Table<u32, String> {
        enum Inside<'a> {
            Elements(std::iter::Enumerate<Elements<'a>>),
            Members(Members<'a>),
        }
        let mut ways = Table::new();
        let mut path = String::new();
        let Some(root) = self.parts.value(At { source, position: 0 }) else { return ways };
        let mut open: Vec<(Inside<'_>, usize)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(value) = next.take() {
                let at = At { source, position: value.position() };
                if self.filled.contains_key(&at) {
                    ways.insert(at.position, path.clone());
                }
                let inside = match value.is_object() {
                    true => Inside::Members(value.members()),
                    false => Inside::Elements(value.elements().enumerate()),
                };
                open.push((inside, path.len()));
            }
            let Some((inside, length)) = open.last_mut() else { return ways };
            path.truncate(*length);
            let child = match inside {
                Inside::Elements(elements) => {
                    let child = elements.find(|(_, child)| !child.is_empty() || child.is_object());
                    child.map(|(index, child)| (Cow::Owned(index.to_string()), child))
                }
                Inside::Members(members) => {
                    let child = members.find(|(_, child)| !child.is_empty() || child.is_object());
                    child.map(|(name, child)| (name.to_str(), child))
                }
            };
            match child {
                None => drop(open.pop()),
                Some((token, child)) => {
                    pointer::push(&mut path, &token);
                    next = Some(child);
                }
            }
        }
    }

    /// JSON text of a value with all that was filled into it.
    fn text(&self, start: At) -> String {
        enum Piece {
            Value(At),
            Text(String),
        }
        let mut out = String::new();
        let mut work = vec![Piece::Value(start)];
        while let Some(piece) = work.pop() {
            let at = match piece {
                Piece::Text(text) => {
                    out += &text;
                    continue;
                }
                Piece::Value(at) => at,
            };
            let Some(value) = self.parts.value(at) else { continue };
            let (open, close) = match (value.is_object(), value.is_array()) {
                (true, _) => ('{', "}"),
                (_, true) => ('[', "]"),
                _ => {
                    out += value.raw();
                    continue;
                }
            };
            let mut children: Vec<(String, At)> = Vec::new();
            let here = |value: Value<'_>| At { position: value.position(), ..at };
            children.extend(value.elements().map(|value| (String::new(), here(value))));
            let named = |name: &str| format!("{name}:");
            children
                .extend(value.members().map(|(name, value)| (named(&quoted(name)), here(value))));
            for filled in self.filled.get(&at).into_iter().flatten() {
                let value = At { source: filled.source, position: 0 };
                children.push((named(&filled.name), value));
            }
            out.push(open);
            work.push(Piece::Text(close.to_owned()));
            for (index, (name, child)) in children.into_iter().enumerate().rev() {
                work.push(Piece::Value(child));
                let comma = if index > 0 { "," } else { "" };
                work.push(Piece::Text(format!("{comma}{name}")));
            }
        }
        out
    }
}
