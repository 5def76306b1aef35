//! One counter of work, shared by everything that can be sliced.
//!
//! Invariant: what is counted depends on the work alone, never on where it was interrupted, so a
//! bound on the total falls on the same step however the work is sliced.

/// Work done so far, and the count at which to pause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    pub(crate) used: u64,
    pub(crate) stop: u64,
}

impl Meter {
    /// A counter that never asks for a pause.
    pub(crate) const fn unlimited() -> Self {
        Meter { used: 0, stop: u64::MAX }
    }

    #[inline(always)]
    pub(crate) fn spent(&self) -> bool {
        self.used >= self.stop
    }

    #[inline(always)]
    pub(crate) fn count(&mut self, steps: u64) {
        self.used += steps;
    }

    /// Counts work on each of so many bytes, as exact numbers take.
    #[inline]
    pub(crate) fn count_digits(&mut self, bytes: usize) {
        self.used += (bytes / 16) as u64;
    }

    /// Counts the reading of so many bytes.
    #[inline(always)]
    pub(crate) fn count_bytes(&mut self, bytes: usize) {
        self.used += (bytes / 64) as u64;
    }
}
