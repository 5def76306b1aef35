//! Reads bytes into a tape: RFC 8259, UTF-8 checked, in one pass that can pause anywhere.
//!
//! Invariant: the state is plain data (a position, what may come next, the open containers), so a
//! reader stopped by its byte budget and resumed gives the tape of an unbroken run. Depth costs a
//! stack entry of eight bytes, never a call frame.

use super::number;
use super::tape::{MAX_PAYLOAD, Tag, Tape, Word};

/// Bounds of one text.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Containers that may be open at once and still be recorded; a scalar text needs 0. Deeper
    /// ones are checked for syntax only, see [`Tape::is_too_deep`].
    pub max_depth: u32,
    /// Values and names in the text.
    pub max_tokens: u32,
}

impl Limits {
    /// The given depth and no bound on tokens but what a tape can hold.
    pub const fn depth(max_depth: u32) -> Self {
        Limits { max_depth, max_tokens: u32::MAX }
    }
}

/// Why a text was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Not JSON; the byte offset where that shows.
    Syntax(u32),
    /// Bytes that are not UTF-8; the offset of the string they stand in.
    Utf8(u32),
    /// More values and names than [`Limits::max_tokens`].
    Tokens,
    /// Longer than a tape can address: 4 GiB of text, 256 MiB in one string, 2^28 words.
    Size,
}

/// What a run came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The byte budget is spent; run again to go on.
    Pending,
    /// The text is complete and well formed.
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value.
    Value,
    /// The first element of an array, or its end.
    ElementOrEnd,
    /// The first member of an object, or its end.
    NameOrEnd,
    /// A member's name.
    Name,
    /// The colon after a name.
    Colon,
    /// A comma, or the end of the container.
    CommaOrEnd,
    /// Nothing but white space.
    Nothing,
}

/// A string that a pause interrupted.
#[derive(Clone, Copy)]
struct OpenString {
    start: usize,
    at: usize,
    is_name: bool,
    scan: Scan,
}

/// What was met inside a string so far.
#[derive(Clone, Copy, Default)]
struct Scan {
    escaped: bool,
    lone: bool,
    non_ascii: bool,
}

/// An open container: where its word is and how many children it has.
#[derive(Clone, Copy)]
struct Open {
    word: u32,
    count: u32,
}

/// A resumable reader of one text.
pub struct Reader {
    limits: Limits,
    at: usize,
    expect: Expect,
    string: Option<OpenString>,
    open: Vec<Open>,
    /// One bit for each container open below the recorded depth: set for an object.
    deep: Vec<u64>,
    deep_count: usize,
    tokens: u32,
    tape: Tape,
}

/// Reads a whole text at once.
pub fn read(bytes: &[u8], limits: Limits) -> Result<Tape, Fault> {
    let mut reader = Reader::new(limits);
    match reader.run(bytes, usize::MAX)? {
        Progress::Done => Ok(reader.finish()),
        // An unlimited budget does not run out.
        Progress::Pending => Err(Fault::Size),
    }
}

/// Long strings pause only at multiples of this many bytes past the budget.
const STRING_SLICE: usize = 1 << 16;

impl Reader {
    /// A reader at the start of a text.
    pub fn new(limits: Limits) -> Self {
        Reader {
            limits,
            at: 0,
            expect: Expect::Value,
            string: None,
            open: Vec::new(),
            deep: Vec::new(),
            deep_count: 0,
            tokens: 0,
            tape: Tape::default(),
        }
    }

