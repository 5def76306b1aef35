//! Patterns that need no machine: literals, lists of literals, and chains of sets.
//!
//! A *chain* is anchored at the start and goes on by runs of one set each, every run so long as it
//! can be: that is exact if what may follow a run shares no code point with it.

use crate::schema::names::NameTable;

use super::set::Set;
use super::tree::{Assertion, Node, NodeId, Tree};

/// Literals of one list.
const MAX_LITERALS: usize = 1_000;

/// Runs of one chain.
const MAX_RUNS: usize = 64;

/// A quick way to decide a pattern.
#[derive(Debug)]
pub(super) enum Form {
    Always,
    Contains(String),
    Prefix(String),
    Suffix(String),
    Exact(NameTable),
    Chain(Vec<Run>, bool),
}

/// So many code points of a set, one after the other.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) set: Set,
    pub(super) min: u32,
    pub(super) max: u32,
}

/// The form of a literal between optional anchors.
pub(super) fn literal(start: bool, end: bool, literal: String) -> Form {
    match (start, end) {
        _ if literal.is_empty() && !(start && end) => Form::Always,
        (false, false) => Form::Contains(literal),
        (true, false) => Form::Prefix(literal),
        (false, true) => Form::Suffix(literal),
        (true, true) => Form::Exact(NameTable::new([literal])),
    }
}

/// The form of a tree, if it has one.
pub(super) fn recognise(tree: &Tree) -> Option<Form> {
    let root = [tree.root];
    let mut nodes: &[NodeId] = match tree.node(tree.root) {
        Node::Sequence(nodes) => nodes,
        _ => &root,
    };
    let anchor = |id: Option<&NodeId>, wanted: Assertion| {
        id.is_some_and(|&id| matches!(tree.node(id), Node::Assert(found) if *found == wanted))
    };
    let empty = tree.empty_everywhere();
    let is_empty = |id: NodeId| empty.get(id as usize).copied().unwrap_or(false);
    let start = anchor(nodes.first(), Assertion::Start);
    if start {
        nodes = nodes.get(1..).unwrap_or(&[]);
    }
    let end = anchor(nodes.last(), Assertion::End);
    if end {
        nodes = nodes.split_last().map_or(nodes, |(_, rest)| rest);
    }
    // What may be empty at an open end says nothing.
    while let (false, Some((&last, rest))) = (end, nodes.split_last())
        && is_empty(last)
    {
        nodes = rest;
    }
    while let (false, Some((&first, rest))) = (start, nodes.split_first())
        && is_empty(first)
    {
        nodes = rest;
    }
    if let Some(text) = text_of(tree, nodes) {
        return Some(literal(start, end, text));
    }
    match (start, end, nodes) {
        (true, true, &[only]) if let Some(list) = list_of(tree, only) => Some(list),
        (true, _, _) => chain(tree, nodes, end),
        _ => None,
    }
}

/// The text that nodes stand for, if they are literal.
fn text_of(tree: &Tree, nodes: &[NodeId]) -> Option<String> {
    nodes
        .iter()
        .map(|&id| match tree.node(id) {
            Node::Point(point) => char::from_u32(*point),
            _ => None,
        })
        .collect()
}

/// The form of a choice of literals.
fn list_of(tree: &Tree, id: NodeId) -> Option<Form> {
    let id = match tree.node(id) {
        Node::Group(_, node) => *node,
        _ => id,
    };
    let Node::Choice(nodes) = tree.node(id) else { return None };
    if nodes.len() > MAX_LITERALS {
        return None;
    }
    let texts = nodes.iter().map(|&id| match tree.node(id) {
        Node::Sequence(nodes) => text_of(tree, nodes),
        Node::Empty => Some(String::new()),
        _ => text_of(tree, &[id]),
    });
    let mut texts: Vec<String> = texts.collect::<Option<_>>()?;
    crate::sorted::sort(&mut texts);
    texts.dedup();
    Some(Form::Exact(NameTable::new(&texts)))
}

/// The form of nodes after a start anchor that are runs of sets.
fn chain(tree: &Tree, nodes: &[NodeId], end: bool) -> Option<Form> {
    if nodes.len() > MAX_RUNS {
        return None;
    }
    let mut runs: Vec<Run> = Vec::with_capacity(nodes.len());
    for &id in nodes {
        let (id, min, max) = match *tree.node(id) {
            Node::Repeat { node, min, max, .. } => (node, min, max),
            _ => (id, 1, 1),
        };
        let set = match tree.node(id) {
            Node::Point(point) => Set::new(vec![(*point, *point)]),
            Node::Set(set) => tree.sets.get(*set as usize)?.clone(),
            _ => return None,
        };
        runs.push(Run { set, min, max });
    }
    if let (false, Some(last)) = (end, runs.last_mut()) {
        // More of the last run than there must be decides nothing.
        last.max = last.min;
    }
    for (index, run) in runs.iter().enumerate() {
        if run.min == run.max {
            continue;
        }
        for next in runs.get(index + 1..).unwrap_or(&[]) {
            if !run.set.is_disjoint(&next.set) {
                return None;
            }
            if next.min > 0 {
                break;
            }
        }
    }
    Some(Form::Chain(runs, end))
}

/// True if a literal is in a text of generalised UTF-8.
pub(super) fn contains(text: &[u8], literal: &str) -> bool {
    // Lone surrogates, and a character that is cut at either end, are in no literal.
    text.utf8_chunks().any(|chunk| chunk.valid().contains(literal))
}
