//! What comes in, up to the message: lines and single messages are read in slices, arrays are
//! taken apart, what is no message of JSON-RPC is told (rows R42, R43, R51).
//!
//! Invariant: each costs itself alone in `contain`; what names an open request settles it.

use std::rc::Rc;
use std::task::Poll;

use crate::error::Code;
use crate::wire::{LineReading, Read};

use super::core::{Core, Line, Rest, Task};
use super::event::Handle;

/// Bytes that one step reads.
const BYTES_PER_STEP: usize = 16;

impl Core {
    pub(super) fn start_reading(&mut self, line: Vec<u8>, in_reply_to: Option<Handle>) {
        let max_tokens = self.options.limits.max_tokens.min(u32::MAX as f64) as u32;
        let reading = Box::new(LineReading::new(line, self.options.profile, max_tokens));
        self.task = Some(Task::Read(reading, in_reply_to));
    }

    /// Reads on in a line.
    pub(super) fn read(
        &mut self,
        mut reading: Box<LineReading>,
        in_reply_to: Option<Handle>,
        steps: &mut u64,
    ) {
        let budget = usize::try_from(*steps).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_STEP);
        let read = match reading.run(budget) {
            Poll::Pending => {
                *steps = 0;
                self.task = Some(Task::Read(reading, in_reply_to));
                return;
            }
            Poll::Ready(read) => read,
        };
        match read {
            Read::Json(bytes, tape) => {
                *steps = steps.saturating_sub((bytes.len() / BYTES_PER_STEP) as u64);
                let line = Rc::new(Line { bytes: Rc::new(bytes), tape, in_reply_to });
                self.message(&line, 0);
            }
            Read::Noise { bytes, unfinished } => self.noise(&bytes, unfinished, in_reply_to),
            Read::InvalidUtf8(bytes) => self.unreadable("invalid_utf8", &bytes, in_reply_to),
            Read::TooManyTokens(bytes) => self.unreadable("tokens", &bytes, in_reply_to),
        }
    }

    /// Goes on with an array of messages.
    pub(super) fn next_of(&mut self, rest: Rest) {
        let Rest { line, next, end } = rest;
        if next >= end {
            return;
        }
        let after = line.tape.value(&line.bytes, next).next_position();
        self.rest = Some(Rest { line: Rc::clone(&line), next: after, end });
        self.message(&line, next);
    }

    /// An array of messages: row R51, or what revision 2025-03-26 allows.
    pub(super) fn batch(&mut self, line: &Rc<Line>, at: u32) {
        let items = line.tape.value(&line.bytes, at);
        let allowed = at == 0 && self.revision.is_some_and(|revision| revision.batch);
        if !allowed || items.is_empty() {
            self.reports.note_line("batch", items.raw().as_bytes());
            return;
        }
        let end = items.next_position() - 1;
        self.rest = Some(Rest { line: Rc::clone(line), next: at + 1, end });
    }

    /// A line that is no message of JSON-RPC (row R43).
    pub(super) fn noise(&mut self, bytes: &[u8], unfinished: bool, of: Option<Handle>) {
        if let Some(handle) = of {
            self.reports.note_line("malformed_message", bytes);
            return self.reply_refused(handle, "not_jsonrpc");
        }
        const LSP: &[u8] = b"content-length:";
        let head = bytes.get(..LSP.len()).unwrap_or_default();
        if !self.heard && !self.strict() && head.eq_ignore_ascii_case(LSP) {
            self.reports.note_line("lsp_framing_detected", bytes);
            let error = self.error(Code::ProtocolError, "lsp_framing");
            self.terminate(error, false);
            return;
        }
        self.reports.note_line("noise_line", bytes);
        if unfinished && !self.suspected {
            self.suspected = true;
            self.reports.note_line("embedded_newline_suspected", bytes);
        }
    }

    /// A line that cannot be read whole: its id, if it shows one, settles at once.
    pub(super) fn unreadable(&mut self, reason: &'static str, bytes: &[u8], of: Option<Handle>) {
        let code = if reason == "tokens" { "malformed_message" } else { reason };
        if let Some(handle) = of {
            self.reports.note_line(code, bytes);
            return self.reply_refused(handle, reason);
        }
        if self.strict() {
            let error = self.error(Code::ProtocolError, reason).facts(self.limit_of(reason));
            self.terminate(error, false);
            return;
        }
        self.reports.note_line(code, bytes);
        let head = bytes.get(..crate::wire::HEAD_BYTES).unwrap_or(bytes);
        if let Some(id) = crate::wire::reply_id(head) {
            self.fail_malformed(reason, [Some(id), None]);
        }
    }
}
