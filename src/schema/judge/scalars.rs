//! Assertions that look at the value itself: types, limits, lengths, counts, enumerations.

use std::cmp::Ordering;
use std::task::Poll;

use crate::json::{self, Hashing, Numbers, Tag, Text, Value, number, scalars_equal};
use crate::schema::format::{Format, Judged};
use crate::schema::pattern::Found;
use crate::schema::program::{EnumSet, Op, kinds, kinds_of_tag};

use super::frame::{Answer, Frame, OpState, Step};
use super::{Context, Judge};

/// Steps for beginning a match, however short the text: many patterns over many names are work too.
const A_MATCH: u64 = 4;

/// Steps for reading a property of characters in a pattern.
const A_PROPERTY: u64 = 2_000;

#[inline(always)]
fn answer(holds: bool) -> Answer {
    if holds { Answer::Valid } else { Answer::Invalid }
}

impl Judge {
    /// An assertion that needs no state. Instructions that do are the business of other files.
    #[inline]
    pub(super) fn scalar(&mut self, cx: Context<'_>, op: Op, at: u32) -> Answer {
        let word = cx.word(at);
        match op {
            Op::Type(index) => {
                let types = cx.program.types.get(index as usize);
                answer(types.is_none_or(|types| self.accepts_kinds(cx, types.kinds, at)))
            }
            Op::Enum(index) => {
                let Some(set) = cx.program.enums.get(index as usize) else {
                    return Answer::Unknown;
                };
                answer(self.scalar_enumeration(cx, set, at))
            }
            Op::Minimum(index) => self.limit_of(cx, at, index, AT_LEAST),
            Op::Maximum(index) => self.limit_of(cx, at, index, AT_MOST),
            Op::ExclusiveMinimum(index) => self.limit_of(cx, at, index, ABOVE),
            Op::ExclusiveMaximum(index) => self.limit_of(cx, at, index, BELOW),
            Op::MultipleOf(index) => self.multiple_of(cx, index, at),
            Op::MinLength(least) => match cx.value(at).text() {
                Some(text) => answer(self.length_is(text, least, u32::MAX)),
                None => Answer::Valid,
            },
            Op::MaxLength(most) => match cx.value(at).text() {
                Some(text) => answer(self.length_is(text, 0, most)),
                None => Answer::Valid,
            },
            Op::Pattern(index) => match cx.value(at).text() {
                Some(text) => self.matches_at_once(cx, index, text).map_or(Answer::Unknown, answer),
                None => Answer::Valid,
            },
            Op::Format(format) => match cx.value(at).text() {
                Some(text) => self.format(cx, format, text),
                None => Answer::Valid,
            },
            Op::MinProperties(least) if word.tag() == Tag::ObjectOpen => {
                // Repeated names only matter from two on, which have their own instruction.
                answer(cx.count(at) >= least)
            }
            Op::MinItems(least) if word.tag() == Tag::ArrayOpen => answer(cx.count(at) >= least),
            Op::MaxItems(most) if word.tag() == Tag::ArrayOpen => answer(cx.count(at) <= most),
            _ => Answer::Valid,
        }
    }

    /// True if a number compares with a limit as asked for; anything else holds.
    fn limit_of(&mut self, cx: Context<'_>, at: u32, index: u32, wanted: u8) -> Answer {
        let (Some(text), Some(bound)) =
            (number_text(cx, at), cx.program.bounds.get(index as usize))
        else {
            return Answer::Valid;
        };
        let order = match bound.small {
            // The limit of most counts and prices, and no number of those begins with a zero.
            Some(0) if text.first().is_some_and(|digit| matches!(digit, b'1'..=b'9')) => {
                Ordering::Greater
            }
            small => match small.and_then(|limit| number::compare_with(text, limit)) {
                Some(order) => order,
                None => {
                    self.meter.count_digits(text.len() + bound.text.len());
                    number::compare(text, &bound.text)
                }
            },
        };
        answer(wanted >> (order as i8 + 1) & 1 == 1)
    }

    /// True if the type of the value is among the given ones.
    #[inline(always)]
    pub(super) fn accepts_kinds(&mut self, cx: Context<'_>, accepted: u8, at: u32) -> bool {
        let word = cx.word(at);
        let possible = kinds_of_tag(word.tag());
        match accepted & possible {
            0 => false,
            found if found == possible => true,
            // Only a number written with point or exponent may be of two kinds.
            found => self.is_integer(cx, at) == (found == kinds::WHOLE),
        }
    }

