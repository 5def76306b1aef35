//! Masking of a server's two streams for a recording: bytes in any pieces in, masked lines out.
//!
//! Invariants: nothing is given out that was not masked as part of its line; the masked stream of
//! stdout frames as the original does (as many lines, each JSON if it was, over-long if it was).
//! At most one line is held, of at most the session's bound.

use std::borrow::Cow;

use super::lines::{Masked, MaskedLines};
use super::scan::Masker;
use super::{MARK, mask_json};

const BOM: &str = "\u{FEFF}";

/// Masks stdout. The methods give true if something was masked.
pub struct OutputMasker {
    max: usize,
    strict: bool,
    held: Vec<u8>,
    /// True while the rest of an over-long line is left out.
    skipping: bool,
    /// `strict`: an over-long line ended the reading.
    broken: bool,
    masker: Masker,
}

impl OutputMasker {
    /// A masker for a session that reads lines of at most `max` bytes.
    pub fn new(max: usize, strict: bool) -> Self {
        let (held, masker) = (Vec::new(), Masker::default());
        OutputMasker { max, strict, held, skipping: false, broken: false, masker }
    }

    /// The stream begins anew.
    pub fn reset(&mut self) {
        *self = OutputMasker::new(self.max, self.strict);
    }

    /// Takes bytes; appends the lines that they complete. An over-long line counts as complete
    /// when its bound is passed, as it does for the session.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> bool {
        let mut changed = false;
        for piece in chunk.split_inclusive(|&byte| byte == b'\n') {
            if self.broken {
                break;
            }
            let ends = piece.last() == Some(&b'\n');
            if self.skipping {
                if ends {
                    self.skipping = false;
                    out.push(b'\n');
                }
                continue;
            }
            self.held.extend_from_slice(piece);
            let line = self.held.strip_suffix(b"\n").unwrap_or(&self.held);
            // A carriage return past the bound is, or may turn out to be, part of the terminator.
            let content = line.strip_suffix(b"\r").unwrap_or(line).len();
            let too_long = content > self.max || (!ends && line.len() > self.max + 1);
            if ends || too_long {
                changed |= self.give(too_long, out);
            }
            if too_long {
                self.broken = self.strict;
                self.skipping = !ends;
            }
        }
        changed
    }

    /// The stream ended: appends the line that has no terminator.
    pub fn end(&mut self, out: &mut Vec<u8>) -> bool {
        !self.held.is_empty() && self.give(false, out)
    }

    /// Appends the line that is held, masked.
    fn give(&mut self, too_long: bool, out: &mut Vec<u8>) -> bool {
        let held = std::mem::take(&mut self.held);
        let line = held.trim_ascii_end();
        let (text, is_utf8) = match std::str::from_utf8(line) {
            Ok(text) => (Cow::Borrowed(text), true),
            Err(_) => (String::from_utf8_lossy(line), false),
        };
        let (mark, body) = match text.strip_prefix(BOM) {
            Some(body) => (BOM, body),
            None => ("", &*text),
        };
        let json = if too_long { None } else { mask_json(body) };
        let masked = match json {
            Some(Cow::Borrowed(_)) => None,
            Some(Cow::Owned(masked)) => Some(masked),
            None => self.plain(body, too_long),
        };
        let Some(masked) = masked else {
            out.extend_from_slice(&held);
            return false;
        };
        let start = out.len();
        out.extend_from_slice(mark.as_bytes());
        out.extend_from_slice(masked.as_bytes());
        if !is_utf8 && !self.strict {
            // `contain` refuses such a line, and is to refuse it still.
            out.push(0xFF);
        }
        if too_long {
            let missing = line.len().saturating_sub(out.len() - start);
            out.resize(out.len() + missing, b'.');
        }
        out.extend_from_slice(held.get(line.len()..).unwrap_or_default());
        true
    }

    /// Masks a line that is no JSON; `None` if there is nothing to mask.
    fn plain(&mut self, line: &str, partial: bool) -> Option<String> {
        let plain = super::lines::without_escapes(line);
        let mut masked = String::new();
        self.masker.line(&plain, partial, &mut masked);
        if masked == plain {
            return None;
        }
        if masked.trim().is_empty() {
            // Inside a secret of several lines: a blank line would be no line.
            masked.push_str(MARK);
        }
        Some(masked.replace('\n', " "))
    }
}

/// Masks stderr. The methods give true if something was masked.
#[derive(Default)]
pub struct ErrorOutputMasker {
    lines: MaskedLines,
    /// What was given out of the line under way.
    given: String,
    /// True if the line under way has bytes that were not looked at.
    fresh: bool,
}

