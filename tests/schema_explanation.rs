//! What is told of a value that satisfies no branch: the branch it came nearest to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

use std::task::Poll;

use toolwire::json::{Limits, Tape, read};
use toolwire::schema::{CompileOptions, Judge, Outcome, Program, Verdict, compile};

fn run(program: &Program, bytes: &[u8], tape: &Tape, slice: u64) -> (Outcome, u64) {
    let mut judge = Judge::new(program, 0);
    let mut spent = 0;
    loop {
        let mut steps = slice;
        let outcome = judge.step(program, bytes, tape, &mut steps);
        spent += slice - steps;
        if let Poll::Ready(outcome) = outcome {
            return (outcome, spent);
        }
    }
}

fn explain(schema: &str, value: &str, options: &CompileOptions) -> (Outcome, u64) {
    let program = compile(schema.as_bytes(), options).expect(schema);
    let tape = read(value.as_bytes(), Limits::depth(program.max_depth())).unwrap();
    let (whole, spent) = run(&program, value.as_bytes(), &tape, u64::MAX / 4);
    for slice in [1, 3, 50] {
        let (sliced, _) = run(&program, value.as_bytes(), &tape, slice);
        assert_eq!(sliced, whole, "{schema} in slices of {slice}");
    }
    (whole, spent)
}

/// Schema paths and params of what is told.
fn told(schema: &str, value: &str) -> Vec<(String, String)> {
    let (outcome, _) = explain(schema, value, &CompileOptions::default());
    assert_eq!(outcome.verdict, Verdict::Invalid, "{schema}");
    let violations = outcome.violations.into_iter();
    violations.map(|violation| (violation.schema_path, violation.params)).collect()
}

fn check(schema: &str, value: &str, expected: &[(&str, &str)]) {
    let told = told(schema, value);
    let told: Vec<(&str, &str)> = told.iter().map(|one| (one.0.as_str(), one.1.as_str())).collect();
    assert_eq!(told, expected, "{schema} {value}");
}

/// Shapes told apart by a constant.
const SHAPES: &str = r#"{"oneOf":[
    {"properties":{"kind":{"const":"dot"}},"required":["kind"],"additionalProperties":false},
    {"properties":{"kind":{"const":"line"},"from":{"type":"integer"},"to":{"type":"integer"}},
        "required":["kind","from","to"]},
    {"properties":{"kind":{"enum":["ring"]},"r":{"type":"number"}},"required":["kind","r"]}]}"#;

