//! The opening of a legacy session: rows R04 to R09, what `contain` forgives, and what a server of
//! either era says about itself.

use crate::error::{Code, Error};
use crate::json::Value;
use crate::wire::encode;

use super::core::{Core, Phase};
use super::document::repeats;
use super::event::Event;
use super::outbound::{Offered, Owner, WhenFull};
use super::pending::{Kind, Pending, Times};
use super::report::source;
use super::revision::{Family, meta};
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
    /// Whether it tells of changes to its tools, prompts and resources.
    pub(super) changes: [bool; 3],
}

impl Core {
    /// Sends `initialize`; gives its id, or none if it cannot be sent.
    pub(super) fn send_initialize(&mut self) -> Option<u32> {
        let limits = self.options.limits;
        let revisions = self.options.revisions_of(Family::Legacy);
        let proposed = revisions.first().map_or("", |revision| revision.name);
        let capabilities = self.own_capabilities();
        let info = self.own_info();
        let params = format!(
            "{{\"protocolVersion\":\"{proposed}\",\"capabilities\":{capabilities},\"clientInfo\":{info}}}"
        );
        // In `contain` the server's first bytes start the clock; until then `Connect` bounds.
        let starts = self.strict() || self.saw_bytes;
        let timeout = if starts { limits.handshake_timeout_ms } else { f64::INFINITY };
        self.send_own("initialize", &params, Kind::Initialize, timeout)
    }

    /// Who the client says it is, as JSON text.
    pub(super) fn own_info(&self) -> String {
        let info = &self.options.client_info;
        let title = info
            .title
            .as_deref()
            .map_or_else(String::new, |title| format!(",\"title\":{}", encode::quote(title)));
        let (name, version) = (encode::quote(&info.name), encode::quote(&info.version));
        format!("{{\"name\":{name},\"version\":{version}{title}}}")
    }

    /// The capabilities the client declares: none in `strict` (row R04).
    pub(super) fn own_capabilities(&self) -> &str {
        if self.strict() { "{}" } else { &self.options.capabilities }
    }

    /// Sends a request of the session's own; gives its id, or none if it cannot be sent.
    pub(super) fn send_own(
        &mut self,
        method: &str,
        params: &str,
        kind: Kind,
        timeout: f64,
    ) -> Option<u32> {
        let id = self.requests.next_id();
        let stamped = self.stamp_params(params);
        let frame = encode::request(id, method, Some(stamped.as_deref().unwrap_or(params)));
        let frame = match self.fit(frame, method) {
            Ok(frame) => frame,
            Err(error) => {
                self.own_request_failed(&kind, error);
                return None;
            }
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
            exchange: None,
            again: None,
        };
        self.timers.set(Timer::Request(id), pending.deadline(self.now));
        self.requests.insert(id, pending);
        Some(id)
    }

    /// A request of the session's own came to nothing.
    pub(super) fn own_request_failed(&mut self, kind: &Kind, error: Error) {
        match kind {
            Kind::Page => self.walk_failed(error),
            Kind::Probe => self.probe_failed(error),
            Kind::Initialize => self.legacy_failed(error),
            Kind::Listen => self.listen_failed(&error),
            Kind::Tool(_) | Kind::Plain(_) => {}
        }
    }

    /// The first bytes of the server start the handshake's clock in `contain`.
    pub(super) fn first_bytes(&mut self, now: f64) {
        self.saw_bytes = true;
        let timeout = self.options.limits.handshake_timeout_ms;
        if self.strict() || !matches!(self.phase, Phase::Probing | Phase::Initializing) {
            return;
        }
        if let Some(id) = self.negotiation.clock()
            && let Some(pending) = self.requests.get_mut(id)
            && pending.times.timeout == f64::INFINITY
        {
            pending.times.timeout = timeout;
            self.timers.set(Timer::Request(id), now + timeout);
        }
    }

    /// The answer to `initialize` (row R08).
    pub(super) fn initialized(&mut self, id: u32, result: Value<'_>) {
        let was_ready = self.phase == Phase::Ready;
        if self.overruled(id) {
            if !matches!(self.phase, Phase::Listing | Phase::Ready) || self.greet(result).is_err() {
                return;
            }
            self.drop_modern();
            return self.admit(was_ready);
        }
        match self.greet(result) {
            Ok(()) => self.admit(false),
            Err(error) => self.legacy_failed(error),
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
        let accepted = self.options.revisions_of(Family::Legacy);
        let revision = accepted.iter().find(|revision| version.eq_str(revision.name));
        let Some(revision) = revision.copied() else {
            return Err(self.version_unsupported(None));
        };
        self.greeting = self.greeting_of(result, Family::Legacy)?;
        self.revision = Some(revision);
        Ok(())
    }

    /// What the server says about itself in the answer to `initialize` or to the probe.
    pub(super) fn greeting_of(
        &mut self,
        result: Value<'_>,
        family: Family,
    ) -> Result<Greeting, Error> {
        let fault = |reason| Err(self.error(Code::ProtocolError, reason));
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
        let mut server_info = object("serverInfo");
        if family == Family::Modern && server_info.is_none() {
            let named = result.get("_meta").and_then(|known| known.get(meta::SERVER_INFO));
            server_info = named.filter(|info| info.is_object());
        }
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
        let changes = |list: &str| {
            let declared = capabilities.and_then(|capabilities| capabilities.get(list));
            declared.and_then(|list| list.get("listChanged")).and_then(Value::as_bool) == Some(true)
        };
        Ok(Greeting {
            server_info: server_info.map(|info| info.raw().to_owned()),
            capabilities: capabilities.map_or("{}", Value::raw).to_owned(),
            instructions: instructions.and_then(Value::text).map(|text| text.to_str().into_owned()),
            has_tools,
            changes: ["tools", "prompts", "resources"].map(changes),
        })
    }

    /// The handshake stands: says so and turns to the catalog.
    fn admit(&mut self, was_ready: bool) {
        self.phase = Phase::Listing;
        let frame = encode::notification("notifications/initialized", None);
        let when_full = if self.strict() { WhenFull::Wait } else { WhenFull::Exceed };
        let ticket = match self.outbound.offer(frame, Owner::Initialized, when_full) {
            Offered::Waits(ticket) => {
                let deadline = self.now + self.options.limits.handshake_timeout_ms;
                self.timers.set(Timer::Initialized, deadline);
                Some(ticket)
            }
            Offered::Queued(ticket) => Some(ticket),
            Offered::Refused => None,
        };
        self.negotiation.admitted(ticket);
        if was_ready {
            self.ready();
        } else {
            self.first_catalog();
        }
    }

    /// The first catalog stands.
    pub(super) fn ready(&mut self) {
        self.phase = Phase::Ready;
        self.timers.unset(Timer::Connect);
        self.reports.event(Event::Ready {
            protocol_version: self.revision.map_or("", |revision| revision.name),
            era: self.revision.map_or(Family::Legacy, |revision| revision.family).as_str(),
            server_info: self.greeting.server_info.clone(),
            capabilities: self.greeting.capabilities.clone(),
            instructions: self.greeting.instructions.clone(),
        });
        self.listen();
    }
}
