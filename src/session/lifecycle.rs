//! The end of a session: one reason, everything open settles with it once, stderr is waited for
//! where it can tell more (rows R58 to R61).

use crate::error::{Code, Error, Facts};
use crate::sorted::sort;
use crate::wire::encode::quote;

use super::core::{Core, Input, Phase, Task};
use super::event::{Event, Handle};
use super::report::source;
use super::timers::Timer;

/// Milliseconds that the end of stderr is waited for.
const DRAIN_MS: f64 = 250.0;

impl Core {
    /// The process or one of its streams ended.
    pub(super) fn disconnected(&mut self, reason: &'static str, exit_code: Option<i32>) {
        if self.died_on_probe() {
            return self.respawn();
        }
        let facts = Facts { exit_code, ..Facts::default() };
        let error = self.error(Code::ConnectionClosed, reason).facts(facts);
        self.terminate(error, true);
    }

    /// Ends the session for this reason, unless it is over already. `drain`: what is open settles
    /// only when stderr ended.
    pub(super) fn terminate(&mut self, error: Error, drain: bool) {
        if self.is_over() {
            return;
        }
        self.end = Some(error);
        self.phase = Phase::Draining;
        self.outbound.clear();
        self.blocked = None;
        self.peer.clear();
        for timer in [
            Timer::Connect,
            Timer::Hedge,
            Timer::Initialized,
            Timer::Answer,
            Timer::Refresh,
            Timer::Listen,
        ] {
            self.timers.unset(timer);
        }
        if drain && !self.stderr_ended {
            self.timers.set(Timer::Drain, self.now + DRAIN_MS);
        } else {
            self.finish();
        }
    }

    /// Settles everything with the reason of the end.
    pub(super) fn finish(&mut self) {
        let Some(error) = self.end.take() else { return };
        let error = match error.code() {
            Code::Timeout | Code::ConnectionClosed | Code::SpawnFailed => self.with_stderr(error),
            _ => error,
        };
        let tail = self.tail.text();
        if !tail.is_empty() {
            self.reports.diagnostic(source::STDERR, "stderr", &tail);
        }
        self.settle_all(&error, Vec::new());
        self.reports.event(Event::Closed { error: Some(error.clone()) });
        self.end = Some(error);
    }

    /// The host ends the session, at once.
    pub(super) fn close(&mut self, now: f64) {
        self.now = self.now.max(now);
        let mut dropped = self.drop_inbox();
        let judged = match self.task.take() {
            Some(Task::Judge(task)) => Some(task.handle()),
            Some(Task::Arguments(task)) => Some(task.handle()),
            Some(Task::Page(task)) => task.handle(),
            Some(Task::Compile(task)) => task.handle(),
            Some(Task::Read(..)) | None => None,
        };
        dropped.extend(judged);
        if self.phase == Phase::Closed {
            return;
        }
        let reason = if self.phase == Phase::Draining { self.end.take() } else { None };
        let error = self.error(Code::ConnectionClosed, "scope_closed");
        self.settle_all(&error, dropped);
        self.end = Some(error);
        self.reports.event(Event::Closed { error: reason });
    }

    /// Settles every open handle, in the order they were made, and forgets the rest.
    fn settle_all(&mut self, error: &Error, mut handles: Vec<Handle>) {
        self.phase = Phase::Closed;
        let strict = self.strict();
        let mut unsent_handles = Vec::new();
        for pending in self.requests.drain() {
            let Some(handle) = pending.handle() else { continue };
            if pending.queued.is_some() && !strict {
                unsent_handles.push(handle);
            }
            handles.push(handle);
        }
        handles.extend(std::mem::take(&mut self.notices).into_keys());
        handles.append(&mut self.late);
        handles.extend(std::mem::take(&mut self.rounds).into_keys());
        handles.extend(self.drop_stale_calls());
        handles.extend(self.drop_walk());
        sort(&mut handles);
        for handle in handles {
            // Trying again is safe if the server never saw it.
            let retryable = unsent_handles.binary_search(&handle).is_ok();
            let error = if retryable { error.clone().retryable(true) } else { error.clone() };
            self.fail(handle, error);
        }
        self.outbound.clear();
        self.timers.clear();
        self.blocked = None;
        self.peer.clear();
    }

    /// Stops what is being done for a handle, if something is. True if it was.
    pub(super) fn stop(&mut self, handle: Handle) -> bool {
        let of = match &self.task {
            Some(Task::Judge(task)) => task.handle(),
            Some(Task::Arguments(task)) => task.handle(),
            _ => return false,
        };
        if of != handle {
            return false;
        }
        self.task = None;
        let error = super::walk::aborted(self);
        self.fail(handle, error);
        true
    }

    /// Time passed.
    pub(super) fn advance(&mut self, now: f64) {
        let blocked_due = self.blocked.is_some()
            && self.timers.at(Timer::Answer).is_some_and(|deadline| deadline <= now);
        if blocked_due {
            // Everything behind the answer waits for it, so its deadline cannot wait too.
            self.now = self.now.max(now);
            self.timers.unset(Timer::Answer);
            self.answer_due();
        }
        self.input(Input::Advance, now);
    }

    /// Fires what is due.
    pub(super) fn fire_timers(&mut self) {
        while let Some(timer) = self.timers.due(self.now) {
            match timer {
                Timer::Request(id) => self.request_due(id),
                Timer::Notice(handle) => self.notice_due(handle),
                Timer::Initialized => {
                    let limit = self.options.limits.handshake_timeout_ms;
                    self.handshake_due("deadline", "notifications/initialized", limit);
                }
                Timer::Connect => {
                    let limit = self.options.limits.connect_timeout_ms;
                    self.handshake_due("connect_timeout", "initialize", limit);
                }
                Timer::Answer => self.answer_due(),
                Timer::Refresh => self.refresh_due(),
                Timer::Drain => self.finish(),
                Timer::Hedge => self.hedge_due(),
                Timer::Round(handle) => self.round_due(handle),
                Timer::Listen => self.listen(),
            }
        }
    }

    fn handshake_due(&mut self, reason: &'static str, method: &str, ms: f64) {
        let facts = Facts { method: Some(method.to_owned()), ms: Some(ms), ..Facts::default() };
        let error = self.error(Code::Timeout, reason).facts(facts);
        self.terminate(error, false);
    }

    /// When [`Core::advance`] is due. While an answer blocks, nothing else can fire.
    pub(super) fn next_deadline(&self) -> Option<f64> {
        match self.blocked {
            Some(_) => self.timers.at(Timer::Answer),
            None => self.timers.first(),
        }
    }

    /// The error with the end of stderr, for the host alone, and the mark that there is one.
    pub(super) fn with_stderr(&self, error: Error) -> Error {
        let tail = self.tail.text();
        if tail.is_empty() {
            return error;
        }
        error.stderr_withheld().private(format!("{{\"stderr\":{}}}", quote(&tail)))
    }
}
