//! The three kinds of `meta`, in their exact shapes, and the envelope as a pair of texts.
//!
//! Invariant: members stand in the order of the documented shapes, optional ones are absent when
//! not given, and texts that are passed in stand in the output byte for byte.

use crate::wire::encode::quote;

/// An envelope as two JSON texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResponseEnvelope {
    /// JSON text of the data; none is JavaScript's `undefined`.
    pub data: Option<String>,
    /// JSON text of the meta.
    pub meta: String,
}

impl ResponseEnvelope {
    /// An envelope around what a local handler returned, at this time in epoch milliseconds.
    pub fn local(data: Option<String>, operation_id: &str, timestamp: f64) -> Self {
        ResponseEnvelope { data, meta: local_meta(operation_id, timestamp) }
    }

    /// The envelope as it goes over a wire, where `undefined` is `null`.
    pub fn to_json(&self) -> String {
        let data = self.data.as_deref().unwrap_or("null");
        format!(r#"{{"data":{data},"meta":{}}}"#, self.meta)
    }

    /// The data alone: JSON text, or none for `undefined`.
    pub fn unwrap(self) -> Option<String> {
        self.data
    }
}

/// JSON text of a local meta. The timestamp is in epoch milliseconds; one that is not finite reads
/// as 0.
pub fn local_meta(operation_id: &str, timestamp: f64) -> String {
    let timestamp = if timestamp.is_finite() { timestamp } else { 0.0 };
    let operation_id = quote(operation_id);
    format!(r#"{{"source":"local","operationId":{operation_id},"timestamp":{timestamp}}}"#)
}

/// JSON text of an HTTP meta. Values of one header that came in several lines are joined by the
/// caller.
pub fn http_meta(status_code: u16, headers: &[(String, String)], content_type: &str) -> String {
    let headers: Vec<String> =
        headers.iter().map(|(name, value)| format!("{}:{}", quote(name), quote(value))).collect();
    format!(
        r#"{{"source":"http","statusCode":{status_code},"headers":{{{}}},"contentType":{}}}"#,
        headers.join(","),
        quote(content_type)
    )
}

/// JSON text of an MCP meta: `content` is the text of an array, `structured` of any value, `extra`
/// (the result's `_meta`) of an object.
pub fn mcp_meta(
    is_error: bool,
    content: &str,
    structured: Option<&str>,
    extra: Option<&str>,
) -> String {
    let mut text = format!(r#"{{"source":"mcp","isError":{is_error},"content":{content}"#);
    for (name, value) in [("structuredContent", structured), ("_meta", extra)] {
        if let Some(value) = value {
            text += &format!(r#","{name}":{value}"#);
        }
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn shapes_and_member_order() {
        assert_eq!(
            ResponseEnvelope::local(Some("1.0".into()), "ns.\"op", 1_700_000_000_000.0).to_json(),
            r#"{"data":1.0,"meta":{"source":"local","operationId":"ns.\"op","timestamp":1700000000000}}"#
        );
        assert_eq!(
            local_meta("a", f64::NAN),
            r#"{"source":"local","operationId":"a","timestamp":0}"#
        );
        assert_eq!(
            http_meta(200, &[("a".into(), "b, c".into())], "text/plain"),
            r#"{"source":"http","statusCode":200,"headers":{"a":"b, c"},"contentType":"text/plain"}"#
        );
        assert_eq!(
            mcp_meta(false, "[]", Some("null"), Some("{}")),
            r#"{"source":"mcp","isError":false,"content":[],"structuredContent":null,"_meta":{}}"#
        );
    }

    /// AT-036.
    #[test]
    fn optional_members_are_absent() {
        assert_eq!(
            mcp_meta(false, "[]", None, None),
            r#"{"source":"mcp","isError":false,"content":[]}"#
        );
    }

    /// AT-003: undefined data stays an envelope over a wire.
    #[test]
    fn undefined_is_null_on_a_wire() {
        let envelope = ResponseEnvelope::local(None, "ns.op", 5.0);
        assert_eq!(
            envelope.to_json(),
            r#"{"data":null,"meta":{"source":"local","operationId":"ns.op","timestamp":5}}"#
        );
        assert_eq!(envelope.unwrap(), None);
    }
}
