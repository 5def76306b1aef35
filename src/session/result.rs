//! The shape of a tool's result: row R28 in `strict`, the table of DESIGN.md 6.2 in `contain`.
//!
//! Pure: a value on its tape goes in, what it holds and what is wrong with it comes out. Whether a
//! finding fails the call is decided elsewhere.

use crate::error::{Code, Error};
use crate::json::{Value, pointer, resolve_pointer};
use crate::schema::Violation;
use crate::wire::Profile;
use crate::wire::encode::quote;

use super::content::check_content;

/// Findings of one kind that are listed for one result: a list of millions would help nobody.
pub const MAX_LISTED: usize = 1_000;

/// A result as it is handed out, and what was found.
#[derive(Clone, Default, Debug)]
pub struct Shape {
    /// True if the tool reports failure.
    pub is_error: bool,
    /// The position on the tape of the structured value that is handed out.
    pub structured: Option<u32>,
    /// Indices of content blocks that are not handed out.
    pub dropped: Vec<u32>,
    /// Content blocks with a problem: index and reason, the first [`MAX_LISTED`].
    pub content_problems: Vec<(u32, &'static str)>,
    /// `malformed_result` or `non_object_structured_content`, which the validation policy decides
    /// on; else `bad_content_block`, which never fails a call.
    pub violation: Option<&'static str>,
    /// JSON Pointers to members that are null and count as absent, the first few more than
    /// [`MAX_LISTED`].
    pub nulls: Vec<String>,
    /// True if there is no content beside a structured value.
    pub content_missing: bool,
}

/// Why a result cannot be handed out at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeFault {
    /// The code of the error.
    pub code: Code,
    /// Its reason.
    pub reason: &'static str,
    /// The content block it concerns.
    pub index: Option<u32>,
    /// JSON Pointer into the message.
    pub at: Option<&'static str>,
}

fn fault(reason: &'static str) -> ShapeFault {
    ShapeFault { code: Code::InvalidResponse, reason, index: None, at: None }
}

/// Reads a tool's result. `any_structured`: the revision lets the structured value be anything.
pub fn read(
    result: Value<'_>,
    profile: Profile,
    any_structured: bool,
) -> Result<Shape, ShapeFault> {
    match profile {
        Profile::Strict => strict(result),
        Profile::Contain => contained(result, any_structured),
    }
}

fn strict(result: Value<'_>) -> Result<Shape, ShapeFault> {
    if !result.is_object() {
        return Err(fault("result_not_object"));
    }
    let (content, structured) = (result.get("content"), result.get("structuredContent"));
    match content {
        None if structured.is_none() => return Err(fault("no_content_array")),
        Some(content) if !content.is_array() => return Err(fault("no_content_array")),
        _ => {}
    }
    let mut blocks = content.into_iter().flat_map(Value::elements);
    if let Some(index) = blocks.position(|block| !block.is_object()) {
        let index = Some(index as u32);
        return Err(ShapeFault { index, ..fault("content_block_not_object") });
    }
    let is_error = match result.get("isError") {
        None => false,
        Some(value) => value.as_bool().ok_or_else(|| fault("is_error_type"))?,
    };
    if structured.is_some_and(|value| !value.is_object()) {
        return Err(fault("structured_content_type"));
    }
    Ok(Shape { is_error, structured: structured.map(Value::position), ..Shape::default() })
}

/// The members of a result that are read; the last one counts, repeats are refused.
#[derive(Clone, Copy, Default)]
struct Members<'a> {
    content: Option<Value<'a>>,
    structured: Option<Value<'a>>,
    is_error: Option<Value<'a>>,
    meta: Option<Value<'a>>,
}

impl<'a> Members<'a> {
    /// None if a member is repeated.
    fn read(result: Value<'a>) -> Option<Self> {
        let mut members = Members::default();
        for (name, value) in result.members() {
            let slot = match name.to_wtf8().as_ref() {
                b"content" => &mut members.content,
                b"structuredContent" => &mut members.structured,
                b"isError" => &mut members.is_error,
                b"_meta" => &mut members.meta,
                _ => continue,
            };
            if slot.replace(value).is_some() {
                return None;
            }
        }
        Some(members)
    }
}

