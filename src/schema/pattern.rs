//! Regular expressions of `pattern` and `patternProperties`.
//!
//! Decides what it understands exactly: literals, anchored or not. Everything else it leaves
//! undecided, and a judgement that hangs on it is unknown.

use crate::json::Text;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    form: Form,
}

#[derive(Debug)]
enum Form {
    Contains(String),
    Prefix(String),
    Suffix(String),
    Exact(String),
    /// Not understood.
    Other,
}

impl Pattern {
    /// Compiles the text of a pattern.
    pub(crate) fn new(text: &str) -> Self {
        let (start, rest) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (end, literal) = match rest.strip_suffix('$') {
            Some(literal) => (true, literal),
            None => (false, rest),
        };
        let special = |character| "\\^$.*+?()[]{}|".contains(character);
        let form = match (start, end) {
            _ if literal.contains(special) => Form::Other,
            (false, false) => Form::Contains(literal.to_owned()),
            (true, false) => Form::Prefix(literal.to_owned()),
            (false, true) => Form::Suffix(literal.to_owned()),
            (true, true) => Form::Exact(literal.to_owned()),
        };
        Pattern { form }
    }

    /// Whether it matches somewhere in the text; `None` if that cannot be said.
    pub(crate) fn matches(&self, text: Text<'_>) -> Option<bool> {
        let text = text.to_str();
        match &self.form {
            Form::Contains(literal) => Some(text.contains(literal)),
            Form::Prefix(literal) => Some(text.starts_with(literal)),
            Form::Suffix(literal) => Some(text.ends_with(literal)),
            Form::Exact(literal) => Some(text == literal.as_str()),
            Form::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn literals_are_decided_and_nothing_else() {
        for (pattern, text, found) in [
            ("", "", Some(true)),
            ("b", "abc", Some(true)),
            ("^b", "abc", Some(false)),
            ("^x-", "x-y", Some(true)),
            ("c$", "abc", Some(true)),
            ("^abc$", "abcd", Some(false)),
            ("a.c", "abc", None),
            (r"\d", "1", None),
        ] {
            assert_eq!(Pattern::new(pattern).matches(Text::plain(text)), found, "{pattern}");
        }
    }
}
