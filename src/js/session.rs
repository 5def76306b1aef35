//! `ClientSession`: one connection's state machine, seen from JavaScript.
//!
//! The facade reads the host's options into fresh objects, copies arguments to JSON text, and
//! parses the texts that come out.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::error::{Code, Error};
use crate::session::event::{Event, Handle, OutMessage, RpcFault, Settlement, ToolOutcome};
use crate::session::options::{
    CallOptions, ClientInfo, Era, FormatsInput, KeywordsInput, LimitsInput, Numbers, OnUnknown,
    OptionsInput, Prior, Profile, RequestOptions, SessionOptions, Validation,
};
use crate::session::{ClientSession, REPLY_REASONS, ReplyOutcome};

use super::envelope::content_problems;
use super::fault::{fault, option_invalid, refused};
use super::plain::{Members, Plain, Wrong};
use super::schema::violations_out;
use super::server::diagnostic;
use super::status::Noted;

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
        let session = match session_options(&Members(options)) {
            Ok(options) => ClientSession::new(options),
            Err(option) => Err(option_invalid(Code::ProtocolError, option)),
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
    pub fn receive(&mut self, chunk: Vec<u8>, now: f64) {
        self.session.receive_owned(chunk, now);
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
        let members = Members(outcome);
        let wrong = |_| refused("outcome");
        let status = members.integer("status", 0.0, f64::from(u16::MAX)).map_err(wrong)?;
        let status = status.map(|status| status as u16);
        let unreachable = members.is_set("unreachable").map_err(wrong)?;
        let reason = members.text("reason").map_err(wrong)?;
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
        let mut headers = headers
            .iter()
            .map(|(name, value)| Array::of2(&name.as_str().into(), &value.as_str().into()).into());
        Plain::new()
            .value("json", &Uint8Array::from(json.as_slice()))
            .list("headers", &mut headers)
            .number("handle", f64::from(handle))
            .flag("expectsReply", expects_reply)
            .done()
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
        let options = call_options(options)?;
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
        let options = request_options(options)?;
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
        self.event_out(&event)
    }
}

