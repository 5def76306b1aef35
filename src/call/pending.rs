//! Requests that are open, on both ends: those this side waits for and those it serves.
//!
//! A state machine without IO: ids, times and events come in, what has ended comes out of
//! [`Pending::take_ended`]. Values (inputs, envelopes, errors) never come near it.
//!
//! Invariants: an id is open at most once on each end; a request ends once, and what is no longer
//! open is ignored and counted; giving a request up gives up every open request below it, by parent
//! id, on both ends; the number of open requests and of items nobody took is bounded; time never
//! runs backwards, and deadlines that have passed come before the input that brought the time.

mod open;

use std::collections::VecDeque;
use std::rc::Rc;

use self::open::{Entry, Flow, Open};
use super::event::{EventKind, Requested, fault_of, request_id};
use crate::json::Value;

/// Requests open at once on either end, unless told otherwise.
pub const DEFAULT_MAX_PENDING: u32 = 65_536;

/// Items of a subscription that nobody took yet, unless told otherwise; one more ends it.
pub const DEFAULT_HIGH_WATER_MARK: u32 = 1_024;

type Id = Rc<str>;

/// Which end of a request this side is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// We sent it and wait.
    Caller,
    /// We serve it.
    Handler,
}

/// Why a request was given up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cause {
    /// Its deadline passed; epoch milliseconds.
    Deadline(f64),
    /// Nothing came for so many milliseconds.
    Idle(f64),
    /// It, or one that it was made for, was aborted.
    Aborted,
    /// So many of its items were waiting already.
    Limit(u32),
    /// An event of it is malformed, at this JSON Pointer.
    Malformed(&'static str),
}

/// A request that was given up. The caller's end settles and the other side is told; the handler's
/// end stops working.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    /// Its id.
    pub id: Rc<str>,
    /// Which end of it.
    pub end: End,
    /// Why.
    pub cause: Cause,
}

/// A request to be sent.
#[derive(Clone, Copy, Default, Debug)]
pub struct Request<'a> {
    /// The request it is made for. It inherits that one's deadline.
    pub parent: Option<&'a str>,
    /// Epoch milliseconds.
    pub deadline: Option<f64>,
    /// Milliseconds of silence; each item starts them anew.
    pub idle_timeout: Option<f64>,
    /// For a subscription, how many items may wait; none for a call, which settles with the first.
    pub high_water_mark: Option<u32>,
}

/// What came of opening a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opened {
    /// It is open.
    Open,
    /// Its id is open already.
    Duplicate,
    /// As many as allowed are open.
    Full,
    /// Its deadline has passed already.
    Expired,
}

/// What an event means to whoever waits for the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Nothing: nobody waits for it, or it was given up for it.
    None,
    /// It has ended with this event.
    Settled,
    /// A subscription has one more item.
    Item,
}

/// Events that meant nothing, by why.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Ignored {
    /// Late, repeated, or of a request that was never ours.
    pub unknown: u32,
    /// Not one of the five events, or without a usable id.
    pub malformed: u32,
}

/// The open requests of one side.
pub struct Pending {
    open: Open,
    ended: VecDeque<Ended>,
    ignored: Ignored,
    now: f64,
    max_pending: usize,
}

impl Pending {
    /// With at most so many requests open on either end.
    pub fn new(max_pending: u32) -> Self {
        Pending {
            open: Open::default(),
            ended: VecDeque::new(),
            ignored: Ignored::default(),
            now: 0.0,
            max_pending: max_pending as usize,
        }
    }

    /// Opens a request of ours. It may be sent when it is open, and not otherwise.
    pub fn open(&mut self, id: &str, request: &Request<'_>, now: f64) -> Opened {
        let flow = request.high_water_mark.map(|high_water_mark| Flow {
            waiting: 0,
            wanted: 0,
            high_water_mark,
        });
        self.insert(End::Caller, id, request, flow, now)
    }

    /// Opens a request that this side is to serve. Handlers run when it is open, and not otherwise.
    pub fn serve(&mut self, requested: &Requested<'_>, now: f64) -> Opened {
        let request = Request {
            parent: requested.parent.as_deref(),
            deadline: requested.deadline,
            idle_timeout: requested.idle_timeout,
            high_water_mark: None,
        };
        self.insert(End::Handler, &requested.request_id, &request, None, now)
    }

