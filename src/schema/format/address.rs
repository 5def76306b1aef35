//! IP addresses, host names of letters, digits and hyphens, and e-mail addresses.

/// Bytes of a label and of a whole name (RFC 1034, without the length bytes and the root).
pub(super) const MAX_LABEL: usize = 63;
pub(super) const MAX_NAME: usize = 253;

/// Bytes of the part before the `@` (RFC 5321, 4.5.3.1.1).
const MAX_LOCAL: usize = 64;

/// Four decimal numbers up to 255 without leading zeros (RFC 2673, `dotted-quad`).
pub(super) fn is_ipv4(text: &[u8]) -> bool {
    let mut parts = 0;
    let fits = text.len() <= 15
        && text.split(|&byte| byte == b'.').all(|part| {
            parts += 1;
            is_octet(part)
        });
    fits && parts == 4
}

fn is_octet(part: &[u8]) -> bool {
    matches!(
        part,
        [b'0'..=b'9']
            | [b'1'..=b'9', b'0'..=b'9']
            | [b'1', b'0'..=b'9', b'0'..=b'9']
            | [b'2', b'0'..=b'4', b'0'..=b'9']
            | [b'2', b'5', b'0'..=b'5']
    )
}

/// An address of RFC 4291, 2.2, without a zone.
pub(super) fn is_ipv6(text: &[u8]) -> bool {
    const LONGEST: usize = 45;
    if text.len() > LONGEST {
        return false;
    }
    let halves = text.windows(2).position(|pair| pair == b"::");
    let Some(at) = halves else { return groups(text, true) == Some(8) };
    let (left, right) = (text.get(..at).unwrap_or(&[]), text.get(at + 2..).unwrap_or(&[]));
    let left = if left.is_empty() { Some(0) } else { groups(left, false) };
    let right = if right.is_empty() { Some(0) } else { groups(right, true) };
    // The two colons stand for at least one group of zeros.
    left.zip(right).is_some_and(|(left, right)| left + right <= 7)
}

/// The count of groups; an IPv4 address at the end counts for two.
fn groups(text: &[u8], ends: bool) -> Option<usize> {
    let mut count = 0;
    let mut parts = text.split(|&byte| byte == b':').peekable();
    while let Some(part) = parts.next() {
        let is_group = (1..=4).contains(&part.len()) && part.iter().all(u8::is_ascii_hexdigit);
        count += match is_group {
            true => 1,
            false if ends && parts.peek().is_none() && is_ipv4(part) => 2,
            false => return None,
        };
    }
    Some(count)
}

/// A label of letters, digits and inner hyphens.
pub(super) fn is_label(label: &[u8]) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    label.len() <= MAX_LABEL
        && is_edge(label.first())
        && is_edge(label.last())
        && label.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// `Mailbox` of RFC 5321.
pub(super) fn is_email(text: &[u8]) -> bool {
    let Some((local, domain)) = split_mailbox(text) else { return false };
    let is_domain = domain.len() <= MAX_NAME && domain.split(|&byte| byte == b'.').all(is_label);
    text.is_ascii() && is_local(local) && (is_domain || is_literal(domain))
}

/// The parts before and after the last `@`: only the first may hold others, between quotes.
pub(super) fn split_mailbox(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = text.iter().rposition(|&byte| byte == b'@')?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// `Local-part`, which may hold what is not ASCII as RFC 6531 has it.
pub(super) fn is_local(local: &[u8]) -> bool {
    if local.len() > MAX_LOCAL {
        return false;
    }
    if let [b'"', quoted @ .., b'"'] = local {
        let mut escaped = false;
        let fits = quoted.iter().all(|&byte| {
            let holds = match byte {
                _ if escaped => matches!(byte, b' '..=b'~'),
                b'"' => false,
                _ => matches!(byte, b' '..=b'~' | 0x80..),
            };
            escaped = byte == b'\\' && !escaped;
            holds
        });
        return fits && !escaped;
    }
    let is_atom = |atom: &[u8]| !atom.is_empty() && atom.iter().all(|&byte| is_atext(byte));
    local.split(|&byte| byte == b'.').all(is_atom)
}

fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// `address-literal`: an address between brackets.
pub(super) fn is_literal(domain: &[u8]) -> bool {
    let [b'[', address @ .., b']'] = domain else { return false };
    if is_ipv4(address) {
        return true;
    }
    let Some(colon) = address.iter().position(|&byte| byte == b':') else { return false };
    let (tag, rest) = (address.get(..colon).unwrap_or(&[]), address.get(colon + 1..));
    let rest = rest.unwrap_or(&[]);
    if tag.eq_ignore_ascii_case(b"IPv6") {
        return is_ipv6(rest);
    }
    let is_content = |&byte: &u8| matches!(byte, 33..=90 | 94..=126);
    is_label(tag) && !rest.is_empty() && rest.iter().all(is_content)
}
