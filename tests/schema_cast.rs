//! The measured table of casts: `cast-0.34` gives what was measured, and nothing is lost by `cast`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

use serde_json::{Value, json};
use toolwire::error::Error;
use toolwire::schema::{
    CastMode, CastOptions, ChangeKind, Changed, CompileOptions, Dialect, Verdict, apply_defaults,
    cast, compile, judge_text,
};

const MEASURED: &str = "sinclair_typebox_0_34_52_via_FromSchema";

fn cases() -> Vec<Value> {
    let text = std::fs::read_to_string("tests/cases/cast.json").unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["cases"].as_array().unwrap().clone()
}

/// Arrays of items are tuples in older dialects alone.
fn options_for(schema: &Value) -> CompileOptions {
    let dialect = match schema["items"] {
        Value::Array(_) => Dialect::Draft7,
        _ => Dialect::Draft2020,
    };
    CompileOptions { dialect, ..CompileOptions::default() }
}

fn run(
    schema: &Value,
    value: Option<&Value>,
    options: CastOptions,
) -> Result<Option<Changed>, Error> {
    let program = compile(schema.to_string().as_bytes(), &options_for(schema)).unwrap();
    let text = value.map(Value::to_string);
    cast(&program, text.as_deref().map(str::as_bytes), &options)
}

fn mode(mode: CastMode) -> CastOptions {
    CastOptions { mode, ..CastOptions::default() }
}

/// The value after a cast; null stands for `undefined` too.
fn output(given: Option<&Value>, outcome: Option<Changed>) -> Value {
    match outcome {
        None => given.cloned().unwrap_or_default(),
        Some(changed) => {
            assert!(!changed.changes.is_empty());
            changed.text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
        }
    }
}

#[test]
fn the_measured_table() {
    let mut compared = 0;
    for case in cases() {
        let measured = &case[MEASURED];
        // An empty list of branches is no schema for the engine.
        if measured.is_null() || case["id"] == "c65" {
            continue;
        }
        let outcome = run(&case["schema"], Some(&case["value"]), mode(CastMode::Cast034));
        compared += 1;
        if measured.get("throws").is_some() {
            let error = outcome.map(|_| ()).expect_err(&case["title"].to_string());
            assert_eq!(error.code().as_str(), "schema_error", "{}", case["id"]);
            assert!(["not_castable", "unresolved_ref"].contains(&error.reason()));
        } else {
            let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error:?}", case["id"]));
            assert_eq!(output(Some(&case["value"]), outcome), measured["output"], "{}", case["id"]);
        }
    }
    assert_eq!(compared, 64);
}

/// What the mode `cast` makes keeps every member that was there, whatever the schema declares.
#[test]
fn cast_keeps_members_and_tells_changes() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "string", "default": "d"}},
        "required": ["a", "b"],
    });
    let value = json!({"a": "x", "extra": {"deep": [1]}});
    let changed = run(&schema, Some(&value), mode(CastMode::Cast)).unwrap().unwrap();
    let told: Vec<_> =
        changed.changes.iter().map(|change| (change.path.as_str(), change.kind)).collect();
    assert_eq!(told, [("/a", ChangeKind::Replaced), ("/b", ChangeKind::Default)]);
    let made = output(Some(&value), Some(changed));
    assert_eq!(made, json!({"a": 0, "b": "d", "extra": {"deep": [1]}}));
    // What comes out fits, so that it is not changed again.
    let program = compile(schema.to_string().as_bytes(), &CompileOptions::default()).unwrap();
    assert_eq!(judge_text(&program, made.to_string().as_bytes()).verdict, Verdict::Valid);
    assert_eq!(run(&schema, Some(&made), mode(CastMode::Cast)).unwrap(), None);
    let exact = run(&schema, Some(&value), mode(CastMode::Cast034)).unwrap().unwrap();
    assert!(exact.changes.iter().any(|change| change.kind == ChangeKind::Removed));
}