    /// Reads on for about `budget` bytes. Every run must be given the same bytes.
    ///
    /// # Errors
    /// A [`Fault`] ends the reading for good.
    pub fn run(&mut self, bytes: &[u8], budget: usize) -> Result<Progress, Fault> {
        if bytes.len() > u32::MAX as usize {
            return Err(Fault::Size);
        }
        if self.tape.words.capacity() == 0 {
            // Structured text takes about ten bytes a word; growing from here stays rare.
            self.tape.words.reserve(bytes.len() / 12 + 4);
        }
        let stop = self.at.saturating_add(budget);
        if let Some(open) = self.string.take() {
            if !self.string_from(bytes, open, stop)? {
                return Ok(Progress::Pending);
            }
        }
        loop {
            if self.at >= stop {
                return Ok(Progress::Pending);
            }
            let Some(byte) = self.skip_space(bytes) else {
                return match self.expect {
                    Expect::Nothing => Ok(Progress::Done),
                    _ => Err(self.syntax()),
                };
            };
            match (self.expect, byte) {
                (Expect::Value | Expect::ElementOrEnd, b'"') => {
                    if !self.string(bytes, false, stop)? {
                        return Ok(Progress::Pending);
                    }
                }
                (Expect::Name | Expect::NameOrEnd, b'"') => {
                    if !self.string(bytes, true, stop)? {
                        return Ok(Progress::Pending);
                    }
                }
                (Expect::Colon, b':') => {
                    self.at += 1;
                    self.expect = Expect::Value;
                }
                (Expect::CommaOrEnd, b',') => {
                    self.at += 1;
                    self.expect = if self.in_object() { Expect::Name } else { Expect::Value };
                }
                (Expect::CommaOrEnd | Expect::NameOrEnd, b'}') if self.in_object() => {
                    self.close(Tag::ObjectClose)?;
                }
                (Expect::CommaOrEnd | Expect::ElementOrEnd, b']') if !self.in_object() => {
                    self.close(Tag::ArrayClose)?;
                }
                (Expect::Value | Expect::ElementOrEnd, b'{') => self.open(true)?,
                (Expect::Value | Expect::ElementOrEnd, b'[') => self.open(false)?,
                (Expect::Value | Expect::ElementOrEnd, b'-' | b'0'..=b'9') => {
                    self.number(bytes)?;
                }
                (Expect::Value | Expect::ElementOrEnd, b't') => {
                    self.literal(bytes, b"true", Tag::True)?;
                }
                (Expect::Value | Expect::ElementOrEnd, b'f') => {
                    self.literal(bytes, b"false", Tag::False)?;
                }
                (Expect::Value | Expect::ElementOrEnd, b'n') => {
                    self.literal(bytes, b"null", Tag::Null)?;
                }
                _ => return Err(self.syntax()),
            }
        }
    }

    /// The tape, once [`Reader::run`] said `Done`.
    pub fn finish(self) -> Tape {
        self.tape
    }

    fn syntax(&self) -> Fault {
        Fault::Syntax(self.at as u32)
    }

