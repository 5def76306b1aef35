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

/// Length of an ASCII string without escapes whose content begins at `start`, if it is short.
#[inline(always)]
pub(super) fn short_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let eight = *bytes.get(at..at + 8)?.first_chunk::<8>()?;
        let hits = ascii_stops(u64::from_le_bytes(eight));
        if hits != 0 {
            let end = at + (hits.trailing_zeros() / 8) as usize;
            return (bytes.get(end) == Some(&b'"')).then_some(end - start);
        }
        at += 8;
        if at - start >= SHORT {
            return None;
        }
    }
}

/// Bytes of a string that is short.
const SHORT: usize = 40;

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

/// Marks the bytes that end a plain run of a string: quote, backslash, control characters.
///
/// The mark is the byte's high bit. A borrow can mark a byte above a true one wrongly, never below
/// it: only the lowest mark counts.
#[inline]
fn string_stops(word: u64) -> u64 {
    // A byte with a high bit keeps it in all three, borrows nothing and is masked out at the end.
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    (quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES) | word.wrapping_sub(ONES * 0x20))
        & !word
        & HIGHS
}

/// Marks the same bytes, and those beyond ASCII, as [`string_stops`] does: only the lowest mark
/// counts. Bytes with a high bit are marked in any case, which makes the others cheaper to tell.
#[inline(always)]
fn ascii_stops(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    (quote.wrapping_sub(ONES) | slash.wrapping_sub(ONES) | word.wrapping_sub(ONES * 0x20) | word)
        & HIGHS
}

/// The first position from `at` on that holds a quote, a backslash or a control character, eight
/// bytes at a time; or one at or soon after `pause`. Notes bytes beyond ASCII.
#[inline]
pub(super) fn plain_run(bytes: &[u8], mut at: usize, pause: usize, non_ascii: &mut bool) -> usize {
    let mut high = 0;
    while let Some([first, second]) = pair_at(bytes, at) {
        if string_stops(first) | string_stops(second) != 0 || at >= pause {
            break;
        }
        high |= first | second;
        at += 16;
    }
    while let Some(&eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(eight);
        let hits = string_stops(word);
        if hits != 0 {
            let length = hits.trailing_zeros() / 8;
            // Only bytes before the hit count.
            let before = (1_u64 << (8 * length)).wrapping_sub(1);
            *non_ascii |= (high | word & before) & HIGHS != 0;
            return at + length as usize;
        }
        high |= word;
        at += 8;
        if at >= pause {
            *non_ascii |= high & HIGHS != 0;
            return at;
        }
    }
    while let Some(&byte @ (0x20..=0x21 | 0x23..=0x5b | 0x5d..)) = bytes.get(at) {
        high |= (byte as u64) << 56;
        at += 1;
    }
    *non_ascii |= high & HIGHS != 0;
    at
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
