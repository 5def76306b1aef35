//! Newline framing: bytes in any pieces to lines (rows R41 and R42).
//!
//! Invariant: at most one partial line is held, of at most the bound and one carriage return;
//! every byte is looked at once and copied once (twice if its line came in pieces).

use std::collections::VecDeque;
use std::mem::MaybeUninit;

use super::Profile;

/// How much of the beginning of an over-long line is kept.
pub const HEAD_BYTES: usize = 4096;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// What framing yields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// A line without terminator and byte-order mark; never blank.
    Line(Vec<u8>),
    /// A byte-order mark was removed from the start of the stream.
    Bom,
    /// A line over the bound was met; its beginning. Only in `contain`.
    TooLong(Vec<u8>),
}

/// A line over the bound in `strict`, where it ends the reading for good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameTooLong;

/// Splits a byte stream into lines.
pub struct LineReader {
    max: usize,
    profile: Profile,
    partial: Vec<u8>,
    frames: VecDeque<Frame>,
    /// True until the first line of the stream is complete.
    at_start: bool,
    /// True while the rest of an over-long line is dropped.
    skipping: bool,
    broken: bool,
    skipped: u64,
}

impl LineReader {
    /// A reader that bounds lines to `max` bytes, terminator not counted.
    pub fn new(max: usize, profile: Profile) -> Self {
        LineReader {
            max,
            profile,
            partial: Vec::new(),
            frames: VecDeque::new(),
            at_start: true,
            skipping: false,
            broken: false,
            skipped: 0,
        }
    }

    /// Takes bytes. Lines they complete wait for [`LineReader::next_frame`].
    ///
    /// # Errors
    /// In `strict`, at the first line over the bound and from then on. Lines before it are there.
    pub fn push(&mut self, mut chunk: &[u8]) -> Result<(), FrameTooLong> {
        if self.broken {
            return Err(FrameTooLong);
        }
        while let Some(end) = find_line_feed(chunk) {
            let (piece, rest) = (chunk.get(..end), chunk.get(end + 1..));
            self.line_end(piece.unwrap_or_default())?;
            chunk = rest.unwrap_or_default();
        }
        if chunk.is_empty() || self.skipping {
            return Ok(());
        }
        let length = self.partial.len() + chunk.len();
        // One carriage return past the bound may turn out to be part of the terminator.
        let tolerated = length == self.max + 1 && chunk.last() == Some(&b'\r');
        if length > self.max && !tolerated {
            self.too_long(chunk)?;
            self.skipping = true;
            return Ok(());
        }
        self.partial.extend_from_slice(chunk);
        Ok(())
    }

    /// The same for bytes of the caller's: if they are one line with its line feed, as most chunks
    /// are, they are not copied.
    ///
    /// # Errors
    /// As [`LineReader::push`].
    pub fn push_owned(&mut self, mut chunk: Vec<u8>) -> Result<(), FrameTooLong> {
        let is_line = self.partial.is_empty()
            && !(self.broken || self.skipping)
            && find_line_feed(&chunk).is_some_and(|end| end + 1 == chunk.len());
        if !is_line {
            return self.push(&chunk);
        }
        chunk.pop();
        self.partial = chunk;
        self.line_end(&[])
    }

    /// Room for bytes that hold no line feed, at the end of the line under way; nothing if they are
    /// to be pushed. So who owns the bytes copies them once, straight to their place.
    pub fn room(&mut self, length: usize) -> Option<&mut [MaybeUninit<u8>]> {
        if self.broken || self.skipping || self.partial.len().saturating_add(length) > self.max {
            return None;
        }
        self.partial.reserve(length);
        self.partial.spare_capacity_mut().get_mut(..length)
    }

    /// Takes so many bytes of the room as part of the line.
    ///
    /// # Safety
    /// The last call was to [`LineReader::room`], gave that much, and all of it was written.
    #[expect(unsafe_code, reason = "a second copy would double what a long line costs")]
    pub unsafe fn filled(&mut self, length: usize) {
        // SAFETY: the capacity was reserved and the bytes were written, as the caller promises.
        unsafe { self.partial.set_len(self.partial.len() + length) };
    }

    /// The stream ended: an unterminated last line counts.
    pub fn end(&mut self) {
        if !self.broken && !self.skipping && !self.partial.is_empty() {
            // Its bound was checked when its bytes came.
            let _ = self.line_end(&[]);
        }
        self.broken = true;
    }

    /// The next frame.
    pub fn next_frame(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }

    /// How many over-long lines were skipped.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// A line ends after `piece`.
    fn line_end(&mut self, piece: &[u8]) -> Result<(), FrameTooLong> {
        if self.skipping {
            self.skipping = false;
            return Ok(());
        }
        let length = self.partial.len() + piece.len();
        let last = piece.last().or(self.partial.last());
        let content = length - (last == Some(&b'\r')) as usize;
        if content > self.max {
            return self.too_long(piece);
        }
        let mut line = std::mem::take(&mut self.partial);
        line.extend_from_slice(piece);
        line.truncate(content);
        let first = std::mem::take(&mut self.at_start);
        if line.starts_with(BOM) && (first || self.profile == Profile::Strict) {
            line.drain(..BOM.len());
            if self.profile == Profile::Contain {
                self.frames.push_back(Frame::Bom);
            }
        }
        if !trim(&line).is_empty() {
            self.frames.push_back(Frame::Line(line));
        }
        Ok(())
    }

