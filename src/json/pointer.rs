//! JSON Pointers (RFC 6901): written, read, followed on a tape, and found for a position.
//!
//! Invariant: a pointer written here resolves, on the same text, to the value it was written for,
//! unless a name on its way holds a lone surrogate (written as U+FFFD) or a later member of the
//! same name shadows it.

use std::borrow::Cow;

use super::tape::{Kind, Value};

/// Appends `/` and the token, escaped.
pub(crate) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The tokens of a pointer, unescaped; `None` if it is neither empty nor begins with `/`, or has a
/// `~` that escapes nothing.
pub(crate) fn tokens(pointer: &str) -> Option<Vec<Cow<'_, str>>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(unescape).collect()
}

fn unescape(token: &str) -> Option<Cow<'_, str>> {
    if !token.contains('~') {
        return Some(Cow::Borrowed(token));
    }
    let mut out = String::with_capacity(token.len());
    let mut parts = token.split('~');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let (escaped, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', part.get(1..)),
            Some(b'1') => ('/', part.get(1..)),
            _ => return None,
        };
        out.push(escaped);
        out.push_str(rest.unwrap_or(""));
    }
    Some(Cow::Owned(out))
}

/// The child a token names: a member, or an element by its index without leading zeros.
pub(crate) fn child<'a>(value: Value<'a>, token: &str) -> Option<Value<'a>> {
    match value.kind() {
        Kind::Object => value.get(token),
        Kind::Array => value.at(index(token)?),
        _ => None,
    }
}

/// The value a pointer names, if there is one.
pub fn resolve<'a>(root: Value<'a>, pointer: &str) -> Option<Value<'a>> {
    tokens(pointer)?.iter().try_fold(root, |value, token| child(value, token))
}

/// An array index, written as JSON Pointers demand.
pub(crate) fn index(token: &str) -> Option<usize> {
    let digits = token.as_bytes();
    let canonical = !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.len() == 1 || digits.first() != Some(&b'0'));
    if canonical { token.parse().ok() } else { None }
}

/// The pointer from a value to the one at a position inside it, in one walk down. The position of
/// a member's name gives the pointer of its object.
pub(crate) fn locate(root: Value<'_>, position: u32) -> String {
    let mut pointer = String::new();
    let mut value = root;
    'down: while value.position() != position {
        match value.kind() {
            Kind::Object => {
                for (name, member) in value.members() {
                    if position < member.position() {
                        break 'down;
                    }
                    if position < member.next_position() {
                        push(&mut pointer, &name.to_str());
                        value = member;
                        continue 'down;
                    }
                }
            }
            Kind::Array => {
                for (index, element) in value.elements().enumerate() {
                    if position < element.next_position() {
                        push(&mut pointer, &index.to_string());
                        value = element;
                        continue 'down;
                    }
                }
            }
            _ => {}
        }
        break;
    }
    pointer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn pointers_lead_back() {
        let text = br#"{"a/b":{"m~n":[0,{"":true}]},"c":[[1],"x"],"\u0065":2}"#;
        let tape = read(text, Limits::depth(9)).unwrap();
        let root = tape.root(text);
        for pointer in ["", "/a~1b", "/a~1b/m~0n/1/", "/c/0/0", "/c/1", "/e"] {
            let value = resolve(root, pointer).unwrap();
            assert_eq!(locate(root, value.position()), pointer);
        }
        for pointer in ["a", "/c/00", "/c/-", "/c/2", "/c/0/0/0", "/~2", "/zz"] {
            assert!(resolve(root, pointer).is_none(), "{pointer}");
        }
    }

    #[test]
    fn a_name_is_at_its_object() {
        let text = br#"{"a":{"b":1}}"#;
        let tape = read(text, Limits::depth(9)).unwrap();
        let root = tape.root(text);
        let inner = root.get("a").unwrap();
        assert_eq!(locate(root, inner.position() + 1), "/a");
    }
}
