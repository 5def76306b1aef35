//! Outbound messages: one line of compact JSON each (row R52).
//!
//! Invariant: a frame has exactly one line feed, its last byte, whatever texts it was made of.

pub use crate::json::quote;

/// A request. `params` is the JSON text of an object.
pub fn request(id: u32, method: &str, params: Option<&str>) -> Vec<u8> {
    let mut out = opened(method.len() + params.map_or(0, str::len));
    out.push_str("\"id\":");
    push_number(&mut out, id);
    out.push_str(",\"method\":");
    push_quoted(&mut out, method);
    closed(out, "params", params)
}

/// A notification. `params` is the JSON text of an object.
pub fn notification(method: &str, params: Option<&str>) -> Vec<u8> {
    let mut out = opened(method.len() + params.map_or(0, str::len));
    out.push_str("\"method\":");
    push_quoted(&mut out, method);
    closed(out, "params", params)
}

/// A good answer; `id` and `result` are JSON texts.
pub fn result(id: &str, result: &str) -> Vec<u8> {
    closed(answer(id, result.len()), "result", Some(result))
}

/// An error answer; `id` and `data` are JSON texts.
pub fn error(id: &str, code: i64, text: &str, data: Option<&str>) -> Vec<u8> {
    let mut object = format!("{{\"code\":{code},\"message\":{}", quote(text));
    if let Some(data) = data {
        object.push_str(",\"data\":");
        object.push_str(data);
    }
    object.push('}');
    closed(answer(id, object.len()), "error", Some(&object))
}

fn answer(id: &str, length: usize) -> String {
    let mut out = opened(id.len() + length);
    out.push_str("\"id\":");
    out.push_str(id);
    out
}

/// The beginning of a message, with room for the rest: so much text, and the names beside it.
fn opened(length: usize) -> String {
    let mut out = String::with_capacity(64 + length);
    out.push_str("{\"jsonrpc\":\"2.0\",");
    out
}

/// The frame, with its last member.
fn closed(mut out: String, name: &str, last: Option<&str>) -> Vec<u8> {
    if let Some(last) = last {
        out.push_str(",\"");
        out.push_str(name);
        out.push_str("\":");
        if last.contains('\n') || last.contains('\r') {
            // A line break can only be white space between tokens.
            out.push_str(&last.replace(['\n', '\r'], " "));
        } else {
            out.push_str(last);
        }
    }
    out.push_str("}\n");
    out.into_bytes()
}

/// Appends a JSON string literal. Most texts stand for themselves.
pub fn push_quoted(out: &mut String, text: &str) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&quote(text));
    }
}

/// Appends a number: what formats any value takes several times as long, and ids are in every frame.
pub fn push_number(out: &mut String, number: u32) {
    if number >= 10 {
        push_number(out, number / 10);
    }
    out.push(char::from(b'0' + (number % 10) as u8));
}

/// Escapes U+0085, U+2028 and U+2029, which some readers of lines take for line ends. They can
/// stand inside strings alone.
pub fn escape_line_separators(frame: Vec<u8>) -> Vec<u8> {
    if frame.is_ascii() || !frame.iter().any(|&byte| byte == 0xC2 || byte == 0xE2) {
        return frame;
    }
    let mut out = Vec::with_capacity(frame.len() + 16);
    let mut rest = frame.as_slice();
    while let Some((&first, after)) = rest.split_first() {
        let (escape, length): (&[u8], usize) = match rest {
            [0xC2, 0x85, ..] => (b"\\u0085", 2),
            [0xE2, 0x80, 0xA8, ..] => (b"\\u2028", 3),
            [0xE2, 0x80, 0xA9, ..] => (b"\\u2029", 3),
            _ => {
                out.push(first);
                rest = after;
                continue;
            }
        };
        out.extend_from_slice(escape);
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn text(frame: Vec<u8>) -> String {
        String::from_utf8(frame).unwrap()
    }

    #[test]
    fn frames_are_compact_lines() {
        assert_eq!(
            text(request(7, "a\"b", Some("{\n \"x\":1}"))),
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a\\\"b\",\"params\":{  \"x\":1}}\n"
        );
        assert_eq!(
            text(notification("notifications/initialized", None)),
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        );
        assert_eq!(
            text(result("\"p\"", "{}")),
            "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n"
        );
        assert_eq!(
            text(error("5", -32601, "no", Some("[1]"))),
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32601,\"message\":\"no\",\"data\":[1]}}\n"
        );
    }

    #[test]
    fn what_is_appended_is_what_would_be_formatted() {
        for number in [0, 9, 10, 99, 100, 1_234_567_890, u32::MAX] {
            let mut out = String::new();
            push_number(&mut out, number);
            assert_eq!(out, number.to_string());
        }
        for text in ["", "plain/é😀", "a\"b", "\\", "\u{1f}", "\u{7f}", " ", "\n"] {
            let mut out = String::new();
            push_quoted(&mut out, text);
            assert_eq!(out, quote(text));
        }
        assert_eq!(
            text(notification("n", Some("{\r\n\"x\":1}"))),
            "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{  \"x\":1}}\n"
        );
    }

    #[test]
    fn separators_are_escaped() {
        assert_eq!(
            text(escape_line_separators("a\u{2028}b\u{2029}c\u{85}dé€".into())),
            "a\\u2028b\\u2029c\\u0085dé€"
        );
    }
}