    fn too_long(&mut self, piece: &[u8]) -> Result<(), FrameTooLong> {
        self.at_start = false;
        let mut head = std::mem::take(&mut self.partial);
        if self.profile == Profile::Strict {
            self.broken = true;
            return Err(FrameTooLong);
        }
        // So much was there in any case when the bound was met, however the bytes came.
        let kept = HEAD_BYTES.min(self.max + 1);
        head.truncate(kept);
        head.extend_from_slice(piece.get(..kept - head.len()).unwrap_or(piece));
        head.shrink_to_fit();
        self.skipped += 1;
        self.frames.push_back(Frame::TooLong(head));
        Ok(())
    }
}

/// Position of the first line feed, sixteen bytes at a time.
fn find_line_feed(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let block = u128::from_le_bytes(*block);
        if has_line_feed(block as u64) | has_line_feed((block >> 64) as u64) {
            break;
        }
        at += 16;
    }
    let rest = bytes.get(at..)?;
    rest.iter().position(|&byte| byte == b'\n').map(|position| at + position)
}

/// True if one of eight bytes is a line feed: subtracting one borrows from zero bytes alone.
#[inline]
fn has_line_feed(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zero_where_found = word ^ (ONES * b'\n' as u64);
    zero_where_found.wrapping_sub(ONES) & !zero_where_found & (ONES << 7) != 0
}

/// Removes what JavaScript's `trim` removes, at both ends. Bytes that are not UTF-8 stay.
pub fn trim(mut bytes: &[u8]) -> &[u8] {
    while let Some(length) = leading_space(bytes) {
        bytes = bytes.get(length..).unwrap_or_default();
    }
    while let Some(length) = trailing_space(bytes) {
        bytes = bytes.get(..bytes.len() - length).unwrap_or_default();
    }
    bytes
}

fn leading_space(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\t'..=b'\r' | b' ', ..] => Some(1),
        [first, second, rest @ ..] => space_length(*first, *second, rest.first().copied()),
        _ => None,
    }
}

fn trailing_space(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [.., b'\t'..=b'\r' | b' '] => Some(1),
        [.., first, second] if space_length(*first, *second, None) == Some(2) => Some(2),
        [.., first, second, third] => {
            space_length(*first, *second, Some(*third)).filter(|&length| length == 3)
        }
        _ => None,
    }
}

