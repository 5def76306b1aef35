//! URI references (RFC 3986): resolving against a base, and the fragment.
//!
//! Works on text and compares as text: no decoding but that of fragments, no normalisation but the
//! removal of dot segments. An empty base stands for "no base": a reference against it stays what
//! it is.

use std::borrow::Cow;

/// A reference without its fragment, and the fragment.
pub(super) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (reference, None),
    }
}

struct Parts<'a> {
    /// With its colon.
    scheme: &'a str,
    /// With its slashes; empty if there is none.
    authority: &'a str,
    path: &'a str,
    /// With its question mark.
    query: &'a str,
}

fn split(uri: &str) -> Parts<'_> {
    let is_scheme = |text: &str| {
        text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let colon = uri.find(':').filter(|&at| is_scheme(uri.get(..at).unwrap_or("")));
    let (scheme, rest) = uri.split_at(colon.map_or(0, |at| at + 1));
    let (rest, query) = rest.split_at(rest.find('?').unwrap_or(rest.len()));
    let authority_end = match rest.strip_prefix("//") {
        Some(authority) => authority.find('/').map_or(rest.len(), |at| at + 2),
        None => 0,
    };
    let (authority, path) = rest.split_at(authority_end);
    Parts { scheme, authority, path, query }
}

/// A reference without fragment, resolved against an absolute base without fragment.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let target = split(reference);
    if base.is_empty() || !target.scheme.is_empty() {
        return match target.path.starts_with('/') {
            true => join(target.scheme, target.authority, &remove_dots(target.path), target.query),
            false => reference.to_owned(),
        };
    }
    let base = split(base);
    if !target.authority.is_empty() {
        return join(base.scheme, target.authority, &remove_dots(target.path), target.query);
    }
    if target.path.is_empty() {
        return join(base.scheme, base.authority, base.path, target.query);
    }
    let path = if target.path.starts_with('/') {
        remove_dots(target.path)
    } else if !base.authority.is_empty() && base.path.is_empty() {
        remove_dots(&format!("/{}", target.path))
    } else {
        let folder = base.path.rfind('/').map_or(0, |at| at + 1);
        remove_dots(&format!("{}{}", base.path.get(..folder).unwrap_or(""), target.path))
    };
    join(base.scheme, base.authority, &path, target.query)
}

fn join(scheme: &str, authority: &str, path: &str, query: &str) -> String {
    format!("{scheme}{authority}{path}{query}")
}

/// RFC 3986, 5.2.4.
fn remove_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/');
    let segments: Vec<&str> = path.split('/').skip(absolute as usize).collect();
    let last = segments.len().saturating_sub(1);
    for (index, &segment) in segments.iter().enumerate() {
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if index == last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    let joined = kept.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

/// A fragment with its percent escapes resolved; `None` if they are no UTF-8.
pub(super) fn decode(fragment: &str) -> Option<Cow<'_, str>> {
    if !fragment.contains('%') {
        return Some(Cow::Borrowed(fragment));
    }
    let mut out = Vec::with_capacity(fragment.len());
    let mut bytes = fragment.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let high = (bytes.next()? as char).to_digit(16)?;
        let low = (bytes.next()? as char).to_digit(16)?;
        out.push((high << 4 | low) as u8);
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn references_resolve_as_the_rfc_shows() {
        let base = "http://a/b/c/d;p?q";
        for (reference, expected) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("g;x=1/../y", "http://a/b/c/y"),
        ] {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
        assert_eq!(resolve("http://a", "b"), "http://a/b");
        assert_eq!(resolve("", "item.json"), "item.json");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
        assert_eq!(resolve("tag:x", "urn:example:a/b"), "urn:example:a/b");
    }

    #[test]
    fn fragments_are_decoded() {
        assert_eq!(decode("/a%25b/%C3%A9").as_deref(), Some("/a%b/é"));
        assert_eq!(decode("a%2"), None);
        assert_eq!(decode("%ff"), None);
    }
}