    #[inline]
    fn skip_space(&mut self, bytes: &[u8]) -> Option<u8> {
        loop {
            let byte = *bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn in_object(&self) -> bool {
        if self.deep_count > 0 {
            let bit = self.deep_count - 1;
            return self.deep.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1);
        }
        match self.open.last() {
            Some(open) => self
                .tape
                .words
                .get(open.word as usize)
                .is_some_and(|word| word.tag() == Tag::ObjectOpen),
            None => false,
        }
    }

    /// Appends a word unless it stands below the recorded depth.
    #[inline]
    fn push(&mut self, tag: Tag, payload: usize, offset: usize) -> Result<(), Fault> {
        if self.deep_count > 0 {
            return Ok(());
        }
        if payload > MAX_PAYLOAD as usize {
            return Err(Fault::Size);
        }
        self.tape.words.push(Word::new(tag, payload as u32, offset as u32));
        Ok(())
    }

    /// Counts a value or name against the bound.
    #[inline]
    fn token(&mut self) -> Result<(), Fault> {
        if self.tokens >= self.limits.max_tokens {
            return Err(Fault::Tokens);
        }
        self.tokens += 1;
        Ok(())
    }

    /// After a value: counts it in its container and says what may follow.
    #[inline]
    fn after_value(&mut self) {
        if self.deep_count > 0 {
            self.expect = Expect::CommaOrEnd;
            return;
        }
        match self.open.last_mut() {
            Some(open) => {
                open.count += 1;
                self.expect = Expect::CommaOrEnd;
            }
            None => self.expect = Expect::Nothing,
        }
    }

    fn open(&mut self, object: bool) -> Result<(), Fault> {
        self.token()?;
        if self.deep_count > 0 || self.open.len() >= self.limits.max_depth as usize {
            self.open_deep(object);
        } else {
            let word = self.tape.words.len();
            if word >= MAX_PAYLOAD as usize {
                return Err(Fault::Size);
            }
            let tag = if object { Tag::ObjectOpen } else { Tag::ArrayOpen };
            self.push(tag, 0, self.at)?;
            self.open.push(Open { word: word as u32, count: 0 });
            self.tape.depth = self.tape.depth.max(self.open.len() as u32);
        }
        self.at += 1;
        self.expect = if object { Expect::NameOrEnd } else { Expect::ElementOrEnd };
        Ok(())
    }

    fn open_deep(&mut self, object: bool) {
        if self.deep_count == 0 {
            // The outermost unrecorded container stands as an empty one.
            let (open, close) = if object {
                (Tag::ObjectOpen, Tag::ObjectClose)
            } else {
                (Tag::ArrayOpen, Tag::ArrayClose)
            };
            let offset = self.at as u32;
            self.tape.words.push(Word::new(open, 1, offset));
            self.tape.words.push(Word::new(close, 0, offset));
            self.tape.too_deep = true;
        }
        let (index, bit) = (self.deep_count / 64, self.deep_count % 64);
        if index == self.deep.len() {
            self.deep.push(0);
        }
        if let Some(word) = self.deep.get_mut(index) {
            *word = *word & !(1 << bit) | (object as u64) << bit;
        }
        self.deep_count += 1;
    }

    fn close(&mut self, tag: Tag) -> Result<(), Fault> {
        let offset = self.at;
        self.at += 1;
        if self.deep_count > 0 {
            self.deep_count -= 1;
            if self.deep_count == 0 {
                // Its closing word stands where the bracket really is.
                if let Some(word) = self.tape.words.last_mut() {
                    *word = Word::new(tag, 0, offset as u32);
                }
            }
            self.after_value();
            return Ok(());
        }
        let Some(open) = self.open.pop() else {
            return Err(Fault::Syntax(offset as u32));
        };
        let distance = self.tape.words.len() - open.word as usize;
        if let Some(word) = self.tape.words.get_mut(open.word as usize) {
            if distance > MAX_PAYLOAD as usize {
                return Err(Fault::Size);
            }
            *word = Word::new(word.tag(), distance as u32, word.offset());
        }
        self.push(tag, open.count as usize, offset)?;
        self.after_value();
        Ok(())
    }

    fn literal(&mut self, bytes: &[u8], literal: &[u8], tag: Tag) -> Result<(), Fault> {
        if !bytes.get(self.at..).is_some_and(|rest| rest.starts_with(literal)) {
            return Err(self.syntax());
        }
        self.token()?;
        self.push(tag, 0, self.at)?;
        self.at += literal.len();
        self.after_value();
        Ok(())
    }

    fn number(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let start = self.at;
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let digits = |mut at: usize| {
            while byte(at).is_ascii_digit() {
                at += 1;
            }
            at
        };
        let mut at = start + (byte(start) == b'-') as usize;
        let whole = at;
        at = digits(at);
        let whole_digits = at - whole;
        if whole_digits == 0 || (whole_digits > 1 && byte(whole) == b'0') {
            return Err(self.syntax());
        }
        let mut tag = Tag::Integer;
        let mut may_overflow = whole_digits > 308;
        if byte(at) == b'.' {
            tag = Tag::Decimal;
            let fraction = at + 1;
            at = digits(fraction);
            if at == fraction {
                return Err(self.syntax());
            }
        }
        if byte(at) | 0x20 == b'e' {
            tag = Tag::Decimal;
            at += 1;
            if matches!(byte(at), b'+' | b'-') {
                at += 1;
            }
            let exponent = at;
            at = digits(exponent);
            if at == exponent {
                return Err(self.syntax());
            }
            may_overflow |= at - exponent > 2 || whole_digits > 200;
        }
        if may_overflow && number::overflows(bytes.get(start..at).unwrap_or(&[])) {
            self.tape.overflow = true;
        }
        self.token()?;
        self.push(tag, at - start, start)?;
        self.at = at;
        self.after_value();
        Ok(())
    }

    /// Reads a string whose opening quote is next; false if the budget ran out inside.
    #[inline]
    fn string(&mut self, bytes: &[u8], is_name: bool, stop: usize) -> Result<bool, Fault> {
        let start = self.at + 1;
        self.string_from(
            bytes,
            OpenString { start, at: start, is_name, scan: Scan::default() },
            stop,
        )
    }

    fn string_from(
        &mut self,
        bytes: &[u8],
        mut open: OpenString,
        stop: usize,
    ) -> Result<bool, Fault> {
        let pause = stop.saturating_add(STRING_SLICE);
        loop {
            let rest = bytes.get(open.at..).unwrap_or(&[]);
            open.at += plain_run(rest, pause.saturating_sub(open.at), &mut open.scan.non_ascii);
            match bytes.get(open.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    open.scan.escaped = true;
                    open.at = escape(bytes, open.at, &mut open.scan.lone)?;
                }
                Some(0x20..) => {
                    // The run stopped for the budget alone.
                    self.at = open.at;
                    self.string = Some(open);
                    return Ok(false);
                }
                _ => return Err(Fault::Syntax(open.at as u32)),
            }
        }
        let length = open.at - open.start;
        if open.scan.non_ascii {
            let raw = bytes.get(open.start..open.at).unwrap_or(&[]);
            if std::str::from_utf8(raw).is_err() {
                return Err(Fault::Utf8(open.start as u32));
            }
        }
        self.tape.lone_surrogate |= open.scan.lone;
        let tag = match (open.is_name, open.scan.escaped, open.scan.lone) {
            (false, false, _) => Tag::String,
            (false, true, false) => Tag::StringEscaped,
            (false, true, true) => Tag::StringLone,
            (true, false, _) => Tag::Key,
            (true, true, false) => Tag::KeyEscaped,
            (true, true, true) => Tag::KeyLone,
        };
        self.token()?;
        self.push(tag, length, open.start)?;
        self.at = open.at + 1;
        if open.is_name {
            self.expect = Expect::Colon;
        } else {
            self.after_value();
        }
        Ok(true)
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Length of the prefix without quote, backslash and control characters, eight bytes at a time;
/// at most about `most` bytes. Notes bytes beyond ASCII.
#[inline]
fn plain_run(bytes: &[u8], most: usize, non_ascii: &mut bool) -> usize {
    let mut at = 0;
    let mut high = 0;
    while let Some(chunk) = bytes.get(at..at + 8) {
        if at >= most {
            break;
        }
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        let word = u64::from_le_bytes(eight);
        let quote = word ^ (ONES * b'"' as u64);
        let slash = word ^ (ONES * b'\\' as u64);
        // High bit set where a byte is a quote, a backslash or below 0x20. A borrow can mark a byte
        // above a true hit wrongly, never below it, and only the lowest mark is used.
        let hits = (quote.wrapping_sub(ONES) & !quote
            | slash.wrapping_sub(ONES) & !slash
            | word.wrapping_sub(ONES * 0x20) & !word)
            & HIGHS;
        if hits != 0 {
            let length = (hits.trailing_zeros() / 8) as usize;
            // Bytes from the hit on belong to what follows.
            let before = if length == 0 { 0 } else { word << (64 - 8 * length) };
            *non_ascii |= (high | before) & HIGHS != 0;
            return at + length;
        }
        high |= word;
        at += 8;
    }
    while at < most {
        match bytes.get(at) {
            None | Some(b'"' | b'\\' | 0..0x20) => break,
            Some(&byte) => {
                high |= (byte as u64) << 56;
                at += 1;
            }
        }
    }
    *non_ascii |= high & HIGHS != 0;
    at
}

/// Checks the escape at `at` and gives the position after it. Notes a lone surrogate.
fn escape(bytes: &[u8], at: usize, lone: &mut bool) -> Result<usize, Fault> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => {
            let unit = hex4(bytes, at + 2)?;
            match unit {
                0xD800..0xDC00 => {
                    let pair = bytes.get(at + 6..at + 8) == Some(b"\\u");
                    if pair && (0xDC00..0xE000).contains(&hex4(bytes, at + 8)?) {
                        return Ok(at + 12);
                    }
                    *lone = true;
                }
                0xDC00..0xE000 => *lone = true,
                _ => {}
            }
            Ok(at + 6)
        }
        _ => Err(Fault::Syntax(at as u32)),
    }
}

