//! Reads bytes into a tape: RFC 8259, UTF-8 checked, in one pass that can pause anywhere. The
//! common forms of tokens are the business of [`super::sprint`].
//!
//! Invariant: the state is plain data (a position, what may come next, the open containers), so a
//! reader stopped by its byte budget and resumed gives the tape of an unbroken run. Depth costs
//! an entry of a stack of its own, never a call frame.

use super::deep::Deep;
use super::number;
use super::scan::{escape, plain_run, skip_digits, skip_space, starts};
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

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
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
    /// A comma, the end of the container, or of the text if none is open.
    CommaOrEnd,
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
    /// Some bytes are not UTF-8.
    broken: bool,
}

/// A container around the current one: its word, its children so far, and what it is.
#[derive(Clone, Copy)]
pub(super) struct Outer {
    pub(super) word: u32,
    pub(super) count: u32,
    pub(super) is_object: bool,
}

/// A resumable reader of one text.
pub struct Reader {
    pub(super) limits: Limits,
    pub(super) at: usize,
    pub(super) expect: Expect,
    string: Option<OpenString>,
    /// The containers around the current one; the outermost entry is the text itself.
    pub(super) outer: Vec<Outer>,
    /// The current container.
    pub(super) inner: Outer,
    deep: Deep,
    pub(super) tokens: u32,
    pub(super) tape: Tape,
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

/// Digits that a double always holds.
pub(super) const EXACT_DIGITS: usize = 15;

/// Bytes of a text from which the length of its tape is guessed.
const SAMPLE: usize = 1 << 16;

impl Reader {
    /// A reader at the start of a text.
    pub fn new(limits: Limits) -> Self {
        Reader {
            limits,
            at: 0,
            expect: Expect::Value,
            string: None,
            outer: Vec::new(),
            inner: Outer { word: 0, count: 0, is_object: false },
            deep: Deep::default(),
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
            // Structured text takes six to ten bytes a word.
            self.tape.words.reserve(bytes.len().min(SAMPLE) / 6 + 4);
        }
        let stop = self.at.saturating_add(budget);
        if let Some(open) = self.string.take()
            && !self.string(bytes, open, stop)?
        {
            return Ok(Progress::Pending);
        }
        loop {
            if self.deep.count() == 0 {
                let sampling = self.at < SAMPLE && SAMPLE < bytes.len();
                self.sprint(bytes, if sampling { stop.min(SAMPLE) } else { stop });
                if sampling && self.at >= SAMPLE {
                    self.make_room(bytes.len());
                }
            }
            if let Some(progress) = self.step(bytes, stop)? {
                return Ok(progress);
            }
        }
    }

    /// Makes room for the whole tape of a long text by what its beginning took: growing later would
    /// copy it all at once.
    #[cold]
    fn make_room(&mut self, length: usize) {
        let so_far = self.tape.words.len();
        let whole = so_far as u64 * length as u64 / self.at.max(1) as u64;
        let whole = usize::try_from(whole + whole / 16).unwrap_or(usize::MAX);
        self.tape.words.reserve_exact(whole.min(MAX_PAYLOAD as usize).saturating_sub(so_far));
    }

    /// Reads one token, whatever its form; says where that ended the run.
    fn step(&mut self, bytes: &[u8], stop: usize) -> Result<Option<Progress>, Fault> {
        self.at = skip_space(bytes, self.at);
        let byte = bytes.get(self.at).copied();
        match self.expect {
            Expect::Value | Expect::ElementOrEnd => {
                if !self.value(bytes, stop)? {
                    return Ok(Some(Progress::Pending));
                }
            }
            Expect::NameOrEnd | Expect::Name => match byte {
                Some(b'"') => {
                    let start = self.at + 1;
                    let open =
                        OpenString { start, at: start, is_name: true, scan: Scan::default() };
                    if !self.string(bytes, open, stop)? {
                        return Ok(Some(Progress::Pending));
                    }
                }
                Some(b'}') if self.expect == Expect::NameOrEnd => self.close(Tag::ObjectClose)?,
                _ => return Err(self.syntax()),
            },
            Expect::Colon => {
                if byte != Some(b':') {
                    return Err(self.syntax());
                }
                self.at += 1;
                self.expect = Expect::Value;
            }
            Expect::CommaOrEnd => match byte {
                Some(_) if self.at >= stop => return Ok(Some(Progress::Pending)),
                Some(b',') if !self.outer.is_empty() => {
                    self.at += 1;
                    self.expect = if self.in_object() { Expect::Name } else { Expect::Value };
                }
                Some(b'}') if self.in_object() => self.close(Tag::ObjectClose)?,
                Some(b']') if !self.in_object() && !self.outer.is_empty() => {
                    self.close(Tag::ArrayClose)?;
                }
                None if self.outer.is_empty() => return Ok(Some(Progress::Done)),
                _ => return Err(self.syntax()),
            },
        }
        Ok(None)
    }

