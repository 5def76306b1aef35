//! Which nodes an instruction leads to.

use crate::schema::error::SchemaError;
use crate::schema::program::{NO_NODE, NodeId, Op, Program, Span};
use crate::table::{Set, Table};

use super::build::Build;
use super::lint;
use super::resources::Unresolved;

/// A reference longer than this is not told in errors.
const MAX_TARGET: usize = 512;

/// The instructions of a span.
pub(super) fn ops(program: &Program, span: Span) -> &[Op] {
    program.ops.get(span.start as usize..span.end as usize).unwrap_or(&[])
}

/// The nodes that a node applies to its own value, or may apply.
pub(super) fn in_place(program: &Program, id: NodeId) -> Vec<NodeId> {
    let mut found = in_place_always(program, id);
    for &op in ops(program, program.node(id).full) {
        if let Op::DynamicReference(index) = op {
            let name = program.dynamics.get(index as usize).and_then(|op| op.name);
            let candidates = name.and_then(|name| program.dynamic_names.get(name as usize));
            found.extend(candidates.into_iter().flatten().map(|candidate| candidate.1));
        }
    }
    found
}

/// The same without the candidates of dynamic references.
fn in_place_always(program: &Program, id: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    for &op in ops(program, program.node(id).full) {
        match op {
            Op::AllOf(span) | Op::AnyOf(span) | Op::OneOf(span) => {
                found.extend_from_slice(program.list(span));
            }
            Op::Not(node) | Op::Reference(node) => found.push(node),
            Op::If(index) => {
                if let Some(op) = program.ifs.get(index as usize) {
                    found.extend([op.condition, op.then, op.otherwise]);
                }
            }
            Op::Dependencies(index) => {
                if let Some(op) = program.dependencies.get(index as usize) {
                    found.extend(op.rules.iter().map(|rule| rule.node));
                }
            }
            Op::DynamicReference(index) => {
                found.extend(program.dynamics.get(index as usize).map(|op| op.otherwise));
            }
            _ => {}
        }
    }
    found.retain(|&node| node != NO_NODE);
    found
}

/// The nodes that a node applies to members, names and elements of its value.
fn to_children(program: &Program, id: NodeId) -> Vec<NodeId> {
    let mut found = Vec::new();
    for &op in ops(program, program.node(id).full) {
        match op {
            Op::Object(index) => {
                if let Some(op) = program.objects.get(index as usize) {
                    found.extend_from_slice(&op.nodes);
                    found.extend(op.patterns.iter().map(|pattern| pattern.1));
                    found.push(op.additional);
                }
            }
            Op::Items(index) => {
                if let Some(op) = program.items.get(index as usize) {
                    found.extend_from_slice(program.list(op.prefix));
                    found.push(op.rest);
                }
            }
            Op::Contains(index) => {
                found.extend(program.contains.get(index as usize).map(|op| op.node));
            }
            Op::PropertyNames(node)
            | Op::UnevaluatedItems(node)
            | Op::UnevaluatedProperties(node) => found.push(node),
            _ => {}
        }
    }
    found.retain(|&node| node != NO_NODE);
    found
}

/// Fails on the first reference that leads nowhere and that a judgement may meet. Others are
/// problems only.
///
/// # Errors
/// `unresolved_ref`.
pub(super) fn check_references(
    build: &mut Build,
    unresolved: Vec<Unresolved>,
) -> Result<(), SchemaError> {
    if unresolved.is_empty() {
        return Ok(());
    }
    let reached = reached(&build.program);
    let needed = |entry: &Unresolved| reached.get(entry.node as usize) == Some(&true);
    if let Some(entry) = unresolved.iter().filter(|entry| needed(entry)).min_by_key(|e| e.node) {
        let at = build.pointer(entry.place.document, entry.place.position);
        let target = Some(entry.target.clone()).filter(|target| target.len() <= MAX_TARGET);
        return Err(SchemaError { target, ..SchemaError::new("unresolved_ref", at) });
    }
    for entry in unresolved {
        lint::unused_reference(build, entry.place);
    }
    Ok(())
}

/// Which nodes a judgement may meet. A dynamic reference leads to an anchor only once something
/// else of its resource was met.
fn reached(program: &Program) -> Vec<bool> {
    let mut reached = vec![false; program.nodes.len()];
    let mut entered = Set::new();
    let mut waiting: Table<u32, Vec<NodeId>> = Table::new();
    let mut work = vec![program.root];
    while let Some(id) = work.pop() {
        let Some(entry) = reached.get_mut(id as usize) else { continue };
        if std::mem::replace(entry, true) {
            continue;
        }
        let resource = program.node(id).resource;
        if entered.insert(resource) {
            work.extend(waiting.get_mut(&resource).map(std::mem::take).unwrap_or_default());
        }
        for &op in ops(program, program.node(id).full) {
            let Op::DynamicReference(index) = op else { continue };
            let name = program.dynamics.get(index as usize).and_then(|op| op.name);
            let candidates = name.and_then(|name| program.dynamic_names.get(name as usize));
            for &(resource, node) in candidates.into_iter().flatten() {
                match entered.contains(&resource) {
                    true => work.push(node),
                    false => match waiting.get_mut(&resource) {
                        Some(list) => list.push(node),
                        None => drop(waiting.insert(resource, vec![node])),
                    },
                }
            }
        }
        work.extend(in_place_always(program, id));
        work.extend(to_children(program, id));
    }
    reached
}
