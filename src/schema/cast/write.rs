//! What casting makes: values that borrow what was there and own what is new, and their JSON text.
//!
//! Invariant: parts are added and never changed, and a part refers to earlier ones only, so that
//! writing ends. Both are iterative. What is made is counted in bytes against one bound.

use crate::error::{Code, Error, Facts};
use crate::json::{Limits, Tape, Text, Value, read};

use super::super::program::{Place, Program};

/// Index of a [`Part`].
pub(super) type PartId = usize;

/// A value of one of the texts at hand.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct At {
    pub(super) source: u32,
    pub(super) position: u32,
}

/// A value that casting made.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// A value as it was given.
    Given(At),
    /// A value of the schema: a default, a constant.
    Schema(Place),
    /// JSON text of a scalar or an empty container.
    Text(Box<str>),
    Array(Vec<PartId>),
    /// Names as they stand in a text, quotes included.
    Object(Vec<(Box<str>, PartId)>),
    /// No value at all.
    Absent,
}

/// A JSON text and its tape.
pub(super) struct Source {
    pub(super) bytes: Vec<u8>,
    pub(super) tape: Tape,
}

/// The texts and parts of one cast.
pub(super) struct Parts<'p> {
    program: &'p Program,
    sources: Vec<Source>,
    parts: Vec<Part>,
    /// Bytes that may still be made.
    left: usize,
    bound: usize,
}

/// A name as JSON text.
pub(super) fn quoted(name: Text<'_>) -> Box<str> {
    format!("\"{}\"", name.raw()).into()
}

impl<'p> Parts<'p> {
    /// Starts with the value that is cast.
    pub(super) fn new(program: &'p Program, value: Source, bound: usize) -> Self {
        Parts { program, sources: vec![value], parts: Vec::new(), left: bound, bound }
    }

    /// Counts what is about to be made.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Error> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let facts = Facts { limit: Some(self.bound as u64), ..Facts::default() };
                Err(Error::new(Code::Limit, "cast_limit").facts(facts))
            }
        }
    }

    /// Bytes that were made, or are about to be.
    pub(super) fn made(&self) -> usize {
        self.bound - self.left
    }

    pub(super) fn add(&mut self, part: Part) -> PartId {
        self.parts.push(part);
        self.parts.len() - 1
    }

    pub(super) fn part(&self, id: PartId) -> &Part {
        self.parts.get(id).unwrap_or(&Part::Absent)
    }

    pub(super) fn source(&self, at: At) -> Option<&Source> {
        self.sources.get(at.source as usize)
    }

    pub(super) fn value(&self, at: At) -> Option<Value<'_>> {
        let source = self.source(at)?;
        Some(source.tape.value(&source.bytes, at.position))
    }

    /// The value of a part that is no container made here.
    pub(super) fn given(&self, id: PartId) -> Option<Value<'_>> {
        match self.part(id) {
            Part::Given(at) => self.value(*at),
            Part::Schema(place) => self.program.value(*place),
            _ => None,
        }
    }

    /// Makes a part a text of its own, so that it can be judged and cast as a value.
    pub(super) fn intern(&mut self, id: PartId) -> Result<At, Error> {
        let text = self.text(id);
        self.intern_text(text)
    }

    pub(super) fn intern_text(&mut self, text: String) -> Result<At, Error> {
        self.spend(text.len())?;
        let bytes = text.into_bytes();
        let limits = Limits::depth(self.program.max_depth().saturating_add(1));
        let tape = read(&bytes, limits).map_err(|_| Error::new(Code::Limit, "cast_limit"))?;
        self.sources.push(Source { bytes, tape });
        Ok(At { source: (self.sources.len() - 1) as u32, position: 0 })
    }

    /// JSON text of a part. What is absent in an array is `null` there, as in `JSON.stringify`.
    pub(super) fn text(&self, id: PartId) -> String {
        enum Work<'a> {
            Part(PartId),
            Text(&'a str),
        }
        let mut out = String::new();
        let mut work = vec![Work::Part(id)];
        while let Some(next) = work.pop() {
            let id = match next {
                Work::Text(text) => {
                    out += text;
                    continue;
                }
                Work::Part(id) => id,
            };
            match self.part(id) {
                Part::Given(_) | Part::Schema(_) => {
                    out += self.given(id).map_or("null", Value::raw);
                }
                Part::Text(text) => out += text,
                Part::Absent => out += "null",
                Part::Array(elements) => {
                    out.push('[');
                    work.push(Work::Text("]"));
                    for (index, &element) in elements.iter().enumerate().rev() {
                        work.push(Work::Part(element));
                        if index > 0 {
                            work.push(Work::Text(","));
                        }
                    }
                }
                Part::Object(members) => {
                    out.push('{');
                    work.push(Work::Text("}"));
                    let present = |id: PartId| !matches!(self.part(id), Part::Absent);
                    let mut members =
                        members.iter().filter(|(_, member)| present(*member)).rev().peekable();
                    while let Some((name, member)) = members.next() {
                        work.push(Work::Part(*member));
                        work.push(Work::Text(":"));
                        work.push(Work::Text(name));
                        if members.peek().is_some() {
                            work.push(Work::Text(","));
                        }
                    }
                }
            }
        }
        out
    }
}

/// The members of an object, each name once: where the last of a repeated name stands in the list
/// is where the first did.
pub(super) fn members_of(value: Value<'_>) -> Vec<(Vec<u8>, Box<str>, u32)> {
    let mut members: Vec<(Vec<u8>, Box<str>, u32)> = Vec::new();
    let mut known = crate::table::Table::new();
    for (name, value) in value.members() {
        let key = name.to_wtf8().into_owned();
        match known.get(&key).and_then(|&index: &usize| members.get_mut(index)) {
            Some(member) => member.2 = value.position(),
            None => {
                known.insert(key.clone(), members.len());
                members.push((key, quoted(name), value.position()));
            }
        }
    }
    members
}
