//! Pattern text to tree: the grammar of ECMA-262 (Pattern, without flags but `u`), and that of its
//! Annex B for texts which the former refuses.
//!
//! Both read code points: under Annex B too a character beyond the basic plane is one. Iterative;
//! groups that are open wait on a stack.

use super::PatternFault;
use super::escape::Escape;
use super::fold::{Flags, Folding};
use super::set::{LINE_TERMINATORS, Set};
use super::tree::{Assertion, MAX_NESTING, Node, NodeId, Tree};
use super::unicode;
use crate::table::Table;

/// Code points of a pattern that is parsed; longer ones are too large.
const MAX_POINTS: usize = 1 << 16;

/// Capturing groups of a pattern.
const MAX_GROUPS: u32 = 1_000;

/// Ranges in all the sets of one pattern.
const MAX_RANGES: usize = 100_000;

/// What a parenthesis opened.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Plain,
    Capturing(u32),
    Look { behind: bool, negative: bool },
}

/// A group that is still open.
struct Open {
    kind: Kind,
    /// Alternatives that are complete.
    choices: Vec<NodeId>,
    /// Terms of the alternative under way.
    terms: Vec<NodeId>,
    /// Names of groups in the complete alternatives and in the one under way.
    names_before: Vec<u32>,
    names: Vec<u32>,
    /// What its modifiers replaced.
    outer: Flags,
}

impl Open {
    fn new(kind: Kind, outer: Flags) -> Self {
        Open {
            outer,
            kind,
            choices: Vec::new(),
            terms: Vec::new(),
            names_before: Vec::new(),
            names: Vec::new(),
        }
    }
}

/// A pattern being read.
pub(super) struct Parser<'a> {
    points: &'a [u32],
    at: usize,
    /// The mode of the flag `u`, rather than Annex B.
    pub(super) strict: bool,
    /// The modifiers that hold here.
    pub(super) flags: Flags,
    pub(super) folding: Option<Folding>,
    /// Capturing groups in all.
    pub(super) groups: u32,
    /// The pattern has named groups, so `\k` must refer to one.
    pub(super) named: bool,
    pub(super) tree: Tree,
    /// Names of groups and the numbers of the groups called so.
    pub(super) names: Vec<(Vec<u32>, Vec<u32>)>,
    /// References by name, which may stand before their group.
    references: Vec<(NodeId, Vec<u32>)>,
    /// Properties looked up so far.
    properties: Table<String, Set>,
    /// What the names of groups are made of, once a name was met that is not ASCII.
    identifiers: Option<(Set, Set)>,
    /// Ranges of sets so far, as far as they were work.
    ranges: usize,
}

/// Ranges that looking a property up counts for.
const LOOK_UP: usize = 300;

/// Parses a pattern, in the mode of the flag `u` if it can be; `spent` counts ranges.
pub(super) fn parse(points: &[u32], spent: &mut usize) -> Result<Tree, PatternFault> {
    if points.len() > MAX_POINTS {
        return Err(PatternFault::TooLarge);
    }
    let mut parse = |strict| {
        let mut parser = Parser::new(points, strict);
        if parser.groups > MAX_GROUPS {
            return Err(PatternFault::TooLarge);
        }
        let outcome = parser.run();
        *spent += parser.ranges;
        outcome
    };
    match parse(true) {
        Err(PatternFault::Syntax) => parse(false).map(|mut tree| {
            tree.is_annex_b = true;
            tree
        }),
        outcome => outcome,
    }
}

/// A term, and whether a quantifier may follow it.
type Term = (NodeId, bool);

impl<'a> Parser<'a> {
    fn new(points: &'a [u32], strict: bool) -> Self {
        let (groups, named) = count_groups(points);
        Parser {
            points,
            at: 0,
            strict,
            flags: Flags::default(),
            folding: None,
            groups,
            named,
            tree: Tree::default(),
            names: Vec::new(),
            references: Vec::new(),
            properties: Table::new(),
            identifiers: None,
            ranges: 0,
        }
    }

