//! What a backslash stands for, in a class and outside of one, in both modes.

use super::PatternFault;
use super::parse::Parser;
use super::set::{DIGITS, SPACE, Set, WORD, WORD_FOLDED};
use super::tree::Assertion;

/// What a backslash and what follows it stand for.
pub(super) enum Escape {
    Point(u32),
    Set(Set),
    Assertion(Assertion),
    /// What the group of that number holds.
    Group(u32),
    /// What the group of that name holds.
    Name(Vec<u32>),
}

impl Escape {
    /// Adds what a class atom stands for to the ranges of its class.
    pub(super) fn add(self, ranges: &mut Vec<(u32, u32)>) {
        match self {
            Escape::Point(point) => ranges.push((point, point)),
            Escape::Set(set) => ranges.extend_from_slice(set.ranges()),
            Escape::Assertion(_) | Escape::Group(_) | Escape::Name(_) => {}
        }
    }
}

/// Characters that every mode lets a backslash precede.
const SYNTAX: &str = "^$\\.*+?()[]{}|/";

impl Parser<'_> {
    /// Reads an escape after its backslash.
    pub(super) fn escape(&mut self, in_class: bool) -> Result<Escape, PatternFault> {
        let point = self.advance().ok_or(PatternFault::Syntax)?;
        let Some(character) = char::from_u32(point) else {
            return self.identity(point, in_class);
        };
        Ok(match character {
            'd' => Escape::Set(Set::new(DIGITS.to_vec())),
            'D' => Escape::Set(Set::new(DIGITS.to_vec()).complement()),
            's' => Escape::Set(Set::new(SPACE.to_vec())),
            'S' => Escape::Set(Set::new(SPACE.to_vec()).complement()),
            'w' => Escape::Set(self.word()),
            'W' => Escape::Set(self.word().complement()),
            'b' if in_class => Escape::Point(8),
            'b' if self.flags.ignore_case => Escape::Assertion(Assertion::FoldedBoundary),
            'b' => Escape::Assertion(Assertion::Boundary),
            'B' if !in_class && self.flags.ignore_case => {
                Escape::Assertion(Assertion::NotFoldedBoundary)
            }
            'B' if !in_class => Escape::Assertion(Assertion::NotBoundary),
            'f' => Escape::Point(12),
            'n' => Escape::Point(10),
            'r' => Escape::Point(13),
            't' => Escape::Point(9),
            'v' => Escape::Point(11),
            'c' => return self.control(in_class),
            'x' => match self.hex(2) {
                Some(point) => Escape::Point(point),
                None => return self.identity(point, in_class),
            },
            'u' => match self.unicode_escape() {
                Some(point) => Escape::Point(point),
                None => return self.identity(point, in_class),
            },
            'p' | 'P' if self.strict => {
                let set = self.property()?;
                Escape::Set(if character == 'P' { set.complement() } else { set })
            }
            'k' if !in_class && (self.strict || self.named) => {
                if !self.take("<") {
                    return Err(PatternFault::Syntax);
                }
                Escape::Name(self.group_name()?)
            }
            '0'..='9' => return self.digits(character, in_class),
            _ => return self.identity(point, in_class),
        })
    }

    /// `\w`.
    fn word(&self) -> Set {
        let mut ranges = WORD.to_vec();
        if self.flags.ignore_case {
            ranges.extend_from_slice(WORD_FOLDED);
        }
        Set::new(ranges)
    }

    /// A character that stands for itself.
    fn identity(&self, point: u32, in_class: bool) -> Result<Escape, PatternFault> {
        let character = char::from_u32(point);
        let is_syntax = character.is_some_and(|character| SYNTAX.contains(character));
        let allowed = match self.strict {
            true => is_syntax || (in_class && character == Some('-')),
            false => !(self.named && character == Some('k')),
        };
        if allowed { Ok(Escape::Point(point)) } else { Err(PatternFault::Syntax) }
    }

    /// `\cX`.
    fn control(&mut self, in_class: bool) -> Result<Escape, PatternFault> {
        let next = self.peek().and_then(char::from_u32);
        let is_control = next.is_some_and(|next| {
            next.is_ascii_alphabetic()
                || (in_class && !self.strict && (next.is_ascii_digit() || next == '_'))
        });
        match next {
            Some(next) if is_control => {
                self.advance();
                Ok(Escape::Point(next as u32 % 32))
            }
            _ if self.strict => Err(PatternFault::Syntax),
            _ => {
                // Annex B: the backslash stands for itself, and the letter comes again.
                self.reset(self.mark() - 1);
                Ok(Escape::Point('\\' as u32))
            }
        }
    }

    /// A reference to a group, or a number of a character.
    fn digits(&mut self, first: char, in_class: bool) -> Result<Escape, PatternFault> {
        let next_is_digit = matches!(self.peek(), Some(0x30..=0x39));
        if first == '0' && !next_is_digit {
            return Ok(Escape::Point(0));
        }
        let mark = self.mark();
        if first != '0' && !in_class {
            self.reset(mark - 1);
            let number = self.number().unwrap_or(0);
            if number <= self.groups {
                return Ok(Escape::Group(number));
            }
            self.reset(mark);
        }
        if self.strict {
            return Err(PatternFault::Syntax);
        }
        // Annex B: an octal number up to 255, else the digit itself.
        let Some(mut point) = first.to_digit(8) else { return Ok(Escape::Point(first as u32)) };
        for _ in 0..2 {
            let digit = self.peek().and_then(char::from_u32).and_then(|next| next.to_digit(8));
            match digit {
                Some(digit) if point * 8 + digit <= 255 => {
                    point = point * 8 + digit;
                    self.advance();
                }
                _ => break,
            }
        }
        Ok(Escape::Point(point))
    }

    /// So many hexadecimal digits; nothing is taken if they are not there.
    fn hex(&mut self, digits: u32) -> Option<u32> {
        let mark = self.mark();
        let mut number = 0;
        for _ in 0..digits {
            match self.advance().and_then(char::from_u32).and_then(|next| next.to_digit(16)) {
                Some(digit) => number = number << 4 | digit,
                None => {
                    self.reset(mark);
                    return None;
                }
            }
        }
        Some(number)
    }

    /// The rest of `\uHHHH`, of a pair of those for one character, or of `\u{…}`.
    fn unicode_escape(&mut self) -> Option<u32> {
        let mark = self.mark();
        if let Some(point) = self.hex(4) {
            let mark = self.mark();
            if (0xD800..0xDC00).contains(&point) && self.take("\\u") {
                if let Some(low @ 0xDC00..0xE000) = self.hex(4) {
                    return Some(0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00));
                }
                self.reset(mark);
            }
            return Some(point);
        }
        if self.strict && self.take("{") {
            let mut number: Option<u32> = None;
            while let Some(digit) =
                self.peek().and_then(char::from_u32).and_then(|next| next.to_digit(16))
            {
                self.advance();
                number = Some(number.unwrap_or(0).saturating_mul(16).saturating_add(digit));
            }
            if let Some(number @ 0..=super::set::LAST) = number
                && self.take("}")
            {
                return Some(number);
            }
        }
        self.reset(mark);
        None
    }

    /// The rest of `\p{Name}` or `\p{Name=Value}`.
    fn property(&mut self) -> Result<Set, PatternFault> {
        if !self.take("{") {
            return Err(PatternFault::Syntax);
        }
        let mut text = String::new();
        loop {
            match self.advance().and_then(char::from_u32) {
                Some('}') => break,
                Some(character @ ('=' | '_')) => text.push(character),
                Some(character) if character.is_ascii_alphanumeric() => text.push(character),
                _ => return Err(PatternFault::Syntax),
            }
        }
        self.property_set(&text)
    }

    /// A group's name and the bracket that closes it.
    pub(super) fn group_name(&mut self) -> Result<Vec<u32>, PatternFault> {
        let mut name = Vec::new();
        loop {
            let point = match self.advance().ok_or(PatternFault::Syntax)? {
                0x3E if !name.is_empty() => return Ok(name),
                0x5C => {
                    // Names take `\u{…}` in both modes.
                    let strict = std::mem::replace(&mut self.strict, true);
                    let point = if self.take("u") { self.unicode_escape() } else { None };
                    self.strict = strict;
                    point.ok_or(PatternFault::Syntax)?
                }
                point => point,
            };
            if !self.is_identifier(point, name.is_empty()) {
                return Err(PatternFault::Syntax);
            }
            name.push(point);
        }
    }
}
