//! `ServerSession`: the tool server's state machine, seen from JavaScript.

use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

use crate::error::Code;
use crate::session::event::RpcFault;
use crate::session::server::event::ServerEvent;
use crate::session::server::options::{
    ServerLimits, ServerLimitsInput, ServerOptions, ServerOptionsInput,
};
use crate::session::server::{Headers, ServerSession};

use super::fault::{fault, value};
use super::session::{option_invalid, unreadable};

/// Members of the options object, to name the one that cannot be read.
const OPTIONS: [&str; 7] =
    ["serverInfo", "tools", "instructions", "revisions", "logging", "cacheTtlMs", "cacheScope"];

/// An event on its way out. Texts of the peer stay texts.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum EventOut<'a> {
    Call {
        token: u32,
        name: &'a str,
        arguments: &'a str,
        meta: Option<&'a str>,
        protocol_version: &'static str,
        exchange: Option<u32>,
        input_responses: Option<&'a str>,
        request_state: Option<&'a str>,
    },
    Cancelled {
        token: u32,
    },
    Initialized {
        protocol_version: &'static str,
        client_info: Option<&'a str>,
        capabilities: &'a str,
    },
    LogLevel {
        level: &'static str,
    },
    Diagnostic {
        source: &'static str,
        code: &'static str,
        detail: &'a str,
        truncated: bool,
    },
    Closed {
        #[serde(with = "serde_wasm_bindgen::preserve")]
        fault: JsValue,
    },
}

/// What an HTTP request says about its message.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct HeadersIn {
    protocol_version: Option<String>,
    method: Option<String>,
    name: Option<String>,
    params: Vec<(String, Option<String>)>,
}

/// A message on its way out; its bytes are taken with `takeJson`.
#[derive(Serialize)]
struct OutgoingOut {
    exchange: Option<u32>,
    ends: bool,
    status: u16,
}

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
        let input = serde_wasm_bindgen::from_value::<ServerOptionsInput>(options.clone());
        let limits = serde_wasm_bindgen::from_value::<ServerLimitsInput>(options.clone());
        let session = match (input, limits) {
            (Ok(input), Ok(limits)) => {
                ServerSession::new(ServerOptions::from_input(input, &limits))
            }
            _ => {
                let option = unreadable::<ServerOptionsInput>(options, &OPTIONS);
                Err(option_invalid(Code::ProtocolError, option.unwrap_or("serverInfo")))
            }
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
        let headers = (!headers.is_undefined()).then(|| {
            let headers: HeadersIn =
                serde_wasm_bindgen::from_value(headers.clone()).unwrap_or_default();
            let HeadersIn { protocol_version, method, name, params } = headers;
            Headers { protocol_version, method, name, params }
        });
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
        let (exchange, ends, status) = (outgoing.exchange, outgoing.ends, outgoing.status);
        value(&OutgoingOut { exchange, ends, status })
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
        value(&match &event {
            ServerEvent::Call(call) => EventOut::Call {
                token: call.token,
                name: &call.name,
                arguments: &call.arguments,
                meta: call.meta.as_deref(),
                protocol_version: call.protocol_version,
                exchange: call.exchange,
                input_responses: call.input_responses.as_deref(),
                request_state: call.request_state.as_deref(),
            },
            ServerEvent::Cancelled { token } => EventOut::Cancelled { token: *token },
            ServerEvent::Initialized { protocol_version, client_info, capabilities } => {
                EventOut::Initialized {
                    protocol_version,
                    client_info: client_info.as_deref(),
                    capabilities,
                }
            }
            ServerEvent::LogLevel { level } => EventOut::LogLevel { level },
            ServerEvent::Diagnostic { source, code, detail, truncated } => {
                EventOut::Diagnostic { source, code, detail, truncated: *truncated }
            }
            ServerEvent::Closed { error } => {
                EventOut::Closed { fault: error.as_ref().map_or(JsValue::UNDEFINED, fault) }
            }
        })
    }
}

/// The limits of a serving session that names none.
#[wasm_bindgen(js_name = serverLimits)]
pub fn server_limits() -> JsValue {
    value(&ServerLimits::default())
}
