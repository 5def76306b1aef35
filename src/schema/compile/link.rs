//! The last pass: what each node can be judged by when nothing is explained.
//!
//! Visits nodes so that those applied to the same value come first, which finds cycles on the way:
//! a schema that applies itself to the value it is applied to says nothing and would never end.

use crate::schema::error::SchemaError;
use crate::schema::member;
use crate::schema::program::{Fast, Leaf, Node, NodeId, Op, Span, kinds};

use super::build::Build;
use super::edges::{in_place, ops};
use super::switch;

/// Instructions of a referenced node are copied into the referring one up to this many.
const MAX_INLINE: u32 = 8;

/// Instructions that may be run without a pause in between.
const MAX_LEAF: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Links the whole program.
///
/// # Errors
/// `reference_cycle`.
pub(super) fn link(build: &mut Build) -> Result<(), SchemaError> {
    count_references(build);
    let count = build.program.nodes.len();
    let mut marks = vec![Mark::New; count];
    let mut stack: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    let mut fast = Vec::new();
    for root in 0..count as NodeId {
        visit(build, &mut marks, &mut stack, root)?;
        while let Some((id, children)) = stack.last_mut() {
            let id = *id;
            match children.pop() {
                Some(child) => visit(build, &mut marks, &mut stack, child)?,
                None => {
                    stack.pop();
                    set(&mut marks, id, Mark::Done);
                    link_node(build, id, &mut fast);
                }
            }
        }
    }
    let entries = build.program.nodes.iter().map(|node| {
        let target = build.node(node.forward);
        Fast {
            kinds: target.kinds,
            leaf: match target.leaf {
                false => Leaf::Never,
                true if has_pattern(build, target.fast) => Leaf::Short,
                true => Leaf::Always,
            },
            tracks: target.tracks,
            shared: target.shared,
            id: node.forward,
            ops: target.fast,
        }
    });
    build.program.fast = entries.collect();
    member::lay_out(&mut build.program);
    Ok(())
}

fn set(marks: &mut [Mark], id: NodeId, mark: Mark) {
    if let Some(entry) = marks.get_mut(id as usize) {
        *entry = mark;
    }
}

fn visit(
    build: &Build,
    marks: &mut [Mark],
    stack: &mut Vec<(NodeId, Vec<NodeId>)>,
    id: NodeId,
) -> Result<(), SchemaError> {
    match marks.get(id as usize) {
        Some(Mark::New) => {
            set(marks, id, Mark::Open);
            stack.push((id, in_place(&build.program, id)));
            Ok(())
        }
        Some(Mark::Open) => {
            let node = build.node(id);
            Err(SchemaError::new("reference_cycle", build.pointer(node.document, node.position)))
        }
        _ => Ok(()),
    }
}

/// Marks nodes that are reached in several ways, at least one of them a reference.
fn count_references(build: &mut Build) {
    let program = &build.program;
    let mut counts = vec![0_u8; program.nodes.len()];
    let mut count = |target: NodeId| {
        if let Some(count) = counts.get_mut(target as usize) {
            *count = count.saturating_add(1);
        }
    };
    for op in &program.ops {
        match *op {
            Op::Reference(node) => count(node),
            Op::DynamicReference(index) => {
                let Some(op) = program.dynamics.get(index as usize) else { continue };
                match op.name.and_then(|name| program.dynamic_names.get(name as usize)) {
                    Some(candidates) => candidates.iter().for_each(|candidate| count(candidate.1)),
                    None => count(op.otherwise),
                }
            }
            _ => {}
        }
    }
    for (id, count) in counts.into_iter().enumerate() {
        let shared = count > 1 || (count == 1 && build.is_applied(id as NodeId));
        if let Some(node) = build.node_mut(id as NodeId) {
            node.shared = shared;
        }
    }
}