fn hex4(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let fault = Fault::Syntax(at as u32);
    let digits = bytes.get(at..at + 4).ok_or(fault)?;
    digits
        .iter()
        .try_fold(0, |value, &digit| Some(value << 4 | (digit as char).to_digit(16)?))
        .ok_or(fault)
}

#[cfg(test)]
mod tests {
    use super::super::Value;
    use super::*;

    const ANY: Limits = Limits::depth(512);

    /// A tape as text that shows structure, to compare tapes with.
    fn shape(value: Value<'_>) -> String {
        if value.is_array() {
            let inner: Vec<_> = value.elements().map(shape).collect();
            assert_eq!(inner.len(), value.len() as usize);
            format!("[{}]", inner.join(","))
        } else if value.is_object() {
            let inner: Vec<_> = value
                .members()
                .map(|(key, value)| format!("{:?}:{}", key.to_str(), shape(value)))
                .collect();
            assert_eq!(inner.len(), value.len() as usize);
            format!("{{{}}}", inner.join(","))
        } else if let Some(text) = value.text() {
            format!("{:?}", text.to_str())
        } else {
            value.raw().to_owned()
        }
    }

    fn accepts(text: &str) -> String {
        let tape = read(text.as_bytes(), ANY).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        let whole = shape(tape.root(text.as_bytes()));
        for budget in [1, 2, 3, 7] {
            let mut reader = Reader::new(ANY);
            while reader.run(text.as_bytes(), budget).unwrap() == Progress::Pending {}
            let sliced = reader.finish();
            assert_eq!(shape(sliced.root(text.as_bytes())), whole, "budget {budget}");
        }
        whole
    }

