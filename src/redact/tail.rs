//! The last lines of a child's stderr, masked.
//!
//! Invariant: what was kept was masked as part of its line first and cut after. Memory is bounded
//! by twice the bytes asked for and one line.

use super::scan::Masker;

/// Bytes of a line that is kept; longer ones are replaced by [`LONG_LINE`].
const MAX_LINE: usize = 32 * 1024;

/// What stands in place of a line that is too long.
const LONG_LINE: &str = "[LINE OMITTED]";

/// The tail of a stream of bytes: lines masked, white space collapsed, the last bytes kept.
#[derive(Clone, Debug)]
pub struct StderrTail {
    max_bytes: usize,
    masker: Masker,
    /// The line under way, or the last piece of it if it is too long.
    line: Vec<u8>,
    is_long: bool,
    kept: String,
}

impl StderrTail {
    /// A tail of at most `max_bytes` bytes.
    pub fn new(max_bytes: usize) -> Self {
        let (masker, line, kept) = (Masker::default(), Vec::new(), String::new());
        StderrTail { max_bytes, masker, line, is_long: false, kept }
    }

    /// Takes the next bytes, split anywhere.
    pub fn push(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while let Some(&first) = rest.first() {
            if first == b'\n' {
                self.end_line();
                rest = rest.get(1..).unwrap_or(&[]);
                continue;
            }
            let room = (MAX_LINE + 1).saturating_sub(self.line.len()).max(1);
            let end = rest.iter().take(room).position(|&byte| byte == b'\n');
            let (piece, next) = rest.split_at(end.unwrap_or(room.min(rest.len())));
            self.line.extend_from_slice(piece);
            rest = next;
            if self.line.len() > MAX_LINE {
                self.skim();
            }
        }
    }

    /// The stream ended: an unfinished line counts as a line.
    pub fn end(&mut self) {
        if !self.line.is_empty() || self.is_long {
            self.end_line();
        }
    }

    /// The tail as it stands, an unfinished line included. Empty if nothing was written.
    pub fn text(&self) -> String {
        let mut kept = self.kept.clone();
        if self.is_long {
            append(&mut kept, LONG_LINE, false);
        } else if !self.line.is_empty() {
            let mut masked = String::new();
            let line = String::from_utf8_lossy(&self.line);
            self.masker.clone().line(&without_escapes(&line), true, &mut masked);
            append(&mut kept, &masked, self.masker.is_inside());
        }
        super::cut_start(&kept, self.max_bytes).trim().to_owned()
    }

    /// True if nothing but white space was written.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty() && !self.is_long && self.line.iter().all(u8::is_ascii_whitespace)
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut joins = self.masker.is_inside();
        let mut masked = String::new();
        self.masker.line(&without_escapes(&String::from_utf8_lossy(&line)), false, &mut masked);
        if std::mem::take(&mut self.is_long) {
            masked.clear();
            masked.push_str(LONG_LINE);
            joins = false;
        }
        append(&mut self.kept, &masked, joins);
        if self.kept.len() > self.max_bytes.saturating_mul(2) {
            let kept = super::cut_start(&self.kept, self.max_bytes).to_owned();
            self.kept = kept;
        }
        // The allocation is used again unless it is one of a long line.
        if line.capacity() <= MAX_LINE {
            self.line = line;
            self.line.clear();
        }
    }

    /// Reads a piece of a line that is too long: only for a secret that it may open.
    fn skim(&mut self) {
        self.is_long = true;
        let text = String::from_utf8_lossy(&self.line);
        self.masker.line(&without_escapes(&text), true, &mut String::new());
        let again = self.masker.overlap(&self.line);
        self.line.drain(..self.line.len() - again);
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

/// The line without terminal control sequences: colours between a name and its value would hide
/// that they belong together.
fn without_escapes(line: &str) -> std::borrow::Cow<'_, str> {
    if !line.contains('\u{1B}') {
        return line.into();
    }
    let mut plain = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character != '\u{1B}' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            // A control sequence ends with a byte from `@` to `~`.
            Some('[') => {
                characters.by_ref().find(|end| ('@'..='~').contains(end));
            }
            // An operating-system command ends with BEL or ESC `\`.
            Some(']') => {
                let end = characters.by_ref().find(|end| matches!(end, '\u{7}' | '\u{1B}'));
                if end == Some('\u{1B}') {
                    characters.next();
                }
            }
            _ => {}
        }
    }
    plain.into()
}

#[cfg(test)]
mod tests;
