//! Sets of code points: sorted ranges, and a bit map of ASCII for the common case.
//!
//! Invariant: ranges are ascending, do not touch, and lie in 0..=0x10FFFF; surrogates are code
//! points like others.

/// The last code point.
pub(super) const LAST: u32 = 0x10_FFFF;

/// Code points of the ASCII block.
const ASCII: u32 = 0x80;

/// A set of code points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set {
    ascii: u128,
    ranges: Vec<(u32, u32)>,
}

impl Set {
    /// The union of ranges in any order, both ends included.
    pub(crate) fn new(mut ranges: Vec<(u32, u32)>) -> Self {
        crate::sorted::sort(&mut ranges);
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => joined.push((first, last)),
            }
        }
        let mut ascii = 0;
        for &(first, last) in joined.iter().take_while(|range| range.0 < ASCII) {
            for point in first..=last.min(ASCII - 1) {
                ascii |= 1 << point;
            }
        }
        Set { ascii, ranges: joined }
    }

    /// Every code point that is not in this set.
    pub(crate) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.ranges.len() + 1);
        let mut next = 0;
        for &(first, last) in &self.ranges {
            if next < first {
                ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= LAST {
            ranges.push((next, LAST));
        }
        Set::new(ranges)
    }

    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    #[inline]
    pub(crate) fn contains(&self, point: u32) -> bool {
        if point < ASCII {
            return self.ascii >> point & 1 == 1;
        }
        let after = self.ranges.partition_point(|range| range.0 <= point);
        let range = after.checked_sub(1).and_then(|index| self.ranges.get(index));
        range.is_some_and(|range| point <= range.1)
    }

    /// True if no code point is in both.
    pub(super) fn is_disjoint(&self, other: &Set) -> bool {
        let mut others = other.ranges.iter().peekable();
        self.ranges.iter().all(|&(first, last)| {
            while others.next_if(|range| range.1 < first).is_some() {}
            others.peek().is_none_or(|range| last < range.0)
        })
    }
}

/// What `.` does not match: LineTerminator of ECMA-262.
pub(super) const LINE_TERMINATORS: &[(u32, u32)] = &[(10, 10), (13, 13), (0x2028, 0x2029)];

/// `\d`.
pub(super) const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];

/// `\w`, without the modifier `i`.
pub(super) const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// What `\w` holds too under the modifier `i`: long s and the sign of Kelvin, which fold to letters.
pub(super) const WORD_FOLDED: &[(u32, u32)] = &[(0x17F, 0x17F), (0x212A, 0x212A)];

/// `\s`: WhiteSpace and LineTerminator of ECMA-262.
pub(super) const SPACE: &[(u32, u32)] = &[
    (9, 13),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// True for what `\b` calls a word character.
pub(super) fn is_word(point: u32) -> bool {
    matches!(point, 0x30..=0x39 | 0x41..=0x5A | 0x5F | 0x61..=0x7A)
}

/// True for what `\b` calls a word character too under the modifier `i`.
pub(super) fn is_folded_word(point: u32) -> bool {
    WORD_FOLDED.iter().any(|range| range.0 == point)
}

/// True for a LineTerminator.
pub(super) fn is_line_end(point: u32) -> bool {
    matches!(point, 10 | 13 | 0x2028 | 0x2029)
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn ranges_are_joined_and_turned_around() {
        let set = Set::new(vec![(5, 9), (1, 2), (3, 4), (0x300, 0x310), (8, 20)]);
        assert_eq!(set.ranges(), [(1, 20), (0x300, 0x310)]);
        for (point, inside) in [(0, false), (1, true), (20, true), (21, false), (0x305, true)] {
            assert_eq!(set.contains(point), inside, "{point}");
            assert_eq!(set.complement().contains(point), !inside, "{point}");
        }
        assert_eq!(set.complement().complement(), set);
        assert_eq!(Set::default().complement().ranges(), [(0, LAST)]);
        assert!(!set.contains(0x311));
    }

    #[test]
    fn disjoint_sets_share_nothing() {
        let letters = Set::new(vec![(0x61, 0x7A), (0x400, 0x4FF)]);
        assert!(letters.is_disjoint(&Set::new(DIGITS.to_vec())));
        assert!(letters.is_disjoint(&letters.complement()));
        assert!(!letters.is_disjoint(&Set::new(vec![(0, 9), (0x4FF, 0x500)])));
    }
}