impl ErrorOutputMasker {
    /// Takes bytes; appends the lines that they complete.
    pub fn push(&mut self, chunk: &[u8], out: &mut String) -> bool {
        let (mut changed, given) = (false, &mut self.given);
        self.lines.push(chunk, &mut |line: Masked<'_>| {
            changed |= line.changed;
            match line.text.strip_prefix(given.as_str()) {
                Some(rest) => out.push_str(rest),
                None => {
                    // More text showed a secret in what was given out, which was masked as far as
                    // it was there.
                    out.push('\n');
                    out.push_str(line.text);
                }
            }
            out.push('\n');
            given.clear();
        });
        self.fresh = true;
        changed
    }

    /// Appends what there is of an unfinished line, so that others see the tail as it stands.
    pub fn pending(&mut self, out: &mut String) -> bool {
        if !std::mem::take(&mut self.fresh) {
            return false;
        }
        let given = &mut self.given;
        self.lines.pending(|line| {
            let Some(rest) = line.text.strip_prefix(given.as_str()) else { return false };
            out.push_str(rest);
            given.push_str(rest);
            line.changed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn output(text: &[u8], split: usize, max: usize, strict: bool) -> (Vec<u8>, bool) {
        let (mut masker, mut out) = (OutputMasker::new(max, strict), Vec::new());
        let mut changed = false;
        for chunk in text.chunks(split) {
            changed |= masker.push(chunk, &mut out);
        }
        changed |= masker.end(&mut out);
        (out, changed)
    }

    #[test]
    fn lines_without_secrets_pass_as_they_are() {
        let text = b"\xEF\xBB\xBF{\"a\": 1}\r\n\r\nnoise \x1B[31mred\n\xFF\xFE\n[1]\n{\"cut";
        for split in [1, 3, 1000] {
            assert_eq!(output(text, split, 100, false), (text.to_vec(), false), "{split}");
        }
    }

    #[test]
    fn secrets_are_masked_however_the_bytes_come() {
        let text = "{\"id\":1,\"token\":\"hunter2\"}\r\n\u{FEFF}{\"secret\":7}\nexport API_KEY=hunter2\n\
            -----BEGIN RSA PRIVATE KEY-----\nhunter2hunter2\n-----END RSA PRIVATE KEY-----\n\
            API_\u{1B}[1mKEY=hunter2";
        let whole = output(text.as_bytes(), 10_000, 1000, false);
        let shown = String::from_utf8(whole.0.clone()).unwrap();
        assert!(whole.1 && !shown.contains("hunter2"), "{shown}");
        assert!(
            shown.starts_with("{\"id\":1,\"token\":\"[REDACTED]\"}\r\n\u{FEFF}{\"secret\":0}\n")
        );
        assert_eq!(shown.lines().count(), text.lines().count());
        assert!(shown.lines().all(|line| !line.trim().is_empty()));
        for split in [1, 2, 7] {
            assert_eq!(output(text.as_bytes(), split, 1000, false), whole, "{split}");
        }
    }

    #[test]
    fn what_is_no_utf8_stays_so() {
        let (out, changed) = output(b"API_KEY=abcdef \xFF\n", 4, 100, false);
        assert!(changed && std::str::from_utf8(&out).is_err() && out.ends_with(b"\xFF\n"));
    }

    #[test]
    fn over_long_lines_stay_over_long() {
        for split in [1, 5, 1000] {
            let text = b"API_KEY=abcdefghijklmnopqrstuvwxyz\nok\n";
            let (out, changed) = output(text, split, 20, false);
            let line = out.split(|&byte| byte == b'\n').next().unwrap();
            assert!(changed && line.len() > 20 && line.starts_with(b"API_KEY=[REDACTED]"));
            assert!(out.ends_with(b"\nok\n"));
            let (out, _) = output(b"0123456789ABCDEF\nok\n", split, 10, true);
            assert!(out.len() > 10 && !out.ends_with(b"ok\n"));
        }
        let exact = b"0123456789\r\n0123456789\n";
        for split in [1, 11, 100] {
            assert_eq!(output(exact, split, 10, true).0, exact);
        }
    }

    #[test]
    fn stderr_is_given_line_by_line_and_as_it_stands() {
        let (mut masker, mut out) = (ErrorOutputMasker::default(), String::new());
        assert!(!masker.push(b"one\ntw", &mut out));
        assert_eq!(out, "one\n");
        assert!(!masker.pending(&mut out));
        assert_eq!(out, "one\ntw");
        assert!(!masker.pending(&mut out));
        assert!(!masker.push(b"o \xE2\x82", &mut out));
        masker.pending(&mut out);
        masker.push(b"\xAC\nAPI_", &mut out);
        assert_eq!(out, "one\ntwo \u{20AC}\n");
        masker.pending(&mut out);
        masker.push(b"KEY=hun", &mut out);
        assert!(masker.pending(&mut out));
        assert!(masker.push(b"ter2\nlast\n", &mut out));
        assert!(!out.contains("hun") && !out.contains("ter2"), "{out}");
        assert!(out.ends_with("KEY=[REDACTED]\nlast\n"), "{out}");
    }

    #[test]
    fn a_token_cut_anywhere_is_not_uncovered() {
        let text = "using ghp_0123456789abcdef0123 and password=hunter2hunter2 done\n";
        for split in 1..text.len() {
            let (mut masker, mut out) = (ErrorOutputMasker::default(), String::new());
            for chunk in text.as_bytes().chunks(split) {
                masker.push(chunk, &mut out);
                masker.pending(&mut out);
            }
            assert!(!out.contains("0123") && !out.contains("hunter"), "{split}: {out}");
        }
    }
}
