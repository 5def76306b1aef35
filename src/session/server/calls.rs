//! Calls that the host works on: their results, progress, cancellation and deadlines.
//!
//! Invariant: a call leaves `calls` once, with an answer or without one, and its id is free again
//! then; a token that is not open is ignored.

use std::rc::Rc;

use crate::json::Value;
use crate::session::event::RpcFault;
use crate::session::revision::{Family, Revision};
use crate::wire::{Id, encode, safe_integer};

use super::answer::{Fault, INTERNAL_ERROR, Kind, MISSING_CAPABILITY, Owner, Route};
use super::core::Core;
use super::event::{ServerEvent, Token};
use super::result::{Peer, tool_result};
use super::tools::Tool;

/// What makes an id one of a kind: messages that are judged by themselves have ids of their own.
pub(super) type Key = (Option<u32>, String);

/// A call that is not answered yet.
pub(super) struct OpenCall {
    /// JSON text of its id, as it must be echoed.
    pub(super) id: String,
    pub(super) key: Key,
    pub(super) route: Route,
    pub(super) revision: &'static Revision,
    pub(super) tool: Rc<Tool>,
    pub(super) made: f64,
    /// JSON text of its progress token.
    pub(super) progress_token: Option<String>,
    /// The progress told last.
    pub(super) progress: f64,
    /// JSON text of the client's capabilities.
    pub(super) capabilities: Option<Rc<str>>,
    /// The level from which on log messages are wanted with it, by rank.
    pub(super) log_level: Option<u8>,
}

impl Core {
    pub(super) fn open_call(&mut self, call: OpenCall) -> Token {
        self.last_token += 1;
        self.open_ids.insert(call.key.clone(), Some(self.last_token));
        self.calls.insert(self.last_token, call);
        self.opened = true;
        self.last_token
    }

    fn close_call(&mut self, token: Token) -> Option<OpenCall> {
        let call = self.calls.remove(&token)?;
        self.open_ids.remove(&call.key);
        Some(call)
    }

    /// True if a request of this id waits for its answer.
    pub(super) fn is_open_id(&self, id: &str) -> bool {
        self.open_ids.get(&(None, id.to_owned())).is_some()
    }

    /// The host's answer to a call.
    pub(super) fn respond(&mut self, token: Token, outcome: Result<String, RpcFault>) {
        let Some(call) = self.close_call(token) else { return };
        let peer = Peer {
            revision: call.revision,
            server_info: &self.options.server_info,
            capabilities: call.capabilities.as_deref(),
        };
        let (frame, status) = match outcome {
            Ok(text) => match tool_result(&text, &call.tool, &peer) {
                Ok(result) => (encode::result(&call.id, &result), 200),
                Err(fault) => (
                    encode::error(&call.id, fault.code, fault.message, fault.data.as_deref()),
                    fault.status,
                ),
            },
            Err(fault) => {
                let RpcFault { code, message, data } = fault;
                let modern = call.revision.family == Family::Modern;
                let status = if modern && code == MISSING_CAPABILITY { 400 } else { 200 };
                (encode::error(&call.id, code, &message, data.as_deref()), status)
            }
        };
        self.settle(&call, frame, status);
    }

    fn settle(&mut self, call: &OpenCall, frame: Vec<u8>, status: u16) {
        self.send(call.route, frame, Kind::Call, status);
        self.batch_step(call.route.batch);
    }

    /// A call ends without an answer.
    fn drop_call(&mut self, token: Token) -> Option<Route> {
        let call = self.close_call(token)?;
        self.event(ServerEvent::Cancelled { token });
        self.batch_step(call.route.batch);
        Some(call.route)
    }

