//! The session's state and its one loop: inputs in the order given, each to its end.
//!
//! Invariant: inputs wait in one inbox while a line before them is not done, so how the work is
//! sliced changes neither output nor events. Time is that of the input being handled, never that
//! of the slice.

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::rc::Rc;

use crate::error::{Code, Error, Facts};
use crate::json::Tape;
use crate::redact::StderrTail;
use crate::sorted::Sorted;
use crate::table::Table;
use crate::wire::{Frame, FrameTooLong, LineReader, LineReading, Profile};

use super::call::{ArgumentsTask, CallInput, RequestInput};
use super::compile::Cache;
use super::event::{Event, Handle, RpcFault};
use super::exchange::ReplyOutcome;
use super::handshake::Greeting;
use super::listen::Listening;
use super::negotiate::Negotiation;
use super::options::{Plan, SessionOptions, Validation};
use super::outbound::{Outbound, Ticket};
use super::pending::{Pending, Requests};
use super::report::{Reports, source};
use super::revision::Revision;
use super::rounds::{Asked, Round};
use super::timers::Timers;
use super::tool::{Problem, Tool};
use super::verdict::JudgeTask;
use super::walk::{CompileTask, PageTask, Walking};

/// Where a session stands, in more detail than its host sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Before `connect`.
    Idle,
    /// `server/discover` is open, nothing else.
    Probing,
    /// The process is to be started again.
    Respawning,
    /// `initialize` is open.
    Initializing,
    /// The first catalog is being read.
    Listing,
    /// Calls are served.
    Ready,
    /// Over, but the end of stderr is awaited before anything settles.
    Draining,
    /// Over.
    Closed,
}

/// What the host gives.
pub(super) enum Input {
    Connect,
    Line(Vec<u8>),
    /// A message by itself, and in reply to which of ours.
    Message(Vec<u8>, Option<Handle>),
    ReplyEnded(Handle, ReplyOutcome),
    Bom,
    TooLong(Vec<u8>),
    /// `strict`: the reader met a line over the bound and reads no more.
    Broken,
    End,
    Exited(Option<i32>),
    WriteFailed,
    Advance,
    Call(Box<CallInput>),
    Request(Box<RequestInput>),
    Notify(Handle, String, Option<String>),
    Refresh(Handle),
    Respond(u32, Result<String, RpcFault>),
    Cancel(Handle, Option<String>),
    Stderr(Vec<u8>),
    StderrEnded,
}

/// A line that was read.
pub(super) struct Line {
    /// Shared with what is handed out of it.
    pub(super) bytes: Rc<Vec<u8>>,
    pub(super) tape: Tape,
    /// The message of ours that it came in reply to, where the transport tells.
    pub(super) in_reply_to: Option<Handle>,
}

/// What is under way, to be gone on with by the next slice.
pub(super) enum Task {
    Read(Box<LineReading>, Option<Handle>),
    Judge(Box<JudgeTask>),
    Arguments(Box<ArgumentsTask>),
    Page(Box<PageTask>),
    Compile(Box<CompileTask>),
}

/// The rest of an array of messages.
pub(super) struct Rest {
    pub(super) line: Rc<Line>,
    pub(super) next: u32,
    pub(super) end: u32,
}

