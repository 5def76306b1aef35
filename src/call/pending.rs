//! Requests that are open, on both ends: those this side waits for and those it serves.
//!
//! A state machine without IO: ids, times and events come in, what has ended comes out of
//! [`Pending::take_ended`]. Values (inputs, envelopes, errors) never come near it.
//!
//! Invariants: an id is open at most once on each end; a request ends once, and what is no longer
//! open is ignored and counted; giving a request up gives up every open request below it, by parent
//! id, on both ends; the number of open requests and of items nobody took is bounded; time never
//! runs backwards, and deadlines that have passed come before the input that brought the time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

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

/// How the items of a subscription flow.
struct Flow {
    waiting: u32,
    wanted: u32,
    high_water_mark: u32,
}

struct Entry {
    parent: Option<Id>,
    /// Infinity is none, as for `idle_timeout`.
    deadline: f64,
    idle_timeout: f64,
    alive: f64,
    flow: Option<Flow>,
}

impl Entry {
    fn due(&self) -> f64 {
        self.deadline.min(self.alive + self.idle_timeout)
    }

    fn cause(&self) -> Cause {
        if self.deadline <= self.alive + self.idle_timeout {
            Cause::Deadline(self.deadline)
        } else {
            Cause::Idle(self.idle_timeout)
        }
    }
}

/// The open requests of one side.
pub struct Pending {
    ours: BTreeMap<Id, Entry>,
    served: BTreeMap<Id, Entry>,
    children: BTreeMap<Id, BTreeSet<(End, Id)>>,
    due: BTreeSet<(u64, End, Id)>,
    ended: VecDeque<Ended>,
    ignored: Ignored,
    now: f64,
    max_pending: usize,
}

