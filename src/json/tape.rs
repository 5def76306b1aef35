//! The tape: one JSON text as a flat list of 64-bit words, and the views that read it.
//!
//! Owns the word layout. Invariants: words are in document order; every opening word has exactly
//! one closing word after it and knows the distance; inside an object, key words and values
//! alternate; every offset and length lies inside the bytes the tape was read from and delimits
//! valid UTF-8. Only [`super::reader`] makes tapes, so a tape in hand is a text that is well formed.
//!
//! Layout of a word, from the high end: 4 bits tag, 28 bits payload, 32 bits byte offset.
//!
//! | tag | payload | offset of |
//! |---|---|---|
//! | scalar literal | 0 | first byte |
//! | number | length in bytes | first byte |
//! | string, key | length in bytes without quotes | first byte after the quote |
//! | opening | words from here to the closing word | the bracket |
//! | closing | number of elements or members | the bracket |

use std::borrow::Cow;
use std::ops::Range;

use super::text;

/// Largest payload of a word: bounds one string, one number and the words of one container.
pub(crate) const MAX_PAYLOAD: u32 = (1 << 28) - 1;

/// What a word stands for. `Escaped`: has escapes; `Lone`: has an escape that is a lone surrogate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    Null = 0,
    False = 1,
    True = 2,
    /// A number written without fraction and exponent.
    Integer = 3,
    /// A number written with a fraction or an exponent.
    Decimal = 4,
    String = 5,
    StringEscaped = 6,
    StringLone = 7,
    Key = 8,
    KeyEscaped = 9,
    KeyLone = 10,
    ObjectOpen = 11,
    ObjectClose = 12,
    ArrayOpen = 13,
    ArrayClose = 14,
}

const TAGS: [Tag; 16] = [
    Tag::Null,
    Tag::False,
    Tag::True,
    Tag::Integer,
    Tag::Decimal,
    Tag::String,
    Tag::StringEscaped,
    Tag::StringLone,
    Tag::Key,
    Tag::KeyEscaped,
    Tag::KeyLone,
    Tag::ObjectOpen,
    Tag::ObjectClose,
    Tag::ArrayOpen,
    Tag::ArrayClose,
    Tag::Null,
];

impl Tag {
    /// The tag of its number below 16.
    #[inline(always)]
    #[expect(clippy::indexing_slicing, reason = "four bits index sixteen entries")]
    pub(crate) const fn of_bits(bits: usize) -> Tag {
        TAGS[bits & 15]
    }
}

/// One word of a tape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word(u64);

impl Word {
    #[inline(always)]
    pub(crate) const fn new(tag: Tag, payload: u32, offset: u32) -> Self {
        Word((tag as u64) << 60 | (payload as u64) << 32 | offset as u64)
    }

    #[inline(always)]
    pub(crate) const fn tag(self) -> Tag {
        Tag::of_bits(self.tag_bits())
    }

    /// The tag as a number below 16.
    #[inline(always)]
    pub(crate) const fn tag_bits(self) -> usize {
        (self.0 >> 60) as usize
    }

    #[inline(always)]
    pub(crate) const fn is_open(self) -> bool {
        let bits = self.tag_bits();
        bits == Tag::ObjectOpen as usize || bits == Tag::ArrayOpen as usize
    }

    /// How many words the value takes that this one begins.
    #[inline(always)]
    pub(crate) const fn span(self) -> u32 {
        if self.is_open() { self.payload() + 1 } else { 1 }
    }

    #[inline(always)]
    pub(crate) const fn payload(self) -> u32 {
        (self.0 >> 32) as u32 & MAX_PAYLOAD
    }

    /// Tag and payload as they stand in the word.
    #[inline(always)]
    pub(crate) const fn high(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline(always)]
    pub(crate) const fn offset(self) -> u32 {
        self.0 as u32
    }
}

/// The type of a JSON value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// Any number, kept as its text.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// The flat form of one JSON text. It holds no bytes: every reading takes those it was made from.
#[derive(Clone, Default)]
pub struct Tape {
    pub(crate) words: Vec<Word>,
    pub(crate) depth: u32,
    pub(crate) too_deep: bool,
    pub(crate) overflow: bool,
    pub(crate) long_integer: bool,
    pub(crate) lone_surrogate: bool,
}

