//! URIs (RFC 3986), IRIs (RFC 3987), references to them, and templates (RFC 6570).

use super::address::{is_ipv4, is_ipv6};
use crate::schema::pattern::point_after;

/// Which of the four is meant.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    /// The scheme may be left out.
    reference: bool,
    /// What is not ASCII may stand for itself.
    international: bool,
}

impl Kind {
    pub(super) const URI: Kind = Kind { reference: false, international: false };
    pub(super) const URI_REFERENCE: Kind = Kind { reference: true, international: false };
    pub(super) const IRI: Kind = Kind { reference: false, international: true };
    pub(super) const IRI_REFERENCE: Kind = Kind { reference: true, international: true };
}

/// What may stand in a part beside unreserved characters, `sub-delims` and `%` with two digits.
struct Part {
    also: &'static [u8],
    international: bool,
    private: bool,
}

/// `URI` or `URI-reference`, `IRI` or `IRI-reference`.
pub(super) fn is_uri(text: &[u8], kind: Kind) -> bool {
    let scheme = scheme_length(text);
    if scheme.is_none() && !kind.reference {
        return false;
    }
    let rest = scheme.and_then(|length| text.get(length + 1..)).unwrap_or(text);
    let (rest, fragment) = split(rest, b'#');
    let (rest, query) = split(rest, b'?');
    let part = |also| Part { also, international: kind.international, private: false };
    if !is_made_of(fragment, &part(b":@/?"))
        || !is_made_of(query, &Part { private: true, ..part(b":@/?") })
    {
        return false;
    }
    let path = match rest.strip_prefix(b"//") {
        Some(rest) => {
            let end = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            if !is_authority(authority, &part) {
                return false;
            }
            path
        }
        None => {
            // Without a scheme a colon in the first segment would make one.
            let segment = rest.split(|&byte| byte == b'/').next().unwrap_or(&[]);
            if scheme.is_none() && segment.contains(&b':') {
                return false;
            }
            rest
        }
    };
    is_made_of(path, &part(b":@/"))
}

/// The length of the scheme before its colon.
fn scheme_length(text: &[u8]) -> Option<usize> {
    let length = text.iter().position(|&byte| byte == b':')?;
    let scheme = text.get(..length)?;
    let is_rest = |&byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    (scheme.first()?.is_ascii_alphabetic() && scheme.iter().all(is_rest)).then_some(length)
}

/// What stands before and after a delimiter.
fn split(text: &[u8], delimiter: u8) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| byte == delimiter) {
        Some(at) => (text.get(..at).unwrap_or(&[]), text.get(at + 1..).unwrap_or(&[])),
        None => (text, &[]),
    }
}

fn is_authority(authority: &[u8], part: &impl Fn(&'static [u8]) -> Part) -> bool {
    let (user, address) = match authority.iter().position(|&byte| byte == b'@') {
        Some(at) => (authority.get(..at), authority.get(at + 1..).unwrap_or(&[])),
        None => (None, authority),
    };
    if user.is_some_and(|user| !is_made_of(user, &part(b":"))) {
        return false;
    }
    if let Some(literal) = address.strip_prefix(b"[") {
        let Some(end) = literal.iter().position(|&byte| byte == b']') else { return false };
        let (inside, after) = literal.split_at_checked(end).unwrap_or((literal, &[]));
        return is_ip_literal(inside) && is_port(after.get(1..).unwrap_or(&[]));
    }
    let end = address.iter().position(|&byte| byte == b':').unwrap_or(address.len());
    let (host, port) = address.split_at_checked(end).unwrap_or((address, &[]));
    // An IPv4 address is a registered name as well.
    (is_ipv4(host) || is_made_of(host, &part(b""))) && is_port(port)
}

/// Nothing, or a colon and digits.
fn is_port(text: &[u8]) -> bool {
    match text.split_first() {
        None => true,
        Some((colon, digits)) => *colon == b':' && digits.iter().all(u8::is_ascii_digit),
    }
}

/// `IPv6address` or `IPvFuture`.
fn is_ip_literal(text: &[u8]) -> bool {
    let [b'v' | b'V', rest @ ..] = text else { return is_ipv6(text) };
    let Some(dot) = rest.iter().position(|&byte| byte == b'.') else { return false };
    let (version, address) = (rest.get(..dot).unwrap_or(&[]), rest.get(dot + 1..).unwrap_or(&[]));
    let is_address = |&byte: &u8| is_plain(byte) || byte == b':';
    !version.is_empty()
        && version.iter().all(u8::is_ascii_hexdigit)
        && !address.is_empty()
        && address.iter().all(is_address)
}

/// `unreserved` and `sub-delims`.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte)
}

