//! A tool's result as one text for a model: the host chooses what it shows, and says so.

use std::borrow::Cow;

use crate::error::{Code, Error};
use crate::json::{Limits, Numbers, Tape, Value, equal, read};

/// What of a result is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// The text blocks, else the structured value.
    ContentFirst,
    /// The structured value, else the text blocks.
    StructuredFirst,
    /// Both; the structured value not if a text block is equal JSON.
    Both,
}

impl View {
    /// The view of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "content_first" => View::ContentFirst,
            "structured_first" => View::StructuredFirst,
            "both" => View::Both,
            _ => return None,
        })
    }
}

/// The text of a result for a model: its text blocks a line each, its structured value as compact
/// JSON, numbers as they were written. `content` is the JSON text of an array of blocks,
/// `structured` of a value. Text blocks of white space alone count as none: a model would see
/// nothing.
///
/// # Errors
/// `invalid_arguments` with reason `not_json` if a text is no JSON.
pub fn view_of_tool_result(
    content: &str,
    structured: Option<&str>,
    view: View,
) -> Result<String, Error> {
    let content_tape = parse(content)?;
    let texts: Vec<Cow<'_, str>> = content_tape
        .root(content.as_bytes())
        .elements()
        .filter(|block| is_text(*block))
        .filter_map(|block| Some(block.get("text")?.text()?.to_str()))
        .collect();
    let shown = texts.join("\n");
    let Some(structured) = structured else { return Ok(shown) };
    let tape = parse(structured)?;
    let value = tape.root(structured.as_bytes());
    let only_structured = match view {
        View::ContentFirst if !shown.trim().is_empty() => return Ok(shown),
        View::ContentFirst | View::StructuredFirst => true,
        View::Both if texts.iter().any(|text| is_same_json(text, value)) => return Ok(shown),
        View::Both => shown.trim().is_empty(),
    };
    let json = compact(structured);
    Ok(if only_structured { json } else { format!("{shown}\n{json}") })
}

fn parse(text: &str) -> Result<Tape, Error> {
    read(text.as_bytes(), Limits::depth(u32::MAX))
        .map_err(|_| Error::new(Code::InvalidArguments, "not_json"))
}

fn is_text(block: Value<'_>) -> bool {
    block.get("type").and_then(Value::text).is_some_and(|name| name.eq_str("text"))
}

fn is_same_json(text: &str, value: Value<'_>) -> bool {
    let bytes = text.as_bytes();
    read(bytes, Limits::depth(u32::MAX))
        .is_ok_and(|tape| equal(tape.root(bytes), value, Numbers::Exact))
}

/// A JSON text without white space between its tokens.
fn compact(text: &str) -> String {
    let mut in_string = false;
    let mut escaped = false;
    let keep = |character: &char| {
        let inside = in_string;
        match character {
            '"' if !escaped => in_string = !in_string,
            _ => {}
        }
        escaped = in_string && *character == '\\' && !escaped;
        inside || !matches!(character, ' ' | '\t' | '\n' | '\r')
    };
    text.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const STRUCTURED: &str = "{ \"fileName\": \"READ \\\" ME.md\",\n\t\"size\": 13.0 }";

    /// P11, P06 and P18.
    #[test]
    fn each_view() {
        let text = r##"[{"type":"text","text":"# README"},{"type":"image","data":"","mimeType":"m"},
            {"type":"text","text":"body"}]"##;
        let json = r#"{"fileName":"READ \" ME.md","size":13.0}"#;
        let blank = r#"[{"type":"text","text":" \n"}]"#;
        for (content, structured, view, expected) in [
            (text, Some(STRUCTURED), View::ContentFirst, "# README\nbody"),
            (text, Some(STRUCTURED), View::StructuredFirst, json),
            (text, Some(STRUCTURED), View::Both, &format!("# README\nbody\n{json}")),
            (text, None, View::ContentFirst, "# README\nbody"),
            (text, None, View::StructuredFirst, "# README\nbody"),
            (text, None, View::Both, "# README\nbody"),
            ("[]", Some(STRUCTURED), View::ContentFirst, json),
            ("[]", Some(STRUCTURED), View::Both, json),
            (blank, Some(STRUCTURED), View::ContentFirst, json),
            (blank, Some(STRUCTURED), View::Both, json),
            ("[]", Some("null"), View::ContentFirst, "null"),
            ("[]", None, View::Both, ""),
            (r#"[{"type":"new","text":"x"},7]"#, None, View::ContentFirst, ""),
        ] {
            let got = view_of_tool_result(content, structured, view).unwrap();
            assert_eq!(got, expected, "{content} {structured:?} {view:?}");
        }
    }

    #[test]
    fn both_shows_equal_json_once() {
        let content = r#"[{"type":"text","text":" {\"b\":[1.0],\"a\":\"\\u0078\"} "},{"type":"text","text":"t"}]"#;
        let view = |structured| view_of_tool_result(content, Some(structured), View::Both).unwrap();
        assert_eq!(view(r#"{"a":"x","b":[1]}"#), " {\"b\":[1.0],\"a\":\"\\u0078\"} \nt");
        assert!(view(r#"{"a":"x","b":[2]}"#).ends_with("t\n{\"a\":\"x\",\"b\":[2]}"));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for (content, structured) in [("[", None), ("[]", Some("{"))] {
            let error = view_of_tool_result(content, structured, View::Both).unwrap_err();
            assert_eq!(error.reason(), "not_json");
        }
    }
}
