//! Keywords that look at the value itself.

use std::borrow::Cow;

use crate::json::multiple::Divisor;
use crate::json::{Kind, Numbers, Value, number};
use crate::schema::error::SchemaError;
use crate::schema::format::Format;
use crate::schema::names::{NameTable, index_among};
use crate::schema::options::{Dialect, Formats};
use crate::schema::pattern::{Pattern, PatternFault};
use crate::schema::program::{DivisorOp, Op, PatternOp, Place, TypeSet, kinds};

use super::build::Build;
use super::lint;
use super::shape::{Keyword, KeywordSet};
use super::subject::Subject;

/// Limits of numbers and strings.
const LIMITS: KeywordSet = KeywordSet::of(&[
    Keyword::Minimum,
    Keyword::Maximum,
    Keyword::ExclusiveMinimum,
    Keyword::ExclusiveMaximum,
    Keyword::MultipleOf,
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::Pattern,
    Keyword::Format,
]);

/// `type`, `enum`, `const`, limits of numbers and strings.
pub(super) fn scalars(build: &mut Build, subject: &mut Subject) -> Result<(), SchemaError> {
    let document = subject.document_index;
    let mut ops = std::mem::take(&mut subject.ops);
    let mut allowed = kinds::ALL;
    if let Some(value) = subject.get(Keyword::Type) {
        match value.as_str().and_then(|name| kinds::of_name(&name)) {
            Some((kind, name)) => {
                let kind = kinds_in(subject.dialect(), kind, name == "number");
                allowed &= kind;
                ops.push(build.one_type(name, kind));
            }
            None => {
                let types = types(build, subject, value)?;
                allowed &= types.kinds;
                ops.push(build.types(types));
            }
        }
    }
    if let Some(value) = subject.get_kind(build, Keyword::Enum, Kind::Array)? {
        let (op, bits) = build.enumeration("enum", document, value, Numbers::Exact);
        ops.push(op);
        allowed &= bits;
    }
    if let Some(value) = subject.get(Keyword::Const) {
        let (op, bits) = build.enumeration("const", document, value, Numbers::Exact);
        ops.push(op);
        allowed &= bits;
    }
    subject.kinds &= allowed;
    if !subject.has_any(LIMITS) {
        subject.ops = ops;
        return Ok(());
    }
    if subject.dialect() == Dialect::Draft4 {
        elder_limits(build, subject, &mut ops)?;
    } else {
        for (keyword, op) in [
            (Keyword::Minimum, Op::Minimum as fn(u32) -> Op),
            (Keyword::Maximum, Op::Maximum),
            (Keyword::ExclusiveMinimum, Op::ExclusiveMinimum),
            (Keyword::ExclusiveMaximum, Op::ExclusiveMaximum),
        ] {
            if let Some(value) = subject.get_kind(build, keyword, Kind::Number)? {
                ops.push(op(build.bound(document, value)));
            }
        }
    }
    if let Some(value) = subject.get(Keyword::MultipleOf) {
        let divisor = value.number().and_then(|text| Divisor::new(text.as_bytes()));
        let divisor = divisor.ok_or_else(|| subject.invalid(build, value))?;
        let place = Place { document, position: value.position() };
        ops.push(build.divisor(DivisorOp { place, divisor }));
    }
    for (keyword, op) in
        [(Keyword::MinLength, Op::MinLength as fn(u32) -> Op), (Keyword::MaxLength, Op::MaxLength)]
    {
        if let Some(count) = count(build, subject, keyword)? {
            ops.push(op(count));
        }
    }
    if let Some(value) = subject.get_kind(build, Keyword::Pattern, Kind::String)? {
        let points: Vec<u32> = value.text().into_iter().flat_map(|text| text.points()).collect();
        ops.push(Op::Pattern(pattern(build, subject, &points, value)?));
    }
    if let Some(value) = subject.get_kind(build, Keyword::Format, Kind::String)? {
        let name = subject.string(build, value)?;
        // One that the dialect does not define says nothing.
        let known = Format::of(&name, subject.dialect());
        let asserts = build.formats == Formats::Assert || subject.reading.asserts_formats;
        ops.extend(known.filter(|_| asserts).map(Op::Format));
    }
    subject.ops = ops;
    Ok(())
}

