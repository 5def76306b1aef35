//! `pattern`, `patternProperties` and `propertyNames`: verdicts, compile errors, slices, bounds.

// Helpers of tests may panic too: that is how they fail.
#![allow(clippy::unwrap_used)]

use std::task::Poll;

use toolwire::json::{Limits, Tape, read};
use toolwire::schema::Verdict::{Invalid, Unknown, Valid};
use toolwire::schema::{CompileOptions, Judge, Outcome, Program, Verdict, compile, judge};

fn program(schema: &str) -> Program {
    compile(schema.as_bytes(), &CompileOptions::default()).unwrap()
}

fn tape(value: &str) -> Tape {
    read(value.as_bytes(), Limits::depth(512)).unwrap()
}

fn run(program: &Program, value: &str) -> Outcome {
    judge(program, value.as_bytes(), &tape(value), 0)
}

fn verdict(schema: &str, value: &str) -> Verdict {
    run(&program(schema), value).verdict
}

/// The outcome in slices of so many steps, and how many slices that took.
fn run_in_slices(program: &Program, value: &str, slice: u64) -> (Outcome, usize) {
    let tape = tape(value);
    let mut judge = Judge::new(program, 0);
    let mut slices = 0;
    loop {
        slices += 1;
        if let Poll::Ready(outcome) = judge.step(program, value.as_bytes(), &tape, &mut { slice }) {
            return (outcome, slices);
        }
    }
}