/// The length of `%` and two digits at the start of a text, if they are there.
fn triplet(text: &[u8]) -> Option<usize> {
    match text {
        [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => Some(3),
        _ => None,
    }
}

fn is_made_of(text: &[u8], part: &Part) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at = match byte {
            b'%' => match triplet(text.get(at..).unwrap_or(&[])) {
                Some(length) => at + length,
                None => return false,
            },
            0x80.. => match point_after(text, at) {
                Some((point, next))
                    if part.international
                        && (is_ucschar(point) || (part.private && is_private(point))) =>
                {
                    next
                }
                _ => return false,
            },
            _ if is_plain(byte) || part.also.contains(&byte) => at + 1,
            _ => return false,
        };
    }
    true
}

/// `ucschar` of RFC 3987.
fn is_ucschar(point: u32) -> bool {
    match point {
        0xA0..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFEF => true,
        0xE0000..=0xE0FFF => false,
        0x10000..=0xEFFFF => point & 0xFFFF < 0xFFFE,
        _ => false,
    }
}

/// `iprivate` of RFC 3987.
fn is_private(point: u32) -> bool {
    match point {
        0xE000..=0xF8FF => true,
        0xF0000..=0x10FFFF => point & 0xFFFF < 0xFFFE,
        _ => false,
    }
}

/// A template: literals, and expressions between braces.
pub(super) fn is_template(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at..).unwrap_or(&[]);
        at = match byte {
            b'{' => match rest.iter().position(|&byte| byte == b'}') {
                Some(end) if is_expression(rest.get(1..end).unwrap_or(&[])) => at + end + 1,
                _ => return false,
            },
            b'%' => match triplet(rest) {
                Some(length) => at + length,
                None => return false,
            },
            0x80.. => match point_after(text, at) {
                Some((point, next)) if is_ucschar(point) || is_private(point) => next,
                _ => return false,
            },
            // The apostrophe is let in by erratum 6937 of the RFC.
            b'!' | b'#'..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'~' => at + 1,
            _ => return false,
        };
    }
    true
}

/// What stands between braces: an operator and names.
fn is_expression(text: &[u8]) -> bool {
    let names = match text {
        [operator, names @ ..] if b"+#./;?&=,!@|".contains(operator) => names,
        _ => text,
    };
    names.split(|&byte| byte == b',').all(is_variable)
}

/// A name and its modifier.
fn is_variable(text: &[u8]) -> bool {
    let name = match text.strip_suffix(b"*") {
        Some(name) => name,
        None => match text.iter().position(|&byte| byte == b':') {
            Some(colon) => match text.get(colon + 1..) {
                Some([b'1'..=b'9', digits @ ..])
                    if digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit) =>
                {
                    text.get(..colon).unwrap_or(&[])
                }
                _ => return false,
            },
            None => text,
        },
    };
    let mut at = 0;
    // A dot stands between two other characters.
    let mut dotted = true;
    while let Some(&byte) = name.get(at) {
        let length = match byte {
            b'.' if dotted => return false,
            b'%' => match triplet(name.get(at..).unwrap_or(&[])) {
                Some(length) => length,
                None => return false,
            },
            b'.' | b'_' => 1,
            _ if byte.is_ascii_alphanumeric() => 1,
            _ => return false,
        };
        dotted = byte == b'.';
        at += length;
    }
    !dotted
}