    /// An event that is no request that could be served.
    pub fn refuse(&mut self) {
        self.ignored.malformed = self.ignored.malformed.saturating_add(1);
    }

    /// The deadline of an open request of ours: its own, or an earlier one it inherited.
    pub fn deadline(&self, id: &str) -> Option<f64> {
        let deadline = self.open.get(End::Caller, id)?.deadline;
        deadline.is_finite().then_some(deadline)
    }

    /// A request that this side served is answered. False if it was given up before.
    pub fn finish(&mut self, id: &str, now: f64) -> bool {
        self.pass(now);
        self.open.remove(End::Handler, id).is_some()
    }

    /// An envelope came for a request, or is sent for one that this side serves.
    pub fn responded(&mut self, id: &str, now: f64) -> Answer {
        self.pass(now);
        self.open.keep_alive(End::Handler, id, self.now);
        self.received(id)
    }

    /// The request failed, or its subscription ended.
    pub fn settled(&mut self, id: &str, now: f64) -> Answer {
        self.pass(now);
        self.open.remove(End::Caller, id).map_or(Answer::None, |_| Answer::Settled)
    }

    /// Whoever waits for the items of a subscription takes one, or waits for it.
    pub fn pull(&mut self, id: &str) {
        if let Some(flow) = self.open.get_mut(End::Caller, id).and_then(|entry| entry.flow.as_mut())
        {
            match flow.waiting.checked_sub(1) {
                Some(waiting) => flow.waiting = waiting,
                None => flow.wanted = flow.wanted.saturating_add(1),
            }
        }
    }

    /// This side gives a request up, whichever end of it is here. False if there is none.
    pub fn abort(&mut self, id: &str, now: f64) -> bool {
        self.pass(now);
        self.give_up(id, Some(Cause::Aborted), Cause::Aborted)
    }

    /// An event came from the other side; `head` is the event without the operation's own values.
    pub fn dispatch(&mut self, kind: &str, head: Value<'_>, now: f64) -> Answer {
        self.pass(now);
        let (Some(kind), Some(id)) = (EventKind::from_name(kind), request_id(head)) else {
            self.refuse();
            return Answer::None;
        };
        if let Some(at) = fault_of(kind, head) {
            return self.malformed(&id, at, now);
        }
        match kind {
            // Handlers are given requests, the map is not.
            EventKind::Requested => self.count_unknown(),
            EventKind::Responded => {
                let known = self.open.get(End::Caller, &id).is_some();
                let answer = self.received(&id);
                if known { answer } else { self.count_unknown() }
            }
            EventKind::Completed | EventKind::Error => match self.open.remove(End::Caller, &id) {
                Some(_) => Answer::Settled,
                None => self.count_unknown(),
            },
            EventKind::Aborted => {
                // The other side knows: it is not told again.
                let answer = match self.open.remove(End::Caller, &id) {
                    Some(_) => Answer::Settled,
                    None => Answer::None,
                };
                let below = self.give_up(&id, None, Cause::Aborted);
                if below || answer == Answer::Settled { answer } else { self.count_unknown() }
            }
        }
    }

    /// An event that cannot be read names this id: whoever waits for it need not wait any longer.
    pub fn malformed(&mut self, id: &str, at: &'static str, now: f64) -> Answer {
        self.pass(now);
        self.refuse();
        if self.open.get(End::Caller, id).is_some() {
            self.give_up(id, Some(Cause::Malformed(at)), Cause::Aborted);
        }
        Answer::None
    }

    /// Time passed.
    pub fn advance(&mut self, now: f64) {
        self.pass(now);
    }

    /// When to call [`Pending::advance`] at the latest.
    pub fn next_deadline(&self) -> Option<f64> {
        self.open.first_due().map(|entry| entry.due().max(0.0))
    }