impl Tape {
    /// The root value, over the bytes this tape was read from.
    ///
    /// Bytes of another text give meaningless answers (never a panic or undefined behaviour).
    pub fn root<'a>(&'a self, bytes: &'a [u8]) -> Value<'a> {
        Value { bytes, words: &self.words, at: 0 }
    }

    /// The value at a word position, as [`Value::position`] gave it.
    pub fn value<'a>(&'a self, bytes: &'a [u8], position: u32) -> Value<'a> {
        Value { bytes, words: &self.words, at: position }
    }

    /// Number of words; a text takes about 8 bytes of memory for each.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// True before anything was read.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Words and bytes of the value at a position.
    pub(crate) fn extent(&self, position: u32) -> (u32, u32) {
        let Some(first) = self.words.get(position as usize) else { return (0, 0) };
        let words = first.span();
        let last = self.words.get((position + words) as usize - 1).unwrap_or(first);
        let length = if words > 1 { 1 } else { last.payload() };
        (words, last.offset().saturating_add(length).saturating_sub(first.offset()))
    }

    /// Deepest nesting of containers; a scalar root has 0.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// True if containers nested deeper than the reader's bound were met. They were checked for
    /// syntax but not recorded: the tape then shows them as empty.
    pub fn is_too_deep(&self) -> bool {
        self.too_deep
    }

    /// True if some number lies beyond the range of a double, so that `JSON.parse` would read
    /// infinity.
    pub fn has_number_overflow(&self) -> bool {
        self.overflow
    }

    /// True if some number takes more than 15 bytes. Without one, a double holds every integer.
    pub(crate) fn has_long_integer(&self) -> bool {
        self.long_integer
    }

    /// True if some string or name has an escape that is half of a surrogate pair: legal for
    /// `JSON.parse`, impossible in UTF-8.
    pub fn has_lone_surrogate(&self) -> bool {
        self.lone_surrogate
    }
}

/// One value of a tape together with its bytes. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    bytes: &'a [u8],
    words: &'a [Word],
    at: u32,
}

impl<'a> Value<'a> {
    #[inline]
    fn word(self) -> Word {
        self.words.get(self.at as usize).copied().unwrap_or(Word::new(Tag::Null, 0, 0))
    }

    #[inline]
    pub(crate) fn tag(self) -> Tag {
        self.word().tag()
    }

