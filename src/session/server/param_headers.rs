//! Arguments that an HTTP request repeats in headers (`Mcp-Param-*`), for whoever routes by them:
//! which a tool's input schema declares, and whether they say the same.
//!
//! Invariant: only what is reached by `properties` alone is declared, so which argument a header
//! speaks of depends on no value.

use crate::json::Value;

use super::answer::Fault;
use super::envelope::Headers;

/// An argument that a header repeats.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// The header's name after `Mcp-Param-`, in lower case.
    header: String,
    /// The members that lead to the argument.
    path: Vec<String>,
}

/// What an input schema declares by `x-mcp-header`. Declarations that no client can heed are none.
pub(super) fn declared(schema: Value<'_>) -> Vec<Declared> {
    let mut found: Vec<Declared> = Vec::new();
    let mut open = vec![(schema, Vec::new())];
    while let Some((schema, path)) = open.pop() {
        let header = schema.get("x-mcp-header").and_then(Value::as_str);
        let kind = schema.get("type").and_then(Value::as_str);
        let is_scalar = kind.is_some_and(|kind| SCALARS.contains(&kind.as_ref()));
        if let Some(header) = header.filter(|header| is_scalar && is_token(header)) {
            found.push(Declared { header: header.to_ascii_lowercase(), path: path.clone() });
        }
        for (name, property) in schema.get("properties").into_iter().flat_map(Value::members) {
            let mut path = path.clone();
            path.push(name.to_str().into_owned());
            open.push((property, path));
        }
    }
    found
}

const SCALARS: [&str; 4] = ["string", "integer", "number", "boolean"];

/// A token of RFC 9110.
fn is_token(text: &str) -> bool {
    let is_mark = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

/// Every argument that is there and declared must stand in its header.
pub(super) fn check(
    declared: &[Declared],
    arguments: Option<Value<'_>>,
    headers: &Headers,
) -> Result<(), Fault> {
    for Declared { header, path } in declared {
        let argument =
            path.iter().try_fold(arguments, |value, name| Some(value?.get(name))).flatten();
        let Some(argument) = argument.filter(|argument| !argument.is_null()) else { continue };
        let said = headers.params.iter().find(|(name, _)| name == header);
        let said = said.and_then(|(_, value)| value.as_deref());
        if !said.is_some_and(|said| says(said, argument)) {
            return Err(Fault::header("An Mcp-Param header differs from the message"));
        }
    }
    Ok(())
}

/// True if a header's value says what the argument is. Objects and arrays are in no header.
fn says(header: &str, argument: Value<'_>) -> bool {
    if let Some(text) = argument.as_str() {
        return text == header;
    }
    if let Some(flag) = argument.as_bool() {
        return header == if flag { "true" } else { "false" };
    }
    match argument.number() {
        Some(number) => number == header || equal_numbers(number, header),
        None => true,
    }
}

/// Integers of any length differ by their text alone, so doubles decide only below 2^53.
fn equal_numbers(one: &str, other: &str) -> bool {
    let read = |text: &str| {
        let digits = text.bytes().any(|byte| byte.is_ascii_digit());
        text.parse::<f64>().ok().filter(|number| digits && number.abs() < 9_007_199_254_740_992.0)
    };
    read(one).is_some() && read(one) == read(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const SCHEMA: &str = r#"{"properties":{
        "a":{"type":"string","x-mcp-header":"A"},
        "n":{"type":"integer","x-mcp-header":"N"},
        "o":{"properties":{"b":{"type":"boolean","x-mcp-header":"B"}}},
        "bad":{"type":"array","x-mcp-header":"C"},
        "worse":{"type":"string","x-mcp-header":"D E"},
        "i":{"items":{"type":"string","x-mcp-header":"F"}}}}"#;

    #[test]
    fn scalars_reached_by_properties_are_declared() {
        let tape = read(SCHEMA.as_bytes(), Limits::depth(16)).unwrap();
        let mut found: Vec<String> = declared(tape.root(SCHEMA.as_bytes()))
            .into_iter()
            .map(|declared| format!("{} {}", declared.header, declared.path.join("/")))
            .collect();
        crate::sorted::sort(&mut found);
        assert_eq!(found, ["a a", "b o/b", "n n"]);
    }

    #[test]
    fn headers_say_what_arguments_are() {
        let tape = read(SCHEMA.as_bytes(), Limits::depth(16)).unwrap();
        let declared = declared(tape.root(SCHEMA.as_bytes()));
        let fine = |arguments: &str, params: &[(&str, Option<&str>)]| {
            let tape = read(arguments.as_bytes(), Limits::depth(16)).unwrap();
            let params =
                params.iter().map(|(name, value)| ((*name).into(), value.map(str::to_owned)));
            let headers = Headers { params: params.collect(), ..Headers::default() };
            check(&declared, Some(tape.root(arguments.as_bytes())), &headers).is_ok()
        };
        assert!(fine("{}", &[]));
        assert!(fine(r#"{"a":null,"x":1}"#, &[("a", Some("ignored"))]));
        assert!(fine(r#"{"a":"é"}"#, &[("a", Some("é"))]));
        assert!(!fine(r#"{"a":"é"}"#, &[]));
        assert!(!fine(r#"{"a":"é"}"#, &[("a", None)]));
        assert!(!fine(r#"{"a":"é"}"#, &[("a", Some("e"))]));
        assert!(fine(r#"{"n":42.0}"#, &[("n", Some("42"))]));
        assert!(!fine(r#"{"n":42}"#, &[("n", Some("43"))]));
        assert!(!fine(r#"{"n":9007199254740993}"#, &[("n", Some("9007199254740992"))]));
        assert!(!fine(r#"{"n":1}"#, &[("n", Some("inf"))]));
        assert!(fine(r#"{"o":{"b":false}}"#, &[("b", Some("false"))]));
        assert!(!fine(r#"{"o":{"b":false}}"#, &[("b", Some("0"))]));
    }
}
