//! Scans inside one token: white space, digits, the plain runs and escapes of strings.
//!
//! Invariant: every function looks at bytes from `at` on, never past the end, and says where it
//! stopped; none keeps state, so the reader can pause between any two.

use super::reader::Fault;
use super::tape::{MAX_PAYLOAD, Tag};

/// True if the literal stands at `at`.
#[inline(always)]
pub(super) fn starts(bytes: &[u8], at: usize, literal: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(literal))
}

/// Length of a string without escapes whose content begins at `start`, if it is short and sound.
#[inline(always)]
pub(super) fn short_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let eight = *bytes.get(at..at + 8)?.first_chunk::<8>()?;
        let hits = ascii_stops(u64::from_le_bytes(eight));
        if hits != 0 {
            let end = at + (hits.trailing_zeros() / 8) as usize;
            if bytes.get(end) == Some(&b'"') {
                return Some(end - start);
            }
            at = beyond_ascii(bytes, end, start + SHORT)?;
        } else {
            at += 8;
        }
        if at - start >= SHORT {
            return None;
        }
    }
}

/// Bytes of a string that is short.
const SHORT: usize = 40;

/// The position after the characters beyond ASCII that stand at `at`, or of one at or soon after
/// `pause`; none if there are none, or if one is no UTF-8.
#[inline(never)]
fn beyond_ascii(bytes: &[u8], mut at: usize, pause: usize) -> Option<usize> {
    let start = at;
    while at < pause
        && let Some(rest) = bytes.get(at..)
        && rest.first().is_some_and(|&byte| byte >= 0x80)
    {
        at += utf8_length(rest)?;
    }
    (at > start).then_some(at)
}

/// Length of the sequence of several bytes that begins a text, if it is UTF-8 (RFC 3629).
#[inline(always)]
fn utf8_length(bytes: &[u8]) -> Option<usize> {
    let continues = |byte: u8| byte & 0xC0 == 0x80;
    match *bytes {
        [0xC2..=0xDF, second, ..] if continues(second) => Some(2),
        [first @ 0xE0..=0xEF, second, third, ..] if continues(second) && continues(third) => {
            let bits = (first as u32) << 8 | second as u32;
            // Neither longer than needed nor half of a surrogate pair.
            (bits >= 0xE0A0 && !(0xEDA0..0xEE00).contains(&bits)).then_some(3)
        }
        [first @ 0xF0..=0xF4, second, third, fourth, ..]
            if continues(second) && continues(third) && continues(fourth) =>
        {
            let bits = (first as u32) << 8 | second as u32;
            (0xF090..0xF490).contains(&bits).then_some(4)
        }
        _ => None,
    }
}

/// Tag and length of a number without exponent that is well formed and far from overflow.
#[inline(always)]
pub(super) fn plain_number(bytes: &[u8], start: usize) -> Option<(Tag, usize)> {
    let whole = start + (bytes.get(start) == Some(&b'-')) as usize;
    let mut at = skip_digits(bytes, whole);
    let leading_zero = bytes.get(whole) == Some(&b'0') && at - whole > 1;
    if at == whole || leading_zero || at - whole > 300 {
        return None;
    }
    let mut tag = Tag::Integer;
    if bytes.get(at) == Some(&b'.') {
        tag = Tag::Decimal;
        let fraction = at + 1;
        at = skip_digits(bytes, fraction);
        if at == fraction || at - start > MAX_PAYLOAD as usize {
            return None;
        }
    }
    match bytes.get(at) {
        Some(b'e' | b'E') => None,
        _ => Some((tag, at - start)),
    }
}

#[inline]
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The first byte from `at` on that is no white space; moves `at` there.
#[inline(always)]
pub(super) fn byte_after_space(bytes: &[u8], at: &mut usize) -> Option<u8> {
    match bytes.get(*at).copied() {
        Some(..=b' ') => {
            *at = skip_space(bytes, *at);
            bytes.get(*at).copied()
        }
        byte => byte,
    }
}

#[inline(always)]
pub(super) fn skip_digits(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Marks the bytes that a plain run of ASCII stops at: quote, backslash, control characters, and
/// those beyond ASCII.
///
/// The mark is the byte's high bit. A borrow can mark a byte above a true one wrongly, never below
/// it: only the lowest mark counts.
#[inline(always)]
fn ascii_stops(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    (quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES) | word.wrapping_sub(ONES * 0x20) | word)
        & HIGHS
}