    /// Counts ranges.
    pub(super) fn spend(&mut self, ranges: usize) -> Result<(), PatternFault> {
        self.ranges += ranges;
        if self.ranges > MAX_RANGES { Err(PatternFault::TooLarge) } else { Ok(()) }
    }

    /// The set of a property.
    pub(super) fn property_set(&mut self, text: &str) -> Result<Set, PatternFault> {
        if let Some(known) = self.properties.get(text) {
            let known = known.clone();
            self.spend(known.ranges().len())?;
            return Ok(known);
        }
        self.spend(LOOK_UP)?;
        let set = unicode::property(text).ok_or(PatternFault::Syntax)?;
        self.properties.insert(text.to_owned(), set.clone());
        Ok(set)
    }

    /// True for a code point that may stand in the name of a group.
    pub(super) fn is_identifier(&mut self, point: u32, first: bool) -> bool {
        if let Some(character) = char::from_u32(point)
            && character.is_ascii()
        {
            let is_letter = character.is_ascii_alphabetic() || "$_".contains(character);
            return is_letter || (!first && character.is_ascii_digit());
        }
        let sets = self.identifiers.get_or_insert_with(unicode::identifiers);
        if first { sets.0.contains(point) } else { sets.1.contains(point) }
    }

    pub(super) fn peek(&self) -> Option<u32> {
        self.points.get(self.at).copied()
    }

    pub(super) fn advance(&mut self) -> Option<u32> {
        let point = self.peek()?;
        self.at += 1;
        Some(point)
    }

