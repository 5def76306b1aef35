//! What a serving session hands out: events, with the peer's payloads as JSON text.

use crate::error::Error;

/// A call, from its event to the host's answer.
pub type Token = u32;

/// An event. Payloads of the peer are JSON texts of their own.
#[derive(Clone, Debug)]
pub enum ServerEvent {
    /// The client calls a tool; the host owes an answer by its token.
    Call(Box<Call>),
    /// A call is given up: no answer goes out any more.
    Cancelled {
        /// The call.
        token: Token,
    },
    /// The client said that the handshake is done.
    Initialized {
        /// The agreed revision.
        protocol_version: &'static str,
        /// JSON text of the client's `clientInfo`, if it sent an object.
        client_info: Option<String>,
        /// JSON text of the client's capabilities, an object.
        capabilities: String,
    },
    /// The client wants log messages from this level on.
    LogLevel {
        /// One of the eight levels of RFC 5424.
        level: &'static str,
    },
    /// Something worth an operator's notice.
    Diagnostic {
        /// Where it was seen.
        source: &'static str,
        /// What was seen.
        code: &'static str,
        /// For the host alone.
        detail: String,
        /// True if the detail was cut.
        truncated: bool,
    },
    /// The session is over.
    Closed {
        /// Why; nothing after `close` and after the input ended.
        error: Option<Error>,
    },
}

/// A tool call of the client's.
#[derive(Clone, Debug)]
pub struct Call {
    /// For `respond` and `progress`.
    pub token: Token,
    /// The tool's name: one of ours.
    pub name: String,
    /// JSON text of an object, as it arrived; `{}` if there was none.
    pub arguments: String,
    /// JSON text of `_meta`, if it is an object.
    pub meta: Option<String>,
    /// The revision it is answered under.
    pub protocol_version: &'static str,
    /// The exchange it came by, in a session of single messages.
    pub exchange: Option<u32>,
    /// JSON text of `inputResponses`, if it is an object.
    pub input_responses: Option<String>,
    /// JSON text of `requestState`, if it is a string.
    pub request_state: Option<String>,
}