/// The first position from `at` on that holds a quote, a backslash or a control character; or one at
/// or soon after `pause`. Notes bytes that are not UTF-8 and goes on behind them.
pub(super) fn plain_run(bytes: &[u8], mut at: usize, pause: usize, broken: &mut bool) -> usize {
    loop {
        while at < pause
            && let Some([first, second]) = pair_at(bytes, at)
        {
            let (low, high) = (ascii_stops(first), ascii_stops(second));
            if low | high == 0 {
                at += 16;
                continue;
            }
            let (bytes_before, marks) = if low != 0 { (0, low) } else { (8, high) };
            at += bytes_before + (marks.trailing_zeros() / 8) as usize;
            break;
        }
        // Goes on only where the text ends soon.
        while let Some(&(0x20..=0x21 | 0x23..=0x5b | 0x5d..=0x7f)) = bytes.get(at) {
            if at >= pause {
                return at;
            }
            at += 1;
        }
        match bytes.get(at) {
            Some(0x80..) if at < pause => match beyond_ascii(bytes, at, pause) {
                Some(after) => at = after,
                None => {
                    *broken = true;
                    at += 1;
                }
            },
            _ => return at,
        }
    }
}

/// Sixteen bytes as two words.
#[inline(always)]
fn pair_at(bytes: &[u8], at: usize) -> Option<[u64; 2]> {
    let block = u128::from_le_bytes(*bytes.get(at..at.checked_add(16)?)?.first_chunk()?);
    Some([block as u64, (block >> 64) as u64])
}

/// Checks the escape at `at` and gives the position after it. Notes a lone surrogate.
pub(super) fn escape(bytes: &[u8], at: usize, lone: &mut bool) -> Result<usize, Fault> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let unit = hex4(bytes, at + 2).ok_or(Fault::Syntax(at as u32 + 2))?;
            match unit {
                0xD800..0xDC00 => {
                    // A bad second escape is refused when its own turn comes.
                    if bytes.get(at + 6..at + 8) == Some(b"\\u")
                        && hex4(bytes, at + 8).is_some_and(|low| (0xDC00..0xE000).contains(&low))
                    {
                        return Ok(at + 12);
                    }
                    *lone = true;
                }
                0xDC00..0xE000 => *lone = true,
                _ => {}
            }
            Ok(at + 6)
        }
        _ => Err(Fault::Syntax(at as u32)),
    }
}

/// The value of the four hexadecimal digits at `at`.
pub(super) fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | (digit as char).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn utf8_is_what_the_standard_library_takes() {
        let edges = [0, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for first in 0x80..=0xff {
            for second in 0..=0xff {
                for (third, fourth) in edges.iter().flat_map(|&a| edges.map(|b| (a, b))) {
                    let bytes = [first, second, third, fourth];
                    let valid = match std::str::from_utf8(&bytes) {
                        Ok(text) => Some(text.chars().next().unwrap().len_utf8()),
                        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()])
                            .ok()
                            .and_then(|text| text.chars().next())
                            .map(char::len_utf8),
                    };
                    assert_eq!(utf8_length(&bytes), valid, "{bytes:x?}");
                }
                assert_eq!(utf8_length(&[first]), None);
            }
        }
    }

    #[test]
    fn runs_stop_where_they_must() {
        for before in 0..40 {
            for character in ["", "é", "€", "😀", "日本語日本語日本語"] {
                let plain = format!("{}{character}{}", "x".repeat(before), "y".repeat(before % 5));
                for stop in ["\"", "\\", "\u{1f}"] {
                    let text = format!("{plain}{stop}{}", "z".repeat(20));
                    let mut broken = false;
                    let end = plain_run(text.as_bytes(), 0, usize::MAX, &mut broken);
                    assert_eq!((end, broken), (plain.len(), false), "{text}");
                    let mut at = 0;
                    while !text[at..].starts_with(stop) {
                        at = plain_run(text.as_bytes(), at, at + 1, &mut broken);
                    }
                    assert_eq!((at, broken), (plain.len(), false), "{text}");
                    let mut bytes = text.into_bytes();
                    bytes.insert(before, 0xff);
                    let end = plain_run(&bytes, 0, usize::MAX, &mut broken);
                    assert_eq!((end, broken), (plain.len() + 1, true));
                }
            }
        }
    }
}
