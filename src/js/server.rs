//! `ServerSession`: the tool server's state machine, seen from JavaScript.

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::error::Code;
use crate::session::event::RpcFault;
use crate::session::server::event::ServerEvent;
use crate::session::server::options::{
    CacheScope, ServerLimits, ServerLimitsInput, ServerOptions, ServerOptionsInput,
};
use crate::session::server::{Headers, ServerSession};

use super::fault::{fault, option_invalid};
use super::info::numbers;
use super::plain::{Members, Plain, Wrong};

/// A serving session. All times are milliseconds.
#[wasm_bindgen]
pub struct Server {
    session: ServerSession,
    /// The message that `takeMessage` told of.
    json: Option<Vec<u8>>,
}

#[wasm_bindgen]
impl Server {
    /// A session of these options; documents in them are JSON texts.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue) -> Result<Server, JsValue> {
        let session = match read_options(&Members(options)) {
            Ok((input, limits)) => ServerSession::new(ServerOptions::from_input(input, &limits)),
            Err(option) => Err(option_invalid(Code::ProtocolError, option)),
        };
        match session {
            Ok(session) => Ok(Server { session, json: None }),
            Err(error) => Err(fault(&error)),
        }
    }

    /// Bytes of the client's.
    pub fn receive(&mut self, chunk: &[u8], now: f64) {
        self.session.receive(chunk, now);
    }

    /// One message that came by itself; gives its exchange.
    #[wasm_bindgen(js_name = receiveMessage)]
    pub fn receive_message(&mut self, json: &[u8], headers: &JsValue, now: f64) -> u32 {
        let headers =
            (!headers.is_undefined()).then(|| read_headers(&Members(headers)).unwrap_or_default());
        self.session.receive_message(json, headers, now)
    }

    /// The peer of an exchange is gone.
    pub fn abandon(&mut self, exchange: u32, now: f64) {
        self.session.abandon(exchange, now);
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
    }

    /// The client's output ended.
    pub fn end(&mut self, now: f64) {
        self.session.end(now);
    }

    /// Writing failed.
    #[wasm_bindgen(js_name = writeFailed)]
    pub fn write_failed(&mut self, now: f64) {
        self.session.write_failed(now);
    }

    /// Time passed.
    pub fn advance(&mut self, now: f64) {
        self.session.advance(now);
    }

    /// When `advance` is due.
    #[wasm_bindgen(js_name = nextDeadline)]
    pub fn next_deadline(&self) -> Option<f64> {
        self.session.next_deadline()
    }

    /// Answers a call with the JSON text of a result.
    #[wasm_bindgen(js_name = respondResult)]
    pub fn respond_result(&mut self, token: u32, result: String, now: f64) {
        self.session.respond(token, Ok(result), now);
    }

    /// Answers a call with an error; `data` is JSON text.
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

    /// Tells how far a call has come.
    pub fn progress(
        &mut self,
        token: u32,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
        now: f64,
    ) {
        self.session.progress(token, progress, total, message, now);
    }

    /// Sends a log message; `data` is JSON text.
    pub fn log(
        &mut self,
        token: Option<u32>,
        level: &str,
        logger: Option<String>,
        data: String,
        now: f64,
    ) -> Result<(), JsValue> {
        self.session.log(token, level, logger, data, now).map_err(|error| fault(&error))
    }

    /// Serves other tools, a JSON text, from now on.
    #[wasm_bindgen(js_name = setTools)]
    pub fn set_tools(&mut self, tools: &str, now: f64) -> Result<(), JsValue> {
        self.session.set_tools(tools, now).map_err(|error| fault(&error))
    }

    /// Ends the session.
    pub fn close(&mut self, now: f64) {
        self.session.close(now);
    }

    /// One frame for the client.
    #[wasm_bindgen(js_name = takeOutput)]
    pub fn take_output(&mut self) -> Option<Vec<u8>> {
        self.session.take_output()
    }

    /// One message for a host that sends each by itself: where it goes. Its bytes are taken next.
    #[wasm_bindgen(js_name = takeMessage)]
    pub fn take_message(&mut self) -> JsValue {
        let Some(outgoing) = self.session.take_message() else { return JsValue::UNDEFINED };
        self.json = outgoing.json;
        Plain::new()
            .maybe_number("exchange", outgoing.exchange.map(f64::from))
            .flag("ends", outgoing.ends)
            .number("status", f64::from(outgoing.status))
            .done()
    }

    /// The bytes of the message that `takeMessage` told of, if it has any.
    #[wasm_bindgen(js_name = takeJson)]
    pub fn take_json(&mut self) -> Option<Vec<u8>> {
        self.json.take()
    }

    /// The revision that `initialize` agreed on.
    #[wasm_bindgen(js_name = protocolVersion)]
    pub fn protocol_version(&self) -> Option<String> {
        self.session.protocol_version().map(str::to_owned)
    }

    /// True once the session is over.
    #[wasm_bindgen(js_name = isClosed)]
    pub fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    /// The next event, or undefined.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self) -> JsValue {
        let Some(event) = self.session.poll_event() else {
            return JsValue::UNDEFINED;
        };
        event_out(&event)
    }
}

