//! The client session as its host sees it.

use std::mem::MaybeUninit;

use crate::error::Error;

use super::call::{CallInput, RequestInput};
use super::core::{Core, Input, Phase};
use super::event::{Event, Handle, OutMessage, RpcFault};
use super::exchange::ReplyOutcome;
use super::options::{CallOptions, Plan, RequestOptions, SessionOptions};

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// `connect` was not called.
    Idle,
    /// From `connect` to the first catalog.
    Connecting,
    /// Calls are served.
    Ready,
    /// Over; what is left is to settle and report.
    Closed,
}

impl State {
    /// The state as JavaScript sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Idle => "idle",
            State::Connecting => "connecting",
            State::Ready => "ready",
            State::Closed => "closed",
        }
    }
}

/// One connection to one MCP server, seen from the client. All times are milliseconds of any clock
/// that does not run backwards.
///
/// After any input: `work` while [`ClientSession::has_work`], `take_output` while the transport
/// takes bytes, `poll_event` until `None`; then sleep until [`ClientSession::next_deadline`].
pub struct ClientSession {
    core: Core,
}

impl ClientSession {
    /// A session that has not started.
    ///
    /// # Errors
    /// `protocol_error` naming the first bad option (row R02).
    pub fn new(options: SessionOptions) -> Result<Self, Error> {
        options.check()?;
        // A session without a revision does not pass the check.
        let plan = options.plan().unwrap_or(Plan::Legacy);
        Ok(ClientSession { core: Core::new(options, plan) })
    }

    /// Starts the handshake.
    pub fn connect(&mut self, now: f64) {
        self.core.input(Input::Connect, now);
    }

    /// Bytes of the server's stdout, split anywhere. Frames and queues them.
    pub fn receive(&mut self, chunk: &[u8], now: f64) {
        self.core.receive(|lines| lines.push(chunk), now);
    }

    /// The same for bytes that are the session's to keep: one line with its line feed, as most
    /// chunks are, is not copied again.
    pub fn receive_owned(&mut self, chunk: Vec<u8>, now: f64) {
        self.core.receive(|lines| lines.push_owned(chunk), now);
    }

    /// A message by itself, from a transport that does not frame: `in_reply_to` is the handle of
    /// the message of ours that it answers, if the transport tells.
    pub fn receive_message(&mut self, json: &[u8], now: f64, in_reply_to: Option<Handle>) {
        self.core.received();
        self.core.input(Input::Message(json.to_vec(), in_reply_to), now);
    }

    /// The exchange of a message that was taken by itself is over: a request that was not answered
    /// fails.
    pub fn reply_ended(&mut self, handle: Handle, outcome: ReplyOutcome, now: f64) {
        self.core.input(Input::ReplyEnded(handle, outcome), now);
    }

    /// True while [`ClientSession::work`] has something to do.
    pub fn has_work(&self) -> bool {
        self.core.has_work()
    }

    /// True if an answer of ours waits for room in the outbound queue, so that no line is read
    /// until a frame is taken or the wait is over (row R56). A host should read no more meanwhile.
    pub fn is_blocked(&self) -> bool {
        self.core.is_blocked()
    }

    /// Reads, judges and compiles what is queued, in about `max_steps` steps. What is done takes
    /// the time of the input it belongs to, so `now` decides nothing; it is there so that every
    /// input has one.
    pub fn work(&mut self, max_steps: u64, _now: f64) {
        self.core.work(max_steps);
    }

    /// How many pieces of work were done so far. The same inputs give the same pieces however the
    /// work is sliced, so this and the inputs say where a session stands.
    pub fn work_done(&self) -> u64 {
        self.core.done
    }

    /// Works until [`ClientSession::work_done`] is `done`, or until nothing is left to do, but no
    /// more than so many steps. Gives the steps that are left.
    pub fn work_until(&mut self, done: u64, steps: u64) -> u64 {
        self.core.work_until(done, steps)
    }

    /// The server's stdout ended.
    pub fn end(&mut self, now: f64) {
        self.core.lines.end();
        if !self.core.is_over() {
            self.core.queue_frames(now);
        }
        self.core.input(Input::End, now);
    }

    /// The server's process ended, with its exit code if known.
    pub fn exited(&mut self, code: Option<i32>, now: f64) {
        self.core.input(Input::Exited(code), now);
    }

    /// Writing to the server's stdin failed.
    pub fn write_failed(&mut self, now: f64) {
        self.core.input(Input::WriteFailed, now);
    }

    /// Time passed: deadlines fire here.
    pub fn advance(&mut self, now: f64) {
        self.core.advance(now);
    }

