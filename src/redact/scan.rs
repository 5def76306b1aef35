//! The scanner: one line at a time, forward only, with what a secret may carry to the next line.
//!
//! Invariant: `copied <= at` unless a secret was just hidden; what lies before `copied` is in the
//! output, masked. Every cut of the text falls beside an ASCII byte, so slices are whole
//! characters. State between lines is a few words, whatever the lines hold.

mod token;
mod value;

#[cfg(test)]
mod tests;

use super::MARK;
use super::names::{self, COMMAND_FLAGS, Name, Takes};

/// Lines that one secret may span before it is given up as never closed.
const HELD_LINES: u32 = 256;
/// Bytes that one secret may span before it is given up as never closed.
const HELD_BYTES: usize = 64 * 1024;

/// A secret that goes on in the next line.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// A quoted value.
    Quote(Quote),
    /// A value in brackets or braces.
    Brackets(Brackets),
    /// A private-key block.
    PrivateKey,
    /// A private-key block longer than the bounds: what looks like its body is still left out.
    PrivateKeyRest,
    /// A value is due: the line ended after its name.
    Due(Form),
    /// An unquoted value, continued by a backslash.
    Bare,
    /// The lines of a YAML block, which are indented further than this.
    Indented(usize),
}

/// A quotation mark and the backslashes before it, as in `\"` inside a JSON string.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Quote {
    mark: u8,
    escapes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Brackets {
    depth: u32,
    string: Option<u8>,
}

/// How a value stands in its text.
#[derive(Clone, Copy, Debug, Default)]
struct Form {
    /// It goes to the end of the line, blanks included.
    to_end: bool,
    /// It stands in a query string.
    query: bool,
    /// Its name is in double quotes and a colon follows.
    json: bool,
    /// A colon stands between name and value.
    colon: bool,
    /// It may stand in the next line.
    may_wrap: bool,
    /// It follows a flag, so that another flag is no value.
    flag: bool,
    /// The quotation in which name and value stand together.
    enclosing: Option<Quote>,
}

/// Masks a text line by line.
#[derive(Clone, Debug, Default)]
pub struct Masker {
    open: Option<Open>,
    held_lines: u32,
    held_bytes: usize,
}

impl Masker {
    /// Appends the line, masked and without terminator; after a line that ended inside a secret
    /// nothing may be put between. `partial` says that more of the line may follow: then a secret
    /// that may have been cut is masked even if too short to be sure.
    pub fn line(&mut self, line: &str, partial: bool, out: &mut String) {
        let mut scan = Scan {
            text: line,
            bytes: line.as_bytes(),
            at: 0,
            copied: 0,
            partial,
            at_head: true,
            commands: 0,
            no_at_before: 0,
            open: None,
            out,
        };
        let mut carried = false;
        let inside = self.is_inside();
        if let Some(open) = self.open.take() {
            self.held_lines += 1;
            self.held_bytes = self.held_bytes.saturating_add(line.len() + 1);
            let given_up = self.held_lines > HELD_LINES || self.held_bytes > HELD_BYTES;
            carried = match open {
                Open::PrivateKey if given_up => scan.resume(Open::PrivateKeyRest),
                Open::PrivateKeyRest => scan.resume(open),
                _ => !given_up && scan.resume(open),
            };
            if inside && given_up && !carried {
                // The line break that was held back with the rest.
                scan.out.push('\n');
            }
        }
        if !carried {
            scan.run();
        }
        scan.copy_to(line.len());
        self.open = scan.open;
        if !carried {
            self.held_lines = 0;
            self.held_bytes = 0;
        }
    }

    /// True if the next line begins inside a secret.
    pub fn is_inside(&self) -> bool {
        !matches!(self.open, None | Some(Open::Due(_) | Open::Indented(_)))
    }

    /// How much of the end of a line's piece must come again at the start of the next piece, for
    /// lines that are read in pieces.
    pub(super) fn overlap(&self, piece: &[u8]) -> usize {
        let most = piece.len().min(256);
        match self.open {
            Some(Open::Quote(_) | Open::Brackets(_)) => {
                piece.iter().rev().take(most).take_while(|&&byte| byte == b'\\').count()
            }
            Some(Open::PrivateKey | Open::PrivateKeyRest) => most.min(token::LABEL + 16),
            _ => most,
        }
    }
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    copied: usize,
    partial: bool,
    /// True while the line shows nothing but indentation, bullets and prompts.
    at_head: bool,
    /// One bit for each row of [`COMMAND_FLAGS`] whose command was met.
    commands: u32,
    /// No `@` stands before this position: searches do not repeat.
    no_at_before: usize,
    open: Option<Open>,
    out: &'a mut String,
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | 0x80..)
}

fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7F
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

