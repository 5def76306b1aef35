//! Keywords over the members of an object.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::json::Value;
use crate::schema::error::SchemaError;
use crate::schema::names::NameTable;
use crate::schema::pattern::points_of;
use crate::schema::program::{DependenciesOp, Dependency, NO_NODE, NodeId, ObjectOp, Op};

use super::assertions::{count, names, pattern};
use super::build::Build;
use super::shape::Keyword;
use super::subject::Subject;

/// Counts, the family of `properties`, `propertyNames`, dependencies.
pub(super) fn objects(build: &mut Build, subject: &mut Subject) -> Result<(), SchemaError> {
    let mut ops = Vec::new();
    if let Some(least) = count(build, subject, Keyword::MinProperties)? {
        ops.push(Op::MinProperties(least));
    }
    if let Some(most) = count(build, subject, Keyword::MaxProperties)? {
        ops.push(Op::MaxProperties(most));
    }
    ops.extend(object(build, subject)?);
    if let Some(node) = subject.keyword_node(build, Keyword::PropertyNames)? {
        ops.push(Op::PropertyNames(node));
    }
    for keyword in [Keyword::DependentRequired, Keyword::DependentSchemas, Keyword::Dependencies] {
        ops.extend(dependencies(build, subject, keyword)?);
    }
    subject.ops.extend(ops);
    Ok(())
}

/// Names with a slot each, in order of first mention.
#[derive(Default)]
struct Slots<'a> {
    names: Vec<Cow<'a, [u8]>>,
    places: HashMap<Cow<'a, [u8]>, u32>,
}

impl<'a> Slots<'a> {
    fn slot(&mut self, name: Cow<'a, [u8]>) -> u32 {
        if let Some(&slot) = self.places.get(&name) {
            return slot;
        }
        let slot = self.names.len() as u32;
        self.places.insert(name.clone(), slot);
        self.names.push(name);
        slot
    }
}

fn object(build: &mut Build, subject: &Subject) -> Result<Option<Op>, SchemaError> {
    let present = [
        Keyword::Properties,
        Keyword::Required,
        Keyword::PatternProperties,
        Keyword::AdditionalProperties,
    ];
    if !present.iter().any(|&keyword| subject.has(keyword)) {
        return Ok(None);
    }
    let mut slots = Slots::default();
    let mut nodes: Vec<NodeId> = Vec::new();
    if let Some(value) = subject.get(Keyword::Properties) {
        for (name, schema) in subject.members(build, value)? {
            slots.slot(name);
            nodes.push(subject.node(build, schema)?);
        }
    }
    let mut required = Vec::new();
    if let Some(value) = subject.get(Keyword::Required) {
        for name in names(build, subject, value)? {
            required.push(slots.slot(name));
        }
    }
    nodes.resize(slots.names.len(), NO_NODE);
    let mut patterns = Vec::new();
    if let Some(value) = subject.get(Keyword::PatternProperties) {
        subject.members(build, value)?;
        patterns = pattern_properties(build, subject, value)?;
    }
    let additional = subject.additional_node(build, Keyword::AdditionalProperties)?;
    let closed = subject.get(Keyword::AdditionalProperties).and_then(|value| value.as_bool());
    let bits = required.iter().filter(|&&slot| slot < 64);
    let op = ObjectOp {
        required_bits: bits.fold(0, |bits, &slot| bits | 1 << slot),
        names: NameTable::new(&slots.names),
        nodes,
        required,
        patterns,
        additional: additional.unwrap_or(NO_NODE),
        closed: closed == Some(false),
    };
    Ok(Some(build.object(op)))
}

fn pattern_properties(
    build: &mut Build,
    subject: &Subject,
    value: Value<'_>,
) -> Result<Vec<(u32, NodeId)>, SchemaError> {
    let mut patterns = Vec::new();
    for (name, schema) in subject.members(build, value)? {
        let pattern = pattern(build, subject, &points_of(&name), schema)?;
        patterns.push((pattern, subject.node(build, schema)?));
    }
    Ok(patterns)
}

/// `dependentRequired` (lists), `dependentSchemas` (schemas) or `dependencies` (either).
fn dependencies(
    build: &mut Build,
    subject: &Subject,
    keyword: Keyword,
) -> Result<Option<Op>, SchemaError> {
    let Some(value) = subject.get(keyword) else { return Ok(None) };
    let mut slots = Slots::default();
    let mut rules = Vec::new();
    for (name, demand) in subject.members(build, value)? {
        let lists = keyword == Keyword::DependentRequired
            || (keyword == Keyword::Dependencies && demand.is_array());
        let name = slots.slot(name);
        let mut rule = Dependency { name, required: Vec::new(), node: NO_NODE };
        if lists {
            for name in names(build, subject, demand)? {
                rule.required.push(slots.slot(name));
            }
        } else {
            rule.node = subject.node(build, demand)?;
        }
        rules.push(rule);
    }
    let names = NameTable::new(&slots.names);
    Ok(Some(build.dependencies(DependenciesOp { keyword: keyword.name(), names, rules })))
}
