//! Equality of JSON values and a hash that agrees with it.
//!
//! Member order does not count, the last of repeated members stands for all, strings compare by
//! code point however escaped, numbers by exact value or as doubles. Invariant: equal values have
//! equal hashes. Both are iterative; hashing can stop anywhere and go on. The hash is SipHash with
//! a fixed key and a seed of the caller's: the core draws no randomness.

use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;
use std::task::Poll;

use crate::sorted::sort_by;

use super::meter::Meter;
use super::number::{self, Decimal};
use super::tape::{Elements, Kind, Tape, Value};
use super::text::Text;

/// When two numbers are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Numbers {
    /// When their decimal values are.
    Exact,
    /// When `JSON.parse` reads the same double: 2^53 + 1 is 2^53.
    Doubles,
}

/// True if both are the same value.
pub fn equal(left: Value<'_>, right: Value<'_>, numbers: Numbers) -> bool {
    let mut work = vec![Pairs::One(left, right)];
    while let Some(top) = work.last_mut() {
        let Some((left, right)) = top.next() else {
            work.pop();
            continue;
        };
        if left.kind() != right.kind() {
            return false;
        }
        match left.kind() {
            Kind::Array => {
                if left.len() != right.len() {
                    return false;
                }
                work.push(Pairs::Elements(left.elements(), right.elements()));
            }
            Kind::Object => {
                let (left, right) = (sorted_members(left), sorted_members(right));
                let names = |members: &[(Cow<'_, [u8]>, Value<'_>)]| members.len();
                if names(&left) != names(&right)
                    || left.iter().zip(&right).any(|(left, right)| left.0 != right.0)
                {
                    return false;
                }
                let pairs = left.iter().zip(&right).map(|(left, right)| (left.1, right.1));
                work.push(Pairs::Members(pairs.collect()));
            }
            _ if !scalars_equal(left, right, numbers) => return false,
            _ => {}
        }
    }
    true
}

enum Pairs<'a, 'b> {
    One(Value<'a>, Value<'b>),
    Elements(Elements<'a>, Elements<'b>),
    Members(Vec<(Value<'a>, Value<'b>)>),
    None,
}

impl<'a, 'b> Pairs<'a, 'b> {
    fn next(&mut self) -> Option<(Value<'a>, Value<'b>)> {
        match self {
            Pairs::One(left, right) => {
                let pair = (*left, *right);
                *self = Pairs::None;
                Some(pair)
            }
            Pairs::Elements(left, right) => left.next().zip(right.next()),
            Pairs::Members(pairs) => pairs.pop(),
            Pairs::None => None,
        }
    }
}

/// The members by name, the last of each name only.
fn sorted_members(object: Value<'_>) -> Vec<(Cow<'_, [u8]>, Value<'_>)> {
    let mut members: Vec<_> =
        object.members().map(|(name, value)| (name.to_wtf8(), value)).collect();
    // Stable, and last first: of a run of one name the first is the one that stands.
    members.reverse();
    sort_by(&mut members, |left, right| left.0.cmp(&right.0));
    members.dedup_by(|later, kept| later.0 == kept.0);
    members
}

/// Equality of two values that are no containers and of one kind.
pub(crate) fn scalars_equal(left: Value<'_>, right: Value<'_>, numbers: Numbers) -> bool {
    match (left.text(), right.text(), left.number(), right.number()) {
        (Some(left), Some(right), ..) => left.eq_text(right),
        (_, _, Some(left), Some(right)) => {
            left == right
                || match numbers {
                    Numbers::Exact => same_number(left.as_bytes(), right.as_bytes()),
                    Numbers::Doubles => number::double(left) == number::double(right),
                }
        }
        _ => left.kind() == right.kind() && left.as_bool() == right.as_bool(),
    }
}

/// Steps for the hash of one value or name, but for its bytes.
pub(crate) const A_HASH: u64 = 8;

fn same_number(left: &[u8], right: &[u8]) -> bool {
    match (number::small(left), number::small(right)) {
        (Some(left), Some(right)) => left == right,
        _ => number::compare(left, right).is_eq(),
    }
}

const ARRAY: u64 = 1;
const OBJECT: u64 = 2;
const STRING: u64 = 3;
const NUMBER: u64 = 4;
const LITERAL: u64 = 5;

