//! What shared subschemas came to, so that references that fan out cost no more than the schema and
//! the value together.
//!
//! Where a frame below keeps the journal of evaluated members, an answer comes with its entries;
//! elsewhere without. Bounded: past the bounds judging is only slower.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::sorted::sort;

use super::frame::Answer;

/// Steps before answers are remembered: most judgements end earlier.
pub(super) const AFTER: u64 = 50_000;

/// Steps for remembering an answer, but for its entries.
pub(super) const A_NOTE: u64 = 4;

/// Answers remembered.
const MAX_ANSWERS: usize = 1 << 18;

/// Evaluated members or elements remembered, in all and with one answer.
const MAX_EVALUATED: usize = 1 << 20;
const MAX_ENTRIES: usize = 1 << 10;

/// Passes hashes through: the keys are hashes already.
#[derive(Default)]
pub(super) struct Prehashed(u64);

impl Hasher for Prehashed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ byte as u64;
        }
    }
    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(32) ^ value as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// Subschema, position and dynamic scope.
type Key = (u32, u32, u32);

#[derive(Clone, Copy)]
struct Entry {
    answer: Answer,
    start: u32,
    end: u32,
}

/// Answers by subschema, position and dynamic scope, without and with journal entries.
#[derive(Default)]
pub(super) struct Memo {
    plain: HashMap<Key, Answer, BuildHasherDefault<Prehashed>>,
    tracked: HashMap<Key, Entry, BuildHasherDefault<Prehashed>>,
    evaluated: Vec<u32>,
}

impl Memo {
    /// An answer and the journal entries that come with it.
    pub(super) fn get(&self, key: Key, wanted: bool) -> Option<(Answer, &[u32])> {
        if !wanted {
            return Some((*self.plain.get(&key)?, &[]));
        }
        let entry = self.tracked.get(&key)?;
        Some((entry.answer, self.evaluated.get(entry.start as usize..entry.end as usize)?))
    }

    /// Remembers an answer and gives its journal entries back, each once; `None` if there are too
    /// many.
    pub(super) fn note(
        &mut self,
        key: Key,
        wanted: bool,
        answer: Answer,
        evaluated: &[u32],
    ) -> Option<&[u32]> {
        if self.plain.len() + self.tracked.len() >= MAX_ANSWERS {
            return None;
        }
        if !wanted {
            self.plain.insert(key, answer);
            return Some(&[]);
        }
        let mut entries = evaluated.to_vec();
        sort(&mut entries);
        entries.dedup();
        if entries.len() > MAX_ENTRIES || self.evaluated.len() + entries.len() > MAX_EVALUATED {
            return None;
        }
        let start = self.evaluated.len();
        self.evaluated.extend_from_slice(&entries);
        let end = self.evaluated.len();
        self.tracked.insert(key, Entry { answer, start: start as u32, end: end as u32 });
        self.evaluated.get(start..end)
    }
}
