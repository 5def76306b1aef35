//! The opening of a legacy session: rows R04 to R09, and what `contain` forgives.

use crate::error::{Code, Error, Facts};
use crate::json::Value;
use crate::wire::encode;

use super::core::{Core, Phase};
use super::document::repeats;
use super::event::Event;
use super::outbound::{Offered, Owner, WhenFull};
use super::pending::{Kind, Pending, Times};
use super::report::source;
use super::revision;
use super::timers::Timer;

/// The members of the answer to `initialize` that are read.
const READ: [&str; 4] = ["protocolVersion", "capabilities", "serverInfo", "instructions"];

/// What the server said about itself.
#[derive(Default)]
pub(super) struct Greeting {
    server_info: Option<String>,
    capabilities: String,
    instructions: Option<String>,
    /// True if the server declares tools.
    pub(super) has_tools: bool,
}

impl Core {
    /// Sends `initialize`.
    pub(super) fn start(&mut self) {
        if self.phase != Phase::Idle {
            return;
        }
        self.phase = Phase::Initializing;
        let limits = self.options.limits;
        self.timers.set(Timer::Connect, self.now + limits.connect_timeout_ms);
        let revisions = self.options.known_revisions();
        let proposed = revisions.first().map_or("", |revision| revision.name);
        let capabilities = self.own_capabilities();
        // Three strings always have a JSON text.
        let info = serde_json::to_string(&self.options.client_info).unwrap_or_default();
        let params = format!(
            "{{\"protocolVersion\":\"{proposed}\",\"capabilities\":{capabilities},\"clientInfo\":{info}}}"
        );
        // In `contain` the server's first bytes start the clock; until then `Connect` bounds.
        let timeout = if self.strict() { limits.handshake_timeout_ms } else { f64::INFINITY };
        self.send_own("initialize", &params, Kind::Initialize, timeout);
    }

    /// The capabilities the client declares: none in `strict` (row R04).
    pub(super) fn own_capabilities(&self) -> &str {
        if self.strict() { "{}" } else { &self.options.capabilities }
    }

    /// Sends a request of the session's own.
    pub(super) fn send_own(&mut self, method: &str, params: &str, kind: Kind, timeout: f64) {
        let id = self.requests.next_id();
        let frame = encode::request(id, method, Some(params));
        let frame = match self.fit(frame, method) {
            Ok(frame) => frame,
            Err(error) => return self.own_request_failed(&kind, error),
        };
        let when_full = if self.strict() { WhenFull::Wait } else { WhenFull::Exceed };
        let queued = match self.outbound.offer(frame, Owner::Request(id), when_full) {
            Offered::Queued(ticket) | Offered::Waits(ticket) => Some(ticket),
            Offered::Refused => None,
        };
        let times = Times { timeout, total: f64::INFINITY, resets: false };
        let pending = Pending {
            kind,
            method: method.into(),
            queued,
            made: self.now,
            times,
            has_token: false,
            errors_before: self.uncorrelated.0,
        };
        self.timers.set(Timer::Request(id), pending.deadline(self.now));
        self.requests.insert(id, pending);
    }

    /// A request of the session's own came to nothing.
    pub(super) fn own_request_failed(&mut self, kind: &Kind, error: Error) {
        match kind {
            Kind::Page => self.walk_failed(error),
            _ => self.terminate(error, false),
        }
    }

    /// The first bytes of the server start the handshake's clock in `contain`.
    pub(super) fn first_bytes(&mut self, now: f64) {
        const FIRST: u32 = 1;
        let timeout = self.options.limits.handshake_timeout_ms;
        if self.strict() || self.phase != Phase::Initializing {
            return;
        }
        if let Some(pending) = self.requests.get_mut(FIRST)
            && pending.times.timeout == f64::INFINITY
        {
            pending.times.timeout = timeout;
            self.timers.set(Timer::Request(FIRST), now + timeout);
        }
    }

    /// The answer to `initialize` (row R08).
    pub(super) fn initialized(&mut self, result: Value<'_>) {
        match self.greet(result) {
            Ok(()) => self.admit(),
            Err(error) => self.terminate(error, false),
        }
    }