    /// Takes a text if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let mut rest = self.points.get(self.at..).unwrap_or(&[]).iter();
        if text.chars().any(|character| rest.next() != Some(&(character as u32))) {
            return false;
        }
        self.at += text.len();
        true
    }

    /// A place to come back to.
    pub(super) fn mark(&self) -> usize {
        self.at
    }

    pub(super) fn reset(&mut self, mark: usize) {
        self.at = mark;
    }

    fn run(&mut self) -> Result<Tree, PatternFault> {
        let mut stack = vec![Open::new(Kind::Whole, Flags::default())];
        while let Some(point) = self.advance() {
            let Some(open) = stack.last_mut() else { return Err(PatternFault::Syntax) };
            let term = match char::from_u32(point) {
                Some('|') => {
                    let terms = std::mem::take(&mut open.terms);
                    open.choices.push(self.tree.sequence(terms));
                    open.names_before.append(&mut open.names);
                    continue;
                }
                Some('(') => {
                    let opened = self.open(&mut stack)?;
                    if stack.len() >= MAX_NESTING {
                        return Err(PatternFault::TooLarge);
                    }
                    stack.push(opened);
                    continue;
                }
                Some(')') => {
                    let closed = stack.pop().ok_or(PatternFault::Syntax)?;
                    let outer = stack.last_mut().ok_or(PatternFault::Syntax)?;
                    outer.names.extend(closed.names_before.iter().chain(&closed.names));
                    self.flags = closed.outer;
                    self.close(closed)
                }
                Some('^') => {
                    let start = match self.flags.multiline {
                        true => Assertion::LineStart,
                        false => Assertion::Start,
                    };
                    (self.tree.push(Node::Assert(start)), false)
                }
                Some('$') => {
                    let end = match self.flags.multiline {
                        true => Assertion::LineEnd,
                        false => Assertion::End,
                    };
                    (self.tree.push(Node::Assert(end)), false)
                }
                Some('.') => {
                    let none = match self.flags.dot_all {
                        true => Vec::new(),
                        false => LINE_TERMINATORS.to_vec(),
                    };
                    let any = Set::new(none).complement();
                    (self.tree.push_set(any), true)
                }
                Some('[') => {
                    let set = self.class()?;
                    (self.tree.push_set(set), true)
                }
                Some('\\') => self.escaped_term()?,
                Some('*' | '+' | '?') => return Err(PatternFault::Syntax),
                Some('{') => {
                    self.at -= 1;
                    if self.strict || self.quantifier()?.is_some() {
                        return Err(PatternFault::Syntax);
                    }
                    self.at += 1;
                    (self.point(point)?, true)
                }
                Some(']' | '}') if self.strict => return Err(PatternFault::Syntax),
                _ => (self.point(point)?, true),
            };
            let term = self.quantified(term)?;
            if let Some(open) = stack.last_mut() {
                open.terms.push(term);
            }
        }
        match (stack.pop(), stack.is_empty()) {
            (Some(whole), true) => {
                self.tree.root = self.close(whole).0;
                self.finish()
            }
            _ => Err(PatternFault::Syntax),
        }
    }

    /// Reads what follows an opening parenthesis.
    fn open(&mut self, stack: &mut [Open]) -> Result<Open, PatternFault> {
        let outer = self.flags;
        let look = |behind, negative| Ok(Open::new(Kind::Look { behind, negative }, outer));
        if !self.take("?") {
            self.tree.groups += 1;
            return Ok(Open::new(Kind::Capturing(self.tree.groups), self.flags));
        }
        if self.take(":") {
            return Ok(Open::new(Kind::Plain, self.flags));
        }
        if self.take("=") {
            return look(false, false);
        }
        if self.take("!") {
            return look(false, true);
        }
        if self.take("<=") {
            return look(true, false);
        }
        if self.take("<!") {
            return look(true, true);
        }
        if !self.take("<") {
            self.flags = self.modifiers()?;
            return Ok(Open::new(Kind::Plain, outer));
        }
        let name = self.group_name()?;
        self.tree.groups += 1;
        let number = self.tree.groups;
        let known = match self.names.iter().position(|entry| entry.0 == name) {
            Some(known) => known,
            None => {
                self.names.push((name, Vec::new()));
                self.names.len() - 1
            }
        };
        // The same name may stand in another alternative only.
        if stack.iter().any(|open| open.names.contains(&(known as u32))) {
            return Err(PatternFault::Syntax);
        }
        if let Some(open) = stack.last_mut() {
            open.names.push(known as u32);
        }
        if let Some(entry) = self.names.get_mut(known) {
            entry.1.push(number);
        }
        Ok(Open::new(Kind::Capturing(number), outer))
    }

    /// The node of a group that is complete.
    fn close(&mut self, mut open: Open) -> Term {
        let last = self.tree.sequence(open.terms);
        let node = if open.choices.is_empty() {
            last
        } else {
            open.choices.push(last);
            self.tree.push(Node::Choice(open.choices))
        };
        match open.kind {
            Kind::Whole | Kind::Plain => (node, true),
            Kind::Capturing(number) => (self.tree.push(Node::Group(number, node)), true),
            Kind::Look { behind, negative } => {
                let look = self.tree.push(Node::Look { behind, negative, node });
                (look, !self.strict && !behind)
            }
        }
    }

    fn quantified(&mut self, (node, quantifiable): Term) -> Result<NodeId, PatternFault> {
        let Some((min, max)) = self.quantifier()? else { return Ok(node) };
        if !quantifiable {
            return Err(PatternFault::Syntax);
        }
        let lazy = self.take("?");
        Ok(self.tree.push(Node::Repeat { node, min, max, lazy }))
    }

    /// The bounds of a quantifier, if one comes next.
    fn quantifier(&mut self) -> Result<Option<(u32, u32)>, PatternFault> {
        for (sign, bounds) in [("*", (0, u32::MAX)), ("+", (1, u32::MAX)), ("?", (0, 1))] {
            if self.take(sign) {
                return Ok(Some(bounds));
            }
        }
        let mark = self.at;
        if !self.take("{") {
            return Ok(None);
        }
        let bounds = self.number().and_then(|min| {
            let max = match self.take(",") {
                true => self.number().unwrap_or(u32::MAX),
                false => min,
            };
            self.take("}").then_some((min, max))
        });
        match bounds {
            Some((min, max)) if min > max => Err(PatternFault::Syntax),
            Some(bounds) => Ok(Some(bounds)),
            None if self.strict => Err(PatternFault::Syntax),
            None => {
                self.at = mark;
                Ok(None)
            }
        }
    }

    /// A decimal number; those beyond the largest stand for it.
    pub(super) fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(point @ 0x30..=0x39) = self.peek() {
            self.at += 1;
            let digit = point - 0x30;
            number = Some(number.unwrap_or(0u32).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    /// What a backslash outside of a class begins.
    fn escaped_term(&mut self) -> Result<Term, PatternFault> {
        Ok(match self.escape(false)? {
            Escape::Point(point) => (self.point(point)?, true),
            Escape::Set(set) => {
                let set = self.folded(set)?;
                (self.tree.push_set(set), true)
            }
            Escape::Assertion(assertion) => (self.tree.push(Node::Assert(assertion)), false),
            Escape::Group(number) => {
                self.tree.is_unsupported |= self.flags.ignore_case;
                self.tree.has_backreference = true;
                (self.tree.push(Node::Backreference(vec![number])), true)
            }
            Escape::Name(name) => {
                self.tree.is_unsupported |= self.flags.ignore_case;
                self.tree.has_backreference = true;
                let node = self.tree.push(Node::Backreference(Vec::new()));
                self.references.push((node, name));
                (node, true)
            }
        })
    }

    /// Names are resolved at the end: they may be used before they are given.
    fn finish(&mut self) -> Result<Tree, PatternFault> {
        for (node, name) in std::mem::take(&mut self.references) {
            let known = self.names.iter().find(|entry| entry.0 == name);
            let numbers = known.ok_or(PatternFault::Syntax)?.1.clone();
            if let Some(node) = self.tree.nodes.get_mut(node as usize) {
                *node = Node::Backreference(numbers);
            }
        }
        Ok(std::mem::take(&mut self.tree))
    }

    /// A character class after its opening bracket.
    fn class(&mut self) -> Result<Set, PatternFault> {
        let negative = self.take("^");
        let mut ranges = Vec::new();
        while !self.take("]") {
            if ranges.len() > MAX_RANGES {
                return Err(PatternFault::TooLarge);
            }
            let first = self.class_atom()?;
            let mark = self.at;
            if !self.take("-") || self.peek() == Some(']' as u32) {
                self.at = mark;
                first.add(&mut ranges);
                continue;
            }
            match (first, self.class_atom()?) {
                (Escape::Point(first), Escape::Point(last)) if first <= last => {
                    ranges.push((first, last));
                }
                (Escape::Point(_), Escape::Point(_)) => return Err(PatternFault::Syntax),
                _ if self.strict => return Err(PatternFault::Syntax),
                (first, last) => {
                    // Annex B: the hyphen stands for itself.
                    first.add(&mut ranges);
                    ranges.push(('-' as u32, '-' as u32));
                    last.add(&mut ranges);
                }
            }
        }
        self.spend(ranges.len())?;
        let set = self.folded(Set::new(ranges))?;
        Ok(if negative { set.complement() } else { set })
    }

    fn class_atom(&mut self) -> Result<Escape, PatternFault> {
        match self.advance().ok_or(PatternFault::Syntax)? {
            0x5C => self.escape(true),
            point => Ok(Escape::Point(point)),
        }
    }
}

/// Capturing groups of a pattern, and whether one has a name.
fn count_groups(points: &[u32]) -> (u32, bool) {
    let (mut groups, mut named, mut in_class) = (0, false, false);
    let mut at = 0;
    let is = |at: usize, character: char| points.get(at) == Some(&(character as u32));
    while at < points.len() {
        if is(at, '\\') {
            at += 1;
        } else if is(at, '[') {
            in_class = true;
        } else if is(at, ']') {
            in_class = false;
        } else if is(at, '(') && !in_class {
            let name = is(at + 1, '?') && is(at + 2, '<') && !is(at + 3, '=') && !is(at + 3, '!');
            named |= name;
            groups += (name || !is(at + 1, '?')) as u32;
        }
        at += 1;
    }
    (groups, named)
}
