use serde_json::{Value as Json, from_str, json};

use super::*;
use crate::json::{Limits, read};
use crate::schema::{CompileOptions, Program, SchemaError, compile};
#[cfg(target_family = "wasm")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const THINGS: &str = r#"{"type":"object","properties":{"things":{"type":"array","items":{"type":"string"}}},"required":["things"],"additionalProperties":false}"#;

/// A tool's output schema, compiled or not.
struct Tool(Option<Result<Program, SchemaError>>);

impl Tool {
    fn new(schema: Option<&str>) -> Self {
        Tool(schema.map(|text| compile(text.as_bytes(), &CompileOptions::default())))
    }

    fn output(&self) -> OutputSchema<'_> {
        match &self.0 {
            None => OutputSchema::Absent,
            Some(Ok(program)) => OutputSchema::Compiled(program),
            Some(Err(error)) => OutputSchema::Uncompilable(error),
        }
    }
}

fn run(
    schema: Option<&str>,
    result: &str,
    options: ToolOptions<'_>,
) -> Result<PipelineOutcome, Error> {
    let tool = Tool::new(schema);
    let outcome = envelope_of_tool_result(result, &tool.output(), &options)?;
    // Whatever came in, what comes out passes the guard.
    let envelope = outcome.envelope(Some(result)).to_json();
    let tape = read(envelope.as_bytes(), Limits::depth(64)).unwrap();
    assert!(super::super::is_response_envelope(tape.root(envelope.as_bytes())), "{envelope}");
    Ok(outcome)
}

fn report() -> ToolOptions<'static> {
    ToolOptions { validation: Validation::Report, ..ToolOptions::default() }
}

fn modern(validation: Validation) -> ToolOptions<'static> {
    ToolOptions { validation, protocol_version: Some("2026-07-28"), ..ToolOptions::default() }
}

fn envelope(outcome: &PipelineOutcome, result: &str) -> Json {
    from_str(&outcome.envelope(Some(result)).to_json()).unwrap()
}

fn codes(outcome: &PipelineOutcome) -> Vec<(&'static str, Option<&str>)> {
    outcome.diagnostics.iter().map(|found| (found.code, found.at.as_deref())).collect()
}

/// P01 and P18: what a failing tool sends is not judged and not lost; AT-287.
#[test]
fn failures_are_not_judged() {
    for (id, result) in [
        (
            "P01",
            r#"{"content":[{"type":"text","text":"NOT_FOUND: no such repo"}],"structuredContent":{"error":{"code":"NOT_FOUND"}},"isError":true}"#,
        ),
        (
            "P18",
            r#"{"content":[],"structuredContent":{"code":"RATE_LIMIT","retryAfter":30},"isError":true}"#,
        ),
        (
            "AT-287",
            r#"{"isError":true,"content":[],"structuredContent":{"code":"E1"},"_meta":{"m":1}}"#,
        ),
    ] {
        for options in [report(), ToolOptions::default()] {
            let outcome = run(Some(THINGS), result, options).unwrap();
            let sent: Json = from_str(result).unwrap();
            let envelope = envelope(&outcome, result);
            assert_eq!(outcome.conclusion.verdict, OutputVerdict::Unchecked, "{id}");
            assert_eq!(outcome.conclusion.reason, Some("is_error"), "{id}");
            assert_eq!(outcome.violation, None, "{id}");
            assert_eq!(envelope["data"], sent["structuredContent"], "{id}");
            for member in ["isError", "content", "structuredContent", "_meta"] {
                assert_eq!(envelope["meta"][member], sent[member], "{id}");
            }
        }
    }
}