/// Hashes one value, resumable. Owns its state; every step must be given the same text.
pub(crate) struct Hashing {
    numbers: Numbers,
    seed: u64,
    open: Vec<Open>,
    /// Names and values of the open objects' members so far.
    members: Vec<Member>,
    next: u32,
}

struct Open {
    end: u32,
    /// Start of this object's entries in `members`; unused for an array.
    start: usize,
    /// What an array's elements came to so far.
    sum: u64,
    object: bool,
}

#[derive(Clone, Copy)]
struct Member {
    name: u64,
    key: u32,
    value: u64,
}

impl Hashing {
    /// Starts at the value of a position.
    pub(crate) fn new(position: u32, numbers: Numbers, seed: u64) -> Self {
        Hashing { numbers, seed, open: Vec::new(), members: Vec::new(), next: position }
    }

    /// Goes on until done or until the meter asks for a pause.
    pub(crate) fn step(&mut self, bytes: &[u8], tape: &Tape, meter: &mut Meter) -> Poll<u64> {
        loop {
            if meter.spent() {
                return Poll::Pending;
            }
            meter.count(A_HASH);
            let mut hash = match self.open.last() {
                Some(open) if self.next >= open.end => {
                    let hash = self.close(bytes, tape);
                    self.next += 1;
                    hash
                }
                Some(open) if open.object && self.name_is_next() => {
                    let key = tape.value(bytes, self.next);
                    let name = key.text().map_or(0, |text| self.string(text, meter));
                    self.members.push(Member { name, key: self.next, value: 0 });
                    self.next += 1;
                    continue;
                }
                _ => {
                    let value = tape.value(bytes, self.next);
                    self.next += 1;
                    match value.kind() {
                        Kind::Array | Kind::Object => {
                            self.open.push(Open {
                                end: value.next_position() - 1,
                                start: self.members.len(),
                                sum: 0,
                                object: value.is_object(),
                            });
                            continue;
                        }
                        _ => self.scalar(value, meter),
                    }
                }
            };
            match self.open.last_mut() {
                None => return Poll::Ready(hash),
                Some(open) if open.object => {
                    if let Some(member) = self.members.last_mut() {
                        // Zero marks a member whose value is still to come.
                        member.value = hash | 1;
                    }
                }
                Some(open) => {
                    hash = mix(open.sum, ARRAY, hash);
                    open.sum = hash;
                }
            }
        }
    }

    /// True in an object whose last member has its value.
    fn name_is_next(&self) -> bool {
        let start = self.open.last().map_or(0, |open| open.start);
        self.members.len() == start || self.members.last().is_none_or(|member| member.value != 0)
    }

    fn close(&mut self, bytes: &[u8], tape: &Tape) -> u64 {
        let Some(open) = self.open.pop() else { return 0 };
        if !open.object {
            return mix(open.sum, ARRAY, self.seed);
        }
        let members = self.members.get_mut(open.start..).unwrap_or(&mut []);
        sort_by(members, |left, right| (left.name, left.key).cmp(&(right.name, right.key)));
        let mut sum = self.seed;
        for (index, member) in members.iter().enumerate() {
            let later = members.get(index + 1..).unwrap_or(&[]);
            // Repeated names stand side by side; only a collision makes this look further.
            let repeated = later
                .iter()
                .take_while(|other| other.name == member.name)
                .any(|other| same_name(bytes, tape, member.key, other.key));
            if !repeated {
                sum = sum.wrapping_add(mix(member.name, OBJECT, member.value));
            }
        }
        self.members.truncate(open.start);
        mix(sum, OBJECT, self.seed)
    }

    fn scalar(&self, value: Value<'_>, meter: &mut Meter) -> u64 {
        if let Some(text) = value.text() {
            return self.string(text, meter);
        }
        if let Some(text) = value.number() {
            meter.count(text.len() as u64 / 4);
            return match self.numbers {
                Numbers::Doubles => mix(self.seed, NUMBER, number::double(text).to_bits()),
                Numbers::Exact => self.decimal(Decimal::parse(text.as_bytes())),
            };
        }
        mix(self.seed, LITERAL, value.as_bool().map_or(2, u64::from))
    }

