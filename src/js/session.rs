//! `ClientSession`: one connection's state machine, seen from JavaScript.
//!
//! The facade reads the host's options into fresh objects, copies arguments to JSON text, and
//! parses the texts that come out.

use js_sys::{Object, Reflect, Uint8Array};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error, Facts};
use crate::schema::Violation;
use crate::session::event::{Event, Handle, OutMessage, RpcFault, Settlement, ToolOutcome};
use crate::session::options::{LimitsInput, OptionsInput, SessionOptions};
use crate::session::{ClientSession, REPLY_REASONS, ReplyOutcome};

use super::fault::{fault, value};
use super::schema::ViolationOut;
use super::status::Noted;

/// Members of the options object, to name the one that cannot be read.
const OPTIONS: [&str; 16] = [
    "clientInfo",
    "capabilities",
    "profile",
    "era",
    "revisions",
    "prior",
    "respawn",
    "tools",
    "validation",
    "onUnknown",
    "keywords",
    "requireTools",
    "requireStructured",
    "checkArguments",
    "lenientIds",
    "numbers",
];

/// Members of a call's options.
const CALL_OPTIONS: [&str; 6] =
    ["timeoutMs", "maxTotalTimeoutMs", "resetTimeoutOnProgress", "validation", "numbers", "meta"];

/// An event on its way out. Texts of the peer stay texts.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum EventOut<'a> {
    Ready {
        protocol_version: &'a str,
        era: &'a str,
        server_info: Option<&'a str>,
        capabilities: &'a str,
        instructions: Option<&'a str>,
    },
    Tools {
        tools: &'a str,
        problems: &'a str,
        added: &'a [String],
        removed: &'a [String],
        changed: &'a [String],
        cache: Option<Cache>,
    },
    Tool {
        handle: Handle,
        json: &'a str,
        dropped: &'a [u32],
        keep_meta: bool,
        structured: bool,
        verdict: &'static str,
        verdict_reason: Option<&'static str>,
        violation: Option<&'static str>,
        violations: Vec<ViolationOut<'a>>,
        truncated: bool,
        content_problems: Vec<ContentProblem>,
    },
    Value {
        handle: Handle,
        json: &'a str,
    },
    Done {
        handle: Handle,
    },
    Failed {
        handle: Handle,
        #[serde(with = "serde_wasm_bindgen::preserve")]
        fault: JsValue,
    },
    Progress {
        handle: Handle,
        progress: f64,
        total: Option<f64>,
        message: Option<&'a str>,
    },
    Notification {
        method: &'a str,
        params: Option<&'a str>,
    },
    Request {
        token: u32,
        method: &'a str,
        params: Option<&'a str>,
    },
    RequestCancelled {
        token: u32,
    },
    Diagnostic {
        source: &'static str,
        code: &'static str,
        detail: &'a str,
        truncated: bool,
    },
    UncorrelatedError {
        rpc_code: f64,
    },
    Respawn,
    Abandoned {
        handle: Handle,
    },
    Closed {
        #[serde(with = "serde_wasm_bindgen::preserve")]
        fault: JsValue,
    },
}

#[derive(Serialize)]
struct ContentProblem {
    index: u32,
    reason: &'static str,
}

/// How long a catalog may be kept.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cache {
    ttl_ms: f64,
    scope: &'static str,
}

/// A message of ours by itself.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageOut {
    #[serde(with = "serde_wasm_bindgen::preserve")]
    json: JsValue,
    headers: Vec<(String, String)>,
    handle: Handle,
    expects_reply: bool,
}

/// How the exchange of a message ended.
#[derive(Deserialize, Default)]
#[serde(default)]
struct OutcomeIn {
    status: Option<u16>,
    unreachable: bool,
    reason: Option<String>,
}

/// A client session. All times are milliseconds.
#[wasm_bindgen]
pub struct Session {
    session: Noted,
    /// The result last polled, whose text the facade reads from memory.
    shown: Option<ToolOutcome>,
    /// The last error that went out and its object: one failure that ends many calls is one object.
    last: Option<(Error, JsValue)>,
}