/// Length of a white-space character beyond ASCII that begins with these bytes: the class Zs, the
/// byte-order mark, U+2028 and U+2029; not U+0085.
fn space_length(first: u8, second: u8, third: Option<u8>) -> Option<usize> {
    match (first, second, third) {
        (0xC2, 0xA0, _) => Some(2),
        (0xE1, 0x9A, Some(0x80))
        | (0xE2, 0x80, Some(0x80..=0x8A | 0xA8 | 0xA9 | 0xAF))
        | (0xE2, 0x81, Some(0x9F))
        | (0xE3, 0x80, Some(0x80))
        | (0xEF, 0xBB, Some(0xBF)) => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn lines(
        profile: Profile,
        max: usize,
        chunks: &[&[u8]],
        eof: bool,
    ) -> (Vec<String>, Result<(), FrameTooLong>) {
        let run = |pieces: Vec<&[u8]>| {
            let mut reader = LineReader::new(max, profile);
            let outcome = pieces.into_iter().try_for_each(|chunk| reader.push(chunk));
            if eof {
                reader.end();
            }
            let mut lines = Vec::new();
            while let Some(frame) = reader.next_frame() {
                lines.push(match frame {
                    Frame::Line(line) => String::from_utf8(line).unwrap(),
                    Frame::Bom => "<bom>".to_owned(),
                    Frame::TooLong(head) => format!("<{}>", String::from_utf8(head).unwrap()),
                });
            }
            (lines, outcome)
        };
        let whole = run(chunks.to_vec());
        let joined = chunks.concat();
        let bytewise = run(joined.chunks(1).collect());
        assert_eq!(
            bytewise.0.iter().map(|line| !line.starts_with('<')).collect::<Vec<_>>(),
            whole.0.iter().map(|line| !line.starts_with('<')).collect::<Vec<_>>()
        );
        assert_eq!(bytewise.1, whole.1);
        whole
    }

    #[test]
    fn lines_are_split_at_line_feeds() {
        let strict = |chunks: &[&[u8]]| lines(Profile::Strict, 64, chunks, false).0;
        assert_eq!(strict(&[b"a\nb\n"]), ["a", "b"]);
        assert_eq!(strict(&[b"{\"a\"", b":1", b"}\n"]), ["{\"a\":1}"]);
        assert_eq!(strict(&[b"x\r", b"\n"]), ["x"]);
        assert_eq!(strict(&[b"a\rb\r\r\n"]), ["a\rb\r"]);
        assert_eq!(strict(&[b"\n  \t\n\r\nx\n", "\u{a0}\u{3000}\n".as_bytes()]), ["x"]);
        assert_eq!(strict(&[b"open"]), [""; 0]);
        assert_eq!(lines(Profile::Strict, 64, &[b"open"], true).0, ["open"]);
        let long = "y".repeat(100);
        let text = format!("{long}\n{long}z\n");
        assert_eq!(lines(Profile::Strict, 200, &[text.as_bytes()], false).0[1].len(), 101);
    }

    #[test]
    fn the_bound_counts_content_alone() {
        let strict = |chunks: &[&[u8]]| lines(Profile::Strict, 5, chunks, false);
        assert_eq!(strict(&["é€\n".as_bytes()]), (vec!["é€".to_owned()], Ok(())));
        assert_eq!(strict(&["é€x\n".as_bytes()]), (vec![], Err(FrameTooLong)));
        assert_eq!(strict(&[b"123456"]), (vec![], Err(FrameTooLong)));
        assert_eq!(strict(&[b"12345\r\n"]), (vec!["12345".to_owned()], Ok(())));
        assert_eq!(strict(&[b"12345\r", b"x"]), (vec![], Err(FrameTooLong)));
        assert_eq!(strict(&[b"ok\n123456\nlost\n"]), (vec!["ok".to_owned()], Err(FrameTooLong)));
    }

    #[test]
    fn contain_skips_to_the_next_line() {
        let mut reader = LineReader::new(5, Profile::Contain);
        reader.push(b"123").unwrap();
        reader.push(b"4567").unwrap();
        assert_eq!(reader.next_frame(), Some(Frame::TooLong(b"123456".to_vec())));
        reader.push(b"89\nok\n123456\n").unwrap();
        assert_eq!(reader.next_frame(), Some(Frame::Line(b"ok".to_vec())));
        assert_eq!(reader.next_frame(), Some(Frame::TooLong(b"123456".to_vec())));
        assert_eq!(reader.next_frame(), None);
        assert_eq!(reader.skipped(), 2);
        let mut reader = LineReader::new(10_000, Profile::Contain);
        reader.push(&[b'a'; 20_000]).unwrap();
        assert_eq!(reader.next_frame(), Some(Frame::TooLong(vec![b'a'; HEAD_BYTES])));
    }

    #[test]
    fn owned_bytes_are_framed_like_others() {
        for text in
            ["a\n", "a\r\n", "\n", "a", "a\nb\n", "a\nb", "\u{feff}a\n", "123456\n", "12345\r\n"]
        {
            for before in ["", "x", "x\n", "1234567"] {
                for profile in [Profile::Contain, Profile::Strict] {
                    let mut readers = [LineReader::new(5, profile), LineReader::new(5, profile)];
                    let [owned, lent] = &mut readers;
                    let pushed = owned.push(before.as_bytes());
                    assert_eq!(pushed, lent.push(before.as_bytes()));
                    assert_eq!(
                        owned.push_owned(text.into()),
                        lent.push(text.as_bytes()),
                        "{text:?}"
                    );
                    let frames = readers.map(|mut reader| {
                        std::iter::from_fn(|| reader.next_frame()).collect::<Vec<_>>()
                    });
                    assert_eq!(frames[0], frames[1], "{before:?} {text:?}");
                }
            }
        }
    }

    #[test]
    #[expect(unsafe_code, reason = "what is tested")]
    fn pieces_can_be_written_in_place() {
        let mut reader = LineReader::new(8, Profile::Contain);
        for piece in [b"abc", b"def"] {
            let room = reader.room(piece.len()).unwrap();
            for (place, &byte) in room.iter_mut().zip(piece) {
                place.write(byte);
            }
            // SAFETY: just written.
            unsafe { reader.filled(piece.len()) };
        }
        assert!(reader.room(3).is_none());
        reader.push(b"g\n").unwrap();
        assert_eq!(reader.next_frame(), Some(Frame::Line(b"abcdefg".to_vec())));
        reader.push(b"123456789").unwrap();
        assert!(reader.room(1).is_none());
    }

    #[test]
    fn byte_order_marks() {
        let text = b"\xEF\xBB\xBF{}\n\xEF\xBB\xBF[]\n".as_slice();
        assert_eq!(lines(Profile::Strict, 64, &[text], false).0, ["{}", "[]"]);
        let contain = lines(Profile::Contain, 64, &[text], false).0;
        assert_eq!(contain, ["<bom>", "{}", "\u{feff}[]"]);
    }

    #[test]
    fn trim_is_that_of_javascript() {
        assert_eq!(
            trim("\u{feff} \u{a0}\u{2028}x\u{85}\u{2003}\t\u{b}".as_bytes()),
            "x\u{85}".as_bytes()
        );
        assert_eq!(trim(b"\xE2\x80"), b"\xE2\x80");
        assert_eq!(trim("\u{3000}".as_bytes()), b"");
    }
}
