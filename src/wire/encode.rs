//! Outbound messages: one line of compact JSON each (row R52).
//!
//! Invariant: a frame has exactly one line feed, its last byte, whatever texts it was made of.

pub use crate::json::quote;

/// A request. `params` is the JSON text of an object.
pub fn request(id: u32, method: &str, params: Option<&str>) -> Vec<u8> {
    message(&format!("\"id\":{id},\"method\":{}", quote(method)), "params", params)
}

/// A notification. `params` is the JSON text of an object.
pub fn notification(method: &str, params: Option<&str>) -> Vec<u8> {
    message(&format!("\"method\":{}", quote(method)), "params", params)
}

/// A good answer; `id` and `result` are JSON texts.
pub fn result(id: &str, result: &str) -> Vec<u8> {
    message(&format!("\"id\":{id}"), "result", Some(result))
}

/// An error answer; `id` and `data` are JSON texts.
pub fn error(id: &str, code: i64, text: &str, data: Option<&str>) -> Vec<u8> {
    let mut object = format!("{{\"code\":{code},\"message\":{}", quote(text));
    if let Some(data) = data {
        object.push_str(",\"data\":");
        object.push_str(data);
    }
    object.push('}');
    message(&format!("\"id\":{id}"), "error", Some(&object))
}

fn message(head: &str, name: &str, last: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(40 + head.len() + last.map_or(0, str::len));
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",");
    out.extend_from_slice(head.as_bytes());
    if let Some(last) = last {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        // A line break can only be white space between tokens.
        out.extend(
            last.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }),
        );
    }
    out.extend_from_slice(b"}\n");
    out
}

/// Escapes U+0085, U+2028 and U+2029, which some readers of lines take for line ends. They can
/// stand inside strings alone.
pub fn escape_line_separators(frame: Vec<u8>) -> Vec<u8> {
    if !frame.iter().any(|&byte| byte == 0xC2 || byte == 0xE2) {
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
    fn separators_are_escaped() {
        assert_eq!(
            text(escape_line_separators("a\u{2028}b\u{2029}c\u{85}dé€".into())),
            "a\\u2028b\\u2029c\\u0085dé€"
        );
    }
}
