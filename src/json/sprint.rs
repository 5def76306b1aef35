//! The reader's quick loop: tokens of the common forms, with the state in locals.
//!
//! Invariant: stops before anything else and before anything wrong, with the state that
//! `Reader::step` goes on from, so it decides nothing but speed.

use super::reader::{EXACT_DIGITS, Expect, Outer, Reader};
use super::scan::{byte_after_space, plain_number, short_string, starts};
use super::tape::{MAX_PAYLOAD, Tag, Word};

impl Reader {
    /// Reads on while tokens are of the common forms: short strings without escapes, numbers
    /// without exponent, containers within the depth. Stops before anything else, and before
    /// anything wrong, and leaves that to [`Reader::step`].
    ///
    /// The state lives in locals here so that it can stay in registers, and what may come next is
    /// where the code stands; measured at more than twice the speed of going through `step` for
    /// every token.
    pub(super) fn sprint(&mut self, bytes: &[u8], stop: usize) {
        let Reader { limits, outer, tape, .. } = self;
        let words = &mut tape.words;
        let (mut at, mut expect, mut inner) = (self.at, self.expect, self.inner);
        // Every iteration adds at most two tokens, and the bound is exact only in `step`.
        let mut tokens_left = limits.max_tokens.saturating_sub(self.tokens);
        let tokens_before = tokens_left;
        'run: while tokens_left > 1 && at < stop && expect != Expect::Colon {
            let Some(mut byte) = byte_after_space(bytes, &mut at) else { break };
            if let Expect::NameOrEnd | Expect::Name = expect {
                if byte != b'"' {
                    if byte == b'}' && expect == Expect::NameOrEnd {
                        expect = Expect::CommaOrEnd;
                        continue;
                    }
                    break;
                }
                let Some(length) = short_string(bytes, at + 1) else { break };
                words.push(Word::new(Tag::Key, length as u32, at as u32 + 1));
                tokens_left -= 1;
                at += length + 2;
                expect = Expect::Colon;
                match byte_after_space(bytes, &mut at) {
                    Some(b':') => at += 1,
                    _ => break,
                }
                expect = Expect::Value;
                match byte_after_space(bytes, &mut at) {
                    Some(next) => byte = next,
                    None => break,
                }
            }
            if let Expect::Value | Expect::ElementOrEnd = expect {
                let (tag, offset, length, next) = match byte {
                    b'"' => match short_string(bytes, at + 1) {
                        Some(length) => (Tag::String, at + 1, length, at + length + 2),
                        None => break,
                    },
                    b'0'..=b'9' | b'-' => match plain_number(bytes, at) {
                        Some((tag, length)) => {
                            tape.long_integer |= length > EXACT_DIGITS;
                            (tag, at, length, at + length)
                        }
                        None => break,
                    },
                    b'{' | b'[' => {
                        let word = words.len();
                        if outer.len() >= limits.max_depth as usize || word >= MAX_PAYLOAD as usize
                        {
                            break;
                        }
                        let is_object = byte == b'{';
                        let tag = if is_object { Tag::ObjectOpen } else { Tag::ArrayOpen };
                        words.push(Word::new(tag, 0, at as u32));
                        outer.push(inner);
                        tape.depth = tape.depth.max(outer.len() as u32);
                        inner = Outer { word: word as u32, count: 0, is_object };
                        expect = if is_object { Expect::NameOrEnd } else { Expect::ElementOrEnd };
                        tokens_left -= 1;
                        at += 1;
                        continue;
                    }
                    b't' if starts(bytes, at, b"true") => (Tag::True, at, 0, at + 4),
                    b'f' if starts(bytes, at, b"false") => (Tag::False, at, 0, at + 5),
                    b'n' if starts(bytes, at, b"null") => (Tag::Null, at, 0, at + 4),
                    b']' if expect == Expect::ElementOrEnd => {
                        expect = Expect::CommaOrEnd;
                        continue;
                    }
                    _ => break,
                };
                words.push(Word::new(tag, length as u32, offset as u32));
                inner.count += 1;
                tokens_left -= 1;
                at = next;
                expect = Expect::CommaOrEnd;
            }
            loop {
                match byte_after_space(bytes, &mut at) {
                    Some(b',') if !outer.is_empty() => {
                        at += 1;
                        expect = if inner.is_object { Expect::Name } else { Expect::Value };
                        break;
                    }
                    Some(byte @ (b'}' | b']')) if inner.is_object == (byte == b'}') => {
                        let distance = words.len() - inner.word as usize;
                        let (true, Some(parent), Some(word)) = (
                            distance <= MAX_PAYLOAD as usize,
                            outer.last(),
                            words.get_mut(inner.word as usize),
                        ) else {
                            break 'run;
                        };
                        *word = Word::new(word.tag(), distance as u32, word.offset());
                        let tag = if inner.is_object { Tag::ObjectClose } else { Tag::ArrayClose };
                        words.push(Word::new(tag, inner.count, at as u32));
                        inner = *parent;
                        inner.count += 1;
                        outer.truncate(outer.len() - 1);
                        at += 1;
                    }
                    _ => break 'run,
                }
            }
        }
        self.tokens += tokens_before - tokens_left;
        (self.at, self.expect, self.inner) = (at, expect, inner);
    }
}
