//! JSON Pointers, relative JSON Pointers, UUIDs.

/// A JSON Pointer (RFC 6901).
pub(super) fn is_pointer(text: &[u8]) -> bool {
    let mut rest = text.iter();
    let mut first = true;
    while let Some(byte) = rest.next() {
        let holds = match byte {
            b'/' => true,
            b'~' => !first && matches!(rest.next(), Some(b'0' | b'1')),
            _ => !first,
        };
        if !holds {
            return false;
        }
        first = false;
    }
    true
}

/// A relative JSON Pointer; from draft 2020-12 on an index may be shifted (`0-1`).
pub(super) fn is_relative(text: &[u8], with_shift: bool) -> bool {
    let Some(mut rest) = after_number(text, true) else { return false };
    if let (true, [b'+' | b'-', shift @ ..]) = (with_shift, rest) {
        match after_number(shift, false) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest == b"#" || is_pointer(rest)
}

/// What follows a number without leading zeros.
fn after_number(text: &[u8], zero: bool) -> Option<&[u8]> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits)?;
    match number {
        [] => None,
        [b'0'] if zero => Some(rest),
        [b'0', ..] => None,
        _ => Some(rest),
    }
}

/// A UUID (RFC 4122), of any version.
pub(super) fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