    /// How many bytes were read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The tape, once [`Reader::run`] said `Done`.
    pub fn finish(self) -> Tape {
        self.tape
    }

    /// The same where the reader stays; it must not run again.
    pub(crate) fn take_tape(&mut self) -> Tape {
        std::mem::take(&mut self.tape)
    }

    #[cold]
    fn syntax(&self) -> Fault {
        Fault::Syntax(self.at as u32)
    }

    #[inline]
    fn in_object(&self) -> bool {
        if self.deep.count() > 0 { self.deep.in_object() } else { self.inner.is_object }
    }

    /// Reads a value or the bracket that opens one; false if the budget ran out inside a string.
    #[inline]
    fn value(&mut self, bytes: &[u8], stop: usize) -> Result<bool, Fault> {
        self.at = skip_space(bytes, self.at);
        let Some(&byte) = bytes.get(self.at) else { return Err(self.syntax()) };
        match byte {
            b'"' => {
                let start = self.at + 1;
                let open = OpenString { start, at: start, is_name: false, scan: Scan::default() };
                return self.string(bytes, open, stop);
            }
            b'0'..=b'9' | b'-' => self.number(bytes)?,
            b'{' => self.open(true)?,
            b'[' => self.open(false)?,
            b't' => self.literal(bytes, b"true", Tag::True)?,
            b'f' => self.literal(bytes, b"false", Tag::False)?,
            b'n' => self.literal(bytes, b"null", Tag::Null)?,
            b']' if self.expect == Expect::ElementOrEnd => self.close(Tag::ArrayClose)?,
            _ => return Err(self.syntax()),
        }
        Ok(true)
    }

    /// Counts a value or name and appends its word, unless it stands below the recorded depth.
    #[inline]
    fn push(&mut self, tag: Tag, payload: usize, offset: usize) -> Result<(), Fault> {
        self.tokens += 1;
        if self.tokens > self.limits.max_tokens {
            return Err(Fault::Tokens);
        }
        if self.deep.count() == 0 {
            if payload > MAX_PAYLOAD as usize {
                return Err(Fault::Size);
            }
            self.tape.words.push(Word::new(tag, payload as u32, offset as u32));
        }
        Ok(())
    }

    /// After a value: counts it in its container.
    #[inline]
    fn after_value(&mut self) {
        self.inner.count += (self.deep.count() == 0) as u32;
        self.expect = Expect::CommaOrEnd;
    }

    #[inline]
    fn open(&mut self, is_object: bool) -> Result<(), Fault> {
        if self.deep.count() > 0 || self.outer.len() >= self.limits.max_depth as usize {
            self.open_deep(is_object)?;
        } else {
            let word = self.tape.words.len();
            if word >= MAX_PAYLOAD as usize {
                return Err(Fault::Size);
            }
            self.push(if is_object { Tag::ObjectOpen } else { Tag::ArrayOpen }, 0, self.at)?;
            self.outer.push(self.inner);
            self.inner = Outer { word: word as u32, count: 0, is_object };
            self.tape.depth = self.tape.depth.max(self.outer.len() as u32);
        }
        self.at += 1;
        self.expect = if is_object { Expect::NameOrEnd } else { Expect::ElementOrEnd };
        Ok(())
    }

    #[cold]
    fn open_deep(&mut self, is_object: bool) -> Result<(), Fault> {
        if self.deep.count() == 0 {
            // The outermost unrecorded container stands as an empty one.
            let (open, close) = if is_object {
                (Tag::ObjectOpen, Tag::ObjectClose)
            } else {
                (Tag::ArrayOpen, Tag::ArrayClose)
            };
            self.push(open, 1, self.at)?;
            self.tape.words.push(Word::new(close, 0, self.at as u32));
            self.tape.too_deep = true;
            // Holds the comma rule for a text whose very root is too deep.
            self.outer.push(self.inner);
        } else {
            self.push(Tag::Null, 0, 0)?;
        }
        self.deep.push(is_object);
        Ok(())
    }