/// The session.
pub(super) struct Core {
    pub(super) options: SessionOptions,
    pub(super) phase: Phase,
    /// The time of the input being handled.
    pub(super) now: f64,
    pub(super) lines: LineReader,
    inbox: VecDeque<(Input, f64)>,
    pub(super) task: Option<Task>,
    pub(super) rest: Option<Rest>,
    /// Pieces of work done so far: inputs from the inbox, tasks, messages of an array. Unlike
    /// steps it does not depend on slicing, so it says where a session stands.
    pub(super) done: u64,
    pub(super) outbound: Outbound,
    pub(super) timers: Timers,
    /// An answer to the server that waits for room; no line is read meanwhile (row R56).
    pub(super) blocked: Option<Ticket>,
    pub(super) requests: Requests,
    /// Notifications not yet taken: place in the queue and method.
    pub(super) notices: Sorted<Handle, (Ticket, String)>,
    /// Requests made after the end, to be settled with it.
    pub(super) late: Vec<Handle>,
    last_handle: Handle,
    /// What the server asked and the host has not answered, by token.
    pub(super) peer: Sorted<u32, Asked>,
    pub(super) last_token: u32,
    /// How many uncorrelated errors there were, and the number of the last.
    pub(super) uncorrelated: (u64, i64),
    pub(super) revision: Option<&'static Revision>,
    pub(super) greeting: Greeting,
    pub(super) negotiation: Negotiation,
    /// Requests that the server answered with a question, by handle.
    pub(super) rounds: Sorted<Handle, Round>,
    /// Calls that wait for a catalog, to be sent again.
    pub(super) stale_calls: Vec<Pending>,
    pub(super) listening: Listening,
    /// The level that `logging/setLevel` set, where requests carry it.
    pub(super) log_level: Option<String>,
    /// True if messages are taken one by one.
    pub(super) by_message: bool,
    /// True once the server wrote anything.
    pub(super) saw_bytes: bool,
    pub(super) tools: Table<String, Rc<Tool>>,
    pub(super) catalog: Vec<Rc<Tool>>,
    pub(super) skipped: Vec<Problem>,
    pub(super) tools_json: String,
    pub(super) problems_json: String,
    pub(super) cache: Cache,
    pub(super) walking: Walking,
    /// True once a JSON-RPC message came.
    pub(super) heard: bool,
    /// True once `embedded_newline_suspected` was reported.
    pub(super) suspected: bool,
    pub(super) reports: Reports,
    pub(super) tail: StderrTail,
    pub(super) stderr_ended: bool,
    /// Why the session is over.
    pub(super) end: Option<Error>,
}

impl Input {
    /// True for what comes from the server's process.
    fn is_of_process(&self) -> bool {
        !matches!(
            self,
            Input::Connect
                | Input::Advance
                | Input::Call(_)
                | Input::Request(_)
                | Input::Notify(..)
                | Input::Refresh(_)
                | Input::Respond(..)
                | Input::Cancel(..)
        )
    }
}

impl Core {
    pub(super) fn new(options: SessionOptions, plan: Plan) -> Self {
        let limits = options.limits;
        let strict = options.profile == Profile::Strict;
        Core {
            phase: Phase::Idle,
            now: 0.0,
            lines: LineReader::new(limits.max_frame_bytes as usize, options.profile),
            inbox: VecDeque::new(),
            task: None,
            rest: None,
            done: 0,
            outbound: Outbound::new(limits.queue_capacity as usize),
            timers: Timers::default(),
            blocked: None,
            requests: Requests::default(),
            notices: Sorted::new(),
            late: Vec::new(),
            last_handle: 0,
            peer: Sorted::new(),
            last_token: 0,
            uncorrelated: (0, 0),
            revision: None,
            greeting: Greeting::default(),
            negotiation: Negotiation::new(plan),
            rounds: Sorted::new(),
            stale_calls: Vec::new(),
            listening: Listening::default(),
            log_level: None,
            by_message: false,
            saw_bytes: false,
            tools: Table::new(),
            catalog: Vec::new(),
            skipped: Vec::new(),
            tools_json: "[]".to_owned(),
            problems_json: "[]".to_owned(),
            cache: Cache::new(),
            walking: Walking::default(),
            heard: false,
            suspected: false,
            reports: Reports::new(limits.max_diagnostic_bytes as usize, strict),
            tail: StderrTail::new(limits.max_stderr_bytes as usize),
            stderr_ended: false,
            end: None,
            options,
        }
    }