/// An event on its way out. Texts of the peer stay texts.
fn event_out(event: &ServerEvent) -> JsValue {
    match event {
        ServerEvent::Call(call) => Plain::of_type("call")
            .number("token", f64::from(call.token))
            .text("name", &call.name)
            .text("arguments", &call.arguments)
            .maybe_text("meta", call.meta.as_deref())
            .text("protocolVersion", call.protocol_version)
            .maybe_number("exchange", call.exchange.map(f64::from))
            .maybe_text("inputResponses", call.input_responses.as_deref())
            .maybe_text("requestState", call.request_state.as_deref()),
        ServerEvent::Cancelled { token } => {
            Plain::of_type("cancelled").number("token", f64::from(*token))
        }
        ServerEvent::Initialized { protocol_version, client_info, capabilities } => {
            Plain::of_type("initialized")
                .text("protocolVersion", protocol_version)
                .maybe_text("clientInfo", client_info.as_deref())
                .text("capabilities", capabilities)
        }
        ServerEvent::LogLevel { level } => Plain::of_type("log_level").text("level", level),
        ServerEvent::Diagnostic { source, code, detail, truncated } => {
            diagnostic(source, code, detail, *truncated)
        }
        ServerEvent::Closed { error } => {
            let fault = error.as_ref().map_or(JsValue::UNDEFINED, fault);
            Plain::of_type("closed").value("fault", &fault)
        }
    }
    .done()
}

pub(super) fn diagnostic(source: &str, code: &str, detail: &str, truncated: bool) -> Plain {
    Plain::of_type("diagnostic")
        .text("source", source)
        .text("code", code)
        .text("detail", detail)
        .flag("truncated", truncated)
}

/// Reads options; what cannot be read is named, a limit as `serverInfo`.
fn read_options(members: &Members<'_>) -> Result<(ServerOptionsInput, ServerLimitsInput), Wrong> {
    let scopes = [CacheScope::Public, CacheScope::Private];
    let input = ServerOptionsInput {
        server_info: members.text("serverInfo")?.unwrap_or_default(),
        tools: members.text("tools")?.unwrap_or_default(),
        instructions: members.text("instructions")?,
        revisions: members.texts("revisions")?,
        logging: members.flag("logging")?,
        cache_ttl_ms: members.number("cacheTtlMs")?,
        cache_scope: members.choice("cacheScope", ["public", "private"], scopes)?,
    };
    let limits = ServerLimitsInput::read(|name| members.number(name)).map_err(|_| "serverInfo")?;
    Ok((input, limits))
}

/// Reads what an HTTP request says about its message.
fn read_headers(members: &Members<'_>) -> Result<Headers, Wrong> {
    let mut params = Vec::new();
    for pair in members.entries("params")?.unwrap_or_default() {
        let pair = pair.dyn_ref::<Array>().ok_or("params")?;
        params.push((pair.get(0).as_string().ok_or("params")?, pair.get(1).as_string()));
    }
    Ok(Headers {
        protocol_version: members.text("protocolVersion")?,
        method: members.text("method")?,
        name: members.text("name")?,
        params,
    })
}

/// The limits of a serving session that names none.
#[wasm_bindgen(js_name = serverLimits)]
pub fn server_limits() -> JsValue {
    numbers(&ServerLimits::default().list())
}
