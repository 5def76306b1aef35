//! Internationalised host names: IDNA 2008 (RFC 5890 to 5893), for names as they are registered.
//!
//! Which code points a label may hold is derived as RFC 5892 says, from the properties that
//! patterns have too; what these lack (directions, joining, order and composition of marks) is in
//! `idna.bin`, which `cargo xtask unicode` writes and whose layout `xtask/src/idna.rs` describes.

use super::IdnaCell;
use super::address::{MAX_LABEL, MAX_NAME, is_label, is_literal, is_local, split_mailbox};
use super::punycode::{self, Label};
use crate::schema::pattern::{PropertyReader, Set, point_after, property};

const TABLES: &[u8] = include_bytes!("idna.bin");

/// Letters, digits and marks: LetterDigits of RFC 5892, 2.1.
const LETTER_DIGITS: [&str; 7] = ["Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"];

/// What makes a code point unfit: Unstable, IgnorableProperties (2.2, 2.3).
const UNFIT: [&str; 4] = [
    "Changes_When_NFKC_Casefolded",
    "Default_Ignorable_Code_Point",
    "White_Space",
    "Noncharacter_Code_Point",
];

/// IgnorableBlocks and OldHangulJamo (2.4, 2.9), and what 2.6 disallows by itself.
const DISALLOWED: &[(u32, u32)] = &[
    (0x20D0, 0x20FF),
    (0x1D100, 0x1D1FF),
    (0x1D200, 0x1D24F),
    (0x1100, 0x11FF),
    (0xA960, 0xA97C),
    (0xD7B0, 0xD7C6),
    (0xD7CB, 0xD7FB),
    (0x0640, 0x0640),
    (0x07FA, 0x07FA),
    (0x302E, 0x302F),
    (0x3031, 0x3035),
    (0x303B, 0x303B),
];

/// What 2.6 allows by itself, and the hyphen.
const ALLOWED: &[(u32, u32)] =
    &[(0x2D, 0x2D), (0xDF, 0xDF), (0x3C2, 0x3C2), (0x6FD, 0x6FE), (0xF0B, 0xF0B), (0x3007, 0x3007)];

/// The combining class of signs that join what follows.
const VIRAMA: u8 = 9;

/// Directions of code points, as the tables number them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Left,
    Right,
    ArabicLetter,
    ArabicNumber,
    Number,
    Neutral,
    Mark,
}

/// What labels are judged by.
#[derive(Debug)]
pub(crate) struct Idna {
    valid: Set,
    marks: Set,
    transparent: Set,
    greek: Set,
    hebrew: Set,
    /// Hiragana, Katakana, Han.
    japanese: Set,
    joins_after: Set,
    joins_before: Set,
    /// Where a run begins, and its direction.
    directions: Vec<(u32, u8)>,
    /// Where a run begins, and its combining class.
    classes: Vec<(u32, u8)>,
    /// Pairs that are one code point in normalised text.
    compositions: Vec<(u32, u32)>,
}

impl Idna {
    fn new() -> Self {
        let mut tables = PropertyReader::new(TABLES);
        let directions = runs(tables.part());
        let joins_after = ranges(tables.part());
        let joins_before = ranges(tables.part());
        let classes = runs(tables.part());
        let compositions = pairs(tables.part());
        let fit = union(&LETTER_DIGITS);
        let mut unfit = union(&UNFIT);
        unfit.extend_from_slice(DISALLOWED);
        // Without what is unfit: the complement of both joined.
        unfit.extend_from_slice(Set::new(fit).complement().ranges());
        let mut valid = Set::new(unfit).complement().ranges().to_vec();
        valid.extend_from_slice(ALLOWED);
        Idna {
            valid: Set::new(valid),
            marks: Set::new(union(&["M"])),
            transparent: Set::new(union(&["Mn", "Me"])),
            greek: Set::new(union(&["Script=Greek"])),
            hebrew: Set::new(union(&["Script=Hebrew"])),
            japanese: Set::new(union(&["Script=Hiragana", "Script=Katakana", "Script=Han"])),
            joins_after,
            joins_before,
            directions,
            classes,
            compositions,
        }
    }

    fn class(&self, point: u32) -> u8 {
        at(&self.classes, point)
    }

    fn direction(&self, point: u32) -> Direction {
        match at(&self.directions, point) {
            6 => Direction::Left,
            _ if self.transparent.contains(point) => Direction::Mark,
            0 => Direction::Left,
            1 => Direction::Right,
            2 => Direction::ArabicLetter,
            3 => Direction::ArabicNumber,
            4 => Direction::Number,
            _ => Direction::Neutral,
        }
    }

