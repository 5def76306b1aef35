//! The state of a serving session and its one loop: inputs in the order given, each to its end.
//!
//! Invariant: as with the client, inputs wait in one inbox while a line before them is not done, so
//! how the work is sliced changes neither output nor events.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Poll;

use crate::error::Error;
use crate::json::Tape;
use crate::session::event::RpcFault;
use crate::session::outbound::{Outbound, Ticket};
use crate::session::report::excerpt;
use crate::session::revision::Revision;
use crate::wire::{Frame, LineReader, LineReading, Profile, Read};

use crate::sorted::Sorted;

use super::answer::{Batch, Owner};
use super::calls::{Key, OpenCall};
use super::envelope::Headers;
use super::event::{ServerEvent, Token};
use super::notice::Listen;
use super::options::ServerOptions;
use super::tools::Catalog;

/// Bytes that one step reads.
const BYTES_PER_STEP: usize = 16;

/// A line that was read.
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    pub(super) tape: Tape,
}

/// A message that came by itself.
#[derive(Clone)]
pub(super) struct Exchange {
    pub(super) number: u32,
    pub(super) headers: Option<Rc<Headers>>,
}

/// What the host gives.
pub(super) enum Input {
    Line(Vec<u8>, Option<Exchange>),
    Bom,
    TooLong(Vec<u8>, Option<Exchange>),
    End,
    Advance,
    Respond(Token, Result<String, RpcFault>),
    Progress(Token, f64, Option<f64>, Option<String>),
    SetTools(Box<Catalog>),
    Log(Option<Token>, u8, Option<String>, String),
    Abandon(u32),
}

/// The rest of an array of messages.
pub(super) struct Rest {
    pub(super) line: Rc<Line>,
    pub(super) next: u32,
    pub(super) end: u32,
    pub(super) batch: u32,
}

/// What the client said in `initialize`.
#[derive(Default)]
pub(super) struct ClientFacts {
    /// JSON text of an object.
    pub(super) info: Option<String>,
    /// JSON text of an object.
    pub(super) capabilities: Option<Rc<str>>,
}

/// The session.
pub(super) struct Core {
    pub(super) options: ServerOptions,
    pub(super) catalog: Catalog,
    /// The tools served before, for cursors into their list.
    pub(super) previous: Option<Catalog>,
    /// The time of the input being handled.
    pub(super) now: f64,
    pub(super) lines: LineReader,
    inbox: VecDeque<(Input, f64)>,
    reading: Option<LineReading>,
    pub(super) rest: Option<Rest>,
    /// The exchange whose message is being handled.
    pub(super) exchange: Option<Exchange>,
    /// True once the message being handled was answered.
    pub(super) answered: bool,
    /// True once the message being handled opened a call or a subscription.
    pub(super) opened: bool,
    pub(super) outbound: Outbound<Owner>,
    /// An answer that waits for room; nothing is read meanwhile.
    pub(super) blocked: Option<Ticket>,
    /// Answers to calls that were not taken yet, and answers that wait for others of their array.
    pub(super) unsent: usize,
    pub(super) calls: Sorted<Token, OpenCall>,
    pub(super) listens: Vec<Listen>,
    /// Ids that wait for an answer.
    pub(super) open_ids: Sorted<Key, Option<Token>>,
    pub(super) batches: Sorted<u32, Batch>,
    pub(super) last_batch: u32,
    pub(super) last_token: Token,
    pub(super) last_listen: u32,
    last_exchange: u32,
    /// The revision that `initialize` agreed on.
    pub(super) agreed: Option<&'static Revision>,
    pub(super) client: ClientFacts,
    pub(super) initialized: bool,
    /// The level from which on log messages are wanted, by rank.
    pub(super) log_level: Option<u8>,
    /// True while a list change waits in the queue.
    pub(super) change_queued: bool,
    pub(super) events: VecDeque<ServerEvent>,
    /// True once no input comes any more.
    pub(super) ended: bool,
    pub(super) closed: bool,
}

