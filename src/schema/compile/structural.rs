//! Compiling under `keywords: "structural"`: `type`, `required`, `properties`, `items`, `enum`.
//!
//! Whatever does not have the expected form is ignored; on an object nothing fails. Source rows
//! R32 to R38.

use crate::json::{Numbers, Value, pointer};
use crate::schema::SchemaError;
use crate::schema::names::NameTable;
use crate::schema::program::{ItemsOp, NO_NODE, NodeId, ObjectOp, Op, Span, TypeSet, blank, kinds};

use super::build::Build;
use super::subject::{Member, distinct};

/// Compiles the subschema of a node.
pub(super) fn compile_node(build: &mut Build, id: NodeId) -> Result<(), SchemaError> {
    let node = build.node(id);
    let Some(document) = build.document(node.document) else { return Ok(()) };
    let schema = document.value(node.position);
    let mut kinds = kinds::ALL;
    let mut ops = Vec::new();
    if let Some(members) = schema.get("enum").filter(|value| value.is_array()) {
        let (op, allowed) = build.enumeration("enum", node.document, members, Numbers::Doubles);
        kinds &= allowed;
        ops.push(op);
    }
    if let Some((op, allowed)) = schema.get("type").and_then(|value| types(build, value)) {
        kinds &= allowed;
        ops.push(op);
    }
    if let Some(op) = object(build, id, schema) {
        ops.push(op);
    }
    if let Some(items) = schema.get("items").filter(|value| value.is_object()) {
        let rest = build.add_node(blank(node.document, items.position(), node.resource))?;
        let op = ItemsOp { prefix: Span::default(), rest, rest_keyword: "items" };
        ops.push(build.items(op));
    }
    build.finish_node(id, kinds, &ops);
    Ok(())
}

/// The known names of `type`, a string or a list; `None` if there is none.
fn types(build: &mut Build, value: Value<'_>) -> Option<(Op, u8)> {
    let one = std::iter::once(value).filter(|value| value.is_string());
    let mut names = Vec::new();
    let mut kinds = 0;
    for name in one.chain(value.elements()) {
        if let Some((kind, name)) = name.as_str().and_then(|name| kinds::of_name(&name)) {
            kinds |= kind;
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() { None } else { Some((build.types(TypeSet { names, kinds }), kinds)) }
}

/// `required` and `properties`.
fn object(build: &mut Build, id: NodeId, schema: Value<'_>) -> Option<Op> {
    let node = build.node(id);
    let required = schema.get("required").filter(|value| value.is_array());
    let properties = schema.get("properties").filter(|value| value.is_object());
    if required.is_none() && properties.is_none() {
        return None;
    }
    let mut names = NameTable::default();
    let mut nodes: Vec<NodeId> = Vec::new();
    for (name, property) in ordered(properties) {
        if property.is_object() {
            let child = build.add_node(blank(node.document, property.position(), node.resource));
            names.insert(&name);
            nodes.push(child.unwrap_or(NO_NODE));
        }
    }
    let mut wanted = Vec::new();
    for name in required.into_iter().flat_map(Value::elements).filter_map(Value::text) {
        wanted.push(names.insert(&name.to_wtf8()));
    }
    nodes.resize(names.len(), NO_NODE);
    let op = ObjectOp {
        required_bits: wanted
            .iter()
            .filter(|&&slot| slot < 64)
            .fold(0, |bits, slot| bits | 1 << slot),
        names,
        nodes,
        required: wanted,
        patterns: Vec::new(),
        additional: NO_NODE,
        closed: false,
    };
    Some(build.object(op))
}

/// The members in the order in which JavaScript visits them: integer-like names ascending, then
/// the others by first appearance; of repeated ones the last value.
fn ordered<'a>(object: Option<Value<'a>>) -> Vec<Member<'a>> {
    let mut members = object.map(distinct).unwrap_or_default();
    // Stable: names that are no index keep their order behind those that are.
    let index = |name: &[u8]| array_index(name).unwrap_or(u64::MAX);
    crate::sorted::sort_by(&mut members, |one, other| index(&one.0).cmp(&index(&other.0)));
    members
}

/// The value of a name that JavaScript takes for an array index.
fn array_index(name: &[u8]) -> Option<u64> {
    let name = std::str::from_utf8(name).ok()?;
    let index = pointer::index(name)? as u64;
    (index < u32::MAX as u64).then_some(index)
}