#[wasm_bindgen]
impl Session {
    /// A session of these options; capabilities and tools are JSON texts.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue) -> Result<Session, JsValue> {
        let input = serde_wasm_bindgen::from_value::<OptionsInput>(options.clone());
        let limits = serde_wasm_bindgen::from_value::<LimitsInput>(options.clone());
        let session = match (input, limits) {
            (Ok(input), Ok(limits)) => {
                ClientSession::new(SessionOptions::from_input(input, &limits))
            }
            _ => {
                let option = unreadable::<OptionsInput>(options, &OPTIONS).unwrap_or("server");
                Err(option_invalid(Code::ProtocolError, option))
            }
        };
        match session {
            Ok(session) => Ok(Session { session: Noted::new(session), shown: None, last: None }),
            Err(error) => Err(fault(&error)),
        }
    }

    /// Where in memory the numbers of `status` stand, as doubles.
    #[wasm_bindgen(js_name = statusAddress)]
    pub fn status_address(&self) -> usize {
        self.session.address()
    }

    /// Brings the numbers up to date.
    pub fn note(&mut self) {
        self.session.note();
    }

    /// Starts the handshake.
    pub fn connect(&mut self, now: f64) {
        self.session.connect(now);
    }

    /// Bytes of the server's stdout.
    pub fn receive(&mut self, chunk: &[u8], now: f64) {
        self.session.receive(chunk, now);
        self.session.note();
    }

    /// Where in memory a piece of a line, without a line feed, is to be written before `filled` is
    /// called; 0 if it must be given to `receive`.
    pub fn room(&mut self, length: usize, now: f64) -> usize {
        let room = self.session.room(length, now).map_or(0, |room| room.as_ptr() as usize);
        self.session.note();
        room
    }

    /// Receives the piece that was written to the room.
    #[expect(unsafe_code, reason = "what is written from outside is written")]
    pub fn filled(&mut self, length: usize) {
        // SAFETY: the facade calls `room`, writes all of it, and calls this, in one go.
        unsafe { self.session.filled(length) };
        self.session.note();
    }

    /// True while an answer waits for room in the outbound queue.
    #[wasm_bindgen(js_name = isBlocked)]
    pub fn is_blocked(&self) -> bool {
        self.session.is_blocked()
    }

    /// True while `work` has something to do.
    #[wasm_bindgen(js_name = hasWork)]
    pub fn has_work(&self) -> bool {
        self.session.has_work()
    }

    /// Works for about so many steps.
    pub fn work(&mut self, max_steps: f64, now: f64) {
        self.session.work(max_steps as u64, now);
        self.session.note();
    }

    /// How many pieces of work were done so far.
    #[wasm_bindgen(js_name = workDone)]
    pub fn work_done(&self) -> f64 {
        self.session.work_done() as f64
    }

    /// Works until so many pieces are done, until nothing is left to do, or until the steps are
    /// spent; gives what is left of them.
    #[wasm_bindgen(js_name = workUntil)]
    pub fn work_until(&mut self, done: f64, steps: f64) -> f64 {
        self.session.work_until(done as u64, steps as u64) as f64
    }

    /// A message of the server's by itself.
    #[wasm_bindgen(js_name = receiveMessage)]
    pub fn receive_message(&mut self, json: &[u8], now: f64, in_reply_to: Option<Handle>) {
        self.session.receive_message(json, now, in_reply_to);
    }

    /// The exchange of a message is over.
    #[wasm_bindgen(js_name = replyEnded)]
    pub fn reply_ended(
        &mut self,
        handle: Handle,
        outcome: &JsValue,
        now: f64,
    ) -> Result<(), JsValue> {
        let read = serde_wasm_bindgen::from_value::<OutcomeIn>(outcome.clone());
        let refused = |_| fault(&option_invalid(Code::InvalidArguments, "outcome"));
        let OutcomeIn { status, unreachable, reason } = read.map_err(refused)?;
        let reason = reason.and_then(|reason| REPLY_REASONS.into_iter().find(|it| *it == reason));
        self.session.reply_ended(handle, ReplyOutcome { status, unreachable, reason }, now);
        Ok(())
    }

    /// True while a message that was taken by itself is not answered.
    pub fn awaits(&self, handle: Handle) -> bool {
        self.session.awaits(handle)
    }

    /// One message to be sent by itself, or undefined.
    #[wasm_bindgen(js_name = takeMessage)]
    pub fn take_message(&mut self) -> JsValue {
        let Some(OutMessage { json, headers, handle, expects_reply }) = self.session.take_message()
        else {
            return JsValue::UNDEFINED;
        };
        let json = Uint8Array::from(json.as_slice()).into();
        value(&MessageOut { json, headers, handle, expects_reply })
    }

    /// The server's stdout ended.
    pub fn end(&mut self, now: f64) {
        self.session.end(now);
    }

    /// The server's process ended.
    pub fn exited(&mut self, code: Option<i32>, now: f64) {
        self.session.exited(code, now);
    }

    /// Writing failed.
    #[wasm_bindgen(js_name = writeFailed)]
    pub fn write_failed(&mut self, now: f64) {
        self.session.write_failed(now);
    }

    /// Time passed.
    pub fn advance(&mut self, now: f64) {
        self.session.advance(now);
        self.session.note();
    }

    /// Calls a tool. `refusal` says, as JSON text, why the arguments were refused; `arguments` is
    /// then not read.
    #[wasm_bindgen(js_name = callTool)]
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: String,
        refusal: Option<String>,
        options: &JsValue,
        now: f64,
    ) -> Result<Handle, JsValue> {
        let arguments = match refusal {
            Some(detail) => Err(arguments_refused(&arguments, detail)),
            None => Ok(arguments),
        };
        let options = read_options(options)?;
        let made = self.session.call_tool(name, arguments, options, now);
        self.session.note();
        made.map_err(|error| fault(&error))
    }

    /// Sends a request.
    pub fn request(
        &mut self,
        method: &str,
        params: Option<String>,
        options: &JsValue,
        now: f64,
    ) -> Result<Handle, JsValue> {
        let options = read_options(options)?;
        self.session.request(method, params, options, now).map_err(|error| fault(&error))
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Option<String>, now: f64) -> Handle {
        self.session.notify(method, params, now)
    }

    /// Reads the catalog anew.
    #[wasm_bindgen(js_name = refreshTools)]
    pub fn refresh_tools(&mut self, now: f64) -> Handle {
        self.session.refresh_tools(now)
    }

    /// Answers a request of the server's with the JSON text of a result.
    #[wasm_bindgen(js_name = respondResult)]
    pub fn respond_result(&mut self, token: u32, result: String, now: f64) {
        self.session.respond(token, Ok(result), now);
    }

    /// Answers a request of the server's with an error; `data` is JSON text.
    #[wasm_bindgen(js_name = respondError)]
    pub fn respond_error(
        &mut self,
        token: u32,
        code: f64,
        message: String,
        data: Option<String>,
        now: f64,
    ) {
        self.session.respond(token, Err(RpcFault { code: code as i64, message, data }), now);
    }

    /// Gives a request up.
    pub fn cancel(&mut self, handle: Handle, reason: Option<String>, now: f64) {
        self.session.cancel(handle, reason.as_deref(), now);
    }

    /// Bytes of the server's stderr.
    pub fn stderr(&mut self, chunk: &[u8], now: f64) {
        self.session.stderr(chunk, now);
    }

    /// The server's stderr ended.
    #[wasm_bindgen(js_name = stderrEnded)]
    pub fn stderr_ended(&mut self, now: f64) {
        self.session.stderr_ended(now);
    }

    /// Ends the session.
    pub fn close(&mut self, now: f64) {
        self.session.close(now);
    }

    /// One frame for the server's stdin.
    #[wasm_bindgen(js_name = takeOutput)]
    pub fn take_output(&mut self) -> Option<Vec<u8>> {
        let frame = self.session.take_output();
        self.session.note();
        frame
    }

    /// When `advance` is due.
    #[wasm_bindgen(js_name = nextDeadline)]
    pub fn next_deadline(&self) -> Option<f64> {
        self.session.next_deadline()
    }

    /// Where the session stands.
    pub fn state(&self) -> String {
        self.session.state().as_str().to_owned()
    }

    /// The negotiated revision.
    #[wasm_bindgen(js_name = protocolVersion)]
    pub fn protocol_version(&self) -> Option<String> {
        self.session.protocol_version().map(str::to_owned)
    }

    /// JSON text of the tools.
    #[wasm_bindgen(js_name = toolsJson)]
    pub fn tools_json(&self) -> String {
        self.session.tools_json().to_owned()
    }

    /// The next event; undefined if there is none, true if it is a result that the numbers show.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self) -> JsValue {
        let event = self.session.poll_event();
        self.session.note();
        let event = match event {
            None => return JsValue::UNDEFINED,
            Some(Event::Settled { handle, outcome: Ok(Settlement::Tool(tool)) }) => {
                if self.session.show(handle, &tool) {
                    self.shown = Some(tool);
                    return JsValue::TRUE;
                }
                Event::Settled { handle, outcome: Ok(Settlement::Tool(tool)) }
            }
            Some(event) => event,
        };
        let out = match &event {
            Event::Ready { protocol_version, era, server_info, capabilities, instructions } => {
                EventOut::Ready {
                    protocol_version,
                    era,
                    server_info: server_info.as_deref(),
                    capabilities,
                    instructions: instructions.as_deref(),
                }
            }
            Event::Tools { tools, problems, added, removed, changed, cache } => {
                let scope = |public| if public { "public" } else { "private" };
                let cache =
                    cache.map(|hint| Cache { ttl_ms: hint.ttl_ms, scope: scope(hint.public) });
                EventOut::Tools { tools, problems, added, removed, changed, cache }
            }
            Event::Settled { handle, outcome } => self.settled(*handle, outcome),
            Event::Progress { handle, progress, total, message } => EventOut::Progress {
                handle: *handle,
                progress: *progress,
                total: *total,
                message: message.as_deref(),
            },
            Event::Notification { method, params } => {
                EventOut::Notification { method, params: params.as_deref() }
            }
            Event::Request { token, method, params } => {
                EventOut::Request { token: *token, method, params: params.as_deref() }
            }
            Event::RequestCancelled { token } => EventOut::RequestCancelled { token: *token },
            Event::Diagnostic { source, code, detail, truncated } => {
                EventOut::Diagnostic { source, code, detail, truncated: *truncated }
            }
            Event::UncorrelatedError { rpc_code } => {
                EventOut::UncorrelatedError { rpc_code: *rpc_code as f64 }
            }
            Event::Respawn => EventOut::Respawn,
            Event::Abandoned { handle } => EventOut::Abandoned { handle: *handle },
            Event::Closed { error } => EventOut::Closed {
                fault: match error {
                    Some(error) => self.fault_once(error),
                    None => JsValue::UNDEFINED,
                },
            },
        };
        value(&out)
    }
}

