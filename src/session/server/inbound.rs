//! What came in: messages to their place, and an answer to whoever sent what is none.
//!
//! Invariant: every line that could be a request is answered once; no reply ever is, so two peers
//! cannot send each other errors for ever.

use std::rc::Rc;

use crate::json::Value;
use crate::wire::{Id, Message, Profile, Rules, classify, request_id};

use super::answer::{Batch, Fault, INVALID_REQUEST, PARSE_ERROR, Route};
use super::core::{Core, Line, Rest};

const RULES: Rules = Rules { profile: Profile::Contain, lenient_ids: false };

const NULL: &str = "null";

impl Core {
    /// Takes one message of a line to its place.
    pub(super) fn message(&mut self, line: &Rc<Line>, at: u32, batch: Option<u32>) {
        let root = line.tape.value(&line.bytes, at);
        let route = self.route(batch);
        let (deep, overflow) = (line.tape.is_too_deep(), line.tape.has_number_overflow());
        let classified = classify(root, RULES, deep, overflow);
        let raw = root.raw().as_bytes();
        for _ in 0..classified.nulls {
            self.note_line("null_member", raw);
        }
        match classified.message {
            Message::Request { id, method, params } => {
                self.request(route, id, &method.to_str(), params);
            }
            Message::Notification { method, params } => {
                self.notification(&method.to_str(), params);
            }
            // This side asks nothing, so these answer nothing.
            Message::Result { .. } | Message::Error { .. } | Message::Uncorrelated(_) => {
                self.note_line("unknown_id", raw);
            }
            Message::Batch(items) => self.batch(line, items, route),
            Message::Noise => {
                self.note_line("noise_line", raw);
                self.invalid(route, root);
            }
            Message::Malformed(malformed) => {
                let repeats = malformed.reason == "duplicate_member";
                self.note_line(if repeats { malformed.reason } else { "malformed_message" }, raw);
                self.invalid(route, root);
            }
        }
    }

    pub(super) fn route(&self, batch: Option<u32>) -> Route {
        Route { exchange: self.exchange.as_ref().map(|exchange| exchange.number), batch }
    }

    /// Answers something that is no message, unless it looks like an answer itself.
    fn invalid(&mut self, route: Route, root: Value<'_>) {
        let is_reply = root.is_object()
            && root.get("method").is_none()
            && (root.get("result").is_some() || root.get("error").is_some());
        if is_reply {
            return;
        }
        let id = own_id(root).unwrap_or_else(|| NULL.to_owned());
        let fault = Fault::new(INVALID_REQUEST, "Not a valid JSON-RPC 2.0 message", 400);
        self.refuse(route, &id, &fault);
    }

    /// A line that is no JSON, or a scalar.
    pub(super) fn no_message(&mut self, bytes: &[u8]) {
        self.note_line("noise_line", bytes);
        let fault = Fault::new(PARSE_ERROR, "Not a JSON-RPC message", 400);
        self.refuse(self.route(None), NULL, &fault);
    }

    /// A line that cannot be read whole: the id that its beginning shows is answered.
    pub(super) fn unreadable(&mut self, reason: &'static str, bytes: &[u8]) {
        let code = if reason == "tokens" { "malformed_message" } else { reason };
        self.note_line(code, bytes);
        let head = bytes.get(..crate::wire::HEAD_BYTES).unwrap_or(bytes);
        if crate::wire::reply_id(head).is_some() {
            return;
        }
        let (text, status) = match reason {
            "frame_too_long" => ("The message is too long", 413),
            "tokens" => ("The message has too many values", 400),
            _ => ("The message is not UTF-8", 400),
        };
        let id = request_id(head).filter(|id| !self.is_open_id(id));
        let fault = Fault::new(PARSE_ERROR, text, status);
        self.refuse(self.route(None), id.as_deref().unwrap_or(NULL), &fault);
    }

    /// An array of messages: what revision 2025-03-26 allows.
    fn batch(&mut self, line: &Rc<Line>, items: Value<'_>, route: Route) {
        let allowed = route.batch.is_none() && self.agreed.is_some_and(|revision| revision.batch);
        let fits = f64::from(items.len()) <= self.options.limits.max_batch;
        if !allowed || !fits || items.is_empty() {
            self.note_line("batch", items.raw().as_bytes());
            let text = match (allowed, items.is_empty()) {
                (false, _) => "Arrays of messages are not part of this revision",
                (true, true) => "An array of messages is empty",
                (true, false) => "An array has too many messages",
            };
            self.refuse(route, NULL, &Fault::new(INVALID_REQUEST, text, 400));
            return;
        }
        self.last_batch += 1;
        let batch = self.last_batch;
        let (open, exchange) = (items.len(), route.exchange);
        self.batches.insert(batch, Batch { exchange, open, answers: Vec::new() });
        let (next, end) = (items.position() + 1, items.next_position() - 1);
        self.rest = Some(Rest { line: Rc::clone(line), next, end, batch });
    }
}

/// The id of something that has a method, if it is one and stands there once.
fn own_id(root: Value<'_>) -> Option<String> {
    root.get("method")?.text()?;
    let mut ids = root.members().filter(|(name, _)| name.eq_str("id"));
    let (_, id) = ids.next()?;
    if ids.next().is_some() {
        return None;
    }
    match (id.text(), crate::wire::safe_integer(id)) {
        (Some(text), _) => Some(Id::Text(text).to_json()),
        (_, Some(number)) => Some(Id::Number(number).to_json()),
        _ => None,
    }
}
