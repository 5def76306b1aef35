//! Values: where a quoted, bracketed or bare value ends, and what is hidden of it.
//!
//! Invariant: a value ends no earlier than a reader of its notation would end it; where the
//! notation is unclear the later end is taken.

use super::super::names;
use super::{Brackets, Form, Open, Quote, Scan, is_blank, is_quote};

impl Scan<'_> {
    /// Hides the value that begins behind the blanks at a position.
    pub(super) fn value(&mut self, at: usize, form: Form) {
        let at = self.skip_blanks(at);
        let Some(first) = self.byte(at) else {
            if form.may_wrap {
                self.open = Some(Open::Due(form));
            }
            return;
        };
        if self.is_private_key(at) {
            return self.private_key(at);
        }
        if form.flag && first == b'-' {
            return;
        }
        if let Some((quote, after)) = self.quote_at(at) {
            // The quotation around name and value ends: there is no value.
            if form.enclosing != Some(quote) && !(form.flag && self.byte(after) == Some(b'-')) {
                self.quoted(quote, after, form);
            }
            return;
        }
        match first {
            b'[' | b'{' => self.bracketed(at, form),
            b'|' | b'>' if form.colon && self.is_block_mark(at) => {
                self.open = Some(Open::Indented(self.skip_blanks(0)));
                self.hide(at, self.bytes.len());
            }
            _ => self.bare(at, form, true),
        }
    }

    /// True if the rest of the line is the mark of a YAML block: `|`, `>-`, `|2`.
    pub(super) fn is_block_mark(&self, at: usize) -> bool {
        self.rest(at + 1).iter().all(|&byte| is_blank(byte) || b"+-123456789".contains(&byte))
    }

    pub(super) fn quoted(&mut self, quote: Quote, after: usize, form: Form) {
        let mut start = after;
        let mut marks = 1;
        let mut close = self.quote_end(start, quote);
        if close == Some(start) {
            let behind = start + quote.escapes + 1;
            if quote.escapes > 0 || self.byte(behind) != Some(quote.mark) {
                self.at = behind;
                return;
            }
            // Three marks open a long string.
            start = behind + 1;
            marks = 3;
            close = self.quote_end(start, quote);
        }
        let Some(close) = close else {
            self.open = Some(Open::Quote(quote));
            return self.hide(start, self.bytes.len());
        };
        self.hide(start, close);
        // A shell joins what touches: 'ab'"cd"ef is one value.
        let closing = self.rest(close + quote.escapes).iter();
        self.at = close
            + quote.escapes
            + closing.take(marks).take_while(|&&byte| byte == quote.mark).count();
        let joined = match self.rest(self.at) {
            [b'\\', b'n' | b'r' | b't', ..] => false,
            [byte, ..] => !is_blank(*byte) && !b",;)]}>&|.".contains(byte),
            [] => false,
        };
        if joined {
            let end = self.bare_end(self.at, Form { query: false, json: false, ..form });
            self.copy_to(self.at);
            self.swallow(end);
        }
    }

    /// Where a quotation ends: the position of its closing mark, backslashes included.
    pub(super) fn quote_end(&self, from: usize, quote: Quote) -> Option<usize> {
        let mut escapes = 0;
        for (at, &byte) in self.bytes.iter().enumerate().skip(from) {
            if byte == quote.mark {
                let closes = match quote.escapes {
                    0 => escapes % 2 == 0,
                    most => escapes <= most,
                };
                if closes {
                    return Some(if quote.escapes == 0 { at } else { at - escapes });
                }
            }
            escapes = if byte == b'\\' { escapes + 1 } else { 0 };
        }
        None
    }

    /// A quotation mark at a position, backslashes before it included, and the position behind.
    pub(super) fn quote_at(&self, at: usize) -> Option<(Quote, usize)> {
        let escapes = self.rest(at).iter().take_while(|&&byte| byte == b'\\').count();
        let mark = self.byte(at + escapes).filter(|&byte| is_quote(byte))?;
        Some((Quote { mark, escapes }, at + escapes + 1))
    }

    pub(super) fn bracketed(&mut self, at: usize, form: Form) {
        let mut brackets = Brackets { depth: 0, string: None };
        let end = self.bytes.len();
        let close = self.brackets_end(at, &mut brackets);
        // A name in quotes, or a bracket that ends its line, promises more lines.
        if close.is_none() && (form.may_wrap || self.skip_blanks(at + 1) == end) {
            self.open = Some(Open::Brackets(brackets));
        }
        let close = match close {
            Some(close) => self.bare_end(close, form),
            None if self.open.is_none() => self.bare_end(at, Form { to_end: true, ..form }),
            None => end,
        };
        self.hide_value(at, close, form);
    }

    /// Where brackets close: the position behind.
    pub(super) fn brackets_end(&self, from: usize, brackets: &mut Brackets) -> Option<usize> {
        let mut escaped = false;
        for (at, &byte) in self.bytes.iter().enumerate().skip(from) {
            match brackets.string {
                Some(mark) => {
                    if byte == mark && !escaped {
                        brackets.string = None;
                    }
                    escaped = byte == b'\\' && !escaped;
                }
                None => match byte {
                    b'"' | b'\'' | b'`' => brackets.string = Some(byte),
                    b'[' | b'{' => brackets.depth += 1,
                    b']' | b'}' => {
                        brackets.depth = brackets.depth.saturating_sub(1);
                        if brackets.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                },
            }
        }
        None
    }

    /// Hides an unquoted value; `marked` says that no mark for it is out yet.
    pub(super) fn bare(&mut self, at: usize, form: Form, marked: bool) {
        let mut end = self.bare_end(at, form);
        let mut word = self.between(at, end);
        // "token: Bearer abc", "key: --password abc": the value is what follows.
        while names::introduces(word) {
            let next = self.skip_blanks(end);
            end = self.bare_end(next, form);
            word = self.between(next, end);
        }
        if form.json && matches!(self.between(at, end), b"null" | b"true" | b"false") {
            return;
        }
        if end == self.bytes.len() && self.bytes.last() == Some(&b'\\') {
            self.open = Some(Open::Bare);
        }
        if !marked {
            self.swallow(end);
        } else if end > at {
            self.hide_value(at, end, form);
        }
    }

    /// Hides a value that is no string; in JSON the mark is one.
    pub(super) fn hide_value(&mut self, start: usize, end: usize, form: Form) {
        if !form.json {
            return self.hide(start, end);
        }
        self.copy_to(start);
        self.out.push('"');
        self.hide(start, end);
        self.out.push('"');
    }

    /// Where an unquoted value ends.
    pub(super) fn bare_end(&self, at: usize, form: Form) -> usize {
        let mut escapes = 0;
        let mut inner = None;
        for (here, &byte) in self.bytes.iter().enumerate().skip(at) {
            let stop = match byte {
                b'\r' => true,
                _ if is_blank(byte) => !form.to_end,
                b'&' | b'#' | b'<' | b'>' => form.query,
                b',' | b']' | b'}' => form.json,
                _ if is_quote(byte) => {
                    let quote = Quote { mark: byte, escapes };
                    if form.enclosing == Some(quote) {
                        return here - escapes;
                    }
                    if inner == Some(quote) {
                        inner = None;
                    } else if form.query || self.ends_string(here) {
                        return here - escapes;
                    } else if inner.is_none() {
                        inner = Some(quote);
                    }
                    false
                }
                _ => false,
            };
            if stop {
                return here;
            }
            escapes = if byte == b'\\' { escapes + 1 } else { 0 };
        }
        self.bytes.len()
    }

    /// True if what follows a quotation mark says that it ends a string of JSON or the like.
    pub(super) fn ends_string(&self, at: usize) -> bool {
        matches!(self.byte(self.skip_blanks(at + 1)), None | Some(b',' | b'}' | b']'))
    }
}
