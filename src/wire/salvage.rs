//! The id of a message that cannot be read whole: cut off, not UTF-8, or with too many values.
//!
//! Works on the beginning of a line alone and believes nothing it cannot see: the id counts only
//! as a member of the outermost object. That object must show a method to be a request, and no
//! member of a request to be a reply.

/// The id that the beginning of a reply shows: a number without fraction and exponent.
pub fn reply_id(head: &[u8]) -> Option<i64> {
    let mut scan = Scan { bytes: head, at: 0 };
    scan.space();
    scan.expect(b'{')?;
    let mut id = None;
    // Ends at the closing brace, at the end of the bytes, or where the text is no JSON.
    while let Some((name, value)) = scan.member() {
        match name {
            b"method" | b"params" => return None,
            b"id" => id = Some(value),
            _ => {}
        }
    }
    std::str::from_utf8(id?).ok()?.parse().ok()
}

/// The JSON text of the id that the beginning of a request shows: a whole number, or a string
/// without escapes.
pub fn request_id(head: &[u8]) -> Option<String> {
    let mut scan = Scan { bytes: head, at: 0 };
    scan.space();
    scan.expect(b'{')?;
    let (mut id, mut has_method) = (None, false);
    while let Some((name, value)) = scan.member() {
        match name {
            b"method" => has_method = true,
            b"id" if id.is_some() => return None,
            b"id" => id = Some(value),
            _ => {}
        }
    }
    let text = std::str::from_utf8(id.filter(|_| has_method)?).ok()?;
    let is_number = text.parse::<i64>().is_ok_and(|number| number.unsigned_abs() < 1 << 53);
    let is_string = text.len() >= 2
        && text.starts_with('"')
        && text.ends_with('"')
        && !text.bytes().any(|byte| byte < b' ' || byte == b'\\');
    (is_number || is_string).then(|| text.to_owned())
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        let found = self.peek() == Some(byte);
        self.at += found as usize;
        found.then_some(())
    }

    /// A member's name, and its value's text if it is a complete scalar (else empty).
    fn member(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.space();
        if self.peek() == Some(b',') {
            self.at += 1;
            self.space();
        }
        let name = self.string()?;
        self.space();
        // A name that the cut separates from its value still tells what the object is.
        if self.expect(b':').is_none() {
            return Some((name, &[]));
        }
        self.space();
        Some((name, self.value()))
    }

    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let raw = self.bytes.get(start..self.at);
        self.at += 1;
        raw
    }

    /// Skips a value; gives its text if it is a scalar whose end can be seen.
    fn value(&mut self) -> &'a [u8] {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    if self.string().is_none() {
                        self.at = self.bytes.len();
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 0 => depth -= 1,
                b',' | b'}' | b']' | b' ' | b'\t' if depth == 0 => {
                    return self.bytes.get(start..self.at).unwrap_or_default();
                }
                _ => {}
            }
            self.at += 1;
        }
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    #[test]
    fn an_id_at_top_level_counts() {
        assert_eq!(reply_id(br#"{"jsonrpc":"2.0","id":12,"result":{"content":[{"te"#), Some(12));
        assert_eq!(reply_id(br#"{"jsonrpc":"2.0","result":{"id":3},"id" : -4 ,"#), Some(-4));
        assert_eq!(reply_id(b"{\"id\":1,\"result\":\"\xff\"}"), Some(1));
    }

    #[test]
    fn a_request_shows_its_id_beside_its_method() {
        for (head, expected) in [
            (r#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"na"#, Some("12")),
            (r#"{"method":"x","id":"a b","params":{"id":3,"te"#, Some("\"a b\"")),
            (r#"{"id":12,"params":{"method":"x""#, None),
            (r#"{"method":"x","id":1,"id":2,"#, None),
            (r#"{"method":"x","id":"a\"b","#, None),
            (r#"{"method":"x","id":1.5,"#, None),
            (r#"{"method":"x","params":{"id":1},"#, None),
            (r#"[{"method":"x","id":1,"#, None),
        ] {
            assert_eq!(request_id(head.as_bytes()).as_deref(), expected, "{head}");
        }
    }

    #[test]
    fn anything_else_does_not() {
        for head in [
            r#"{"jsonrpc":"2.0","id":12"#,
            r#"{"jsonrpc":"2.0","id":"12","result":1"#,
            r#"{"jsonrpc":"2.0","id":1.5,"result":1"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"ping""#,
            r#"{"jsonrpc":"2.0","id":3,"params":{"#,
            r#"{"result":{"id":3},"x":"\"id\":3,"#,
            r#"[{"id":3,"result":1}]"#,
            "log: {\"id\":3}",
            "",
        ] {
            assert_eq!(reply_id(head.as_bytes()), None, "{head}");
        }
    }
}
