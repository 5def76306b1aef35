//! The guard: what is an envelope, and where its data came from.
//!
//! Invariant: the guard accepts exactly what
//! [`RESPONSE_ENVELOPE_SCHEMA`](super::RESPONSE_ENVELOPE_SCHEMA) accepts. It never looks into
//! `data`, so a host may ask about `meta` alone.

use crate::json::{Kind, Value};
use crate::session::content::{BlockFault, fault_of_block};
use crate::table::Table;

/// Where an envelope's data came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A handler in this process.
    Local,
    /// An HTTP response.
    Http,
    /// An MCP tool.
    Mcp,
}

impl Source {
    /// The value of `meta.source`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Source::Local => "local",
            Source::Http => "http",
            Source::Mcp => "mcp",
        }
    }
}

/// True if the value is a response envelope.
pub fn is_response_envelope(value: Value<'_>) -> bool {
    source_of(value).is_some()
}

/// Where the envelope's data came from; none if the value is no envelope.
pub(super) fn source_of(value: Value<'_>) -> Option<Source> {
    // Members of what is no object are none.
    value.get("data")?;
    source_of_meta(value.get("meta")?)
}

/// The source that a value names, if it is the `meta` of an envelope.
pub fn source_of_meta(meta: Value<'_>) -> Option<Source> {
    let is = |name: &str, kind: Kind| meta.get(name).is_some_and(|value| value.kind() == kind);
    let named = meta.get("source")?.text()?;
    let source = [Source::Local, Source::Http, Source::Mcp]
        .into_iter()
        .find(|source| named.eq_str(source.as_str()))?;
    let complete = match source {
        Source::Local => is("operationId", Kind::String) && is("timestamp", Kind::Number),
        Source::Http => {
            is("statusCode", Kind::Number)
                && is("contentType", Kind::String)
                && meta.get("headers").is_some_and(are_headers)
        }
        Source::Mcp => {
            is("isError", Kind::Boolean)
                && meta.get("content").is_some_and(is_content)
                && meta.get("_meta").is_none_or(Value::is_object)
        }
    };
    complete.then_some(source)
}

/// True for an object whose members are strings; of repeated members the last counts.
fn are_headers(value: Value<'_>) -> bool {
    if value.members().all(|(_, value)| value.is_string()) {
        return value.is_object();
    }
    let members = value.members().map(|(name, value)| (name.to_wtf8(), value));
    let last: Table<_, _> = members.collect();
    last.iter().all(|(_, value)| value.is_string())
}

