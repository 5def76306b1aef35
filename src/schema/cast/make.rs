//! Makes values up: the default of a type, else the least that has it.

use crate::error::Error;

use super::super::program::Place;
use super::machine::{Caster, Finish, MAX_MADE_DEPTH, PLANNED, Task, Work};
use super::types::{Kind, Member, TypeId, not_castable};
use super::write::{Part, PartId};

impl Caster<'_> {
    /// Makes a value of a type.
    pub(super) fn make(&mut self, node: TypeId) -> Result<Option<PartId>, Error> {
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
                    let tasks = parts.iter().map(|&part| making(part)).collect();
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

    pub(super) fn schema_value(&mut self, place: Place) -> Result<Option<PartId>, Error> {
        let length = self.source.value(place).map_or(0, |value| value.raw().len());
        self.parts.spend(length)?;
        Ok(Some(self.parts.add(Part::Schema(place))))
    }

    pub(super) fn make_object(&mut self, members: &[Member]) -> Result<Option<PartId>, Error> {
        let required = || members.iter().filter(|member| member.required);
        self.parts.spend(required().map(|member| member.name.len() + PLANNED).sum())?;
        let names = required().map(|member| member.name.clone()).collect();
        let tasks = required().map(|member| making(member.node)).collect();
        self.push(tasks, Finish::Object(names), true, true)
    }

    pub(super) fn make_array(&mut self, parts: &[TypeId]) -> Result<Option<PartId>, Error> {
        let tasks = parts.iter().map(|&part| making(part)).collect();
        self.push(tasks, Finish::Array, true, true)
    }
}

fn making(node: TypeId) -> Task {
    Task { token: None, work: Work::Make(node), quiet: true }
}
