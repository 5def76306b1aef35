//! Drives a client session through a script and writes down all it says.
//!
//! A script runs several times: with whole chunks and unbounded slices, byte by byte, and with
//! slices of one step. Frames and events must be the same.

// Each test binary uses its part of this module.
#![allow(dead_code, unreachable_pub)]
// Tests fail by panicking, in their helpers too.
#![allow(clippy::unwrap_used, clippy::panic)]

use serde_json::Value;
use toolwire::error::Error;
use toolwire::session::event::{Event, Handle, RpcFault, Settlement};
use toolwire::session::options::{CallOptions, Era, Profile, RequestOptions, SessionOptions};
use toolwire::session::{ClientSession, State};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Whole,
    Bytewise,
    Sliced(u64),
}

pub struct Driver {
    pub session: ClientSession,
    pub now: f64,
    /// Frames, each without its line feed.
    pub sent: Vec<String>,
    pub events: Vec<Event>,
    /// The events as text.
    said: Vec<String>,
    stalled: bool,
    mode: Mode,
}

/// Runs a script in every mode, compares, and gives the first run.
#[track_caller]
pub fn run(options: SessionOptions, script: impl Fn(&mut Driver)) -> Driver {
    let play = |mode| {
        let session = ClientSession::new(options.clone()).unwrap();
        let mut driver = Driver {
            session,
            now: 0.0,
            sent: Vec::new(),
            events: Vec::new(),
            said: Vec::new(),
            stalled: false,
            mode,
        };
        script(&mut driver);
        driver
    };
    let whole = play(Mode::Whole);
    for mode in [Mode::Bytewise, Mode::Sliced(1), Mode::Sliced(7)] {
        let other = play(mode);
        assert_eq!(other.sent, whole.sent, "{mode:?}");
        assert_eq!(other.said, whole.said, "{mode:?}");
    }
    whole
}

pub fn strict() -> SessionOptions {
    SessionOptions::new("s", Profile::Strict)
}

/// `contain` with a server that is known to want a handshake.
pub fn contain() -> SessionOptions {
    SessionOptions { era: Era::Legacy, ..auto() }
}

/// `contain` as it is.
pub fn auto() -> SessionOptions {
    SessionOptions::new("s", Profile::Contain)
}

impl Driver {
    pub fn connect(&mut self) {
        self.session.connect(self.now);
        self.drain();
    }

