//! Envelopes and the pipeline as a user of the crate sees them: the operation cases (AT-…) that
//! need no registry.

#![allow(clippy::unwrap_used, reason = "a test's helpers fail as the test does: by panicking")]

use serde_json::{Value as Json, from_str, json};
use toolwire::envelope::{
    Data, Normalize, Operation, OutputSchema, OutputVerdict, PipelineOptions, PipelineOutcome,
    ResponseEnvelope, Returned, Source, is_response_envelope, mcp_meta, run_pipeline,
};
use toolwire::error::{Code, Error};
use toolwire::json::{Limits, read};
use toolwire::schema::{CompileOptions, compile};

const RESULT_AND_COUNT: &str = r#"{"type":"object","properties":{"result":{"type":"string"},"count":{"type":"number"}},"required":["result","count"]}"#;
const OPTIONS: PipelineOptions = PipelineOptions {
    normalize: Some(Normalize::Off),
    wrap_always: false,
    now: 1_700_000_000_000.0,
};

fn is_envelope(text: &str) -> bool {
    let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
    is_response_envelope(tape.root(text.as_bytes()))
}

fn run(
    returned: Returned<'_>,
    schema: Option<&str>,
    options: &PipelineOptions,
) -> Result<PipelineOutcome, Error> {
    let program = schema.map(|text| compile(text.as_bytes(), &CompileOptions::default()).unwrap());
    let output = program.as_ref().map_or(OutputSchema::Absent, OutputSchema::Compiled);
    run_pipeline(&returned, &Operation { id: "ns.op", output }, options)
}

/// The outcome of a value and its envelope.
fn ran(text: &str, schema: Option<&str>) -> (PipelineOutcome, Json) {
    let outcome = run(Returned::Value(Some(text)), schema, &OPTIONS).unwrap();
    let envelope = outcome.envelope(Some(text)).to_json();
    assert!(is_envelope(&envelope), "{envelope}");
    (outcome, from_str(&envelope).unwrap())
}

#[test]
fn at_002_null_is_wrapped() {
    let (outcome, envelope) = ran("null", None);
    assert_eq!(envelope["data"], Json::Null);
    assert_eq!(
        envelope["meta"],
        json!({"source": "local", "operationId": "ns.op", "timestamp": 1_700_000_000_000_u64})
    );
    assert!(!outcome.passed_through);
}