impl Scan<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.bytes.get(at..).unwrap_or(&[])
    }

    fn between(&self, start: usize, end: usize) -> &[u8] {
        self.bytes.get(start..end).unwrap_or(&[])
    }

    fn skip_blanks(&self, at: usize) -> usize {
        at + self.rest(at).iter().take_while(|&&byte| is_blank(byte)).count()
    }

    fn copy_to(&mut self, end: usize) {
        if let Some(text) = self.text.get(self.copied..end) {
            self.out.push_str(text);
        }
        self.copied = self.copied.max(end);
    }

    /// Puts the mark in place of a range and goes on behind it.
    fn hide(&mut self, start: usize, end: usize) {
        self.copy_to(start);
        self.out.push_str(MARK);
        self.swallow(end);
    }

    /// Leaves out what lies before `end`: the mark for it is in the output.
    fn swallow(&mut self, end: usize) {
        self.copied = end;
        self.at = end;
    }

    /// Goes on with a secret of the lines before; true if it goes on beyond this line.
    fn resume(&mut self, open: Open) -> bool {
        let end = self.bytes.len();
        let closed = match open {
            Open::Quote(quote) => self.quote_end(0, quote),
            Open::Brackets(mut brackets) => self.brackets_end(0, &mut brackets).or_else(|| {
                self.open = Some(Open::Brackets(brackets));
                None
            }),
            Open::PrivateKey => self.private_key_end(0),
            Open::PrivateKeyRest => {
                let base64 = |&byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
                if self.bytes.trim_ascii().iter().all(base64) {
                    None
                } else {
                    Some(self.private_key_end(0).unwrap_or(0))
                }
            }
            Open::Due(form) => {
                if self.skip_blanks(0) == end {
                    self.open = Some(open);
                    return true;
                }
                if !self.begins_with_name() {
                    self.value(0, form);
                }
                return false;
            }
            Open::Bare => {
                if self.begins_with_name() {
                    self.out.push('\n');
                } else {
                    self.bare(0, Form::default(), false);
                }
                return false;
            }
            Open::Indented(indent) => {
                let own = self.skip_blanks(0);
                (own < end && own <= indent).then_some(0)
            }
        };
        self.swallow(closed.unwrap_or(end));
        if closed.is_none() && self.open.is_none() {
            self.open = Some(open);
        }
        closed.is_none()
    }

    /// True if the line begins with a name whose value is secret, and a separator: then it is no
    /// value of the line before.
    fn begins_with_name(&self) -> bool {
        let start = self.skip_blanks(0);
        let end = start + self.rest(start).iter().take_while(|&&byte| in_word(byte)).count();
        matches!(self.byte(end), Some(b'=' | b':'))
            && names::classify(self.between(start, end), false).is_some()
    }

    fn run(&mut self) {
        while let Some(byte) = self.byte(self.at) {
            if in_word(byte) {
                self.word();
            } else if byte == b':' && self.rest(self.at).starts_with(b"://") {
                self.authority();
                self.at_head = false;
            } else {
                self.at_head &= is_blank(byte) || b"<>*#$|".contains(&byte);
                self.at += 1;
            }
        }
    }

    fn word(&mut self) {
        let first = self.at;
        let end = first + self.rest(first).iter().take_while(|&&byte| in_word(byte)).count();
        // In a JSON text a word may follow an escape: `\nBearer` is a line break and a word.
        let start = match (first.checked_sub(1).and_then(|at| self.byte(at)), self.byte(first)) {
            (Some(b'\\'), Some(b'n' | b'r' | b't' | b'b' | b'f')) => first + 1,
            (Some(b'\\'), Some(b'u')) => end.min(first + 5),
            _ => first,
        };
        let at_head = self.at_head;
        self.at_head &= self.between(first, end) == b"-";
        self.at = end;
        let word_length = end - start;
        let dashes = self.between(start, end).windows(4).position(|bytes| bytes == b"----");
        if let Some(dashes) = dashes.filter(|dashes| self.is_private_key(start + dashes)) {
            return self.private_key(start + dashes);
        }
        if let Some((start, end)) = self.vendor_token(start, end) {
            return self.hide(start, end);
        }
        if word_length == 6 && self.between(start, end).eq_ignore_ascii_case(b"bearer") {
            return self.bearer(end);
        }
        if word_length == 5 && self.between(start, end).eq_ignore_ascii_case(b"basic") {
            return self.basic(end);
        }
        if self.command(start, end) {
            return;
        }
        let query = first > 0 && matches!(self.byte(first - 1), Some(b'?' | b'&'));
        if let Some(name) = names::classify(self.between(start, end), query) {
            self.named(name, first, start, end, Form { query, to_end: at_head, ..Form::default() });
        }
    }

    /// Passwords that commands take by a short flag; true if one was dealt with.
    fn command(&mut self, start: usize, end: usize) -> bool {
        let word = self.between(start, end);
        let plain = word.strip_suffix(b".exe").unwrap_or(word);
        let mut met = 0;
        let mut found = None;
        for (bit, (command, flag, takes)) in COMMAND_FLAGS.iter().enumerate() {
            if plain == command.as_bytes() {
                met |= 1 << bit;
            }
            if self.commands >> bit & 1 == 1 && found.is_none() {
                let attached =
                    flag.len() == 2 && word.len() > 2 && word.starts_with(flag.as_bytes());
                if attached || (word == flag.as_bytes() && *takes != Takes::Attached) {
                    found = Some((*takes, attached));
                }
            }
        }
        self.commands |= met;
        let Some((takes, attached)) = found else { return false };
        if takes == Takes::Pair {
            let assigned = self.byte(end) == Some(b'=');
            self.pair(if attached { start + 2 } else { end + assigned as usize });
        } else if attached {
            self.bare(start + 2, Form { flag: true, ..Form::default() }, true);
        } else {
            let form = Form { flag: true, may_wrap: true, ..Form::default() };
            self.value_after_flag(end, form, self.quotation(start, end).1);
        }
        true
    }

    /// A value `name:password`: the part after the colon is hidden.
    fn pair(&mut self, at: usize) {
        let mut at = self.skip_blanks(at);
        let end = match self.quote_at(at) {
            Some((quote, after)) => {
                at = after;
                self.quote_end(after, quote).unwrap_or(self.bytes.len())
            }
            None => self.bare_end(at, Form::default()),
        };
        let Some(colon) = self.between(at, end).iter().position(|&byte| byte == b':') else {
            return;
        };
        // What is no user's name may hold a secret of its own.
        let is_name = |&byte: &u8| in_word(byte) || b"@%+\\".contains(&byte);
        let named = self.between(at, at + colon).iter().all(is_name);
        let secret = if named { at + colon + 1 } else { at };
        let ids = self.between(at, end).iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
        if secret < end && !ids && !self.rest(secret).starts_with(b"//") {
            self.hide(secret, end);
        }
    }

    /// The quotation that a word stands in: the mark before it, and the position behind the same
    /// mark after it, if the quotation holds this word alone.
    fn quotation(&self, start: usize, end: usize) -> (Option<Quote>, Option<usize>) {
        let Some(mark) = start.checked_sub(1).and_then(|at| self.byte(at)) else {
            return (None, None);
        };
        if !is_quote(mark) {
            return (None, None);
        }
        let before = self.between(0, start - 1);
        let escapes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        let quote = Quote { mark, escapes };
        let closed = self.quote_at(end).filter(|(closing, _)| closing.mark == mark);
        (Some(quote), closed.map(|(_, after)| after))
    }

    /// A name whose value is secret: looks for the value. `first` is where the word begins.
    fn named(&mut self, name: Name, first: usize, start: usize, end: usize, mut form: Form) {
        let (enclosing, closed) = self.quotation(first, end);
        let flag = self.byte(start) == Some(b'-') && !self.rest(start).starts_with(b"--no-");
        let mut at = closed.unwrap_or(end);
        if self.byte(at) == Some(b']') {
            at += 1;
        }
        let gap = self.skip_blanks(at);
        let rest = self.rest(gap);
        let separator = match rest {
            [b'=', ..] => rest.iter().take_while(|&&byte| byte == b'=' || byte == b'>').count(),
            [b':', b':', ..] | [b':', b'/', b'/', ..] => 0,
            [b':', b'=', ..] => 2,
            [b':', ..] => 1,
            [b'%', b'3', b'D' | b'd' | b'A' | b'a', ..] => 3,
            _ => 0,
        };
        form.flag = flag;
        form.may_wrap = flag || closed.is_some();
        form.enclosing = enclosing.filter(|_| closed.is_none());
        if separator > 0 {
            form.colon = separator == 1 && rest.first() == Some(&b':');
            form.json = closed.is_some() && form.colon && enclosing.is_some_and(|q| q.mark == b'"');
            let phrase = self.between(start, end).to_ascii_lowercase().ends_with(b"passphrase");
            let whole_line = form.to_end && form.colon && closed.is_none();
            form.to_end = !form.query
                && (whole_line || phrase || name == Name::Header || form.enclosing.is_some());
            form.flag = false;
            return self.value(gap + separator, form);
        }
        form.to_end = false;
        let listed = closed.is_some() && names::is_header(self.between(start, end));
        if flag || listed {
            self.value_after_flag(end, form, closed);
        }
    }

    /// The value after a flag: the next word, or the next string of a list.
    fn value_after_flag(&mut self, end: usize, form: Form, closed: Option<usize>) {
        let Some(closed) = closed else {
            let at = self.skip_blanks(end);
            if at > end || at == self.bytes.len() {
                self.value(at, form);
            }
            return;
        };
        let comma = self.skip_blanks(closed);
        if self.byte(comma) == Some(b',') {
            let at = self.skip_blanks(comma + 1);
            if self.quote_at(at).is_some() || at == self.bytes.len() {
                self.value(at, form);
            }
        }
    }
}