    fn string(&self, text: Text<'_>, meter: &mut Meter) -> u64 {
        meter.count_bytes(text.raw.len());
        string(text, self.seed)
    }

    fn decimal(&self, number: Decimal<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.seed);
        hasher.write_u64(NUMBER);
        hasher.write_u8(number.is_negative() as u8);
        hasher.write_i64(number.lead());
        for digit in number.digits() {
            hasher.write_u8(digit);
        }
        hasher.finish()
    }
}

/// The hash of a string or name.
pub(crate) fn string(text: Text<'_>, seed: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(seed);
    hasher.write_u64(STRING);
    hasher.write(&text.to_wtf8());
    hasher.finish()
}

fn mix(left: u64, kind: u64, right: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(left);
    hasher.write_u64(kind);
    hasher.write_u64(right);
    hasher.finish()
}

fn same_name(bytes: &[u8], tape: &Tape, left: u32, right: u32) -> bool {
    match (tape.value(bytes, left).text(), tape.value(bytes, right).text()) {
        (Some(left), Some(right)) => left.eq_text(right),
        _ => false,
    }
}

/// The hash of a value, in one go. Equal values have equal hashes under one seed.
pub fn hash(bytes: &[u8], tape: &Tape, position: u32, numbers: Numbers, seed: u64) -> u64 {
    let mut hashing = Hashing::new(position, numbers, seed);
    loop {
        if let Poll::Ready(hash) = hashing.step(bytes, tape, &mut Meter::unlimited()) {
            return hash;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn check(left: &str, right: &str, numbers: Numbers, same: bool) {
        let (left, right) = (left.as_bytes(), right.as_bytes());
        let limits = Limits::depth(64);
        let (left_tape, right_tape) = (read(left, limits).unwrap(), read(right, limits).unwrap());
        let found = equal(left_tape.root(left), right_tape.root(right), numbers);
        assert_eq!(found, same, "{left:?} {right:?}");
        let hashes = [(left, &left_tape), (right, &right_tape)].map(|(bytes, tape)| {
            let whole = hash(bytes, tape, 0, numbers, 7);
            let mut sliced = Hashing::new(0, numbers, 7);
            let sliced = loop {
                if let Poll::Ready(hash) = sliced.step(bytes, tape, &mut Meter { used: 0, stop: 1 })
                {
                    break hash;
                }
            };
            assert_eq!(whole, sliced);
            assert_ne!(whole, hash(bytes, tape, 0, numbers, 8));
            whole
        });
        assert_eq!(hashes[0] == hashes[1], same);
    }

    #[test]
    fn equality_and_hash_agree() {
        for (left, right, same) in [
            (r#"{"a":1,"b":[true,null]}"#, r#"{"b":[true,null],"a":1.0}"#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true),
            (r#"{"a":2,"a":1}"#, r#"{"a":2}"#, false),
            (r#"{"a":2,"b":1,"a":3,"b":4,"a":5}"#, r#"{"b":4,"a":5}"#, true),
            (r#"{"a":{"x":1},"b":2}"#, r#"{"a":{"x":2},"b":1}"#, false),
            ("[1,2]", "[2,1]", false),
            ("[[1],2]", "[[1,2]]", false),
            ("[]", "{}", false),
            ("[[],[]]", "[[[]]]", false),
            ("{\"a\":[]}", "{\"a\":{}}", false),
            ("\"1\"", "1", false),
            ("false", "0", false),
            ("null", "false", false),
            (r#""\u0061\/""#, r#""a/""#, true),
            (r#""\ud83d\ude00""#, "\"😀\"", true),
            (r#""\ud83d""#, r#""\ude00""#, false),
            (r#"{"\u0061":1}"#, r#"{"a":1}"#, true),
            ("-0", "0.0", true),
            ("9007199254740993", "9007199254740992", false),
            ("1e400", "10e399", true),
            ("1e400", "1e401", false),
        ] {
            check(left, right, Numbers::Exact, same);
        }
        check("9007199254740993", "9007199254740992", Numbers::Doubles, true);
        check("[-0.0]", "[0]", Numbers::Doubles, true);
        check("0.1", "0.2", Numbers::Doubles, false);
    }
}
