//! A map and a set by hash, for keys that a peer may choose.
//!
//! What differs by type is only the comparison of keys; the index is one for all, so a further type
//! of key costs a few hundred bytes of code. Entries are kept in the order in which they came.
//! Invariant: no choice of keys makes finding one slow. The hash is quick and has no secret; where
//! it meets too many collisions, entries are found by their order instead.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Up to this many entries are compared one by one.
const FEW: usize = 8;

/// Longest run of occupied places that the hash may leave.
const MAX_PROBES: usize = 64;

const VACANT: u32 = u32::MAX;

/// A map. There is no taking out.
#[derive(Clone, Debug)]
pub(crate) struct Table<K, V> {
    entries: Vec<(K, V)>,
    index: Index,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { entries: Vec::new(), index: Index::default() }
    }
}

impl<K: Hash + Ord, V> Table<K, V> {
    pub(crate) fn new() -> Self {
        Table::default()
    }

    fn find<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Hash + Ord + ?Sized,
    {
        if self.entries.len() <= FEW {
            return self.entries.iter().position(|(other, _)| other.borrow() == key);
        }
        let compare = |slot: u32| match self.entries.get(slot as usize) {
            Some((other, _)) => other.borrow().cmp(key),
            None => Ordering::Less,
        };
        self.index.find(hash_of(key), &compare).map(|slot| slot as usize)
    }

    /// Puts an entry in and gives back the value of an earlier one with that key.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        let found = self.find(&key);
        if let Some((_, old)) = found.and_then(|slot| self.entries.get_mut(slot)) {
            return Some(std::mem::replace(old, value));
        }
        self.entries.push((key, value));
        self.note_last();
        None
    }

    /// Puts an entry in unless there is one with that key.
    pub(crate) fn insert_new(&mut self, key: K, value: V) {
        if self.find(&key).is_none() {
            self.entries.push((key, value));
            self.note_last();
        }
    }

    fn note_last(&mut self) {
        let count = self.entries.len();
        if count <= FEW {
            return;
        }
        let entries = &self.entries;
        let hash = |slot: u32| entries.get(slot as usize).map_or(0, |(key, _)| hash_of(key));
        let compare = |one: u32, other: u32| {
            let key = |slot: u32| entries.get(slot as usize).map(|(key, _)| key);
            key(one).cmp(&key(other))
        };
        self.index.note(count, &hash, &compare);
    }

    pub(crate) fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Ord + ?Sized,
    {
        Some(&self.entries.get(self.find(key)?)?.1)
    }

    pub(crate) fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Hash + Ord + ?Sized,
    {
        let slot = self.find(key)?;
        Some(&mut self.entries.get_mut(slot)?.1)
    }

    pub(crate) fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Ord + ?Sized,
    {
        self.find(key).is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.entries.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.index = Index::default();
    }
}

impl<K: Hash + Ord, V> FromIterator<(K, V)> for Table<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut table = Table::new();
        for (key, value) in entries {
            table.insert(key, value);
        }
        table
    }
}

impl<K, V> IntoIterator for Table<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct Set<K>(Table<K, ()>);

impl<K> Default for Set<K> {
    fn default() -> Self {
        Set(Table::default())
    }
}

impl<K: Hash + Ord> Set<K> {
    pub(crate) fn new() -> Self {
        Set::default()
    }

    /// Puts a key in; false if it was there.
    pub(crate) fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    pub(crate) fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Ord + ?Sized,
    {
        self.0.contains_key(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K: Hash + Ord> FromIterator<K> for Set<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        Set(keys.into_iter().map(|key| (key, ())).collect())
    }
}

/// Where entries stand: open addressing, a power of two long, or all slots in the order of keys.
#[derive(Clone, Debug, Default)]
struct Index {
    places: Vec<u32>,
    is_ordered: bool,
}

impl Index {
    #[inline(never)]
    fn find(&self, hash: u64, compare: &dyn Fn(u32) -> Ordering) -> Option<u32> {
        if self.is_ordered {
            let at = self.places.binary_search_by(|&slot| compare(slot)).ok()?;
            return self.places.get(at).copied();
        }
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            match self.places.get(at).copied() {
                None | Some(VACANT) => return None,
                Some(slot) if compare(slot) == Ordering::Equal => return Some(slot),
                Some(_) => at = (at + 1) & mask,
            }
        }
    }