#[test]
fn a_constant_that_is_there_decides() {
    check(
        SHAPES,
        r#"{"kind":"line","from":"x"}"#,
        &[
            ("/oneOf", r#"{"passingSchemas":null,"nearest":1}"#),
            ("/oneOf/1/required", r#"{"missingProperty":"to"}"#),
            ("/oneOf/1/properties/from/type", r#"{"type":"integer"}"#),
        ],
    );
    check(
        SHAPES,
        r#"{"kind":"ring"}"#,
        &[
            ("/oneOf", r#"{"passingSchemas":null,"nearest":2}"#),
            ("/oneOf/2/required", r#"{"missingProperty":"r"}"#),
        ],
    );
}

#[test]
fn the_kind_of_value_decides_before_anything_else() {
    check(
        r#"{"anyOf":[{"type":"string"},{"type":"object","required":["a","b","c"]},{"type":"null"}]}"#,
        "{}",
        &[
            ("/anyOf", r#"{"nearest":1}"#),
            ("/anyOf/1/required", r#"{"missingProperty":"a"}"#),
            ("/anyOf/1/required", r#"{"missingProperty":"b"}"#),
            ("/anyOf/1/required", r#"{"missingProperty":"c"}"#),
        ],
    );
    check(
        r#"{"anyOf":[false,{"minimum":3},{"minimum":2,"multipleOf":7}]}"#,
        "1",
        &[("/anyOf", r#"{"nearest":1}"#), ("/anyOf/1/minimum", r#"{"comparison":">=","limit":3}"#)],
    );
}

#[test]
fn fewer_violations_decide_then_deeper_ones_then_the_order() {
    check(
        r#"{"anyOf":[{"required":["x","y"]},{"required":["x"]},{"required":["z"]}]}"#,
        "{}",
        &[("/anyOf", r#"{"nearest":1}"#), ("/anyOf/1/required", r#"{"missingProperty":"x"}"#)],
    );
    check(
        r#"{"anyOf":[{"maxProperties":0},{"properties":{"a":{"items":{"type":"null"}}}}]}"#,
        r#"{"a":[null,1]}"#,
        &[
            ("/anyOf", r#"{"nearest":1}"#),
            ("/anyOf/1/properties/a/items/type", r#"{"type":"null"}"#),
        ],
    );
}

#[test]
fn branches_within_branches_are_explained_one_by_one() {
    check(
        r##"{"anyOf":[{"$ref":"#/$defs/pair"},{"type":"string"}],
            "$defs":{"pair":{"type":"array","prefixItems":[{"oneOf":[{"type":"null"},{"minimum":5}]}]}}}"##,
        "[1]",
        &[
            ("/anyOf", r#"{"nearest":0}"#),
            ("/anyOf/0/$ref/prefixItems/0/oneOf", r#"{"passingSchemas":null,"nearest":1}"#),
            ("/anyOf/0/$ref/prefixItems/0/oneOf/1/minimum", r#"{"comparison":">=","limit":5}"#),
        ],
    );
    check(
        r#"{"if":{"required":["a"]},"then":{"anyOf":[{"required":["b"]},{"required":["c","d"]}]}}"#,
        r#"{"a":1}"#,
        &[
            ("/then/anyOf", r#"{"nearest":0}"#),
            ("/then/anyOf/0/required", r#"{"missingProperty":"b"}"#),
        ],
    );
}

#[test]
fn all_matches_of_one_of_are_told_up_to_a_bound() {
    check(
        r#"{"oneOf":[{"type":"null"},true,{},{"minimum":1}]}"#,
        "1",
        &[("/oneOf", r#"{"passingSchemas":[1,2,3]}"#)],
    );
    let many = format!(r#"{{"oneOf":[{}]}}"#, vec!["{}"; 100].join(","));
    let indexes: Vec<String> = (0..16).map(|index: u32| index.to_string()).collect();
    check(&many, "1", &[("/oneOf", &format!(r#"{{"passingSchemas":[{}]}}"#, indexes.join(",")))]);
    // One that holds, in the way of one that does not.
    check(
        r#"{"allOf":[{"oneOf":[true,false]},{"oneOf":[true,true]}],"dependentRequired":{"a":["b"]}}"#,
        r#"{"a":1}"#,
        &[
            ("/dependentRequired", r#"{"property":"a","missingProperty":"b"}"#),
            ("/allOf/1/oneOf", r#"{"passingSchemas":[0,1]}"#),
        ],
    );
}

#[test]
fn counting_ends_early_and_costs_about_one_explanation() {
    let branches: Vec<String> =
        (0..200).map(|n| format!(r#"{{"items":{{"type":"string","minLength":{n}}}}}"#)).collect();
    let schema = format!(r#"{{"anyOf":[{}]}}"#, branches.join(","));
    let value = format!("[{}]", vec!["1"; 20_000].join(","));
    let options = CompileOptions::default();
    let (outcome, spent) = explain(&schema, &value, &options);
    assert_eq!(outcome.violations[0].params, r#"{"nearest":0}"#);
    assert_eq!(outcome.violations.len(), options.max_errors);
    assert!(outcome.truncated);
    // Each branch fails at its first element; none goes through all of them.
    assert!(spent < 100_000, "{spent} steps");
}

#[test]
fn what_is_cut_while_counting_is_still_told() {
    let schema = r#"{"anyOf":[{"items":{"anyOf":[{"type":"null"},{"minimum":9}]}},{"items":{"type":"null"}}]}"#;
    let value = format!("[{},1]", vec!["null"; 3000].join(","));
    for max_steps in [9_000, 12_000, 15_000, 20_000, 30_000] {
        let options = CompileOptions { max_steps: Some(max_steps), ..CompileOptions::default() };
        let (outcome, _) = explain(schema, &value, &options);
        if outcome.verdict == Verdict::Invalid {
            assert!(!outcome.violations.is_empty(), "{max_steps}");
            assert_eq!(outcome.violations[0].schema_path, "/anyOf", "{max_steps}");
        }
    }
}

#[test]
fn paths_are_those_of_the_values_told_in_any_order() {
    let schema = r#"{"required":["z"],"properties":{"b":{"items":{"properties":{"~/":{"type":"null"}},
        "maxItems":0}},"a":{"items":{"type":"null"}}},"propertyNames":{"maxLength":1},
        "additionalProperties":{"type":"null"}}"#;
    let value =
        r#"{"a":[null,1,[2],null,{}],"b":[{"x":[[]],"~/":[]},[1],{"~/":1}],"long":{},"":0}"#;
    let (outcome, _) = explain(schema, value, &CompileOptions::default());
    let mut paths: Vec<&str> =
        outcome.violations.iter().map(|one| one.instance_path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        ["", "", "/", "/a/1", "/a/2", "/a/4", "/b/0/~0~1", "/b/1", "/b/2/~0~1", "/long"]
    );
}

#[test]
fn telling_many_violations_costs_no_walk_for_each() {
    let spent = |count: usize| {
        let value = format!("[{}]", vec!["1"; count].join(","));
        let program = compile(
            br#"{"items":{"type":"string"}}"#,
            &CompileOptions { max_errors: usize::MAX, ..CompileOptions::default() },
        );
        let program = program.unwrap();
        let tape = read(value.as_bytes(), Limits::depth(8)).unwrap();
        let (outcome, spent) = run(&program, value.as_bytes(), &tape, u64::MAX / 4);
        assert_eq!(outcome.violations.len(), count);
        assert_eq!(outcome.violations[count - 1].instance_path, format!("/{}", count - 1));
        spent
    };
    let (few, many) = (spent(2_000), spent(20_000));
    assert!(many < few * 12, "{few} steps, then {many}");
}
