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