impl Session {
    fn settled<'a>(
        &mut self,
        handle: Handle,
        outcome: &'a Result<Settlement, Error>,
    ) -> EventOut<'a> {
        match outcome {
            Ok(Settlement::Tool(tool)) => tool_out(handle, tool),
            Ok(Settlement::Value(json)) => EventOut::Value { handle, json },
            Ok(Settlement::Done) => EventOut::Done { handle },
            Err(error) => EventOut::Failed { handle, fault: self.fault_once(error) },
        }
    }

    fn fault_once(&mut self, error: &Error) -> JsValue {
        if let Some((last, object)) = &self.last
            && last.is(error)
        {
            return object.clone();
        }
        let object = fault(error);
        self.last = Some((error.clone(), object.clone()));
        object
    }
}

fn tool_out(handle: Handle, tool: &ToolOutcome) -> EventOut<'_> {
    let problem = |&(index, reason): &(u32, &'static str)| ContentProblem { index, reason };
    EventOut::Tool {
        handle,
        json: &tool.json,
        dropped: &tool.dropped,
        keep_meta: tool.keep_meta,
        structured: tool.structured,
        verdict: tool.verdict,
        verdict_reason: tool.verdict_reason,
        violation: tool.violation,
        violations: tool.violations.iter().map(violation_out).collect(),
        truncated: tool.truncated,
        content_problems: tool.content_problems.iter().map(problem).collect(),
    }
}

