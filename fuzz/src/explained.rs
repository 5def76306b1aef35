//! Differences that are no faults, each by a rule that says what the specification says.

use toolwire::schema::{CompileOptions, Dialect, compile};

use serde_json::Value;

/// What was judged, or could not be.
pub(crate) struct Case<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) schema: &'a str,
    /// Whether the two agree on the value by another schema.
    pub(crate) agree: &'a dyn Fn(&str) -> bool,
    /// Some reference leads nowhere, in a schema that no judgement can meet.
    pub(crate) unused: bool,
    /// The reference that leads nowhere in one that it can.
    pub(crate) target: Option<String>,
}

/// What the two came to: a verdict, `compiles`, or why a schema does not.
pub(crate) struct Found {
    pub(crate) ours: &'static str,
    pub(crate) theirs: String,
}

/// A rule by which the two may differ.
struct Rule {
    name: &'static str,
    covers: fn(&Case<'_>, &Found) -> bool,
}

const RULES: &[Rule] = &[
    // 2020-12 core, 9.4.1 (and alike before): "A schema MUST NOT be run into an infinite loop
    // against an instance. ... the use of such schemas SHOULD be considered an error."
    Rule {
        name: "a schema that applies itself to the same value is an error",
        covers: |_, found| found.ours == "reference_cycle" && found.theirs == "compiles",
    },
    // Draft-07 core, 8.3 (and alike before): "All other properties in a "$ref" object MUST be
    // ignored." So an identifier beside one, or in a definition beside one, identifies nothing.
    Rule {
        name: "an identifier beside $ref, or within what stands there, is ignored",
        covers: |case, found| {
            let target = case.target.as_deref().unwrap_or("").split('#').next();
            case.dialect <= Dialect::Draft7
                && found.ours == "unresolved_ref"
                && found.theirs == "compiles"
                && serde_json::from_str(case.schema)
                    .is_ok_and(|schema| hides(&schema, target.unwrap_or(""), false))
        },
    },
    // Nothing says that every reference must lead somewhere; one that no judgement can meet is
    // reported by lint.
    Rule {
        name: "a reference that no judgement meets may lead nowhere",
        covers: |case, found| case.unused && found.ours == "compiles" && missing(found).is_some(),
    },
    // The same sentence of draft-07: neither does a reference count that stands beside another, so
    // it does not matter that what it names is ignored as well.
    Rule {
        name: "a reference beside $ref, or within what stands there, is ignored",
        covers: |case, found| {
            case.dialect <= Dialect::Draft7
                && found.ours == "compiles"
                && missing(found).is_some_and(|uri| {
                    serde_json::from_str(case.schema).is_ok_and(|schema| hides(&schema, uri, false))
                })
        },
    },
    // 2020-12 core, 10.2.2.1: the value of "if" "MUST be a valid JSON Schema" and annotations are
    // collected from it "in the usual way, including when the keyword is present without either
    // "then" or "else"": so its references are met. The other leaves it out as without effect.
    Rule {
        name: "what a lone if refers to must be there",
        covers: |case, found| {
            let schema: Option<Value> = serde_json::from_str(case.schema).ok();
            found.ours == "unresolved_ref"
                && found.theirs == "compiles"
                && schema.is_some_and(|mut schema| {
                    remove_lone_if(&mut schema) && {
                        let rest = schema.to_string();
                        // Without it the rule of cycles may still be what they differ by.
                        (case.agree)(&rest) || is_cycle(&rest, case.dialect)
                    }
                })
        },
    },
    // 2019-09 core, 9.3.1.3: "The behavior of this keyword depends on the annotation results of
    // adjacent keywords that apply to the instance location being validated. Specifically, the
    // annotations from "items" and "additionalItems" ..." Of "contains" only 2020-12 says so.
    Rule {
        name: "in 2019-09 unevaluatedItems does not see contains",
        covers: |case, found| {
            let without = |keyword| {
                let schema: Option<Value> = serde_json::from_str(case.schema).ok();
                schema.is_some_and(|mut schema| {
                    remove(&mut schema, keyword) && (case.agree)(&schema.to_string())
                })
            };
            let here =
                case.dialect == Dialect::Draft2019 || case.schema.contains("/2019-09/schema");
            here && ["valid", "invalid"].contains(&found.ours)
                && without("contains")
                && without("unevaluatedItems")
        },
    },
];

/// True if the schema applies itself to the same value.
fn is_cycle(schema: &str, dialect: Dialect) -> bool {
    let options = CompileOptions { dialect, ..CompileOptions::default() };
    compile(schema.as_bytes(), &options).is_err_and(|error| error.reason == "reference_cycle")
}

/// Takes out every `if` without `then` or `else`; false if there was none.
fn remove_lone_if(schema: &mut Value) -> bool {
    match schema {
        Value::Object(members) => {
            let lone = !members.contains_key("then") && !members.contains_key("else");
            let found = lone && members.remove("if").is_some();
            members.values_mut().fold(found, |found, value| remove_lone_if(value) | found)
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |found, item| remove_lone_if(item) | found)
        }
        _ => false,
    }
}

/// Takes a keyword out of all schemas; false if there was none.
fn remove(schema: &mut Value, keyword: &str) -> bool {
    match schema {
        Value::Object(members) => {
            let found = members.remove(keyword).is_some();
            members.values_mut().fold(found, |found, value| remove(value, keyword) | found)
        }
        Value::Array(items) => {
            items.iter_mut().fold(false, |found, item| remove(item, keyword) | found)
        }
        _ => false,
    }
}

/// What the other implementation did not find.
fn missing(found: &Found) -> Option<&str> {
    let rest = found.theirs.strip_prefix("Resource '")?;
    Some(rest.split_once("' is not present")?.0)
}

/// True if an identifier stands beside a `$ref` or deeper in what stands there.
fn hides(schema: &Value, uri: &str, hidden: bool) -> bool {
    let hidden = hidden || schema.get("$ref").is_some_and(Value::is_string);
    match schema {
        Value::Object(members) => {
            let id = members.get("$id").or(members.get("id")).and_then(Value::as_str);
            (hidden && id == Some(uri)) || members.values().any(|value| hides(value, uri, hidden))
        }
        Value::Array(items) => items.iter().any(|item| hides(item, uri, hidden)),
        _ => false,
    }
}

/// The name of the rule that explains a difference.
pub(crate) fn rule(case: &Case<'_>, found: &Found) -> Option<&'static str> {
    RULES.iter().find(|rule| (rule.covers)(case, found)).map(|rule| rule.name)
}