    #[cold]
    fn is_integer(&mut self, cx: Context<'_>, at: u32) -> bool {
        let text = number_text(cx, at).unwrap_or(&[]);
        self.meter.count_digits(text.len());
        number::is_integer(text)
    }

    /// True if a string has so many code points. Counts only if its bytes do not settle it.
    fn length_is(&mut self, text: Text<'_>, least: u32, most: u32) -> bool {
        let bytes = text.raw_bytes().len();
        let (least, most) = (least as usize, most as usize);
        if bytes < least || (bytes <= most && least == 0) {
            return bytes >= least;
        }
        if text.is_plain()
            && (bytes.div_ceil(4) > most || (bytes.div_ceil(4) >= least && bytes <= most))
        {
            return bytes.div_ceil(4) <= most;
        }
        self.meter.count(bytes as u64 / if text.is_plain() { 16 } else { 8 });
        (least..=most).contains(&text.code_points())
    }

    /// `format`, where it is asserted.
    #[inline(never)]
    fn format(&mut self, cx: Context<'_>, format: Format, text: Text<'_>) -> Answer {
        let bytes = text.raw_bytes();
        self.meter.count_bytes(bytes.len().saturating_mul(format.weight()));
        if format == Format::Regex {
            let sets = bytes.windows(2).filter(|pair| pair.eq_ignore_ascii_case(b"\\p")).count();
            self.meter.count(sets as u64 * A_PROPERTY);
        }
        match format.judge(&text.to_wtf8(), &cx.program.idna) {
            Judged::Valid => Answer::Valid,
            Judged::Invalid => Answer::Invalid,
            Judged::Unknown(reason) => {
                self.reason.get_or_insert(reason);
                Answer::Unknown
            }
        }
    }

    fn multiple_of(&mut self, cx: Context<'_>, index: u32, at: u32) -> Answer {
        let (Some(text), Some(divisor)) =
            (number_text(cx, at), cx.program.divisors.get(index as usize))
        else {
            return Answer::Valid;
        };
        self.meter.count(divisor.divisor.steps(text.len()));
        match divisor.divisor.divides(text) {
            Some(divides) => answer(divides),
            None => {
                self.reason.get_or_insert("limit");
                Answer::Unknown
            }
        }
    }

    /// `enum` and `const` for a value that is no container; containers never match here.
    fn scalar_enumeration(&mut self, cx: Context<'_>, set: &EnumSet, at: u32) -> bool {
        let Some(document) = cx.program.documents.get(set.document as usize) else { return false };
        let word = cx.word(at);
        if kinds_of_tag(word.tag()) & set.kinds & !(kinds::ARRAY | kinds::OBJECT) == 0 {
            return false;
        }
        let value = cx.value(at);
        if let Some(text) = value.text() {
            self.meter.count_bytes(text.raw_bytes().len());
            let found = match word.tag() {
                Tag::String => set.strings.find_at(cx.bytes, word.offset(), word.payload(), 0),
                _ => set.strings.find(text, 0),
            };
            return found.is_some();
        }
        self.meter.count_digits(word.payload() as usize);
        if set.hashes.is_empty() {
            return set.few.iter().any(|&member| {
                let member = document.value(member);
                member.kind() == value.kind() && scalars_equal(member, value, set.numbers)
            });
        }
        self.meter.count(json::A_HASH);
        let hash = json::hash(cx.bytes, cx.tape, at, set.numbers, 0);
        self.has_member(cx, set, hash, value)
    }

    /// True if a member of that hash equals the value.
    fn has_member(&mut self, cx: Context<'_>, set: &EnumSet, hash: u64, value: Value<'_>) -> bool {
        let Some(document) = cx.program.documents.get(set.document as usize) else { return false };
        let first = set.hashes.partition_point(|entry| entry.0 < hash);
        let found = set.hashes.get(first..).unwrap_or(&[]);
        let mut found = found.iter().take_while(|entry| entry.0 == hash).peekable();
        if found.peek().is_some() {
            // Comparing takes about as long as hashing.
            let words = cx.tape.extent(value.position()).0;
            self.meter.count(u64::from(words) * json::A_HASH);
        }
        found.any(|entry| json::equal(document.value(entry.1), value, set.numbers))
    }