    #[inline]
    fn close(&mut self, tag: Tag) -> Result<(), Fault> {
        let offset = self.at;
        self.at += 1;
        if self.deep.count() > 0 {
            self.close_deep(tag, offset);
            return Ok(());
        }
        let distance = self.tape.words.len() - self.inner.word as usize;
        if distance > MAX_PAYLOAD as usize {
            return Err(Fault::Size);
        }
        if let Some(word) = self.tape.words.get_mut(self.inner.word as usize) {
            *word = Word::new(word.tag(), distance as u32, word.offset());
        }
        self.tape.words.push(Word::new(tag, self.inner.count, offset as u32));
        self.inner = self.outer.pop().ok_or(Fault::Syntax(offset as u32))?;
        self.after_value();
        Ok(())
    }

    #[cold]
    fn close_deep(&mut self, tag: Tag, offset: usize) {
        self.deep.pop();
        if self.deep.count() == 0 {
            // Its closing word stands where the bracket really is.
            if let Some(word) = self.tape.words.last_mut() {
                *word = Word::new(tag, 0, offset as u32);
            }
            self.outer.pop();
        }
        self.after_value();
    }

    #[inline]
    fn literal(&mut self, bytes: &[u8], literal: &[u8], tag: Tag) -> Result<(), Fault> {
        if !starts(bytes, self.at, literal) {
            return Err(self.syntax());
        }
        self.push(tag, 0, self.at)?;
        self.at += literal.len();
        self.after_value();
        Ok(())
    }

    #[inline]
    fn number(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let start = self.at;
        let whole = start + (bytes.get(start) == Some(&b'-')) as usize;
        let mut at = skip_digits(bytes, whole);
        let whole_digits = at - whole;
        if whole_digits == 0 || (whole_digits > 1 && bytes.get(whole) == Some(&b'0')) {
            return Err(self.syntax());
        }
        let mut tag = Tag::Integer;
        let mut may_overflow = whole_digits > 308;
        if bytes.get(at) == Some(&b'.') {
            tag = Tag::Decimal;
            let fraction = at + 1;
            at = skip_digits(bytes, fraction);
            if at == fraction {
                return Err(self.syntax());
            }
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            tag = Tag::Decimal;
            at += 1;
            if let Some(b'+' | b'-') = bytes.get(at) {
                at += 1;
            }
            let exponent = at;
            at = skip_digits(bytes, exponent);
            if at == exponent {
                return Err(self.syntax());
            }
            may_overflow |= at - exponent > 2 || whole_digits > 200;
        }
        if may_overflow && number::overflows(bytes.get(start..at).unwrap_or(&[])) {
            self.tape.overflow = true;
        }
        self.tape.long_integer |= at - start > EXACT_DIGITS;
        self.push(tag, at - start, start)?;
        self.at = at;
        self.after_value();
        Ok(())
    }

    /// Reads a string on from where `open` stands; false if the budget ran out inside it.
    #[inline]
    fn string(&mut self, bytes: &[u8], mut open: OpenString, stop: usize) -> Result<bool, Fault> {
        let pause = stop.saturating_add(STRING_SLICE);
        loop {
            open.at = plain_run(bytes, open.at, pause, &mut open.scan.broken);
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
        if open.scan.broken {
            return Err(Fault::Utf8(open.start as u32));
        }
        self.push(string_tag(open.is_name, open.scan), open.at - open.start, open.start)?;
        self.tape.lone_surrogate |= open.scan.lone;
        self.at = open.at + 1;
        if open.is_name {
            self.expect = Expect::Colon;
        } else {
            self.after_value();
        }
        Ok(true)
    }
}

fn string_tag(is_name: bool, scan: Scan) -> Tag {
    match (is_name, scan.escaped, scan.lone) {
        (false, false, _) => Tag::String,
        (false, true, false) => Tag::StringEscaped,
        (false, true, true) => Tag::StringLone,
        (true, false, _) => Tag::Key,
        (true, true, false) => Tag::KeyEscaped,
        (true, true, true) => Tag::KeyLone,
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

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
