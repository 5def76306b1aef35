//! Keywords over the members of an object.

use crate::json::Value;
use crate::schema::error::SchemaError;
use crate::schema::names::NameTable;
use crate::schema::options::Dialect;
use crate::schema::pattern::points_of;
use crate::schema::program::{DependenciesOp, Dependency, NO_NODE, NodeId, ObjectOp, Op};

use super::assertions::{count, names, pattern};
use super::build::Build;
use super::shape::{Keyword, KeywordSet};
use super::subject::Subject;

/// Up to this many names are compared one by one.
const FEW_NAMES: usize = 16;

/// What this file compiles.
const OBJECTS: KeywordSet = KeywordSet::of(&[
    Keyword::MinProperties,
    Keyword::MaxProperties,
    Keyword::Properties,
    Keyword::Required,
    Keyword::PatternProperties,
    Keyword::AdditionalProperties,
    Keyword::PropertyNames,
    Keyword::DependentRequired,
    Keyword::DependentSchemas,
    Keyword::Dependencies,
]);

/// Counts, the family of `properties`, `propertyNames`, dependencies.
pub(super) fn objects(build: &mut Build, subject: &mut Subject) -> Result<(), SchemaError> {
    if !subject.has_any(OBJECTS) {
        return Ok(());
    }
    let mut ops = std::mem::take(&mut subject.ops);
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
    subject.ops = ops;
    Ok(())
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
    let mut slots = NameTable::default();
    let mut nodes: Vec<NodeId> = Vec::new();
    if let Some(value) = subject.get(Keyword::Properties) {
        if !value.is_object() {
            return Err(subject.invalid(build, value));
        }
        slots.reserve(value.len() as usize);
        let mut schemas: Vec<Value<'_>> = Vec::with_capacity(value.len() as usize);
        for (name, schema) in value.members() {
            // The last of repeated names counts.
            match schemas.get_mut(slots.insert(&name.to_wtf8()) as usize) {
                Some(earlier) => *earlier = schema,
                None => schemas.push(schema),
            }
        }
        nodes.reserve(schemas.len());
        for schema in schemas {
            nodes.push(subject.node(build, schema)?);
        }
    }
    let mut required = Vec::new();
    if let Some(value) = subject.get(Keyword::Required) {
        required = slots_of(build, subject, value, &mut slots)?;
    }
    nodes.resize(slots.len(), NO_NODE);
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
        names: slots,
        nodes,
        required,
        patterns,
        additional: additional.unwrap_or(NO_NODE),
        closed: closed == Some(false),
    };
    Ok(Some(build.object(op)))
}

/// The slots of a list of distinct names.
fn slots_of(
    build: &Build,
    subject: &Subject,
    value: Value<'_>,
    slots: &mut NameTable,
) -> Result<Vec<u32>, SchemaError> {
    if value.len() as usize > FEW_NAMES || !value.is_array() {
        let names = names(build, subject, value)?;
        return Ok(names.iter().map(|name| slots.insert(name)).collect());
    }
    if value.is_empty() && subject.dialect() == Dialect::Draft4 {
        return Err(subject.invalid(build, value));
    }
    let mut found = Vec::with_capacity(value.len() as usize);
    for entry in value.elements() {
        let slot = entry.text().map(|name| slots.insert(&name.to_wtf8()));
        match slot.filter(|slot| !found.contains(slot)) {
            Some(slot) => found.push(slot),
            None => return Err(subject.invalid(build, entry)),
        }
    }
    Ok(found)
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
    let mut slots = NameTable::default();
    let mut rules = Vec::new();
    for (name, demand) in subject.members(build, value)? {
        let lists = keyword == Keyword::DependentRequired
            || (keyword == Keyword::Dependencies && demand.is_array());
        let name = slots.insert(&name);
        let mut rule = Dependency { name, required: Vec::new(), node: NO_NODE };
        if lists {
            for name in names(build, subject, demand)? {
                rule.required.push(slots.insert(&name));
            }
        } else {
            rule.node = subject.node(build, demand)?;
        }
        rules.push(rule);
    }
    let op = DependenciesOp { keyword: keyword.name(), names: slots, rules };
    Ok(Some(build.dependencies(op)))
}
