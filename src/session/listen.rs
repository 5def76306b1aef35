//! The subscription to changes of the server's lists, where they do not come unasked
//! (2026-07-28, `subscriptions/listen`).
//!
//! Invariant: at most one is open; it costs the session nothing but itself. One that ends is opened
//! again after a pause that doubles; one that is refused is not. What changed while there was none
//! is found by reading the list once more.

use crate::error::{Code, Error};
use crate::json::Value;

use super::core::{Core, Phase};
use super::pending::Kind;
use super::report::source;
use super::revision::meta;
use super::timers::Timer;

/// Milliseconds before an ended subscription is opened again, at first and at most.
const FIRST_PAUSE_MS: f64 = 1_000.0;
const LONGEST_PAUSE_MS: f64 = 60_000.0;

/// What can be subscribed to, in the order of what a server declares.
const LISTS: [&str; 3] = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];

/// The subscription.
#[derive(Default)]
pub(super) struct Listening {
    id: Option<u32>,
    opened: f64,
    pause: f64,
    /// True once one was acknowledged.
    before: bool,
}

impl Core {
    /// Subscribes to what the server says it tells of.
    pub(super) fn listen(&mut self) {
        let method = self.revision.and_then(|revision| revision.listen);
        let Some(method) = method.filter(|_| self.listening.id.is_none()) else { return };
        let changes = self.greeting.changes.iter().zip(LISTS).filter(|(changes, _)| **changes);
        let wanted: Vec<String> = changes.map(|(_, list)| format!("\"{list}\":true")).collect();
        if wanted.is_empty() {
            return;
        }
        let params = format!("{{\"notifications\":{{{}}}}}", wanted.join(","));
        // The acknowledgement has a deadline, the subscription none.
        let timeout = self.options.limits.handshake_timeout_ms;
        self.listening.opened = self.now;
        self.listening.id = self.send_own(method, &params, Kind::Listen, timeout);
    }

    /// A notification that belongs to the subscription, if it is its acknowledgement.
    pub(super) fn acknowledged(&mut self, params: Option<Value<'_>>) {
        let names = params
            .and_then(|params| params.get("_meta"))
            .and_then(|known| known.get(meta::SUBSCRIPTION))
            .map(Value::raw);
        let Some(id) = self.listening.id else { return };
        if names != Some(id.to_string().as_str()) {
            return;
        }
        self.timers.unset(Timer::Request(id));
        if let Some(pending) = self.requests.get_mut(id) {
            pending.times.timeout = f64::INFINITY;
        }
        let before = std::mem::replace(&mut self.listening.before, true);
        // The catalog was asked for before there was a subscription: what changed between the two
        // was told to nobody. One that the host gave is as old as the host wants.
        if before || self.options.tools.is_none() && self.greeting.changes.first() == Some(&true) {
            self.tools_changed();
        }
    }

    /// The server ended the subscription by its id. False if it is another id.
    pub(super) fn unsubscribed(&mut self, id: &str) -> bool {
        let Some(own) = self.listening.id.filter(|own| own.to_string() == id) else { return false };
        self.forget_request(own);
        self.listen_ended();
        true
    }

    /// Ends the subscription: it is not for this session.
    pub(super) fn forget_listening(&mut self) {
        if let Some(id) = self.listening.id.take() {
            self.forget_request(id);
        }
        self.timers.unset(Timer::Listen);
    }

    /// The subscription ended without a fault.
    pub(super) fn listen_ended(&mut self) {
        let Listening { opened, pause, .. } = self.listening;
        self.listening.id = None;
        if !matches!(self.phase, Phase::Ready | Phase::Listing) {
            return;
        }
        let lived = self.now - opened;
        let pause = if lived >= LONGEST_PAUSE_MS { 0.0 } else { pause };
        let pause = (pause * 2.0).clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        self.listening.pause = pause;
        self.timers.set(Timer::Listen, self.now + pause);
    }

    /// The subscription failed: what it would have told is missed, the session goes on.
    pub(super) fn listen_failed(&mut self, error: &Error) {
        self.reports.note(source::TRANSPORT, "transport", "subscription");
        if error.code() == Code::ConnectionClosed && self.listening.before {
            self.listen_ended();
        } else {
            self.listening.id = None;
        }
    }
}