    /// Takes up the last of so many entries.
    #[inline(never)]
    fn note(
        &mut self,
        count: usize,
        hash: &dyn Fn(u32) -> u64,
        compare: &dyn Fn(u32, u32) -> Ordering,
    ) {
        let last = count as u32 - 1;
        if self.is_ordered {
            let at = self.places.partition_point(|&slot| compare(slot, last) == Ordering::Less);
            self.places.insert(at, last);
            return;
        }
        let first = if 2 * count > self.places.len() {
            self.places.clear();
            self.places.resize((2 * count).next_power_of_two(), VACANT);
            0
        } else {
            last
        };
        if !(first..=last).all(|slot| self.place(slot, hash(slot))) {
            let mut order: Vec<u32> = (0..=last).collect();
            crate::sorted::sort_by(&mut order, |&one, &other| compare(one, other));
            self.places = order;
            self.is_ordered = true;
        }
    }

    /// False if the place is too far from where the hash wants it.
    fn place(&mut self, slot: u32, hash: u64) -> bool {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        for _ in 0..MAX_PROBES {
            match self.places.get_mut(at) {
                Some(place) if *place == VACANT => {
                    *place = slot;
                    return true;
                }
                _ => at = (at + 1) & mask,
            }
        }
        false
    }
}

/// A quick hash without a secret.
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        // A product's low bits know nothing of its factors' high bytes, where numbered keys differ.
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        mixed ^ mixed >> 32
    }

    #[inline(never)]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(chunk.first_chunk::<8>().map_or(0, |word| u64::from_le_bytes(*word)));
        }
        let rest = chunks.remainder();
        self.write_u64(rest.iter().fold(rest.len() as u64, |word, &byte| word << 8 | byte as u64));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(value as u64);
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

fn hash_of<Q: Hash + ?Sized>(key: &Q) -> u64 {
    let mut mixer = Mixer(0x6A09_E667_F3BC_C909);
    key.hash(&mut mixer);
    mixer.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn a_table_is_a_map() {
        let (mut table, mut map) = (Table::new(), HashMap::new());
        for step in 0_u32..3_000 {
            let key = format!("key {}", step.wrapping_mul(2_654_435_761) >> 21);
            assert_eq!(table.insert(key.clone(), step), map.insert(key.clone(), step));
            table.insert_new(key.clone(), 0);
            assert_eq!(table.get(key.as_str()), Some(&step));
            assert_eq!(table.len(), map.len());
            assert!(!table.contains_key("another"));
        }
        assert!(table.iter().all(|(key, value)| map.get(key) == Some(value)));
        table.clear();
        assert_eq!(table.get("key 0"), None);
    }

    #[test]
    fn a_set_keeps_each_key_once() {
        let mut set: Set<Vec<u8>> = (0..100_u8).map(|byte| vec![byte]).collect();
        assert!(!set.insert(vec![7]));
        assert!(set.insert(vec![7, 7]));
        assert!(set.contains(&[7_u8, 7][..]) && !set.contains(&[8_u8, 8][..]));
        assert_eq!(set.len(), 101);
    }

    #[test]
    fn numbered_keys_do_not_collide() {
        for (before, after) in [("string number ", ""), ("n", ""), ("", " of them"), ("key-", "-x")]
        {
            let keys = (0..50_000).map(|index| format!("{before}{index}{after}"));
            assert!(!keys.collect::<Set<String>>().0.index.is_ordered, "{before}0{after}");
        }
        assert!(!(0..50_000_u32).map(|id| (0, id)).collect::<Set<_>>().0.index.is_ordered);
        assert!(!(0..50_000_u32).map(|id| (id, 7)).collect::<Set<_>>().0.index.is_ordered);
    }

    /// A key of which all have one hash.
    #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
    struct Same(u32);

    impl Hash for Same {
        fn hash<H: Hasher>(&self, state: &mut H) {
            state.write_u32(1);
        }
    }

    #[test]
    fn keys_of_one_hash_are_found_by_their_order() {
        let mut table = Table::new();
        for step in 0..1_000 {
            table.insert(Same(step * 7 % 1_000), step);
        }
        assert!(table.index.is_ordered);
        for step in 0..1_000 {
            assert_eq!(table.get(&Same(step * 7 % 1_000)), Some(&step));
        }
        assert_eq!(table.get(&Same(1_000)), None);
        assert!(table.iter().map(|(key, _)| key.0).eq((0..1_000).map(|step| step * 7 % 1_000)));
    }
}
