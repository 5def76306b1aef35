//! What the dialects differ in, how one is chosen, and vocabularies.

// Helpers of tests may panic too: that is how they fail.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_family = "wasm"))]

use toolwire::json::{Limits, read};
use toolwire::schema::Dialect::{Draft4, Draft6, Draft7, Draft2019, Draft2020};
use toolwire::schema::Verdict::{Invalid, Valid};
use toolwire::schema::{
    CompileOptions, Dialect, Outcome, Program, SchemaError, Verdict, compile, judge,
};

fn options(dialect: Dialect) -> CompileOptions {
    CompileOptions { dialect, ..CompileOptions::default() }
}

fn run(program: &Program, value: &str) -> Outcome {
    let tape = read(value.as_bytes(), Limits::depth(program.max_depth())).unwrap();
    judge(program, value.as_bytes(), &tape, 0)
}

fn program(dialect: Dialect, schema: &str) -> Program {
    compile(schema.as_bytes(), &options(dialect))
        .unwrap_or_else(|error| panic!("{schema}: {error:?}"))
}

fn verdict(dialect: Dialect, schema: &str, value: &str) -> Verdict {
    run(&program(dialect, schema), value).verdict
}

fn error(dialect: Dialect, schema: &str) -> SchemaError {
    compile(schema.as_bytes(), &options(dialect)).unwrap_err()
}

const URIS: [(Dialect, &str); 5] = [
    (Draft2020, "https://json-schema.org/draft/2020-12/schema"),
    (Draft2019, "https://json-schema.org/draft/2019-09/schema"),
    (Draft7, "http://json-schema.org/draft-07/schema"),
    (Draft6, "http://json-schema.org/draft-06/schema"),
    (Draft4, "http://json-schema.org/draft-04/schema"),
];