fn contained(result: Value<'_>, any_structured: bool) -> Result<Shape, ShapeFault> {
    let protocol =
        |reason| ShapeFault { code: Code::ProtocolError, at: Some("/result"), ..fault(reason) };
    if !result.is_object() {
        return Err(protocol("result_not_object"));
    }
    let members = Members::read(result).ok_or_else(|| protocol("duplicate_member"))?;
    let mut shape = Shape::default();
    let mut optional = |value: Option<Value<'_>>, at: &str| {
        let null = value.is_some_and(Value::is_null);
        if null {
            shape.nulls.push(at.to_owned());
        }
        null
    };
    let no_error = optional(members.is_error, "/isError");
    optional(members.meta, "/_meta");
    let no_structured = !any_structured && optional(members.structured, "/structuredContent");
    shape.is_error = match members.is_error.filter(|_| !no_error) {
        None => false,
        Some(value) => value.as_bool().ok_or_else(|| fault("is_error_type"))?,
    };
    let structured = members.structured.filter(|_| !no_structured);
    shape.structured = structured.map(Value::position);
    match members.content {
        None if structured.is_none() => shape.violation = Some("malformed_result"),
        None => shape.content_missing = true,
        Some(content) if !content.is_array() => return Err(fault("no_content_array")),
        Some(content) => blocks(content, &mut shape).ok_or_else(|| protocol("duplicate_member"))?,
    }
    if !any_structured && structured.is_some_and(|value| !value.is_object()) {
        shape.violation = Some("non_object_structured_content");
    }
    Ok(shape)
}

/// Reads the content blocks; none if a member that is read is repeated.
fn blocks(content: Value<'_>, shape: &mut Shape) -> Option<()> {
    let findings = check_content(content)?;
    shape.dropped = findings.dropped().collect();
    if !findings.faults.is_empty() {
        shape.violation = Some("bad_content_block");
    }
    let faults = findings.faults.into_iter().take(MAX_LISTED);
    shape.content_problems = faults.map(|(index, fault)| (index, fault.as_str())).collect();
    for (index, name) in findings.null_members.into_iter().take(MAX_LISTED) {
        shape.nulls.push(format!("/content/{index}/{name}"));
    }
    Some(())
}

/// JSON text of an array of `ValidationError`.
pub fn violations_json(violations: &[Violation]) -> String {
    let texts: Vec<String> = violations
        .iter()
        .map(|violation| {
            format!(
                "{{\"instancePath\":{},\"schemaPath\":{},\"keyword\":{},\"message\":{},\"params\":{}}}",
                quote(&violation.instance_path),
                quote(&violation.schema_path),
                quote(violation.keyword),
                quote(&violation.message()),
                if violation.params.is_empty() { "{}" } else { &violation.params },
            )
        })
        .collect();
    format!("[{}]", texts.join(","))
}

/// What the host may see of a refused result, as a JSON text: nothing that arrived is lost.
pub fn private_json(
    result: Value<'_>,
    path: &str,
    offending: Value<'_>,
    violations: &[Violation],
) -> String {
    let mut text = format!("{{\"path\":{},\"value\":{}", quote(path), offending.raw());
    for (name, value) in [
        ("content", result.get("content").filter(|content| content.is_array())),
        ("structuredContent", result.get("structuredContent")),
        ("isError", result.get("isError")),
        ("_meta", result.get("_meta")),
    ] {
        if let Some(value) = value {
            text.push_str(&format!(",\"{name}\":{}", value.raw()));
        }
    }
    if !violations.is_empty() {
        text.push_str(&format!(",\"violations\":{}", violations_json(violations)));
    }
    text.push('}');
    text
}

/// The error for a result that breaks its contract: what arrived travels with it, for the host.
pub fn refusal(violation: &str, result: Value<'_>, violations: &[Violation]) -> Error {
    let reason = match violation {
        "malformed_result" => "no_content_array",
        "non_object_structured_content" => "structured_content_type",
        "missing_structured_content" => "structured_content_missing",
        _ => "output_schema_violation",
    };
    let structured = result.get("structuredContent").unwrap_or(result);
    let first = violations.first();
    let path = first.map_or("", |first| &first.instance_path);
    let offending = resolve_pointer(structured, path).unwrap_or(structured);
    let error = Error::new(Code::InvalidResponse, reason)
        .private(private_json(result, path, offending, violations));
    match first {
        Some(first) => error.why(first.why()),
        None => error,
    }
}

