//! One line to one tape, in slices, once.
//!
//! Owns what is done about bytes that are not UTF-8: `strict` replaces them as a lenient decoder
//! does, `contain` refuses the line.

use std::task::Poll;

use crate::json::{Fault, Limits, Progress, Reader, Tape};

use super::classify::{MAX_DEPTH, Rules, classify};
use super::{Classified, Message, Profile, line};

/// What a line turned out to be.
pub enum Read {
    /// An object, or in `contain` an array: the bytes and their tape.
    Json(Vec<u8>, Tape),
    /// No JSON text, or a scalar (in `strict` also an array). `unfinished` if it is the beginning
    /// of an object.
    Noise {
        /// The line.
        bytes: Vec<u8>,
        /// True if more lines could complete it.
        unfinished: bool,
    },
    /// `contain`: bytes that are not UTF-8.
    InvalidUtf8(Vec<u8>),
    /// More values and names than allowed.
    TooManyTokens(Vec<u8>),
}

/// A line being read.
pub struct LineReading {
    bytes: Vec<u8>,
    reader: Reader,
    limits: Limits,
    profile: Profile,
    skip: bool,
}

impl LineReading {
    /// Starts reading a line as [`line::LineReader`] gave it.
    pub fn new(mut bytes: Vec<u8>, profile: Profile, max_tokens: u32) -> Self {
        let inner = line::trim(&bytes);
        if inner.len() != bytes.len() {
            let start = inner.as_ptr() as usize - bytes.as_ptr() as usize;
            let end = start + inner.len();
            bytes.truncate(end);
            bytes.drain(..start);
        }
        // Anything else is a scalar or no JSON: noise without a look at the rest.
        let skip = match bytes.first() {
            Some(b'{') => false,
            Some(b'[') => profile == Profile::Strict,
            _ => true,
        };
        let limits = Limits { max_depth: MAX_DEPTH, max_tokens };
        LineReading { bytes, reader: Reader::new(limits), limits, profile, skip }
    }

    /// Reads on for about `budget` bytes. Not to be called again once ready.
    pub fn run(&mut self, budget: usize) -> Poll<Read> {
        if self.skip {
            return Poll::Ready(self.no_json(false));
        }
        let fault = match self.reader.run(&self.bytes, budget) {
            Ok(Progress::Pending) => return Poll::Pending,
            Ok(Progress::Done) => {
                let bytes = std::mem::take(&mut self.bytes);
                return Poll::Ready(Read::Json(bytes, self.reader.take_tape()));
            }
            Err(fault) => fault,
        };
        match fault {
            Fault::Tokens | Fault::Size => {
                Poll::Ready(Read::TooManyTokens(std::mem::take(&mut self.bytes)))
            }
            Fault::Utf8(_) if self.profile == Profile::Strict => {
                self.bytes = String::from_utf8_lossy(&self.bytes).into_owned().into_bytes();
                self.reader = Reader::new(self.limits);
                Poll::Pending
            }
            Fault::Utf8(_) => Poll::Ready(Read::InvalidUtf8(std::mem::take(&mut self.bytes))),
            Fault::Syntax(at) => Poll::Ready(self.no_json(at as usize >= self.bytes.len())),
        }
    }

    fn no_json(&mut self, at_end: bool) -> Read {
        let bytes = std::mem::take(&mut self.bytes);
        if self.profile == Profile::Contain && std::str::from_utf8(&bytes).is_err() {
            return Read::InvalidUtf8(bytes);
        }
        let unfinished = at_end && bytes.first() == Some(&b'{');
        Read::Noise { bytes, unfinished }
    }
}

/// Classifies one line in one go and hands the message to `use_it`, with `invalid_utf8` or
/// `tokens` in the place of a message that cannot be read.
pub fn classify_line<T>(
    bytes: &[u8],
    rules: Rules,
    max_tokens: u32,
    use_it: impl FnOnce(Result<Classified<'_>, &'static str>) -> T,
) -> T {
    let mut reading = LineReading::new(bytes.to_vec(), rules.profile, max_tokens);
    let read = loop {
        if let Poll::Ready(read) = reading.run(usize::MAX) {
            break read;
        }
    };
    match read {
        Read::Json(bytes, tape) => use_it(Ok(classify(
            tape.root(&bytes),
            rules,
            tape.is_too_deep(),
            tape.has_number_overflow(),
        ))),
        Read::Noise { .. } => use_it(Ok(Classified { message: Message::Noise, nulls: 0 })),
        Read::InvalidUtf8(_) => use_it(Err("invalid_utf8")),
        Read::TooManyTokens(_) => use_it(Err("tokens")),
    }
}
