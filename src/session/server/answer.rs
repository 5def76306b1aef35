//! How an answer leaves: as a frame of its own, or with the others of its array; for a pipe, or for
//! the exchange that asked.
//!
//! Invariant: the session's own answers wait for room, and while one waits nothing is read; so a
//! peer that does not read is owed a bounded number of frames.

use crate::json::Value;
use crate::session::outbound::{Offered, Ticket, WhenFull};
use crate::wire::encode;

use super::core::Core;

/// Why a request is refused, in words of our own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) code: i64,
    pub(super) message: &'static str,
    /// JSON text.
    pub(super) data: Option<String>,
    /// The status of an HTTP response that carries it.
    pub(super) status: u16,
}

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL_ERROR: i64 = -32603;
pub(super) const HEADER_MISMATCH: i64 = -32020;
pub(super) const MISSING_CAPABILITY: i64 = -32021;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

impl Fault {
    pub(super) const fn new(code: i64, message: &'static str, status: u16) -> Self {
        Fault { code, message, data: None, status }
    }

    /// The params are not what the method takes.
    pub(super) const fn params(message: &'static str) -> Self {
        Fault::new(INVALID_PARAMS, message, 200)
    }

    /// What every request of the modern era carries is missing.
    pub(super) const fn envelope(message: &'static str) -> Self {
        Fault::new(INVALID_PARAMS, message, 400)
    }

    /// A header contradicts the message.
    pub(super) const fn header(message: &'static str) -> Self {
        Fault::new(HEADER_MISMATCH, message, 400)
    }

    pub(super) const fn internal(message: &'static str) -> Self {
        Fault::new(INTERNAL_ERROR, message, 200)
    }
}

/// Where an answer goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Route {
    /// The exchange that asked.
    pub(super) exchange: Option<u32>,
    /// The array that the request was part of.
    pub(super) batch: Option<u32>,
}

/// What a frame is, for when it leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// An answer of the session's.
    Own,
    /// The host's answer to a call.
    Call,
    /// A notification.
    Notice,
    /// A list change, for everyone or for one listener by its number.
    ListChanged(Option<u32>),
    /// No message: the exchange ends without one.
    Nothing,
}

/// Whose a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    pub(super) kind: Kind,
    pub(super) exchange: Option<u32>,
    /// True if nothing follows in its exchange.
    pub(super) ends: bool,
    /// The status of an HTTP response that begins with it.
    pub(super) status: u16,
}

/// An array of messages whose answers leave together.
pub(super) struct Batch {
    pub(super) exchange: Option<u32>,
    /// Messages not read yet, and calls not answered yet.
    pub(super) open: u32,
    /// Answers so far, without line ends.
    pub(super) answers: Vec<Vec<u8>>,
}

impl Core {
    /// Answers with a result, a JSON text.
    pub(super) fn answer(&mut self, route: Route, id: &str, result: &str) {
        self.send(route, encode::result(id, result), Kind::Own, 200);
    }

    /// Answers with an error.
    pub(super) fn refuse(&mut self, route: Route, id: &str, fault: &Fault) {
        let frame = encode::error(id, fault.code, fault.message, fault.data.as_deref());
        self.send(route, frame, Kind::Own, fault.status);
    }

    /// Sends an answer on its way; one that is too long is replaced by an error.
    pub(super) fn send(&mut self, route: Route, frame: Vec<u8>, kind: Kind, status: u16) {
        self.answered = true;
        let frame = encode::escape_line_separators(frame);
        let frame = if frame.len() as f64 > self.options.limits.max_outbound_frame_bytes {
            self.note("transport", "transport", "outbound_frame_too_long");
            too_long(&frame)
        } else {
            frame
        };
        match route.batch {
            Some(batch) => self.hold(batch, frame),
            None => {
                self.unsent += usize::from(kind == Kind::Call);
                let owner = Owner { kind, exchange: route.exchange, ends: true, status };
                self.queue(frame, owner);
            }
        }
    }

    /// Puts a frame into the queue; one of the session's own that waits holds up the reading.
    pub(super) fn queue(&mut self, frame: Vec<u8>, owner: Owner) {
        let offered = self.outbound.offer(frame, owner, WhenFull::Wait);
        if let (Offered::Waits(ticket), Kind::Own | Kind::Nothing) = (offered, owner.kind) {
            self.blocked = Some(ticket);
        }
    }

    /// Keeps an answer until the others of its array are there.
    fn hold(&mut self, number: u32, frame: Vec<u8>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        let mut frame = frame;
        frame.pop();
        batch.answers.push(frame);
        self.unsent += 1;
    }

    /// One message of an array is done with.
    pub(super) fn batch_step(&mut self, number: Option<u32>) {
        let Some(number) = number else { return };
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.open = batch.open.saturating_sub(1);
        if batch.open > 0 {
            return;
        }
        let Some(batch) = self.batches.remove(&number) else { return };
        self.unsent = self.unsent.saturating_sub(batch.answers.len());
        let exchange = batch.exchange;
        if batch.answers.is_empty() {
            if exchange.is_some() {
                self.end_exchange(exchange, 202);
            }
            return;
        }
        let total: usize = batch.answers.iter().map(|answer| answer.len() + 1).sum();
        if total as f64 + 2.0 > self.options.limits.max_outbound_frame_bytes {
            // One by one they fit.
            let last = batch.answers.len() - 1;
            for (index, mut answer) in batch.answers.into_iter().enumerate() {
                answer.push(b'\n');
                let ends = index == last;
                self.queue(answer, Owner { kind: Kind::Own, exchange, ends, status: 200 });
            }
            return;
        }
        let mut frame = vec![b'['];
        frame.extend(batch.answers.join(&b','));
        frame.extend_from_slice(b"]\n");
        self.queue(frame, Owner { kind: Kind::Own, exchange, ends: true, status: 200 });
    }

    /// Ends an exchange that gets no message any more.
    pub(super) fn end_exchange(&mut self, exchange: Option<u32>, status: u16) {
        self.queue(Vec::new(), Owner { kind: Kind::Nothing, exchange, ends: true, status });
    }

    /// Takes the first frame and makes room for what waits.
    pub(super) fn take(&mut self) -> Option<(Vec<u8>, Owner)> {
        let (frame, owner) = self.outbound.take()?;
        match owner.kind {
            Kind::Call => self.unsent = self.unsent.saturating_sub(1),
            Kind::ListChanged(listener) => self.change_told(listener),
            _ => {}
        }
        // Tickets rise, so the first that waits is the one that holds up the reading.
        while let Some((ticket, _)) = self.outbound.promote_ticket() {
            if self.blocked.is_some_and(|blocked: Ticket| blocked <= ticket) {
                self.blocked = None;
            }
        }
        self.close_when_done();
        Some((frame, owner))
    }
}

/// The error in place of an answer that is too long: it keeps the answer's id.
fn too_long(frame: &[u8]) -> Vec<u8> {
    let id = crate::json::read(frame, crate::json::Limits::depth(crate::wire::MAX_DEPTH))
        .ok()
        .and_then(|tape| tape.root(frame).get("id").map(|id: Value<'_>| id.raw().to_owned()));
    let id = id.unwrap_or_else(|| "null".to_owned());
    encode::error(&id, INTERNAL_ERROR, "The answer is too long", None)
}