    /// Calls a tool. `arguments` is the JSON text of an object, or why the arguments are refused:
    /// an unknown tool is reported first. Ends with one `Settled` event.
    ///
    /// # Errors
    /// `invalid_arguments` (`strict`: `protocol_error`) for a bad time in the options.
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: Result<String, Error>,
        options: CallOptions,
        now: f64,
    ) -> Result<Handle, Error> {
        let times = self.core.times(RequestOptions {
            timeout_ms: options.timeout_ms,
            max_total_timeout_ms: options.max_total_timeout_ms,
            reset_timeout_on_progress: options.reset_timeout_on_progress,
        })?;
        let handle = self.core.next_handle();
        let call = CallInput { handle, name: name.to_owned(), arguments, options, times };
        self.core.input(Input::Call(Box::new(call)), now);
        Ok(handle)
    }

    /// Sends a request; `params` is the JSON text of an object. Ends with one `Settled` event.
    /// With `reset_timeout_on_progress: true` said outright, `params` gain a progress token.
    ///
    /// # Errors
    /// As [`ClientSession::call_tool`].
    pub fn request(
        &mut self,
        method: &str,
        params: Option<String>,
        options: RequestOptions,
        now: f64,
    ) -> Result<Handle, Error> {
        let times = self.core.times(options)?;
        let has_token = times.resets && options.reset_timeout_on_progress == Some(true);
        let handle = self.core.next_handle();
        let method = method.to_owned();
        let request = RequestInput { handle, method, params, times, has_token };
        self.core.input(Input::Request(Box::new(request)), now);
        Ok(handle)
    }

    /// Sends a notification; `params` is the JSON text of an object. Settles when its frame is
    /// taken (`strict`: when it is queued).
    pub fn notify(&mut self, method: &str, params: Option<String>, now: f64) -> Handle {
        let handle = self.core.next_handle();
        self.core.input(Input::Notify(handle, method.to_owned(), params), now);
        handle
    }

    /// Reads the catalog anew; settles when it stands, after its `Tools` event.
    pub fn refresh_tools(&mut self, now: f64) -> Handle {
        let handle = self.core.next_handle();
        self.core.input(Input::Refresh(handle), now);
        handle
    }

    /// Answers a request of the server's; a result is a JSON text. A token that is not open is
    /// ignored.
    pub fn respond(&mut self, token: u32, outcome: Result<String, RpcFault>, now: f64) {
        self.core.input(Input::Respond(token, outcome), now);
    }

    /// Gives a request up: it settles `aborted`, at once if it is being judged. The reason goes to
    /// the server (`strict`: a fixed one does). A handle that settled is ignored.
    pub fn cancel(&mut self, handle: Handle, reason: Option<&str>, now: f64) {
        if !self.core.stop(handle) {
            self.core.input(Input::Cancel(handle, reason.map(str::to_owned)), now);
        }
    }

    /// Bytes of the server's stderr.
    pub fn stderr(&mut self, chunk: &[u8], now: f64) {
        self.core.input(Input::Stderr(chunk.to_vec()), now);
    }

    /// The server's stderr ended, or there is none.
    pub fn stderr_ended(&mut self, now: f64) {
        self.core.input(Input::StderrEnded, now);
    }

    /// Ends the session at once: nothing queued is read, everything open settles.
    pub fn close(&mut self, now: f64) {
        self.core.close(now);
    }

    /// One frame for the server's stdin, its line feed included. Taking it marks it dispatched.
    pub fn take_output(&mut self) -> Option<Vec<u8>> {
        self.core.take_output()
    }

    /// True while a message that was taken by itself is not answered.
    pub fn awaits(&self, handle: Handle) -> bool {
        self.core.request_of(handle).is_some()
    }

    /// One message to be sent by itself; taking it marks it dispatched. A host uses either this or
    /// [`ClientSession::take_output`].
    pub fn take_message(&mut self) -> Option<OutMessage> {
        self.core.take_message()
    }

    /// Room for bytes of the server's stdout that hold no line feed: written there, and taken by
    /// [`ClientSession::filled`], they are received. `None` if they must be given to
    /// [`ClientSession::receive`].
    pub fn room(&mut self, length: usize, now: f64) -> Option<&mut [MaybeUninit<u8>]> {
        self.core.room(length, now)
    }

    /// Receives what was written to the room.
    ///
    /// # Safety
    /// The last call was to [`ClientSession::room`], gave that much, and all of it was written.
    #[expect(unsafe_code, reason = "see the reader's method of this name")]
    pub unsafe fn filled(&mut self, length: usize) {
        // SAFETY: the caller promises the same.
        unsafe { self.core.lines.filled(length) };
    }

    /// True if [`ClientSession::take_output`] has a frame.
    pub fn has_output(&self) -> bool {
        self.core.outbound.has_frame()
    }

    /// True if [`ClientSession::poll_event`] has an event.
    pub fn has_event(&self) -> bool {
        self.core.reports.has_event()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.core.reports.poll()
    }

    /// When [`ClientSession::advance`] is due.
    pub fn next_deadline(&self) -> Option<f64> {
        self.core.next_deadline()
    }

    /// Where the session stands.
    pub fn state(&self) -> State {
        match self.core.phase {
            Phase::Idle => State::Idle,
            Phase::Probing | Phase::Respawning | Phase::Initializing | Phase::Listing => {
                State::Connecting
            }
            Phase::Ready => State::Ready,
            Phase::Draining | Phase::Closed => State::Closed,
        }
    }

    /// The negotiated revision.
    pub fn protocol_version(&self) -> Option<&'static str> {
        self.core.revision.map(|revision| revision.name)
    }

    /// JSON text of an array of `ToolDescription`.
    pub fn tools_json(&self) -> &str {
        &self.core.tools_json
    }

    /// JSON text of an array of `ToolProblem`: entries that are not listed, then the tools'.
    pub fn problems_json(&self) -> &str {
        &self.core.problems_json
    }

    /// The end of the server's stderr, at most `maxStderrBytes`.
    pub fn stderr_tail(&self) -> String {
        self.core.tail.text()
    }

    /// The name the session was configured with.
    pub fn server(&self) -> &str {
        &self.core.options.server
    }
}