    /// The handshake, and a catalog of one page.
    pub fn ready(&mut self, version: &str, tools: &str) {
        self.connect();
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}}}}}}"#
        ));
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":{tools}}}}}"#));
        assert_eq!(self.session.state(), State::Ready);
    }

    pub fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        match self.mode {
            Mode::Bytewise => {
                for byte in bytes {
                    self.session.receive(&[*byte], self.now);
                }
            }
            _ => self.session.receive(bytes, self.now),
        }
        self.drain();
    }

    /// A good reply.
    pub fn reply(&mut self, id: u32, result: &str) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }

    pub fn end(&mut self) {
        self.session.end(self.now);
        self.drain();
    }

    pub fn exited(&mut self, code: Option<i32>) {
        self.session.exited(code, self.now);
        self.drain();
    }

    pub fn write_failed(&mut self) {
        self.session.write_failed(self.now);
        self.drain();
    }

    pub fn stderr(&mut self, text: &str) {
        self.session.stderr(text.as_bytes(), self.now);
        self.drain();
    }

    pub fn stderr_ended(&mut self) {
        self.session.stderr_ended(self.now);
        self.drain();
    }

    pub fn close(&mut self) {
        self.session.close(self.now);
        self.drain();
    }

    /// Lets time pass, stopping at every deadline.
    pub fn tick(&mut self, ms: f64) {
        let end = self.now + ms;
        while let Some(deadline) = self.session.next_deadline() {
            if deadline > end {
                break;
            }
            self.now = self.now.max(deadline);
            self.session.advance(self.now);
            self.drain();
        }
        self.now = end;
        self.session.advance(self.now);
        self.drain();
    }

    pub fn call(&mut self, name: &str, arguments: &str) -> Handle {
        self.call_with(name, arguments, CallOptions::default())
    }

    pub fn call_with(&mut self, name: &str, arguments: &str, options: CallOptions) -> Handle {
        let arguments = Ok(arguments.to_owned());
        let handle = self.session.call_tool(name, arguments, options, self.now).unwrap();
        self.drain();
        handle
    }

    pub fn call_refused(&mut self, name: &str, error: Error) -> Handle {
        let options = CallOptions::default();
        let handle = self.session.call_tool(name, Err(error), options, self.now).unwrap();
        self.drain();
        handle
    }

    pub fn request(&mut self, method: &str, params: Option<&str>) -> Handle {
        let params = params.map(str::to_owned);
        let options = RequestOptions::default();
        let handle = self.session.request(method, params, options, self.now).unwrap();
        self.drain();
        handle
    }

    pub fn notify(&mut self, method: &str) -> Handle {
        let handle = self.session.notify(method, None, self.now);
        self.drain();
        handle
    }

    pub fn refresh(&mut self) -> Handle {
        let handle = self.session.refresh_tools(self.now);
        self.drain();
        handle
    }

    pub fn respond(&mut self, token: u32, outcome: Result<&str, RpcFault>) {
        self.session.respond(token, outcome.map(str::to_owned), self.now);
        self.drain();
    }

    pub fn cancel(&mut self, handle: Handle) {
        self.session.cancel(handle, None, self.now);
        self.drain();
    }

    /// The transport takes one frame more, and then none.
    pub fn stall(&mut self) {
        self.stalled = true;
    }

    /// The transport takes frames again.
    pub fn flow(&mut self) {
        self.stalled = false;
        self.drain();
    }

    /// The drain contract.
    pub fn drain(&mut self) {
        let steps = match self.mode {
            Mode::Sliced(steps) => steps,
            _ => u64::MAX,
        };
        loop {
            let mut idle = true;
            while self.session.has_work() {
                self.session.work(steps, self.now);
                idle = false;
            }
            while let Some(frame) = (!self.stalled).then(|| self.session.take_output()).flatten() {
                let mut text = String::from_utf8(frame).unwrap();
                assert_eq!(text.pop(), Some('\n'));
                assert!(!text.contains('\n'));
                self.sent.push(text);
                idle = false;
            }
            while let Some(event) = self.session.poll_event() {
                self.said.push(format!("{event:?}"));
                self.events.push(event);
                idle = false;
            }
            if idle {
                return;
            }
        }
    }

    /// Takes one frame while stalled.
    pub fn take_one(&mut self) -> Option<String> {
        let text = String::from_utf8(self.session.take_output()?).unwrap().trim_end().to_owned();
        self.sent.push(text.clone());
        self.drain();
        Some(text)
    }

    /// The frames sent so far, parsed.
    pub fn frames(&self) -> Vec<Value> {
        self.sent.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// How the handle settled; it must have settled exactly once.
    #[track_caller]
    pub fn outcome(&self, handle: Handle) -> Result<Settlement, Error> {
        let mut outcomes = self.events.iter().filter_map(|event| match event {
            Event::Settled { handle: of, outcome } if *of == handle => Some(outcome.clone()),
            _ => None,
        });
        let outcome = outcomes.next().unwrap_or_else(|| panic!("{handle} is open"));
        assert!(outcomes.next().is_none(), "{handle} settled twice");
        outcome
    }

    pub fn is_open(&self, handle: Handle) -> bool {
        !self
            .events
            .iter()
            .any(|event| matches!(event, Event::Settled { handle: of, .. } if *of == handle))
    }

    /// Code and reason of the error a handle settled with.
    #[track_caller]
    pub fn error(&self, handle: Handle) -> (&'static str, &'static str) {
        let error = self.outcome(handle).unwrap_err();
        (error.code().as_str(), error.reason())
    }

    /// The error the session closed with.
    pub fn closed(&self) -> Option<Error> {
        self.events.iter().find_map(|event| match event {
            Event::Closed { error } => error.clone(),
            _ => None,
        })
    }

    /// Code and reason of the error the session closed with.
    #[track_caller]
    pub fn closed_with(&self) -> (&'static str, &'static str) {
        let error = self.closed().unwrap();
        (error.code().as_str(), error.reason())
    }

    /// Codes of the diagnostics so far.
    pub fn diagnostics(&self) -> Vec<&'static str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Diagnostic { code, .. } => Some(*code),
                _ => None,
            })
            .collect()
    }

    /// Names of the tools.
    pub fn tools(&self) -> Vec<String> {
        let tools: Vec<Value> = serde_json::from_str(self.session.tools_json()).unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Driver {
    /// The ids of the requests of a method that were sent, oldest first.
    pub fn ids_of(&self, method: &str) -> Vec<u32> {
        let of = |frame: &Value| frame["method"] == method;
        let id = |frame: Value| frame["id"].as_u64().map(|id| id as u32);
        self.frames().into_iter().filter(of).filter_map(id).collect()
    }

    /// The methods of what was sent, in order; an answer is `-`.
    pub fn methods(&self) -> Vec<String> {
        let method = |frame: Value| frame["method"].as_str().unwrap_or("-").to_owned();
        self.frames().into_iter().map(method).collect()
    }

    /// An error reply.
    pub fn refuse(&mut self, id: u32, code: i32, data: &str) {
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"m","data":{data}}}}}"#
        ));
    }

    /// The probe's good answer, and a catalog of one page.
    pub fn modern(&mut self, capabilities: &str, tools: &str) {
        self.connect();
        let probe = *self.ids_of("server/discover").last().unwrap();
        self.reply(
            probe,
            &format!(
                r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{capabilities},"ttlMs":0,"cacheScope":"private"}}"#
            ),
        );
        let page = *self.ids_of("tools/list").last().unwrap();
        self.reply(page, &format!(r#"{{"resultType":"complete","tools":{tools},"ttlMs":5}}"#));
        assert_eq!(self.session.state(), State::Ready);
    }

    /// Tokens and methods of the server's questions, oldest first.
    pub fn questions(&self) -> Vec<(u32, String)> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Request { token, method, .. } => Some((*token, method.clone())),
                _ => None,
            })
            .collect()
    }

    /// The eras of the `Ready` events.
    pub fn eras(&self) -> Vec<&'static str> {
        self.events
            .iter()
            .filter_map(|event| match event {
                Event::Ready { era, .. } => Some(*era),
                _ => None,
            })
            .collect()
    }

    pub fn respawns(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, Event::Respawn)).count()
    }
}
