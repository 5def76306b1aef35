//! Tables of member names: which of the declared names is this one?
//!
//! Invariant: names are distinct, kept unescaped as generalised UTF-8, and found by length and
//! bytes alone, so `__proto__` and its like are ordinary names. Finding costs one comparison when
//! members come in declared order, else a short scan or one hash; it allocates only for a name
//! that was written with escapes. Names that were made to collide are found by their order.

use crate::json::Text;
use crate::sorted::sort_by;

/// Up to this many names a scan is cheaper than a hash.
const FEW: usize = 8;

/// A fixed list of distinct names.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    entries: Vec<Entry>,
    /// The names one after the other.
    bytes: Vec<u8>,
    /// Open addressing over the names, a power of two long; empty for few names. Where the hash
    /// met too many collisions, by chance or by malice, the slots in the order of their names.
    index: Vec<u32>,
    is_ordered: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// See [`head`] and [`tail`].
    head: u64,
    tail: u64,
    start: u32,
    len: u32,
}

/// A name that is looked for.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    head: u64,
    tail: u64,
    bytes: &'a [u8],
}

impl<'a> Wanted<'a> {
    #[inline]
    fn new(bytes: &'a [u8]) -> Self {
        Wanted { head: head(bytes), tail: tail(bytes), bytes }
    }
}

/// Longest run of occupied entries that the quick hash may leave.
const MAX_PROBES: u32 = 64;

const VACANT: u32 = u32::MAX;

