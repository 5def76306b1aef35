//! Output schemas for peers whose revision knows structured content as an object only: a schema
//! whose root is not of type object becomes one of an object that holds the value as `result`.
//!
//! Invariant: apart from its place, the schema means what it meant. References that point from its
//! root are led to where the root has gone; a schema with an `$id` of its own is left alone.

use crate::json::Value;
use crate::wire::encode::quote;

/// True if peers that want objects get the values of this schema wrapped.
pub(super) fn needs_wrapping(schema: Value<'_>) -> bool {
    !schema.get("type").and_then(Value::text).is_some_and(|name| name.eq_str("object"))
}

/// The text of the wrapped schema.
pub(super) fn wrap_schema(schema: Value<'_>) -> String {
    let dialect = schema.get("$schema").filter(|dialect| dialect.is_string());
    let dialect = dialect.map(|dialect| format!("\"$schema\":{},", dialect.raw()));
    format!(
        "{{{}\"type\":\"object\",\"properties\":{{\"result\":{}}},\"required\":[\"result\"]}}",
        dialect.unwrap_or_default(),
        moved(schema)
    )
}

/// The text of a value that is wrapped.
pub(super) fn wrap_value(value: &str) -> String {
    format!("{{\"result\":{value}}}")
}

/// How the members of an object are read.
#[derive(Clone, Copy)]
enum Role {
    Schema,
    /// Names of the author's, each with a schema.
    Names,
}

/// The schema with its references from the root led to `/properties/result`.
fn moved(schema: Value<'_>) -> String {
    let text = schema.raw();
    if has_own_base(schema) {
        return text.to_owned();
    }
    let base = schema.range().start;
    let mut changes = references(schema);
    crate::sorted::sort_by(&mut changes, |(one, _), (other, _)| {
        one.range().start.cmp(&other.range().start)
    });
    let mut out = String::with_capacity(text.len() + 24 * changes.len());
    let mut from = 0;
    for (value, pointer) in changes {
        let range = value.range();
        out.push_str(text.get(from..range.start - base).unwrap_or_default());
        out.push_str(&quote(&format!("#/properties/result{pointer}")));
        from = range.end - base;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// References by pointer from the root, each with its pointer.
fn references(schema: Value<'_>) -> Vec<(Value<'_>, String)> {
    let mut found = Vec::new();
    let mut open = vec![(schema, Role::Schema)];
    while let Some((value, role)) = open.pop() {
        if value.is_array() {
            open.extend(value.elements().map(|element| (element, role)));
            continue;
        }
        for (name, member) in value.members() {
            if matches!(role, Role::Names) {
                open.push((member, Role::Schema));
                continue;
            }
            match name.to_str().as_ref() {
                "$ref" | "$dynamicRef" => {
                    let target = member.text().map(|target| target.to_str().into_owned());
                    let pointer = target.as_deref().and_then(|target| target.strip_prefix('#'));
                    if let Some(pointer) = pointer.filter(|text| is_pointer(text)) {
                        found.push((member, pointer.to_owned()));
                    }
                }
                "const" | "enum" | "default" | "examples" => {}
                "properties" | "patternProperties" | "$defs" | "definitions"
                | "dependentSchemas" | "dependencies" => open.push((member, Role::Names)),
                _ if has_own_base(member) => {}
                _ => open.push((member, Role::Schema)),
            }
        }
    }
    found
}

fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

/// True if references inside resolve against an `$id` there. A fragment is an anchor of old.
fn has_own_base(schema: Value<'_>) -> bool {
    let id = schema.get("$id").and_then(Value::text);
    id.is_some_and(|id| !id.raw().starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn wrapped(schema: &str) -> String {
        let text = format!("[ {schema}]");
        let tape = read(text.as_bytes(), Limits::depth(64)).unwrap();
        wrap_schema(tape.root(text.as_bytes()).at(0).unwrap())
    }

    #[test]
    fn a_schema_becomes_that_of_result() {
        let of = |inner: &str| {
            format!(
                r#"{{"type":"object","properties":{{"result":{inner}}},"required":["result"]}}"#
            )
        };
        for plain in [r#"{"type":"array","items":{"type":"integer"}}"#, "true", "{}"] {
            assert_eq!(wrapped(plain), of(plain));
        }
        assert_eq!(
            wrapped(
                r##"{"anyOf":[{"$ref":"#"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#b"},"$ref":{"$ref":"#/x"}}}"##
            ),
            of(
                r##"{"anyOf":[{"$ref":"#/properties/result"},{"$ref":"#/properties/result/$defs/a"}],"$defs":{"a":{"$ref":"#b"},"$ref":{"$ref":"#/properties/result/x"}}}"##
            )
        );
    }

    #[test]
    fn what_is_no_reference_from_the_root_stays() {
        for same in [
            r##"{"$id":"urn:a","items":{"$ref":"#/$defs/a"}}"##,
            r##"{"items":{"$id":"urn:a","$ref":"#/$defs/a"}}"##,
            r##"{"const":{"$ref":"#/a"},"enum":[{"$ref":"#/a"}],"default":{"$ref":"#/a"}}"##,
            r##"{"$ref":"urn:a#/b"}"##,
        ] {
            assert!(wrapped(same).contains(same), "{same}");
        }
        assert!(wrapped(r##"{"properties":{"const":{"$ref":"#/a"}}}"##).contains("result/a"));
        assert!(
            wrapped(r##"{"$schema":"http://json-schema.org/draft-07/schema#"}"##)
                .starts_with(r##"{"$schema":"http://json-schema.org/draft-07/schema#","type""##)
        );
    }

    #[test]
    fn objects_need_no_wrapping() {
        let needs = |schema: &str| {
            let tape = read(schema.as_bytes(), Limits::depth(64)).unwrap();
            needs_wrapping(tape.root(schema.as_bytes()))
        };
        assert!(!needs(r#"{"type":"object","anyOf":[]}"#));
        assert!(needs(r#"{"type":["object","null"]}"#) && needs("{}") && needs("true"));
    }
}
