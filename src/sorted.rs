//! Ordered maps, and sorting.
//!
//! The standard library's tree is several kilobytes of code for each type kept. Here only comparing
//! keys differs by type: what is in order are the numbers of slots, in one [`Order`] for all.
//! Invariant: no choice of keys makes putting in or taking out slow.

use std::cmp::Ordering;

/// Most slots in one run of an [`Order`]. Moving as many costs less than reaching for another.
const RUN: usize = 64;

/// Numbers of slots in an order that only their owner can tell. They stand in runs, none of which
/// is empty but a single one, so that putting in and taking out moves few, wherever it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    runs: Vec<Vec<u32>>,
    count: usize,
}

/// A run, and a place in it.
type Place = (usize, usize);

impl Order {
    /// The first place that is not before what is sought. `compare` tells how a slot stands to it.
    #[inline(never)]
    fn place(&self, compare: &dyn Fn(u32) -> Ordering) -> Place {
        let is_before = |slot: &u32| compare(*slot) == Ordering::Less;
        // The common cases: what is oldest is taken out, what is new comes last.
        if self.first().is_some_and(|slot| !is_before(&slot)) {
            return (0, 0);
        }
        if self.runs.last().and_then(|run| run.last()).is_some_and(is_before) {
            return (self.runs.len(), 0);
        }
        let run = self.runs.partition_point(|run| run.last().is_some_and(is_before));
        (run, self.runs.get(run).map_or(0, |run| run.partition_point(is_before)))
    }

    /// The first slot that is not before what is sought.
    #[inline(never)]
    pub(crate) fn from(&self, compare: &dyn Fn(u32) -> Ordering) -> Option<u32> {
        let (run, at) = self.place(compare);
        self.runs.get(run)?.get(at).copied()
    }

    /// The slot that is equal to what is sought.
    pub(crate) fn find(&self, compare: &dyn Fn(u32) -> Ordering) -> Option<u32> {
        self.from(compare).filter(|&slot| compare(slot) == Ordering::Equal)
    }

    /// Puts a slot in, after those before it.
    #[inline(never)]
    pub(crate) fn insert(&mut self, slot: u32, compare: &dyn Fn(u32) -> Ordering) {
        let (mut run, mut at) = self.place(compare);
        if let Some(last) = self.runs.len().checked_sub(1)
            && run > last
        {
            run = last;
            at = self.runs.last().map_or(0, Vec::len);
        }
        self.count += 1;
        let Some(slots) = self.runs.get_mut(run) else {
            self.runs.push(vec![slot]);
            return;
        };
        slots.insert(at, slot);
        if slots.len() > RUN {
            // What rises leaves full runs behind.
            let rest = slots.split_off(if at == RUN { RUN } else { RUN / 2 });
            self.runs.insert(run + 1, rest);
        }
    }

    /// Takes out the slot that is equal to what is sought.
    #[inline(never)]
    pub(crate) fn remove(&mut self, compare: &dyn Fn(u32) -> Ordering) -> Option<u32> {
        let (run, at) = self.place(compare);
        let slots = self.runs.get_mut(run)?;
        let slot = *slots.get(at)?;
        if compare(slot) != Ordering::Equal {
            return None;
        }
        slots.remove(at);
        if slots.is_empty() && self.runs.len() > 1 {
            self.runs.remove(run);
        }
        self.count -= 1;
        Some(slot)
    }

    pub(crate) fn first(&self) -> Option<u32> {
        self.runs.first()?.first().copied()
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        self.runs.iter().flatten().copied()
    }
}

/// Entries by number; numbers of what was taken out are given again.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    entries: Vec<Option<T>>,
    vacant: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { entries: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, entry: T) -> u32 {
        let slot = self.vacant.pop().unwrap_or(self.entries.len() as u32);
        match self.entries.get_mut(slot as usize) {
            Some(place) => *place = Some(entry),
            None => self.entries.push(Some(entry)),
        }
        slot
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.entries.get(slot as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut T> {
        self.entries.get_mut(slot as usize)?.as_mut()
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<T> {
        let entry = self.entries.get_mut(slot as usize)?.take()?;
        self.vacant.push(slot);
        Some(entry)
    }
}

/// An ordered map.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<K, V> {
    entries: Slots<(K, V)>,
    order: Order,
}

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Sorted { entries: Slots::default(), order: Order::default() }
    }
}

impl<K: Ord, V> Sorted<K, V> {
    pub(crate) fn new() -> Self {
        Sorted::default()
    }

    fn find(&self, key: &K) -> Option<u32> {
        self.order.find(&|slot| against(&self.entries, slot, key))
    }

