//! A small ordered map, and sorting, for few or nearly ordered entries.
//!
//! What the core keeps in order mostly rises: ids, handles, tickets, deadlines. A sorted deque is as
//! fast there as a tree, and a tenth of its code for each type kept. Invariant: keys rise strictly.

use std::cmp::Ordering;
use std::collections::VecDeque;

/// An ordered map. Entries near either end are cheap to put in and to take out.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<K, V> {
    entries: VecDeque<(K, V)>,
}

impl<K, V> Default for Sorted<K, V> {
    fn default() -> Self {
        Sorted { entries: VecDeque::new() }
    }
}

impl<K: Ord, V> Sorted<K, V> {
    pub(crate) fn new() -> Self {
        Sorted::default()
    }

    fn find(&self, key: &K) -> Result<usize, usize> {
        match self.entries.back() {
            // The common case: what is new comes last.
            Some((last, _)) if last < key => Err(self.entries.len()),
            _ => self.entries.binary_search_by(|(other, _)| other.cmp(key)),
        }
    }

    /// Puts an entry in, in the place of an earlier one with that key.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => {
                if let Some(entry) = self.entries.get_mut(at) {
                    entry.1 = value;
                }
            }
            Err(at) => self.entries.insert(at, (key, value)),
        }
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        let at = self.find(key).ok()?;
        Some(&self.entries.get(at)?.1)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let at = self.find(key).ok()?;
        Some(&mut self.entries.get_mut(at)?.1)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.find(key).ok()?;
        Some(self.entries.remove(at)?.1)
    }

    pub(crate) fn first(&self) -> Option<&(K, V)> {
        self.entries.front()
    }

    pub(crate) fn pop_first(&mut self) -> Option<(K, V)> {
        self.entries.pop_front()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    pub(crate) fn into_keys(self) -> impl Iterator<Item = K> {
        self.entries.into_iter().map(|(key, _)| key)
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }
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