/// True for an array of content blocks without a fault but an unknown type.
fn is_content(value: Value<'_>) -> bool {
    value.is_array()
        && value
            .elements()
            .all(|block| matches!(fault_of_block(block), None | Some(BlockFault::UnknownType)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, from_str, json};

    use super::*;
    use crate::json::{Limits, read};
    use crate::schema::{CompileOptions, Program, Verdict, compile, judge};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn guard(text: &str) -> bool {
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        is_response_envelope(tape.root(text.as_bytes()))
    }

    /// Values and whether they are envelopes: AT-012 to AT-032 and what lies between.
    const TABLE: [(&str, bool); 43] = [
        ("[1,2]", false),
        ("{}", false),
        ("null", false),
        ("\"data\"", false),
        (r#"{"meta":{"source":"local"}}"#, false),
        (r#"{"data":1}"#, false),
        (r#"{"data":1,"meta":null}"#, false),
        (r#"{"data":1,"meta":[]}"#, false),
        (r#"{"data":1,"meta":{}}"#, false),
        (r#"{"data":1,"meta":{"source":"ftp"}}"#, false),
        (r#"{"data":1,"meta":{"source":["local"]}}"#, false),
        (r#"{"data":1,"meta":{"source":"local","timestamp":1}}"#, false),
        (r#"{"data":1,"meta":{"source":"local","operationId":5,"timestamp":1}}"#, false),
        (r#"{"data":1,"meta":{"source":"local","operationId":"a"}}"#, false),
        (r#"{"data":1,"meta":{"source":"local","operationId":"a","timestamp":"1"}}"#, false),
        (r#"{"data":null,"meta":{"source":"local","operationId":"a","timestamp":1.5}}"#, true),
        (
            r#"{"data":{"x":1},"meta":{"source":"local","operationId":"ns.op","timestamp":1700000000000}}"#,
            true,
        ),
        (
            r#"{"meta":{"x":1,"timestamp":1,"source":"local","operationId":""},"more":1,"data":[]}"#,
            true,
        ),
        (r#"{"data":1,"meta":{"source":"http","statusCode":"200"}}"#, false),
        (r#"{"data":1,"meta":{"source":"http","statusCode":200}}"#, false),
        (
            r#"{"data":1,"meta":{"source":"http","statusCode":200,"headers":{},"contentType":null}}"#,
            false,
        ),
        (
            r#"{"data":1,"meta":{"source":"http","statusCode":200,"headers":[],"contentType":"a/b"}}"#,
            false,
        ),
        (
            r#"{"data":1,"meta":{"source":"http","statusCode":200,"headers":{"a":1},"contentType":"a/b"}}"#,
            false,
        ),
        (
            r#"{"data":1,"meta":{"source":"http","statusCode":200,"headers":{"a":1,"a":"b"},"contentType":"a/b"}}"#,
            true,
        ),
        (
            r#"{"data":1,"meta":{"source":"http","statusCode":200,"headers":{"a":"b","a":1},"contentType":"a/b"}}"#,
            false,
        ),
        (
            r#"{"data":"b","meta":{"source":"http","statusCode":200,"headers":{"a":"b"},"contentType":"a/b"}}"#,
            true,
        ),
        (r#"{"data":1,"meta":{"source":"mcp","content":[]}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":"true","content":[]}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":null,"content":[]}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":{}}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[]}}"#, true),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[1]}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[{}]}}"#, false),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[{"type":"text"}]}}"#, false),
        (
            r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[{"type":"resource","resource":{}}]}}"#,
            false,
        ),
        (
            r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[{"type":"resource","resource":{"uri":""}}]}}"#,
            true,
        ),
        (
            r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[{"type":"resource_link","uri":"u"}]}}"#,
            false,
        ),
        (
            r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[{"type":"audio","data":"","mimeType":"m"},{"type":"new"}]}}"#,
            true,
        ),
        (r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[],"_meta":null}}"#, false),
        (
            r#"{"data":1,"meta":{"source":"mcp","isError":true,"content":[],"_meta":{},"structuredContent":null}}"#,
            true,
        ),
        (
            r#"{"data":{"t":22},"meta":{"source":"mcp","isError":false,"content":[{"type":"text","text":"22"}],"structuredContent":{"t":22}}}"#,
            true,
        ),
        (r#"{"data":1,"meta":7,"meta":{"source":"local","operationId":"a","timestamp":1}}"#, true),
    ];

    #[test]
    fn the_guard_decides_the_table() {
        for (text, expected) in TABLE {
            assert_eq!(guard(text), expected, "{text}");
        }
    }

    fn schema_and_guard_agree(program: &Program, text: &str) -> bool {
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        let accepts = is_response_envelope(tape.root(text.as_bytes()));
        let expected = if accepts { Verdict::Valid } else { Verdict::Invalid };
        judge(program, text.as_bytes(), &tape, 0).verdict == expected
    }

    /// The table, and every row with any of its values replaced or removed.
    #[test]
    fn the_schema_decides_as_the_guard() {
        let schema = super::super::RESPONSE_ENVELOPE_SCHEMA;
        let program = compile(schema.as_bytes(), &CompileOptions::default()).unwrap();
        let others = json!([null, true, 1.5, "", "text", "resource", [], {}, [{}], {"uri": "u"}]);
        let others: Vec<Option<Json>> =
            others.as_array().unwrap().iter().cloned().map(Some).chain([None]).collect();
        let mut edited = 0;
        for (text, _) in TABLE {
            assert!(schema_and_guard_agree(&program, text), "{text}");
            let document: Json = from_str(text).unwrap();
            let mut pointers = Vec::new();
            collect(&document, String::new(), &mut pointers);
            for (pointer, other) in
                pointers.iter().flat_map(|pointer| others.iter().map(move |other| (pointer, other)))
            {
                let mut document = document.clone();
                match (document.pointer_mut(pointer), other) {
                    (Some(place), Some(other)) => *place = other.clone(),
                    (_, None) => remove(&mut document, pointer),
                    (None, _) => unreachable!("{pointer}"),
                }
                edited += 1;
                let text = document.to_string();
                assert!(schema_and_guard_agree(&program, &text), "{text}");
            }
        }
        assert!(edited > 2_000, "{edited}");
    }

    /// Pointers to every value but the root.
    fn collect(value: &Json, at: String, pointers: &mut Vec<String>) {
        let children: Vec<(String, &Json)> = match value {
            Json::Array(items) => {
                items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
            }
            Json::Object(members) => {
                members.iter().map(|(name, member)| (name.replace('/', "~1"), member)).collect()
            }
            _ => Vec::new(),
        };
        for (name, child) in children {
            let at = format!("{at}/{name}");
            pointers.push(at.clone());
            collect(child, at, pointers);
        }
    }

    fn remove(document: &mut Json, pointer: &str) {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match document.pointer_mut(parent).unwrap() {
            Json::Array(items) => drop(items.remove(name.parse().unwrap())),
            Json::Object(members) => drop(members.remove(&name.replace("~1", "/"))),
            _ => unreachable!("{pointer}"),
        }
    }
}
