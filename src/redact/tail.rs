//! The last lines of a child's stderr, masked.
//!
//! Invariant: what was kept was masked as part of its line first and cut after. Memory is bounded
//! by twice the bytes asked for and one line.

use super::lines::{Masked, MaskedLines};

/// The tail of a stream of bytes: lines masked, white space collapsed, the last bytes kept.
#[derive(Clone, Debug)]
pub struct StderrTail {
    max_bytes: usize,
    lines: MaskedLines,
    kept: String,
}

impl StderrTail {
    /// A tail of at most `max_bytes` bytes.
    pub fn new(max_bytes: usize) -> Self {
        StderrTail { max_bytes, lines: MaskedLines::default(), kept: String::new() }
    }

    /// Takes the next bytes, split anywhere.
    pub fn push(&mut self, chunk: &[u8]) {
        let StderrTail { max_bytes, lines, kept } = self;
        lines.push(chunk, &mut |line| keep(kept, &line, *max_bytes));
    }

    /// The stream ended: an unfinished line counts as a line.
    pub fn end(&mut self) {
        let StderrTail { max_bytes, lines, kept } = self;
        lines.end(&mut |line| keep(kept, &line, *max_bytes));
    }

    /// The tail as it stands, an unfinished line included. Empty if nothing was written.
    pub fn text(&self) -> String {
        let mut kept = self.kept.clone();
        self.lines.pending(|line| append(&mut kept, line.text, line.joins));
        super::cut_start(&kept, self.max_bytes).trim().to_owned()
    }

    /// True if nothing but white space was written.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.lines.is_blank()
    }
}

fn keep(kept: &mut String, line: &Masked<'_>, max_bytes: usize) {
    append(kept, line.text, line.joins);
    if kept.len() > max_bytes.saturating_mul(2) {
        *kept = super::cut_start(kept, max_bytes).to_owned();
    }
}

/// Appends with every run of white space and control characters as one blank, and one before the
/// text unless it `joins`.
fn append(kept: &mut String, text: &str, joins: bool) {
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    let mut joins = joins && !text.starts_with(is_gap);
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        if !kept.is_empty() && !std::mem::take(&mut joins) {
            kept.push(' ');
        }
        kept.push_str(word);
    }
}

#[cfg(test)]
mod tests;