#[test]
fn a_dialect_has_a_name_and_a_uri() {
    assert_eq!(Dialect::ALL.len(), Dialect::SUPPORTED.len());
    for (dialect, uri) in URIS {
        assert_eq!(Dialect::from_name(dialect.name()), Some(dialect));
        assert!(Dialect::SUPPORTED.contains(&dialect.name()));
        let (_, path) = uri.split_once(':').unwrap();
        for scheme in ["http", "https"] {
            for end in ["", "#"] {
                let schema = format!(r#"{{"$schema":"{scheme}:{path}{end}"}}"#);
                for default in [Draft4, Draft2020] {
                    assert_eq!(program(default, &schema).dialect(), dialect, "{schema}");
                }
            }
        }
    }
    assert_eq!(Dialect::from_name("draft-03"), None);
    let unknown = r#"{"$schema":"http://json-schema.org/draft-03/schema#"}"#;
    let refused = error(Draft7, unknown);
    assert_eq!((refused.reason, refused.at.as_str()), ("unsupported_dialect", "/$schema"));
}

#[test]
fn keywords_count_from_the_dialect_that_brought_them() {
    // Each holds of nothing but for the keyword, which elder dialects ignore.
    for (since, schema, value) in [
        (Draft4, r#"{"maximum":1}"#, "2"),
        (Draft6, r#"{"const":1}"#, "2"),
        (Draft6, r#"{"contains":{"type":"null"}}"#, "[]"),
        (Draft6, r#"{"propertyNames":{"maxLength":0}}"#, r#"{"a":1}"#),
        (Draft7, r#"{"if":{},"then":{"type":"null"}}"#, "1"),
        (Draft2019, r#"{"unevaluatedProperties":{"type":"null"}}"#, r#"{"a":1}"#),
        (Draft2019, r#"{"unevaluatedItems":{"type":"null"}}"#, "[1]"),
        (Draft2019, r#"{"dependentRequired":{"a":["b"]}}"#, r#"{"a":1}"#),
        (Draft2019, r#"{"dependentSchemas":{"a":{"type":"null"}}}"#, r#"{"a":1}"#),
        (Draft2019, r#"{"contains":{},"maxContains":1}"#, "[1,2]"),
        (Draft2020, r#"{"prefixItems":[{"type":"null"}]}"#, "[1]"),
    ] {
        for &dialect in Dialect::ALL {
            let expected = if dialect >= since { Invalid } else { Valid };
            assert_eq!(verdict(dialect, schema, value), expected, "{dialect:?} {schema}");
        }
    }
    for &dialect in Dialect::ALL {
        let dependencies = r#"{"dependencies":{"a":["b"],"c":{"type":"null"}}}"#;
        assert_eq!(verdict(dialect, dependencies, r#"{"a":1}"#), Invalid);
        assert_eq!(verdict(dialect, dependencies, r#"{"c":1}"#), Invalid);
    }
}

#[test]
fn draft_04_has_flags_for_exclusive_limits() {
    let schema = r#"{"minimum":1,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false}"#;
    for (value, expected) in [("1", Invalid), ("1.5", Valid), ("9", Valid), ("10", Invalid)] {
        assert_eq!(verdict(Draft4, schema, value), expected, "{value}");
    }
    let told = run(&program(Draft4, schema), "1").violations;
    assert_eq!(told[0].schema_path, "/exclusiveMinimum");
    assert_eq!(told[0].params, r#"{"comparison":">","limit":1}"#);
    for (dialect, schema, at) in [
        (Draft4, r#"{"exclusiveMinimum":1}"#, "/exclusiveMinimum"),
        (Draft4, r#"{"exclusiveMaximum":true}"#, "/exclusiveMaximum"),
        (Draft6, r#"{"minimum":1,"exclusiveMinimum":true}"#, "/exclusiveMinimum"),
    ] {
        let refused = error(dialect, schema);
        assert_eq!((refused.reason, refused.at.as_str()), ("invalid_keyword", at), "{schema}");
    }
}

#[test]
fn in_draft_04_a_whole_number_with_a_point_is_no_integer() {
    for value in ["1.0", "1e2", "-0.0"] {
        assert_eq!(verdict(Draft4, r#"{"type":"integer"}"#, value), Invalid, "{value}");
        assert_eq!(verdict(Draft4, r#"{"not":{"type":"integer"}}"#, value), Valid, "{value}");
        assert_eq!(verdict(Draft4, r#"{"type":["integer","number"]}"#, value), Valid, "{value}");
        assert_eq!(verdict(Draft6, r#"{"type":"integer"}"#, value), Valid, "{value}");
    }
    assert_eq!(verdict(Draft4, r#"{"type":"integer"}"#, "123456789012345678901"), Valid);
    // Equality is mathematical everywhere.
    assert_eq!(verdict(Draft4, r#"{"enum":[1]}"#, "1.0"), Valid);
    let told = run(&program(Draft4, r#"{"type":"integer"}"#), "1.0").violations;
    assert_eq!(told[0].keyword, "type");
}

#[test]
fn draft_04_has_no_boolean_schemas() {
    for (schema, reason, at) in [
        ("true", "not_a_schema", ""),
        (r#"{"items":true}"#, "invalid_keyword", "/items"),
        (r#"{"properties":{"a":false}}"#, "invalid_keyword", "/properties/a"),
        (r#"{"required":[]}"#, "invalid_keyword", "/required"),
        (r#"{"dependencies":{"a":[]}}"#, "invalid_keyword", "/dependencies/a"),
    ] {
        let refused = error(Draft4, schema);
        assert_eq!((refused.reason, refused.at.as_str()), (reason, at), "{schema}");
        assert!(compile(schema.as_bytes(), &options(Draft6)).is_ok(), "{schema}");
    }
    let schema = r#"{"additionalProperties":false,"items":[{}],"additionalItems":false}"#;
    assert_eq!(verdict(Draft4, schema, r#"{"a":1}"#), Invalid);
    assert_eq!(verdict(Draft4, schema, "[1,2]"), Invalid);
    assert_eq!(verdict(Draft4, schema, "[1]"), Valid);
}

#[test]
fn identifiers_are_written_as_the_dialect_has_them() {
    let schema = |id: &str| {
        format!(
            r##"{{"{id}":"http://x/root","properties":{{"a":{{"$ref":"item"}},"b":{{"$ref":"#n"}}}},
                "definitions":{{"i":{{"{id}":"item","type":"null"}},"n":{{"{id}":"#n","type":"null"}}}}}}"##
        )
    };
    for (dialect, id, other) in
        [(Draft4, "id", "$id"), (Draft6, "$id", "id"), (Draft7, "$id", "id")]
    {
        let program = program(dialect, &schema(id));
        assert_eq!(run(&program, r#"{"a":1}"#).verdict, Invalid);
        assert_eq!(run(&program, r#"{"b":1}"#).verdict, Invalid);
        assert_eq!(error(dialect, &schema(other)).reason, "unresolved_ref");
    }
    // Names have a keyword of their own since 2019-09.
    let refused = error(Draft2019, &schema("$id"));
    assert_eq!((refused.reason, refused.at.as_str()), ("invalid_keyword", "/definitions/n/$id"));
    let named = |name: &str| {
        format!(r##"{{"$ref":"#{name}","$defs":{{"n":{{"$anchor":"{name}","type":"null"}}}}}}"##)
    };
    assert_eq!(verdict(Draft2019, &named("a:b"), "1"), Invalid);
    assert_eq!(error(Draft2020, &named("a:b")).reason, "invalid_keyword");
    assert_eq!(verdict(Draft2020, &named("_b"), "1"), Invalid);
    assert_eq!(error(Draft2019, &named("_b")).reason, "invalid_keyword");
}

#[test]
fn what_stands_beside_a_reference_counts_since_2019_09() {
    let schema = r##"{"properties":{"a":{"$ref":"#/definitions/any","type":"null"}},"definitions":{"any":{}}}"##;
    for &dialect in Dialect::ALL {
        let expected = if dialect >= Draft2019 { Invalid } else { Valid };
        assert_eq!(verdict(dialect, schema, r#"{"a":1}"#), expected, "{dialect:?}");
    }
}

#[test]
fn lists_in_items_are_what_elder_dialects_have() {
    let schema = r#"{"items":[{"type":"null"}],"additionalItems":{"type":"string"}}"#;
    for dialect in [Draft4, Draft6, Draft7, Draft2019] {
        assert_eq!(verdict(dialect, schema, r#"[null,"a"]"#), Valid, "{dialect:?}");
        assert_eq!(verdict(dialect, schema, "[1]"), Invalid, "{dialect:?}");
        assert_eq!(verdict(dialect, schema, "[null,1]"), Invalid, "{dialect:?}");
        let alone = r#"{"additionalItems":{"type":"string"}}"#;
        assert_eq!(verdict(dialect, alone, "[1]"), Valid, "{dialect:?}");
    }
    assert_eq!(error(Draft2020, schema).reason, "invalid_keyword");
}

#[test]
fn what_counts_as_evaluated_changed_once() {
    let contains = r#"{"contains":{"type":"null"},"unevaluatedItems":{"type":"string"}}"#;
    assert_eq!(verdict(Draft2019, contains, r#"[null,"a"]"#), Invalid);
    assert_eq!(verdict(Draft2020, contains, r#"[null,"a"]"#), Valid);
    let list = r#"{"items":[{}],"unevaluatedItems":false}"#;
    assert_eq!(verdict(Draft2019, list, "[1]"), Valid);
    assert_eq!(verdict(Draft2019, list, "[1,2]"), Invalid);
    // Without a list, additionalItems applies to nothing.
    let alone = r#"{"additionalItems":{},"unevaluatedItems":false}"#;
    assert_eq!(verdict(Draft2019, alone, "[1]"), Invalid);
}

#[test]
fn recursive_references_lead_to_the_outermost_anchor() {
    let tree = |anchor: bool| {
        format!(
            r##"{{"$id":"http://x/strict","$recursiveAnchor":{anchor},"$ref":"tree","unevaluatedProperties":false,
                "$defs":{{"tree":{{"$id":"tree","$recursiveAnchor":true,
                "properties":{{"children":{{"items":{{"$recursiveRef":"#"}}}}}}}}}}}}"##
        )
    };
    let value = r#"{"children":[{"childen":[]}]}"#;
    assert_eq!(verdict(Draft2019, &tree(true), value), Invalid);
    assert_eq!(verdict(Draft2019, &tree(false), value), Valid);
    let told = run(&program(Draft2019, &tree(true)), value).violations;
    assert_eq!(
        (told[0].instance_path.as_str(), told[0].schema_path.as_str()),
        ("/children/0", "/$ref/properties/children/items/$recursiveRef/unevaluatedProperties"),
    );
    // 2020-12 does not know it.
    assert_eq!(verdict(Draft2020, r##"{"properties":{"a":{"$recursiveRef":"#"}}}"##, "{}"), Valid);
}

#[test]
fn every_meta_schema_is_there_and_judges() {
    for (dialect, uri) in URIS {
        for end in ["", "#"] {
            let schema = format!(r#"{{"$ref":"{uri}{end}"}}"#);
            for default in [Draft7, Draft2020] {
                assert_eq!(verdict(default, &schema, r#"{"minLength":1}"#), Valid, "{schema}");
                assert_eq!(verdict(default, &schema, r#"{"minLength":-1}"#), Invalid, "{schema}");
                let nested = r#"{"properties":{"a":{"type":"any"}}}"#;
                assert_eq!(verdict(default, &schema, nested), Invalid, "{schema}");
                let boolean = if dialect == Draft4 { Invalid } else { Valid };
                assert_eq!(verdict(default, &schema, "true"), boolean, "{schema}");
            }
        }
    }
}

#[test]
fn a_resource_may_be_of_another_dialect() {
    let schema = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{
        "elder":{"$ref":"http://x/elder"},"old":{"$ref":"http://x/old"}},"$defs":{
        "elder":{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://x/elder","items":[{"type":"null"}],"const":[null]},
        "old":{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x/old","minimum":1,"exclusiveMinimum":true,"const":7}}}"##;
    let program = program(Draft2020, schema);
    for (value, expected) in [
        (r#"{"elder":[null]}"#, Valid),
        (r#"{"elder":[1]}"#, Invalid),
        (r#"{"old":1}"#, Invalid),
        (r#"{"old":2}"#, Valid),
    ] {
        assert_eq!(run(&program, value).verdict, expected, "{value}");
    }
    let unknown = r#"{"$defs":{"a":{"$schema":"http://x/unknown","$id":"http://x/a"}}}"#;
    let refused = error(Draft2020, unknown);
    assert_eq!((refused.reason, refused.at.as_str()), ("unsupported_dialect", "/$defs/a/$schema"));
    // Documents given are of their own dialects too.
    let elder = br#"{"$schema":"http://json-schema.org/draft-04/schema","minimum":1,"exclusiveMinimum":true}"#;
    let resources = vec![("http://x/elder".to_owned(), elder.to_vec())];
    let options = CompileOptions { resources, ..options(Draft2020) };
    let program = compile(br#"{"$ref":"http://x/elder"}"#, &options).unwrap();
    assert_eq!(run(&program, "1").verdict, Invalid);
    assert_eq!(run(&program, "2").verdict, Valid);
}

/// Compiles with a meta-schema of its own, whose members are given.
fn with_meta(meta: &str, schema: &str) -> Result<Program, SchemaError> {
    let resources = vec![
        ("http://x/meta".to_owned(), meta.as_bytes().to_vec()),
        ("http://x/other".to_owned(), br#"{"$schema":"http://x/meta"}"#.to_vec()),
    ];
    compile(schema.as_bytes(), &CompileOptions { resources, ..CompileOptions::default() })
}

#[test]
fn vocabularies_choose_keywords() {
    const NAMED: &str = r#"{"$schema":"http://x/meta","minimum":9,"properties":{"a":false},"unevaluatedProperties":false}"#;
    let meta = |draft: &str, names: &[(&str, bool)]| {
        let entry = |(name, required): &(&str, bool)| {
            format!(r#""https://json-schema.org/draft/{draft}/vocab/{name}":{required}"#)
        };
        let entries: Vec<String> = names.iter().map(entry).collect();
        format!(r#"{{"$vocabulary":{{{}}}}}"#, entries.join(","))
    };
    for (draft, names, limit, closed, unevaluated) in [
        ("2020-12", &[("core", true), ("validation", true)][..], Invalid, Valid, Valid),
        ("2020-12", &[("core", true), ("applicator", false)], Valid, Invalid, Valid),
        ("2020-12", &[("core", true), ("unevaluated", true)], Valid, Invalid, Invalid),
        ("2019-09", &[("core", true), ("applicator", true)], Valid, Invalid, Invalid),
        ("2019-09", &[("core", true)], Valid, Valid, Valid),
    ] {
        let program = with_meta(&meta(draft, names), NAMED).unwrap();
        assert_eq!(program.dialect().name(), draft);
        assert_eq!(run(&program, "1").verdict, limit, "{names:?}");
        assert_eq!(run(&program, r#"{"a":1}"#).verdict, closed, "{names:?}");
        assert_eq!(run(&program, r#"{"b":1}"#).verdict, unevaluated, "{names:?}");
    }
    // What no vocabulary has is told.
    let program = with_meta(&meta("2020-12", &[("core", true), ("applicator", true)]), NAMED);
    let ignored: Vec<String> = program
        .unwrap()
        .problems()
        .iter()
        .filter(|problem| problem.code == "keyword_ignored")
        .map(|problem| problem.at.clone())
        .collect();
    assert_eq!(ignored, ["/minimum", "/unevaluatedProperties"]);
}

#[test]
fn a_required_vocabulary_that_is_not_known_is_refused() {
    let named = r#"{"$schema":"http://x/meta","type":"null"}"#;
    let core = r#""https://json-schema.org/draft/2020-12/vocab/core":true"#;
    for (required, reason) in [(true, Some("unsupported_dialect")), (false, None)] {
        for uri in [
            "http://x/vocab",
            "https://json-schema.org/draft/2020-12/vocab/none",
            "https://json-schema.org/draft/2019-09/vocab/validation",
        ] {
            let meta = format!(r#"{{"$vocabulary":{{{core},"{uri}":{required}}}}}"#);
            let outcome = with_meta(&meta, named);
            assert_eq!(outcome.err().map(|error| error.reason), reason, "{uri} {required}");
        }
    }
    let error = compile(named.as_bytes(), &CompileOptions::default()).unwrap_err();
    assert_eq!((error.reason, error.at.as_str()), ("unsupported_dialect", "/$schema"));
}

#[test]
fn a_meta_schema_without_vocabularies_hands_its_own_dialect_on() {
    for (meta, dialect) in [
        (r#"{"$schema":"http://json-schema.org/draft-04/schema#"}"#, Some(Draft4)),
        (r#"{"$schema":"https://json-schema.org/draft/2019-09/schema"}"#, Some(Draft2019)),
        ("{}", Some(Draft2020)),
        (r#"{"$schema":"http://x/meta"}"#, None),
        (r#"{"$schema":"http://x/other"}"#, None),
        (r#"{"$schema":"http://x/missing"}"#, None),
        ("true", None),
    ] {
        for uri in ["http://x/meta", "http://x/meta#"] {
            let program = with_meta(meta, &format!(r#"{{"$schema":"{uri}"}}"#));
            match (program, dialect) {
                (Ok(program), Some(dialect)) => assert_eq!(program.dialect(), dialect, "{meta}"),
                (Err(error), None) => assert_eq!(error.reason, "unsupported_dialect", "{meta}"),
                (outcome, _) => panic!("{meta}: {outcome:?}"),
            }
        }
    }
    // A reference to the meta-schema does not hide it.
    let schema = r#"{"$schema":"http://x/meta","$ref":"http://x/meta","$defs":{
        "a":{"$schema":"http://x/meta","$id":"http://x/a","items":[{}]}}}"#;
    assert!(with_meta(r#"{"$schema":"http://json-schema.org/draft-06/schema#"}"#, schema).is_ok());
}

#[test]
fn lint_knows_the_dialect() {
    let told = |dialect, schema: &str| -> Vec<(&'static str, String)> {
        let found = program(dialect, schema);
        found.problems().iter().map(|problem| (problem.code, problem.at.clone())).collect()
    };
    for (dialect, schema, at) in [
        (Draft4, r#"{"type":"object","const":1}"#, "/const"),
        (Draft4, r#"{"type":"object","$id":"http://x/a"}"#, "/$id"),
        (Draft6, r#"{"type":"object","if":{}}"#, "/if"),
        (Draft7, r#"{"type":"object","unevaluatedItems":false}"#, "/unevaluatedItems"),
        (Draft2019, r#"{"type":"object","prefixItems":[{}]}"#, "/prefixItems"),
        (Draft2020, r##"{"type":"object","$recursiveRef":"#"}"##, "/$recursiveRef"),
    ] {
        assert_eq!(told(dialect, schema), [("keyword_ignored", at.to_owned())], "{schema}");
    }
    for dialect in [Draft4, Draft6, Draft7] {
        let schema =
            r##"{"type":"object","properties":{"a":{"$ref":"#","minLength":1,"title":"t"}}}"##;
        let at = "/properties/a/minLength".to_owned();
        assert_eq!(told(dialect, schema), [("ref_siblings_ignored", at)]);
    }
    let words = r##"{"type":"object","id":"x","$comment":"c","examples":[],"$defs":{},"definitions":{},"deprecated":true}"##;
    for &dialect in Dialect::ALL {
        assert_eq!(told(dialect, words), [], "{dialect:?}");
    }
}

/// A value that nests, and steps for it that are few.
fn nested(depth: usize) -> (String, CompileOptions) {
    let value = format!("{}1{}", r#"{"c":"#.repeat(depth), "}".repeat(depth));
    (value, CompileOptions { max_steps: Some(1_000_000), ..CompileOptions::default() })
}

#[test]
fn references_that_fan_out_cost_little_in_every_dialect() {
    let (value, options) = nested(300);
    for schema in [
        // By references alone, from 2019-09 and before.
        r##"{"$schema":"http://json-schema.org/draft-04/schema#","anyOf":[
            {"properties":{"c":{"$ref":"#"}},"required":["x"]},{"properties":{"c":{"$ref":"#"}}}]}"##,
        // One reference to what a keyword applies as well.
        r##"{"allOf":[{"$ref":"#/allOf/1"},{"properties":{"c":{"$ref":"#"}}}]}"##,
        // By dynamic references that may lead to several schemas.
        r##"{"$id":"http://x/a","$dynamicAnchor":"n","anyOf":[
            {"properties":{"c":{"$dynamicRef":"#n"}},"required":["x"]},{"properties":{"c":{"$dynamicRef":"#n"}}}],
            "$defs":{"b":{"$id":"b","$dynamicAnchor":"n"}}}"##,
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"http://x/a","$recursiveAnchor":true,"anyOf":[
            {"properties":{"c":{"$recursiveRef":"#"}},"required":["x"]},{"properties":{"c":{"$recursiveRef":"#"}}}],
            "$defs":{"b":{"$id":"b","$recursiveAnchor":true}}}"##,
        // Through another resource each time.
        r##"{"$id":"http://x/a","$dynamicAnchor":"n","anyOf":[{"$ref":"b"},{"$ref":"c"}],"$defs":{
            "b":{"$id":"b","$dynamicAnchor":"n","properties":{"c":{"$dynamicRef":"#n"}},"required":["x"]},
            "c":{"$id":"c","$dynamicAnchor":"n","properties":{"c":{"$dynamicRef":"#n"}}}}}"##,
    ] {
        let program = compile(schema.as_bytes(), &options).unwrap();
        assert_eq!(run(&program, &value).verdict, Valid, "{schema}");
    }
}

#[test]
fn a_remembered_answer_belongs_to_its_dynamic_scope() {
    // The same list of the same value, entered from outside and through a strict resource; more
    // steps are spent before than an answer has to wait for to be remembered.
    let schema = r##"{"$id":"http://x/root","allOf":[{"$ref":"#/$defs/work"},{"$ref":"#/$defs/work"},
        {"$ref":"list"},{"$ref":"list"},{"$ref":"strict"}],"$defs":{
        "work":{"items":{"items":{"type":["number","null"],"minimum":0,"maximum":9}}},
        "list":{"$id":"list","items":{"$dynamicRef":"#item"},"$defs":{"any":{"$dynamicAnchor":"item","items":{"type":["number","null"]}}}},
        "strict":{"$id":"strict","$ref":"list","$defs":{"number":{"$dynamicAnchor":"item","items":{"type":"number"}}}}}}"##;
    let program = program(Draft2020, schema);
    let row = format!("[{}]", vec!["1"; 100].join(","));
    let rows = |last: &str| format!("[{}{last}]", format!("{row},").repeat(500));
    assert_eq!(run(&program, &rows("[1]")).verdict, Valid);
    assert_eq!(run(&program, &rows("[null]")).verdict, Invalid);
}

#[test]
fn a_dynamic_anchor_that_no_judgement_can_be_led_to_needs_no_targets() {
    // The root's own anchor is always the outermost; `r` is never entered.
    let hidden = r##""r":{"$id":"http://x/r","$dynamicAnchor":"d","items":{"$ref":"#nowhere"}}"##;
    for schema in [
        format!(
            r##"{{"$dynamicAnchor":"d","items":{{"$dynamicRef":"#d"}},"$defs":{{{hidden}}}}}"##
        ),
        format!(
            r##"{{"items":{{"$dynamicRef":"http://x/s#d"}},"$defs":{{{hidden},
                "s":{{"$id":"http://x/s","$dynamicAnchor":"d","type":["array","null"]}}}}}}"##
        ),
    ] {
        let found = program(Draft2020, &schema);
        assert!(found.problems().iter().any(|problem| problem.code == "unresolved_ref"));
        assert_eq!(run(&found, "[[]]").verdict, Valid);
    }
    let entered = r##"{"$ref":"http://x/r#/$defs/own","$defs":{"r":{"$id":"http://x/r","$dynamicAnchor":"d","items":{"$ref":"#nowhere"},
        "$defs":{"own":{"items":{"$dynamicRef":"http://x/s#d"}}}},
        "s":{"$id":"http://x/s","$dynamicAnchor":"d"}}}"##;
    assert_eq!(error(Draft2020, entered).reason, "unresolved_ref");
}
