//! Tables of member names: which of the declared names is this one?
//!
//! Invariant: names are distinct, kept unescaped as generalised UTF-8, and found by length and
//! bytes alone, so `__proto__` and its like are ordinary names. Finding costs one comparison when
//! members come in declared order, else a short scan or one hash; it allocates only for a name
//! that was written with escapes.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;

use crate::json::Text;

/// Up to this many names a scan is cheaper than a hash.
const FEW: usize = 8;

/// A fixed list of distinct names.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    entries: Vec<Entry>,
    /// The names one after the other.
    bytes: Vec<u8>,
    /// Open addressing over the names, a power of two long; empty for few names.
    index: Vec<u32>,
    /// The quick hash met too many collisions, by chance or by malice.
    strong: bool,
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
const MAX_PROBES: u32 = 16;

const VACANT: u32 = u32::MAX;

impl NameTable {
    /// A table of the given names; the caller made them distinct.
    pub(crate) fn new<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> Self {
        let mut table = NameTable::default();
        for name in names {
            let name = name.as_ref();
            let start = table.bytes.len() as u32;
            let (head, tail) = (head(name), tail(name));
            table.entries.push(Entry { head, tail, start, len: name.len() as u32 });
            table.bytes.extend_from_slice(name);
        }
        if table.len() > FEW && !table.build(MAX_PROBES) {
            table.strong = true;
            table.build(u32::MAX);
        }
        table
    }

    /// Fills the index; false if some name is further than `max_probes` from its place.
    fn build(&mut self, max_probes: u32) -> bool {
        let size = (self.len() * 2).next_power_of_two();
        self.index = vec![VACANT; size];
        for slot in 0..self.len() as u32 {
            let mut at = self.hash(self.name(slot)) as usize & (size - 1);
            let mut probes = 0;
            while self.index.get(at).is_some_and(|&taken| taken != VACANT) {
                at = (at + 1) & (size - 1);
                probes += 1;
                if probes > max_probes {
                    return false;
                }
            }
            if let Some(entry) = self.index.get_mut(at) {
                *entry = slot;
            }
        }
        true
    }

    fn hash(&self, name: &[u8]) -> u64 {
        if self.strong {
            return strong_hash(name);
        }
        quick_hash(name)
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
        let mut at = self.hash(name.bytes) as usize & mask;
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
pub(crate) fn head(name: &[u8]) -> u64 {
    match name.first_chunk::<8>() {
        Some(first) => u64::from_le_bytes(*first),
        None => name.iter().rev().fold(0, |word, &byte| word << 8 | byte as u64),
    }
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
    mixed ^ mixed >> 29
}

fn strong_hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name);
    hasher.finish()
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
    fn names_made_to_collide_get_a_better_hash() {
        // Same length, head, middle and tail.
        let names: Vec<String> =
            (0..20_000).map(|index| format!("headhead{index:05}...............tailtail")).collect();
        let table = NameTable::new(&names);
        assert!(table.strong);
        assert_eq!(table.find(Text::plain(&names[19_999]), 0), Some(19_999));
    }
}