fn violation_out(violation: &Violation) -> ViolationOut<'_> {
    ViolationOut::of(violation)
}

/// Why the facade's copy of the arguments failed. `detail` is JSON text of reason and path.
fn arguments_refused(reason: &str, detail: String) -> Error {
    let reason = match reason {
        "args_root_not_object" => "args_root_not_object",
        _ => "args_not_json",
    };
    Error::new(Code::ProtocolError, reason).private(detail)
}

fn read_options<T: DeserializeOwned + Default>(options: &JsValue) -> Result<T, JsValue> {
    if options.is_undefined() {
        return Ok(T::default());
    }
    serde_wasm_bindgen::from_value(options.clone()).map_err(|_| {
        let option = unreadable::<T>(options, &CALL_OPTIONS).unwrap_or("options");
        fault(&option_invalid(Code::InvalidArguments, option))
    })
}

/// The first member that cannot be read, found by reading each alone.
pub(super) fn unreadable<T: DeserializeOwned>(
    options: &JsValue,
    names: &[&'static str],
) -> Option<&'static str> {
    names.iter().copied().find(|name| {
        let key = JsValue::from_str(name);
        let alone = Object::new();
        let member = Reflect::get(options, &key).unwrap_or(JsValue::UNDEFINED);
        // Setting a member of a fresh plain object cannot fail.
        let _ = Reflect::set(&alone, &JsValue::from_str("server"), &JsValue::from_str(""));
        let _ = Reflect::set(&alone, &key, &member);
        serde_wasm_bindgen::from_value::<T>(alone.into()).is_err()
    })
}

pub(super) fn option_invalid(code: Code, option: &'static str) -> Error {
    Error::new(code, "option_invalid")
        .facts(Facts { option: Some(option.into()), ..Facts::default() })
}
