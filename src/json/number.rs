//! Numbers as decimal text: exact, whatever their size.
//!
//! Invariant: every function takes text that the reader accepted as a number, and no answer passes
//! through binary floating point but that of [`double`], which is asked for it. Exponents beyond
//! ±10^17 count as that.

use std::cmp::Ordering;

/// 2^1024 - 2^970: the least decimal that a double rounds to infinity. 309 digits.
const OVERFLOW: &[u8] = b"179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880";

/// True if `JSON.parse` would read the number as infinite.
pub(crate) fn overflows(text: &[u8]) -> bool {
    let number = Decimal::parse(text);
    if number.is_zero() {
        return false;
    }
    match number.lead {
        ..308 => false,
        309.. => true,
        308 => {
            let padded = number.digits().chain(std::iter::repeat(b'0'));
            // Digits past the 309th only matter on a tie, where they cannot make it smaller.
            padded.take(OVERFLOW.len()).ge(OVERFLOW.iter().copied())
        }
    }
}

/// A number as sign, significant digits and the decimal exponent of the first of them.
///
/// Two texts of one value give the same sign, exponent and digits, so comparing these compares the
/// values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal<'a> {
    negative: bool,
    /// From the first to the last non-zero digit; may hold the decimal point. Empty for zero.
    significant: &'a [u8],
    lead: i64,
}

impl<'a> Decimal<'a> {
    pub(crate) fn parse(text: &'a [u8]) -> Self {
        let (negative, text) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let end = text.iter().position(|byte| byte | 0x20 == b'e').unwrap_or(text.len());
        let (mantissa, exponent) = text.split_at(end);
        let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
        let nonzero = |byte: &u8| (b'1'..=b'9').contains(byte);
        let (Some(first), Some(last)) =
            (mantissa.iter().position(nonzero), mantissa.iter().rposition(nonzero))
        else {
            return Decimal { negative: false, significant: &[], lead: 0 };
        };
        // Before the point, the digit left of it has exponent 0; after it, the first has -1.
        let lead = match first < point {
            true => (point - first - 1) as i64,
            false => -((first - point) as i64),
        };
        Decimal {
            negative,
            significant: mantissa.get(first..=last).unwrap_or(&[]),
            lead: lead + parse_exponent(exponent),
        }
    }

    pub(crate) fn is_zero(self) -> bool {
        self.significant.is_empty()
    }

    pub(crate) fn is_negative(self) -> bool {
        self.negative
    }

    /// The significant digits as ASCII.
    pub(crate) fn digits(self) -> impl Iterator<Item = u8> + 'a {
        self.significant.iter().copied().filter(|&byte| byte != b'.')
    }

    /// Number of significant digits.
    pub(crate) fn len(self) -> usize {
        let mut points = self.significant.iter().filter(|&&byte| byte == b'.');
        self.significant.len() - points.next().is_some() as usize
    }

    /// The decimal exponent of the first significant digit.
    pub(crate) fn lead(self) -> i64 {
        self.lead
    }

    /// The decimal exponent of the last significant digit; 0 for zero.
    pub(crate) fn scale(self) -> i64 {
        match self.is_zero() {
            true => 0,
            false => self.lead + 1 - self.len() as i64,
        }
    }

    /// True if the fraction is zero, however written.
    pub(crate) fn is_integer(self) -> bool {
        self.scale() >= 0
    }

    pub(crate) fn compare(self, other: Decimal<'_>) -> Ordering {
        let sign = |number: Decimal<'_>| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let (left, right) = (sign(self), sign(other));
        if left != right || left == 0 {
            return left.cmp(&right);
        }
        // Trailing zeros are gone, so of two digit strings a proper prefix is the smaller.
        let magnitude = self.lead.cmp(&other.lead).then_with(|| self.digits().cmp(other.digits()));
        if left < 0 { magnitude.reverse() } else { magnitude }
    }
}

/// Compares two numbers by value.
pub(crate) fn compare(left: &[u8], right: &[u8]) -> Ordering {
    match (small(left), small(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => Decimal::parse(left).compare(Decimal::parse(right)),
    }
}

/// True if the number has no fraction, however written.
pub(crate) fn is_integer(text: &[u8]) -> bool {
    Decimal::parse(text).is_integer()
}

/// The number, if it is written as an integer of at most 18 digits.
#[inline]
pub(crate) fn small(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if digits.len() > 18 {
        return None;
    }
    let mut value = 0_i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + (digit & 15) as i64;
    }
    Some(if negative { -value } else { value })
}