impl Session {
    /// An event on its way out. Texts of the peer stay texts.
    fn event_out(&mut self, event: &Event) -> JsValue {
        match event {
            Event::Ready { protocol_version, era, server_info, capabilities, instructions } => {
                Plain::of_type("ready")
                    .text("protocolVersion", protocol_version)
                    .text("era", era)
                    .maybe_text("serverInfo", server_info.as_deref())
                    .text("capabilities", capabilities)
                    .maybe_text("instructions", instructions.as_deref())
            }
            Event::Tools { tools, problems, added, removed, changed, cache } => {
                let scope = |public| if public { "public" } else { "private" };
                // How long the catalog may be kept.
                let cache = cache.map_or(JsValue::UNDEFINED, |hint| {
                    let cache = Plain::new().number("ttlMs", hint.ttl_ms);
                    cache.text("scope", scope(hint.public)).done()
                });
                Plain::of_type("tools")
                    .text("tools", tools)
                    .text("problems", problems)
                    .texts("added", added)
                    .texts("removed", removed)
                    .texts("changed", changed)
                    .value("cache", &cache)
            }
            Event::Settled { handle, outcome } => {
                let of_type = |name| Plain::of_type(name).number("handle", f64::from(*handle));
                match outcome {
                    Ok(Settlement::Tool(tool)) => tool_out(of_type("tool"), tool),
                    Ok(Settlement::Value(json)) => of_type("value").text("json", json),
                    Ok(Settlement::Done) => of_type("done"),
                    Err(error) => of_type("failed").value("fault", &self.fault_once(error)),
                }
            }
            Event::Progress { handle, progress, total, message } => Plain::of_type("progress")
                .number("handle", f64::from(*handle))
                .number("progress", *progress)
                .maybe_number("total", *total)
                .maybe_text("message", message.as_deref()),
            Event::Notification { method, params } => Plain::of_type("notification")
                .text("method", method)
                .maybe_text("params", params.as_deref()),
            Event::Request { token, method, params } => Plain::of_type("request")
                .number("token", f64::from(*token))
                .text("method", method)
                .maybe_text("params", params.as_deref()),
            Event::RequestCancelled { token } => {
                Plain::of_type("request_cancelled").number("token", f64::from(*token))
            }
            Event::Diagnostic { source, code, detail, truncated } => {
                diagnostic(source, code, detail, *truncated)
            }
            Event::UncorrelatedError { rpc_code } => {
                Plain::of_type("uncorrelated_error").number("rpcCode", *rpc_code as f64)
            }
            Event::Respawn => Plain::of_type("respawn"),
            Event::Abandoned { handle } => {
                Plain::of_type("abandoned").number("handle", f64::from(*handle))
            }
            Event::Closed { error } => {
                let fault = error.as_ref().map(|error| self.fault_once(error));
                Plain::of_type("closed").value("fault", &fault.unwrap_or(JsValue::UNDEFINED))
            }
        }
        .done()
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

fn tool_out(out: Plain, tool: &ToolOutcome) -> Plain {
    out.text("json", &tool.json)
        .numbers("dropped", &tool.dropped)
        .flag("keepMeta", tool.keep_meta)
        .flag("structured", tool.structured)
        .text("verdict", tool.verdict)
        .maybe_text("verdictReason", tool.verdict_reason)
        .maybe_text("violation", tool.violation)
        .value("violations", &violations_out(&tool.violations))
        .flag("truncated", tool.truncated)
        .value("contentProblems", &content_problems(&tool.content_problems))
}

/// Why the facade's copy of the arguments failed. `detail` is JSON text of reason and path.
fn arguments_refused(reason: &str, detail: String) -> Error {
    let reason = match reason {
        "args_root_not_object" => "args_root_not_object",
        _ => "args_not_json",
    };
    Error::new(Code::ProtocolError, reason).private(detail)
}

/// Reads a session's options; what cannot be read is named, a limit as `server`.
fn session_options(members: &Members<'_>) -> Result<SessionOptions, Wrong> {
    let profiles = [Profile::Contain, Profile::Strict];
    let unknown = [OnUnknown::Accept, OnUnknown::Reject];
    let keywords = [KeywordsInput::Full, KeywordsInput::Structural];
    let formats = [FormatsInput::Annotate, FormatsInput::Assert];
    let mut input = OptionsInput {
        server: String::new(),
        client_info: client_info(members.get("clientInfo")).map_err(|_| "clientInfo")?,
        capabilities: members.text("capabilities")?,
        profile: members.choice("profile", ["contain", "strict"], profiles)?,
        era: era(members)?,
        revisions: members.texts("revisions")?,
        prior: prior(members.get("prior")).map_err(|_| "prior")?,
        respawn: members.flag("respawn")?,
        tools: members.text("tools")?,
        validation: validation(members)?,
        on_unknown: members.choice("onUnknown", ["accept", "reject"], unknown)?,
        keywords: members.choice("keywords", ["full", "structural"], keywords)?,
        formats: None,
        require_tools: members.flag("requireTools")?,
        require_structured: members.flag("requireStructured")?,
        check_arguments: members.flag("checkArguments")?,
        lenient_ids: members.flag("lenientIds")?,
        numbers: numbers(members)?,
    };
    let server = |_| "server";
    input.server = members.text("server")?.ok_or("server")?;
    input.formats = members.choice("formats", ["annotate", "assert"], formats).map_err(server)?;
    let limits = LimitsInput::read(|name| members.number(name)).map_err(server)?;
    Ok(SessionOptions::from_input(input, &limits))
}

fn client_info(info: Option<JsValue>) -> Result<Option<ClientInfo>, Wrong> {
    let Some(info) = info else { return Ok(None) };
    let members = Members(&info);
    Ok(Some(ClientInfo {
        name: members.text("name")?.ok_or("name")?,
        version: members.text("version")?.ok_or("version")?,
        title: members.text("title")?,
    }))
}

fn prior(prior: Option<JsValue>) -> Result<Option<Prior>, Wrong> {
    let Some(prior) = prior else { return Ok(None) };
    let members = Members(&prior);
    Ok(Some(Prior {
        era: era(&members)?.ok_or("era")?,
        protocol_version: members.text("protocolVersion")?.unwrap_or_default(),
    }))
}

fn era(members: &Members<'_>) -> Result<Option<Era>, Wrong> {
    members.choice("era", ["auto", "legacy", "modern"], [Era::Auto, Era::Legacy, Era::Modern])
}

fn numbers(members: &Members<'_>) -> Result<Option<Numbers>, Wrong> {
    let numbers = [Numbers::Number, Numbers::Bigint, Numbers::String];
    members.choice("numbers", ["number", "bigint", "string"], numbers)
}

pub(super) fn validation(members: &Members<'_>) -> Result<Option<Validation>, Wrong> {
    let modes = [Validation::Enforce, Validation::Report, Validation::Off];
    members.choice("validation", ["enforce", "report", "off"], modes)
}

/// Reads the options of a call, which may be absent.
fn call_options(options: &JsValue) -> Result<CallOptions, JsValue> {
    if options.is_undefined() {
        return Ok(CallOptions::default());
    }
    let members = Members(options);
    let read = || {
        let RequestOptions { timeout_ms, max_total_timeout_ms, reset_timeout_on_progress } =
            times(&members)?;
        let validation = validation(&members)?;
        let (numbers, meta) = (numbers(&members)?, members.text("meta")?);
        Ok::<_, Wrong>(CallOptions {
            timeout_ms,
            max_total_timeout_ms,
            reset_timeout_on_progress,
            validation,
            numbers,
            meta,
        })
    };
    read().map_err(refused)
}

/// Reads the options of a request, which may be absent.
fn request_options(options: &JsValue) -> Result<RequestOptions, JsValue> {
    if options.is_undefined() {
        return Ok(RequestOptions::default());
    }
    times(&Members(options)).map_err(refused)
}

fn times(members: &Members<'_>) -> Result<RequestOptions, Wrong> {
    Ok(RequestOptions {
        timeout_ms: members.number("timeoutMs")?,
        max_total_timeout_ms: members.number("maxTotalTimeoutMs")?,
        reset_timeout_on_progress: members.flag("resetTimeoutOnProgress")?,
    })
}
