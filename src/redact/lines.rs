//! A stream of bytes as masked lines, for text that people read: stderr.
//!
//! Invariant: a line is masked as a whole, terminal control sequences removed; of a line that is
//! too long nothing is given out. Memory is bounded by one line.

use std::borrow::Cow;

use super::scan::Masker;

/// Bytes of a line that is kept; longer ones are replaced by [`LONG_LINE`].
pub(super) const MAX_LINE: usize = 32 * 1024;

/// What stands in place of a line that is too long.
pub(super) const LONG_LINE: &str = "[LINE OMITTED]";

/// A masked line, or an unfinished one as it stands.
pub(super) struct Masked<'a> {
    pub(super) text: &'a str,
    /// It goes on with a secret of the line before: nothing may be put between.
    pub(super) joins: bool,
    /// Something was masked or left out.
    pub(super) changed: bool,
}

/// Splits bytes into lines and masks them.
#[derive(Clone, Debug, Default)]
pub(super) struct MaskedLines {
    masker: Masker,
    /// The line under way, or the last piece of it if it is too long.
    pub(super) line: Vec<u8>,
    is_long: bool,
}

impl MaskedLines {
    /// Takes the next bytes, split anywhere.
    pub(super) fn push(&mut self, chunk: &[u8], take: &mut impl FnMut(Masked<'_>)) {
        let mut rest = chunk;
        while let Some(&first) = rest.first() {
            if first == b'\n' {
                self.end_line(take);
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
    pub(super) fn end(&mut self, take: &mut impl FnMut(Masked<'_>)) {
        if !self.line.is_empty() || self.is_long {
            self.end_line(take);
        }
    }

    /// Shows an unfinished line as it stands; the default if there is none.
    pub(super) fn pending<T: Default>(&self, show: impl FnOnce(Masked<'_>) -> T) -> T {
        if self.is_long {
            return show(Masked { text: LONG_LINE, joins: false, changed: true });
        }
        // A character that is not complete is not there yet.
        let line = match std::str::from_utf8(&self.line) {
            Err(error) if error.error_len().is_none() => self.line.get(..error.valid_up_to()),
            _ => Some(&*self.line),
        };
        let line = line.unwrap_or_default();
        if line.is_empty() {
            return T::default();
        }
        let mut masked = String::new();
        let line = String::from_utf8_lossy(line);
        let plain = without_escapes(&line);
        self.masker.clone().line(&plain, true, &mut masked);
        let joins = self.masker.is_inside();
        show(Masked { text: &masked, joins, changed: joins || masked != plain })
    }

    /// True if the line under way holds nothing but white space.
    pub(super) fn is_blank(&self) -> bool {
        !self.is_long && self.line.iter().all(u8::is_ascii_whitespace)
    }

    fn end_line(&mut self, take: &mut impl FnMut(Masked<'_>)) {
        let line = std::mem::take(&mut self.line);
        let joins = self.masker.is_inside();
        let mut masked = String::new();
        let text = String::from_utf8_lossy(&line);
        let plain = without_escapes(&text);
        self.masker.line(&plain, false, &mut masked);
        if std::mem::take(&mut self.is_long) {
            take(Masked { text: LONG_LINE, joins: false, changed: true });
        } else {
            take(Masked { text: &masked, joins, changed: joins || masked != plain });
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

/// The line without terminal control sequences: colours between a name and its value would hide
/// that they belong together.
pub(super) fn without_escapes(line: &str) -> Cow<'_, str> {
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
