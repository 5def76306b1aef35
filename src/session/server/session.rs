//! The serving session as its host sees it.

use crate::error::{Code, Error, Facts};
use crate::session::event::RpcFault;

use super::answer::Kind;
use super::core::{Core, Input};
use super::envelope::Headers;
use super::event::{ServerEvent, Token};
use super::notice::rank;
use super::options::ServerOptions;
use super::tools::Catalog;

/// A message for a host that sends each by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outgoing {
    /// The message; none if the exchange ends without one.
    pub json: Option<Vec<u8>>,
    /// The exchange it belongs to; none for what concerns the whole session.
    pub exchange: Option<u32>,
    /// True if nothing follows in its exchange.
    pub ends: bool,
    /// The status of an HTTP response that begins with it.
    pub status: u16,
}

/// One connection of one MCP client, seen from the tool server. All times are milliseconds of any
/// clock that does not run backwards.
///
/// After any input: `work` while [`ServerSession::has_work`], take what is there to send, `poll_event`
/// until `None`; then sleep until [`ServerSession::next_deadline`].
pub struct ServerSession {
    core: Core,
}

impl ServerSession {
    /// A session that waits for its client's first message.
    ///
    /// # Errors
    /// `protocol_error` naming the first bad option, for `tools` with the entry's `index`.
    pub fn new(options: ServerOptions) -> Result<Self, Error> {
        options.check()?;
        let catalog = Catalog::read(&options.tools, &options.limits)?;
        Ok(ServerSession { core: Core::new(options, catalog) })
    }

    /// Bytes of the client's, split anywhere. Frames and queues them.
    pub fn receive(&mut self, chunk: &[u8], now: f64) {
        self.core.receive(chunk, now);
    }

    /// One message that came by itself, with what its HTTP request says about it. Gives the number
    /// of its exchange: its answers carry that.
    ///
    /// With headers the message is judged by itself, as revisions without a handshake are; without
    /// them the session has one client, which begins with `initialize`.
    pub fn receive_message(&mut self, json: &[u8], headers: Option<Headers>, now: f64) -> u32 {
        self.core.receive_message(json, headers, now)
    }

    /// The peer of an exchange is gone: its calls are given up.
    pub fn abandon(&mut self, exchange: u32, now: f64) {
        self.core.input(Input::Abandon(exchange), now);
    }

    /// True while [`ServerSession::work`] has something to do.
    pub fn has_work(&self) -> bool {
        self.core.has_work()
    }

    /// True if an answer waits for room in the outbound queue, so that nothing is read until a frame
    /// is taken. A host should read no more meanwhile.
    pub fn is_blocked(&self) -> bool {
        self.core.blocked.is_some()
    }

    /// Reads and answers what is queued, in about `max_steps` steps.
    pub fn work(&mut self, max_steps: u64, _now: f64) {
        self.core.work(max_steps);
    }

    /// The client's output ended. What is open may still be answered; then the session is over.
    pub fn end(&mut self, now: f64) {
        self.core.lines.end();
        if !self.core.ended {
            self.core.queue_frames(now);
        }
        self.core.input(Input::End, now);
    }

    /// Writing to the client failed: nobody is there any more.
    pub fn write_failed(&mut self, _now: f64) {
        self.core.finish(Some(Error::new(Code::ConnectionClosed, "client_gone")));
    }

    /// Time passed: deadlines fire here.
    pub fn advance(&mut self, now: f64) {
        self.core.input(Input::Advance, now);
    }

    /// When [`ServerSession::advance`] is due.
    pub fn next_deadline(&self) -> Option<f64> {
        self.core.next_deadline()
    }

    /// Answers a call; a result is the JSON text of an object. A token that is not open is ignored.
    pub fn respond(&mut self, token: Token, outcome: Result<String, RpcFault>, now: f64) {
        self.core.input(Input::Respond(token, outcome), now);
    }

    /// Tells how far a call has come, if its client wants to know.
    pub fn progress(
        &mut self,
        token: Token,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
        now: f64,
    ) {
        // It may be dropped when there is no room, so it need not wait for any.
        if self.core.blocked.is_none() {
            self.core.input(Input::Progress(token, progress, total, message), now);
        }
    }

    /// Sends a log message, with a call or for the whole session; `data` is JSON text.
    ///
    /// # Errors
    /// `invalid_arguments` for a level that is none of the eight.
    pub fn log(
        &mut self,
        token: Option<Token>,
        level: &str,
        logger: Option<String>,
        data: String,
        now: f64,
    ) -> Result<(), Error> {
        let rank = rank(level).ok_or_else(|| {
            let facts = Facts { option: Some("level".into()), ..Facts::default() };
            Error::new(Code::InvalidArguments, "option_invalid").facts(facts)
        })?;
        if self.core.blocked.is_none() {
            self.core.input(Input::Log(token, rank, logger, data), now);
        }
        Ok(())
    }

    /// Serves other tools from now on and tells who wants to know.
    ///
    /// # Errors
    /// As [`ServerSession::new`].
    pub fn set_tools(&mut self, tools: &str, now: f64) -> Result<(), Error> {
        let catalog = Catalog::read(tools, &self.core.options.limits)?;
        self.core.input(Input::SetTools(Box::new(catalog)), now);
        Ok(())
    }

    /// Ends the session at once: open calls are given up, nothing queued is sent.
    pub fn close(&mut self, _now: f64) {
        self.core.finish(None);
    }

    /// One frame for the client, its line feed included.
    pub fn take_output(&mut self) -> Option<Vec<u8>> {
        loop {
            let (frame, owner) = self.core.take()?;
            if owner.kind != Kind::Nothing {
                return Some(frame);
            }
        }
    }

    /// One message for a host that sends each by itself.
    pub fn take_message(&mut self) -> Option<Outgoing> {
        let (mut frame, owner) = self.core.take()?;
        frame.pop();
        let json = (owner.kind != Kind::Nothing).then_some(frame);
        let (exchange, ends, status) = (owner.exchange, owner.ends, owner.status);
        Some(Outgoing { json, exchange, ends, status })
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.core.events.pop_front()
    }

    /// The revision that `initialize` agreed on.
    pub fn protocol_version(&self) -> Option<&'static str> {
        self.core.agreed.map(|revision| revision.name)
    }

    /// True once the session is over.
    pub fn is_closed(&self) -> bool {
        self.core.closed
    }
}
