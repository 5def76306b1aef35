//! Masking in a JSON text that stays the JSON text it was: strings stay strings, numbers numbers.
//!
//! Invariant: what is masked in plain text is masked here too, value by value; nothing is added,
//! removed or moved. Schemas are told from data, because a property named `apiKey` has a schema
//! that is no secret. Iterative: nesting costs memory and never stack.

use std::borrow::Cow;
use std::ops::Range;

use super::names::{self, Name};
use crate::json::{self, Elements, Kind, Limits, Members, Text, Value, quote};

/// Nesting that is followed; deeper texts are masked as plain text.
const MAX_DEPTH: u32 = 65_536;

/// The JSON text of [`super::MARK`].
const MARK: &str = "\"[REDACTED]\"";

/// What stands around a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Data,
    /// Whatever is in here is secret.
    Secret,
    /// A schema, and whether it is that of a secret.
    Schema(bool),
    /// Schemas by property name.
    Schemas,
}

enum Open<'a> {
    Members(Members<'a>, Place),
    /// The flag: the element before announced a secret.
    Elements(Elements<'a>, Place, bool),
}

/// Masks a JSON text; `None` if it is none, or is nested too deep to be followed.
pub fn mask_json(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let tape = json::read(bytes, Limits::depth(MAX_DEPTH)).ok().filter(|it| !it.is_too_deep())?;
    let mut walk = Walk { text, out: String::new(), copied: 0, open: Vec::new() };
    walk.value(tape.root(bytes), Place::Data);
    while let Some(top) = walk.open.last_mut() {
        match top {
            Open::Members(members, place) => {
                let place = *place;
                let Some((name, value)) = members.next() else {
                    walk.open.pop();
                    continue;
                };
                let name_at = tape.value(bytes, value.position().saturating_sub(1)).range();
                let name = name.to_str();
                walk.string(name_at, &name);
                walk.value(value, place.of_member(&name));
            }
            Open::Elements(elements, place, announced) => {
                let Some(value) = elements.next() else {
                    walk.open.pop();
                    continue;
                };
                let place = if *announced { Place::Secret } else { *place };
                *announced = place == Place::Data && value.text().is_some_and(announces);
                walk.value(value, place);
            }
        }
    }
    if walk.copied == 0 {
        return Some(Cow::Borrowed(text));
    }
    walk.copy_to(text.len());
    Some(Cow::Owned(walk.out))
}

impl Place {
    fn of_member(self, name: &str) -> Place {
        let secret = names::classify(name.as_bytes(), false).is_some();
        match (self, name) {
            (Place::Secret, _) => Place::Secret,
            (Place::Schemas, _) => Place::Schema(secret),
            (
                Place::Schema(_),
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            ) => Place::Schemas,
            (Place::Schema(of_secret), "default" | "const" | "enum" | "examples") => {
                if of_secret {
                    Place::Secret
                } else {
                    Place::Data
                }
            }
            (Place::Data, "inputSchema" | "outputSchema" | "requestedSchema") => {
                Place::Schema(false)
            }
            // MCP's own: it names a request and opens nothing.
            (_, "progressToken") => Place::Data,
            _ if secret => Place::Secret,
            _ => self,
        }
    }
}

/// True for an element after which a secret stands, as in `["--token", "…"]`.
fn announces(text: Text<'_>) -> bool {
    let text = text.to_str();
    let is_flag = text.starts_with('-') || names::is_header(text.as_bytes());
    match names::classify(text.as_bytes(), false) {
        Some(Name::Header) => true,
        Some(Name::Secret) => is_flag,
        None => false,
    }
}

struct Walk<'a> {
    text: &'a str,
    out: String,
    /// What lies before is in `out`; 0 while nothing was changed.
    copied: usize,
    open: Vec<Open<'a>>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: Value<'a>, place: Place) {
        match (value.kind(), place) {
            (Kind::Object, _) => self.open.push(Open::Members(value.members(), place)),
            (Kind::Array, _) => self.open.push(Open::Elements(value.elements(), place, false)),
            (Kind::String, Place::Secret) => {
                let range = value.range();
                if range.len() > 2 && value.raw() != MARK {
                    self.replace(range, MARK);
                }
            }
            (Kind::String, _) => {
                let text = value.text().map_or(Cow::Borrowed(""), Text::to_str);
                self.string(value.range(), &text);
            }
            (Kind::Number, Place::Secret) if value.raw() != "0" => self.replace(value.range(), "0"),
            _ => {}
        }
    }

    fn string(&mut self, range: Range<usize>, text: &str) {
        if let Cow::Owned(masked) = super::mask(text) {
            let quoted = quote(&masked);
            self.replace(range, &quoted);
        }
    }

    fn replace(&mut self, range: Range<usize>, with: &str) {
        self.copy_to(range.start);
        self.out.push_str(with);
        self.copied = range.end;
    }

    fn copy_to(&mut self, end: usize) {
        self.out.push_str(self.text.get(self.copied..end).unwrap_or_default());
        self.copied = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn masked(text: &str) -> String {
        mask_json(text).unwrap().into_owned()
    }

    #[test]
    fn types_and_shape_stay() {
        assert_eq!(
            masked(r#"{"apiKey":"abc","pin_token": 1234 ,"hasSecret":true,"password":null}"#),
            r#"{"apiKey":"[REDACTED]","pin_token": 0 ,"hasSecret":true,"password":null}"#
        );
        assert_eq!(
            masked(r#"{"credentials":{"user":"bob","list":["a",[7]],"none":""}}"#),
            r#"{"credentials":{"user":"[REDACTED]","list":["[REDACTED]",[0]],"none":""}}"#
        );
        assert_eq!(masked(r#""API_KEY=abc \u00e9""#), r#""API_KEY=[REDACTED] é""#);
        assert_eq!(masked(r#"{"ghp_0123456789abcdef":1}"#), r#"{"[REDACTED]":1}"#);
    }

    #[test]
    fn strings_are_masked_as_text() {
        let text =
            r#"{"text":"line\nAuthorization: Bearer abcdefgh\nnext","x":"https://u:p4ss@h/"}"#;
        let masked = masked(text);
        assert!(!masked.contains("abcdefgh") && !masked.contains("p4ss"), "{masked}");
        assert!(masked.contains(r"\nnext"), "{masked}");
        let list = r#"{"args":["--api-key","abc","Authorization","x y","api_key","name"]}"#;
        assert_eq!(
            super::mask_json(list).unwrap(),
            r#"{"args":["--api-key","[REDACTED]","Authorization","[REDACTED]","api_key","name"]}"#
        );
    }

    #[test]
    fn schemas_of_secrets_stay_schemas() {
        let text = r#"{"tools":[{"name":"t","inputSchema":{"type":"object","required":["apiKey","a"],
            "properties":{"apiKey":{"type":"string","minLength":3,"default":"abc"},
            "a":{"type":"integer","default":5}}}}]}"#;
        assert_eq!(masked(text), text.replace("\"abc\"", "\"[REDACTED]\""));
    }

    #[test]
    fn what_the_protocol_needs_stays() {
        for text in [
            r#"{"jsonrpc":"2.0","method":"p","params":{"progressToken":7,"progress":1}}"#,
            r#"{"_meta":{"progressToken":"abc"},"maxTokens":5,"nextCursor":"x"}"#,
            " [1, 2.50 , \"\\ud800\"]\r",
        ] {
            assert!(matches!(mask_json(text), Some(Cow::Borrowed(_))), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_left_to_others() {
        assert!(mask_json("{\"apiKey\":abc}").is_none());
        let deep = "[".repeat(70_000) + &"]".repeat(70_000);
        assert!(mask_json(&deep).is_none());
        let deep = "[".repeat(60_000) + "\"password=abcdef\"" + &"]".repeat(60_000);
        assert!(!mask_json(&deep).unwrap().contains("abcdef"));
    }
}
