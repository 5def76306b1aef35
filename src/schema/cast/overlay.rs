//! Intersections: what was made for one, with the value laid over it.
//!
//! Invariant: the value counts only if the whole then has the type.

use crate::error::Error;
use crate::json::Value;
use crate::table::{Set, Table};

use super::machine::Caster;
use super::types::TypeId;
use super::write::{At, Part, PartId, members_of};

impl Caster<'_> {
    /// Lays a value over what was made for an intersection: the value's members count if the whole
    /// then has the type. The loose reading keeps what else the value has.
    pub(super) fn overlay(
        &mut self,
        node: TypeId,
        made: At,
        item: Option<At>,
    ) -> Result<PartId, Error> {
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
            let declared = types.declared(node);
            self.count(declared.len() as u64)?;
            base = self.extended(base, at, |key| !declared.contains(key))?;
        }
        Ok(self.parts.add(Part::Given(base)))
    }

    /// An object with those members of another that it lacks and that are wanted.
    pub(super) fn extended(
        &mut self,
        base: At,
        other: At,
        wanted: impl Fn(&[u8]) -> bool,
    ) -> Result<At, Error> {
        let (base, other) = (self.parts.value(base), self.parts.value(other));
        let mut members = base.map(raw_members).unwrap_or_default();
        let known: Set<Vec<u8>> = members.iter().map(|(key, ..)| key.clone()).collect();
        let others = other.map(raw_members).unwrap_or_default();
        let lacking = others.into_iter().filter(|(key, ..)| !known.contains(key) && wanted(key));
        members.extend(lacking);
        let text = object_text(&members);
        self.parts.intern_text(text)
    }

    /// JSON text of what was made with the value's scalars in the places of its own, as deep as both
    /// have objects; `keeps` adds what else the value's objects have.
    pub(super) fn assigned(&mut self, made: At, at: At, keeps: bool) -> Result<String, Error> {
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
            let given: Table<Vec<u8>, Value<'_>> =
                value.members().map(|(name, value)| (name.to_wtf8().into_owned(), value)).collect();
            let mut pieces = Vec::new();
            let mut known = Set::new();
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
    pub(super) fn join(&mut self, node: TypeId, made: &[PartId]) -> Result<PartId, Error> {
        let mut members: Vec<(Vec<u8>, Box<str>, String)> = Vec::new();
        let mut known: Table<Vec<u8>, usize> = Table::new();
        let mut scalar = None;
        for &part in made {
            let at = self.parts.intern(part)?;
            let Some(value) = self.parts.value(at) else { continue };
            if !value.is_object() && !value.is_array() && !value.is_null() {
                scalar = Some(at);
                members.clear();
                known.clear();
                continue;
            }
            scalar = None;
            for (key, name, text) in raw_members(value) {
                match known.get(&key).and_then(|&index| members.get_mut(index)) {
                    Some(member) => member.2 = text,
                    None => {
                        known.insert(key.clone(), members.len());
                        members.push((key, name, text));
                    }
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

fn pairs(value: Value<'_>) -> Vec<(Vec<u8>, Box<str>, Value<'_>)> {
    let last: Table<Vec<u8>, Value<'_>> =
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
