//! What a judgement comes to, and how it is told.
//!
//! Invariant: neither [`Violation::why`] nor [`Violation::message`] holds a value of the instance,
//! a property name, or any other text a peer chose but short numbers of its own schema. Paths and
//! params do, and travel as such.

use crate::json::{Limits, read};

/// What a judgement came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The value satisfies the schema.
    Valid,
    /// It does not.
    Invalid,
    /// It cannot be judged.
    Unknown,
}

/// One violation of a schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Violation {
    /// JSON Pointer into the value.
    pub instance_path: String,
    /// JSON Pointer into the schema, through the references taken.
    pub schema_path: String,
    /// The keyword that is not satisfied; `false schema` for a schema that is `false`.
    pub keyword: &'static str,
    /// What was wanted, as a JSON object's text in the manner of Ajv (may hold names).
    pub params: String,
}

/// A judgement with its reasons.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// Why the verdict is unknown: `limit`, `unsupported_pattern`.
    pub reason: Option<&'static str>,
    /// Violations in a fixed order, at most `max_errors`.
    pub violations: Vec<Violation>,
    /// True if there were more.
    pub truncated: bool,
    /// True if a member that the schema declares was met twice in one object.
    pub repeated_member: bool,
}

/// A number longer than this is left out of messages.
const MAX_NUMBER: usize = 32;

impl Violation {
    /// The reason as session errors word it.
    pub fn why(&self) -> String {
        match self.keyword {
            "type" => format!("expected {}", self.types()),
            "enum" => "expected a declared enum value".to_owned(),
            "required" => "required property is missing".to_owned(),
            keyword => format!("{keyword} is not satisfied"),
        }
    }

    /// A sentence for people.
    pub fn message(&self) -> String {
        let limit = |name: &str| self.number(name);
        match self.keyword {
            "type" => format!("must be {}", self.types()),
            "enum" => "must be equal to one of the allowed values".to_owned(),
            "const" => "must be equal to the constant".to_owned(),
            "required" => "must have every required property".to_owned(),
            "properties" | "false schema" => "is not allowed".to_owned(),
            "additionalProperties" => "must not have additional properties".to_owned(),
            "unevaluatedProperties" => "must not have unevaluated properties".to_owned(),
            "unevaluatedItems" => "must not have unevaluated items".to_owned(),
            "items" | "additionalItems" => {
                format!("must not have more than {} items", limit("limit"))
            }
            "propertyNames" => "must have valid property names".to_owned(),
            "dependentRequired" | "dependencies" => {
                "must have the properties that another one demands".to_owned()
            }
            "minimum" => format!("must be >= {}", limit("limit")),
            "maximum" => format!("must be <= {}", limit("limit")),
            "exclusiveMinimum" => format!("must be > {}", limit("limit")),
            "exclusiveMaximum" => format!("must be < {}", limit("limit")),
            "multipleOf" => format!("must be a multiple of {}", limit("multipleOf")),
            "minLength" => format!("must not have fewer than {} characters", limit("limit")),
            "maxLength" => format!("must not have more than {} characters", limit("limit")),
            "minItems" => format!("must not have fewer than {} items", limit("limit")),
            "maxItems" => format!("must not have more than {} items", limit("limit")),
            "minProperties" => format!("must not have fewer than {} properties", limit("limit")),
            "maxProperties" => format!("must not have more than {} properties", limit("limit")),
            "pattern" => "must match the pattern".to_owned(),
            "format" => "must match the format".to_owned(),
            "uniqueItems" => "must not have equal items".to_owned(),
            "contains" => "must contain a fitting number of matching items".to_owned(),
            "not" => "must not be valid against the schema under not".to_owned(),
            "anyOf" => "must match at least one schema of anyOf".to_owned(),
            "oneOf" => "must match exactly one schema of oneOf".to_owned(),
            "if" => "must match the schema that the condition selects".to_owned(),
            "duplicateKeys" => "must not repeat a property".to_owned(),
            "json" => "must be JSON text".to_owned(),
            _ => "must satisfy the schema".to_owned(),
        }
    }

    /// The declared type names, joined.
    fn types(&self) -> String {
        let mut names = Vec::new();
        self.with_param("type", |value| {
            let one = std::iter::once(value).filter(|value| value.is_string());
            for name in one.chain(value.elements()).filter_map(|name| name.as_str()) {
                names.push(name.into_owned());
            }
        });
        names.join(" or ")
    }

    fn number(&self, name: &str) -> String {
        let mut text = String::new();
        self.with_param(name, |value| {
            if let Some(number) = value.number().filter(|number| number.len() <= MAX_NUMBER) {
                text.push_str(number);
            }
        });
        if text.is_empty() { "the limit".to_owned() } else { text }
    }

    fn with_param(&self, name: &str, mut with: impl FnMut(crate::json::Value<'_>)) {
        let bytes = self.params.as_bytes();
        if let Ok(tape) = read(bytes, Limits::depth(u32::MAX))
            && let Some(value) = tape.root(bytes).get(name)
        {
            with(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn violation(keyword: &'static str, params: &str) -> Violation {
        Violation {
            instance_path: "/secret".to_owned(),
            schema_path: format!("/properties/secret/{keyword}"),
            keyword,
            params: params.to_owned(),
        }
    }

    #[test]
    fn reasons_are_the_contract() {
        for (keyword, params, why) in [
            ("type", r#"{"type":"integer"}"#, "expected integer"),
            ("type", r#"{"type":["string","null"]}"#, "expected string or null"),
            ("enum", "{}", "expected a declared enum value"),
            ("required", r#"{"missingProperty":"secret"}"#, "required property is missing"),
            ("minimum", r#"{"comparison":">=","limit":5}"#, "minimum is not satisfied"),
        ] {
            assert_eq!(violation(keyword, params).why(), why);
        }
    }

    #[test]
    fn messages_hold_numbers_only() {
        assert_eq!(violation("minimum", r#"{"limit":-2.5}"#).message(), "must be >= -2.5");
        let long = format!("{{\"limit\":{}}}", "9".repeat(500));
        assert_eq!(violation("maximum", &long).message(), "must be <= the limit");
        let missing = violation("required", r#"{"missingProperty":"secret"}"#).message();
        assert!(!missing.contains("secret"));
    }
}
