//! Patterns with backreferences: no engine is linear for these, so alternatives are tried in the
//! order of ECMA-262, under a hard bound of steps that ends in no verdict.
//!
//! The stack is data: choices still open, captures to restore, lookarounds under way. So a run
//! stops at any instruction and goes on later.

use std::task::Poll;

use crate::json::Meter;

use super::Found;
use super::set::Set;
use super::simulate::{after, before, holds};
use super::tree::{Assertion, Node, NodeId, TooLarge, Tree};

/// Instructions of one pattern.
const MAX_INSTRUCTIONS: usize = 10_000;

/// Nodes visited to emit them: what is repeated may emit nothing itself.
const MAX_VISITS: usize = 100_000;

/// Instructions run on one text.
const MAX_RUN: u64 = 4_000_000;

/// Entries of the stack.
const MAX_STACK: usize = 1 << 19;

/// Instructions run for one step.
const A_STEP: u64 = 4;

/// A slot that holds no position.
const UNSET: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
enum Inst {
    Point {
        point: u32,
        backward: bool,
    },
    Set {
        set: u32,
        backward: bool,
    },
    Jump(u32),
    /// On at the first place, or if that fails at the second.
    Try(u32, u32),
    Assert(Assertion),
    /// Notes the position in a slot.
    Save(u32),
    /// Empties slots.
    Clear {
        start: u32,
        end: u32,
    },
    /// Fails if the position is still that of a slot.
    Progress(u32),
    /// What the groups of a list hold.
    Same {
        list: u32,
        backward: bool,
    },
    /// A lookaround, which ends before a place.
    Look {
        negative: bool,
        end: u32,
    },
    LookEnd,
    Match,
}

/// A compiled pattern with backreferences.
#[derive(Debug)]
pub(super) struct Backtracker {
    insts: Vec<Inst>,
    sets: Vec<Set>,
    lists: Vec<Vec<u32>>,
    slots: usize,
}

struct Builder<'a> {
    tree: &'a Tree,
    insts: Vec<Inst>,
    lists: Vec<Vec<u32>>,
    slots: u32,
    visits: usize,
    /// The first and the last group in each node.
    groups: Vec<Option<(u32, u32)>>,
}

impl Backtracker {
    /// Compiles a tree; `spent` counts instructions.
    pub(super) fn new(tree: &mut Tree, spent: &mut usize) -> Result<Self, TooLarge> {
        let slots = (tree.groups + 1) * 2;
        let mut builder = Builder {
            tree,
            insts: Vec::new(),
            lists: Vec::new(),
            slots,
            visits: 0,
            groups: tree.groups_within(),
        };
        let outcome = builder.emit(tree.root, false);
        *spent += builder.insts.len();
        outcome?;
        builder.push(Inst::Match)?;
        let Builder { insts, lists, slots, .. } = builder;
        Ok(Backtracker {
            insts,
            sets: std::mem::take(&mut tree.sets),
            lists,
            slots: slots as usize,
        })
    }
}

