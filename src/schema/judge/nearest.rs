//! Which branch of `anyOf` or `oneOf` a value came nearest to, when it satisfies none.
//!
//! Each branch is gone through as if it were explained, but its violations are only counted; then
//! the nearest is explained. Nearest is, in this order: a branch that wants the kind of value there
//! is, and the constants that stand there; then the one with the fewest violations; then the one
//! whose violations lie deepest; then the first. A branch within a branch counts as one violation,
//! so the work is that of explaining each branch once.

use super::Judge;
use super::frame::Answer;

/// Violations counted of one branch; more are as bad.
const MOST: u32 = 32;

/// What is counted of the branch under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Score {
    /// The frame of the composition, and how long the stacks were then.
    frame: usize,
    journal: usize,
    scratch: usize,
    /// 2 for a branch that wants another kind of value, 1 for one that wants another constant.
    mismatch: u32,
    count: u32,
    /// How deep in the value the deepest violation is.
    depth: u32,
}

impl Judge {
    /// Begins counting for a branch of the composition in frame `top`.
    pub(super) fn begin_score(&mut self, top: usize) {
        self.score = Some(Score {
            frame: top,
            journal: self.journal.len(),
            scratch: self.scratch.len(),
            mismatch: 0,
            count: 0,
            depth: 0,
        });
    }

    /// Ends counting: the smaller, the nearer.
    pub(super) fn end_score(&mut self) -> u64 {
        let score = self.score.take();
        score.map_or(u64::MAX, |score| {
            let shallow = u32::MAX - score.depth;
            (score.mismatch as u64) << 48 | (score.count as u64) << 32 | shallow as u64
        })
    }

    /// Counts a violation of the top frame's schema; false if none are counted.
    pub(super) fn count_violation(&mut self, keyword: &'static str, is_constant: bool) -> bool {
        let Some(score) = &mut self.score else { return false };
        let above = self.frames.iter().skip(score.frame + 1);
        let depth = above.filter(|frame| !frame.in_place).count() as u32;
        let mismatch = match keyword {
            "type" | "false schema" if depth == 0 => 2,
            _ if is_constant && depth <= 1 => 1,
            _ => 0,
        };
        score.mismatch = score.mismatch.max(mismatch);
        score.count = (score.count + 1).min(MOST);
        score.depth = score.depth.max(depth);
        true
    }

    /// Leaves a branch of which enough is counted; its answer is known. True if it did.
    pub(super) fn leave_counted(&mut self) -> bool {
        let Some(score) = self.score.filter(|score| score.count >= MOST) else { return false };
        self.frames.truncate(score.frame + 1);
        self.journal.truncate(score.journal);
        self.scratch.truncate(score.scratch);
        self.returned = Some(Answer::Invalid);
        true
    }

    /// Gives counting up, before the explanation is cut.
    pub(super) fn forget_score(&mut self) {
        if let Some(score) = self.score.take() {
            self.frames.truncate(score.frame + 1);
        }
    }
}
