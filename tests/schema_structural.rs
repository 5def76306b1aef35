//! `keywords: "structural"`: what it refuses, and which fault it reports first.

// Helpers of tests may panic too: that is how they fail.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::task::Poll;

use toolwire::json::{Limits, read};
use toolwire::schema::{
    CompileOptions, Compiler, Judge, Keywords, Outcome, Program, Verdict, compile, judge,
};

/// Title, schema, value, and the first violation if there is one: its instance path and reason.
type Row = (&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

const fn valid(title: &'static str, schema: &'static str, value: &'static str) -> Row {
    (title, schema, value, None)
}

const fn first(
    title: &'static str,
    schema: &'static str,
    value: &'static str,
    path: &'static str,
    why: &'static str,
) -> Row {
    (title, schema, value, Some((path, why)))
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    valid(r##"C-227 type null accepts null"##, r##"{"type":"object","properties":{"v":{"type":"null"}}}"##, r##"{"v":null}"##),
    first(r##"C-228 type null refuses 0"##, r##"{"type":"object","properties":{"v":{"type":"null"}}}"##, r##"{"v":0}"##, "/v", "expected null"),
    valid(r##"C-229 type boolean accepts false"##, r##"{"type":"object","properties":{"v":{"type":"boolean"}}}"##, r##"{"v":false}"##),
    first(r##"C-230 type boolean refuses 0"##, r##"{"type":"object","properties":{"v":{"type":"boolean"}}}"##, r##"{"v":0}"##, "/v", "expected boolean"),
    valid(r##"C-231 type object accepts {}"##, r##"{"type":"object","properties":{"v":{"type":"object"}}}"##, r##"{"v":{}}"##),
    first(r##"C-232 type object refuses []"##, r##"{"type":"object","properties":{"v":{"type":"object"}}}"##, r##"{"v":[]}"##, "/v", "expected object"),
    valid(r##"C-235 type number accepts 1.5"##, r##"{"type":"object","properties":{"v":{"type":"number"}}}"##, r##"{"v":1.5}"##),
    first(r##"C-236 type number refuses "1""##, r##"{"type":"object","properties":{"v":{"type":"number"}}}"##, r##"{"v":"1"}"##, "/v", "expected number"),
    valid(r##"C-237 type string accepts """##, r##"{"type":"object","properties":{"v":{"type":"string"}}}"##, r##"{"v":""}"##),
    first(r##"C-238 type string refuses 1"##, r##"{"type":"object","properties":{"v":{"type":"string"}}}"##, r##"{"v":1}"##, "/v", "expected string"),
    first(r##"C-241 null is not an object"##, r##"{"type":"object","properties":{"v":{"type":"object"}}}"##, r##"{"v":null}"##, "/v", "expected object"),
    valid(r##"C-242 integer accepts a value written with a zero fraction or an exponent"##, r##"{"properties":{"v":{"items":{"type":"integer"}}}}"##, r##"{"v":[2.0,2e3,-0.0]}"##),
    valid(r##"C-243 integer accepts values beyond the safe range"##, r##"{"type":"object","properties":{"v":{"type":"integer"}}}"##, r##"{"v":9007199254740992}"##),
    valid(r##"C-246 type array: any member suffices"##, r##"{"type":"object","properties":{"v":{"type":["null","string"]}}}"##, r##"{"v":"x"}"##),
    valid(r##"C-248 unknown type name alone constrains nothing"##, r##"{"type":"object","properties":{"v":{"type":"date"}}}"##, r##"{"v":1}"##),
    first(r##"C-249 unknown names inside a type array are dropped"##, r##"{"type":"object","properties":{"v":{"type":["date",42,"string"]}}}"##, r##"{"v":1}"##, "/v", "expected string"),
    valid(r##"C-250 type names that are object-prototype members are unknown names"##, r##"{"type":"object","properties":{"v":{"type":["constructor","__proto__","toString"]}}}"##, r##"{"v":1}"##),
    valid(r##"C-251 empty type array constrains nothing"##, r##"{"type":"object","properties":{"v":{"type":[]}}}"##, r##"{"v":1}"##),
    valid(r##"C-253 enum by JSON value: object member order is irrelevant"##, r##"{"enum":[{"a":{"b":"x"},"z":[1,null,true]}]}"##, r##"{"z":[1,null,true],"a":{"b":"x"}}"##),
    first(r##"C-254 enum: array order matters"##, r##"{"type":"object","properties":{"v":{"enum":[[2,1]]}}}"##, r##"{"v":[1,2]}"##, "/v", "expected a declared enum value"),
    first(r##"C-257 enum: false, 0, null and empty string differ"##, r##"{"type":"object","properties":{"v":{"enum":[0,null,""]}}}"##, r##"{"v":false}"##, "/v", "expected a declared enum value"),
    valid(r##"C-258 enum: 1, 1.0 and 10e-1 are equal"##, r##"{"properties":{"v":{"items":{"enum":[1.0]}}}}"##, r##"{"v":[1,1.0,10e-1]}"##),
    valid(r##"C-259 enum: minus zero equals zero"##, r##"{"properties":{"v":{"enum":[-0]}}}"##, r##"{"v":0}"##),
    first(r##"C-262 enum: no Unicode normalisation"##, r##"{"type":"object","properties":{"v":{"enum":["é"]}}}"##, r##"{"v":"é"}"##, "/v", "expected a declared enum value"),
    valid(r##"C-264 enum that is not an array is ignored"##, r##"{"type":"object","properties":{"v":{"enum":{"a":1}}}}"##, r##"{"v":5}"##),
    valid(r##"C-265 required name present"##, r##"{"required":["a"]}"##, r##"{"a":null}"##),
    first(r##"C-267 required is an own-property test, so inherited names do not count"##, r##"{"required":["toString"]}"##, r##"{}"##, "", "required property is missing"),
    valid(r##"C-268 an own __proto__ member satisfies required"##, r##"{"required":["__proto__"]}"##, r##"{"__proto__":1}"##),
    valid(r##"C-271 required is ignored for a non-object value"##, r##"{"type":"object","properties":{"v":{"required":["a"]}}}"##, r##"{"v":[1]}"##),
    first(r##"C-275 three levels deep"##, r##"{"type":"object","properties":{"v":{"type":"object","properties":{"w":{"type":"object","required":["x"]}}}}}"##, r##"{"v":{"w":{}}}"##, "/v/w", "required property is missing"),
    valid(r##"C-276 boolean subschema true is skipped"##, r##"{"properties":{"v":true}}"##, r##"{"v":1}"##),
    valid(r##"C-277 boolean subschema false is skipped, so it accepts"##, r##"{"properties":{"v":false}}"##, r##"{"v":1}"##),
    first(r##"C-279 items checks every element"##, r##"{"type":"object","properties":{"v":{"type":"array","items":{"type":"number"}}}}"##, r##"{"v":[1,"two",3]}"##, "/v/1", "expected number"),
    valid(r##"C-280 items on an empty array"##, r##"{"type":"object","properties":{"v":{"items":{"type":"number"}}}}"##, r##"{"v":[]}"##),
    valid(r##"C-282 tuple form is ignored"##, r##"{"type":"object","properties":{"v":{"items":[{"type":"number"}]}}}"##, r##"{"v":["x"]}"##),
    valid(r##"C-283 items false is ignored"##, r##"{"type":"object","properties":{"v":{"items":false}}}"##, r##"{"v":[1]}"##),
    first(r##"C-284 nested arrays"##, r##"{"type":"object","properties":{"v":{"items":{"items":{"type":"string"}}}}}"##, r##"{"v":[["a"],["b",1]]}"##, "/v/1/1", "expected string"),
    valid(r##"C-287 maximum is ignored"##, r##"{"type":"object","properties":{"v":{"maximum":0}}}"##, r##"{"v":5}"##),
    valid(r##"C-289 oneOf is ignored"##, r##"{"type":"object","properties":{"v":{"oneOf":[{"type":"null"}]}}}"##, r##"{"v":1}"##),
    valid(r##"C-291 not is ignored"##, r##"{"type":"object","properties":{"v":{"not":{}}}}"##, r##"{"v":1}"##),
    valid(r##"C-293 prefixItems is ignored"##, r##"{"type":"object","properties":{"v":{"prefixItems":[{"type":"string"}]}}}"##, r##"{"v":[1]}"##),
    valid(r##"C-296 format is ignored"##, r##"{"type":"object","properties":{"v":{"format":"uuid"}}}"##, r##"{"v":"x"}"##),
    first(r##"C-297 enum is reported before type"##, r##"{"type":"object","properties":{"v":{"type":"string","enum":["a"]}}}"##, r##"{"v":1}"##, "/v", "expected a declared enum value"),
    first(r##"C-298 type is reported before required"##, r##"{"type":"array","required":["a"]}"##, r##"{}"##, "", "expected array"),
    first(r##"C-299 required is reported before a nested property fault"##, r##"{"required":["b"],"properties":{"a":{"type":"string"}}}"##, r##"{"a":1}"##, "", "required property is missing"),
    first(r##"C-301 integer-like property names are visited first in ascending order"##, r##"{"properties":{"1":{"type":"string"},"2":{"type":"string"},"b":{"type":"string"}}}"##, r##"{"1":0,"2":0,"b":0}"##, "/1", "expected string"),
    valid("enum compares doubles", r#"{"enum":[9007199254740992]}"#, "9007199254740993"),
    valid("a number beyond doubles' integers is of an enum's", r#"{"enum":[0.1]}"#, "0.10000000000000000001"),
    first("a repeated member counts by its last", r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":"x","a":1}"#, "/a", "expected string"),
    valid("a repeated member counts by its last", r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":1,"a":"x"}"#),
    first("type names once, in declared order", r#"{"type":["null","x","integer","null"]}"#, "1.5", "", "expected null or integer"),
    first("index-like names come first", r#"{"properties":{"b":{"type":"null"},"10":{"type":"null"},"9":{"type":"null"},"01":{"type":"null"}}}"#, r#"{"01":1,"b":1,"10":1,"9":1}"#, "/9", "expected null"),
    first("required in listed order", r#"{"required":["b",1,"a"]}"#, "{}", "", "required property is missing"),
    first("an escaped name is that name", r#"{"properties":{"a/b":{"items":{"enum":[]}}}}"#, r#"{"\u0061/b":[1]}"#, "/a~1b/0", "expected a declared enum value"),
];

fn structural() -> CompileOptions {
    CompileOptions { keywords: Keywords::Structural, ..CompileOptions::default() }
}

fn compile_sliced(text: &str, slice: u64) -> Program {
    let mut compiler = Compiler::new(text.as_bytes().to_vec(), structural());
    loop {
        if let Poll::Ready(program) = compiler.step(&mut { slice }) {
            return program.unwrap();
        }
    }
}

fn judge_sliced(program: &Program, text: &str, slice: u64) -> Outcome {
    let tape = read(text.as_bytes(), Limits::depth(program.max_depth())).unwrap();
    let mut judge = Judge::new(program, 0);
    loop {
        if let Poll::Ready(outcome) = judge.step(program, text.as_bytes(), &tape, &mut { slice }) {
            return outcome;
        }
    }
}

#[test]
fn rows_hold_in_any_slices() {
    for (title, schema, value, expected) in ROWS {
        let outcomes: Vec<Outcome> = [1, 2, 3, 7, u64::MAX]
            .iter()
            .map(|&slice| judge_sliced(&compile_sliced(schema, slice), value, slice))
            .collect();
        for outcome in &outcomes {
            assert_eq!(outcome, &outcomes[0], "{title}");
        }
        let found = outcomes[0].violations.first();
        let found = found.map(|first| (first.instance_path.clone(), first.why()));
        let expected = expected.map(|(path, why)| (path.to_owned(), why.to_owned()));
        assert_eq!(found, expected, "{title}");
        let verdict = if expected.is_some() { Verdict::Invalid } else { Verdict::Valid };
        assert_eq!(outcomes[0].verdict, verdict, "{title}");
    }
}

#[test]
fn violations_are_collected_up_to_the_bound() {
    let schema = br#"{"type":"array","items":{"properties":{"n":{"type":"integer"}}}}"#;
    let options = CompileOptions { max_errors: 3, ..structural() };
    let program = compile(schema, &options).unwrap();
    let value = format!("[{}]", [r#"{"n":"secret"}"#; 10].join(","));
    let tape = read(value.as_bytes(), Limits::depth(9)).unwrap();
    let outcome = judge(&program, value.as_bytes(), &tape, 0);
    assert!(outcome.truncated);
    let paths: Vec<_> = outcome.violations.iter().map(|v| v.instance_path.as_str()).collect();
    assert_eq!(paths, ["/0/n", "/1/n", "/2/n"]);
    let first = &outcome.violations[0];
    assert_eq!(first.schema_path, "/items/properties/n/type");
    assert_eq!(first.params, r#"{"type":"integer"}"#);
    assert_eq!(first.message(), "must be integer");
}

#[test]
fn a_large_enum_over_many_rows_is_quick() {
    let members: Vec<String> = (0..10_000).map(|n| format!("{{\"id\":\"member-{n}\"}}")).collect();
    let members = members.join(",");
    let program =
        compile(format!("{{\"items\":{{\"enum\":[{members}]}}}}").as_bytes(), &structural());
    let program = program.unwrap();
    let value = format!("[{members}]");
    let start = std::time::Instant::now();
    assert_eq!(judge_sliced(&program, &value, u64::MAX).verdict, Verdict::Valid);
    assert!(start.elapsed().as_secs_f64() < 1.0);
}

#[test]
fn depth_costs_no_stack() {
    let depth = 50_000;
    let schema = format!("{}{{}}{}", "{\"items\":".repeat(depth), "}".repeat(depth));
    let options = CompileOptions { max_depth: 200_000, ..structural() };
    let program = compile(schema.as_bytes(), &options).unwrap();
    let value = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let tape = read(value.as_bytes(), Limits::depth(200_000)).unwrap();
    assert_eq!(judge(&program, value.as_bytes(), &tape, 0).verdict, Verdict::Valid);
}

#[test]
fn work_is_bounded() {
    let options = CompileOptions { max_steps: Some(100), ..structural() };
    let program = compile(br#"{"items":{"properties":{"a":{}}}}"#, &options).unwrap();
    let value = format!("[{}]", vec!["{}"; 1000].join(","));
    for slice in [1, 13, u64::MAX] {
        let outcome = judge_sliced(&program, &value, slice);
        assert_eq!((outcome.verdict, outcome.reason), (Verdict::Unknown, Some("limit")));
    }
}

#[test]
fn only_objects_are_schemas() {
    for text in ["true", "[]", "1", "{", ""] {
        assert_eq!(compile(text.as_bytes(), &structural()).unwrap_err().reason, "not_a_schema");
    }
}
