//! Secrets that need no name: tokens of known schemes and vendors, private keys, URLs.

use super::super::names;
use super::{Open, Scan, is_blank, is_quote};

/// Bytes between the words of a private key's first and last line.
pub(super) const LABEL: usize = 64;

impl Scan<'_> {
    /// The first vendor's token that begins at a part of the word.
    pub(super) fn vendor_token(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let mut inside = false;
        (start..end).find_map(|at| {
            let begins = self.byte(at).is_some_and(|byte| byte.is_ascii_alphanumeric());
            let goes_on = std::mem::replace(&mut inside, begins);
            let first = begins && !goes_on;
            let length = first.then(|| names::token_length(self.rest(at), self.partial))??;
            Some((at, at + length))
        })
    }

    /// After the word "Bearer".
    pub(super) fn bearer(&mut self, end: usize) {
        let Some((start, end)) = self.token68(end) else { return };
        let token = self.between(start, end);
        let word = token.strip_suffix(b".").unwrap_or(token);
        if !names::BEARER_PROSE.iter().any(|prose| word.eq_ignore_ascii_case(prose.as_bytes())) {
            self.hide(start, end);
        }
    }

    /// After the word "Basic": a token, if it decodes to text with a colon.
    pub(super) fn basic(&mut self, end: usize) {
        let Some((start, end)) = self.token68(end) else { return };
        let cut = self.partial && end == self.bytes.len();
        if cut || decodes_to_pair(self.between(start, end)) {
            self.hide(start, end);
        }
    }

    /// The token after the blanks that follow a scheme's name.
    pub(super) fn token68(&self, at: usize) -> Option<(usize, usize)> {
        let mut start = self.skip_blanks(at);
        if start == at {
            return None;
        }
        if self.byte(start).is_some_and(is_quote) {
            start += 1;
        }
        let in_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
        let length = self.rest(start).iter().take_while(in_token).count();
        // A flag is no token.
        let flag = self.rest(start).starts_with(b"--");
        (length > 0 && !flag).then_some((start, start + length))
    }

    /// True if a private-key block begins here: dashes, "BEGIN", "PRIVATE KEY".
    pub(super) fn is_private_key(&self, at: usize) -> bool {
        let dashes = self.rest(at).iter().take_while(|&&byte| byte == b'-').count();
        let label = self.rest(at + dashes);
        let label = label.strip_prefix(b" ").unwrap_or(label);
        dashes >= 4 && label.starts_with(b"BEGIN ") && names_private_key(label)
    }

    pub(super) fn private_key(&mut self, at: usize) {
        let end = self.private_key_end(at).unwrap_or_else(|| {
            self.open = Some(Open::PrivateKey);
            self.bytes.len()
        });
        self.hide(at, end);
    }

    /// Where a private-key block ends: behind the dashes of its last line.
    pub(super) fn private_key_end(&self, from: usize) -> Option<usize> {
        let mut dashes = 0;
        for (at, &byte) in self.bytes.iter().enumerate().skip(from) {
            if dashes >= 4 && byte == b'E' {
                let label = self.rest(at);
                if label.starts_with(b"END ") && names_private_key(label) {
                    let close = label.iter().position(|&byte| byte == b'-').unwrap_or(label.len());
                    let rest = label.get(close..).unwrap_or(&[]);
                    return Some(at + close + rest.iter().take_while(|&&b| b == b'-').count());
                }
            }
            match byte {
                b'-' => dashes += 1,
                b' ' if dashes >= 4 => {}
                _ => dashes = 0,
            }
        }
        None
    }

    /// At the `://` of a URL: hides its user information.
    pub(super) fn authority(&mut self) {
        let start = self.at + 3;
        self.at = start;
        let in_url = |byte: &&u8| !is_blank(**byte) && !b"\"'<>`\\".contains(byte);
        let in_authority = |byte: &&u8| in_url(byte) && !b"/?#".contains(byte);
        let length = self.rest(start).iter().take_while(in_authority).count();
        let mut end = start + length;
        let authority = self.between(start, end);
        let mut at = authority.iter().rposition(|&byte| byte == b'@').map(|at| start + at);
        let colon = authority.iter().position(|&byte| byte == b':');
        let has_port = colon
            .is_none_or(|colon| authority.iter().skip(colon + 1).all(|byte| byte.is_ascii_digit()));
        // A password may hold a slash although it must not.
        if at.is_none() && !has_port && self.no_at_before <= start {
            end = start + self.rest(start).iter().take_while(in_url).count();
            let url = self.between(start, end);
            at = url.iter().rposition(|&byte| byte == b'@').map(|at| start + at);
            if at.is_none() {
                self.no_at_before = end;
            }
        }
        if let Some(at) = at {
            if at > start {
                self.hide(start, at);
            }
        } else if self.partial && end == self.bytes.len() && end > start {
            // The `@` may lie beyond the cut.
            let token = end - start >= 16 && !self.between(start, end).contains(&b'.');
            if !has_port || token {
                self.hide(start, end);
            }
        }
    }
}

fn names_private_key(label: &[u8]) -> bool {
    let label = label.get(..label.len().min(LABEL)).unwrap_or(&[]);
    label.windows(11).any(|words| words == b"PRIVATE KEY")
}

/// True if a base64 text decodes to something with a colon: `name:password`.
fn decodes_to_pair(text: &[u8]) -> bool {
    let mut bits = 0_u32;
    for (index, byte) in text.iter().enumerate() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return false,
        };
        bits = bits << 6 | digit as u32;
        // Of every four digits the last three complete a byte.
        let shift = match index % 4 {
            0 => continue,
            1 => 4,
            2 => 2,
            _ => 0,
        };
        if (bits >> shift) as u8 == b':' {
            return true;
        }
    }
    false
}