    /// True for what RFC 5891, 4.2 lets a label be, but for its length and direction.
    fn is_label(&self, points: &[u32], normalised: bool) -> bool {
        let hyphen = Some(&0x2D);
        let is_reserved = points.get(2) == hyphen && points.get(3) == hyphen;
        let Some(first) = points.first() else { return false };
        points.first() != hyphen
            && points.last() != hyphen
            && !is_reserved
            && !self.marks.contains(*first)
            && (0..points.len()).all(|at| self.may_stand(points, at))
            && (!normalised || self.is_normalised(points))
    }

    /// Whether a code point may stand where it does: RFC 5892 and the rules of its appendix A.
    fn may_stand(&self, points: &[u32], at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|at| points.get(at)).copied();
        let after = points.get(at + 1).copied();
        let any = |set: &[(u32, u32)]| {
            points.iter().any(|point| set.iter().any(|range| (range.0..=range.1).contains(point)))
        };
        match points.get(at).copied().unwrap_or(0) {
            0x200C => {
                before.is_some_and(|before| self.class(before) == VIRAMA)
                    || self.is_joined(points, at)
            }
            0x200D => before.is_some_and(|before| self.class(before) == VIRAMA),
            0xB7 => before == Some(0x6C) && after == Some(0x6C),
            0x375 => after.is_some_and(|after| self.greek.contains(after)),
            0x5F3 | 0x5F4 => before.is_some_and(|before| self.hebrew.contains(before)),
            0x30FB => points.iter().any(|&point| self.japanese.contains(point)),
            0x660..=0x669 => !any(&[(0x6F0, 0x6F9)]),
            0x6F0..=0x6F9 => !any(&[(0x660, 0x669)]),
            point => self.valid.contains(point),
        }
    }

    /// True if what stands on both sides of a place joins over it.
    fn is_joined(&self, points: &[u32], at: usize) -> bool {
        let (before, after) = points.split_at_checked(at).unwrap_or((points, &[]));
        let is_seen = |point: &&u32| !self.transparent.contains(**point);
        before.iter().rev().find(is_seen).is_some_and(|&point| self.joins_after.contains(point))
            && after
                .iter()
                .skip(1)
                .find(is_seen)
                .is_some_and(|&point| self.joins_before.contains(point))
    }

    /// True for code points in the order and composed as normalisation form C has them; each by
    /// itself is known to be stable.
    fn is_normalised(&self, points: &[u32]) -> bool {
        let mut starter: Option<u32> = None;
        let mut last = 0;
        for &point in points {
            let class = self.class(point);
            if class != 0 && last > class {
                return false;
            }
            let reaches = last == 0 || last < class;
            let pair = starter.map(|starter| (point, starter));
            if reaches && pair.is_some_and(|pair| self.compositions.binary_search(&pair).is_ok()) {
                return false;
            }
            if class == 0 {
                starter = Some(point);
            }
            last = class;
        }
        true
    }

    fn is_right_to_left(&self, points: &[u32]) -> bool {
        use Direction::{ArabicLetter, ArabicNumber, Right};
        let is =
            |&point: &u32| matches!(self.direction(point), Right | ArabicLetter | ArabicNumber);
        points.iter().any(is)
    }

    /// The Bidi Rule of RFC 5893, 2.
    fn keeps_direction(&self, points: &[u32]) -> bool {
        use Direction::{ArabicLetter, ArabicNumber, Left, Mark, Neutral, Number, Right};
        let directions = || points.iter().map(|&point| self.direction(point));
        let last = directions().rev().find(|&direction| direction != Mark);
        match directions().next() {
            Some(Left) => {
                matches!(last, Some(Left | Number))
                    && directions().all(|d| matches!(d, Left | Number | Neutral | Mark))
            }
            Some(Right | ArabicLetter) => {
                matches!(last, Some(Right | ArabicLetter | Number | ArabicNumber))
                    && directions().all(|direction| direction != Left)
                    && !(directions().any(|direction| direction == Number)
                        && directions().any(|direction| direction == ArabicNumber))
            }
            _ => false,
        }
    }
}

/// The ranges of several properties.
fn union(names: &[&str]) -> Vec<(u32, u32)> {
    let sets = names.iter().filter_map(|name| property(name));
    sets.flat_map(|set| set.ranges().to_vec()).collect()
}

/// The value of the run that holds a code point.
fn at(runs: &[(u32, u8)], point: u32) -> u8 {
    let after = runs.partition_point(|run| run.0 <= point);
    after.checked_sub(1).and_then(|index| runs.get(index)).map_or(0, |run| run.1)
}

fn runs(mut part: PropertyReader) -> Vec<(u32, u8)> {
    let mut runs = Vec::new();
    let mut at = 0;
    while !part.is_empty() {
        runs.push((at, part.byte() as u8));
        at += part.number();
    }
    runs.push((at, 0));
    runs
}

