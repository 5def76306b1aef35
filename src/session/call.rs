//! What the host asks for: tool calls, requests, notifications, and giving them up
//! (rows R21 to R27, R31, R52, R62 to R65).

use std::rc::Rc;
use std::task::Poll;

use crate::error::{Code, Error, Facts};
use crate::json::{Limits, Progress, Reader, Tape};
use crate::schema::{Judge, Verdict};
use crate::wire::encode::{self, push_quoted, quote};

use super::core::{Core, Phase, Task};
use super::event::{Handle, Settlement};
use super::options::{CallOptions, RequestOptions, is_positive_safe_integer};
use super::outbound::{Offered, Owner, WhenFull};
use super::pending::{Kind, Pending, Times, ToolCall};
use super::report::source;
use super::result::violations_json;
use super::rounds::Again;
use super::stamp::{member_text, push_members, with_meta};
use super::timers::Timer;
use super::tool::Tool;
use super::walk::aborted;

/// What the server is told when the host gives no reason (rows R63, R68).
const GIVEN_UP: &str = "The client gave the request up";
const TOO_LATE: &str = "The client's deadline passed";

/// A tool call as the host made it.
pub(super) struct CallInput {
    pub(super) handle: Handle,
    pub(super) name: String,
    pub(super) arguments: Result<String, Error>,
    pub(super) options: CallOptions,
    pub(super) times: Times,
}

/// A request as the host made it.
pub(super) struct RequestInput {
    pub(super) handle: Handle,
    pub(super) method: String,
    pub(super) params: Option<String>,
    pub(super) times: Times,
    pub(super) has_token: bool,
}

/// A request whose params take `_meta` when it is sent, so that it can be sent again.
pub(super) struct Dispatch {
    pub(super) kind: Kind,
    pub(super) method: Rc<str>,
    /// JSON text of the params of this time, an object without `_meta`.
    pub(super) params: String,
    /// JSON text of the host's `_meta`.
    pub(super) meta: Option<Rc<str>>,
    pub(super) again: Option<Again>,
    pub(super) times: Times,
    pub(super) has_token: bool,
    pub(super) made: f64,
}

/// A call whose arguments are being judged.
pub(super) struct ArgumentsTask {
    call: CallInput,
    arguments: String,
    tool: Rc<Tool>,
    reader: Option<Reader>,
    judging: Option<(Tape, Judge)>,
}

impl ArgumentsTask {
    pub(super) fn handle(&self) -> Handle {
        self.call.handle
    }
}

