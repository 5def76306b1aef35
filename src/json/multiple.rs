//! Exact division of decimals: is a number a whole multiple of another?
//!
//! A number is digits times a power of ten. With `k` the difference of the two powers, value over
//! divisor is whole if and only if `k` is not negative and the value's digits are a multiple of
//! the divisor's digits without their factors of two and five, up to `k` of each.

use super::number::{self, Decimal};

/// Digits of divisors kept as one machine word.
const WORD_DIGITS: usize = 18;

/// Digits of divisors that are divided by at all.
const MAX_DIGITS: usize = 2_000;

/// Bounds the work of one division of large numbers: digits times limbs.
const MAX_WORK: usize = 4_000_000;

/// A divisor, prepared. Never zero.
#[derive(Clone, Debug)]
pub(crate) struct Divisor {
    digits: Digits,
    scale: i64,
    /// The divisor itself, if it is a short integer.
    small: Option<i64>,
}

#[derive(Clone, Debug)]
enum Digits {
    Word(u64),
    /// Base 2^32, least first, no leading zeros.
    Limbs(Vec<u32>),
    /// More than anyone divides by.
    TooMany,
}

impl Divisor {
    /// The divisor of a number's text; `None` if it is zero or negative.
    pub(crate) fn new(text: &[u8]) -> Option<Self> {
        let number = Decimal::parse(text);
        if number.is_zero() || number.is_negative() {
            return None;
        }
        let digits = if number.len() <= WORD_DIGITS {
            Digits::Word(number.digits().fold(0, |word, digit| word * 10 + (digit & 15) as u64))
        } else if number.len() > MAX_DIGITS {
            Digits::TooMany
        } else {
            let (mut limbs, mut factor, mut word) = (Vec::new(), 1, 0);
            for digit in number.digits() {
                (factor, word) = (factor * 10, word * 10 + (digit & 15) as u32);
                if factor == 1_000_000_000 {
                    multiply_add(&mut limbs, factor, word);
                    (factor, word) = (1, 0);
                }
            }
            multiply_add(&mut limbs, factor, word);
            Digits::Limbs(limbs)
        };
        Some(Divisor { digits, scale: number.scale(), small: number::small(text) })
    }

    /// Steps that dividing a number of so many bytes takes.
    pub(crate) fn steps(&self, bytes: usize) -> u64 {
        match &self.digits {
            Digits::Word(_) => bytes as u64 / 2,
            // What divides out factors takes as long as some digits more.
            Digits::Limbs(limbs) => ((bytes + limbs.len()) * limbs.len()) as u64,
            Digits::TooMany => bytes as u64 / 8,
        }
    }

    /// Whether a number is a multiple; `None` if that takes too long to find out.
    pub(crate) fn divides(&self, text: &[u8]) -> Option<bool> {
        if let (Some(value), Some(divisor)) = (number::small(text), self.small) {
            return Some(value % divisor == 0);
        }
        let value = Decimal::parse(text);
        if value.is_zero() {
            return Some(true);
        }
        let Ok(power) = u64::try_from(value.scale() - self.scale) else { return Some(false) };
        match &self.digits {
            Digits::Word(word) => {
                let word = without(without(*word, 2, power), 5, power);
                // Below 10^18, so that ten times a remainder fits.
                let remainder =
                    value.digits().fold(0, |rest, digit| (rest * 10 + (digit & 15) as u64) % word);
                Some(remainder == 0)
            }
            Digits::Limbs(limbs) => {
                if value.len().saturating_mul(limbs.len()) > MAX_WORK {
                    return None;
                }
                let limbs = limbs_without(limbs_without(limbs.clone(), 2, power), 5, power);
                Some(remainder_is_zero(value, &limbs))
            }
            Digits::TooMany => None,
        }
    }
}

/// A number without up to `most` factors of a prime.
fn without(mut number: u64, prime: u64, most: u64) -> u64 {
    let mut left = most;
    while left > 0 && number.is_multiple_of(prime) {
        number /= prime;
        left -= 1;
    }
    number
}