impl Core {
    pub(super) fn new(options: ServerOptions, catalog: Catalog) -> Self {
        let limits = options.limits;
        Core {
            catalog,
            previous: None,
            now: 0.0,
            lines: LineReader::new(limits.max_frame_bytes as usize, Profile::Contain),
            inbox: VecDeque::new(),
            reading: None,
            rest: None,
            exchange: None,
            answered: false,
            opened: false,
            outbound: Outbound::new(limits.queue_capacity as usize),
            blocked: None,
            unsent: 0,
            calls: Sorted::new(),
            listens: Vec::new(),
            open_ids: Sorted::new(),
            batches: Sorted::new(),
            last_batch: 0,
            last_token: 0,
            last_listen: 0,
            last_exchange: 0,
            agreed: None,
            client: ClientFacts::default(),
            initialized: false,
            log_level: None,
            change_queued: false,
            events: VecDeque::new(),
            ended: false,
            closed: false,
            options,
        }
    }

    pub(super) fn event(&mut self, event: ServerEvent) {
        self.events.push_back(event);
    }

    /// A diagnostic with a detail of our own.
    pub(super) fn note(&mut self, source: &'static str, code: &'static str, detail: &str) {
        let detail = detail.to_owned();
        self.event(ServerEvent::Diagnostic { source, code, detail, truncated: false });
    }

    /// A diagnostic about a line, showing its beginning.
    pub(super) fn note_line(&mut self, code: &'static str, line: &[u8]) {
        let (detail, truncated) = excerpt(line, self.options.limits.max_diagnostic_bytes as usize);
        self.event(ServerEvent::Diagnostic { source: "wire", code, detail, truncated });
    }

    fn is_idle(&self) -> bool {
        self.reading.is_none()
            && self.rest.is_none()
            && self.inbox.is_empty()
            && self.blocked.is_none()
    }

    pub(super) fn has_work(&self) -> bool {
        !self.is_idle() && self.blocked.is_none()
    }

    /// Frames bytes; the lines wait for [`Core::work`].
    pub(super) fn receive(&mut self, chunk: &[u8], now: f64) {
        if self.ended || self.closed {
            return;
        }
        // In this profile over-long lines are skipped, never an error.
        let _ = self.lines.push(chunk);
        self.queue_frames(now);
    }

    pub(super) fn queue_frames(&mut self, now: f64) {
        while let Some(frame) = self.lines.next_frame() {
            let input = match frame {
                Frame::Line(line) => Input::Line(line, None),
                Frame::Bom => Input::Bom,
                Frame::TooLong(head) => Input::TooLong(head, None),
            };
            self.inbox.push_back((input, now));
        }
    }

    /// Takes a message that came by itself; gives the number of its exchange.
    pub(super) fn receive_message(
        &mut self,
        json: &[u8],
        headers: Option<Headers>,
        now: f64,
    ) -> u32 {
        self.last_exchange += 1;
        let number = self.last_exchange;
        if self.closed {
            return number;
        }
        let exchange = Some(Exchange { number, headers: headers.map(Rc::new) });
        let input = if json.len() as f64 > self.options.limits.max_frame_bytes {
            let head = json.get(..crate::wire::HEAD_BYTES).unwrap_or(json);
            Input::TooLong(head.to_vec(), exchange)
        } else {
            Input::Line(json.to_vec(), exchange)
        };
        self.inbox.push_back((input, now));
        number
    }

    /// Handles an input now if nothing is before it.
    pub(super) fn input(&mut self, input: Input, now: f64) {
        if self.closed {
            return;
        }
        if self.is_idle() {
            self.handle(input, now);
            self.close_when_done();
        } else {
            self.inbox.push_back((input, now));
        }
    }

    /// Does about so many steps of what waits.
    pub(super) fn work(&mut self, mut steps: u64) {
        while steps > 0 && self.has_work() {
            if let Some(reading) = self.reading.take() {
                self.read(reading, &mut steps);
                continue;
            }
            steps -= 1;
            if let Some(rest) = self.rest.take() {
                self.next_of(rest);
            } else if let Some((input, at)) = self.inbox.pop_front() {
                self.handle(input, at);
            }
            // Also when the last input changed nothing.
            self.close_when_done();
        }
    }