impl NameTable {
    /// A table of the given names, by first appearance.
    pub(crate) fn new<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut table = NameTable::default();
        for name in names {
            table.insert(name.as_ref());
        }
        table
    }

    /// Makes room for so many names at once.
    pub(crate) fn reserve(&mut self, names: usize) {
        self.entries.reserve_exact(names);
        self.bytes.reserve(names.saturating_mul(8));
    }

    /// The slot of a name, which goes behind the others if it is new.
    pub(crate) fn insert(&mut self, name: &[u8]) -> u32 {
        let wanted = Wanted::new(name);
        if let Some(slot) = self.search(wanted) {
            return slot;
        }
        let Wanted { head, tail, .. } = wanted;
        let (slot, start) = (self.entries.len() as u32, self.bytes.len() as u32);
        self.entries.push(Entry { head, tail, start, len: name.len() as u32 });
        self.bytes.extend_from_slice(name);
        if self.is_ordered {
            let at = self.ordered(name).unwrap_or_else(|at| at);
            self.index.insert(at, slot);
        } else if self.len() > FEW {
            let grows = 2 * self.len() > self.index.len();
            let placed = if grows { self.spread() } else { self.place(slot) };
            if !placed {
                self.put_in_order();
            }
        }
        slot
    }

    /// Fills a larger index; false if some name is too far from its place.
    #[inline(never)]
    fn spread(&mut self) -> bool {
        let size = (2 * self.len()).next_power_of_two();
        self.index.clear();
        self.index.resize(size, VACANT);
        (0..self.len() as u32).all(|slot| self.place(slot))
    }

    /// Notes a slot in the index; false if that is too far from its place.
    fn place(&mut self, slot: u32) -> bool {
        let mask = self.index.len() - 1;
        let mut at = quick_hash(self.name(slot)) as usize & mask;
        for _ in 0..=MAX_PROBES {
            match self.index.get_mut(at) {
                Some(entry) if *entry == VACANT => {
                    *entry = slot;
                    return true;
                }
                _ => at = (at + 1) & mask,
            }
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn put_in_order(&mut self) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        sort_by(&mut order, |&one, &other| self.name(one).cmp(self.name(other)));
        self.index = order;
        self.is_ordered = true;
    }

    /// Where a name stands in the order, or would stand.
    #[cold]
    #[inline(never)]
    fn ordered(&self, name: &[u8]) -> Result<usize, usize> {
        self.index.binary_search_by(|&slot| self.name(slot).cmp(name))
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The name of a slot.
    pub(crate) fn name(&self, slot: u32) -> &[u8] {
        let Some(entry) = self.entries.get(slot as usize) else { return &[] };
        let start = entry.start as usize;
        self.bytes.get(start..start + entry.len as usize).unwrap_or(&[])
    }

    /// The slot of a name. `guess` is tried first.
    #[inline]
    pub(crate) fn find(&self, name: Text<'_>, guess: u32) -> Option<u32> {
        if name.is_plain() {
            self.look_up(Wanted::new(name.raw_bytes()), guess)
        } else {
            self.look_up(Wanted::new(&name.to_wtf8()), guess)
        }
    }

    /// The slot of a name without escapes that stands in a longer text, which makes reading its
    /// first bytes cheaper.
    #[inline]
    pub(crate) fn find_at(&self, text: &[u8], start: u32, len: u32, guess: u32) -> Option<u32> {
        let (start, len) = (start as usize, len as usize);
        let bytes = text.get(start..start + len)?;
        let head = match text.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(first) => u64::from_le_bytes(*first) & low_bytes(len),
            None => head(bytes),
        };
        self.look_up(Wanted { head, tail: tail(bytes), bytes }, guess)
    }

    #[inline]
    fn look_up(&self, name: Wanted<'_>, guess: u32) -> Option<u32> {
        if self.entries.get(guess as usize).is_some_and(|entry| self.is(entry, name)) {
            return Some(guess);
        }
        self.search(name)
    }

    fn search(&self, name: Wanted<'_>) -> Option<u32> {
        if self.is_ordered {
            return self.index.get(self.ordered(name.bytes).ok()?).copied();
        }
        if !self.index.is_empty() {
            return self.probe(name);
        }
        let found = self.entries.iter().position(|entry| self.is(entry, name));
        found.map(|slot| slot as u32)
    }

    #[inline]
    fn is(&self, entry: &Entry, name: Wanted<'_>) -> bool {
        if entry.head != name.head
            || entry.tail != name.tail
            || entry.len as usize != name.bytes.len()
        {
            return false;
        }
        // Head, tail and length say all about a name of at most sixteen bytes.
        name.bytes.len() <= 16 || self.is_inside(entry, name)
    }

    fn is_inside(&self, entry: &Entry, name: Wanted<'_>) -> bool {
        let (start, len) = (entry.start as usize, name.bytes.len());
        self.bytes.get(start + 8..start + len) == name.bytes.get(8..)
    }

    fn probe(&self, name: Wanted<'_>) -> Option<u32> {
        let mask = self.index.len() - 1;
        let mut at = quick_hash(name.bytes) as usize & mask;
        loop {
            match self.index.get(at).copied() {
                None | Some(VACANT) => return None,
                Some(slot) => match self.entries.get(slot as usize) {
                    Some(entry) if self.is(entry, name) => return Some(slot),
                    _ => at = (at + 1) & mask,
                },
            }
        }
    }
}

/// Ones in so many of the lowest bytes, eight at most.
#[inline]
pub(crate) fn low_bytes(count: usize) -> u64 {
    match count {
        0 => 0,
        1..8 => u64::MAX >> (64 - 8 * count),
        _ => u64::MAX,
    }
}

/// Up to eight bytes of a name as one word, the first one lowest: all of a short one, the first of
/// a long one.
#[inline]
pub(crate) const fn head(name: &[u8]) -> u64 {
    if let Some(first) = name.first_chunk::<8>() {
        return u64::from_le_bytes(*first);
    }
    let (mut word, mut rest) = (0, name);
    while let [before @ .., byte] = rest {
        word = word << 8 | *byte as u64;
        rest = before;
    }
    word
}

/// The last eight bytes of a name that has more than eight.
#[inline]
pub(crate) fn tail(name: &[u8]) -> u64 {
    match name.last_chunk::<8>() {
        Some(last) if name.len() > 8 => u64::from_le_bytes(*last),
        _ => 0,
    }
}

