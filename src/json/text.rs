//! Strings of a text: raw bytes between quotes, read through their escapes only when asked.
//!
//! Invariant: `raw` is what the reader accepted between two quotes, so every escape in it is
//! complete and every byte sequence is valid UTF-8.

use std::borrow::Cow;

use super::scan::hex4;

/// Bytes that the reader checked, as `str`. Anything else reads as empty.
#[inline]
pub(crate) fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or("")
}

/// A string or member name as it stands in a JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) escaped: bool,
    pub(crate) lone: bool,
}

impl<'a> Text<'a> {
    /// A string that needs no unescaping.
    pub fn plain(text: &'a str) -> Self {
        Text { raw: text.as_bytes(), escaped: false, lone: false }
    }

    /// The bytes between the quotes, escapes untouched.
    pub fn raw(self) -> &'a str {
        utf8(self.raw)
    }

    /// The bytes between the quotes, escapes untouched.
    #[inline]
    pub(crate) fn raw_bytes(self) -> &'a [u8] {
        self.raw
    }

    /// True if the raw bytes are the string itself.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        !self.escaped
    }

    /// True if the text has an escape that is half of a surrogate pair.
    pub fn has_lone_surrogate(self) -> bool {
        self.lone
    }

    /// The string, escapes resolved. A lone surrogate becomes U+FFFD: compare such texts with
    /// [`Text::to_wtf8`].
    pub fn to_str(self) -> Cow<'a, str> {
        if !self.escaped {
            return Cow::Borrowed(utf8(self.raw));
        }
        let mut out = String::with_capacity(self.raw.len());
        for point in self.points() {
            out.push(char::from_u32(point).unwrap_or('\u{FFFD}'));
        }
        Cow::Owned(out)
    }

    /// The string as generalised UTF-8, in which a lone surrogate takes three bytes: distinct
    /// strings of `JSON.parse` give distinct bytes.
    pub fn to_wtf8(self) -> Cow<'a, [u8]> {
        if !self.escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut out = Vec::with_capacity(self.raw.len());
        for point in self.points() {
            push_wtf8(&mut out, point);
        }
        Cow::Owned(out)
    }

    /// True if the string is this one.
    #[inline]
    pub fn eq_str(self, other: &str) -> bool {
        if !self.escaped {
            return self.raw == other.as_bytes();
        }
        // An escape is at least as long as what it stands for.
        self.raw.len() >= other.len()
            && !self.lone
            && self.points().eq(other.chars().map(|character| character as u32))
    }

    /// True if both are the same string, however escaped.
    pub fn eq_text(self, other: Text<'_>) -> bool {
        if !self.escaped && !other.escaped {
            return self.raw == other.raw;
        }
        self.points().eq(other.points())
    }

    /// The length in code points, as JSON Schema counts: a pair of escapes that form one
    /// character counts once, a lone surrogate once.
    pub fn code_points(self) -> usize {
        if self.escaped {
            return self.points().count();
        }
        // Every byte that does not continue a sequence starts a code point.
        self.raw.iter().filter(|&&byte| (byte as i8) >= -0x40).count()
    }

    /// The code points, escapes resolved; lone surrogates as they are.
    pub fn points(self) -> Points<'a> {
        self.points_from(0)
    }

    /// The code points from a byte on that [`Points::position`] named.
    pub(crate) fn points_from(self, at: usize) -> Points<'a> {
        Points { raw: self.raw, at }
    }
}

/// Iterator over the code points of a [`Text`].
#[derive(Clone)]
pub struct Points<'a> {
    raw: &'a [u8],
    at: usize,
}

impl Points<'_> {
    /// The byte at which the next code point starts.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn byte(&self, at: usize) -> u32 {
        self.raw.get(at).copied().unwrap_or(0) as u32
    }

    fn unicode_escape(&mut self) -> u32 {
        let high = hex4(self.raw, self.at).unwrap_or(0xFFFD);
        self.at += 4;
        if (0xD800..0xDC00).contains(&high)
            && self.raw.get(self.at..self.at + 2) == Some(b"\\u")
            && let Some(low @ 0xDC00..0xE000) = hex4(self.raw, self.at + 2)
        {
            self.at += 6;
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        }
        high
    }
}

impl Iterator for Points<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let first = *self.raw.get(self.at)?;
        self.at += 1;
        if first == b'\\' {
            let escape = self.byte(self.at);
            self.at += 1;
            return Some(match escape as u8 {
                b'b' => 8,
                b'f' => 12,
                b'n' => 10,
                b'r' => 13,
                b't' => 9,
                b'u' => self.unicode_escape(),
                _ => escape,
            });
        }
        let (length, mut point) = match first {
            0..0x80 => return Some(first as u32),
            0x80..0xE0 => (1, first as u32 & 0x1F),
            0xE0..0xF0 => (2, first as u32 & 0x0F),
            _ => (3, first as u32 & 0x07),
        };
        for _ in 0..length {
            point = point << 6 | (self.byte(self.at) & 0x3F);
            self.at += 1;
        }
        Some(point)
    }
}

/// Appends a code point as generalised UTF-8.
pub(crate) fn push_wtf8(out: &mut Vec<u8>, point: u32) {
    match char::from_u32(point) {
        Some(character) => {
            let mut buffer = [0; 4];
            out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        }
        None => out.extend_from_slice(&[
            0xE0 | (point >> 12) as u8,
            0x80 | (point >> 6 & 0x3F) as u8,
            0x80 | (point & 0x3F) as u8,
        ]),
    }
}

/// A JSON string literal.
pub fn quote(text: &str) -> String {
    // Text without lone surrogates always serializes.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    fn escaped(raw: &str) -> Text<'_> {
        Text { raw: raw.as_bytes(), escaped: true, lone: false }
    }

    #[test]
    fn escapes_are_resolved() {
        let text = escaped(r#"a\"\\\/\b\f\n\r\té\u0041\uD83D\uDE00"#);
        assert_eq!(text.to_str(), "a\"\\/\u{8}\u{c}\n\r\té\u{41}😀");
        assert_eq!(text.code_points(), 12);
        assert!(text.eq_str("a\"\\/\u{8}\u{c}\n\r\té\u{41}😀"));
        assert!(!text.eq_str("a"));
    }

    #[test]
    fn lone_surrogates_stay_distinct() {
        let high = Text { raw: br"\ud800", escaped: true, lone: true };
        let low = Text { raw: br"\udc00", escaped: true, lone: true };
        let swapped = Text { raw: br"\udc00\ud800", escaped: true, lone: true };
        assert_eq!(high.code_points(), 1);
        assert_eq!(swapped.code_points(), 2);
        assert_ne!(high.to_wtf8(), low.to_wtf8());
        assert!(!high.eq_text(low));
        assert!(!high.eq_str("\u{FFFD}"));
    }

    #[test]
    fn plain_text_counts_code_points() {
        assert_eq!(Text::plain("aé€😀").code_points(), 4);
        assert!(Text::plain("é").eq_text(escaped(r"\u00e9")));
    }

    #[test]
    fn a_text_is_quoted_as_json_has_it() {
        let every: String = (0..0x100).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\u{1F600}é", "\\", "a\"b\u{1}\u{1f}\n", every.as_str()] {
            assert_eq!(quote(text), serde_json::to_string(text).unwrap());
        }
    }
}