/// JSON Pointer to the first integer that a double cannot hold.
pub fn unsafe_integer(value: Value<'_>) -> Option<String> {
    let found = value.integers_longer_than(15).find(|integer| {
        let text = integer.number().unwrap_or_default();
        // Written without exponent, a double shows exactly what it holds.
        let nearest: f64 = text.parse().unwrap_or_default();
        format!("{nearest:.0}") != text
    })?;
    Some(pointer::locate(value, found.position()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read as read_json};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    /// The shape, or fault, of a result as text.
    fn shown(profile: Profile, text: &str) -> String {
        let tape = read_json(text.as_bytes(), Limits::depth(128)).unwrap();
        match read(tape.root(text.as_bytes()), profile, false) {
            Ok(shape) => format!(
                "{} {} {:?} {:?} {:?} {:?}",
                shape.is_error,
                shape.structured.map_or("-", |at| tape.value(text.as_bytes(), at).raw()),
                shape.dropped,
                shape.content_problems,
                shape.violation,
                shape.nulls
            ),
            Err(fault) => format!("{} {} {:?}", fault.code.as_str(), fault.reason, fault.index),
        }
    }

    #[test]
    fn strict_is_row_r28() {
        for (text, expected) in [
            (r#"{"structuredContent":{"a":1}}"#, r#"false {"a":1} [] [] None []"#),
            (r#"{"isError":true}"#, "invalid_response no_content_array None"),
            (
                r#"{"content":null,"structuredContent":{}}"#,
                "invalid_response no_content_array None",
            ),
            (
                r#"{"content":[{"type":"text"},null]}"#,
                "invalid_response content_block_not_object Some(1)",
            ),
            (r#"{"content":[{},{"type":7}]}"#, "false - [] [] None []"),
            (r#"{"content":[],"isError":1}"#, "invalid_response is_error_type None"),
            (
                r#"{"content":[],"structuredContent":3}"#,
                "invalid_response structured_content_type None",
            ),
            ("null", "invalid_response result_not_object None"),
            (r#"{"content":[1],"isError":1}"#, "invalid_response content_block_not_object Some(0)"),
        ] {
            assert_eq!(shown(Profile::Strict, text), expected, "{text}");
        }
    }

    #[test]
    fn contain_keeps_what_is_good() {
        for (text, expected) in [
            ("{}", "false - [] [] Some(\"malformed_result\") []"),
            ("[]", "protocol_error result_not_object None"),
            (
                r#"{"content":[{"type":"text","text":"k","annotations":null,"_meta":null}],"isError":null,"_meta":null}"#,
                r#"false - [] [] None ["/isError", "/_meta", "/content/0/annotations", "/content/0/_meta"]"#,
            ),
            (
                r#"{"content":[{"type":"text","text":"keep"},{"type":"json"},{"type":"resource_link","uri":"u","name":"n"},{"type":"audio","data":"","mimeType":"m"},{"type":"text"},7,{},{"type":"resource","resource":{"uri":"u","blob":""}},{"type":"image","data":""}]}"#,
                "false - [4, 5, 6, 8] [(1, \"unknown_type\"), (4, \"missing_text\"), (5, \"not_an_object\"), (6, \"missing_type\"), (8, \"missing_member\")] Some(\"bad_content_block\") []",
            ),
            (
                r#"{"content":[],"structuredContent":3}"#,
                "false 3 [] [] Some(\"non_object_structured_content\") []",
            ),
            (
                r#"{"content":[],"structuredContent":null}"#,
                "false - [] [] None [\"/structuredContent\"]",
            ),
            (r#"{"content":[],"isError":"yes"}"#, "invalid_response is_error_type None"),
            (r#"{"content":[],"content":[]}"#, "protocol_error duplicate_member None"),
            (
                r#"{"content":[{"type":"text","text":"a","text":"b"}]}"#,
                "protocol_error duplicate_member None",
            ),
        ] {
            assert_eq!(shown(Profile::Contain, text), expected, "{text}");
        }
    }

    #[test]
    fn integers_that_doubles_change_are_found() {
        let find = |text: &str| {
            let tape = read_json(text.as_bytes(), Limits::depth(128)).unwrap();
            unsafe_integer(tape.root(text.as_bytes()))
        };
        assert_eq!(find(r#"{"a":[1,9007199254740992,-9007199254740994]}"#), None);
        assert_eq!(find(r#"{"a/b":[1,{"c":9007199254740993}]}"#).unwrap(), "/a~1b/1/c");
        assert_eq!(find("123456789012345678901234567890").unwrap(), "");
    }
}
