//! Which era a server is of (DESIGN.md 6.7): the probe, `initialize` beside or behind it, and what
//! each answer comes to.
//!
//! Invariant: one era is spoken at a time. Until the first answer that decides, no request but
//! `server/discover` and `initialize` goes out; a modern answer that comes late overrules a legacy
//! one until the first request after it was handed out, and never later. A server that accepts
//! `initialize` although it answered the probe is legacy: official ones of both eras speak on a
//! pipe what opened it last. A process is started again at most once.

use crate::error::{Code, Error, Facts};
use crate::json::Value;
use crate::redact::StderrTail;
use crate::wire::{LineReader, Remote};

use super::core::{Core, Phase};
use super::event::Event;
use super::handshake::Greeting;
use super::options::Plan;
use super::outbound::Ticket;
use super::pending::Kind;
use super::report::source;
use super::revision::{self, Family, Revision};
use super::timers::Timer;

const DISCOVER: &str = "server/discover";

/// JSON-RPC's number for a revision that the server does not speak, and for a modern server's
/// other two complaints.
const UNSUPPORTED_VERSION: i64 = -32022;
const MODERN_REFUSALS: [i64; 2] = [-32020, -32021];

/// A request that the server made before it was known whether it may.
pub(super) struct Held {
    id: String,
    method: String,
    params: Option<String>,
}

/// What was asked and found out so far.
pub(super) struct Negotiation {
    plan: Plan,
    /// Probes that are open, by id.
    probes: Vec<u32>,
    /// True once a probe was waited for long enough.
    overdue: bool,
    /// True once the probe was sent again because the server named a revision.
    asked_again: bool,
    /// True once the process was started again.
    respawned: bool,
    /// `initialize`, while it is open.
    opening: Option<u32>,
    /// An `initialize` that was overruled before it was answered.
    overruled: Option<u32>,
    /// Why the legacy handshake failed while a probe was open.
    failed: Option<Error>,
    /// True from a legacy answer to the first request after it.
    fresh: bool,
    /// `notifications/initialized`, while a late answer could still make it wrong.
    initialized: Option<Ticket>,
    held: Vec<Held>,
}

impl Negotiation {
    pub(super) fn new(plan: Plan) -> Self {
        Negotiation {
            plan,
            probes: Vec::new(),
            overdue: false,
            asked_again: false,
            respawned: false,
            opening: None,
            overruled: None,
            failed: None,
            fresh: false,
            initialized: None,
            held: Vec::new(),
        }
    }

    /// `initialize` or the only probe: the request whose clock starts with the first bytes.
    pub(super) fn clock(&self) -> Option<u32> {
        self.opening.or_else(|| {
            let first = self.probes.first().copied();
            first.filter(|_| !self.plan.is_open())
        })
    }

    /// A request was handed out.
    pub(super) fn left(&mut self, id: u32) {
        if self.opening.is_none() && !self.probes.contains(&id) {
            self.fresh = false;
        }
    }

    /// A probe was answered with something that is no answer.
    pub(super) fn forget_probes(&mut self) {
        self.probes.clear();
    }

    pub(super) fn admitted(&mut self, initialized: Option<Ticket>) {
        self.opening = None;
        self.failed = None;
        self.fresh = !self.probes.is_empty();
        self.initialized = initialized;
    }
}

impl Core {
    /// Starts the session, or goes on with it in a process that was started again.
    pub(super) fn start(&mut self) {
        match self.phase {
            Phase::Idle => {}
            Phase::Respawning => return self.begin_legacy(),
            _ => return,
        }
        self.timers.set(Timer::Connect, self.now + self.options.limits.connect_timeout_ms);
        match self.negotiation.plan {
            Plan::Legacy | Plan::Known => self.begin_legacy(),
            Plan::Probe | Plan::Modern => self.probe_newest(),
            Plan::Hedge => {
                self.probe_newest();
                let at = self.now + self.options.limits.probe_hedge_ms;
                self.timers.set(Timer::Hedge, at);
            }
        }
    }

