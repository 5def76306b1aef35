//! The stack of containers below the recorded depth, where only syntax is checked.
//!
//! Invariant: one bit for each open container, so a peer's nesting costs an eighth of a byte a level.

/// Containers open below the recorded depth: one bit each, set for an object.
#[derive(Default)]
pub(super) struct Deep {
    bits: Vec<u64>,
    count: usize,
}

impl Deep {
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn push(&mut self, is_object: bool) {
        let (index, bit) = (self.count / 64, self.count % 64);
        if index == self.bits.len() {
            self.bits.push(0);
        }
        if let Some(word) = self.bits.get_mut(index) {
            *word = *word & !(1 << bit) | (is_object as u64) << bit;
        }
        self.count += 1;
    }

    pub(super) fn pop(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    pub(super) fn in_object(&self) -> bool {
        let top = self.count.wrapping_sub(1);
        self.bits.get(top / 64).is_some_and(|word| word >> (top % 64) & 1 == 1)
    }
}
