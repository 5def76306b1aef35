//! What a host asks a session after every input, as numbers in memory: reading them is no call.
//!
//! Invariant: whoever changes the session marks the numbers stale, and they stay so until
//! [`Noted::note`]; the facade asks for that before it reads stale ones.

use std::ops::{Deref, DerefMut};

use crate::session::ClientSession;
use crate::session::event::{Handle, ToolOutcome};

/// Places of the numbers; `lib/session.js` has the same list.
mod place {
    /// 1 if the others are out of date.
    pub(super) const STALE: usize = 0;
    pub(super) const HAS_WORK: usize = 1;
    pub(super) const IS_BLOCKED: usize = 2;
    pub(super) const HAS_OUTPUT: usize = 3;
    pub(super) const HAS_EVENT: usize = 4;
    /// Infinity for none.
    pub(super) const DEADLINE: usize = 5;
    /// From here on: the tool's result last polled, see [`super::Noted::show`].
    pub(super) const HANDLE: usize = 6;
    pub(super) const FLAGS: usize = 7;
    pub(super) const FINDING: usize = 8;
    pub(super) const TEXT: usize = 9;
    pub(super) const LENGTH: usize = 10;
    pub(super) const COUNT: usize = 11;
}

/// Verdicts that need no more words, with their reasons; `lib/tool-result.js` has the same list.
const FINDINGS: [(&str, Option<&str>); 5] = [
    ("valid", None),
    ("unchecked", Some("off")),
    ("unchecked", Some("is_error")),
    ("unchecked", Some("no_schema")),
    ("unchecked", Some("no_structured_content")),
];

/// A session and its numbers.
pub(super) struct Noted {
    session: ClientSession,
    numbers: Box<[f64; place::COUNT]>,
}

impl Deref for Noted {
    type Target = ClientSession;

    fn deref(&self) -> &ClientSession {
        &self.session
    }
}

impl DerefMut for Noted {
    fn deref_mut(&mut self) -> &mut ClientSession {
        self.set(place::STALE, 1.0);
        &mut self.session
    }
}

impl Noted {
    pub(super) fn new(session: ClientSession) -> Self {
        let mut noted = Noted { session, numbers: Box::new([0.0; place::COUNT]) };
        noted.note();
        noted
    }

    /// Where the numbers stand, for as long as the session lives.
    pub(super) fn address(&self) -> usize {
        self.numbers.as_ptr() as usize
    }

    fn set(&mut self, place: usize, value: f64) {
        if let Some(number) = self.numbers.get_mut(place) {
            *number = value;
        }
    }

    /// Brings the numbers up to date.
    pub(super) fn note(&mut self) {
        let session = &self.session;
        let facts = [
            (place::HAS_WORK, session.has_work()),
            (place::IS_BLOCKED, session.is_blocked()),
            (place::HAS_OUTPUT, session.has_output()),
            (place::HAS_EVENT, session.has_event()),
            (place::STALE, false),
        ];
        let deadline = session.next_deadline().unwrap_or(f64::INFINITY);
        self.set(place::DEADLINE, deadline);
        for (place, fact) in facts {
            self.set(place, f64::from(u8::from(fact)));
        }
    }

    /// Shows a result as numbers, if they can say all of it. Its text must live until the next.
    pub(super) fn show(&mut self, handle: Handle, tool: &ToolOutcome) -> bool {
        let finding = (tool.verdict, tool.verdict_reason);
        let Some(finding) = FINDINGS.iter().position(|&known| known == finding) else {
            return false;
        };
        let plain = tool.violation.is_none()
            && tool.violations.is_empty()
            && !tool.truncated
            && tool.dropped.is_empty()
            && tool.content_problems.is_empty();
        if plain {
            let json = tool.json.as_bytes();
            self.set(place::HANDLE, f64::from(handle));
            self.set(
                place::FLAGS,
                f64::from(u8::from(tool.structured) | u8::from(tool.keep_meta) << 1),
            );
            self.set(place::FINDING, finding as f64);
            self.set(place::TEXT, json.as_ptr() as usize as f64);
            self.set(place::LENGTH, json.len() as f64);
        }
        plain
    }
}
