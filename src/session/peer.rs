//! What the server asks and tells: requests (rows R53, R54, R56, R57), notifications (R55) and,
//! in `contain`, progress.

use crate::error::{Code, Error, Facts};
use crate::json::{self, Value};
use crate::wire::encode;

use super::core::Core;
use super::event::{Event, RpcFault};
use super::outbound::{Offered, Owner, WhenFull};
use super::report::source;
use super::revision;
use super::rounds::Asked;
use super::timers::Timer;

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

impl Core {
    /// A request of the server's; `id` is its JSON text.
    pub(super) fn peer_request(&mut self, id: String, method: &str, params: Option<&str>) {
        if self.holds(&id, method, params) {
            return;
        }
        if self.revision.is_some_and(|revision| !revision.peer_requests) {
            // Nothing may be written in answer.
            self.reports.note(source::WIRE, "malformed_message", method);
            return;
        }
        if method == "ping" {
            self.answer(encode::result(&id, "{}"));
            return;
        }
        if self.strict() || !self.declares(method) {
            self.answer(encode::error(&id, METHOD_NOT_FOUND, "Method not found", None));
            return;
        }
        if params.is_some_and(|params| !params.starts_with('{')) {
            self.answer(encode::error(&id, INVALID_PARAMS, "Params must be an object", None));
            return;
        }
        if self.peer.len() as f64 >= self.options.limits.max_peer_requests {
            self.answer(encode::error(&id, INTERNAL_ERROR, "Too many open requests", None));
            return;
        }
        self.last_token += 1;
        self.peer.insert(self.last_token, Asked::Request(id));
        self.reports.event(Event::Request {
            token: self.last_token,
            method: method.to_owned(),
            params: params.map(str::to_owned),
        });
    }

    /// True if the client's capabilities promise to serve the method.
    pub(super) fn declares(&self, method: &str) -> bool {
        revision::capability_of(method).is_some_and(|capability| {
            let own = self.own_capabilities().as_bytes();
            let declared = json::read(own, json::Limits::depth(128));
            declared.is_ok_and(|tape| tape.root(own).get(capability).is_some())
        })
    }

    /// The host's answer to a request it was handed.
    pub(super) fn answer_for_host(&mut self, token: u32, outcome: Result<String, RpcFault>) {
        let Some(asked) = self.peer.remove(&token) else { return };
        if self.is_over() {
            return;
        }
        let id = match asked {
            Asked::Request(id) => id,
            Asked::Round(handle) => return self.round_answered(handle, token, outcome),
        };
        let frame = match &outcome {
            Ok(result) => encode::result(&id, result),
            Err(fault) => encode::error(&id, fault.code, &fault.message, fault.data.as_deref()),
        };
        match self.fit(frame, "response") {
            Ok(frame) => self.queue_answer(frame),
            Err(_) => {
                // The server is owed an answer all the same.
                self.reports.note(source::TRANSPORT, "transport", "outbound_frame_too_long");
                self.answer(encode::error(&id, INTERNAL_ERROR, "The answer is too long", None));
            }
        }
    }

    /// Answers a request of the server's.
    fn answer(&mut self, frame: Vec<u8>) {
        match self.fit(frame, "response") {
            Ok(frame) => self.queue_answer(frame),
            Err(error) if self.strict() => self.terminate(error, false),
            Err(_) => {
                self.reports.note(source::TRANSPORT, "transport", "outbound_frame_too_long");
            }
        }
    }

    /// Queues an answer; while it waits for room, no line is read.
    fn queue_answer(&mut self, frame: Vec<u8>) {
        if let Offered::Waits(ticket) = self.outbound.offer(frame, Owner::Answer, WhenFull::Wait) {
            self.blocked = Some(ticket);
            self.timers.set(Timer::Answer, self.now + self.options.limits.request_timeout_ms);
        }
    }

