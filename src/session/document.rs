//! What is asked of a document as a whole: its size as `JSON.stringify` would write it (row R17),
//! and whether it repeats a member that is read.
//!
//! Row R17 bounds the bytes of a schema after it was read and written again, so white space,
//! escapes, number spelling and repeated members of the original do not count.

use crate::json::{Kind, Text, Value};
use crate::table::Table;

/// UTF-8 bytes of the text `JSON.stringify` makes of the value.
pub(super) fn stringified_len(value: Value<'_>) -> usize {
    let mut total = 0;
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match value.kind() {
            Kind::Null => total += 4,
            Kind::Boolean => total += if value.as_bool() == Some(true) { 4 } else { 5 },
            Kind::Number => total += number_len(value.number().unwrap_or("0")),
            Kind::String => total += value.text().map_or(2, string_len),
            Kind::Array => {
                total += 2 + value.len().saturating_sub(1) as usize;
                stack.extend(value.elements());
            }
            Kind::Object => {
                let mut members = Table::new();
                for (name, member) in value.members() {
                    members.insert(name.to_wtf8(), (name, member));
                }
                total += 2 + members.len().saturating_sub(1);
                for (_, (name, member)) in members {
                    total += string_len(name) + 1;
                    stack.push(member);
                }
            }
        }
    }
    total
}

/// True if an object has one of these members more than once.
pub(super) fn repeats(object: Value<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| object.members().filter(|(key, _)| key.eq_str(name)).nth(1).is_some())
}

/// UTF-8 bytes of a string's content, escapes resolved.
pub(super) fn utf8_len(text: Text<'_>) -> usize {
    text.to_wtf8().len()
}

fn string_len(text: Text<'_>) -> usize {
    let content: usize = text
        .points()
        .map(|point| match point {
            0x22 | 0x5C | 0x08 | 0x09 | 0x0A | 0x0C | 0x0D => 2,
            // Other controls, and halves of a surrogate pair.
            0..0x20 | 0xD800..0xE000 => 6,
            0x20..0x80 => 1,
            0x80..0x800 => 2,
            0x800..0x1_0000 => 3,
            _ => 4,
        })
        .sum();
    content + 2
}

/// Length of the shortest spelling of the double nearest to a number, as ECMAScript writes it.
fn number_len(text: &str) -> usize {
    let number: f64 = text.parse().unwrap_or(0.0);
    if number == 0.0 {
        return 1;
    }
    if !number.is_finite() {
        return "null".len();
    }
    let shortest = format!("{:e}", number.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits = mantissa.len() as i32 - mantissa.contains('.') as i32;
    // Decimal point position, counted from the first digit.
    let point = exponent.parse().unwrap_or(0) + 1;
    let length = match point {
        _ if digits <= point && point <= 21 => point,
        1..=21 => digits + 1,
        -5..=0 => 2 - point + digits,
        _ => {
            let exponent = (point - 1).abs().to_string().len() as i32;
            digits + (digits > 1) as i32 + 2 + exponent
        }
    };
    length as usize + (number < 0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[track_caller]
    fn check(text: &str, stringified: &str) {
        let tape = read(text.as_bytes(), Limits::depth(128)).unwrap();
        assert_eq!(stringified_len(tape.root(text.as_bytes())), stringified.len(), "{text}");
    }

    #[test]
    fn sizes_are_those_of_json_stringify() {
        check(r#" { "type" : "object" } "#, r#"{"type":"object"}"#);
        check(r#"{"a":1,"a":[true,false,null],"\u0061":{}}"#, r#"{"a":{}}"#);
        check(r#""\u00e9\/\u0001\n\"\\é€😀\ud800""#, "\"é/\\u0001\\n\\\"\\\\é€😀\\ud800\"");
        for (text, stringified) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("1e3", "1000"),
            ("1e21", "1e+21"),
            ("123456789012345678901", "123456789012345680000"),
            ("1.5e300", "1.5e+300"),
            ("-2.50", "-2.5"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1.25e-10", "1.25e-10"),
            ("0.1", "0.1"),
            ("1e-400", "0"),
        ] {
            check(text, stringified);
        }
    }
}