/// `minimum` and `maximum`, which in draft-04 a flag beside them makes exclusive.
fn elder_limits(
    build: &mut Build,
    subject: &Subject,
    ops: &mut Vec<Op>,
) -> Result<(), SchemaError> {
    for (limit, flag, inclusive, exclusive) in [
        (
            Keyword::Minimum,
            Keyword::ExclusiveMinimum,
            Op::Minimum as fn(u32) -> Op,
            Op::ExclusiveMinimum as fn(u32) -> Op,
        ),
        (Keyword::Maximum, Keyword::ExclusiveMaximum, Op::Maximum, Op::ExclusiveMaximum),
    ] {
        let value = subject.get_kind(build, limit, Kind::Number)?;
        let flag = subject.get_kind(build, flag, Kind::Boolean)?;
        match (value, flag) {
            (Some(value), flag) => {
                let excludes = flag.and_then(Value::as_bool) == Some(true);
                let bound = build.bound(subject.document_index, value);
                ops.push(if excludes { exclusive(bound) } else { inclusive(bound) });
            }
            // The meta-schema demands the limit.
            (None, Some(flag)) => return Err(subject.invalid(build, flag)),
            (None, None) => {}
        }
    }
    Ok(())
}

/// A list of names of `type` and the kinds of values they mean.
fn types(build: &Build, subject: &Subject, value: Value<'_>) -> Result<TypeSet, SchemaError> {
    let mut names = Vec::new();
    let mut kinds = 0;
    for entry in value.elements() {
        let known = entry.as_str().and_then(|name| kinds::of_name(&name));
        let Some((kind, name)) = known else { return Err(subject.invalid(build, entry)) };
        if names.contains(&name) {
            return Err(subject.invalid(build, entry));
        }
        kinds |= kind;
        names.push(name);
    }
    let kinds = kinds_in(subject.dialect(), kinds, names.contains(&"number"));
    if names.is_empty() {
        return Err(subject.invalid(build, value));
    }
    Ok(TypeSet { names, kinds })
}

/// The kinds that types mean in a dialect.
fn kinds_in(dialect: Dialect, kinds: u8, any_number: bool) -> u8 {
    // In draft-04, 1.0 is no integer.
    let excluded = dialect == Dialect::Draft4 && !any_number;
    if excluded { kinds & !kinds::WHOLE } else { kinds }
}

/// A count, which may be written with a zero fraction; the largest stand for all beyond.
pub(super) fn count(
    build: &Build,
    subject: &Subject,
    keyword: Keyword,
) -> Result<Option<u32>, SchemaError> {
    let Some(value) = subject.get(keyword) else { return Ok(None) };
    let number = value.number().map(|text| number::Decimal::parse(text.as_bytes()));
    match number {
        Some(number) if number.is_integer() && !number.is_negative() => {
            if number.lead() > 9 {
                return Ok(Some(u32::MAX));
            }
            let digits = number.digits().fold(0, |sum, digit| sum * 10 + (digit & 15) as u64);
            // No more than ten digits in all, so this ends far below 64 bits.
            let count = (0..number.scale()).fold(digits, |count, _| count * 10);
            Ok(Some(count.min(u32::MAX as u64) as u32))
        }
        _ => Err(subject.invalid(build, value)),
    }
}

/// A regular expression by its code points; `place` is what it is written in or names.
pub(super) fn pattern(
    build: &mut Build,
    subject: &Subject,
    points: &[u32],
    place: Value<'_>,
) -> Result<u32, SchemaError> {
    let place = Place { document: subject.document_index, position: place.position() };
    let pattern = Pattern::new(points, &mut build.patterns_spent).map_err(|fault| {
        let reason = match fault {
            PatternFault::TooLarge => "limit",
            PatternFault::Syntax => "bad_pattern",
        };
        SchemaError::new(reason, build.pointer(place.document, place.position))
    })?;
    if pattern.is_annex_b() {
        lint::legacy_pattern(build, place);
    }
    Ok(build.pattern(PatternOp { place, pattern }))
}

/// A list of distinct names.
pub(super) fn names<'a>(
    build: &Build,
    subject: &Subject,
    value: Value<'a>,
) -> Result<Vec<Cow<'a, [u8]>>, SchemaError> {
    if !value.is_array() {
        return Err(subject.invalid(build, value));
    }
    if value.is_empty() && subject.dialect() == Dialect::Draft4 {
        return Err(subject.invalid(build, value));
    }
    let mut table = NameTable::default();
    let mut names: Vec<Cow<'_, [u8]>> = Vec::new();
    for entry in value.elements() {
        match entry.text().map(|name| name.to_wtf8()) {
            Some(name) if index_among(&mut table, &names, |name| name, &name) == names.len() => {
                names.push(name);
            }
            _ => return Err(subject.invalid(build, entry)),
        }
    }
    Ok(names)
}