/// A hash of length, head, middle and tail: enough to tell declared names apart.
#[inline]
fn quick_hash(name: &[u8]) -> u64 {
    let tail = name.last_chunk::<8>().map_or(0, |tail| u64::from_le_bytes(*tail));
    let middle = name.get(name.len() / 2).copied().unwrap_or(0) as u64;
    let mixed = (head(name) ^ (name.len() as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (tail ^ middle << 32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    // A product's low bits know nothing of its factors' high bytes, where numbered names differ.
    let folded = (mixed ^ mixed >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    folded ^ folded >> 32
}

/// The index that a name has in a list of distinct names, or would have at its end. `table` is the
/// list's own, empty at first; it is filled once the list is no longer short.
pub(crate) fn index_among<N>(
    table: &mut NameTable,
    list: &[N],
    text: impl Fn(&N) -> &[u8],
    name: &[u8],
) -> usize {
    if list.len() <= FEW {
        return list.iter().position(|other| text(other) == name).unwrap_or(list.len());
    }
    if table.len() == 0 {
        for other in list {
            table.insert(text(other));
        }
    }
    table.insert(name) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn names_are_found_whatever_their_number() {
        for count in [1, FEW, FEW + 1, 500] {
            let names: Vec<String> =
                (0..count).map(|index| format!("a-rather-long-name-{index}-end")).collect();
            let table = NameTable::new(&names);
            for (slot, name) in names.iter().enumerate() {
                for guess in [slot as u32, 0, u32::MAX] {
                    assert_eq!(table.find(Text::plain(name), guess), Some(slot as u32));
                }
            }
            assert_eq!(table.find(Text::plain("a-rather-long-name-x-end"), 0), None);
            assert_eq!(table.find(Text::plain(""), 0), None);
        }
    }

    #[test]
    fn names_that_differ_in_one_byte_are_told_apart() {
        let mut names = vec![String::new()];
        for length in 1..=20 {
            for place in 0..length {
                let mut name = vec![b'a'; length];
                name[place] = b'b';
                names.push(String::from_utf8(name).unwrap());
            }
            names.push("a".repeat(length));
        }
        let table = NameTable::new(&names);
        for (slot, name) in names.iter().enumerate() {
            assert_eq!(table.find(Text::plain(name), 0), Some(slot as u32), "{name}");
            for rest in ["", "\":1}", "\":\"a value\"}"] {
                let text = format!("{{\"{name}{rest}");
                let found = table.find_at(text.as_bytes(), 2, name.len() as u32, 0);
                assert_eq!(found, Some(slot as u32), "{text}");
            }
        }
    }

    #[test]
    fn names_made_to_collide_are_found_by_their_order() {
        // Same length, head, middle and tail.
        let names: Vec<String> = (0..20_000)
            .map(|index| format!("headhead{:05}...............tailtail", index * 7 % 20_000))
            .collect();
        let table = NameTable::new(&names);
        assert!(table.is_ordered);
        for (slot, name) in names.iter().enumerate() {
            assert_eq!(table.find(Text::plain(name), 0), Some(slot as u32));
        }
        assert_eq!(table.find(Text::plain("headhead00000................tailtail"), 0), None);
    }

    #[test]
    fn numbered_names_do_not_collide() {
        for (before, after) in [("string number ", ""), ("n", ""), ("", " of them"), ("key-", "-x")]
        {
            let names = (0..50_000).map(|index| format!("{before}{index}{after}"));
            assert!(!NameTable::new(names).is_ordered, "{before}0{after}");
        }
    }

    #[test]
    fn a_name_keeps_its_first_slot() {
        for count in [FEW, 3 * FEW, 1_000] {
            let names: Vec<String> = (0..count).map(|index| format!("name-{index}")).collect();
            let table = NameTable::new(names.iter().chain(&names));
            assert_eq!(table.len(), count);
            let (mut seen, mut list) = (NameTable::default(), Vec::new());
            for (index, name) in names.iter().enumerate() {
                let found = index_among(&mut seen, &list, String::as_bytes, name.as_bytes());
                assert_eq!(found, index);
                list.push(name.clone());
                assert_eq!(index_among(&mut seen, &list, String::as_bytes, b"name-0"), 0);
            }
        }
    }
}
