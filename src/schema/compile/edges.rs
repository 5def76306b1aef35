//! Which nodes an instruction leads to.

use crate::schema::error::SchemaError;
use crate::schema::program::{NO_NODE, NodeId, Op, Program, Span};

use super::build::Build;
use super::lint;
use super::resources::Unresolved;

/// A reference longer than this is not told in errors.
const MAX_TARGET: usize = 512;

/// The instructions of a span.
pub(super) fn ops(program: &Program, span: Span) -> &[Op] {
    program.ops.get(span.start as usize..span.end as usize).unwrap_or(&[])
}

/// The nodes that a node applies to its own value.
pub(super) fn in_place(program: &Program, id: NodeId) -> Vec<NodeId> {
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
                if let Some(op) = program.dynamics.get(index as usize) {
                    found.push(op.otherwise);
                    found.extend(op.candidates.iter().map(|candidate| candidate.1));
                }
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
    let program = &build.program;
    let mut reached = vec![false; program.nodes.len()];
    let mut work = vec![program.root];
    while let Some(id) = work.pop() {
        let Some(entry) = reached.get_mut(id as usize) else { continue };
        if !std::mem::replace(entry, true) {
            work.extend(in_place(program, id));
            work.extend(to_children(program, id));
        }
    }
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