    /// `notifications/cancelled`.
    pub(super) fn peer_cancels(&mut self, params: Option<Value<'_>>) {
        let member = |name| params.and_then(|params: Value<'_>| params.get(name));
        let Some(id) = member("requestId").and_then(id_key) else {
            self.note_line("malformed_notification", params.map_or("", Value::raw).as_bytes());
            return;
        };
        // What is judged by itself is given up by ending its exchange.
        match self.open_ids.get(&(None, id.clone())).copied() {
            Some(Some(token)) => {
                let route = self.drop_call(token).unwrap_or_default();
                if route.exchange.is_some() && route.batch.is_none() {
                    self.end_exchange(route.exchange, 200);
                }
            }
            Some(None) => self.end_listen(&(None, id)),
            // It crossed with the answer.
            None => {}
        }
    }

    /// The peer of an exchange is gone.
    pub(super) fn abandon(&mut self, exchange: u32) {
        let of = |call: &OpenCall| call.route.exchange == Some(exchange);
        let tokens: Vec<Token> =
            self.calls.iter().filter(|(_, call)| of(call)).map(|(token, _)| *token).collect();
        for token in tokens {
            self.drop_call(token);
        }
        let listening = |listen: &&super::notice::Listen| listen.exchange == Some(exchange);
        let keys: Vec<Key> =
            self.listens.iter().filter(listening).map(|listen| listen.key.clone()).collect();
        for key in keys {
            self.end_listen(&key);
        }
    }

    /// Progress of a call, if its client asked for it: only ever forward, and dropped when the
    /// queue is full.
    pub(super) fn progress(
        &mut self,
        token: Token,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) {
        let Some(call) = self.calls.get_mut(&token) else { return };
        let Some(name) = &call.progress_token else { return };
        if !progress.is_finite() || progress <= call.progress || self.outbound.is_full() {
            return;
        }
        call.progress = progress;
        let mut params = format!("{{\"progressToken\":{name},\"progress\":{progress}");
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params.push_str(&format!(",\"total\":{total}"));
        }
        if let Some(message) = message.filter(|_| call.revision.progress_message) {
            params.push_str(",\"message\":");
            params.push_str(&encode::quote(message));
        }
        params.push('}');
        let exchange = call.route.exchange;
        self.tell(exchange, "notifications/progress", &params);
    }

    /// Queues a notification.
    pub(super) fn tell(&mut self, exchange: Option<u32>, method: &str, params: &str) {
        let frame = encode::escape_line_separators(encode::notification(method, Some(params)));
        if frame.len() as f64 > self.options.limits.max_outbound_frame_bytes {
            self.note("transport", "transport", "outbound_frame_too_long");
            return;
        }
        let owner = Owner { kind: Kind::Notice, exchange, ends: false, status: 200 };
        self.queue(frame, owner);
    }

    /// When the first open call is too late: tokens rise with time, and all have the same.
    pub(super) fn next_deadline(&self) -> Option<f64> {
        let limit = self.options.limits.call_timeout_ms;
        let first = self.calls.first().filter(|_| self.blocked.is_none())?;
        Some(first.1.made + limit).filter(|at| *at < f64::INFINITY)
    }

    /// Fails the calls that are too late.
    pub(super) fn fail_overdue(&mut self) {
        let limit = self.options.limits.call_timeout_ms;
        while let Some(&(token, ref call)) = self.calls.first() {
            if call.made + limit > self.now {
                break;
            }
            let Some(call) = self.close_call(token) else { break };
            self.event(ServerEvent::Cancelled { token });
            let fault = Fault::internal("The call was not answered in time");
            let frame = encode::error(&call.id, INTERNAL_ERROR, fault.message, None);
            self.settle(&call, frame, fault.status);
        }
    }
}

/// An id as it is compared: the text of the number, or of the string however it was escaped.
pub(super) fn id_key(id: Value<'_>) -> Option<String> {
    match (id.text(), safe_integer(id)) {
        (Some(text), _) => Some(key_of(Id::Text(text))),
        (_, Some(number)) => Some(key_of(Id::Number(number))),
        _ => None,
    }
}

/// As [`id_key`].
pub(super) fn key_of(id: Id<'_>) -> String {
    match id {
        Id::Text(text) if !text.has_lone_surrogate() => encode::quote(&text.to_str()),
        id => id.to_json(),
    }
}