fn limbs_without(mut limbs: Vec<u32>, prime: u32, most: u64) -> Vec<u32> {
    let mut left = most;
    // By the largest power that is a limb as often as possible, then one by one.
    let times = if prime == 2 { 31 } else { 13 };
    for (factor, times) in [(prime.pow(times), u64::from(times)), (prime, 1)] {
        while left >= times {
            let (quotient, rest) = divide(&limbs, factor);
            if rest != 0 {
                break;
            }
            limbs = quotient;
            left -= times;
        }
    }
    limbs
}

fn divide(limbs: &[u32], divisor: u32) -> (Vec<u32>, u32) {
    let mut quotient = limbs.to_vec();
    let mut rest = 0_u64;
    for limb in quotient.iter_mut().rev() {
        let value = rest << 32 | *limb as u64;
        *limb = (value / divisor as u64) as u32;
        rest = value % divisor as u64;
    }
    trim(&mut quotient);
    (quotient, rest as u32)
}

fn multiply_add(limbs: &mut Vec<u32>, factor: u32, addend: u32) {
    let mut carry = addend as u64;
    for limb in limbs.iter_mut() {
        let value = *limb as u64 * factor as u64 + carry;
        *limb = value as u32;
        carry = value >> 32;
    }
    if carry > 0 {
        limbs.push(carry as u32);
    }
}

fn trim(limbs: &mut Vec<u32>) {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
}

fn remainder_is_zero(value: Decimal<'_>, divisor: &[u32]) -> bool {
    let mut rest = Vec::new();
    for digit in value.digits() {
        multiply_add(&mut rest, 10, (digit & 15) as u32);
        // The remainder was below the divisor, so it is now below ten times that.
        while at_least(&rest, divisor) {
            subtract(&mut rest, divisor);
        }
    }
    rest.is_empty()
}

fn at_least(left: &[u32], right: &[u32]) -> bool {
    left.len().cmp(&right.len()).then_with(|| left.iter().rev().cmp(right.iter().rev())).is_ge()
}

/// Takes a number from one that is not smaller.
fn subtract(left: &mut Vec<u32>, right: &[u32]) {
    let mut borrow = false;
    for (index, limb) in left.iter_mut().enumerate() {
        let taken = right.get(index).copied().unwrap_or(0);
        let (value, first) = limb.overflowing_sub(taken);
        let (value, second) = value.overflowing_sub(borrow as u32);
        *limb = value;
        borrow = first || second;
    }
    trim(left);
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn divides(divisor: &str, value: &str) -> Option<bool> {
        Divisor::new(divisor.as_bytes()).unwrap().divides(value.as_bytes())
    }

    #[test]
    fn decimals_divide_exactly() {
        for (value, divisor) in [
            ("4.35", "0.01"),
            ("10.1", "0.1"),
            ("1070468.14", "0.01"),
            ("17.2", "0.1"),
            ("0", "7"),
            ("-9", "3"),
            ("0.0075", "0.0001"),
            ("1e308", "0.5"),
            ("12391239123", "1e-8"),
            ("1e400", "5e399"),
            ("36893488147419103232", "18446744073709551616"),
            ("1e30", "1000000000000000000000000000000"),
            ("246913578024691357802469135780", "123456789012345678901234567890"),
            ("100000000000000000000", "3125000000000000000"),
        ] {
            assert_eq!(divides(divisor, value), Some(true), "{value} / {divisor}");
        }
        for (value, divisor) in [
            ("0.00751", "0.0001"),
            ("1e308", "0.123456789"),
            ("35", "1.5"),
            ("1", "2"),
            ("0.5", "1"),
            ("1e-400", "1e-399"),
            ("246913578024691357802469135781", "123456789012345678901234567890"),
            ("36893488147419103233", "18446744073709551616"),
        ] {
            assert_eq!(divides(divisor, value), Some(false), "{value} / {divisor}");
        }
        assert!(Divisor::new(b"0.0").is_none());
        assert!(Divisor::new(b"-2").is_none());
        assert_eq!(divides(&"7".repeat(100_000), &"7".repeat(100_000)), None);
    }
}