    /// `enum` and `const` for any value; a container is hashed in slices.
    pub(super) fn enumeration(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
        explain: bool,
    ) -> Step {
        let Some(set) = cx.program.enums.get(index as usize) else { return Step::Doubt };
        let at = frame.at;
        let kind = kinds_of_tag(cx.word(at).tag());
        let found = if kind & (kinds::ARRAY | kinds::OBJECT) == 0 {
            self.scalar_enumeration(cx, set, at)
        } else if kind & set.kinds == 0 {
            false
        } else {
            match self.hash_in_slices(cx, at, set.numbers) {
                Some(hash) => self.has_member(cx, set, hash, cx.value(at)),
                None => {
                    self.store(top, OpState { started: true, ..frame.op });
                    return Step::Pause;
                }
            }
        };
        if !found && explain {
            self.explain_enumeration(cx, set, at);
        }
        Step::of(!found, false)
    }

    /// The hash of a value; `None` if the meter asked for a pause before it was there.
    pub(super) fn hash_in_slices(
        &mut self,
        cx: Context<'_>,
        at: u32,
        numbers: Numbers,
    ) -> Option<u64> {
        let mut hashing = self.hashing.take().unwrap_or_else(|| Hashing::new(at, numbers, 0));
        match hashing.step(cx.bytes, cx.tape, &mut self.meter) {
            Poll::Ready(hash) => Some(hash),
            Poll::Pending => {
                self.hashing = Some(hashing);
                None
            }
        }
    }
}

impl Judge {
    /// `pattern`, which stops when the meter asks for a pause.
    pub(super) fn pattern(
        &mut self,
        cx: Context<'_>,
        top: usize,
        frame: Frame,
        index: u32,
        explain: bool,
    ) -> Step {
        let Some(text) = cx.value(frame.at).text() else { return Step::Next };
        let Poll::Ready(matched) = self.matches(cx, index, text) else {
            self.store(top, OpState { started: true, ..frame.op });
            return Step::Pause;
        };
        if matched == Some(false) && explain {
            self.explain_scalar(cx, Op::Pattern(index), frame.at);
        }
        Step::of(matched == Some(false), matched.is_none())
    }

    /// True if a pattern stopped and is to go on.
    pub(super) fn is_matching(&self) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| matcher.is_active())
    }

    /// Whether a pattern matches a text; `None`, with the reason noted, if that cannot be said.
    pub(super) fn matches(
        &mut self,
        cx: Context<'_>,
        pattern: u32,
        text: Text<'_>,
    ) -> Poll<Option<bool>> {
        let Some(op) = cx.program.patterns.get(pattern as usize) else { return Poll::Ready(None) };
        if !self.is_matching() {
            self.meter.count(A_MATCH);
            self.meter.count_bytes(text.raw_bytes().len());
        }
        let matcher = self.matcher.get_or_insert_default();
        matcher.step(&op.pattern, text, &mut self.meter).map(|found| match found {
            Found::Yes => Some(true),
            Found::No => Some(false),
            Found::Undecided(reason) => {
                self.reason.get_or_insert(reason);
                None
            }
        })
    }

    /// The same without a pause, where there is little to do.
    fn matches_at_once(&mut self, cx: Context<'_>, pattern: u32, text: Text<'_>) -> Option<bool> {
        let stop = std::mem::replace(&mut self.meter.stop, u64::MAX);
        let matched = self.matches(cx, pattern, text);
        self.meter.stop = stop;
        match matched {
            Poll::Ready(matched) => matched,
            Poll::Pending => None,
        }
    }
}

/// The text of the number at a position; `None` for any other value.
#[inline(always)]
pub(super) fn number_text(cx: Context<'_>, at: u32) -> Option<&[u8]> {
    let word = cx.word(at);
    match word.tag() {
        Tag::Integer | Tag::Decimal => {
            let start = word.offset() as usize;
            cx.bytes.get(start..start + word.payload() as usize)
        }
        _ => None,
    }
}

/// Outcomes of a comparison as bits: less, equal, greater.
const BELOW: u8 = 1;
const AT_MOST: u8 = 3;
const ABOVE: u8 = 4;
const AT_LEAST: u8 = 6;
