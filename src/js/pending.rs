//! `PendingRequestMap`: the open requests. Promises, iterators and signals stay in the facade.

use wasm_bindgen::prelude::*;

use crate::call::event::{EventKind, Requested, fault_of, read_requested};
use crate::call::pending::{
    Answer, Cause, DEFAULT_HIGH_WATER_MARK, DEFAULT_MAX_PENDING, End, Ended, Opened, Pending,
    Request,
};
use crate::json::{Limits, Tape, read};

use super::plain::Plain;

/// Set in what a method returns when `takeEnded` has something.
const HAS_ENDED: u32 = 16;

/// What `serve` returns for an event that is malformed.
const MALFORMED: u32 = 4;

/// The depth of an event's head: the host copies it, within its own bound.
const HEAD: Limits = Limits::depth(u32::MAX);

/// A request that was given up: `cause` is `deadline`, `idle`, `aborted`, `limit` or `malformed`,
/// `bound` milliseconds or items.
fn ended_out(ended: &Ended) -> JsValue {
    let (cause, bound, at) = match ended.cause {
        Cause::Deadline(deadline) => ("deadline", Some(deadline), None),
        Cause::Idle(ms) => ("idle", Some(ms), None),
        Cause::Aborted => ("aborted", None, None),
        Cause::Limit(items) => ("limit", Some(f64::from(items)), None),
        Cause::Malformed(at) => ("malformed", None, Some(at)),
    };
    Plain::new()
        .text("id", &ended.id)
        // True for a request that this side serves.
        .flag("served", ended.end == End::Handler)
        .text("cause", cause)
        .maybe_number("bound", bound)
        .maybe_text("at", at)
        .done()
}

/// The open requests of one map.
#[wasm_bindgen]
pub struct Calls {
    pending: Pending,
}

#[wasm_bindgen]
impl Calls {
    /// With at most so many requests open on either end.
    #[wasm_bindgen(constructor)]
    pub fn new(max_pending: Option<u32>) -> Calls {
        Calls { pending: Pending::new(max_pending.unwrap_or(DEFAULT_MAX_PENDING)) }
    }

    /// Opens a call. 0 it is open, 1 its id is, 2 as many as allowed are, 3 its deadline has passed.
    pub fn call(
        &mut self,
        id: &str,
        parent: Option<String>,
        deadline: Option<f64>,
        now: f64,
    ) -> u32 {
        let request = Request { parent: parent.as_deref(), deadline, ..Request::default() };
        let opened = self.pending.open(id, &request, now);
        self.status(opened_code(opened))
    }

    /// Opens a subscription, with the same result.
    pub fn subscribe(
        &mut self,
        id: &str,
        parent: Option<String>,
        deadline: Option<f64>,
        idle_timeout: Option<f64>,
        high_water_mark: Option<u32>,
        now: f64,
    ) -> u32 {
        let request = Request {
            parent: parent.as_deref(),
            deadline,
            idle_timeout,
            high_water_mark: Some(high_water_mark.unwrap_or(DEFAULT_HIGH_WATER_MARK)),
        };
        let opened = self.pending.open(id, &request, now);
        self.status(opened_code(opened))
    }

    /// Opens a request to be served, by the JSON text of its event's head: as `call`, or 4 if the
    /// event is malformed. `id` is what it is known by here.
    pub fn serve(&mut self, id: &str, head: &str, now: f64) -> u32 {
        let tape = tape(head);
        let requested = tape.as_ref().map(|tape| read_requested(tape.root(head.as_bytes())));
        let code = match requested {
            Some(Ok(requested)) => {
                let requested = Requested { request_id: id.into(), ..requested };
                opened_code(self.pending.serve(&requested, now))
            }
            Some(Err(_)) | None => {
                self.pending.refuse();
                MALFORMED
            }
        };
        self.status(code)
    }

    /// The deadline of an open request of ours.
    pub fn deadline(&self, id: &str) -> Option<f64> {
        self.pending.deadline(id)
    }