    /// What has ended and was not taken yet, in order.
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.ended.pop_front()
    }

    /// True if [`Pending::take_ended`] has something.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Requests of ours that are open.
    pub fn pending_count(&self) -> usize {
        self.open.count(End::Caller)
    }

    /// Requests that this side serves.
    pub fn served_count(&self) -> usize {
        self.open.count(End::Handler)
    }

    /// Events that meant nothing so far.
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }

    fn count_unknown(&mut self) -> Answer {
        self.ignored.unknown = self.ignored.unknown.saturating_add(1);
        Answer::None
    }

    fn insert(
        &mut self,
        end: End,
        id: &str,
        request: &Request<'_>,
        flow: Option<Flow>,
        now: f64,
    ) -> Opened {
        self.pass(now);
        let now = self.now;
        let inherited = request.parent.map_or(f64::INFINITY, |parent| self.deadline_below(parent));
        let deadline = request.deadline.unwrap_or(f64::INFINITY).min(inherited);
        if self.open.get(end, id).is_some() {
            return Opened::Duplicate;
        }
        if deadline <= now {
            return Opened::Expired;
        }
        if self.open.count(end) >= self.max_pending {
            return Opened::Full;
        }
        self.open.insert(Entry {
            id: Id::from(id),
            end,
            parent: request.parent.map(Id::from),
            deadline,
            idle_timeout: request.idle_timeout.unwrap_or(f64::INFINITY),
            alive: now,
            flow,
        });
        Opened::Open
    }

    /// The earliest deadline that holds for requests made for this one.
    fn deadline_below(&self, parent: &str) -> f64 {
        let of = |end| self.open.get(end, parent).map_or(f64::INFINITY, |entry| entry.deadline);
        of(End::Caller).min(of(End::Handler))
    }

    fn received(&mut self, id: &str) -> Answer {
        let Some(entry) = self.open.get_mut(End::Caller, id) else {
            return Answer::None;
        };
        let Some(flow) = &mut entry.flow else {
            self.open.remove(End::Caller, id);
            return Answer::Settled;
        };
        if let Some(wanted) = flow.wanted.checked_sub(1) {
            flow.wanted = wanted;
        } else if flow.waiting >= flow.high_water_mark {
            let limit = flow.high_water_mark;
            self.give_up(id, Some(Cause::Limit(limit)), Cause::Aborted);
            return Answer::None;
        } else {
            flow.waiting += 1;
        }
        self.open.keep_alive(End::Caller, id, self.now);
        Answer::Item
    }

    /// Gives up the ends of a request that are here, the caller's if there is a cause for it, and
    /// all below it. False if there was nothing.
    fn give_up(&mut self, id: &str, ours: Option<Cause>, served: Cause) -> bool {
        let before = self.ended.len();
        if let Some(cause) = ours {
            self.end(End::Caller, id, cause);
        }
        self.end(End::Handler, id, served);
        let mut parents = vec![Id::from(id)];
        let mut at = 0;
        while let Some(parent) = parents.get(at).map(Rc::clone) {
            at += 1;
            // What is given up is no longer open: a cycle of parents meets nothing the second time.
            while let Some(entry) = self.open.first_below(&parent) {
                let (end, child) = (entry.end, Rc::clone(&entry.id));
                self.end(end, &child, Cause::Aborted);
                parents.push(child);
            }
        }
        self.ended.len() > before
    }

    fn end(&mut self, end: End, id: &str, cause: Cause) {
        if let Some(Entry { id, .. }) = self.open.remove(end, id) {
            self.ended.push_back(Ended { id, end, cause });
        }
    }

    /// Time passed: what is due ends, the earliest first.
    fn pass(&mut self, now: f64) {
        if now > self.now {
            self.now = now;
        }
        while let Some(entry) = self.open.first_due() {
            if entry.due() > self.now {
                return;
            }
            let (end, id, cause) = (entry.end, Rc::clone(&entry.id), entry.cause());
            match end {
                End::Caller => self.give_up(&id, Some(cause), Cause::Aborted),
                // Its error is the answer: whoever waits for it is not told twice.
                End::Handler => self.give_up(&id, None, cause),
            };
        }
    }
}

#[cfg(test)]
mod tests;
