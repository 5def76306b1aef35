//! HTTP headers of a message: what intermediaries may know of it without reading it (2026-07-28).
//!
//! Invariant: headers are computed from the frame that is sent, so they cannot say anything else;
//! their values are visible ASCII and inner spaces, whatever the host's arguments hold.

use crate::json::{self, Limits, Text, Value, pointer};
use crate::table::Set;

use super::revision::{Revision, meta};

const VERSION: &str = "MCP-Protocol-Version";
const KEYWORD: &str = "x-mcp-header";

/// Name and value, in the order they are sent.
pub(super) type Headers = Vec<(String, String)>;

/// An argument that is repeated in a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HeaderParam {
    /// The last part of the header's name.
    name: String,
    /// The members that lead to the argument.
    path: Vec<String>,
}

/// The headers of a frame. `agreed` is the revision of the handshake; `params` are those of the
/// tool that is called.
pub(super) fn headers_of(
    frame: &[u8],
    agreed: Option<&Revision>,
    params: &[HeaderParam],
) -> Headers {
    let mut headers = Vec::new();
    let Ok(tape) = json::read(frame, Limits::depth(512)) else { return headers };
    let message = tape.root(frame);
    let method = message.get("method").and_then(Value::text);
    let sent = message.get("params");
    let stamp = sent.and_then(|sent| sent.get("_meta")).and_then(|known| known.get(meta::VERSION));
    let Some(stamp) = stamp.and_then(Value::text) else {
        if let Some(revision) = agreed.filter(|revision| !revision.stamped) {
            headers.push((VERSION.to_owned(), revision.name.to_owned()));
        }
        return headers;
    };
    headers.push((VERSION.to_owned(), stamp.to_str().into_owned()));
    let Some(method) = method else { return headers };
    headers.push(("Mcp-Method".to_owned(), encoded(method)));
    let name = match method.to_str().as_ref() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        method if method.starts_with("tasks/") => "taskId",
        _ => return headers,
    };
    if let Some(name) = sent.and_then(|sent| sent.get(name)).and_then(Value::text) {
        headers.push(("Mcp-Name".to_owned(), encoded(name)));
    }
    let arguments = sent.and_then(|sent| sent.get("arguments"));
    for HeaderParam { name, path } in params {
        let argument = arguments
            .and_then(|arguments| path.iter().try_fold(arguments, |value, step| value.get(step)));
        if let Some(value) = argument.and_then(value_of) {
            headers.push((format!("Mcp-Param-{name}"), value));
        }
    }
    headers
}

/// A value as a header has it; none for null and for what has no such form.
fn value_of(value: Value<'_>) -> Option<String> {
    if let Some(text) = value.text() {
        return Some(encoded(text));
    }
    if let Some(truth) = value.as_bool() {
        return Some(truth.to_string());
    }
    let number = value.number()?;
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_plain {
        return Some(number.to_owned());
    }
    let double: f64 = number.parse().ok()?;
    Some(format!("{double}"))
}