#[test]
fn at_003_undefined_stays_undefined_and_is_null_on_a_wire() {
    let outcome = run(Returned::Value(None), None, &OPTIONS).unwrap();
    let envelope = outcome.envelope(None);
    assert_eq!(envelope.data, None);
    assert!(is_envelope(&envelope.to_json()));
    assert_eq!(from_str::<Json>(&envelope.to_json()).unwrap()["data"], Json::Null);
    // It is judged as what it is on a wire.
    for (schema, verdict) in [
        (r#"{"type":"null"}"#, OutputVerdict::Valid),
        (r#"{"type":"object"}"#, OutputVerdict::Invalid),
    ] {
        let outcome = run(Returned::Value(None), Some(schema), &OPTIONS).unwrap();
        assert_eq!(outcome.conclusion.verdict, verdict);
    }
}

#[test]
fn at_005_and_at_006_envelopes_pass_through() {
    for (id, text, source) in [
        (
            "AT-005",
            r#"{"data":{"t":22},"meta":{"source":"mcp","isError":false,"content":[{"type":"text","text":"22"}],"structuredContent":{"t":22}}}"#,
            Source::Mcp,
        ),
        (
            "AT-006",
            r#"{"data":"body","meta":{"source":"http","statusCode":200,"headers":{"content-type":"text/plain"},"contentType":"text/plain"}}"#,
            Source::Http,
        ),
    ] {
        let (outcome, envelope) = ran(text, None);
        assert!(outcome.passed_through, "{id}");
        assert_eq!(outcome.source, source, "{id}");
        assert_eq!(outcome.data, Data::DataMember, "{id}");
        assert_eq!(envelope, from_str::<Json>(text).unwrap(), "{id}");
    }
}

#[test]
fn guard_cases() {
    for (id, text, expected) in [
        ("AT-012", "[1,2]", false),
        ("AT-013", "{}", false),
        ("AT-015", r#"{"meta":{"source":"local"}}"#, false),
        ("AT-016", r#"{"data":1,"meta":null}"#, false),
        ("AT-019", r#"{"data":1,"meta":{"source":"local","timestamp":1}}"#, false),
        ("AT-020", r#"{"data":1,"meta":{"source":"local","operationId":5,"timestamp":1}}"#, false),
        ("AT-021", r#"{"data":1,"meta":{"source":"local","operationId":"a"}}"#, false),
        ("AT-024", r#"{"data":1,"meta":{"source":"http","statusCode":"200"}}"#, false),
        ("AT-025", r#"{"data":1,"meta":{"source":"mcp","content":[]}}"#, false),
        ("AT-026", r#"{"data":1,"meta":{"source":"mcp","isError":"true","content":[]}}"#, false),
        (
            "AT-029",
            r#"{"data":{"x":1},"meta":{"source":"local","operationId":"ns.op","timestamp":1700000000000}}"#,
            true,
        ),
        (
            "AT-031",
            r#"{"data":{"t":22},"meta":{"source":"mcp","isError":false,"content":[{"type":"text","text":"22"}],"structuredContent":{"t":22}}}"#,
            true,
        ),
        ("AT-032", r#"{"data":1,"meta":{"source":"http","statusCode":200}}"#, false),
    ] {
        assert_eq!(is_envelope(text), expected, "{id}");
    }
}

#[test]
fn at_036_absent_members_are_absent() {
    let meta: Json = from_str(&mcp_meta(false, "[]", None, None)).unwrap();
    assert_eq!(meta, json!({"source": "mcp", "isError": false, "content": []}));
}

#[test]
fn at_038_unwrap_gives_the_data() {
    let envelope = ResponseEnvelope::local(Some(r#"{"x":1}"#.to_owned()), "ns.op", 1.0);
    assert_eq!(envelope.unwrap().as_deref(), Some(r#"{"x":1}"#));
}

#[test]
fn at_045_and_at_048_a_violation_is_a_warning_that_shows() {
    for (id, text, keyword, path) in [
        ("AT-045", r#"{"result":"ok"}"#, "required", ""),
        ("AT-048", r#"{"result":5,"count":1}"#, "type", "/result"),
    ] {
        let (outcome, envelope) = ran(text, Some(RESULT_AND_COUNT));
        assert_eq!(envelope["data"], from_str::<Json>(text).unwrap(), "{id}");
        assert_eq!(outcome.conclusion.verdict, OutputVerdict::Invalid, "{id}");
        assert_eq!(outcome.violation, Some("schema"), "{id}");
        let error = &outcome.conclusion.errors[0];
        assert_eq!((error.keyword, error.instance_path.as_str()), (keyword, path), "{id}");
        assert_eq!(outcome.diagnostics[0].code, "output_violation", "{id}");
    }
}

#[test]
fn at_046_an_unknown_schema_accepts() {
    let text = r#"{"anything":1,"extra":[2]}"#;
    for schema in [Some("{}"), Some("true"), None] {
        let (outcome, envelope) = ran(text, schema);
        assert_eq!(envelope["data"], json!({"anything": 1, "extra": [2]}));
        assert_ne!(outcome.conclusion.verdict, OutputVerdict::Invalid);
        assert!(outcome.diagnostics.is_empty());
    }
}

#[test]
fn at_049_an_envelope_is_judged_by_its_data() {
    for (text, verdict) in [
        (
            r#"{"data":{"result":1},"meta":{"source":"local","operationId":"a","timestamp":1}}"#,
            OutputVerdict::Invalid,
        ),
        (
            r#"{"data":{"result":"r","count":1},"meta":{"source":"local","operationId":"a","timestamp":1}}"#,
            OutputVerdict::Valid,
        ),
        (
            r#"{"data":[],"meta":{"source":"mcp","isError":true,"content":[]}}"#,
            OutputVerdict::Unchecked,
        ),
        (
            r#"{"data":[],"meta":{"source":"mcp","isError":false,"content":[]}}"#,
            OutputVerdict::Unchecked,
        ),
        (
            r#"{"data":{},"meta":{"source":"mcp","isError":false,"content":[],"structuredContent":{}}}"#,
            OutputVerdict::Invalid,
        ),
    ] {
        let (outcome, envelope) = ran(text, Some(RESULT_AND_COUNT));
        assert_eq!(outcome.conclusion.verdict, verdict, "{text}");
        assert_eq!(envelope, from_str::<Json>(text).unwrap());
    }
}

#[test]
fn wrap_always_wraps_what_no_factory_made() {
    let meta = r#"{"source":"local","operationId":"a","timestamp":1}"#;
    let text = format!(r#"{{"data":1,"meta":{meta}}}"#);
    let options = PipelineOptions { wrap_always: true, ..OPTIONS };
    let outcome = run(Returned::Value(Some(&text)), None, &options).unwrap();
    assert_eq!((outcome.passed_through, outcome.data.clone()), (false, Data::Whole));
    assert_eq!(outcome.envelope(Some(&text)).data, Some(text));
    // One that a factory made comes taken apart.
    let made = Returned::Envelope { data: Some("1"), meta };
    let outcome = run(made, Some(r#"{"type":"string"}"#), &options).unwrap();
    assert_eq!((outcome.passed_through, outcome.meta.as_str()), (true, meta));
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Invalid);
}

#[test]
fn an_envelope_may_hold_undefined() {
    let meta = r#"{"source":"local","operationId":"a","timestamp":1}"#;
    let outcome = run(Returned::Envelope { data: None, meta }, None, &OPTIONS).unwrap();
    assert!(outcome.passed_through);
    let error = run(Returned::Envelope { data: None, meta: "{}" }, None, &OPTIONS).unwrap_err();
    assert_eq!((error.code(), error.reason()), (Code::InvalidArguments, "not_an_envelope"));
}

#[test]
fn an_uncompilable_schema_gives_no_violation() {
    let schema = r#"{"properties":{"a":{"$ref":"https://example.com/x"}}}"#;
    let error = compile(schema.as_bytes(), &CompileOptions::default()).unwrap_err();
    let operation = Operation { id: "ns.op", output: OutputSchema::Uncompilable(&error) };
    let outcome = run_pipeline(&Returned::Value(Some("{}")), &operation, &OPTIONS).unwrap();
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Unknown);
    assert_eq!(outcome.violation, None);
    assert_eq!(outcome.diagnostics[0].code, "schema_uncompilable");
    assert_eq!(outcome.diagnostics[0].at.as_deref(), Some("/properties/a/$ref"));
}

#[test]
fn what_cannot_be_done_is_an_error() {
    let error = run(Returned::Value(Some("{")), None, &OPTIONS).unwrap_err();
    assert_eq!((error.code(), error.reason()), (Code::InvalidArguments, "not_json"));
    assert_eq!(Normalize::from_name("convert"), None);
}

fn cast(text: Option<&str>, schema: &str, normalize: Option<Normalize>) -> (PipelineOutcome, Json) {
    let options = PipelineOptions { normalize, ..OPTIONS };
    let outcome = run(Returned::Value(text), Some(schema), &options).unwrap();
    let envelope = outcome.envelope(text).to_json();
    assert!(is_envelope(&envelope), "{envelope}");
    let data = from_str::<Json>(&envelope).unwrap().get_mut("data").map(Json::take).unwrap();
    (outcome, data)
}

/// AT-043 to AT-047: what normalizing makes is the data, is judged, and is told.
#[test]
fn data_is_normalized_before_it_is_judged() {
    let (filled, data) = cast(Some(r#"{"result":"ok"}"#), RESULT_AND_COUNT, None);
    assert_eq!(data, json!({"result": "ok", "count": 0}));
    assert_eq!(filled.conclusion.verdict, OutputVerdict::Valid);
    assert_eq!(filled.changes[0].path, "/count");
    let unexpected = Some(r#"{"unexpected":"field"}"#);
    for (mode, expected) in [
        (Normalize::Cast, json!({"unexpected": "field", "result": "", "count": 0})),
        (Normalize::Cast034, json!({"result": "", "count": 0})),
        (Normalize::Defaults, json!({"unexpected": "field"})),
        (Normalize::Off, json!({"unexpected": "field"})),
    ] {
        assert_eq!(cast(unexpected, RESULT_AND_COUNT, Some(mode)).1, expected, "{mode:?}");
    }
    let still = r#"{"type":"object","properties":{"n":{"type":"number","exclusiveMinimum":0}},"required":["n"]}"#;
    let (invalid, data) = cast(Some("{}"), still, None);
    assert_eq!(data, json!({"n": 0}));
    assert_eq!(invalid.conclusion.verdict, OutputVerdict::Invalid);
    for unknown in ["{}", "true", r#"{"title":"anything"}"#] {
        let (same, _) = cast(Some(r#"{"anything":1}"#), unknown, None);
        assert_eq!((same.data, same.changes.len()), (Data::Whole, 0), "{unknown}");
    }
}

/// What cannot be normalized is handed on as it came, and that is told.
#[test]
fn a_cast_that_fails_is_a_diagnostic() {
    let schema = r#"{"type":"object","properties":{"s":{"type":"string","pattern":"^a+$"}},"required":["s"]}"#;
    let (outcome, data) = cast(Some(r#"{"s":7}"#), schema, None);
    assert_eq!(data, json!({"s": 7}));
    assert_eq!(outcome.conclusion.verdict, OutputVerdict::Invalid);
    assert_eq!(outcome.diagnostics[0].code, "not_normalized");
    assert_eq!(outcome.diagnostics[0].at.as_deref(), Some("/properties/s"));
}

/// `undefined` is judged as the `null` it is on a wire, and stays `undefined` if that may be.
#[test]
fn undefined_is_made_only_where_null_may_not_be() {
    let (left, _) = cast(None, r#"{"type":["null","object"]}"#, None);
    assert_eq!((left.data, left.changes.len()), (Data::Whole, 0));
    let (made, data) = cast(None, RESULT_AND_COUNT, None);
    assert_eq!(data, json!({"result": "", "count": 0}));
    assert_eq!(made.changes.len(), 1);
}
