//! The syntax tree of a pattern.
//!
//! Invariant: children come before their parents, so a node's index is larger than those of its
//! children; groups nest no deeper than [`MAX_NESTING`], and nothing else nests by itself.

use super::set::Set;
use crate::table::Table;

/// Groups within groups; more make a pattern too large. Bounds the recursion of what walks a tree.
pub(super) const MAX_NESTING: usize = 100;

/// Index of a node in its [`Tree`].
pub(super) type NodeId = u32;

/// A condition on a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Assertion {
    Start,
    End,
    Boundary,
    NotBoundary,
    /// `^` and `$` under the modifier `m`.
    LineStart,
    LineEnd,
    /// `\b` and `\B` under the modifier `i`.
    FoldedBoundary,
    NotFoldedBoundary,
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Empty,
    Point(u32),
    /// One code point of a set of the tree.
    Set(u32),
    Assert(Assertion),
    Sequence(Vec<NodeId>),
    Choice(Vec<NodeId>),
    Repeat {
        node: NodeId,
        min: u32,
        /// `u32::MAX` for no limit.
        max: u32,
        lazy: bool,
    },
    /// A capturing group by its number, from 1.
    Group(u32, NodeId),
    Look {
        behind: bool,
        negative: bool,
        node: NodeId,
    },
    /// What any of the groups holds; more than one if they share a name.
    Backreference(Vec<u32>),
}

/// A pattern too large for its bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooLarge;

/// A parsed pattern.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) sets: Vec<Set>,
    pub(super) root: NodeId,
    /// Capturing groups.
    pub(super) groups: u32,
    pub(super) has_backreference: bool,
    /// It asks for letters without their case where that is not supported: in a backreference, or
    /// under Annex B, whose letters differ.
    pub(super) is_unsupported: bool,
    /// The flag `u` refuses it: it was read by Annex B.
    pub(super) is_annex_b: bool,
    known: Table<Vec<(u32, u32)>, u32>,
}

impl Tree {
    pub(super) fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id as usize).unwrap_or(&Node::Empty)
    }

    /// A node for one code point of a set.
    pub(super) fn push_set(&mut self, set: Set) -> NodeId {
        if let [(first, last)] = set.ranges()
            && first == last
        {
            let point = *first;
            return self.push(Node::Point(point));
        }
        if let Some(&known) = self.known.get(set.ranges()) {
            return self.push(Node::Set(known));
        }
        let id = self.sets.len() as u32;
        self.known.insert(set.ranges().to_vec(), id);
        self.sets.push(set);
        self.push(Node::Set(id))
    }

    pub(super) fn sequence(&mut self, nodes: Vec<NodeId>) -> NodeId {
        match nodes[..] {
            [] => self.push(Node::Empty),
            [only] => only,
            _ => self.push(Node::Sequence(nodes)),
        }
    }

    /// For each node, whether it matches the empty text wherever it stands.
    pub(super) fn empty_everywhere(&self) -> Vec<bool> {
        let mut found: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let is = |id: &NodeId| found.get(*id as usize).copied().unwrap_or(false);
            let matches = match node {
                Node::Empty => true,
                Node::Sequence(nodes) => nodes.iter().all(is),
                Node::Choice(nodes) => nodes.iter().any(is),
                Node::Repeat { node, min, .. } => *min == 0 || is(node),
                Node::Group(_, node) => is(node),
                _ => false,
            };
            found.push(matches);
        }
        found
    }
    /// For each node, the first and the last capturing group in it: they are numbered in order.
    pub(super) fn groups_within(&self) -> Vec<Option<(u32, u32)>> {
        let mut found: Vec<Option<(u32, u32)>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let of = |id: &NodeId| found.get(*id as usize).copied().flatten();
            let join = |one: Option<(u32, u32)>, other: Option<(u32, u32)>| match (one, other) {
                (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
                (one, other) => one.or(other),
            };
            let groups = match node {
                Node::Group(number, node) => join(Some((*number, *number)), of(node)),
                Node::Sequence(nodes) | Node::Choice(nodes) => {
                    nodes.iter().map(of).fold(None, join)
                }
                Node::Repeat { node, .. } | Node::Look { node, .. } => of(node),
                _ => None,
            };
            found.push(groups);
        }
        found
    }
}