/// A text as it is, or in base64 if it could not be read back from a header as it is.
fn encoded(text: Text<'_>) -> String {
    let words = text.to_str();
    let visible = |byte: u8| (0x21..=0x7E).contains(&byte);
    let bytes = words.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    let plain = bytes.iter().all(|&byte| visible(byte) || byte == b' ')
        && ends.iter().flatten().all(|&&byte| visible(byte))
        && !(words.starts_with("=?base64?") && words.ends_with("?="));
    if plain { words.into_owned() } else { format!("=?base64?{}?=", base64(bytes)) }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = 0u32;
        for index in 0..3 {
            group = group << 8 | u32::from(chunk.get(index).copied().unwrap_or(0));
        }
        for index in 0..4 {
            let digit = (group >> (18 - 6 * index) & 63) as usize;
            let digit = DIGITS.get(digit).copied().unwrap_or(b'A');
            text.push(if index > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// The arguments that a tool's input schema wants in headers, or where it asks what cannot be: a
/// JSON Pointer.
pub(super) fn header_params(schema: Value<'_>) -> Result<Vec<HeaderParam>, String> {
    let mut params: Vec<HeaderParam> = Vec::new();
    let mut names = Set::new();
    // Schemas to look at, each with its pointer and, as long as only `properties` led there, the
    // way to the argument.
    let mut waiting: Vec<(Value<'_>, String, Option<Vec<String>>)> =
        vec![(schema, String::new(), Some(Vec::new()))];
    while let Some((schema, at, path)) = waiting.pop() {
        for (name, value) in schema.members() {
            let name = name.to_str();
            let mut at = at.clone();
            pointer::push(&mut at, &name);
            match name.as_ref() {
                KEYWORD => {
                    let param = header_param(schema, value, path.as_deref()).ok_or(at.clone())?;
                    if !names.insert(param.name.to_ascii_lowercase()) {
                        return Err(at);
                    }
                    params.push(param);
                }
                "properties" | "patternProperties" | "$defs" | "definitions"
                | "dependentSchemas" => {
                    for (key, child) in value.members() {
                        let key = key.to_str();
                        let mut at = at.clone();
                        pointer::push(&mut at, &key);
                        let way = path.clone().filter(|_| name == "properties").map(|mut way| {
                            way.push(key.into_owned());
                            way
                        });
                        waiting.push((child, at, way));
                    }
                }
                // What is data there only looks like a schema.
                "default" | "const" | "enum" | "examples" => {}
                _ if value.is_object() => waiting.push((value, at, None)),
                _ => {
                    for (index, child) in value.elements().enumerate() {
                        let mut at = at.clone();
                        pointer::push(&mut at, &index.to_string());
                        waiting.push((child, at, None));
                    }
                }
            }
        }
    }
    crate::sorted::sort_by(&mut params, |one, other| one.path.cmp(&other.path));
    Ok(params)
}

fn header_param(
    schema: Value<'_>,
    name: Value<'_>,
    path: Option<&[String]>,
) -> Option<HeaderParam> {
    let name = name.text()?.to_str().into_owned();
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let path = path.filter(|path| !path.is_empty())?;
    let primitive = |kind: Value<'_>| {
        let is = |name: &str| kind.text().is_some_and(|text| text.eq_str(name));
        is("string") || is("integer") || is("boolean")
    };
    let fine =
        !name.is_empty() && name.bytes().all(token) && schema.get("type").is_some_and(primitive);
    fine.then(|| HeaderParam { name, path: path.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::super::revision::REVISIONS;
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn params(schema: &str) -> Result<Vec<HeaderParam>, String> {
        let tape = json::read(schema.as_bytes(), Limits::depth(128)).unwrap();
        header_params(tape.root(schema.as_bytes()))
    }

    #[test]
    fn arguments_are_found_along_properties_alone() {
        let found = params(
            r#"{"type":"object","properties":{
                "region":{"type":"string","x-mcp-header":"Region"},
                "x-mcp-header":{"type":"string"},
                "deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
                "data":{"default":{"x-mcp-header":7}}}}"#,
        )
        .unwrap();
        let shown: Vec<_> =
            found.iter().map(|param| format!("{} {}", param.name, param.path.join("/"))).collect();
        assert_eq!(shown, ["N deep/n", "Region region"]);
        for (schema, at) in [
            (r#"{"x-mcp-header":"A"}"#, "/x-mcp-header"),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#,
                "/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}"#,
                "/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#,
                "/properties/a/x-mcp-header",
            ),
            (
                r#"{"properties":{"a":{"items":{"type":"string","x-mcp-header":"A"}}}}"#,
                "/properties/a/items/x-mcp-header",
            ),
            (
                r#"{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}"#,
                "/anyOf/0/properties/a/x-mcp-header",
            ),
        ] {
            assert_eq!(params(schema), Err(at.to_owned()), "{schema}");
        }
        let twice = r#"{"properties":{"a":{"type":"string","x-mcp-header":"A"},
            "b":{"type":"string","x-mcp-header":"a"}}}"#;
        assert!(params(twice).is_err());
    }

    #[test]
    fn values_can_be_read_back() {
        let params = params(
            r#"{"properties":{"s":{"type":"string","x-mcp-header":"S"},
                "i":{"type":"integer","x-mcp-header":"I"},
                "b":{"type":"boolean","x-mcp-header":"B"}}}"#,
        )
        .unwrap();
        for (arguments, expected) in [
            (r#"{"s":"plain text","i":7,"b":true}"#, "B true, I 7, S plain text"),
            (r#"{"s":"é","i":-1,"b":null}"#, "I -1, S =?base64?w6k=?="),
            (r#"{"s":" x"}"#, "S =?base64?IHg=?="),
            (r#"{"s":"=?base64?YQ==?="}"#, "S =?base64?PT9iYXNlNjQ/WVE9PT89?="),
            (r#"{"s":"a\nb","i":1e2}"#, "I 100, S =?base64?YQpi?="),
            (r#"{"s":{"not":"a string"}}"#, ""),
        ] {
            let frame = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
            );
            let headers = headers_of(frame.as_bytes(), Some(&REVISIONS[0]), &params);
            assert_eq!(
                headers[..3].iter().map(|it| it.1.as_str()).collect::<Vec<_>>(),
                ["2026-07-28", "tools/call", "t"]
            );
            let shown: Vec<_> = headers[3..]
                .iter()
                .map(|(name, value)| format!("{} {value}", &name["Mcp-Param-".len()..]))
                .collect();
            assert_eq!(shown.join(", "), expected);
        }
    }

    #[test]
    fn a_handshake_leaves_one_header() {
        let frame = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
        assert_eq!(headers_of(frame, None, &[]), []);
        assert_eq!(
            headers_of(frame, Some(&REVISIONS[2]), &[]),
            [("MCP-Protocol-Version".to_owned(), "2025-06-18".to_owned())]
        );
    }
}
