//! The members and elements of a container that does not have its type: which are cast, kept, filled
//! in, cut and removed.
//!
//! Invariant: nothing is planned for a container before its cost is counted.

use crate::error::Error;
use crate::json::{Limits, Value, read};
use crate::table::{Set, Table};

use super::ChangeKind;
use super::machine::{Caster, Finish, PLANNED, Task, Work};
use super::types::{Array, Member, Rest, Type, TypeId};
use super::write::{At, PartId, members_of};

impl Caster<'_> {
    pub(super) fn visit_object(
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
            let by_key: Table<&[u8], u32> =
                given.iter().map(|(key, _, position)| (key.as_slice(), *position)).collect();
            for member in members {
                let item = by_key.get(member.key.as_slice()).copied().map(at_member);
                if item.is_some() || member.required {
                    add(&member.name, Work::Visit(member.node, item));
                }
            }
            let declared: Set<&[u8]> = members.iter().map(|member| member.key.as_slice()).collect();
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
            let declared: Table<&[u8], TypeId> =
                members.iter().map(|member| (member.key.as_slice(), member.node)).collect();
            for (key, name, position) in &given {
                let item = at_member(*position);
                let work = match (declared.get(key.as_slice()), rest) {
                    (Some(&node), _) | (None, Rest::Typed(node)) => Work::Visit(node, Some(item)),
                    (None, Rest::Open | Rest::Opaque) => Work::Keep(item),
                };
                add(name, work);
            }
            let present: Set<&[u8]> = given.iter().map(|(key, ..)| key.as_slice()).collect();
            let missing = members
                .iter()
                .filter(|member| member.required && !present.contains(member.key.as_slice()));
            for member in missing {
                add(&member.name, Work::Visit(member.node, None));
            }
        }
        self.push(tasks, Finish::Object(names), quiet, false)
    }

    pub(super) fn visit_record(
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

    pub(super) fn visit_array(
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

    pub(super) fn visit_tuple(
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
}

fn element(index: usize, work: Work, quiet: bool) -> Task {
    Task { token: Some(index.to_string().into()), work, quiet }
}

/// The name that a JSON text with quotes stands for, as a token of a path.
fn name_of(quoted: &str) -> Box<str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    if !inner.contains('\\') {
        return inner.into();
    }
    let text = quoted.as_bytes();
    let tape = read(text, Limits::depth(0));
    let name = tape.ok().and_then(|tape| Some(tape.root(text).text()?.to_str().into_owned()));
    name.unwrap_or_default().into()
}