#[test]
fn escapes_of_plain_javascript_compile() {
    let schema = r#"{"properties":{
        "link":{"type":"string","pattern":"^https\\:\\/\\/"},
        "at":{"type":"string","pattern":"^\\d{4}\\-\\d{2}$"}}}"#;
    for (value, expected) in [
        (r#"{"link":"https://pay.example","at":"2024-01"}"#, Valid),
        (r#"{"link":"http://pay.example"}"#, Invalid),
        (r#"{"at":"2024/01"}"#, Invalid),
    ] {
        assert_eq!(verdict(schema, value), expected, "{value}");
    }
}

#[test]
fn what_does_not_compile_is_named() {
    for (schema, reason, at) in [
        (r#"{"properties":{"a":{"pattern":"("}}}"#, "bad_pattern", "/properties/a/pattern"),
        (r#"{"patternProperties":{"^a/":true,"[z":{}}}"#, "bad_pattern", "/patternProperties/[z"),
        (r#"{"pattern":"(?P<year>x)"}"#, "bad_pattern", "/pattern"),
        (r#"{"pattern":"((a{1,99}){1,99}){1,99}"}"#, "limit", "/pattern"),
        (r#"{"pattern":1}"#, "invalid_keyword", "/pattern"),
    ] {
        let error = compile(schema.as_bytes(), &CompileOptions::default()).unwrap_err();
        assert_eq!((error.reason, error.at.as_str()), (reason, at), "{schema}");
    }
}

#[test]
fn names_are_matched_for_every_keyword_that_asks() {
    let closed = r#"{"properties":{"id":true},"patternProperties":{"^x-[a-z]+$":{"type":"string"},
        "\\p{Lu}":true},"additionalProperties":false}"#;
    for (value, expected) in [
        (r#"{"id":1,"x-note":"a","Upper":1}"#, Valid),
        (r#"{"x-note":1}"#, Invalid),
        (r#"{"x-1":"a"}"#, Invalid),
        (r#"{"\u0078-note":"a"}"#, Valid),
        (r#"{"x-note":1,"x-note":"a"}"#, Valid),
    ] {
        assert_eq!(verdict(closed, value), expected, "{value}");
    }
    let open = r#"{"allOf":[{"patternProperties":{"^(?!_)":true}}],"unevaluatedProperties":false}"#;
    assert_eq!(verdict(open, r#"{"a":1}"#), Valid);
    assert_eq!(verdict(open, r#"{"_a":1}"#), Invalid);
    let names = r#"{"propertyNames":{"pattern":"^(?:[a-z]+_?)+$"}}"#;
    assert_eq!(verdict(names, r#"{"snake_case":1}"#), Valid);
    assert_eq!(verdict(names, r#"{"camelCase":1}"#), Invalid);
    let outcome = run(&program(closed), r#"{"x-note":1,"y":2}"#);
    let told: Vec<_> = outcome.violations.iter().map(|v| v.schema_path.as_str()).collect();
    assert_eq!(told, ["/patternProperties/^x-[a-z]+$/type", "/additionalProperties"]);
}

#[test]
fn patterns_stop_and_go_on_wherever_they_stand() {
    let long = "ab ".repeat(400);
    let escaped = "\\u0061b\\t".repeat(300);
    let engines =
        [r"^(?:ab\\s)+$", r"^(?=.*x).", r"(?<!b)\\s", r"^([a-z])b.*\\1b$", "^[ab\\\\s]*$", "zz"];
    let mut outcomes = Vec::new();
    for pattern in engines {
        for text in [&long, &escaped] {
            for (schema, value) in [
                (format!(r#"{{"pattern":"{pattern}"}}"#), format!("\"{text}\"")),
                (
                    format!(r#"{{"not":{{"items":{{"pattern":"{pattern}"}}}}}}"#),
                    format!("[\"{text}\"]"),
                ),
                (
                    format!(
                        r#"{{"patternProperties":{{"{pattern}":{{"type":"null"}}}},"additionalProperties":false}}"#
                    ),
                    format!("{{\"a\":1,\"{text}\":1}}"),
                ),
                (
                    format!(r#"{{"propertyNames":{{"pattern":"{pattern}"}}}}"#),
                    format!("{{\"{text}\":1}}"),
                ),
            ] {
                let program = program(&schema);
                let whole = run(&program, &value);
                for slice in [1, 7, 100] {
                    let (sliced, slices) = run_in_slices(&program, &value, slice);
                    assert_eq!(sliced, whole, "{schema} in slices of {slice}");
                    assert!(slice > 7 || slices > 2, "{schema} took {slices} slices of {slice}");
                }
                outcomes.push(whole.verdict);
            }
        }
    }
    assert!(outcomes.contains(&Valid) && outcomes.contains(&Invalid));
    assert!(!outcomes.contains(&Unknown));
}

#[test]
fn a_budget_ends_on_the_same_step_in_any_slices() {
    let value = format!("\"{}\"", "a".repeat(2_000));
    let mut seen = Vec::new();
    for max_steps in (100..24_000).step_by(2_000) {
        let options = CompileOptions { max_steps: Some(max_steps), ..Default::default() };
        let program = compile(br#"{"pattern":"^a*a*a*b"}"#, &options).unwrap();
        let whole = run(&program, &value);
        for slice in [1, 9, 1_000] {
            assert_eq!(run_in_slices(&program, &value, slice).0, whole, "{max_steps}, {slice}");
        }
        seen.push(whole.verdict);
    }
    assert!(seen.contains(&Unknown) && seen.contains(&Invalid), "{seen:?}");
}

#[test]
fn hostile_patterns_are_decided_within_the_budget() {
    let a = |count: usize| format!("\"{}\"", "a".repeat(count));
    for (pattern, value, expected) in [
        ("^(a+)+$", a(28).replace("aa\"", "a!\""), Invalid),
        ("^(?:.*a){12}$", a(41), Valid),
        ("^(?=(a+)+$)", a(28).replace("aa\"", "a!\""), Invalid),
        ("a*a*a*b", a(100_000), Invalid),
        ("^a*a*a*b", a(100_000), Invalid),
        ("^(a|aa)+$", a(100_000), Valid),
        // Not linear, so bounded.
        (r"^(?:(a+)+)+\\1b$", a(100), Unknown),
    ] {
        let schema = format!(r#"{{"pattern":"{pattern}"}}"#);
        assert_eq!(verdict(&schema, &value), expected, "{pattern}");
    }
    let outcome = run(&program(r#"{"pattern":"^(?:(a+)+)+\\1b$"}"#), &a(100));
    assert_eq!(outcome.reason, Some("limit"));
}
