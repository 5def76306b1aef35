//! Requests of ours that are open, by id (rows R31, R50, R62, R63).
//!
//! Invariant: an id is open, or abandoned (given up after it was handed out, no answer yet), or
//! done; ids rise and are never used twice, so "sent at all" is a comparison.

use std::rc::Rc;

use crate::sorted::Sorted;

use super::event::Handle;
use super::options::{Numbers, Validation};
use super::outbound::Ticket;
use super::rounds::Again;
use super::tool::Tool;

/// What a request is for.
pub(super) enum Kind {
    /// `initialize`.
    Initialize,
    /// `server/discover`, asked to find out the era.
    Probe,
    /// The subscription to changes of lists.
    Listen,
    /// A page of the catalog walk.
    Page,
    /// A tool call of the host's.
    Tool(ToolCall),
    /// Any other request of the host's.
    Plain(Handle),
}

/// What a tool call needs when its result comes.
#[derive(Clone)]
pub(super) struct ToolCall {
    /// The host's handle.
    pub(super) handle: Handle,
    /// The tool as it was when the call was sent.
    pub(super) tool: Rc<Tool>,
    /// What an output violation leads to.
    pub(super) validation: Validation,
    /// How integers beyond 2^53 are read.
    pub(super) numbers: Numbers,
}

/// The deadlines of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// Milliseconds without a sign of life; infinity is none.
    pub(super) timeout: f64,
    /// Milliseconds in all; infinity is none.
    pub(super) total: f64,
    /// True if progress restarts `timeout`.
    pub(super) resets: bool,
}

/// An open request.
pub(super) struct Pending {
    /// What it is for.
    pub(super) kind: Kind,
    /// Its method.
    pub(super) method: Rc<str>,
    /// Its place in the outbound queue; none once it was handed out.
    pub(super) queued: Option<Ticket>,
    /// When it was made.
    pub(super) made: f64,
    /// Its deadlines.
    pub(super) times: Times,
    /// True if it carries a progress token.
    pub(super) has_token: bool,
    /// How many uncorrelated errors there were when it was made.
    pub(super) errors_before: u64,
    /// The handle of its exchange, once it was taken as a message by itself.
    pub(super) exchange: Option<Handle>,
    /// What it is made of, if the server may answer with a question.
    pub(super) again: Option<Again>,
}

impl Pending {
    /// The host's handle, if the host waits for it.
    pub(super) fn handle(&self) -> Option<Handle> {
        match &self.kind {
            Kind::Tool(call) => Some(call.handle),
            Kind::Plain(handle) => Some(*handle),
            Kind::Initialize | Kind::Page | Kind::Probe | Kind::Listen => None,
        }
    }

    /// When it fails if the last sign of life was at `alive`.
    pub(super) fn deadline(&self, alive: f64) -> f64 {
        (alive + self.times.timeout).min(self.made + self.times.total)
    }
}

/// What an id that is not open stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stale {
    /// It was never used.
    Unknown,
    /// Its request was given up.
    Late,
    /// Its request was answered before.
    Duplicate,
}

/// Abandoned ids that are remembered. Older ones read as answered.
const MAX_ABANDONED: usize = 4096;

/// The open requests.
#[derive(Default)]
pub(super) struct Requests {
    open: Sorted<u32, Pending>,
    handles: Sorted<Handle, u32>,
    abandoned: Sorted<u32, ()>,
    last_id: u32,
}

impl Requests {
    /// Uses up the next id.
    pub(super) fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn insert(&mut self, id: u32, pending: Pending) {
        if let Some(handle) = pending.handle() {
            self.handles.insert(handle, id);
        }
        self.open.insert(id, pending);
    }

    pub(super) fn get(&self, id: u32) -> Option<&Pending> {
        self.open.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Pending> {
        self.open.get_mut(&id)
    }

    /// The id of the request behind a handle.
    pub(super) fn id_of(&self, handle: Handle) -> Option<u32> {
        self.handles.get(&handle).copied()
    }

    /// The open request that was taken with this handle.
    pub(super) fn of_exchange(&self, handle: Handle) -> Option<u32> {
        let is = |id: &u32| self.open.get(id).is_some_and(|it| it.exchange == Some(handle));
        if let Some(id) = self.id_of(handle).filter(is) {
            return Some(id);
        }
        self.open.keys().copied().find(|id| is(id))
    }

    /// The open requests.
    pub(super) fn ids(&self) -> Vec<u32> {
        self.open.keys().copied().collect()
    }

    /// The open requests for pages of a catalog.
    pub(super) fn pages(&self) -> Vec<u32> {
        let page =
            |(id, pending): (&u32, &Pending)| matches!(pending.kind, Kind::Page).then_some(*id);
        self.open.iter().filter_map(page).collect()
    }

    /// Closes a request.
    pub(super) fn remove(&mut self, id: u32) -> Option<Pending> {
        let pending = self.open.remove(&id)?;
        if let Some(handle) = pending.handle() {
            self.handles.remove(&handle);
        }
        Some(pending)
    }

    /// Closes a request that was handed out and is given up.
    pub(super) fn abandon(&mut self, id: u32) {
        if self.abandoned.len() >= MAX_ABANDONED {
            self.abandoned.pop_first();
        }
        self.abandoned.insert(id, ());
    }

    /// What an id that is not open stands for. An abandoned id counts as answered from now on.
    pub(super) fn stale(&mut self, id: i64) -> Stale {
        match u32::try_from(id) {
            Ok(id) if self.abandoned.remove(&id).is_some() => Stale::Late,
            Ok(id) if (1..=self.last_id).contains(&id) => Stale::Duplicate,
            _ => Stale::Unknown,
        }
    }

    /// Closes every request, in the order they were made.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Pending> + use<> {
        self.handles.clear();
        std::mem::take(&mut self.open).into_values()
    }
}