impl Pending {
    /// With at most so many requests open on either end.
    pub fn new(max_pending: u32) -> Self {
        Pending {
            ours: BTreeMap::new(),
            served: BTreeMap::new(),
            children: BTreeMap::new(),
            due: BTreeSet::new(),
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
        self.ours.get(id).map(|entry| entry.deadline).filter(|deadline| deadline.is_finite())
    }

    /// A request that this side served is answered. False if it was given up before.
    pub fn finish(&mut self, id: &str, now: f64) -> bool {
        self.pass(now);
        self.remove(End::Handler, id).is_some()
    }

    /// An envelope came for a request, or is sent for one that this side serves.
    pub fn responded(&mut self, id: &str, now: f64) -> Answer {
        self.pass(now);
        self.keep_alive(End::Handler, id);
        self.received(id)
    }

    /// The request failed, or its subscription ended.
    pub fn settled(&mut self, id: &str, now: f64) -> Answer {
        self.pass(now);
        self.remove(End::Caller, id).map_or(Answer::None, |_| Answer::Settled)
    }

    /// Whoever waits for the items of a subscription takes one, or waits for it.
    pub fn pull(&mut self, id: &str) {
        if let Some(flow) = self.ours.get_mut(id).and_then(|entry| entry.flow.as_mut()) {
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
                let known = self.ours.contains_key(&*id);
                let answer = self.received(&id);
                if known { answer } else { self.count_unknown() }
            }
            EventKind::Completed | EventKind::Error => match self.remove(End::Caller, &id) {
                Some(_) => Answer::Settled,
                None => self.count_unknown(),
            },
            EventKind::Aborted => {
                // The other side knows: it is not told again.
                let answer = match self.remove(End::Caller, &id) {
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
        if self.ours.contains_key(id) {
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
        self.due.first().map(|&(due, _, _)| f64::from_bits(due))
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
        self.ours.len()
    }

    /// Requests that this side serves.
    pub fn served_count(&self) -> usize {
        self.served.len()
    }

    /// Events that meant nothing so far.
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }

    fn count_unknown(&mut self) -> Answer {
        self.ignored.unknown = self.ignored.unknown.saturating_add(1);
        Answer::None
    }

    fn table(&mut self, end: End) -> &mut BTreeMap<Id, Entry> {
        match end {
            End::Caller => &mut self.ours,
            End::Handler => &mut self.served,
        }
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
        let entry = Entry {
            parent: request.parent.map(Id::from),
            deadline: request.deadline.unwrap_or(f64::INFINITY).min(inherited),
            idle_timeout: request.idle_timeout.unwrap_or(f64::INFINITY),
            alive: now,
            flow,
        };
        let max_pending = self.max_pending;
        let table = self.table(end);
        if table.contains_key(id) {
            return Opened::Duplicate;
        }
        if entry.deadline <= now {
            return Opened::Expired;
        }
        if table.len() >= max_pending {
            return Opened::Full;
        }
        let id = Id::from(id);
        if let Some(parent) = &entry.parent {
            self.children.entry(Rc::clone(parent)).or_default().insert((end, Rc::clone(&id)));
        }
        self.schedule(end, &id, entry.due());
        self.table(end).insert(id, entry);
        Opened::Open
    }

    /// The earliest deadline that holds for requests made for this one.
    fn deadline_below(&self, parent: &str) -> f64 {
        let of = |table: &BTreeMap<Id, Entry>| {
            table.get(parent).map_or(f64::INFINITY, |entry| entry.deadline)
        };
        of(&self.ours).min(of(&self.served))
    }

    fn schedule(&mut self, end: End, id: &Id, due: f64) {
        if due < f64::INFINITY {
            self.due.insert((time_key(due), end, Rc::clone(id)));
        }
    }

    fn remove(&mut self, end: End, id: &str) -> Option<(Id, Entry)> {
        let (id, entry) = self.table(end).remove_entry(id)?;
        self.due.remove(&(time_key(entry.due()), end, Rc::clone(&id)));
        if let Some(parent) = &entry.parent
            && let Some(siblings) = self.children.get_mut(parent)
        {
            siblings.remove(&(end, Rc::clone(&id)));
            if siblings.is_empty() {
                self.children.remove(parent);
            }
        }
        Some((id, entry))
    }

    /// A sign of life restarts the idle timeout.
    fn keep_alive(&mut self, end: End, id: &str) {
        let now = self.now;
        let Some((key, entry)) = self.table(end).get_key_value(id) else {
            return;
        };
        if entry.idle_timeout == f64::INFINITY {
            return;
        }
        let (key, before) = (Rc::clone(key), entry.due());
        let Some(entry) = self.table(end).get_mut(id) else {
            return;
        };
        entry.alive = now;
        let after = entry.due();
        self.due.remove(&(time_key(before), end, Rc::clone(&key)));
        self.schedule(end, &key, after);
    }

    fn received(&mut self, id: &str) -> Answer {
        let Some(entry) = self.ours.get_mut(id) else {
            return Answer::None;
        };
        let Some(flow) = &mut entry.flow else {
            self.remove(End::Caller, id);
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
        self.keep_alive(End::Caller, id);
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
        let mut parents = VecDeque::from([Id::from(id)]);
        while let Some(parent) = parents.pop_front() {
            // Taken out as a whole: a cycle of parents meets nothing the second time.
            for (end, child) in self.children.remove(&parent).unwrap_or_default() {
                self.end(end, &child, Cause::Aborted);
                parents.push_back(child);
            }
        }
        self.ended.len() > before
    }

    fn end(&mut self, end: End, id: &str, cause: Cause) {
        if let Some((id, _)) = self.remove(end, id) {
            self.ended.push_back(Ended { id, end, cause });
        }
    }

    /// Time passed: what is due ends, the earliest first.
    fn pass(&mut self, now: f64) {
        if now > self.now {
            self.now = now;
        }
        while let Some((due, end, id)) = self.due.first().cloned() {
            if f64::from_bits(due) > self.now {
                return;
            }
            let table = self.table(end);
            let Some(cause) = table.get(&id).map(Entry::cause) else {
                // Cannot be: what is due is open.
                self.due.pop_first();
                continue;
            };
            match end {
                End::Caller => self.give_up(&id, Some(cause), Cause::Aborted),
                // Its error is the answer: whoever waits for it is not told twice.
                End::Handler => self.give_up(&id, None, cause),
            };
        }
    }
}

/// Times that are not negative, ordered as their bits are.
fn time_key(ms: f64) -> u64 {
    if ms > 0.0 { ms.to_bits() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Limits, read};
    #[cfg(target_family = "wasm")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    const LOCAL: &str =
        r#"{"data":null,"meta":{"source":"local","operationId":"a.b","timestamp":1}}"#;

    fn dispatch(pending: &mut Pending, kind: &str, head: &str, now: f64) -> Answer {
        let tape = read(head.as_bytes(), Limits::depth(64)).unwrap();
        pending.dispatch(kind, tape.root(head.as_bytes()), now)
    }

    fn event(pending: &mut Pending, kind: &str, id: &str, now: f64) -> Answer {
        let head = format!(
            r#"{{"requestId":"{id}","output":{LOCAL},"code":"X","message":"m","operationId":"a.b"}}"#
        );
        dispatch(pending, kind, &head, now)
    }

    fn ended(pending: &mut Pending) -> Vec<(String, End, Cause)> {
        std::iter::from_fn(|| pending.take_ended())
            .map(|Ended { id, end, cause }| (id.to_string(), end, cause))
            .collect()
    }

    fn caller(id: &str, cause: Cause) -> (String, End, Cause) {
        (id.to_owned(), End::Caller, cause)
    }

    fn handler(id: &str, cause: Cause) -> (String, End, Cause) {
        (id.to_owned(), End::Handler, cause)
    }

    fn below(parent: &str) -> Request<'_> {
        Request { parent: Some(parent), ..Request::default() }
    }

    fn stream(high_water_mark: u32) -> Request<'static> {
        Request { high_water_mark: Some(high_water_mark), ..Request::default() }
    }

    fn requested<'a>(id: &'a str, parent: Option<&'a str>) -> Requested<'a> {
        Requested {
            request_id: id.into(),
            parent: parent.map(Into::into),
            deadline: None,
            idle_timeout: None,
        }
    }

    fn is_empty(pending: &Pending) -> bool {
        pending.ours.is_empty()
            && pending.served.is_empty()
            && pending.children.is_empty()
            && pending.due.is_empty()
            && pending.ended.is_empty()
    }

    #[test]
    fn a_call_settles_with_the_first_response_and_the_rest_is_counted() {
        let mut pending = Pending::new(8);
        assert_eq!(pending.open("r", &Request::default(), 1.0), Opened::Open);
        assert_eq!(pending.open("r", &Request::default(), 1.0), Opened::Duplicate);
        assert_eq!(pending.pending_count(), 1);
        assert_eq!(event(&mut pending, "call.responded", "r", 2.0), Answer::Settled);
        for kind in ["call.responded", "call.error", "call.completed", "call.aborted"] {
            assert_eq!(event(&mut pending, kind, "r", 2.0), Answer::None);
        }
        assert_eq!(event(&mut pending, "call.requested", "r", 2.0), Answer::None);
        assert_eq!(event(&mut pending, "call.published", "r", 2.0), Answer::None);
        assert_eq!(dispatch(&mut pending, "call.error", "{}", 2.0), Answer::None);
        assert_eq!(pending.ignored(), Ignored { unknown: 5, malformed: 2 });
        assert!(is_empty(&pending));
    }

    #[test]
    fn every_event_of_the_other_side_settles_a_call() {
        for kind in ["call.responded", "call.error", "call.completed", "call.aborted"] {
            let mut pending = Pending::new(8);
            pending.open("r", &Request { deadline: Some(9.0), ..below("p") }, 0.0);
            assert_eq!(event(&mut pending, kind, "r", 1.0), Answer::Settled, "{kind}");
            assert!(is_empty(&pending), "{kind}");
        }
    }

    #[test]
    fn a_malformed_event_with_a_known_id_ends_the_request() {
        let mut pending = Pending::new(8);
        for id in ["a", "b", "c"] {
            pending.open(id, &Request::default(), 0.0);
        }
        let raw = r#"{"requestId":"a","output":{"raw":1}}"#;
        assert_eq!(dispatch(&mut pending, "call.responded", raw, 0.0), Answer::None);
        let error = r#"{"requestId":"b","code":1,"message":"m"}"#;
        assert_eq!(dispatch(&mut pending, "call.error", error, 0.0), Answer::None);
        pending.malformed("c", "", 0.0);
        pending.malformed("d", "", 0.0);
        assert_eq!(
            ended(&mut pending),
            [
                caller("a", Cause::Malformed("/output")),
                caller("b", Cause::Malformed("/code")),
                caller("c", Cause::Malformed(""))
            ]
        );
        assert_eq!(pending.ignored().malformed, 4);
    }

    #[test]
    fn deadlines_fire_when_time_reaches_them_and_before_the_event_that_brings_it() {
        let mut pending = Pending::new(8);
        let by = |deadline| Request { deadline: Some(deadline), ..Request::default() };
        assert_eq!(pending.open("0", &by(0.0), 0.0), Opened::Expired);
        assert_eq!(pending.open("-", &by(-5.0), 0.0), Opened::Expired);
        pending.open("late", &by(30.0), 10.0);
        pending.open("soon", &by(20.0), 10.0);
        assert_eq!(pending.open("now", &by(10.0), 10.0), Opened::Expired);
        assert_eq!(pending.next_deadline(), Some(20.0));
        pending.advance(19.999);
        assert!(!pending.has_ended());
        // Time does not run backwards.
        pending.advance(5.0);
        assert_eq!(event(&mut pending, "call.responded", "soon", 20.0), Answer::None);
        assert_eq!(ended(&mut pending), [caller("soon", Cause::Deadline(20.0))]);
        assert_eq!(event(&mut pending, "call.responded", "late", 29.0), Answer::Settled);
        assert_eq!(pending.next_deadline(), None);
        assert!(is_empty(&pending));
    }

    #[test]
    fn items_restart_the_idle_timeout_on_both_ends() {
        let mut pending = Pending::new(8);
        let request = Request { idle_timeout: Some(100.0), ..stream(9) };
        pending.open("s", &request, 0.0);
        pending.serve(&Requested { idle_timeout: Some(100.0), ..requested("h", None) }, 0.0);
        for at in [60.0, 120.0, 180.0] {
            assert_eq!(event(&mut pending, "call.responded", "s", at), Answer::Item);
            assert_eq!(pending.responded("h", at), Answer::None);
        }
        assert_eq!(pending.next_deadline(), Some(280.0));
        pending.advance(279.0);
        assert!(!pending.has_ended());
        pending.advance(280.0);
        assert_eq!(
            ended(&mut pending),
            [caller("s", Cause::Idle(100.0)), handler("h", Cause::Idle(100.0))]
        );
        // An answer at the deadline is late.
        pending.serve(&Requested { deadline: Some(300.0), ..requested("h", None) }, 290.0);
        assert!(!pending.finish("h", 300.0));
        assert_eq!(ended(&mut pending), [handler("h", Cause::Deadline(300.0))]);
        assert!(is_empty(&pending));
    }

    #[test]
    fn a_subscription_holds_so_many_items_and_no_more() {
        let mut pending = Pending::new(8);
        pending.open("s", &stream(2), 0.0);
        pending.pull("s");
        for _ in 0..3 {
            assert_eq!(pending.responded("s", 0.0), Answer::Item);
        }
        pending.pull("s");
        assert_eq!(pending.responded("s", 0.0), Answer::Item);
        assert_eq!(pending.responded("s", 0.0), Answer::None);
        assert_eq!(ended(&mut pending), [caller("s", Cause::Limit(2))]);
        assert!(is_empty(&pending));
        pending.pull("s");
    }

    #[test]
    fn giving_up_reaches_all_descendants_on_both_ends() {
        let mut pending = Pending::new(8);
        pending.open("root", &Request::default(), 0.0);
        pending.serve(&requested("root", None), 0.0);
        pending.open("child", &below("root"), 0.0);
        pending.serve(&requested("child", Some("root")), 0.0);
        pending.open("grandchild", &below("child"), 0.0);
        pending.open("other", &below("elsewhere"), 0.0);
        assert!(pending.abort("root", 0.0));
        assert_eq!(
            ended(&mut pending),
            [
                caller("root", Cause::Aborted),
                handler("root", Cause::Aborted),
                caller("child", Cause::Aborted),
                handler("child", Cause::Aborted),
                caller("grandchild", Cause::Aborted)
            ]
        );
        assert!(!pending.abort("root", 0.0));
        // What is not here may have descendants that are.
        assert_eq!(event(&mut pending, "call.aborted", "elsewhere", 0.0), Answer::None);
        assert_eq!(ended(&mut pending), [caller("other", Cause::Aborted)]);
        assert!(is_empty(&pending));
    }

    #[test]
    fn a_cycle_of_parents_ends() {
        let mut pending = Pending::new(8);
        pending.open("a", &below("b"), 0.0);
        pending.open("b", &below("a"), 0.0);
        pending.open("c", &below("c"), 0.0);
        assert!(pending.abort("a", 0.0));
        assert!(pending.abort("c", 0.0));
        assert_eq!(ended(&mut pending).len(), 3);
        assert!(is_empty(&pending));
    }

    #[test]
    fn a_child_inherits_an_earlier_deadline() {
        let mut pending = Pending::new(8);
        pending.serve(&Requested { deadline: Some(50.0), ..requested("h", None) }, 0.0);
        pending.open("a", &below("h"), 0.0);
        pending.open("b", &Request { deadline: Some(20.0), ..below("h") }, 0.0);
        pending.open("c", &Request { deadline: Some(90.0), ..below("a") }, 0.0);
        let deadlines = ["a", "b", "c", "x"].map(|id| pending.deadline(id));
        assert_eq!(deadlines, [Some(50.0), Some(20.0), Some(50.0), None]);
        pending.advance(50.0);
        // The caller of what is served here, if it is here too, waits for the handler's error.
        assert_eq!(
            ended(&mut pending),
            [
                caller("b", Cause::Deadline(20.0)),
                caller("a", Cause::Deadline(50.0)),
                caller("c", Cause::Aborted),
                handler("h", Cause::Deadline(50.0))
            ]
        );
        assert_eq!(
            pending.open("d", &Request { deadline: Some(50.0), ..below("h") }, 50.0),
            Opened::Expired
        );
        assert!(is_empty(&pending));
    }

    #[test]
    fn either_end_is_bounded() {
        let mut pending = Pending::new(2);
        for (id, opened) in [("a", Opened::Open), ("b", Opened::Open), ("c", Opened::Full)] {
            assert_eq!(pending.open(id, &below("p"), 0.0), opened);
            assert_eq!(pending.serve(&requested(id, None), 0.0), opened);
        }
        assert_eq!(pending.serve(&requested("a", None), 0.0), Opened::Duplicate);
        assert_eq!((pending.pending_count(), pending.served_count()), (2, 2));
        assert!(pending.finish("a", 0.0));
        assert!(!pending.finish("a", 0.0));
        assert_eq!(pending.serve(&requested("c", None), 0.0), Opened::Open);
        assert_eq!(pending.settled("a", 0.0), Answer::Settled);
        assert_eq!(pending.settled("a", 0.0), Answer::None);
        assert_eq!(pending.open("c", &Request::default(), 0.0), Opened::Open);
    }
}