    fn probe_newest(&mut self) {
        if let Some(revision) = self.options.revisions_of(Family::Modern).first() {
            self.probe(revision);
        }
    }

    fn probe(&mut self, revision: &'static Revision) {
        self.phase = Phase::Probing;
        let limits = self.options.limits;
        let timeout = if self.negotiation.plan.is_open() {
            limits.probe_timeout_ms
        } else {
            // The server's first bytes start the clock; until then `Connect` bounds.
            f64::INFINITY
        };
        let params = format!("{{\"_meta\":{}}}", self.meta_text(Some(revision), None, None));
        if let Some(id) = self.send_own(DISCOVER, &params, Kind::Probe, timeout) {
            self.negotiation.probes.push(id);
        }
    }

    /// The probe was met with silence long enough: the other era is tried too.
    pub(super) fn hedge_due(&mut self) {
        // A host that sends each message by itself hears of each by itself.
        if self.phase == Phase::Probing && !self.by_message {
            self.begin_legacy();
        }
    }

    fn begin_legacy(&mut self) {
        self.timers.unset(Timer::Hedge);
        self.phase = Phase::Initializing;
        self.negotiation.opening = self.send_initialize();
        for Held { id, method, params } in std::mem::take(&mut self.negotiation.held) {
            self.peer_request(id, &method, params.as_deref());
        }
    }

    /// True if it is not known yet whether the server may send requests; such a one is kept.
    pub(super) fn holds(&mut self, id: &str, method: &str, params: Option<&str>) -> bool {
        if self.phase != Phase::Probing {
            return false;
        }
        if (self.negotiation.held.len() as f64) < self.options.limits.max_peer_requests {
            self.negotiation.held.push(Held {
                id: id.to_owned(),
                method: method.to_owned(),
                params: params.map(str::to_owned),
            });
        }
        true
    }

    /// True while an answer to the probe can decide.
    fn undecided(&self) -> bool {
        match self.phase {
            Phase::Probing | Phase::Initializing => true,
            Phase::Listing | Phase::Ready => self.negotiation.fresh,
            _ => false,
        }
    }

    /// A good answer to the probe.
    pub(super) fn discovered(&mut self, id: u32, result: Value<'_>) {
        self.negotiation.probes.retain(|probe| *probe != id);
        if !self.undecided() {
            return;
        }
        let named = result.get("supportedVersions").filter(|named| named.is_array());
        let Some(named) = named else {
            let error = self.error(Code::ProtocolError, "init_version_type");
            return self.probe_failed(error);
        };
        if let Some(revision) = self.mutual(named, Family::Modern) {
            return self.adopt(revision, result);
        }
        let error = self.version_unsupported(Some(known_names(named)));
        if self.mutual(named, Family::Legacy).is_some() {
            self.probe_failed(error);
        } else {
            self.terminate(error, false);
        }
    }