    fn handle(&mut self, input: Input, at: f64) {
        self.now = self.now.max(at);
        match input {
            Input::Line(line, exchange) => {
                let max_tokens = self.options.limits.max_tokens.min(u32::MAX as f64) as u32;
                self.exchange = exchange;
                self.reading = Some(LineReading::new(line, Profile::Contain, max_tokens));
            }
            Input::Bom => self.note("wire", "bom_skipped", ""),
            Input::TooLong(head, exchange) => {
                self.exchange = exchange;
                self.begin_message();
                self.unreadable("frame_too_long", &head);
                self.message_done(None);
            }
            Input::End => self.input_ended(),
            Input::Advance => self.fail_overdue(),
            Input::Respond(token, outcome) => self.respond(token, outcome),
            Input::Progress(token, progress, total, message) => {
                self.progress(token, progress, total, message.as_deref());
            }
            Input::SetTools(catalog) => self.tools_changed(*catalog),
            Input::Log(token, level, logger, data) => {
                self.log(token, level, logger.as_deref(), &data);
            }
            Input::Abandon(exchange) => self.abandon(exchange),
        }
    }

    /// Reads on in a line.
    fn read(&mut self, mut reading: LineReading, steps: &mut u64) {
        let budget = usize::try_from(*steps).unwrap_or(usize::MAX).saturating_mul(BYTES_PER_STEP);
        let read = match reading.run(budget) {
            Poll::Pending => {
                *steps = 0;
                self.reading = Some(reading);
                return;
            }
            Poll::Ready(read) => read,
        };
        self.begin_message();
        match read {
            Read::Json(bytes, tape) => {
                *steps = steps.saturating_sub((bytes.len() / BYTES_PER_STEP) as u64);
                let line = Rc::new(Line { bytes, tape });
                self.message(&line, 0, None);
            }
            Read::Noise { bytes, .. } => self.no_message(&bytes),
            Read::InvalidUtf8(bytes) => self.unreadable("invalid_utf8", &bytes),
            Read::TooManyTokens(bytes) => self.unreadable("tokens", &bytes),
        }
        if self.rest.is_none() {
            self.message_done(None);
        }
    }

    fn begin_message(&mut self) {
        self.answered = false;
        self.opened = false;
    }

    /// The message was handled: an exchange that nothing answers ends here.
    fn message_done(&mut self, batch: Option<u32>) {
        if batch.is_some() {
            if !self.opened {
                self.batch_step(batch);
            }
            return;
        }
        if let Some(exchange) = self.exchange.take()
            && !self.answered
            && !self.opened
        {
            self.end_exchange(Some(exchange.number), 202);
        }
    }

    /// Goes on with an array of messages.
    fn next_of(&mut self, rest: Rest) {
        let Rest { line, next, end, batch } = rest;
        if next >= end {
            self.exchange = None;
            return;
        }
        let after = line.tape.value(&line.bytes, next).next_position();
        self.rest = Some(Rest { line: Rc::clone(&line), next: after, end, batch });
        self.begin_message();
        self.message(&line, next, Some(batch));
        self.message_done(Some(batch));
    }

    /// No input comes any more: what is open may still be answered.
    fn input_ended(&mut self) {
        self.ended = true;
        self.complete_listens();
    }

    /// Over once nothing is open and everything was taken.
    pub(super) fn close_when_done(&mut self) {
        if self.ended && self.is_idle() && self.calls.is_empty() && self.outbound.is_empty() {
            self.finish(None);
        }
    }

    /// Ends the session at once.
    pub(super) fn finish(&mut self, error: Option<Error>) {
        if self.closed {
            return;
        }
        self.closed = true;
        self.reading = None;
        self.rest = None;
        self.inbox.clear();
        self.outbound.clear();
        self.blocked = None;
        self.batches.clear();
        self.listens.clear();
        self.open_ids.clear();
        for token in std::mem::take(&mut self.calls).into_keys() {
            self.event(ServerEvent::Cancelled { token });
        }
        self.event(ServerEvent::Closed { error });
    }
}