    fn greet(&mut self, result: Value<'_>) -> Result<(), Error> {
        let fault = |reason| Err(self.error(Code::ProtocolError, reason));
        if !result.is_object() {
            return fault("init_not_object");
        }
        if !self.strict() && repeats(result, &READ) {
            return fault("duplicate_member");
        }
        let Some(version) = result.get("protocolVersion").and_then(Value::text) else {
            return fault("init_version_type");
        };
        let accepted = self.options.known_revisions();
        let revision = accepted.iter().find(|revision| version.eq_str(revision.name));
        let Some(revision) = revision.copied() else {
            return Err(self.version_unsupported(None));
        };
        let strict = self.strict();
        let mut remarks = Vec::new();
        let mut object = |name: &'static str| {
            let value = result.get(name)?;
            if !value.is_object() {
                remarks.push(name);
            }
            Some(value).filter(|value| value.is_object())
        };
        let capabilities = object("capabilities");
        let server_info = object("serverInfo");
        if capabilities.is_none() && strict {
            return fault("init_capabilities_type");
        }
        if capabilities.is_none() && result.get("capabilities").is_none() {
            remarks.push("capabilities");
        }
        let instructions = result.get("instructions");
        if instructions.is_some_and(|value| !value.is_string()) {
            remarks.push("instructions");
        }
        let tools = capabilities.and_then(|capabilities| capabilities.get("tools"));
        let has_tools = match tools {
            None => false,
            Some(tools) if tools.is_object() => true,
            Some(tools) => {
                remarks.push("capabilities.tools");
                !strict && !tools.is_null()
            }
        };
        if !has_tools && self.options.require_tools {
            return fault("init_no_tools");
        }
        for remark in remarks {
            self.reports.note(source::WIRE, "handshake_shape", remark);
        }
        self.revision = Some(revision);
        self.greeting = Greeting {
            server_info: server_info.map(|info| info.raw().to_owned()),
            capabilities: capabilities.map_or("{}", Value::raw).to_owned(),
            instructions: instructions.and_then(Value::text).map(|text| text.to_str().into_owned()),
            has_tools,
        };
        Ok(())
    }

    /// `supported`: the revisions that the server named, if it named any.
    fn version_unsupported(&self, supported: Option<Vec<String>>) -> Error {
        let own: Vec<_> = self.options.known_revisions().iter().map(|known| known.name).collect();
        self.error(Code::ProtocolError, "init_version_unsupported")
            .why(own.join(", "))
            .facts(Facts { supported, ..Facts::default() })
    }

    /// An error in answer to `initialize`: `contain` reads the revisions the server names.
    pub(super) fn initialize_refused(&mut self, object: Value<'_>, error: Error) {
        let named = object.get("data").and_then(|data| data.get("supported"));
        let named = named.filter(|named| named.is_array() && !self.strict());
        let error = match named {
            Some(named) => {
                // Names this crate does not know could be anything.
                let known = |name: Value<'_>| {
                    revision::named(&name.text()?.to_str()).map(|known| known.name.to_owned())
                };
                let supported = named.elements().filter_map(known).collect();
                let private = error.private_json().unwrap_or("{}").to_owned();
                self.version_unsupported(Some(supported)).private(private)
            }
            None => error,
        };
        self.terminate(error, false);
    }

    /// The handshake stands: says so and turns to the catalog.
    fn admit(&mut self) {
        self.phase = Phase::Listing;
        let frame = encode::notification("notifications/initialized", None);
        let when_full = if self.strict() { WhenFull::Wait } else { WhenFull::Exceed };
        if let Offered::Waits(_) = self.outbound.offer(frame, Owner::Initialized, when_full) {
            let deadline = self.now + self.options.limits.handshake_timeout_ms;
            self.timers.set(Timer::Initialized, deadline);
        }
        self.first_catalog();
    }

    /// The first catalog stands.
    pub(super) fn ready(&mut self) {
        self.phase = Phase::Ready;
        self.timers.unset(Timer::Connect);
        self.reports.event(Event::Ready {
            protocol_version: self.revision.map_or("", |revision| revision.name),
            era: "legacy",
            server_info: self.greeting.server_info.clone(),
            capabilities: self.greeting.capabilities.clone(),
            instructions: self.greeting.instructions.clone(),
        });
    }
}