/// P04: a violation is told, or fails the call with all that arrived.
#[test]
fn a_violation_under_each_policy() {
    let result = r#"{"content":[{"type":"text","text":"usable"}],"structuredContent":{"things":["a"],"extra":1}}"#;
    let outcome = run(Some(THINGS), result, report()).unwrap();
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Invalid);
    assert_eq!(outcome.violation, Some("schema"));
    let errors = &outcome.conclusion.errors;
    assert_eq!((errors[0].keyword, errors[0].instance_path.as_str()), ("additionalProperties", ""));
    assert_eq!(codes(&outcome), [("output_violation", None)]);
    assert_eq!(envelope(&outcome, result)["data"], json!({"things": ["a"], "extra": 1}));
    assert_eq!(outcome.data, Data::Structured);

    let error = run(Some(THINGS), result, ToolOptions::default()).unwrap_err();
    assert_eq!((error.code(), error.reason()), (Code::InvalidResponse, "output_schema_violation"));
    assert!(!error.is_retryable());
    assert!(
        error.message().contains("additionalProperties is not satisfied"),
        "{}",
        error.message()
    );
    assert!(!error.message().contains("extra") && !error.message().contains("usable"));
    let private: Json = from_str(error.private_json().unwrap()).unwrap();
    assert_eq!(private["content"][0]["text"], "usable");
    assert_eq!(private["structuredContent"]["extra"], 1);
    assert_eq!(private["violations"][0]["keyword"], "additionalProperties");

    let off = ToolOptions { validation: Validation::Off, ..ToolOptions::default() };
    let outcome = run(Some(THINGS), result, off).unwrap();
    assert_eq!(outcome.conclusion, Conclusion::unchecked("off"));
    assert_eq!(outcome.violation, None);
}

/// P05: content may be missing beside a structured value.
#[test]
fn content_may_be_missing() {
    let result = r#"{"structuredContent":{"things":[]}}"#;
    let outcome = run(Some(THINGS), result, ToolOptions::default()).unwrap();
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Valid);
    assert_eq!(outcome.violation, None);
    assert_eq!(codes(&outcome), [("content_missing", None)]);
    assert_eq!(
        outcome.envelope(Some(result)).to_json(),
        r#"{"data":{"things":[]},"meta":{"source":"mcp","isError":false,"content":[],"structuredContent":{"things":[]}}}"#
    );
}