    pub(super) fn strict(&self) -> bool {
        self.options.profile == Profile::Strict
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Draining | Phase::Closed)
    }

    pub(super) fn next_handle(&mut self) -> Handle {
        self.last_handle += 1;
        self.last_handle
    }

    /// An error that names the server.
    pub(super) fn error(&self, code: Code, reason: &'static str) -> Error {
        Error::new(code, reason).at_server(&self.options.server)
    }

    pub(super) fn settle(
        &mut self,
        handle: Handle,
        outcome: Result<super::event::Settlement, Error>,
    ) {
        self.reports.event(Event::Settled { handle, outcome });
    }

    pub(super) fn fail(&mut self, handle: Handle, error: Error) {
        self.settle(handle, Err(error));
    }

    /// The bound that a line broke, for the reasons that are about one.
    pub(super) fn limit_of(&self, reason: &str) -> Facts {
        let limits = &self.options.limits;
        let limit = match reason {
            "frame_too_long" => limits.max_frame_bytes,
            "tokens" => limits.max_tokens,
            "depth" => f64::from(crate::wire::MAX_DEPTH),
            _ => return Facts::default(),
        };
        Facts { limit: Some(limit as u64), ..Facts::default() }
    }

    /// The output policy of a call.
    pub(super) fn validation(&self, of_call: Option<Validation>) -> Validation {
        of_call.unwrap_or(self.options.validation)
    }

    fn is_idle(&self) -> bool {
        self.task.is_none()
            && self.rest.is_none()
            && self.inbox.is_empty()
            && self.blocked.is_none()
    }

    /// True if something is left to do and nothing stands in its way.
    pub(super) fn has_work(&self) -> bool {
        !self.is_idle() && self.blocked.is_none()
    }

    /// True if lines wait behind an answer that waits for room in the outbound queue.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// Frames bytes that are pushed; the lines wait for [`Core::work`].
    pub(super) fn receive(
        &mut self,
        push: impl FnOnce(&mut LineReader) -> Result<(), FrameTooLong>,
        now: f64,
    ) {
        if matches!(self.phase, Phase::Idle | Phase::Respawning) || self.is_over() {
            return;
        }
        self.first_bytes(self.now.max(now));
        let broken = push(&mut self.lines) == Err(FrameTooLong);
        self.queue_frames(now);
        if broken {
            self.inbox.push_back((Input::Broken, now));
        }
    }

    /// The reader's room for bytes without a line feed, if they can be taken.
    pub(super) fn room(&mut self, length: usize, now: f64) -> Option<&mut [MaybeUninit<u8>]> {
        if matches!(self.phase, Phase::Idle | Phase::Respawning) || self.is_over() {
            return None;
        }
        self.first_bytes(self.now.max(now));
        self.lines.room(length)
    }

    pub(super) fn queue_frames(&mut self, now: f64) {
        while let Some(frame) = self.lines.next_frame() {
            let input = match frame {
                Frame::Line(line) => Input::Line(line),
                Frame::Bom => Input::Bom,
                Frame::TooLong(head) => Input::TooLong(head),
            };
            self.inbox.push_back((input, now));
        }
    }

    /// Handles an input now if nothing is before it.
    pub(super) fn input(&mut self, input: Input, now: f64) {
        if self.is_idle() {
            self.handle(input, now);
        } else {
            self.inbox.push_back((input, now));
        }
    }

    /// True if the host gave a request up and that waits behind the line being read.
    pub(super) fn is_given_up(&self, handle: Handle) -> bool {
        let cancels = |input: &Input| matches!(input, Input::Cancel(of, _) if *of == handle);
        self.inbox.iter().any(|(input, _)| cancels(input))
    }

    /// Drops what waits; gives the handles whose requests were never looked at.
    pub(super) fn drop_inbox(&mut self) -> Vec<Handle> {
        self.rest = None;
        let inbox = std::mem::take(&mut self.inbox);
        inbox
            .into_iter()
            .filter_map(|(input, _)| match input {
                Input::Call(call) => Some(call.handle),
                Input::Request(request) => Some(request.handle),
                Input::Notify(handle, ..) | Input::Refresh(handle) => Some(handle),
                _ => None,
            })
            .collect()
    }

    /// Does about so many steps of what waits.
    pub(super) fn work(&mut self, mut steps: u64) {
        while steps > 0 && self.has_work() {
            self.work_on(&mut steps);
        }
    }

    /// Works until so many pieces are done in all, until nothing is left to do, or until the steps
    /// are spent; gives what is left of them.
    pub(super) fn work_until(&mut self, done: u64, mut steps: u64) -> u64 {
        while self.done < done && steps > 0 && self.has_work() {
            self.work_on(&mut steps);
        }
        steps
    }

    /// The server sent something.
    pub(super) fn received(&mut self) {
        self.saw_bytes = true;
    }

    /// Goes on with the piece under way, or begins the next.
    fn work_on(&mut self, steps: &mut u64) {
        if let Some(task) = self.task.take() {
            let kind = std::mem::discriminant(&task);
            self.run(task, steps);
            // No task is followed by one of its own kind: the same kind is the same task.
            let goes_on = self.task.as_ref().map(std::mem::discriminant) == Some(kind);
            self.done += u64::from(!goes_on);
            return;
        }
        *steps = steps.saturating_sub(1);
        if let Some(rest) = self.rest.take() {
            self.done += 1;
            self.next_of(rest);
        } else if let Some((input, at)) = self.inbox.pop_front() {
            // How stderr is cut into chunks is no part of a session's position.
            self.done += u64::from(!matches!(input, Input::Stderr(_)));
            self.handle(input, at);
        }
    }

    fn run(&mut self, task: Task, steps: &mut u64) {
        match task {
            Task::Read(reading, in_reply_to) => self.read(reading, in_reply_to, steps),
            Task::Judge(judging) => self.judge(judging, steps),
            Task::Arguments(arguments) => self.check_arguments(arguments, steps),
            Task::Page(page) => self.run_page(page, steps),
            Task::Compile(compilation) => self.compile(compilation, steps),
        }
    }

    fn handle(&mut self, input: Input, at: f64) {
        self.now = self.now.max(at);
        if self.phase == Phase::Respawning && input.is_of_process() {
            return;
        }
        match input {
            Input::Line(line) if !self.is_over() => self.start_reading(line, None),
            Input::Message(json, in_reply_to) if !self.is_over() => {
                if json.len() as f64 <= self.options.limits.max_frame_bytes {
                    self.start_reading(json, in_reply_to);
                } else {
                    self.unreadable("frame_too_long", &json, in_reply_to);
                }
            }
            Input::ReplyEnded(handle, outcome) if !self.is_over() => {
                self.reply_ended(handle, outcome);
            }
            Input::Message(..) | Input::ReplyEnded(..) => {}
            Input::Bom if !self.is_over() => self.reports.note(source::WIRE, "bom_skipped", ""),
            Input::TooLong(head) if !self.is_over() => {
                self.unreadable("frame_too_long", &head, None);
            }
            Input::Broken if !self.is_over() => self.unreadable("frame_too_long", &[], None),
            Input::Line(_) | Input::Bom | Input::TooLong(_) | Input::Broken => {}
            Input::Connect => self.start(),
            Input::End => self.disconnected("stdout_closed", None),
            Input::Exited(Some(code)) => self.disconnected("exited", Some(code)),
            Input::Exited(None) => self.disconnected("process_exited", None),
            Input::WriteFailed => self.disconnected("stdin_closed", None),
            Input::Advance => self.fire_timers(),
            Input::Call(call) => self.start_call(*call),
            Input::Request(request) => self.start_request(*request),
            Input::Notify(handle, method, params) => {
                self.start_notice(handle, &method, params.as_deref());
            }
            Input::Refresh(handle) => self.start_refresh(handle),
            Input::Respond(token, outcome) => self.answer_for_host(token, outcome),
            Input::Cancel(handle, reason) => self.give_up(handle, reason.as_deref()),
            Input::Stderr(chunk) => self.tail.push(&chunk),
            Input::StderrEnded => {
                self.stderr_ended = true;
                self.tail.end();
                if self.phase == Phase::Draining {
                    self.finish();
                }
            }
        }
    }
}