    /// Puts an entry in, in the place of an earlier one with that key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if let Some(place) = self.get_mut(&key) {
            *place = value;
            return;
        }
        let slot = self.entries.insert((key, value));
        let entries = &self.entries;
        if let Some((key, _)) = entries.get(slot) {
            self.order.insert(slot, &|other| against(entries, other, key));
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        Some(&self.entries.get(self.find(key)?)?.1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let slot = self.find(key)?;
        Some(&mut self.entries.get_mut(slot)?.1)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let entries = &self.entries;
        let slot = self.order.remove(&|slot| against(entries, slot, key))?;
        Some(self.entries.remove(slot)?.1)
    }

    pub(crate) fn first(&self) -> Option<&(K, V)> {
        self.entries.get(self.order.first()?)
    }

    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        let slot = self.order.remove(&|_| Ordering::Equal)?;
        self.entries.remove(slot)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.order.iter().filter_map(|slot| self.entries.get(slot)).map(|(key, value)| (key, value))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn into_keys(mut self) -> impl Iterator<Item = K> {
        std::iter::from_fn(move || Some(self.pop_first()?.0))
    }

    pub(crate) fn into_values(mut self) -> impl Iterator<Item = V> {
        std::iter::from_fn(move || Some(self.pop_first()?.1))
    }

    pub(crate) fn len(&self) -> usize {
        self.order.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn clear(&mut self) {
        *self = Sorted::default();
    }
}

/// How an entry stands to a key.
fn against<K: Ord, V>(entries: &Slots<(K, V)>, slot: u32, key: &K) -> Ordering {
    entries.get(slot).map_or(Ordering::Less, |(other, _)| other.cmp(key))
}

/// Sorts, equal entries in the order they came. The standard library's sorts are faster and some
/// kilobytes larger for each type.
pub(crate) fn sort_by<T: Clone>(entries: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if entries.is_sorted_by(|left, right| compare(left, right) != Ordering::Greater) {
        // What the core sorts is in order already more often than not.
        return;
    }
    let order = order(entries.len(), &|left, right| match (
        entries.get(left as usize),
        entries.get(right as usize),
    ) {
        (Some(left), Some(right)) => compare(left, right) != Ordering::Greater,
        _ => true,
    });
    let sorted: Vec<T> =
        order.iter().filter_map(|&index| entries.get(index as usize)).cloned().collect();
    entries.clone_from_slice(&sorted);
}

/// Sorts by the order of the type itself.
pub(crate) fn sort<T: Clone + Ord>(entries: &mut [T]) {
    sort_by(entries, T::cmp);
}

/// The indexes below `count` in order. `stays(a, b)`: a may stand before b. A merge from the bottom
/// up, so the cost is bounded whatever the entries are.
fn order(count: usize, stays: &dyn Fn(u32, u32) -> bool) -> Vec<u32> {
    let mut from: Vec<u32> = (0..count as u32).collect();
    let mut to = Vec::with_capacity(count);
    let mut width = 1;
    while width < count {
        to.clear();
        for pair in from.chunks(2 * width) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            loop {
                to.push(match (left.peek(), right.peek()) {
                    (Some(&&a), Some(&&b)) if !stays(a, b) => {
                        right.next();
                        b
                    }
                    (Some(&&a), _) => {
                        left.next();
                        a
                    }
                    (None, Some(&&b)) => {
                        right.next();
                        b
                    }
                    (None, None) => break,
                });
            }
        }
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    from
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    /// Numbers that look random and are the same each time.
    fn numbers(count: usize) -> Vec<u32> {
        let next = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(*state >> 22)
        };
        std::iter::successors(Some(7), |state| next(&mut { *state })).take(count).collect()
    }

    #[test]
    fn a_sorted_map_is_an_ordered_map() {
        let (mut sorted, mut tree) = (Sorted::new(), BTreeMap::new());
        for (step, number) in (0_u32..).zip(numbers(3_000)) {
            match step % 3 {
                0 | 1 => {
                    sorted.insert(number, step);
                    tree.insert(number, step);
                }
                _ => assert_eq!(sorted.remove(&number), tree.remove(&number)),
            }
            assert_eq!(sorted.get(&number), tree.get(&number));
            assert_eq!(sorted.len(), tree.len());
        }
        assert!(sorted.iter().eq(tree.iter()));
        assert_eq!(sorted.pop_first(), tree.pop_first());
    }

    /// Enough for many runs, put in and taken out at the front, at the back and in between.
    #[test]
    fn runs_keep_the_order() {
        let (mut sorted, mut tree) = (Sorted::new(), BTreeMap::new());
        let spread = |number: u32| number.wrapping_mul(2_654_435_761) >> 8;
        for number in 0..6_000 {
            for key in [number, spread(number), u32::MAX - number] {
                sorted.insert(key, number);
                tree.insert(key, number);
            }
        }
        assert!(sorted.order.runs.len() > 20);
        for number in 0..5_000 {
            for key in [number / 2, spread(number), u32::MAX - number / 3] {
                assert_eq!(sorted.remove(&key), tree.remove(&key));
            }
            assert_eq!(sorted.pop_first(), tree.pop_first());
        }
        assert_eq!(sorted.len(), tree.len());
        assert!(sorted.order.runs.iter().all(|run| (1..=RUN).contains(&run.len())));
        assert!(sorted.entries.entries.len() <= 18_000);
        assert!(sorted.iter().eq(tree.iter()));
        assert!(sorted.into_keys().eq(tree.into_keys()));
    }

    #[test]
    fn sorting_keeps_the_order_of_equals() {
        for count in [0, 1, 2, 3, 7, 8, 9, 1_000] {
            let mut entries: Vec<(u32, usize)> =
                numbers(count).into_iter().map(|number| number % 16).zip(0..).collect();
            let mut expected = entries.clone();
            expected.sort_by_key(|entry| entry.0);
            sort_by(&mut entries, |left, right| left.0.cmp(&right.0));
            assert_eq!(entries, expected);
        }
    }
}