impl Core {
    /// The deadlines of a call, checked at once.
    pub(super) fn times(&self, options: RequestOptions) -> Result<Times, Error> {
        let limits = &self.options.limits;
        let strict = self.strict();
        let given = |value: Option<f64>, option: &'static str, default: f64| match value {
            None => Ok(default),
            Some(value) if strict && is_positive_safe_integer(value) => Ok(value),
            Some(value) if !strict && value > 0.0 => Ok(value),
            Some(_) => {
                let (code, reason) = if strict {
                    (Code::ProtocolError, "option_not_positive_integer")
                } else {
                    (Code::InvalidArguments, "invalid_time")
                };
                let facts = Facts { option: Some(option.into()), ..Facts::default() };
                Err(Error::new(code, reason).facts(facts))
            }
        };
        Ok(Times {
            timeout: given(options.timeout_ms, "timeoutMs", limits.request_timeout_ms)?,
            total: given(
                options.max_total_timeout_ms,
                "maxTotalTimeoutMs",
                limits.max_total_timeout_ms,
            )?,
            resets: !strict && options.reset_timeout_on_progress.unwrap_or(true),
        })
    }

    /// True if the session serves requests; else the handle is settled, or will be with the end.
    pub(super) fn may_start(&mut self, handle: Handle) -> bool {
        match (self.phase, self.end.clone()) {
            (Phase::Ready, _) => return true,
            (Phase::Draining, _) => self.late.push(handle),
            (_, Some(error)) => self.fail(handle, error),
            _ => {
                let error = self.error(Code::ProtocolError, "not_connected");
                self.fail(handle, error);
            }
        }
        false
    }

    pub(super) fn start_call(&mut self, mut call: CallInput) {
        if !self.may_start(call.handle) {
            return;
        }
        let Some(tool) = self.tools.get(&call.name).cloned() else {
            let error = self.error(Code::ToolNotFound, "unknown_tool");
            return self.fail(call.handle, error);
        };
        let empty = Ok(String::new());
        let arguments = match std::mem::replace(&mut call.arguments, empty) {
            Ok(arguments) => arguments,
            Err(error) => {
                if let (Some(detail), "args_not_json") = (error.private_json(), error.reason()) {
                    let (source, code) = (source::INVALID_ARGUMENTS, "invalid_arguments");
                    self.reports.diagnostic(source, code, detail);
                }
                return self.fail(call.handle, error.at_server(&self.options.server));
            }
        };
        let judged = self.options.check_arguments
            && tool.input.as_ref().is_some_and(|input| input.program.is_ok());
        if judged {
            let reader = Some(Reader::new(Limits::depth(512)));
            let task = ArgumentsTask { call, arguments, tool, reader, judging: None };
            self.task = Some(Task::Arguments(Box::new(task)));
        } else {
            self.send_call(call, &arguments, tool);
        }
    }

    /// Goes on judging arguments.
    pub(super) fn check_arguments(&mut self, mut task: Box<ArgumentsTask>, steps: &mut u64) {
        let bytes = task.arguments.as_bytes();
        if let Some(mut reader) = task.reader.take() {
            let budget = usize::try_from(*steps).unwrap_or(usize::MAX).saturating_mul(16);
            match reader.run(bytes, budget) {
                Ok(Progress::Pending) => {
                    *steps = 0;
                    task.reader = Some(reader);
                    self.task = Some(Task::Arguments(task));
                    return;
                }
                Ok(Progress::Done) => {
                    *steps = steps.saturating_sub((bytes.len() / 16) as u64);
                    if let Some(Ok(program)) = task.tool.input.as_ref().map(|it| &it.program) {
                        task.judging = Some((reader.finish(), Judge::new(program, 0)));
                    }
                }
                // The host vouches for its text; what cannot be read is not judged.
                Err(_) => {}
            }
        }
        let program = task.tool.input.as_ref().map(|input| &input.program);
        if let (Some((tape, judge)), Some(Ok(program))) = (&mut task.judging, program) {
            let outcome = match judge.step(program, bytes, tape, steps) {
                Poll::Pending => {
                    self.task = Some(Task::Arguments(task));
                    return;
                }
                Poll::Ready(outcome) => outcome,
            };
            if outcome.verdict == Verdict::Invalid {
                let violations = violations_json(&outcome.violations);
                let detail = format!("{{\"violations\":{violations}}}");
                self.reports.note(source::INVALID_ARGUMENTS, "invalid_arguments", &detail);
                let error = self.error(Code::InvalidArguments, "arguments_rejected");
                return self.fail(task.call.handle, error.private(detail));
            }
        }
        let ArgumentsTask { call, arguments, tool, .. } = *task;
        self.send_call(call, &arguments, tool);
    }

    fn send_call(&mut self, call: CallInput, arguments: &str, tool: Rc<Tool>) {
        let CallInput { handle, name, options, times, .. } = call;
        // With room for `_meta`, which is put in when the call is sent.
        let mut params = String::with_capacity(80 + name.len() + arguments.len());
        params.push_str("{\"name\":");
        push_quoted(&mut params, &name);
        params.push_str(",\"arguments\":");
        params.push_str(arguments);
        params.push('}');
        let call = ToolCall {
            handle,
            tool,
            validation: self.validation(options.validation),
            numbers: options.numbers.unwrap_or(self.options.numbers),
        };
        let asks_back = self.asks_back("tools/call");
        self.dispatch(Dispatch {
            again: asks_back.then(|| Again::new(&params, options.meta.as_deref())),
            kind: Kind::Tool(call),
            method: "tools/call".into(),
            params,
            meta: options.meta.map(Into::into),
            times,
            has_token: !self.strict(),
            made: self.now,
        });
    }

    /// True if the server may answer the method with a question.
    fn asks_back(&self, method: &str) -> bool {
        self.revision.is_some_and(|revision| revision.asks_back.contains(&method))
    }

    pub(super) fn start_request(&mut self, request: RequestInput) {
        let RequestInput { handle, method, params, times, has_token } = request;
        if !self.may_start(handle) {
            return;
        }
        if self.keeps_log_level(&method, params.as_deref()) {
            return self.settle(handle, Ok(Settlement::Value("{}".to_owned())));
        }
        let meta = || params.as_deref().and_then(|params| member_text(params, "_meta"));
        if self.asks_back(&method) {
            let meta = meta();
            let mut rest = String::from("{");
            push_members(&mut rest, params.as_deref(), &["_meta"]);
            rest.push('}');
            return self.dispatch(Dispatch {
                kind: Kind::Plain(handle),
                method: method.into(),
                again: Some(Again::new(&rest, meta.as_deref())),
                params: rest,
                meta: meta.map(Into::into),
                times,
                has_token,
                made: self.now,
            });
        }
        let id = self.requests.next_id();
        let stamped = self.revision.is_some_and(|revision| revision.stamped);
        let params = if has_token || stamped {
            let token = has_token.then_some(id);
            let meta = self.meta_text(self.revision, token, meta().as_deref());
            Some(with_meta(&meta, params.as_deref()))
        } else {
            params
        };
        let kind = Kind::Plain(handle);
        let pending = self.pending(kind, method.into(), times, has_token);
        self.send(id, params.as_deref(), pending);
    }

    fn pending(&self, kind: Kind, method: Rc<str>, times: Times, has_token: bool) -> Pending {
        Pending {
            kind,
            method,
            queued: None,
            made: self.now,
            times,
            has_token,
            errors_before: self.uncorrelated.0,
            exchange: None,
            again: None,
        }
    }

    /// Sends a request, for the first time or again.
    pub(super) fn dispatch(&mut self, request: Dispatch) {
        let Dispatch { kind, method, mut params, meta, again, times, has_token, made } = request;
        let id = self.requests.next_id();
        if !self.strict() {
            let token = has_token.then_some(id);
            let meta = self.meta_text(self.revision, token, meta.as_deref());
            params.pop();
            if !params.ends_with('{') {
                params.push(',');
            }
            params.push_str("\"_meta\":");
            params.push_str(&meta);
            params.push('}');
        }
        let pending = Pending { made, again, ..self.pending(kind, method, times, has_token) };
        self.send(id, Some(&params), pending);
    }

    fn send(&mut self, id: u32, params: Option<&str>, mut pending: Pending) {
        let method = &*Rc::clone(&pending.method);
        let offered = self.fit(encode::request(id, method, params), method).and_then(|frame| {
            let when_full = if self.strict() { WhenFull::Wait } else { WhenFull::Refuse };
            match self.outbound.offer(frame, Owner::Request(id), when_full) {
                Offered::Queued(ticket) | Offered::Waits(ticket) => Ok(ticket),
                Offered::Refused => Err(self.queue_full(method)),
            }
        });
        match (offered, pending.handle()) {
            (Ok(ticket), _) => {
                pending.queued = Some(ticket);
                self.timers.set(Timer::Request(id), pending.deadline(self.now));
                self.requests.insert(id, pending);
            }
            (Err(error), Some(handle)) => self.fail(handle, error),
            (Err(_), None) => {}
        }
    }

    fn queue_full(&self, method: &str) -> Error {
        let facts = Facts {
            method: Some(method.to_owned()),
            limit: Some(self.options.limits.queue_capacity as u64),
            ..Facts::default()
        };
        self.error(Code::Limit, "queue_full").facts(facts).retryable(true)
    }

    pub(super) fn start_notice(&mut self, handle: Handle, method: &str, params: Option<&str>) {
        if !self.may_start(handle) {
            return;
        }
        let allowed = self.revision.and_then(|revision| revision.client_notifications);
        if allowed.is_some_and(|allowed| !allowed.contains(&method)) {
            let facts = Facts { method: Some(method.to_owned()), ..Facts::default() };
            let error = self.error(Code::ProtocolError, "notification_not_allowed").facts(facts);
            return self.fail(handle, error);
        }
        let frame = match self.fit(encode::notification(method, params), method) {
            Ok(frame) => frame,
            Err(error) => return self.fail(handle, error),
        };
        let strict = self.strict();
        let when_full = if strict { WhenFull::Wait } else { WhenFull::Refuse };
        match self.outbound.offer(frame, Owner::Notice(handle), when_full) {
            // System C is done with a notification once the queue has it.
            Offered::Queued(_) if strict => self.settle(handle, Ok(Settlement::Done)),
            Offered::Queued(ticket) | Offered::Waits(ticket) => {
                self.notices.insert(handle, (ticket, method.to_owned()));
                let deadline = self.now + self.options.limits.request_timeout_ms;
                self.timers.set(Timer::Notice(handle), deadline);
            }
            Offered::Refused => {
                let error = self.queue_full(method);
                self.fail(handle, error);
            }
        }
    }

    /// Takes one frame; what waits for room moves up.
    pub(super) fn take_output(&mut self) -> Option<Vec<u8>> {
        self.take_frame().map(|(frame, _)| frame)
    }

    /// As [`Core::take_output`], with whose it is.
    pub(super) fn take_frame(&mut self) -> Option<(Vec<u8>, Owner)> {
        let (frame, owner) = self.outbound.take()?;
        match owner {
            Owner::Request(id) => {
                if let Some(pending) = self.requests.get_mut(id) {
                    pending.queued = None;
                }
                self.negotiation.left(id);
            }
            Owner::Notice(handle) => self.notice_left(handle),
            Owner::Answer | Owner::Initialized | Owner::Cancellation => {}
        }
        self.promote();
        Some((frame, owner))
    }

    /// Moves up what waits for room.
    fn promote(&mut self) {
        while let Some(owner) = self.outbound.promote() {
            match owner {
                Owner::Answer => {
                    self.blocked = None;
                    self.timers.unset(Timer::Answer);
                }
                Owner::Initialized => self.timers.unset(Timer::Initialized),
                Owner::Notice(handle) if self.strict() => self.notice_left(handle),
                Owner::Notice(_) | Owner::Request(_) | Owner::Cancellation => {}
            }
        }
    }

    fn notice_left(&mut self, handle: Handle) {
        if self.notices.remove(&handle).is_some() {
            self.timers.unset(Timer::Notice(handle));
            self.settle(handle, Ok(Settlement::Done));
        }
    }

    /// The host gives a request up.
    pub(super) fn give_up(&mut self, handle: Handle, reason: Option<&str>) {
        let error = aborted(self);
        if let Some(id) = self.requests.id_of(handle) {
            let reason = reason.filter(|_| !self.strict()).unwrap_or(GIVEN_UP);
            if self.withdraw_request(id, reason).is_some() {
                self.fail(handle, error);
            }
        } else if let Some((ticket, _)) = self.notices.remove(&handle) {
            self.timers.unset(Timer::Notice(handle));
            self.outbound.withdraw(ticket);
            self.promote();
            self.fail(handle, error);
        } else if self.forget_refresh(handle)
            || self.drop_round(handle).is_some()
            || self.drop_stale_call(handle)
        {
            self.fail(handle, error);
        } else if let Some(at) = self.late.iter().position(|late| *late == handle) {
            self.late.remove(at);
            self.fail(handle, error);
        }
    }

    /// Closes a request that gets no answer: takes its frame back, or tells the server (row R63).
    fn withdraw_request(&mut self, id: u32, reason: &str) -> Option<Pending> {
        let pending = self.requests.remove(id)?;
        self.timers.unset(Timer::Request(id));
        match pending.queued {
            Some(ticket) => {
                self.outbound.withdraw(ticket);
                self.promote();
            }
            None => {
                self.requests.abandon(id);
                self.exchange_abandoned(&pending);
                let opening = matches!(pending.kind, Kind::Initialize | Kind::Probe);
                if !opening && !self.is_over() && !self.closing_cancels() {
                    let params = format!("{{\"requestId\":{id},\"reason\":{}}}", quote(reason));
                    let params = self.stamp_params(&params).unwrap_or(params);
                    let frame = encode::notification("notifications/cancelled", Some(&params));
                    if let Ok(frame) = self.fit(frame, "notifications/cancelled") {
                        // Best effort: not at all if there is no room.
                        self.outbound.offer(frame, Owner::Cancellation, WhenFull::Refuse);
                    }
                }
            }
        }
        Some(pending)
    }

    /// Forgets a request of the session's own: its answer is not wanted any more.
    pub(super) fn forget_request(&mut self, id: u32) {
        let Some(pending) = self.requests.remove(id) else { return };
        self.timers.unset(Timer::Request(id));
        match pending.queued {
            Some(ticket) => self.outbound.withdraw(ticket),
            None => {
                self.requests.abandon(id);
                self.exchange_abandoned(&pending);
            }
        }
    }

    /// A request's deadline passed.
    pub(super) fn request_due(&mut self, id: u32) {
        if self.probe_due(id) {
            return;
        }
        let Some(pending) = self.withdraw_request(id, TOO_LATE) else { return };
        let total = self.now >= pending.made + pending.times.total;
        let (reason, ms) = if total {
            ("max_total", pending.times.total)
        } else {
            ("deadline", pending.times.timeout)
        };
        let (errors, code) = self.uncorrelated;
        let facts = Facts {
            method: Some(pending.method.to_string()),
            ms: Some(ms),
            rpc_code: Some(code).filter(|_| errors > pending.errors_before),
            ..Facts::default()
        };
        let unsent = pending.queued.is_some() && !self.strict();
        let error = self.error(Code::Timeout, reason).facts(facts).retryable(unsent);
        let error = self.with_stderr(error);
        if matches!(pending.kind, Kind::Probe) {
            self.probe_closed(id);
        }
        match (pending.handle(), &pending.kind) {
            (Some(handle), _) => self.fail(handle, error),
            (None, kind) => self.own_request_failed(kind, error),
        }
    }

    /// A notification found no room in time.
    pub(super) fn notice_due(&mut self, handle: Handle) {
        let Some((ticket, method)) = self.notices.remove(&handle) else { return };
        self.outbound.withdraw(ticket);
        self.promote();
        let facts = Facts {
            method: Some(method),
            ms: Some(self.options.limits.request_timeout_ms),
            ..Facts::default()
        };
        let error = self.error(Code::Timeout, "deadline").facts(facts).retryable(!self.strict());
        self.fail(handle, error);
    }
}