    /// An answer found no room in time: the end in `strict`; in `contain` it is dropped.
    pub(super) fn answer_due(&mut self) {
        let Some(ticket) = self.blocked.take() else { return };
        self.outbound.withdraw(ticket);
        if self.strict() {
            let ms = Some(self.options.limits.request_timeout_ms);
            let facts = Facts { ms, ..Facts::default() };
            let error = self.error(Code::Timeout, "response_admission").facts(facts);
            self.terminate(error, true);
        } else {
            self.reports.note(source::TRANSPORT, "transport", "response_admission");
        }
    }

    /// A notification of the server's.
    pub(super) fn peer_notification(&mut self, method: &str, params: Option<Value<'_>>) {
        if self.strict() {
            return;
        }
        match method {
            "notifications/progress" if self.progress(params) => return,
            "notifications/tools/list_changed" => self.tools_changed(),
            "notifications/cancelled" => self.peer_cancels(params),
            "notifications/subscriptions/acknowledged" => self.acknowledged(params),
            _ => {}
        }
        self.reports.event(Event::Notification {
            method: method.to_owned(),
            params: params.map(|params| params.raw().to_owned()),
        });
    }

    /// The server gives up a request of its own.
    fn peer_cancels(&mut self, params: Option<Value<'_>>) {
        let Some(id) = params.and_then(|params| params.get("requestId")) else { return };
        let id = id.raw();
        if self.unsubscribed(id) {
            return;
        }
        let is = |asked: &Asked| matches!(asked, Asked::Request(open) if *open == id);
        let token = self.peer.iter().find(|(_, asked)| is(asked)).map(|(token, _)| *token);
        if let Some(token) = token {
            self.peer.remove(&token);
            self.reports.event(Event::RequestCancelled { token });
        }
    }

    /// Progress of a request of ours: restarts its clock. False if it belongs to none.
    fn progress(&mut self, params: Option<Value<'_>>) -> bool {
        let member = |name| params.and_then(|params: Value<'_>| params.get(name));
        let token = member("progressToken").filter(|token| token.is_string() || is_number(*token));
        let number = |value: Value<'_>| value.number().and_then(|text| text.parse::<f64>().ok());
        let (Some(token), Some(progress)) = (token, member("progress").and_then(number)) else {
            let detail = params.map_or("", Value::raw);
            self.reports.note(source::WIRE, "malformed_notification", detail);
            return false;
        };
        let id = token.number().and_then(|text| text.parse::<u32>().ok());
        let now = self.now;
        let open = id.and_then(|id| Some((id, self.requests.get(id)?)));
        let handle = open.and_then(|(_, pending)| pending.handle().filter(|_| pending.has_token));
        let (Some((id, pending)), Some(handle)) = (open, handle) else {
            self.reports.note(source::WIRE, "unknown_progress_token", token.raw());
            return false;
        };
        if pending.times.resets {
            let deadline = pending.deadline(now);
            self.timers.set(Timer::Request(id), deadline);
        }
        self.reports.event(Event::Progress {
            handle,
            progress,
            total: member("total").and_then(number),
            message: member("message").and_then(Value::text).map(|text| text.to_str().into_owned()),
        });
        true
    }

    /// The frame, escaped as the profile wants, if it keeps to the outbound bound (row R52).
    pub(super) fn fit(&self, frame: Vec<u8>, method: &str) -> Result<Vec<u8>, Error> {
        let frame = if self.strict() { frame } else { encode::escape_line_separators(frame) };
        let limit = self.options.limits.max_outbound_frame_bytes;
        if frame.len() as f64 <= limit {
            return Ok(frame);
        }
        let facts = Facts {
            method: Some(method.to_owned()),
            limit: Some(limit as u64),
            ..Facts::default()
        };
        Err(self.error(Code::ProtocolError, "outbound_frame_too_long").facts(facts))
    }
}

fn is_number(value: Value<'_>) -> bool {
    value.number().is_some()
}
