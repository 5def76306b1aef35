//! `keywords: "full"`: verdicts, compile errors, limits, explanations, lint.

// Helpers of tests may panic too: that is how they fail.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::task::Poll;

use toolwire::json::{Limits, read};
use toolwire::schema::Verdict::{Invalid, Unknown, Valid};
use toolwire::schema::{
    CompileOptions, Dialect, DuplicateKeys, Judge, Outcome, Program, SchemaError, Verdict, compile,
    judge,
};

fn options() -> CompileOptions {
    CompileOptions::default()
}

fn run(program: &Program, value: &str) -> Outcome {
    let tape = read(value.as_bytes(), Limits::depth(program.max_depth())).unwrap();
    judge(program, value.as_bytes(), &tape, 0)
}

fn judge_with(options: &CompileOptions, schema: &str, value: &str) -> Outcome {
    run(&compile(schema.as_bytes(), options).unwrap(), value)
}

fn verdict(schema: &str, value: &str) -> Verdict {
    judge_with(&options(), schema, value).verdict
}

fn error(schema: &str) -> SchemaError {
    compile(schema.as_bytes(), &options()).unwrap_err()
}

enum Row {
    Judges(&'static str, &'static str, &'static [&'static str], &'static [Verdict]),
    Fails(&'static str, &'static str, &'static str, &'static str),
}

const fn judges(
    title: &'static str,
    schema: &'static str,
    values: &'static [&'static str],
    verdicts: &'static [Verdict],
) -> Row {
    Row::Judges(title, schema, values, verdicts)
}

const fn fails(
    title: &'static str,
    schema: &'static str,
    reason: &'static str,
    at: &'static str,
) -> Row {
    Row::Fails(title, schema, reason, at)
}

