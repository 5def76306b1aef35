//! The shape of what the tools answer.
//!
//! Invariant: every structured result is a JSON object, because peers of the revisions before
//! 2026-07-28 accept nothing else.

/// The JSON text of an output as an object: itself if it is one, else as the member `result`.
/// The text is one JSON value without white space around it; an output that is none is `null`.
pub fn object_text(output: Option<&str>) -> String {
    match output {
        Some(text) if text.starts_with('{') => text.to_owned(),
        Some(text) => format!(r#"{{"result":{text}}}"#),
        None => r#"{"result":null}"#.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn objects_stay_and_everything_else_is_wrapped() {
        for (output, expected) in [
            (Some(r#"{"a":1}"#), r#"{"a":1}"#),
            (Some(r#"{"result":1}"#), r#"{"result":1}"#),
            (Some("[1]"), r#"{"result":[1]}"#),
            (Some("null"), r#"{"result":null}"#),
            (Some("true"), r#"{"result":true}"#),
            (Some(r#""{""#), r#"{"result":"{"}"#),
            (None, r#"{"result":null}"#),
        ] {
            assert_eq!(object_text(output), expected);
        }
    }
}
