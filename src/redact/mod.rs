//! Masking of credentials in text that a person or a model may come to see: the stderr tail,
//! diagnostics, recordings.
//!
//! Invariant: masking comes before every cut, so a cut never takes away the name or prefix that
//! gives a secret away. In doubt too much is masked, never too little. The cost is linear in the
//! text: the scanner goes forward only, and looks ahead no further than it then goes.
//!
//! Masked are (rows R71 and R73): values of names that end in KEY, TOKEN, SECRET, PASSWORD,
//! PASSPHRASE or CREDENTIAL(S), in environment, JSON, header, query-string and flag form;
//! authorization and cookie headers; bearer, basic and vendor-prefixed tokens; private-key blocks;
//! command-line passwords; user information in URLs.

mod json;
mod lines;
mod names;
mod scan;
mod streams;
mod tail;

use std::borrow::Cow;

pub use json::mask_json;
pub use scan::Masker;
pub use streams::{ErrorOutputMasker, OutputMasker};
pub use tail::StderrTail;

/// What stands in place of a secret.
pub const MARK: &str = "[REDACTED]";

/// Text read past a cut, so that a secret across the cut is still recognised.
const MARGIN: usize = 32 * 1024;

/// Masks the credentials in a text of any number of lines.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    mask_until(text, usize::MAX, &mut out);
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// Masks a text and cuts it to `max_bytes` on a character boundary; true if something was cut.
/// Only as much is read as is handed out, and a margin.
pub fn mask_and_cut(text: &str, max_bytes: usize) -> (String, bool) {
    let mut out = String::new();
    let whole = mask_until(text, max_bytes, &mut out);
    let cut = cut(&out, max_bytes).len();
    let truncated = !whole || cut < out.len();
    out.truncate(cut);
    (out, truncated)
}

/// The longest start of a text that has at most `max_bytes` and ends on a character boundary.
pub fn cut(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or(text)
}

/// The longest end of a text that has at most `max_bytes` and starts on a character boundary.
pub fn cut_start(text: &str, max_bytes: usize) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(max_bytes));
    text.get(start..).unwrap_or(text)
}

/// Masks line by line until `enough` bytes are out; true if that was the whole text.
fn mask_until(text: &str, enough: usize, out: &mut String) -> bool {
    let mut masker = Masker::default();
    let mut rest = Some(text);
    while let Some(current) = rest {
        if out.len() > enough {
            return false;
        }
        let (line, next) = match current.split_once('\n') {
            Some((line, next)) => (line, Some(next)),
            None => (current, None),
        };
        let window = cut(line, (enough - out.len()).saturating_add(MARGIN));
        if window.len() < line.len() {
            masker.line(window, true, out);
            return false;
        }
        masker.line(line, false, out);
        if next.is_some() && !masker.is_inside() {
            out.push('\n');
        }
        rest = next;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn text_without_secrets_is_borrowed() {
        for text in ["", "a\nb\n", "listening on http://localhost:8080/", "tokens: 12, monkeys"] {
            assert!(matches!(mask(text), Cow::Borrowed(_)), "{text}");
        }
    }

    /// C-451 and C-452.
    #[test]
    fn cuts_on_a_character_boundary() {
        let long = "x".repeat(16_383) + "😀";
        assert_eq!(mask_and_cut(&long, 16_384), ("x".repeat(16_383), true));
        let exact = "x".repeat(16_384);
        assert_eq!(mask_and_cut(&exact, 16_384), (exact.clone(), false));
        assert_eq!(cut_start("é😀", 5), "😀");
        assert_eq!(cut_start("é😀", 6), "é😀");
        assert_eq!(cut("é😀", 1), "");
    }

    #[test]
    fn a_cut_never_uncovers_a_secret() {
        let text = "at https://user:hunter2hunter2@host/ with ghp_0123456789012345678901234567890";
        for max in 0..text.len() + 20 {
            let (cut, truncated) = mask_and_cut(text, max);
            assert!(!cut.contains("hunter2") && !cut.contains("ghp_"), "{max}: {cut}");
            assert_eq!(truncated, max < mask(text).len(), "{max}");
        }
        // The secret goes on beyond all that is read.
        let endless = format!("https://user:{}@host", "p".repeat(100_000));
        assert_eq!(mask_and_cut(&endless, 100), ("https://[REDACTED]".to_owned(), true));
    }

    #[test]
    fn a_long_masked_value_leaves_room_for_what_follows() {
        let text = format!("API_KEY={} done", "k".repeat(20_000));
        assert_eq!(mask_and_cut(&text, 16_384), ("API_KEY=[REDACTED] done".to_owned(), false));
    }
}