/// Faults that were met in the field.
#[rustfmt::skip]
const FIELD: &[Row] = &[
    judges("V14", r##"{"type":"object","properties":{"queued":{"type":"boolean"},"messageId":{"type":"string"}},"required":["queued","messageId"],"additionalProperties":false}"##, &[r##"{"queued":true,"messageId":"m-1"}"##, r##"{"queued":true,"messageId":"m-1","id":42}"##], &[Valid, Invalid]),
    judges("V06", r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"url":{"type":"string"}},"required":["url"],"additionalProperties":false}"##, &[r##"{"url":"https://example.com"}"##, r##"{"url":5}"##, r##"{}"##], &[Valid, Invalid, Invalid]),
    judges("V16", r##"{"type":"object","properties":{"id":{"type":"string"},"endedAt":{"type":"string"}},"required":["id","endedAt"]}"##, &[r##"{"id":"i1","endedAt":null}"##, r##"{"id":"i1"}"##, r##"{"id":"i1","endedAt":"2026-01-01"}"##], &[Invalid, Invalid, Valid]),
    judges("V02", r##"{"type":"object","properties":{"root":{"$ref":"#/$defs/Node"}},"required":["root"],"$defs":{"Node":{"type":"object","properties":{"value":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["value"]}}}"##, &[r##"{"root":{"value":1,"kids":[{"value":2,"kids":[{"value":3}]}]}}"##, r##"{"root":{"value":1,"kids":[{"value":2,"kids":[{"value":"3"}]}]}}"##, r##"{"root":{"value":1,"kids":[]}}"##], &[Valid, Invalid, Valid]),
    judges("V28", r##"{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807},"k":{"const":9007199254740993}}}"##, &[r##"{"id":725653563933458432,"k":9007199254740993}"##, r##"{"k":9007199254740992}"##, r##"{"id":9223372036854775808}"##, r##"{"id":18446744073709551617}"##], &[Valid, Invalid, Invalid, Invalid]),
    judges("V09", r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"node":{"type":"string","enum":["a","b","bcd"]}},"type":"object","properties":{"tree":{"$ref":"#/definitions/node","minLength":3}}}"##, &[r##"{"tree":"b"}"##, r##"{"tree":"bcd"}"##, r##"{"tree":"zzz"}"##], &[Valid, Valid, Invalid]),
    fails("V12", r##"{"type":"object","properties":{"window":{"type":"array","items":[{"type":"number"},{"type":"number"}],"minItems":2,"maxItems":2}}}"##, "invalid_keyword", "/properties/window/items"),
    judges("V17", r##"{"type":"object","properties":{"address":{"type":"object","nullable":true,"required":["city"]}}}"##, &[r##"{"address":null}"##, r##"{"address":{"city":"Oslo"}}"##, r##"{"address":{}}"##], &[Invalid, Valid, Invalid]),
    judges("V15", r##"{"type":"object","properties":{"a":{"type":"string"}}}"##, &[r##"{"a":"x","dynamic":{"k":1}}"##, r##"{}"##], &[Valid, Valid]),
    judges("V18", r##"{"type":"object","properties":{"name":{"nullable":true},"ref":{"nullable":true,"allOf":[{"$ref":"#/$defs/S"}]}},"$defs":{"S":{"type":"string"}}}"##, &[r##"{"name":null}"##, r##"{"name":3}"##, r##"{"ref":"x"}"##, r##"{"ref":3}"##], &[Valid, Valid, Valid, Invalid]),
    judges("V31", r##"{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}"##, &[r##"{"__proto__":"v"}"##, r##"{"__proto__":{"admin":true}}"##, r##"{}"##], &[Valid, Invalid, Invalid]),
    fails("V04", r##"{"type":"object","properties":{"result":{"$defs":{"User":{"type":"object","properties":{"name":{"type":"string"}}}},"anyOf":[{"$ref":"#/$defs/User"},{"type":"string"}]}}}"##, "unresolved_ref", "/properties/result/anyOf/0/$ref"),
    fails("V22", r##"{"type":"object","properties":{"data":{"type":"unknown"}}}"##, "invalid_keyword", "/properties/data/type"),
    judges("V30", r##"{"type":"object","required":["toString"],"properties":{"constructor":{"type":"number"},"__proto__":{"type":"object","required":["x"]}},"additionalProperties":false}"##, &[r##"{}"##, r##"{"toString":1}"##, r##"{"toString":1,"constructor":"x"}"##], &[Invalid, Invalid, Invalid]),
    judges("V05", r##"{"type":"object","properties":{"$ref":{"type":"string"},"nullable":{"type":"boolean"}},"required":["$ref"]}"##, &[r##"{"$ref":"main"}"##, r##"{"$ref":7}"##, r##"{"nullable":true}"##], &[Valid, Invalid, Invalid]),
    judges("V42", r##"{"type":"object","oneOf":[{"required":["wheels","headlights"],"properties":{"wheels":{},"headlights":{}}},{"required":["pontoons"],"properties":{"pontoons":{}}},{"required":["wings"],"properties":{"wings":{}}}],"unevaluatedProperties":false}"##, &[r##"{"headlights":{},"pontoons":{}}"##, r##"{"pontoons":{}}"##, r##"{"wheels":1,"headlights":1}"##], &[Invalid, Valid, Valid]),
    fails("V08", r##"{"$schema":"https://schemas.example.com/house-dialect/v1","type":"object","properties":{"n":{"type":"integer"}}}"##, "unsupported_dialect", "/$schema"),
    judges("V29", r##"{"type":"array","items":{"type":"integer"}}"##, &[r##"[1.0,1e3,-0.0,1E2]"##, r##"[1.5]"##, r##"[1e-1]"##, r##"[12345678901234567890123]"##], &[Valid, Invalid, Invalid, Valid]),
    judges("V39", r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"pos":{"minimum":1}},"dependencies":{"type":{"properties":{"n":{"$ref":"#/definitions/pos"}}}}}"##, &[r##"{"type":"a","n":0}"##, r##"{"type":"a","n":2}"##, r##"{"n":0}"##], &[Invalid, Valid, Valid]),
];

#[test]
fn field_faults_are_judged_right() {
    for row in FIELD {
        match row {
            Row::Judges(title, schema, values, verdicts) => {
                for (value, expected) in values.iter().zip(*verdicts) {
                    assert_eq!(verdict(schema, value), *expected, "{title} {value}");
                }
            }
            Row::Fails(title, schema, reason, at) => {
                let error = error(schema);
                assert_eq!((error.reason, error.at.as_str()), (*reason, *at), "{title}");
            }
        }
    }
}

#[test]
fn malformed_keywords_are_named_by_their_place() {
    for (schema, at) in [
        (r#"{"required":null}"#, "/required"),
        (r#"{"required":["a","a"]}"#, "/required/1"),
        (r#"{"properties":{"a":{"type":["string","string"]}}}"#, "/properties/a/type/1"),
        (r#"{"type":[]}"#, "/type"),
        (r#"{"anyOf":[]}"#, "/anyOf"),
        (r#"{"anyOf":[{},3]}"#, "/anyOf/1"),
        (r#"{"properties":[]}"#, "/properties"),
        (r#"{"properties":{"a/b":null}}"#, "/properties/a~1b"),
        (r#"{"multipleOf":0}"#, "/multipleOf"),
        (r#"{"minLength":-1}"#, "/minLength"),
        (r#"{"minLength":1.5}"#, "/minLength"),
        (r#"{"exclusiveMinimum":true}"#, "/exclusiveMinimum"),
        (r#"{"enum":{}}"#, "/enum"),
        (r#"{"$ref":5}"#, "/$ref"),
        (r##"{"$id":"#a"}"##, "/$id"),
        (r#"{"$anchor":"a b"}"#, "/$anchor"),
        (r#"{"$defs":{"a":{"items":5}}}"#, "/$defs/a/items"),
        (r#"{"dependentRequired":{"a":"b"}}"#, "/dependentRequired/a"),
        (r#"{"if":1}"#, "/if"),
        (r#"{"$schema":7}"#, "/$schema"),
    ] {
        let error = error(schema);
        assert_eq!((error.reason, error.at.as_str()), ("invalid_keyword", at), "{schema}");
    }
    assert!(error(r#"{"items":[{}]}"#).hint.is_some());
}

#[test]
fn what_is_no_schema_is_refused() {
    for text in ["[]", "1", "null", "", "{", "{\"a\":\"\u{1}\"}"] {
        assert_eq!(error(text).reason, "not_a_schema", "{text}");
    }
    assert_eq!(verdict("true", "1"), Valid);
    assert_eq!(verdict("false", "1"), Invalid);
}

#[test]
fn references_that_lead_nowhere() {
    let error = error(r##"{"properties":{"a":{"$ref":"https://example.com/x.json#/y"}}}"##);
    assert_eq!((error.reason, error.at.as_str()), ("unresolved_ref", "/properties/a/$ref"));
    assert_eq!(error.target.as_deref(), Some("https://example.com/x.json#/y"));
    // Nothing that is used depends on it.
    let schema = br##"{"type":"object","$defs":{"a":{"$ref":"#/$defs/gone"}}}"##;
    let program = compile(schema, &options()).unwrap();
    let codes: Vec<_> = program.problems().iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["unresolved_ref"]);
}

#[test]
fn schemas_that_apply_themselves_are_cycles() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
        r##"{"if":{"dependentSchemas":{"x":{"$ref":"#"}}}}"##,
    ] {
        assert_eq!(error(schema).reason, "reference_cycle", "{schema}");
    }
    let list = r##"{"properties":{"next":{"$ref":"#"}},"required":["v"]}"##;
    assert_eq!(verdict(list, r#"{"v":1,"next":{"v":2}}"#), Valid);
    assert_eq!(verdict(list, r#"{"v":1,"next":{}}"#), Invalid);
}

#[test]
fn each_compilation_has_its_own_registry() {
    let schema = |kind: &str| format!(r#"{{"$id":"https://example.com/out","type":"{kind}"}}"#);
    assert_eq!(verdict(&schema("string"), "\"x\""), Valid);
    assert_eq!(verdict(&schema("number"), "\"x\""), Invalid);
}

#[test]
fn documents_given_are_found_and_nothing_else() {
    let resources = vec![
        ("https://example.com/item".to_owned(), br#"{"type":"integer"}"#.to_vec()),
        ("https://example.com/broken".to_owned(), b"{".to_vec()),
    ];
    let options = CompileOptions { resources, ..options() };
    let schema = r#"{"$id":"https://example.com/list","items":{"$ref":"item"}}"#;
    assert_eq!(judge_with(&options, schema, "[1]").verdict, Valid);
    assert_eq!(judge_with(&options, schema, "[1.5]").verdict, Invalid);
    let error = compile(br#"{"$ref":"https://example.com/other"}"#, &options).unwrap_err();
    assert_eq!(error.reason, "unresolved_ref");
}

#[test]
fn limits_hold() {
    let few = CompileOptions { max_subschemas: 3, ..options() };
    assert!(compile(br#"{"allOf":[{},{}]}"#, &few).is_ok());
    let error = compile(br#"{"allOf":[{},{},{}]}"#, &few).unwrap_err();
    assert_eq!((error.reason, error.at.as_str()), ("limit", "/allOf/2"));
    let short = CompileOptions { max_schema_bytes: 10, ..options() };
    assert_eq!(compile(br#"{"type":"object"}"#, &short).unwrap_err().reason, "limit");
    let nested =
        |depth: usize| format!("{}{{}}{}", r#"{"items":"#.repeat(depth), "}".repeat(depth));
    assert!(compile(nested(511).as_bytes(), &options()).is_ok());
    assert_eq!(error_reason(&nested(512)), "limit");
    assert_eq!(error_reason(&nested(200_000)), "limit");
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
    let outcome = judge_with(&options(), r#"{"type":"array"}"#, &deep);
    assert_eq!((outcome.verdict, outcome.reason), (Unknown, Some("limit")));
    let hurried = CompileOptions { max_steps: Some(50), ..options() };
    let value = format!("[{}1]", "1,".repeat(100));
    let outcome = judge_with(&hurried, r#"{"items":{"type":"integer"}}"#, &value);
    assert_eq!((outcome.verdict, outcome.reason), (Unknown, Some("limit")));
}

fn error_reason(schema: &str) -> &'static str {
    error(schema).reason
}

#[test]
fn an_explanation_that_is_cut_still_says_something() {
    let members: Vec<String> = (0..300).map(|n| format!("{{\"n\":{n}}}")).collect();
    let value = format!("[{}]", members.join(","));
    let schema = r#"{"items":{"anyOf":[{"properties":{"n":{"maximum":298}}},{"type":"null"}]}}"#;
    let mut cut = 0;
    for max_steps in (1_000..6_000).step_by(10) {
        let options = CompileOptions { max_steps: Some(max_steps), ..options() };
        let outcome = judge_with(&options, schema, &value);
        if outcome.verdict == Invalid {
            cut += outcome.truncated as u32;
            assert!(!outcome.violations.is_empty(), "{max_steps}");
        }
    }
    assert!(cut > 0);
}

#[test]
fn doubt_is_told_apart_from_failure() {
    // Well formed, but references are not compared without case.
    let doubt = r#"{"pattern":"(?i:(x)\\1)"}"#;
    for (schema, expected) in [
        (doubt.to_owned(), Unknown),
        (format!(r#"{{"allOf":[{doubt},{{"type":"null"}}]}}"#), Invalid),
        (format!(r#"{{"anyOf":[{doubt},{{"type":"string"}}]}}"#), Valid),
        (format!(r#"{{"anyOf":[{doubt},{{"type":"null"}}]}}"#), Unknown),
        (format!(r#"{{"oneOf":[{doubt},true,true]}}"#), Invalid),
        (format!(r#"{{"oneOf":[{doubt},true]}}"#), Unknown),
        (format!(r#"{{"not":{doubt}}}"#), Unknown),
        (format!(r#"{{"if":{doubt},"then":true,"else":{{"minLength":1}}}}"#), Valid),
        (format!(r#"{{"if":{doubt},"then":false,"else":{{"minLength":9}}}}"#), Invalid),
        (format!(r#"{{"if":{doubt},"then":false}}"#), Unknown),
    ] {
        assert_eq!(verdict(&schema, "\"abc\""), expected, "{schema}");
    }
    let contains = format!(r#"{{"contains":{doubt}}}"#);
    assert_eq!(verdict(&contains, r#"["x"]"#), Unknown);
    assert_eq!(verdict(&contains, "[]"), Invalid);
    assert_eq!(verdict(&contains, r#"["x",1]"#), Valid);
    let outcome = judge_with(&options(), doubt, "\"abc\"");
    assert_eq!(outcome.reason, Some("unsupported_pattern"));
    assert_eq!(verdict(doubt, "1"), Valid);
}

fn told(schema: &str, value: &str) -> Vec<(String, String, String)> {
    let outcome = judge_with(&options(), schema, value);
    assert_eq!(outcome.verdict, Invalid, "{schema} {value}");
    let violations = outcome.violations.into_iter();
    violations.map(|v| (v.instance_path, v.schema_path, v.params)).collect()
}

#[test]
fn violations_have_both_pointers_and_params() {
    for (schema, value, expected) in [
        (
            r#"{"type":["string","null"]}"#,
            "1",
            &[("", "/type", r#"{"type":["string","null"]}"#)][..],
        ),
        (
            r##"{"properties":{"a/b":{"$ref":"#/$defs/n"}},"$defs":{"n":{"minimum":5}}}"##,
            r#"{"a/b":1}"#,
            &[("/a~1b", "/properties/a~1b/$ref/minimum", r#"{"comparison":">=","limit":5}"#)],
        ),
        (
            r#"{"required":["x","y"],"properties":{"b":{"const":1},"a":{"maxLength":1}}}"#,
            r#"{"a":"long","b":2}"#,
            &[
                ("", "/required", r#"{"missingProperty":"x"}"#),
                ("", "/required", r#"{"missingProperty":"y"}"#),
                ("/b", "/properties/b/const", r#"{"allowedValue":1}"#),
                ("/a", "/properties/a/maxLength", r#"{"limit":1}"#),
            ],
        ),
        (
            r#"{"additionalProperties":false}"#,
            r#"{"q\"":1}"#,
            &[("", "/additionalProperties", r#"{"additionalProperty":"q\""}"#)],
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"null"}}}]}"#,
            r#"{"a":1}"#,
            &[
                ("", "/anyOf", r#"{"nearest":1}"#),
                ("/a", "/anyOf/1/properties/a/type", r#"{"type":"null"}"#),
            ],
        ),
        (
            r#"{"oneOf":[true,{"type":"null"},{},{"minimum":1}]}"#,
            "1",
            &[("", "/oneOf", r#"{"passingSchemas":[0,2,3]}"#)],
        ),
        (
            r#"{"oneOf":[{"type":"string"},{"type":"null"}]}"#,
            "1",
            &[
                ("", "/oneOf", r#"{"passingSchemas":null,"nearest":0}"#),
                ("", "/oneOf/0/type", r#"{"type":"string"}"#),
            ],
        ),
        (
            r#"{"if":{"type":"string"},"then":{"minLength":2},"else":false}"#,
            "1",
            &[("", "/else", "{}")],
        ),
        (
            r#"{"items":{"enum":[1,2]}}"#,
            "[1,3]",
            &[("/1", "/items/enum", r#"{"allowedValues":[1,2]}"#)],
        ),
        (r#"{"prefixItems":[true],"items":false}"#, "[1,2,3]", &[("", "/items", r#"{"limit":1}"#)]),
        (r#"{"uniqueItems":true}"#, "[1,{},1.0]", &[("", "/uniqueItems", r#"{"i":2,"j":0}"#)]),
        (
            r#"{"properties":{"a":true},"unevaluatedProperties":false}"#,
            r#"{"a":1,"b":2}"#,
            &[("", "/unevaluatedProperties", r#"{"unevaluatedProperty":"b"}"#)],
        ),
        (
            r#"{"dependentRequired":{"a":["b"]}}"#,
            r#"{"a":1}"#,
            &[("", "/dependentRequired", r#"{"property":"a","missingProperty":"b"}"#)],
        ),
        (
            r#"{"propertyNames":{"maxLength":1}}"#,
            r#"{"ab":1}"#,
            &[("", "/propertyNames", r#"{"propertyName":"ab"}"#)],
        ),
        (r#"{"contains":{"type":"null"}}"#, "[1]", &[("", "/contains", r#"{"minContains":1}"#)]),
        (r#"{"multipleOf":0.1}"#, "0.25", &[("", "/multipleOf", r#"{"multipleOf":0.1}"#)]),
    ] {
        let expected: Vec<_> = expected
            .iter()
            .map(|(instance, schema, params)| {
                ((*instance).to_owned(), (*schema).to_owned(), (*params).to_owned())
            })
            .collect();
        assert_eq!(told(schema, value), expected, "{schema}");
    }
}

#[test]
fn messages_never_hold_names_or_values() {
    let schema = r#"{"required":["secret1"],"additionalProperties":false,"properties":{
        "secret2":{"enum":["secret3"]},"secret4":{"pattern":"^x$"},"secret5":{"const":"secret6"}}}"#;
    let value = r#"{"secret2":"secret7","secret4":"secret8","secret5":1,"secret9":2}"#;
    let outcome = judge_with(&options(), schema, value);
    assert_eq!(outcome.violations.len(), 5);
    for violation in outcome.violations {
        assert!(!violation.message().contains("secret"), "{violation:?}");
        assert!(!violation.why().contains("secret"), "{violation:?}");
    }
}

#[test]
fn violations_are_bounded() {
    let value = format!("[{}1]", "\"x\",".repeat(100_000));
    let outcome = judge_with(&options(), r#"{"items":{"type":"integer"}}"#, &value);
    assert_eq!((outcome.violations.len(), outcome.truncated), (16, true));
    assert_eq!(outcome.violations[15].instance_path, "/15");
}

#[test]
fn of_repeated_members_the_last_counts() {
    for (schema, value, expected) in [
        (r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":1,"a":"x"}"#, Valid),
        (r#"{"properties":{"a":{"type":"string"}}}"#, r#"{"a":"x","\u0061":1}"#, Invalid),
        (r#"{"additionalProperties":{"type":"string"}}"#, r#"{"z":1,"z":"x"}"#, Valid),
        (r#"{"additionalProperties":{"type":"string"}}"#, r#"{"z":"x","z":1}"#, Invalid),
        (r#"{"patternProperties":{"^z":{"type":"string"}}}"#, r#"{"z":1,"z":"x"}"#, Valid),
        (r#"{"unevaluatedProperties":{"type":"string"}}"#, r#"{"z":1,"z":"x"}"#, Valid),
        (r#"{"maxProperties":1}"#, r#"{"a":1,"a":2}"#, Valid),
        (r#"{"minProperties":2}"#, r#"{"a":1,"a":2}"#, Invalid),
        (r#"{"minProperties":2}"#, r#"{"a":1,"b":1,"a":2}"#, Valid),
        (r#"{"const":{"a":2}}"#, r#"{"a":1,"a":2}"#, Valid),
        (r#"{"uniqueItems":true}"#, r#"[{"a":1,"a":2},{"a":2}]"#, Invalid),
    ] {
        assert_eq!(verdict(schema, value), expected, "{schema} {value}");
    }
    let schema = r#"{"properties":{"a":true}}"#;
    assert!(judge_with(&options(), schema, r#"{"a":1,"a":2}"#).repeated_member);
    assert!(!judge_with(&options(), schema, r#"{"b":1,"b":2}"#).repeated_member);
}

#[test]
fn repeated_members_are_refused_on_request() {
    let options = CompileOptions { duplicate_keys: DuplicateKeys::Reject, ..options() };
    let outcome = judge_with(&options, "{}", r#"[{"a":1},{"x":[{"b":1,"\u0062":2}]}]"#);
    assert_eq!(outcome.verdict, Invalid);
    assert_eq!(outcome.violations[0].keyword, "duplicateKeys");
    assert_eq!(outcome.violations[0].instance_path, "/1/x/0");
    assert_eq!(judge_with(&options, "{}", r#"[{"a":1},{"a":1}]"#).verdict, Valid);
    let error = compile(br#"{"properties":{"a":{},"a":{}}}"#, &options).unwrap_err();
    assert_eq!((error.reason, error.at.as_str()), ("invalid_keyword", "/properties/a"));
}

#[test]
fn numbers_and_strings_are_exact() {
    for (schema, value, expected) in [
        (r#"{"maximum":9007199254740992}"#, "9007199254740993", Invalid),
        (r#"{"enum":[9007199254740993]}"#, "9007199254740992", Invalid),
        (r#"{"multipleOf":0.01}"#, "4.35", Valid),
        (r#"{"multipleOf":0.01}"#, "1070468.14", Valid),
        (r#"{"type":"integer"}"#, "1e400", Valid),
        (r#"{"minimum":-1e400}"#, "-1e401", Invalid),
        (r#"{"maxLength":1}"#, r#""\ud83d\ude00""#, Valid),
        (r#"{"maxLength":1}"#, "\"😀😀\"", Invalid),
        (r#"{"minLength":2}"#, "\"😀\"", Invalid),
        (r#"{"maxLength":1}"#, r#""\ud800""#, Valid),
        (r#"{"const":"\ud800"}"#, r#""\udc00""#, Invalid),
        (r#"{"const":"\u0061"}"#, "\"a\"", Valid),
        (r#"{"minLength":2.0}"#, "\"a\"", Invalid),
        (r#"{"maxItems":99999999999999999999}"#, "[1]", Valid),
    ] {
        assert_eq!(verdict(schema, value), expected, "{schema} {value}");
    }
}

#[test]
fn costs_stay_linear() {
    let doubling = |keyword: &str| {
        let mut defs: Vec<String> = (0..40)
            .map(|n| {
                let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, n + 1);
                format!(r#""d{n}":{{"{keyword}":[{next},{next}]}}"#)
            })
            .collect();
        defs.push(r#""d40":{"properties":{"a":{"type":"string"}},"required":["a"]}"#.to_owned());
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##, defs.join(","))
    };
    for keyword in ["anyOf", "allOf", "oneOf"] {
        let outcome = judge_with(&options(), &doubling(keyword), r#"{"a":1}"#);
        assert_eq!(outcome.verdict, Invalid, "{keyword}");
    }
    for (value, expected) in [(r#"{"a":""}"#, Valid), (r#"{"a":"","b":1}"#, Invalid)] {
        let tail = r#","unevaluatedProperties":false}"#;
        let schema = format!("{}{tail}", doubling("allOf").strip_suffix('}').unwrap());
        assert_eq!(verdict(&schema, value), expected, "{value}");
    }
    let items: Vec<String> = (0..20_000).map(|n| format!(r#"{{"a":{n},"b":[{n}]}}"#)).collect();
    let unique = format!("[{}]", items.join(","));
    assert_eq!(verdict(r#"{"uniqueItems":true}"#, &unique), Valid);
    let members: Vec<String> = (0..20_000).map(|n| format!(r#""k{n}":1"#)).collect();
    let object = format!("{{{}}}", members.join(","));
    assert_eq!(verdict(r#"{"minProperties":20000,"maxProperties":20000}"#, &object), Valid);
}

fn lint(schema: &str) -> Vec<(&'static str, String)> {
    let options = CompileOptions { dialect: Dialect::Draft2020, ..options() };
    let program = compile(schema.as_bytes(), &options).unwrap();
    program.problems().iter().map(|problem| (problem.code, problem.at.clone())).collect()
}

#[test]
fn lint_finds_what_was_not_meant() {
    for (schema, code, at) in [
        (r#"{"type":"object","requried":["a"]}"#, "keyword_typo", "/requried"),
        (r#"{"type":"object","nullable":true}"#, "openapi_nullable", "/nullable"),
        (
            r#"{"type":"object","title":"x","pattern":"^a\\:"}"#,
            "pattern_not_unicode_safe",
            "/pattern",
        ),
        (r#"{"type":"object","additionalItems":false}"#, "keyword_ignored", "/additionalItems"),
        (r#"{"type":"object","then":false}"#, "keyword_ignored", "/then"),
        (
            r#"{"type":"object","required":["a"],"additionalProperties":false}"#,
            "required_excluded",
            "/required/0",
        ),
        (r#"{}"#, "root_type_missing", ""),
        (r#"{"type":"array"}"#, "root_not_object", "/type"),
        (r#"{"type":"object","anyOf":[{"type":"string"},{}]}"#, "unreachable_branch", "/anyOf/0"),
        (
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/x","minLength":1,"title":"t"}},"definitions":{"x":{}}}"##,
            "ref_siblings_ignored",
            "/properties/a/minLength",
        ),
    ] {
        assert_eq!(lint(schema), [(code, at.to_owned())], "{schema}");
    }
    let schema = r#"{"type":"object","properties":{"nullable":{"type":"string"},"requried":true}}"#;
    assert_eq!(lint(schema), []);
}

#[test]
fn explaining_ends_with_the_last_violation_that_is_told() {
    let members: Vec<String> = (0..20_000).map(|index| format!("\"n{index}\":1")).collect();
    let value = format!("{{{}}}", members.join(","));
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        let schema = format!("{{\"{keyword}\":false}}");
        let program = compile(schema.as_bytes(), &CompileOptions::default()).unwrap();
        let tape = read(value.as_bytes(), Limits::depth(512)).unwrap();
        let mut judge = Judge::new(&program, 0);
        // A violation looks for its name again behind itself: sixteen looks, not twenty thousand.
        let mut steps = 1_000_000;
        let Poll::Ready(outcome) = judge.step(&program, value.as_bytes(), &tape, &mut steps) else {
            panic!("{keyword}: explaining looks at every member");
        };
        assert_eq!(outcome.verdict, Verdict::Invalid);
        assert_eq!(outcome.violations.len(), 16);
        assert!(outcome.truncated);
    }
}

#[test]
fn violations_are_located_in_any_order_and_at_little_cost() {
    // Declared in another order than the value has, so that the ways to them go back and forth.
    let schema = r#"{"properties":{"z":{"items":{"properties":{"b":{"type":"null"},"a":{"type":"null"}}}},
        "a~/":{"items":{"type":"null"}}},"propertyNames":{"maxLength":3}}"#;
    let value = r#"{"a~/":[null,1,[2]],"z":[{"a":1,"b":[2]},{"\u0061":3}],"long":{}}"#;
    let paths = |schema: &str, value: &str| -> Vec<String> {
        let options = CompileOptions { max_errors: 1_000_000, ..options() };
        let told = judge_with(&options, schema, value);
        assert!(!told.truncated);
        told.violations.into_iter().map(|violation| violation.instance_path).collect()
    };
    assert_eq!(paths(schema, value), ["/z/0/b", "/z/0/a", "/z/1/a", "/a~0~1/1", "/a~0~1/2", ""]);
    let many = format!("[{}]", vec!["1"; 300_000].join(","));
    let start = std::time::Instant::now();
    let told = paths(r#"{"items":{"type":"null"}}"#, &many);
    assert_eq!(told.last().map(String::as_str), Some("/299999"));
    // Walking from the start each time would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