/// How a number compares with a short integer; `None` if that takes more than a look at its digits.
#[inline]
pub(crate) fn compare_with(text: &[u8], limit: i64) -> Option<Ordering> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let mut whole = 0_i64;
    for (index, &byte) in digits.iter().enumerate().take(19) {
        match byte {
            b'0'..=b'9' if index < 18 => whole = whole * 10 + (byte & 15) as i64,
            b'.' => {
                let rest = digits.get(index + 1..)?;
                let mut fraction = false;
                for digit in rest {
                    match digit {
                        b'0' => {}
                        b'1'..=b'9' => fraction = true,
                        _ => return None,
                    }
                }
                let towards = if negative { Ordering::Less } else { Ordering::Greater };
                let beyond = if fraction { towards } else { Ordering::Equal };
                let whole = if negative { -whole } else { whole };
                return Some(whole.cmp(&limit).then(beyond));
            }
            _ => return None,
        }
    }
    (digits.len() <= 18).then(|| if negative { -whole } else { whole }.cmp(&limit))
}

/// The nearest double, as `JSON.parse` reads it; zero has one sign.
pub(crate) fn double(text: &str) -> f64 {
    // Adding a positive zero turns -0 into 0 and changes nothing else.
    text.parse::<f64>().unwrap_or(0.0) + 0.0
}

/// Exponents are saturated here, so that sums of them do not overflow.
const MAX_EXPONENT: i64 = 100_000_000_000_000_000;

/// The exponent part of a number (`e`, sign, digits, or nothing), saturated.
fn parse_exponent(text: &[u8]) -> i64 {
    let Some((_, text)) = text.split_first() else { return 0 };
    let (negative, digits) = match text.split_first() {
        Some((b'-', digits)) => (true, digits),
        Some((b'+', digits)) => (false, digits),
        _ => (false, text),
    };
    let value = digits
        .iter()
        .fold(0_i64, |value, &digit| (value * 10 + (digit & 15) as i64).min(MAX_EXPONENT));
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn comparing_with_a_short_integer_is_comparing() {
        let numbers = [
            "0",
            "-0",
            "0.0",
            "-0.0",
            "0.5",
            "-0.5",
            "1",
            "-1",
            "1.0",
            "1.01",
            "-1.01",
            "9.99",
            "10",
            "12.50",
            "-12.50",
            "999999999999999999",
            "999999999999999999.5",
            "1e3",
            "-2E-3",
            "1000000000000000000",
            "123456789012345678901234567890.5",
            "0.000000000000000000000001",
        ];
        for text in numbers {
            for limit in [0, 1, -1, 10, 12, -12, 13, -13, 999_999_999_999_999_999] {
                if let Some(order) = super::compare_with(text.as_bytes(), limit) {
                    let exact = super::compare(text.as_bytes(), limit.to_string().as_bytes());
                    assert_eq!(order, exact, "{text} {limit}");
                }
            }
            let is_short = !text.contains(['e', 'E']) && text.split('.').next().unwrap().len() < 19;
            assert_eq!(super::compare_with(text.as_bytes(), 0).is_some(), is_short, "{text}");
        }
    }

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

    #[test]
    fn comparison_is_exact() {
        let ascending = [
            "-1e400",
            "-9007199254740993",
            "-9007199254740992",
            "-1.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.1",
            "0.10000000000000000001",
            "1",
            "1.5",
            "9.99e0",
            "10",
            "9007199254740992",
            "9007199254740992.5",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "1e400",
            "1.00000000000000000000000001e400",
        ];
        for (i, left) in ascending.iter().enumerate() {
            for (j, right) in ascending.iter().enumerate() {
                assert_eq!(compare(left.as_bytes(), right.as_bytes()), i.cmp(&j), "{left} {right}");
            }
        }
        for (left, right) in
            [("1", "1.0"), ("10e-1", "1"), ("-0", "0.0e5"), ("120", "1.2E2"), ("0.012", "12e-3")]
        {
            assert_eq!(compare(left.as_bytes(), right.as_bytes()), Ordering::Equal);
        }
    }

    #[test]
    fn integers_are_known_however_written() {
        for text in ["0", "-0.0", "1.0", "1e3", "12.50e1", "1e300", "12345678901234567890123"] {
            assert!(is_integer(text.as_bytes()), "{text}");
        }
        for text in ["1.5", "1e-1", "12.50e0", "0.1", "123456789012345678901.5"] {
            assert!(!is_integer(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn small_integers_keep_their_sign() {
        assert_eq!(small(b"-12"), Some(-12));
        assert_eq!(small(b"999999999999999999"), Some(999_999_999_999_999_999));
        assert_eq!(small(b"9999999999999999999"), None);
        assert_eq!(small(b"1.0"), None);
    }
}