impl Builder<'_> {
    fn push(&mut self, inst: Inst) -> Result<usize, TooLarge> {
        if self.insts.len() >= MAX_INSTRUCTIONS {
            return Err(TooLarge);
        }
        self.insts.push(inst);
        Ok(self.insts.len() - 1)
    }

    fn here(&self) -> u32 {
        self.insts.len() as u32
    }

    fn set(&mut self, at: usize, inst: Inst) {
        if let Some(place) = self.insts.get_mut(at) {
            *place = inst;
        }
    }

    /// Emits a node. Recursion is bounded by the nesting of groups.
    fn emit(&mut self, id: NodeId, backward: bool) -> Result<(), TooLarge> {
        self.visits += 1;
        if self.visits > MAX_VISITS {
            return Err(TooLarge);
        }
        let tree = self.tree;
        match tree.node(id) {
            Node::Empty => {}
            &Node::Point(point) => {
                self.push(Inst::Point { point, backward })?;
            }
            &Node::Set(set) => {
                self.push(Inst::Set { set, backward })?;
            }
            &Node::Assert(assertion) => {
                self.push(Inst::Assert(assertion))?;
            }
            Node::Sequence(nodes) if backward => {
                nodes.iter().rev().try_for_each(|&node| self.emit(node, backward))?;
            }
            Node::Sequence(nodes) => {
                nodes.iter().try_for_each(|&node| self.emit(node, backward))?;
            }
            &Node::Group(number, node) => {
                let (start, end) = (number * 2, number * 2 + 1);
                let (first, last) = if backward { (end, start) } else { (start, end) };
                self.push(Inst::Save(first))?;
                self.emit(node, backward)?;
                self.push(Inst::Save(last))?;
            }
            Node::Choice(nodes) => self.choice(nodes, backward)?,
            &Node::Repeat { node, min, max, lazy } => {
                self.repeat(node, (min, max, lazy), backward)?;
            }
            &Node::Look { behind, negative, node } => {
                let look = self.push(Inst::Look { negative, end: 0 })?;
                self.emit(node, behind)?;
                self.push(Inst::LookEnd)?;
                let end = self.here();
                self.set(look, Inst::Look { negative, end });
            }
            Node::Backreference(groups) => {
                let list = self.lists.len() as u32;
                self.lists.push(groups.clone());
                self.push(Inst::Same { list, backward })?;
            }
        }
        Ok(())
    }

    fn choice(&mut self, nodes: &[NodeId], backward: bool) -> Result<(), TooLarge> {
        let mut jumps = Vec::new();
        for (index, &node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.emit(node, backward)?;
                break;
            }
            let fork = self.push(Inst::Try(0, 0))?;
            self.emit(node, backward)?;
            jumps.push(self.push(Inst::Jump(0))?);
            let next = self.here();
            self.set(fork, Inst::Try(fork as u32 + 1, next));
        }
        let end = self.here();
        jumps.into_iter().for_each(|jump| self.set(jump, Inst::Jump(end)));
        Ok(())
    }

    fn repeat(
        &mut self,
        node: NodeId,
        (min, max, lazy): (u32, u32, bool),
        backward: bool,
    ) -> Result<(), TooLarge> {
        for _ in 0..min {
            let before = self.insts.len();
            self.clear(node)?;
            self.emit(node, backward)?;
            if self.insts.len() == before {
                return Ok(());
            }
        }
        let mark = self.slots;
        self.slots += 1;
        let mut forks = Vec::new();
        for _ in min..max {
            let fork = self.push(Inst::Try(0, 0))?;
            forks.push(fork);
            self.push(Inst::Save(mark))?;
            self.clear(node)?;
            self.emit(node, backward)?;
            // An iteration that takes nothing is none.
            self.push(Inst::Progress(mark))?;
            if max == u32::MAX {
                self.push(Inst::Jump(fork as u32))?;
                break;
            }
        }
        let end = self.here();
        for fork in forks {
            let (go_on, stop) = (fork as u32 + 1, end);
            self.set(fork, if lazy { Inst::Try(stop, go_on) } else { Inst::Try(go_on, stop) });
        }
        Ok(())
    }

    /// Every iteration begins with the groups in it empty. They are numbered one after the other.
    fn clear(&mut self, node: NodeId) -> Result<(), TooLarge> {
        let groups = self.groups.get(node as usize).copied().flatten();
        if let Some((first, last)) = groups {
            self.push(Inst::Clear { start: first * 2, end: last * 2 + 2 })?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// Go on here if what was tried since fails.
    Choice { place: u32, at: u32 },
    /// What a slot held.
    Restore { slot: u32, value: u32 },
    /// A lookaround under way.
    Look { negative: bool, end: u32, at: u32 },
}

/// A run under way.
#[derive(Debug, Default)]
pub(super) struct Backtracking {
    started: bool,
    /// Where the attempt under way started.
    start: usize,
    at: usize,
    place: u32,
    slots: Vec<u32>,
    stack: Vec<Entry>,
    run: u64,
}

impl Backtracking {
    /// Forgets what was under way.
    pub(super) fn reset(&mut self) {
        *self = Backtracking::default();
    }

    /// Goes on until the meter is spent. `text` is generalised UTF-8.
    pub(super) fn step(
        &mut self,
        pattern: &Backtracker,
        text: &[u8],
        meter: &mut Meter,
    ) -> Poll<Found> {
        if text.len() >= UNSET as usize {
            return Poll::Ready(Found::Undecided("limit"));
        }
        if !self.started {
            self.started = true;
            self.attempt(pattern, 0);
        }
        loop {
            if meter.spent() {
                return Poll::Pending;
            }
            if self.run > MAX_RUN || self.stack.len() > MAX_STACK {
                return Poll::Ready(Found::Undecided("limit"));
            }
            let before = self.run / A_STEP;
            self.run += 1;
            let done = match pattern.insts.get(self.place as usize).copied() {
                None | Some(Inst::Match) => return Poll::Ready(Found::Yes),
                Some(inst) => self.execute(pattern, text, inst),
            };
            meter.count(self.run / A_STEP - before);
            if done || self.back() {
                continue;
            }
            match after(text, self.start) {
                Some((_, next)) => self.attempt(pattern, next),
                None => return Poll::Ready(Found::No),
            }
        }
    }

    fn attempt(&mut self, pattern: &Backtracker, start: usize) {
        self.start = start;
        self.at = start;
        self.place = 0;
        self.run += pattern.slots as u64 / 16;
        self.stack.clear();
        self.slots.clear();
        self.slots.resize(pattern.slots, UNSET);
    }

    /// Runs one instruction; false if it fails.
    fn execute(&mut self, pattern: &Backtracker, text: &[u8], inst: Inst) -> bool {
        let next =
            |at: usize, backward: bool| if backward { before(text, at) } else { after(text, at) };
        match inst {
            Inst::Point { point, backward } => match next(self.at, backward) {
                Some((found, at)) if found == point => self.at = at,
                _ => return false,
            },
            Inst::Set { set, backward } => match next(self.at, backward) {
                Some((found, at))
                    if pattern.sets.get(set as usize).is_some_and(|set| set.contains(found)) =>
                {
                    self.at = at;
                }
                _ => return false,
            },
            Inst::Jump(place) => {
                self.place = place;
                return true;
            }
            Inst::Try(first, second) => {
                self.stack.push(Entry::Choice { place: second, at: self.at as u32 });
                self.place = first;
                return true;
            }
            Inst::Assert(assertion) => {
                if !holds(assertion, text, self.at) {
                    return false;
                }
            }
            Inst::Save(slot) => self.save(slot, self.at as u32),
            Inst::Clear { start, end } => {
                self.run += (end - start) as u64 / 8;
                (start..end).for_each(|slot| self.save(slot, UNSET));
            }
            Inst::Progress(slot) => {
                if self.slots.get(slot as usize) == Some(&(self.at as u32)) {
                    return false;
                }
            }
            Inst::Same { list, backward } => {
                let held = pattern.lists.get(list as usize).into_iter().flatten();
                let held = held.filter_map(|&group| self.held(group, text)).next();
                let Some(held) = held else {
                    // A group that holds nothing is the empty text.
                    self.place += 1;
                    return true;
                };
                self.run += held.len() as u64 / 16;
                let place = match backward {
                    true => self.at.checked_sub(held.len()).map(|start| (start, self.at, start)),
                    false => Some((self.at, self.at + held.len(), self.at + held.len())),
                };
                match place {
                    Some((start, end, at)) if text.get(start..end) == Some(held) => self.at = at,
                    _ => return false,
                }
            }
            Inst::Look { negative, end } => {
                self.stack.push(Entry::Look { negative, end, at: self.at as u32 });
            }
            Inst::LookEnd => return self.end_look(),
            Inst::Match => {}
        }
        self.place += 1;
        true
    }

    fn save(&mut self, slot: u32, value: u32) {
        if let Some(held) = self.slots.get_mut(slot as usize)
            && *held != value
        {
            self.stack.push(Entry::Restore { slot, value: *held });
            *held = value;
        }
    }

    /// What a group holds.
    fn held<'a>(&self, group: u32, text: &'a [u8]) -> Option<&'a [u8]> {
        let start = *self.slots.get(group as usize * 2)?;
        let end = *self.slots.get(group as usize * 2 + 1)?;
        text.get(start as usize..end as usize)
    }

    /// The lookaround under way found a match: its choices are dropped.
    fn end_look(&mut self) -> bool {
        let is_look = |entry: &Entry| matches!(entry, Entry::Look { .. });
        let Some(from) = self.stack.iter().rposition(is_look) else { return false };
        self.run += (self.stack.len() - from) as u64 / 4;
        let Some(Entry::Look { negative, end, at }) = self.stack.get(from).copied() else {
            return false;
        };
        if negative {
            // What it captured is taken back.
            while self.stack.len() > from {
                if let Some(Entry::Restore { slot, value }) = self.stack.pop()
                    && let Some(held) = self.slots.get_mut(slot as usize)
                {
                    *held = value;
                }
            }
            return false;
        }
        // What it captured stays, until what comes before it is taken back.
        let mut kept = from;
        for index in from..self.stack.len() {
            if let Some(&entry @ Entry::Restore { .. }) = self.stack.get(index) {
                if let Some(place) = self.stack.get_mut(kept) {
                    *place = entry;
                }
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        self.at = at as usize;
        self.place = end;
        true
    }

    /// Takes back what was done since the last choice and takes the other way; false if there is
    /// none left.
    fn back(&mut self) -> bool {
        while let Some(entry) = self.stack.pop() {
            match entry {
                Entry::Choice { place, at } => {
                    self.place = place;
                    self.at = at as usize;
                    return true;
                }
                Entry::Restore { slot, value } => {
                    if let Some(held) = self.slots.get_mut(slot as usize) {
                        *held = value;
                    }
                }
                Entry::Look { negative: true, end, at } => {
                    self.place = end;
                    self.at = at as usize;
                    return true;
                }
                Entry::Look { negative: false, .. } => {}
            }
        }
        false
    }
}