    /// A served request is answered. 0 it was given up before, 1 it was not.
    pub fn finish(&mut self, id: &str, now: f64) -> u32 {
        let was_open = self.pending.finish(id, now);
        self.status(u32::from(was_open))
    }

    /// An envelope is sent here. 0 nobody here waits for it, 1 it settles a call, 2 it is an item.
    pub fn responded(&mut self, id: &str, now: f64) -> u32 {
        let answer = self.pending.responded(id, now);
        self.status(answer_code(answer))
    }

    /// A request is failed or completed here, with the same result.
    pub fn settled(&mut self, id: &str, now: f64) -> u32 {
        let answer = self.pending.settled(id, now);
        self.status(answer_code(answer))
    }

    /// The consumer of a subscription takes an item or waits for one.
    pub fn pull(&mut self, id: &str) {
        self.pending.pull(id);
    }

    /// Gives a request up here.
    pub fn abort(&mut self, id: &str, now: f64) -> u32 {
        self.pending.abort(id, now);
        self.status(0)
    }

    /// An event of the other side, by its name and the JSON text of its head, with the result of
    /// `responded`.
    pub fn dispatch(&mut self, kind: &str, head: &str, now: f64) -> u32 {
        let answer = match tape(head) {
            Some(tape) => self.pending.dispatch(kind, tape.root(head.as_bytes()), now),
            None => Answer::None,
        };
        self.status(answer_code(answer))
    }

    /// An event that cannot be read names this id.
    pub fn malformed(&mut self, id: &str, now: f64) -> u32 {
        let answer = self.pending.malformed(id, "", now);
        self.status(answer_code(answer))
    }

    /// Time passed.
    pub fn advance(&mut self, now: f64) -> u32 {
        self.pending.advance(now);
        self.status(0)
    }

    /// When to advance at the latest.
    #[wasm_bindgen(js_name = nextDeadline)]
    pub fn next_deadline(&self) -> Option<f64> {
        self.pending.next_deadline()
    }

    /// The next request that was given up: `{id, served, cause, bound?, at?}`.
    #[wasm_bindgen(js_name = takeEnded)]
    pub fn take_ended(&mut self) -> JsValue {
        self.pending.take_ended().map_or(JsValue::UNDEFINED, |ended| ended_out(&ended))
    }

    /// Requests of ours that are open.
    #[wasm_bindgen(js_name = pendingCount)]
    pub fn pending_count(&self) -> u32 {
        u32::try_from(self.pending.pending_count()).unwrap_or(u32::MAX)
    }

    /// Events that meant nothing: `{unknown, malformed}`.
    pub fn ignored(&self) -> JsValue {
        let ignored = self.pending.ignored();
        Plain::new()
            .number("unknown", f64::from(ignored.unknown))
            .number("malformed", f64::from(ignored.malformed))
            .done()
    }
}

impl Calls {
    fn status(&self, code: u32) -> u32 {
        if self.pending.has_ended() { code | HAS_ENDED } else { code }
    }
}

fn opened_code(opened: Opened) -> u32 {
    match opened {
        Opened::Open => 0,
        Opened::Duplicate => 1,
        Opened::Full => 2,
        Opened::Expired => 3,
    }
}

fn answer_code(answer: Answer) -> u32 {
    match answer {
        Answer::None => 0,
        Answer::Settled => 1,
        Answer::Item => 2,
    }
}

/// Where an event is malformed: a JSON Pointer into it. `head` is the JSON text of its head.
#[wasm_bindgen(js_name = eventFault)]
pub fn event_fault(kind: &str, head: &str) -> Option<String> {
    let tape = tape(head)?;
    fault_of(EventKind::from_name(kind)?, tape.root(head.as_bytes())).map(str::to_owned)
}

fn tape(head: &str) -> Option<Tape> {
    read(head.as_bytes(), HEAD).ok()
}