/// P08: presence is that the member exists.
#[test]
fn falsy_values_are_values() {
    for (schema, value) in [
        (r#"{"type":"integer"}"#, "0"),
        (r#"{"type":"boolean"}"#, "false"),
        (r#"{"type":"string"}"#, "\"\""),
        (r#"{"type":["null","object"]}"#, "null"),
        (r#"{"type":"object"}"#, "{}"),
        (r#"{"type":"array"}"#, "[]"),
    ] {
        let result = format!(r#"{{"content":[],"structuredContent":{value}}}"#);
        let outcome = run(Some(schema), &result, modern(Validation::Enforce)).unwrap();
        assert_eq!(outcome.conclusion.verdict, OutputVerdict::Valid, "{value}");
        assert_eq!((outcome.data.clone(), outcome.violation), (Data::Structured, None), "{value}");
        assert_eq!(outcome.envelope(Some(&result)).data.as_deref(), Some(value));
    }
    // Before, null counts as absent.
    let result = r#"{"content":[],"structuredContent":null}"#;
    let outcome = run(None, result, ToolOptions::default()).unwrap();
    assert_eq!(outcome.data, Data::Content);
    assert_eq!(codes(&outcome), [("null_optional", Some("/structuredContent"))]);
    assert!(!outcome.meta.contains("structuredContent"));
}

/// A structured value that is no object, before the revision that allows it.
#[test]
fn structured_values_are_objects_before_2026() {
    let result = r#"{"content":[{"type":"text","text":"t"}],"structuredContent":[1]}"#;
    for version in [None, Some("2025-06-18"), Some("2025-11-25")] {
        let options = ToolOptions { protocol_version: version, ..report() };
        let outcome = run(Some(r#"{"type":"array"}"#), result, options).unwrap();
        assert_eq!(outcome.violation, Some("non_object_structured_content"));
        assert_eq!(outcome.conclusion.verdict, OutputVerdict::Invalid);
        assert_eq!(outcome.envelope(Some(result)).data.as_deref(), Some("[1]"));
        let options = ToolOptions { validation: Validation::Enforce, ..options };
        let error = run(None, result, options).unwrap_err();
        assert_eq!(
            (error.code().as_str(), error.reason()),
            ("invalid_response", "structured_content_type")
        );
        assert!(error.private_json().unwrap().contains("\"text\":\"t\""));
    }
    let outcome = run(None, result, modern(Validation::Enforce)).unwrap();
    assert_eq!((outcome.conclusion.reason, outcome.violation), (Some("no_schema"), None));
}

/// P06 and P11: the structured value is the data, the content is kept.
#[test]
fn the_structured_value_is_the_data() {
    for result in [
        r#"{"content":[],"structuredContent":{"id":10491,"latitude":50.99},"isError":false}"#,
        r##"{"content":[{"type":"text","text":"# README body"}],"structuredContent":{"fileName":"README.md","size":13}}"##,
        r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}"#,
    ] {
        let outcome = run(None, result, ToolOptions::default()).unwrap();
        let (envelope, sent) = (envelope(&outcome, result), from_str::<Json>(result).unwrap());
        assert_eq!(envelope["data"], sent["structuredContent"]);
        assert_eq!(envelope["meta"]["content"], sent["content"]);
        assert_eq!(envelope["meta"]["isError"], false);
    }
}

/// AT-283 and AT-286: without a structured value the content is the data.
#[test]
fn else_the_content_is_the_data() {
    for (result, data, is_error) in [
        (r#"{"content":[],"isError":false}"#, "[]", false),
        (r#"{"isError":true,"content":[]}"#, "[]", true),
        (
            r#"{"content":[ {"type":"text","text":"a"} ]}"#,
            r#"[ {"type":"text","text":"a"} ]"#,
            false,
        ),
    ] {
        let outcome = run(None, result, ToolOptions::default()).unwrap();
        let made = outcome.envelope(Some(result));
        assert_eq!(made.data.as_deref(), Some(data));
        assert_eq!(envelope(&outcome, result)["meta"]["isError"], is_error);
    }
}

/// P12: a block's fault costs the block.
#[test]
fn bad_blocks_are_dropped_and_listed() {
    let result = r#"{"content":[{"type":"text","text":"keep me"},{"type":"json","json":{"a":1}},{"type":"resource_link","uri":"file:///a.rs","name":"a.rs"},{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"text"},7]}"#;
    for options in [report(), ToolOptions::default()] {
        let outcome = run(None, result, options).unwrap();
        assert_eq!(outcome.violation, Some("bad_content_block"));
        assert_eq!(
            outcome.content_problems,
            [(1, "unknown_type"), (4, "missing_text"), (5, "not_an_object")]
        );
        assert_eq!(outcome.dropped, [4, 5]);
        let sent: Json = from_str(result).unwrap();
        let kept = &sent["content"].as_array().unwrap()[..4];
        assert_eq!(envelope(&outcome, result)["meta"]["content"], json!(kept));
        assert_eq!(envelope(&outcome, result)["data"], json!(kept));
        assert_eq!(codes(&outcome)[0], ("content_block", Some("/content/1")));
    }
}

/// P13: null stands for absent.
#[test]
fn null_members_count_as_absent() {
    let result = r#"{"content":[{"type":"text","text":"k","annotations":null,"_meta":null}],"isError":null,"_meta":null}"#;
    let outcome = run(None, result, ToolOptions::default()).unwrap();
    assert_eq!(outcome.violation, None);
    assert_eq!(
        outcome.meta,
        r#"{"source":"mcp","isError":false,"content":[{"type":"text","text":"k","annotations":null,"_meta":null}]}"#
    );
    assert_eq!(codes(&outcome)[0], ("null_optional", Some("/isError")));
}

/// P14: what cannot be judged is neither right nor wrong.
#[test]
fn a_schema_that_does_not_compile() {
    let schema =
        r#"{"type":"object","properties":{"result":{"$ref":"https://example.com/number.json"}}}"#;
    let result = r#"{"content":[],"structuredContent":{"result":2}}"#;
    let outcome = run(Some(schema), result, ToolOptions::default()).unwrap();
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Unknown);
    assert_eq!(outcome.violation, None);
    assert_eq!(codes(&outcome), [("schema_uncompilable", Some("/properties/result/$ref"))]);
    assert_eq!(envelope(&outcome, result)["data"], json!({"result": 2}));
}

/// P19: `resultType`.
#[test]
fn result_types() {
    for (result, expected) in [
        (r#"{"content":[]}"#, "no_schema"),
        (r#"{"resultType":"complete","content":[]}"#, "no_schema"),
        (
            r#"{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"s"}"#,
            "input_required",
        ),
        (r#"{"resultType":"vendor/odd","content":[]}"#, "protocol_error result_type"),
        (r#"{"resultType":null,"content":[]}"#, "protocol_error result_type"),
    ] {
        for options in [modern(Validation::Enforce), modern(Validation::Report), report()] {
            let got = match run(None, result, options) {
                Ok(outcome) => outcome.conclusion.reason.unwrap().to_owned(),
                Err(error) => format!("{} {}", error.code().as_str(), error.reason()),
            };
            assert_eq!(got, expected, "{result}");
        }
        // A revision without result types has no word of its own for the member.
        let legacy = ToolOptions { protocol_version: Some("2025-06-18"), ..report() };
        assert!(run(None, result, legacy).is_ok());
    }
    let asked = r#"{"resultType":"input_required","requestState":"s"}"#;
    let outcome = run(None, asked, modern(Validation::Enforce)).unwrap();
    assert_eq!(outcome.envelope(Some(asked)).data.as_deref(), Some(asked));
}

#[test]
fn results_that_cannot_be_read() {
    for (result, expected) in [
        ("[]", "protocol_error result_not_object"),
        ("null", "protocol_error result_not_object"),
        ("{", "invalid_arguments not_json"),
        (r#"{"content":{}}"#, "invalid_response no_content_array"),
        (r#"{"content":[],"isError":1}"#, "invalid_response is_error_type"),
        (r#"{"content":[],"content":[]}"#, "protocol_error duplicate_member"),
        ("{}", "invalid_response no_content_array"),
    ] {
        let error = run(None, result, ToolOptions::default()).unwrap_err();
        assert_eq!(format!("{} {}", error.code().as_str(), error.reason()), expected, "{result}");
    }
    let outcome = run(None, r#"{"_meta":{}}"#, report()).unwrap();
    assert_eq!(outcome.violation, Some("malformed_result"));
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Invalid);
    assert_eq!(outcome.meta, r#"{"source":"mcp","isError":false,"content":[],"_meta":{}}"#);
}

#[test]
fn a_declared_value_that_was_not_sent() {
    let result = r#"{"content":[{"type":"text","text":"t"}]}"#;
    let outcome = run(Some(THINGS), result, ToolOptions::default()).unwrap();
    assert_eq!(outcome.conclusion, Conclusion::unchecked("no_structured_content"));
    assert_eq!(outcome.violation, None);
    assert_eq!(codes(&outcome), [("structured_content_missing", None)]);
    let required = ToolOptions { require_structured: true, ..report() };
    let outcome = run(Some(THINGS), result, required).unwrap();
    assert_eq!(outcome.violation, Some("missing_structured_content"));
    let required = ToolOptions { require_structured: true, ..ToolOptions::default() };
    let error = run(Some(THINGS), result, required).unwrap_err();
    assert_eq!(error.reason(), "structured_content_missing");
    assert!(run(None, result, required).is_ok());
}

#[test]
fn a_single_text_block_may_stand_in() {
    let fallback = ToolOptions { parse_text_fallback: true, ..ToolOptions::default() };
    let one = r#"{"content":[{"type":"text","text":" {\"things\":[\"\\u0061\"]}"}]}"#;
    let outcome = run(Some(THINGS), one, fallback).unwrap();
    assert_eq!(outcome.data, Data::TextBlock(0));
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Valid);
    assert_eq!(envelope(&outcome, one)["data"], json!({"things": ["a"]}));
    assert!(!outcome.meta.contains("structuredContent"));
    // Off by default, and only for one block of JSON and no structured value.
    assert_eq!(run(None, one, ToolOptions::default()).unwrap().data, Data::Content);
    for (result, data) in [
        (r#"{"content":[{"type":"text","text":"4"}]}"#, Data::TextBlock(0)),
        (r#"{"content":[{"type":"text","text":"four"}]}"#, Data::Content),
        (r#"{"content":[{"type":"text","text":"4"},{"type":"text","text":"5"}]}"#, Data::Content),
        (r#"{"content":[{"type":"new","text":"4"}]}"#, Data::Content),
        (r#"{"content":[{"type":"text","text":"4"}],"structuredContent":{}}"#, Data::Structured),
    ] {
        assert_eq!(run(None, result, fallback).unwrap().data, data, "{result}");
    }
    let bad = r#"{"content":[{"type":"text","text":"{\"things\":1}"}]}"#;
    assert_eq!(run(Some(THINGS), bad, fallback).unwrap_err().reason(), "output_schema_violation");
}

#[test]
fn integers_beyond_doubles_are_reported() {
    let result = r#"{"content":[],"structuredContent":{"a/b":[1,9007199254740993]}}"#;
    let outcome = run(None, result, ToolOptions::default()).unwrap();
    assert_eq!(codes(&outcome), [("unsafe_integer", Some("/structuredContent/a~1b/1"))]);
}

/// The structured value is what is normalized; the envelope's meta keeps what was sent.
#[test]
fn structured_content_is_normalized_when_asked_for() {
    let result = r#"{"content":[],"structuredContent":{"things":["a",7],"more":1}}"#;
    let tool = |normalize| ToolOptions { normalize, ..ToolOptions::default() };
    assert_eq!(
        run(Some(THINGS), result, tool(Normalize::Off)).unwrap_err().code(),
        Code::InvalidResponse
    );
    let outcome = run(Some(THINGS), result, tool(Normalize::Cast034)).unwrap();
    assert_eq!(outcome.data, Data::Normalized(Some(r#"{"things":["a",""]}"#.to_owned())));
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Valid);
    assert_eq!(outcome.changes.len(), 2);
    assert!(outcome.meta.contains(r#""structuredContent":{"things":["a",7],"more":1}"#));
    // A failed call's value is none of the schema's, and what was not sent is not made up.
    for result in
        [r#"{"content":[],"isError":true,"structuredContent":{"things":7}}"#, r#"{"content":[]}"#]
    {
        let outcome = run(Some(THINGS), result, tool(Normalize::Cast)).unwrap();
        assert_eq!(outcome.conclusion.verdict, OutputVerdict::Unchecked);
        assert!(outcome.changes.is_empty());
    }
    let off = ToolOptions { validation: Validation::Off, ..tool(Normalize::Cast034) };
    let outcome = run(Some(THINGS), result, off).unwrap();
    assert_eq!(outcome.conclusion.reason, Some("off"));
    assert_eq!(outcome.changes.len(), 2);
}

#[test]
fn a_revision_that_is_not_known_is_refused() {
    let options = ToolOptions { protocol_version: Some("1999-01-01"), ..ToolOptions::default() };
    let error = run(None, "{}", options).unwrap_err();
    assert_eq!(error.get_facts().option.as_deref(), Some("protocolVersion"));
}

/// Depth is the schema's to bound: deeper values are not judged, and never a violation.
#[test]
fn values_too_deep_to_judge_are_unknown() {
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
    let result = format!(r#"{{"content":[],"structuredContent":{{"things":{deep}}}}}"#);
    let outcome = run(Some(r#"{"type":"object"}"#), &result, ToolOptions::default()).unwrap();
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Unknown);
    assert_eq!(outcome.envelope(Some(&result)).data.unwrap(), format!(r#"{{"things":{deep}}}"#));
}