fn ranges(mut part: PropertyReader) -> Set {
    let mut ranges = Vec::new();
    let mut at = 0;
    while !part.is_empty() {
        let start = at + part.number();
        at = start + part.number();
        ranges.push((start, at.saturating_sub(1)));
    }
    Set::new(ranges)
}

/// Pairs by their second code point, then their first.
fn pairs(mut part: PropertyReader) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    let mut second = 0;
    while !part.is_empty() {
        second += part.number();
        let mut first = 0;
        for _ in 0..part.number() {
            first += part.number();
            pairs.push((second, first));
        }
    }
    pairs
}

/// The labels of a name; those of an international one may have other full stops between them.
fn labels(text: &[u8], international: bool) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        for at in 0..text.len() {
            let from = text.get(at..).unwrap_or(&[]);
            let length = match from {
                [b'.', ..] => 1,
                // U+3002, U+FF0E, U+FF61.
                [0xE3, 0x80, 0x82, ..] | [0xEF, 0xBC, 0x8E, ..] | [0xEF, 0xBD, 0xA1, ..]
                    if international =>
                {
                    3
                }
                _ => continue,
            };
            rest = from.get(length..);
            return text.get(..at);
        }
        rest.take()
    })
}

/// What follows the prefix of an encoded label.
fn encoded(label: &[u8]) -> Option<&[u8]> {
    let (prefix, rest) = label.split_at_checked(4)?;
    prefix.eq_ignore_ascii_case(b"xn--").then_some(rest)
}

/// The code points that a label stands for.
fn points(label: &[u8]) -> Option<Label> {
    if let Some(encoded) = encoded(label) {
        return punycode::decode(encoded);
    }
    let mut points = Label::new();
    let mut at = 0;
    while let Some((point, next)) = point_after(label, at) {
        points.push(point)?;
        at = next;
    }
    Some(points)
}

/// The length of a label in ASCII; `None` if it is none.
fn length(label: &[u8], cell: &IdnaCell, international: bool) -> Option<usize> {
    let encoded = encoded(label);
    if label.is_ascii() && encoded.is_none() {
        let is_reserved = label.get(2..4) == Some(b"--");
        return (is_label(label) && !(international && is_reserved)).then_some(label.len());
    }
    if encoded.is_some_and(|_| !is_label(label)) || (encoded.is_none() && !international) {
        return None;
    }
    let points = points(label)?;
    let points = points.points();
    let is_ascii = points.iter().all(|&point| point < 0x80);
    if is_ascii || !tables(cell).is_label(points, true) {
        return None;
    }
    let (mut same, mut count) = (true, 0);
    punycode::encode(points, |byte| {
        let written = encoded.and_then(|encoded| encoded.get(count));
        same &= written.is_none_or(|written| written.to_ascii_lowercase() == byte);
        count += 1;
    })?;
    let fits = count + 4 <= MAX_LABEL;
    (fits && same && encoded.is_none_or(|encoded| encoded.len() == count)).then_some(count + 4)
}

fn tables(cell: &IdnaCell) -> &Idna {
    cell.get_or_init(|| Box::new(Idna::new()))
}

/// `hostname` (RFC 1123), whose encoded labels must stand for something, or `idn-hostname`.
pub(super) fn is_host(text: &[u8], cell: &IdnaCell, international: bool) -> bool {
    // A code point takes four bytes at most, and at least one in ASCII.
    if text.len() > MAX_NAME * 4 {
        return false;
    }
    let mut total = 0;
    let mut plain = true;
    for label in labels(text, international) {
        let Some(length) = length(label, cell, international) else { return false };
        total += length + 1;
        plain &= label.is_ascii() && encoded(label).is_none();
    }
    if plain || total > MAX_NAME + 1 {
        return total <= MAX_NAME + 1;
    }
    // The direction of one label binds them all.
    let tables = tables(cell);
    let all = |holds: &dyn Fn(&[u32]) -> bool| {
        labels(text, international)
            .all(|label| points(label).is_some_and(|label| holds(label.points())))
    };
    all(&|points| !tables.is_right_to_left(points)) || all(&|points| tables.keeps_direction(points))
}

/// `Mailbox` as RFC 6531 extends it. Unlike for a host name, a domain need not be normalised.
pub(super) fn is_email(text: &[u8], cell: &IdnaCell) -> bool {
    let Some((local, domain)) = split_mailbox(text) else { return false };
    let is_part = |label: &[u8]| {
        if label.is_ascii() {
            return is_label(label);
        }
        points(label).is_some_and(|label| tables(cell).is_label(label.points(), false))
    };
    let is_domain = || domain.len() <= MAX_NAME * 4 && labels(domain, false).all(is_part);
    // Half of a surrogate pair is no character.
    let is_text = std::str::from_utf8(local).is_ok();
    is_text && is_local(local) && (is_literal(domain) || is_domain())
}