#[test]
fn exact_numbers_and_escapes_survive() {
    let schema = br#"{"type":"object","properties":{"n":{"type":"string"}}}"#;
    let program = compile(schema, &CompileOptions::default()).unwrap();
    let value = br#"{"n":1,"big":12345678901234567890.10,"\u0061\"":"\ud800"}"#;
    let changed = cast(&program, Some(value), &CastOptions::default()).unwrap().unwrap();
    let expected = r#"{"n":"","big":12345678901234567890.10,"\u0061\"":"\ud800"}"#;
    assert_eq!(changed.text.as_deref(), Some(expected));
    // Of a repeated member the last counts, as for `JSON.parse`.
    let changed = cast(&program, Some(br#"{"n":"x","n":1}"#), &CastOptions::default()).unwrap();
    assert_eq!(changed.unwrap().text.as_deref(), Some(r#"{"n":""}"#));
}

#[test]
fn what_is_made_brings_the_steps_to_make_it() {
    let item = json!({"type": "object", "required": ["a", "b"],
        "properties": {"a": {"type": "number"}, "b": {"type": "string"}}});
    let schema = json!({"type": "array", "items": item, "minItems": 100_000});
    let made = output(None, run(&schema, Some(&json!([])), CastOptions::default()).unwrap());
    assert_eq!(made.as_array().map(Vec::len), Some(100_000));
    let few = CompileOptions { max_steps: Some(1_000_000), ..CompileOptions::default() };
    let program = compile(schema.to_string().as_bytes(), &few).unwrap();
    let error = cast(&program, Some(b"[]"), &CastOptions::default()).unwrap_err();
    assert_eq!((error.reason(), error.get_facts().limit), ("cast_limit", Some(1_000_000)));
}

#[test]
fn bounds_are_failures_and_cost_no_memory() {
    for schema in [
        json!({"type": "array", "items": {"type": "null"}, "minItems": 1_000_000_000}),
        json!({"type": "string", "minLength": 4_000_000_000_u64}),
        json!({"type": "array", "items": {"type": "null"}, "minItems": 1e300}),
    ] {
        for value in [json!([]), json!({})] {
            for mode in [mode(CastMode::Cast), mode(CastMode::Cast034)] {
                let error = run(&schema, Some(&value), mode).unwrap_err();
                assert_eq!((error.code().as_str(), error.reason()), ("limit", "cast_limit"));
            }
        }
    }
    let itself = json!({"$id": "https://example.com/t", "type": "object",
        "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}, "required": ["a", "b"]});
    let error = run(&itself, Some(&json!({})), mode(CastMode::Cast034)).unwrap_err();
    assert_eq!(error.reason(), "reference_cycle");
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
    let program = compile(br#"{"type":"string"}"#, &CompileOptions::default()).unwrap();
    let error = cast(&program, Some(deep.as_bytes()), &CastOptions::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "limit");
    let error = cast(&program, Some(b"{"), &CastOptions::default()).unwrap_err();
    assert_eq!(error.reason(), "not_json");
}

#[test]
fn defaults_are_filled_where_they_apply() {
    let schema = json!({
        "properties": {
            "a": {"default": 1},
            "list": {"items": {"$ref": "#/$defs/item"}},
        },
        "oneOf": [
            {"properties": {"k": {"const": 1}, "x": {"default": "x"}}},
            {"properties": {"k": {"const": 2}, "y": {"default": "y"}}},
        ],
        "$defs": {"item": {"allOf": [{"properties": {"b": {"default": {}}}}]}},
    });
    let program = compile(schema.to_string().as_bytes(), &CompileOptions::default()).unwrap();
    let value = br#"{"k":2,"list":[{},{"b":1},5]}"#;
    let changed = apply_defaults(&program, Some(value), 1_000).unwrap().unwrap();
    let made: Value = serde_json::from_str(&changed.text.unwrap()).unwrap();
    assert_eq!(made, json!({"k": 2, "list": [{"b": {}}, {"b": 1}, 5], "a": 1, "y": "y"}));
    assert!(changed.changes.iter().all(|change| change.kind == ChangeKind::Default));
    let again = apply_defaults(&program, Some(made.to_string().as_bytes()), 1_000).unwrap();
    assert_eq!(again, None);
    assert_eq!(apply_defaults(&program, None, 1_000).unwrap(), None);
    let error = apply_defaults(&program, Some(value), 5).unwrap_err();
    assert_eq!((error.reason(), error.get_facts().limit), ("cast_limit", Some(5)));
}
