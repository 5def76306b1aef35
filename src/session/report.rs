//! What a session tells its host: the event queue and diagnostics.
//!
//! Invariant: a diagnostic's detail has at most `maxDiagnosticBytes` bytes, credentials in it were
//! masked before it was cut (rows R70 and R71), and `strict` is silent about everything that system
//! C is silent about.

use std::collections::VecDeque;

use crate::redact::mask_and_cut;

use super::event::Event;

/// Bytes shown of a line that is no message.
const EXCERPT: usize = 200;

/// Bytes of such a line that are read, so that a secret across the cut is recognised.
const WINDOW: usize = 4_096;

/// Sources of diagnostics (DESIGN.md 6.1).
pub(super) mod source {
    pub(in crate::session) const STDERR: &str = "stderr";
    pub(in crate::session) const REMOTE_ERROR: &str = "remote-error";
    pub(in crate::session) const INVALID_RESPONSE: &str = "invalid-response";
    pub(in crate::session) const INVALID_ARGUMENTS: &str = "invalid-arguments";
    pub(in crate::session) const TRANSPORT: &str = "transport";
    pub(in crate::session) const WIRE: &str = "wire";
    pub(in crate::session) const CATALOG: &str = "catalog";
}

/// Events not yet polled.
pub(super) struct Reports {
    events: VecDeque<Event>,
    max_detail: usize,
    strict: bool,
}

impl Reports {
    pub(super) fn new(max_detail: usize, strict: bool) -> Self {
        Reports { events: VecDeque::new(), max_detail, strict }
    }

    pub(super) fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    pub(super) fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    pub(super) fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// A diagnostic of both profiles.
    pub(super) fn diagnostic(&mut self, source: &'static str, code: &'static str, detail: &str) {
        let (detail, truncated) = mask_and_cut(detail, self.max_detail);
        self.events.push_back(Event::Diagnostic { source, code, detail, truncated });
    }

    /// A diagnostic that `strict` does not give.
    pub(super) fn note(&mut self, source: &'static str, code: &'static str, detail: &str) {
        if !self.strict {
            self.diagnostic(source, code, detail);
        }
    }

    /// A diagnostic about a line, showing its beginning. Not given in `strict`.
    pub(super) fn note_line(&mut self, code: &'static str, line: &[u8]) {
        if self.strict {
            return;
        }
        let (detail, truncated) = excerpt(line, self.max_detail);
        self.events.push_back(Event::Diagnostic { source: source::WIRE, code, detail, truncated });
    }
}

/// The beginning of a line, masked, for a diagnostic's detail; true if it was cut.
pub(super) fn excerpt(line: &[u8], max_detail: usize) -> (String, bool) {
    let window = line.get(..WINDOW).unwrap_or(line);
    let text = String::from_utf8_lossy(window);
    let (detail, cut) = mask_and_cut(&text, EXCERPT.min(max_detail));
    (detail, cut || window.len() < line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    fn detail(reports: &mut Reports) -> (String, bool) {
        match reports.poll() {
            Some(Event::Diagnostic { detail, truncated, .. }) => (detail, truncated),
            other => panic!("{other:?}"),
        }
    }

    /// C-451 and C-452.
    #[test]
    fn details_are_cut_on_a_character_boundary() {
        let mut reports = Reports::new(16_384, true);
        let text = format!("{}😀", "x".repeat(16_383));
        reports.diagnostic(source::WIRE, "transport", &text);
        assert_eq!(detail(&mut reports), (text[..16_383].to_owned(), true));
        let text = "x".repeat(16_384);
        reports.diagnostic(source::WIRE, "transport", &text);
        assert_eq!(detail(&mut reports), (text, false));
    }

    #[test]
    fn credentials_are_masked_before_the_cut() {
        let mut reports = Reports::new(16_384, false);
        reports.diagnostic(source::REMOTE_ERROR, "remote_error", r#"{"data":{"apiKey":"abc"}}"#);
        assert_eq!(detail(&mut reports), (r#"{"data":{"apiKey":"[REDACTED]"}}"#.to_owned(), false));
        let line = format!("{} https://u:{}@h", "x".repeat(EXCERPT - 14), "p".repeat(100));
        reports.note_line("noise_line", line.as_bytes());
        assert_eq!(
            detail(&mut reports),
            (format!("{} https://[REDA", "x".repeat(EXCERPT - 14)), true)
        );
    }

    #[test]
    fn lines_show_their_beginning() {
        let mut reports = Reports::new(16_384, false);
        reports.note_line("noise_line", &[b'a'; 300]);
        reports.note_line("noise_line", &[0xFF; 300]);
        for _ in 0..2 {
            match reports.poll() {
                Some(Event::Diagnostic { detail, truncated, .. }) => {
                    assert!(detail.len() <= EXCERPT && truncated);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
