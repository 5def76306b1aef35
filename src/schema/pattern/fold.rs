//! Modifiers of groups, and what `i` makes equal: simple case folding, as ECMA-262 has it under the
//! flag `u`.

use super::PatternFault;
use super::parse::Parser;
use super::set::Set;
use super::tree::{Node, NodeId};
use super::unicode;

/// The last code point of the ASCII block.
const LAST_ASCII: u32 = 0x7F;

/// Code points beyond ASCII whose folding is within: long s and the sign of Kelvin.
const TO_ASCII: [(u32, u32); 2] = [(0x17F, 's' as u32), (0x212A, 'k' as u32)];

/// Ranges that folding a set counts for.
const FOLDING: usize = 1_000;

/// What modifiers turn on and off.
#[derive(Clone, Copy, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multiline: bool,
    pub(super) dot_all: bool,
}

/// Foldings in both directions.
#[derive(Debug)]
pub(super) struct Folding {
    /// A code point and what it folds to, where that is another; ascending.
    to: Vec<(u32, u32)>,
    /// The same turned around; ascending.
    from: Vec<(u32, u32)>,
}

impl Folding {
    pub(super) fn new() -> Self {
        let to = unicode::foldings();
        let mut from: Vec<(u32, u32)> = to.iter().map(|&(point, folded)| (folded, point)).collect();
        crate::sorted::sort(&mut from);
        Folding { to, from }
    }

    /// Every code point that is equal to this one.
    pub(super) fn of_point(&self, point: u32) -> Set {
        let known = self.to.binary_search_by_key(&point, |entry| entry.0);
        let folded = known.ok().and_then(|index| self.to.get(index)).map_or(point, |entry| entry.1);
        let mut ranges = vec![(folded, folded)];
        self.add(folded, &mut ranges);
        Set::new(ranges)
    }

    /// Adds what folds to a code point.
    fn add(&self, folded: u32, ranges: &mut Vec<(u32, u32)>) {
        let first = self.from.partition_point(|entry| entry.0 < folded);
        let entries = self.from.iter().skip(first).take_while(|entry| entry.0 == folded);
        ranges.extend(entries.map(|entry| (entry.1, entry.1)));
    }

    /// A set and every code point that is equal to one in it.
    pub(super) fn of_set(&self, set: &Set) -> Set {
        let mut ranges = set.ranges().to_vec();
        for &(point, folded) in &self.to {
            if set.contains(point) || set.contains(folded) {
                ranges.push((folded, folded));
                self.add(folded, &mut ranges);
            }
        }
        Set::new(ranges)
    }
}

/// The same for a set within ASCII, without any table; `None` for another.
pub(super) fn of_ascii(set: &Set) -> Option<Set> {
    if set.ranges().last().is_some_and(|range| range.1 > LAST_ASCII) {
        return None;
    }
    let mut ranges = set.ranges().to_vec();
    for (upper, lower) in ('A'..='Z').zip('a'..='z') {
        let (upper, lower) = (upper as u32, lower as u32);
        if set.contains(upper) || set.contains(lower) {
            ranges.extend([(upper, upper), (lower, lower)]);
            let others = TO_ASCII.iter().filter(|other| other.1 == lower);
            ranges.extend(others.map(|other| (other.0, other.0)));
        }
    }
    Some(Set::new(ranges))
}

impl Parser<'_> {
    /// The modifiers of a group, `(?i-s:`, and what then holds in it.
    pub(super) fn modifiers(&mut self) -> Result<Flags, PatternFault> {
        let mut flags = self.flags;
        let mut seen = Vec::new();
        let mut on = true;
        while let Some(point) = self.advance() {
            let flag = match char::from_u32(point) {
                Some('i') => &mut flags.ignore_case,
                Some('m') => &mut flags.multiline,
                Some('s') => &mut flags.dot_all,
                Some('-') if on => {
                    on = false;
                    continue;
                }
                Some(':') if !seen.is_empty() => return Ok(flags),
                _ => break,
            };
            *flag = on;
            if seen.contains(&point) {
                break;
            }
            seen.push(point);
        }
        Err(PatternFault::Syntax)
    }

    /// A node for one code point.
    pub(super) fn point(&mut self, point: u32) -> Result<NodeId, PatternFault> {
        if !self.flags.ignore_case {
            return Ok(self.tree.push(Node::Point(point)));
        }
        let one = Set::new(vec![(point, point)]);
        let set = match of_ascii(&one).filter(|_| self.strict) {
            Some(set) => set,
            None => self.folding().map_or(one, |folding| folding.of_point(point)),
        };
        self.spend(set.ranges().len())?;
        Ok(self.tree.push_set(set))
    }

    /// A set as the modifier `i` reads it, if that holds.
    pub(super) fn folded(&mut self, set: Set) -> Result<Set, PatternFault> {
        if !self.flags.ignore_case {
            return Ok(set);
        }
        if let Some(set) = of_ascii(&set).filter(|_| self.strict) {
            return Ok(set);
        }
        self.spend(FOLDING)?;
        Ok(match self.folding() {
            Some(folding) => folding.of_set(&set),
            None => set,
        })
    }

    /// The foldings, read when they are needed. Annex B has others, which are not supported.
    fn folding(&mut self) -> Option<&Folding> {
        if !self.strict {
            self.tree.is_unsupported = true;
            return None;
        }
        Some(self.folding.get_or_insert_with(Folding::new))
    }
}
