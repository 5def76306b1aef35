//! Operation ids: `namespace.name`, split at the first dot.
//!
//! Invariant: a namespace has neither dot nor slash, so the first of either ends it, and no two
//! operations share an id.

use std::borrow::Cow;

/// The id as the registry keeps it: a leading slash is ignored, and `namespace/name` reads as
/// `namespace.name`.
pub fn canonical(asked: &str) -> Cow<'_, str> {
    let id = asked.strip_prefix('/').unwrap_or(asked);
    match id.find(['.', '/']) {
        Some(at) if id.as_bytes().get(at) == Some(&b'/') => {
            let (namespace, rest) = id.split_at(at);
            Cow::Owned(format!("{namespace}.{}", rest.get(1..).unwrap_or("")))
        }
        _ => Cow::Borrowed(id),
    }
}

/// The id of an operation; none if the parts would not lead back.
pub(super) fn of(namespace: &str, name: &str) -> Option<String> {
    let is_namespace = !namespace.is_empty() && !namespace.contains(['.', '/']);
    (is_namespace && !name.is_empty()).then(|| format!("{namespace}.{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    /// AT-087, AT-093, AT-209.
    #[test]
    fn ids_lead_back() {
        for (namespace, name, asked) in [
            ("fs", "readFile", "fs.readFile"),
            ("fs", "readFile", "/fs.readFile"),
            ("fs", "readFile", "/fs/readFile"),
            ("fs", "readFile", "fs/readFile"),
            ("a", "b.c", "a.b.c"),
            ("a", "b.c", "a/b.c"),
            ("a", "b/c", "a.b/c"),
            ("a", "/", "a./"),
        ] {
            assert_eq!(canonical(asked), of(namespace, name).unwrap(), "{asked}");
        }
        assert_eq!(canonical("list"), "list");
        for (namespace, name) in [("", "a"), ("a", ""), ("a.b", "c"), ("a/b", "c")] {
            assert_eq!(of(namespace, name), None);
        }
    }
}