    /// The newest revision of an era that both sides speak.
    fn mutual(&self, named: Value<'_>, family: Family) -> Option<&'static Revision> {
        let names = |revision: &&&Revision| {
            named.elements().any(|name| name.text().is_some_and(|text| text.eq_str(revision.name)))
        };
        self.options.revisions_of(family).iter().find(names).copied()
    }

    /// An error in answer to the probe.
    pub(super) fn probe_refused(&mut self, id: u32, remote: Remote<'_>, error: Error) {
        self.negotiation.probes.retain(|probe| *probe != id);
        if !self.undecided() {
            return;
        }
        if remote.code == UNSUPPORTED_VERSION
            && let Some(named) = supported(remote.object)
        {
            let unsupported = self.version_unsupported(Some(known_names(named)));
            let unsupported = unsupported.private(private_of(&error));
            match self.mutual(named, Family::Modern) {
                Some(revision) if !self.negotiation.asked_again => self.ask_again(revision),
                None if self.mutual(named, Family::Legacy).is_some() => {
                    self.probe_failed(unsupported);
                }
                // Modern all the same: `initialize` would be refused.
                _ => self.terminate(unsupported, false),
            }
        } else if MODERN_REFUSALS.contains(&remote.code) && self.phase == Phase::Probing {
            self.terminate(error, false);
        } else {
            self.probe_failed(error);
        }
    }

    /// Asks once more, at a revision that the server named.
    fn ask_again(&mut self, revision: &'static Revision) {
        self.negotiation.asked_again = true;
        self.negotiation.overdue = false;
        self.drop_legacy();
        self.probe(revision);
    }

    /// The probe did not find a modern server.
    pub(super) fn probe_failed(&mut self, error: Error) {
        match self.phase {
            Phase::Probing if !self.negotiation.plan.is_open() => self.terminate(error, false),
            Phase::Probing if self.negotiation.asked_again => self.terminate(error, false),
            Phase::Probing => self.begin_legacy(),
            Phase::Initializing if self.negotiation.probes.is_empty() => self.give_in(),
            _ => {}
        }
    }

    /// Both ways failed: what the legacy one met with is the reason.
    fn give_in(&mut self) {
        if let Some(error) = self.negotiation.failed.take() {
            self.terminate(error, false);
        }
    }

    /// A probe is over without an answer.
    pub(super) fn probe_closed(&mut self, id: u32) {
        self.negotiation.probes.retain(|probe| *probe != id);
    }

    /// A probe's time is over. It stays open: its answer may come late. False if it is the only
    /// way, so that it fails as any request does.
    pub(super) fn probe_due(&mut self, id: u32) -> bool {
        let open = self.negotiation.plan.is_open() && !self.negotiation.asked_again;
        if !open || !self.negotiation.probes.contains(&id) {
            return false;
        }
        self.negotiation.overdue = true;
        match self.phase {
            Phase::Probing => self.begin_legacy(),
            Phase::Initializing => self.give_in(),
            _ => {}
        }
        true
    }

    /// The legacy handshake failed: the end, unless a probe may still be answered.
    pub(super) fn legacy_failed(&mut self, error: Error) {
        if self.phase != Phase::Initializing {
            return;
        }
        self.negotiation.opening = None;
        let waits = !self.negotiation.probes.is_empty() && !self.negotiation.overdue;
        if waits {
            self.negotiation.failed = Some(error);
        } else {
            self.terminate(error, false);
        }
    }

    /// An error in answer to `initialize`: `contain` reads the revisions the server names.
    pub(super) fn initialize_refused(&mut self, id: u32, remote: Remote<'_>, error: Error) {
        if self.overruled(id) {
            return;
        }
        let named = supported(remote.object).filter(|_| !self.strict());
        let Some(named) = named else { return self.legacy_failed(error) };
        let modern = self
            .mutual(named, Family::Modern)
            .filter(|_| self.negotiation.plan.is_open() && !self.negotiation.asked_again);
        match modern {
            Some(revision) => self.ask_again(revision),
            None => {
                let unsupported = self.version_unsupported(Some(known_names(named)));
                self.legacy_failed(unsupported.private(private_of(&error)));
            }
        }
    }

    /// The server is modern.
    fn adopt(&mut self, revision: &'static Revision, result: Value<'_>) {
        let was_ready = self.phase == Phase::Ready;
        let greeting = match self.greeting_of(result, Family::Modern) {
            Ok(greeting) => greeting,
            Err(error) => return self.terminate(error, false),
        };
        self.drop_legacy();
        self.timers.unset(Timer::Hedge);
        self.negotiation.held.clear();
        self.negotiation.fresh = false;
        self.revision = Some(revision);
        self.greeting = greeting;
        if was_ready {
            // The catalog is the host's own, or there was none to read.
            self.ready();
        } else {
            self.phase = Phase::Listing;
            self.first_catalog();
        }
    }

    /// Takes back what a legacy session began with.
    fn drop_legacy(&mut self) {
        self.negotiation.failed = None;
        self.negotiation.fresh = false;
        if let Some(ticket) = self.negotiation.initialized.take() {
            self.outbound.withdraw(ticket);
        }
        if let Some(id) = self.negotiation.opening.take() {
            match self.requests.get(id).map(|pending| pending.queued.is_none()) {
                Some(true) => {
                    self.timers.unset(Timer::Request(id));
                    self.negotiation.overruled = Some(id);
                }
                _ => self.forget_request(id),
            }
        }
        for id in self.requests.pages() {
            self.forget_request(id);
        }
        self.forget_walk();
        self.timers.unset(Timer::Refresh);
        self.revision = None;
        self.greeting = Greeting::default();
        self.peer.clear();
    }

    /// True for requests that half of all servers refuse: that is an answer, not a fault.
    pub(super) fn is_expected(&self, kind: &Kind) -> bool {
        match kind {
            Kind::Probe => true,
            Kind::Initialize => self.negotiation.plan.is_open(),
            _ => false,
        }
    }

    /// True if an answer to `initialize` comes after that was overruled.
    pub(super) fn overruled(&mut self, id: u32) -> bool {
        self.negotiation.overruled.take_if(|overruled| *overruled == id).is_some()
    }

    /// Takes back what a modern session began with: the server opened a legacy one after all.
    pub(super) fn drop_modern(&mut self) {
        for id in self.requests.pages() {
            self.forget_request(id);
        }
        self.forget_walk();
        self.forget_listening();
    }

    /// True if the end of the process is its answer to the probe, and it can be started again.
    pub(super) fn died_on_probe(&self) -> bool {
        let Negotiation { plan, respawned, failed, probes, .. } = &self.negotiation;
        let handed_out = |id: &u32| self.requests.get(*id).is_some_and(|one| one.queued.is_none());
        matches!(self.phase, Phase::Probing | Phase::Initializing)
            && plan.is_open()
            && self.options.respawn
            && !self.by_message
            && !respawned
            && failed.is_none()
            && probes.iter().any(handed_out)
    }

    /// Has the host start the process again; what it said so far is forgotten.
    pub(super) fn respawn(&mut self) {
        let limits = self.options.limits;
        self.phase = Phase::Respawning;
        let plan = self.negotiation.plan;
        self.negotiation = Negotiation { respawned: true, ..Negotiation::new(plan) };
        self.timers.unset(Timer::Hedge);
        self.outbound.clear();
        // Requests of the session's own alone: the host's are refused before it is ready.
        for id in self.requests.ids() {
            self.forget_request(id);
        }
        self.blocked = None;
        self.timers.unset(Timer::Answer);
        self.peer.clear();
        self.lines = LineReader::new(limits.max_frame_bytes as usize, self.options.profile);
        self.tail = StderrTail::new(limits.max_stderr_bytes as usize);
        self.stderr_ended = false;
        self.heard = false;
        self.reports.note(source::TRANSPORT, "transport", "respawn");
        self.reports.event(Event::Respawn);
    }

    /// `supported`: the revisions that the server named, if it named any.
    pub(super) fn version_unsupported(&self, supported: Option<Vec<String>>) -> Error {
        let families: &[Family] = match self.negotiation.plan {
            Plan::Legacy => &[Family::Legacy],
            Plan::Modern => &[Family::Modern],
            _ => &[Family::Modern, Family::Legacy],
        };
        let own: Vec<_> = families
            .iter()
            .flat_map(|family| self.options.revisions_of(*family))
            .map(|known| known.name)
            .collect();
        self.error(Code::ProtocolError, "init_version_unsupported")
            .why(own.join(", "))
            .facts(Facts { supported, ..Facts::default() })
    }
}

/// The revisions that an error names, if it names any.
fn supported(object: Value<'_>) -> Option<Value<'_>> {
    let named = object.get("data").and_then(|data| data.get("supported"));
    named.filter(|named| named.is_array())
}

/// The names this crate knows: others could be anything.
fn known_names(named: Value<'_>) -> Vec<String> {
    let known = |name: Value<'_>| {
        revision::named(&name.text()?.to_str()).map(|known| known.name.to_owned())
    };
    named.elements().filter_map(known).collect()
}

fn private_of(error: &Error) -> String {
    error.private_json().unwrap_or("{}").to_owned()
}
