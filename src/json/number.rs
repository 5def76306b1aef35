//! Numbers as decimal text: exact, whatever their size.
//!
//! Invariant: every function takes text that the reader accepted as a number, and no answer passes
//! through binary floating point.

/// 2^1024 - 2^970: the least decimal that a double rounds to infinity. 309 digits.
const OVERFLOW: &[u8] = b"179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880";

/// True if `JSON.parse` would read the number as infinite.
pub(crate) fn overflows(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mantissa_end = text.iter().position(|byte| byte | 0x20 == b'e').unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(mantissa_end);
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let Some(first) = mantissa.iter().position(|byte| (b'1'..=b'9').contains(byte)) else {
        return false;
    };
    // The decimal exponent of the first significant digit.
    let lead = if first < point { point - first - 1 } else { 0 } as i64
        - if first > point { first - point } else { 0 } as i64;
    match lead.saturating_add(parse_exponent(exponent)) {
        ..308 => false,
        309.. => true,
        308 => {
            let digits = mantissa.iter().skip(first).filter(|&&byte| byte != b'.');
            let padded = digits.copied().chain(std::iter::repeat(b'0'));
            // Digits past the 309th only matter on a tie, where they cannot make it smaller.
            padded.take(OVERFLOW.len()).ge(OVERFLOW.iter().copied())
        }
    }
}

/// The exponent part of a number (`e`, sign, digits, or nothing), saturated.
fn parse_exponent(text: &[u8]) -> i64 {
    let Some((_, text)) = text.split_first() else { return 0 };
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    let value =
        digits.iter().fold(0_i64, |value, &digit| (value * 10 + (digit & 15) as i64).min(1 << 40));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn overflow_agrees_with_doubles() {
        let least = std::str::from_utf8(OVERFLOW).unwrap();
        let below = {
            let mut digits = OVERFLOW.to_vec();
            digits.truncate(OVERFLOW.len() - 2);
            String::from_utf8([&digits[..], b"79"].concat()).unwrap()
        };
        for text in [
            "1e308",
            "1e309",
            "-1e309",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "0e999",
            "0.0e999",
            "0.001e311",
            "0.001e312",
            "17976931348623157e292",
            "1e-999",
            "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880.5",
            least,
            &below,
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "9.99e307",
        ] {
            let infinite = text.parse::<f64>().unwrap().is_infinite();
            assert_eq!(overflows(text.as_bytes()), infinite, "{text}");
        }
    }
}