    #[test]
    fn values_of_every_kind() {
        assert_eq!(
            accepts(r#" { "a" : [ 1 , -0.5e+3 , true , false , null , "x\n" , [ ] , { } ] } "#),
            r#"{"a":[1,-0.5e+3,true,false,null,"x\n",[],{}]}"#
        );
        assert_eq!(accepts("7"), "7");
        assert_eq!(accepts("\"\""), "\"\"");
        assert_eq!(accepts(r#"{"__proto__":1,"__proto__":2}"#), r#"{"__proto__":1,"__proto__":2}"#);
    }

    #[test]
    fn what_json_parse_refuses_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[",
            "]",
            "}",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "0x1",
            "NaN",
            "tru",
            "nul",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\t\"",
            "1 2",
            "[1}",
            "{\"a\":1]",
            "\u{feff}1",
            "'a'",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "-01",
            "--1",
            "\"a\nb\"",
            "{\"a\"::1}",
            "{,}",
            "[1,,2]",
            "\u{a0}1",
            "\"\\ud800\\u12\"",
        ] {
            assert!(read(text.as_bytes(), ANY).is_err(), "{text:?}");
        }
    }

    #[test]
    fn invalid_utf8_is_told_apart() {
        assert_eq!(read(b"[\"\xff\"]", ANY).err(), Some(Fault::Utf8(2)));
        assert_eq!(read(b"[\"abcdefghijk\xc3\"]", ANY).err(), Some(Fault::Utf8(2)));
        assert_eq!(read(b"\xff", ANY).err(), Some(Fault::Syntax(0)));
        assert!(read("[\"abcdefgé\"]".as_bytes(), ANY).is_ok());
    }

    #[test]
    fn surrogates_and_overflow_are_noted() {
        let tape = |text: &str| read(text.as_bytes(), ANY).unwrap();
        assert!(tape(r#"["\ud800"]"#).has_lone_surrogate());
        assert!(tape(r#"["\ud800\u0041"]"#).has_lone_surrogate());
        assert!(tape(r#"["\udc00"]"#).has_lone_surrogate());
        assert!(!tape(r#"["\ud83d\ude00"]"#).has_lone_surrogate());
        assert!(tape("[1e999]").has_number_overflow());
        assert!(!tape("[1e308, 1e-999, 0e999]").has_number_overflow());
    }

    #[test]
    fn depth_is_bounded_without_losing_syntax() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        let at_128 = read(nested(128).as_bytes(), Limits::depth(128)).unwrap();
        assert!(!at_128.is_too_deep());
        assert_eq!(at_128.depth(), 128);
        assert!(read(nested(129).as_bytes(), Limits::depth(128)).unwrap().is_too_deep());
        let text = format!("{{\"a\":{},\"jsonrpc\":\"2.0\"}}", nested(100_000));
        let tape = read(text.as_bytes(), Limits::depth(128)).unwrap();
        assert!(tape.is_too_deep());
        assert!(tape.root(text.as_bytes()).get("jsonrpc").is_some_and(|value| value.is_string()));
        assert!(read("[".repeat(100_000).as_bytes(), Limits::depth(128)).is_err());
        let mixed = "{\"a\":[".repeat(1_000) + "1" + &"]}".repeat(1_000);
        assert!(read(mixed.as_bytes(), Limits::depth(4)).unwrap().is_too_deep());
        let wrong = "{\"a\":[".repeat(1_000) + "1" + &"}]".repeat(1_000);
        assert!(read(wrong.as_bytes(), Limits::depth(4)).is_err());
    }

    #[test]
    fn tokens_are_bounded() {
        let limits = Limits { max_depth: 8, max_tokens: 4 };
        assert!(read(br#"{"a":[1]}"#, limits).is_ok());
        assert_eq!(read(br#"{"a":[1,2]}"#, limits).err(), Some(Fault::Tokens));
    }

    #[test]
    fn long_strings_pause() {
        let text = format!("\"{}é\"", "x".repeat(300_000));
        let mut reader = Reader::new(ANY);
        let mut runs = 0;
        while reader.run(text.as_bytes(), 1_000).unwrap() == Progress::Pending {
            runs += 1;
        }
        assert!(runs > 2, "{runs}");
        let tape = reader.finish();
        assert_eq!(tape.root(text.as_bytes()).text().unwrap().code_points(), 300_001);
    }

    #[test]
    fn every_string_length_ends_where_it_ends() {
        for length in 0..40 {
            for tail in ["\"", "\\n\"", "é\""] {
                let text = format!("[\"{}{tail},1]", "x".repeat(length));
                let tape = read(text.as_bytes(), ANY).unwrap();
                assert_eq!(tape.root(text.as_bytes()).len(), 2, "{text}");
            }
        }
    }

    #[test]
    fn ranges_are_the_text_itself() {
        let text = r#"{"a": [1, {"b": "c"}], "d": true}"#;
        let tape = read(text.as_bytes(), ANY).unwrap();
        let root = tape.root(text.as_bytes());
        assert_eq!(root.raw(), text);
        assert_eq!(root.get("a").unwrap().raw(), r#"[1, {"b": "c"}]"#);
        assert_eq!(root.get("a").unwrap().at(1).unwrap().get("b").unwrap().raw(), "\"c\"");
        assert_eq!(root.get("d").unwrap().raw(), "true");
    }
}