/// Makes the instructions for the verdict out of those for the explanation.
fn link_node(build: &mut Build, id: NodeId, fast: &mut Vec<Op>) {
    let node = build.node(id);
    let mut kinds = node.kinds;
    let mut tracks = false;
    fast.clear();
    for at in node.full.start..node.full.end {
        let Some(&op) = build.program.ops.get(at as usize) else { break };
        match op {
            Op::Type(_) => {}
            Op::AllOf(span) => {
                let children = build.program.list(span).to_vec();
                let mut rest = Vec::new();
                for child in children {
                    if !absorb(build, child, &mut kinds, fast) {
                        rest.push(child);
                    }
                }
                if !rest.is_empty() {
                    fast.push(Op::AllOf(build.list(&rest)));
                }
            }
            Op::Reference(target) => {
                if !absorb(build, target, &mut kinds, fast) {
                    fast.push(op);
                }
            }
            Op::AnyOf(span) => {
                let branches = nodes(build, span);
                kinds &= branches.iter().fold(0, |kinds, branch| kinds | branch.kinds);
                if !branches.iter().all(is_type_only) {
                    fast.push(switch::make(build, span, false).unwrap_or(op));
                }
            }
            Op::OneOf(span) => {
                let branches = nodes(build, span);
                let (mut any, mut overlap) = (0, 0);
                for branch in &branches {
                    overlap |= any & branch.kinds;
                    any |= branch.kinds;
                }
                kinds &= any;
                if overlap != 0 || !branches.iter().all(is_type_only) {
                    fast.push(switch::make(build, span, true).unwrap_or(op));
                }
            }
            Op::Not(child) => {
                let child = build.node(child);
                if is_type_only(&child) {
                    kinds &= !child.kinds;
                } else {
                    fast.push(op);
                }
            }
            Op::DynamicReference(index) => {
                let dynamic = build.program.dynamics.get(index as usize);
                match dynamic.filter(|op| op.name.is_none()) {
                    // Only one schema can be meant.
                    Some(op) => {
                        let target = op.otherwise;
                        if !absorb(build, target, &mut kinds, fast) {
                            fast.push(Op::Reference(target));
                        }
                    }
                    None => fast.push(op),
                }
            }
            Op::UnevaluatedItems(_) | Op::UnevaluatedProperties(_) => {
                tracks = true;
                fast.push(op);
            }
            _ => fast.push(op),
        }
    }
    fast.retain(|&op| applies_to(op) & kinds != 0);
    let leaf = fast.len() <= MAX_LEAF && fast.iter().all(|&op| is_leaf(build, op));
    let forward = match *fast.as_slice() {
        [Op::Reference(target)] => {
            let target = build.node(build.node(target).forward);
            // Which resources were entered matters to dynamic references.
            let same =
                target.kinds == kinds && (target.resource == node.resource || !build.is_dynamic());
            if same { target.forward } else { id }
        }
        _ => id,
    };
    let start = build.program.ops.len() as u32;
    build.program.ops.extend_from_slice(fast);
    let end = build.program.ops.len() as u32;
    if let Some(node) = build.node_mut(id) {
        node.kinds = kinds;
        node.fast = Span { start, end };
        node.leaf = leaf;
        node.tracks = tracks;
        node.forward = forward;
        node.shared &= !leaf;
    }
}

fn nodes(build: &Build, span: Span) -> Vec<Node> {
    build.program.list(span).iter().map(|&id| build.node(id)).collect()
}

/// Takes over what a node demands of the same value, if that is little and needs no frame.
fn absorb(build: &Build, id: NodeId, kinds: &mut u8, fast: &mut Vec<Op>) -> bool {
    let node = build.node(id);
    *kinds &= node.kinds;
    let few = node.fast.end - node.fast.start <= MAX_INLINE;
    if node.leaf && few {
        fast.extend_from_slice(ops(&build.program, node.fast));
    }
    node.leaf && few
}

/// True if a node holds for every value of its types.
fn is_type_only(node: &Node) -> bool {
    node.leaf && node.fast.start == node.fast.end
}

/// The types on which an instruction can fail or count something as evaluated.
fn applies_to(op: Op) -> u8 {
    match op {
        Op::Minimum(_)
        | Op::Maximum(_)
        | Op::ExclusiveMinimum(_)
        | Op::ExclusiveMaximum(_)
        | Op::MultipleOf(_) => kinds::NUMBER,
        Op::MinLength(_) | Op::MaxLength(_) | Op::Pattern(_) | Op::Format(_) => kinds::STRING,
        Op::MinItems(_)
        | Op::MaxItems(_)
        | Op::Unique
        | Op::Items(_)
        | Op::Contains(_)
        | Op::UnevaluatedItems(_) => kinds::ARRAY,
        Op::MinProperties(_)
        | Op::MaxProperties(_)
        | Op::Object(_)
        | Op::PropertyNames(_)
        | Op::Dependencies(_)
        | Op::UnevaluatedProperties(_) => kinds::OBJECT,
        _ => kinds::ALL,
    }
}

fn has_pattern(build: &Build, span: Span) -> bool {
    ops(&build.program, span).iter().any(|op| matches!(op, Op::Pattern(_)))
}

/// True for an assertion that is decided at once, on the value alone.
fn is_leaf(build: &Build, op: Op) -> bool {
    match op {
        Op::Enum(index) => {
            let set = build.program.enums.get(index as usize);
            set.is_some_and(|set| set.kinds & (kinds::ARRAY | kinds::OBJECT) == 0)
        }
        Op::Pattern(index) => {
            let op = build.program.patterns.get(index as usize);
            op.is_some_and(|op| op.pattern.is_light())
        }
        Op::MinProperties(least) => least <= 1,
        Op::Minimum(_)
        | Op::Maximum(_)
        | Op::ExclusiveMinimum(_)
        | Op::ExclusiveMaximum(_)
        | Op::MultipleOf(_)
        | Op::MinLength(_)
        | Op::MaxLength(_)
        | Op::Format(_)
        | Op::MinItems(_)
        | Op::MaxItems(_) => true,
        _ => false,
    }
}
