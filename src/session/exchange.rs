//! Messages one by one, for transports that send each by itself (Streamable HTTP): which of ours is
//! next and with which headers, what came in reply to which, and that a reply has ended.
//!
//! Invariant: a message that is taken has a handle of its own as long as it may be answered; a
//! request whose exchange has ended without an answer fails then, not at its deadline.

use std::rc::Rc;

use crate::error::{Code, Error, Facts};

use super::core::Core;
use super::event::{Event, Handle, OutMessage};
use super::headers::headers_of;
use super::outbound::Owner;
use super::pending::{Kind, Pending};
use super::revision::Revision;

/// How an exchange ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ReplyOutcome {
    /// The HTTP status, if there was a response.
    pub status: Option<u16>,
    /// True if there was none.
    pub unreachable: bool,
    /// Why the response could not be read, in words of the sentence table.
    pub reason: Option<&'static str>,
}

/// Reasons a host may give for a response that it could not read.
pub const REPLY_REASONS: [&str; 5] =
    ["egress_denied", "frame_too_long", "http_content_type", "session_ended", "session_id"];

impl Core {
    /// Takes one message, without a line end.
    pub(super) fn take_message(&mut self) -> Option<OutMessage> {
        if !self.by_message {
            self.by_message = true;
            self.timers.unset(super::timers::Timer::Hedge);
        }
        let (mut json, owner) = self.take_frame()?;
        json.pop();
        let mut tool = None;
        let mut expects_reply = false;
        let handle = match owner {
            Owner::Request(id) => {
                expects_reply = true;
                let fresh = self.requests.get(id).and_then(Pending::handle);
                let handle = fresh.unwrap_or_else(|| self.next_handle());
                if let Some(pending) = self.requests.get_mut(id) {
                    pending.exchange = Some(handle);
                    if let Kind::Tool(call) = &pending.kind {
                        tool = Some(Rc::clone(&call.tool));
                    }
                }
                handle
            }
            Owner::Notice(handle) => handle,
            Owner::Answer | Owner::Initialized | Owner::Cancellation => self.next_handle(),
        };
        let params = tool.as_ref().map_or(&[][..], |tool| &tool.entry.headers);
        let headers = headers_of(&json, self.revision, params);
        Some(OutMessage { json, headers, handle, expects_reply })
    }

    /// The open request of an exchange.
    pub(super) fn request_of(&self, handle: Handle) -> Option<u32> {
        self.requests.of_exchange(handle)
    }

    /// The exchange of a message that was taken is over.
    pub(super) fn reply_ended(&mut self, handle: Handle, outcome: ReplyOutcome) {
        let Some(id) = self.request_of(handle) else { return };
        let Some(pending) = self.close_request(i64::from(id)) else { return };
        let error = self.exchange_error(&pending, outcome);
        if matches!(pending.kind, Kind::Probe) {
            return self.probe_unanswered(id, outcome, error);
        }
        if error.reason() == "session_ended" {
            // The session is the server's: nothing of it is left for the others either.
            if let Some(own) = pending.handle() {
                self.fail(own, error.clone());
            }
            return self.terminate(error, false);
        }
        self.fail_pending(&pending, error);
    }

    fn exchange_error(&self, pending: &Pending, outcome: ReplyOutcome) -> Error {
        let facts =
            |status| Facts { method: Some(pending.method.to_string()), status, ..Facts::default() };
        let ReplyOutcome { status, unreachable, reason } = outcome;
        if unreachable {
            let reason = reason.unwrap_or("unreachable");
            return self.error(Code::ConnectionClosed, reason).facts(facts(None));
        }
        if let Some(reason) = reason {
            let code = match reason {
                "session_ended" | "egress_denied" => Code::ConnectionClosed,
                _ => Code::ProtocolError,
            };
            let limit = Facts { status, ..self.limit_of(reason) };
            let method = Some(pending.method.to_string());
            return self.error(code, reason).facts(Facts { method, ..limit });
        }
        match status {
            Some(status) if !(200..300).contains(&status) => {
                self.error(Code::ProtocolError, "http_status").facts(facts(Some(status)))
            }
            _ => self.error(Code::ConnectionClosed, "unanswered").facts(facts(None)),
        }
    }

    /// A probe's exchange ended without an answer. A server that refuses it is an older one; one
    /// that cannot be reached, or lets nobody in, would not take `initialize` either.
    fn probe_unanswered(&mut self, id: u32, outcome: ReplyOutcome, error: Error) {
        const NO_ENTRY: [u16; 2] = [401, 403];
        self.probe_closed(id);
        let no_entry = outcome.status.is_some_and(|status| NO_ENTRY.contains(&status));
        if outcome.unreachable || no_entry {
            self.terminate(error, false);
        } else {
            self.probe_failed(error);
        }
    }

    /// A request that was handed out is given up: its exchange can end.
    pub(super) fn exchange_abandoned(&mut self, pending: &Pending) {
        if let Some(handle) = pending.exchange.filter(|_| self.by_message) {
            self.reports.event(Event::Abandoned { handle });
        }
    }

    /// True if closing the exchange tells the server enough.
    pub(super) fn closing_cancels(&self) -> bool {
        let closing = |revision: &Revision| revision.closing_cancels;
        self.by_message && self.revision.is_some_and(closing)
    }

    /// What came in reply to a message is no JSON-RPC, or the wrong one.
    pub(super) fn reply_refused(&mut self, handle: Handle, reason: &'static str) {
        let Some(id) = self.request_of(handle) else { return };
        self.fail_malformed(reason, [Some(i64::from(id)), None]);
    }
}
