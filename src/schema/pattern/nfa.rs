//! Tree to instructions: a program for the whole pattern, and one for each lookaround in it.
//!
//! All are run as sets of places, so nothing here depends on the order of alternatives. Invariant:
//! a lookaround's program comes after those of the lookarounds in it; instructions refer to places
//! of their own program, sets and lookarounds of their machine.

use super::set::Set;
use super::tree::{Assertion, Node, NodeId, TooLarge, Tree};

/// Instructions of one pattern.
const MAX_INSTRUCTIONS: usize = 10_000;

/// Nodes visited to emit them: what is repeated may emit nothing itself.
const MAX_VISITS: usize = 100_000;

/// Lookarounds of one pattern.
const MAX_LOOKS: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Inst {
    Point(u32),
    Set(u32),
    Jump(u32),
    /// On here and there.
    Fork(u32, u32),
    Assert(Assertion),
    Look {
        index: u32,
        negative: bool,
    },
    Match,
}

/// Instructions that find one thing.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) insts: Vec<Inst>,
    /// Reads the text from its end to its start.
    pub(super) backward: bool,
    /// Can only match from the start of the text.
    pub(super) anchored: bool,
}

/// A pattern without backreferences.
#[derive(Debug)]
pub(super) struct Machine {
    /// Lookarounds, inner ones first, then the pattern itself.
    pub(super) programs: Vec<Program>,
    pub(super) sets: Vec<Set>,
}

impl Machine {
    /// Compiles a tree; `spent` counts instructions.
    pub(super) fn new(tree: &mut Tree, spent: &mut usize) -> Result<Self, TooLarge> {
        let mut builder =
            Builder { tree, programs: Vec::new(), looks: Vec::new(), spent: 0, visits: 0 };
        let outcome = builder.program(builder.tree.root, false);
        *spent += builder.spent;
        outcome?;
        let programs = builder.programs;
        Ok(Machine { programs, sets: std::mem::take(&mut tree.sets) })
    }

    /// Instructions in all.
    pub(super) fn size(&self) -> usize {
        self.programs.iter().map(|program| program.insts.len()).sum()
    }
}

struct Builder<'a> {
    tree: &'a Tree,
    programs: Vec<Program>,
    /// The lookarounds that have programs.
    looks: Vec<NodeId>,
    spent: usize,
    visits: usize,
}

impl Builder<'_> {
    fn program(&mut self, root: NodeId, backward: bool) -> Result<(), TooLarge> {
        let mut insts = Vec::new();
        self.emit(root, backward, &mut insts)?;
        self.push(&mut insts, Inst::Match)?;
        let anchored = !backward && is_anchored(self.tree, root);
        self.programs.push(Program { insts, backward, anchored });
        Ok(())
    }

    fn push(&mut self, insts: &mut Vec<Inst>, inst: Inst) -> Result<(), TooLarge> {
        self.spent += 1;
        if self.spent > MAX_INSTRUCTIONS {
            return Err(TooLarge);
        }
        insts.push(inst);
        Ok(())
    }

    /// Emits a node. Recursion is bounded by the nesting of groups.
    fn emit(&mut self, id: NodeId, backward: bool, out: &mut Vec<Inst>) -> Result<(), TooLarge> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(TooLarge);
        }
        let tree = self.tree;
        match tree.node(id) {
            // Backreferences have an engine of their own.
            Node::Empty | Node::Backreference(_) => Ok(()),
            Node::Point(point) => self.push(out, Inst::Point(*point)),
            Node::Set(set) => self.push(out, Inst::Set(*set)),
            Node::Assert(assertion) => self.push(out, Inst::Assert(*assertion)),
            Node::Group(_, node) => self.emit(*node, backward, out),
            Node::Sequence(nodes) if backward => {
                nodes.iter().rev().try_for_each(|&node| self.emit(node, backward, out))
            }
            Node::Sequence(nodes) => {
                nodes.iter().try_for_each(|&node| self.emit(node, backward, out))
            }
            Node::Choice(nodes) => self.choice(nodes, backward, out),
            &Node::Repeat { node, min, max, .. } => self.repeat(node, (min, max), backward, out),
            &Node::Look { behind, negative, node } => {
                let known = self.looks.iter().position(|&look| look == id);
                let index = match known {
                    Some(index) => index,
                    None => {
                        // Looking ahead is reading backward from every place where it may end.
                        self.program(node, !behind)?;
                        self.looks.push(id);
                        if self.looks.len() > MAX_LOOKS {
                            return Err(TooLarge);
                        }
                        self.looks.len() - 1
                    }
                };
                self.push(out, Inst::Look { index: index as u32, negative })
            }
        }
    }

    fn choice(
        &mut self,
        nodes: &[NodeId],
        backward: bool,
        out: &mut Vec<Inst>,
    ) -> Result<(), TooLarge> {
        let mut jumps = Vec::new();
        for (index, &node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.emit(node, backward, out)?;
                break;
            }
            let fork = out.len();
            self.push(out, Inst::Fork(fork as u32 + 1, 0))?;
            self.emit(node, backward, out)?;
            jumps.push(out.len());
            self.push(out, Inst::Jump(0))?;
            let next = out.len() as u32;
            set(out, fork, Inst::Fork(fork as u32 + 1, next));
        }
        let end = out.len() as u32;
        jumps.into_iter().for_each(|jump| set(out, jump, Inst::Jump(end)));
        Ok(())
    }

    fn repeat(
        &mut self,
        node: NodeId,
        (min, max): (u32, u32),
        backward: bool,
        out: &mut Vec<Inst>,
    ) -> Result<(), TooLarge> {
        for _ in 0..min {
            let before = out.len();
            self.emit(node, backward, out)?;
            if out.len() == before {
                return Ok(());
            }
        }
        if max == u32::MAX {
            let fork = out.len();
            self.push(out, Inst::Fork(fork as u32 + 1, 0))?;
            self.emit(node, backward, out)?;
            self.push(out, Inst::Jump(fork as u32))?;
            let end = out.len() as u32;
            set(out, fork, Inst::Fork(fork as u32 + 1, end));
            return Ok(());
        }
        let mut forks = Vec::new();
        for _ in min..max {
            forks.push(out.len());
            self.push(out, Inst::Fork(out.len() as u32 + 1, 0))?;
            self.emit(node, backward, out)?;
        }
        let end = out.len() as u32;
        forks.into_iter().for_each(|fork| set(out, fork, Inst::Fork(fork as u32 + 1, end)));
        Ok(())
    }
}

fn set(out: &mut [Inst], at: usize, inst: Inst) {
    if let Some(place) = out.get_mut(at) {
        *place = inst;
    }
}

/// True if a node can only match from the start of the text.
pub(super) fn is_anchored(tree: &Tree, id: NodeId) -> bool {
    let mut id = id;
    loop {
        match tree.node(id) {
            Node::Assert(Assertion::Start) => return true,
            Node::Group(_, node) => id = *node,
            Node::Sequence(nodes) => match nodes.first() {
                Some(&first) => id = first,
                None => return false,
            },
            Node::Choice(nodes) => return nodes.iter().all(|&node| is_anchored(tree, node)),
            _ => return false,
        }
    }
}