    #[inline]
    fn slice(self, start: usize, length: usize) -> &'a [u8] {
        self.bytes.get(start..start.saturating_add(length)).unwrap_or(&[])
    }

    /// The position of this value's first word, for [`Tape::value`].
    #[inline]
    pub fn position(self) -> u32 {
        self.at
    }

    /// The position of the word after this value.
    #[inline]
    pub(crate) fn next_position(self) -> u32 {
        let word = self.word();
        match word.tag() {
            Tag::ObjectOpen | Tag::ArrayOpen => self.at + word.payload() + 1,
            _ => self.at + 1,
        }
    }

    /// The value at another position of the same text.
    #[inline]
    pub(crate) fn sibling(self, position: u32) -> Self {
        Value { at: position, ..self }
    }

    /// The type of the value.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.tag() {
            Tag::Null => Kind::Null,
            Tag::False | Tag::True => Kind::Boolean,
            Tag::Integer | Tag::Decimal => Kind::Number,
            Tag::ObjectOpen | Tag::ObjectClose => Kind::Object,
            Tag::ArrayOpen | Tag::ArrayClose => Kind::Array,
            _ => Kind::String,
        }
    }

    /// True for `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// True for an object.
    pub fn is_object(self) -> bool {
        self.kind() == Kind::Object
    }

    /// True for an array.
    pub fn is_array(self) -> bool {
        self.kind() == Kind::Array
    }

    /// True for a string.
    pub fn is_string(self) -> bool {
        self.kind() == Kind::String
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.tag() {
            Tag::True => Some(true),
            Tag::False => Some(false),
            _ => None,
        }
    }

    /// The text of a number exactly as written, if it is one. Always ASCII.
    #[inline]
    pub fn number(self) -> Option<&'a str> {
        let word = self.word();
        match word.tag() {
            Tag::Integer | Tag::Decimal => {
                Some(text::utf8(self.slice(word.offset() as usize, word.payload() as usize)))
            }
            _ => None,
        }
    }

    /// The string, escapes resolved; `None` if it is no string or has a lone surrogate.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        match self.text()? {
            text::Text { lone: true, .. } => None,
            text => Some(text.to_str()),
        }
    }

    /// The string as text, if it is a string.
    #[inline]
    pub fn text(self) -> Option<text::Text<'a>> {
        let word = self.word();
        let (escaped, lone) = match word.tag() {
            Tag::String | Tag::Key => (false, false),
            Tag::StringEscaped | Tag::KeyEscaped => (true, false),
            Tag::StringLone | Tag::KeyLone => (true, true),
            _ => return None,
        };
        let raw = self.slice(word.offset() as usize, word.payload() as usize);
        Some(text::Text { raw, escaped, lone })
    }

    /// Number of elements or members; 0 for scalars. Repeated members count each time.
    #[inline]
    pub fn len(self) -> u32 {
        let word = self.word();
        match word.tag() {
            Tag::ObjectOpen | Tag::ArrayOpen => {
                let close = self.at as usize + word.payload() as usize;
                self.words.get(close).map_or(0, |word| word.payload())
            }
            _ => 0,
        }
    }

    /// True for an empty container and for every scalar.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of the value as they stand in the text: quotes and brackets included.
    pub fn range(self) -> Range<usize> {
        let word = self.word();
        let start = word.offset() as usize;
        match word.tag() {
            Tag::Null | Tag::True => start..start + 4,
            Tag::False => start..start + 5,
            Tag::Integer | Tag::Decimal => start..start + word.payload() as usize,
            Tag::ObjectOpen | Tag::ArrayOpen => {
                let close = self.at as usize + word.payload() as usize;
                let end = self.words.get(close).map_or(start, |word| word.offset() as usize);
                start..end + 1
            }
            Tag::ObjectClose | Tag::ArrayClose => start..start + 1,
            _ => start.saturating_sub(1)..start + word.payload() as usize + 1,
        }
    }

    /// The text of the value as it stands, white space inside included.
    pub fn raw(self) -> &'a str {
        let range = self.range();
        text::utf8(self.bytes.get(range).unwrap_or(&[]))
    }

    /// The integers in this value, written without fraction and exponent, that take more bytes
    /// than this, sign included.
    pub fn integers_longer_than(self, bytes: u32) -> impl Iterator<Item = Value<'a>> {
        (self.at..self.next_position()).map(move |at| Value { at, ..self }).filter(move |value| {
            let word = value.word();
            word.tag() == Tag::Integer && word.payload() > bytes
        })
    }

    /// The elements of an array, in order; nothing for anything else.
    pub fn elements(self) -> Elements<'a> {
        let word = self.word();
        let end = match word.tag() {
            Tag::ArrayOpen => self.at + word.payload(),
            _ => self.at,
        };
        Elements { next: Value { at: self.at + 1, ..self }, end }
    }

    /// The members of an object, in order, repeated ones included; nothing for anything else.
    pub fn members(self) -> Members<'a> {
        let word = self.word();
        let end = match word.tag() {
            Tag::ObjectOpen => self.at + word.payload(),
            _ => self.at,
        };
        Members { next: Value { at: self.at + 1, ..self }, end }
    }

    /// The member of that name; the last one if it is repeated, as `JSON.parse` reads it.
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        let mut found = None;
        for (key, value) in self.members() {
            if key.eq_str(name) {
                found = Some(value);
            }
        }
        found
    }

    /// The element at an index, if it is an array that has it. Linear in the index.
    pub fn at(self, index: usize) -> Option<Value<'a>> {
        self.elements().nth(index)
    }
}

/// Iterator over the elements of an array.
#[derive(Clone)]
pub struct Elements<'a> {
    next: Value<'a>,
    end: u32,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        if self.next.at >= self.end {
            return None;
        }
        let value = self.next;
        self.next.at = value.next_position();
        Some(value)
    }
}

/// Iterator over the members of an object: name and value.
#[derive(Clone)]
pub struct Members<'a> {
    next: Value<'a>,
    end: u32,
}

impl<'a> Iterator for Members<'a> {
    type Item = (text::Text<'a>, Value<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.next.at >= self.end {
            return None;
        }
        let key = self.next.text()?;
        let value = Value { at: self.next.at + 1, ..self.next };
        self.next.at = value.next_position();
        Some((key, value))
    }
}
