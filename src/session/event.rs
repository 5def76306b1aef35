//! What a session hands out: events, with the peer's payloads as JSON text.

use std::ops::{Deref, Range};
use std::rc::Rc;

use crate::error::Error;
use crate::schema::Violation;

/// A request of the host's, from the call that made it to its one `Settled` event.
pub type Handle = u32;

/// How long a catalog may be kept, and by whom: the least that its pages allow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CacheHint {
    /// Milliseconds from when it was read; 0 is not at all.
    pub ttl_ms: f64,
    /// True if every client may share it; else it is this one's alone.
    pub public: bool,
}

/// A message of ours, for transports that send each by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutMessage {
    /// Its JSON text.
    pub json: Vec<u8>,
    /// HTTP headers it goes with: names and values.
    pub headers: Vec<(String, String)>,
    /// What names it in `receive_message` and `reply_ended`.
    pub handle: Handle,
    /// True if it is a request.
    pub expects_reply: bool,
}

/// An event. Payloads of the peer are JSON texts of their own: the session's buffers may go.
#[derive(Clone, Debug)]
pub enum Event {
    /// The first catalog stands.
    Ready {
        /// The negotiated revision.
        protocol_version: &'static str,
        /// `legacy` or `modern`.
        era: &'static str,
        /// JSON text of the server's `serverInfo`, if it sent an object.
        server_info: Option<String>,
        /// JSON text of the server's capabilities, an object.
        capabilities: String,
        /// The server's instructions, if it sent a string.
        instructions: Option<String>,
    },
    /// A catalog was read.
    Tools {
        /// JSON text of an array of `ToolDescription`.
        tools: String,
        /// JSON text of an array of `ToolProblem`.
        problems: String,
        /// Names new since the last catalog.
        added: Vec<String>,
        /// Names gone since the last catalog.
        removed: Vec<String>,
        /// Names whose entry changed since the last catalog.
        changed: Vec<String>,
        /// How long it may be kept, if its pages say.
        cache: Option<CacheHint>,
    },
    /// A request came to its end.
    Settled {
        /// What the request's call returned.
        handle: Handle,
        /// Its end.
        outcome: Result<Settlement, Error>,
    },
    /// The server reported progress of a request.
    Progress {
        /// The request.
        handle: Handle,
        /// Progress so far.
        progress: f64,
        /// The total, if the server named one.
        total: Option<f64>,
        /// Its words.
        message: Option<String>,
    },
    /// The server sent a notification.
    Notification {
        /// Its method.
        method: String,
        /// JSON text of its params.
        params: Option<String>,
    },
    /// The server sent a request whose method the capabilities declare.
    Request {
        /// For `respond`.
        token: u32,
        /// Its method.
        method: String,
        /// JSON text of its params.
        params: Option<String>,
    },
    /// Something worth an operator's notice.
    Diagnostic {
        /// One of the sources of DESIGN.md section 6.1.
        source: &'static str,
        /// One of the codes there.
        code: &'static str,
        /// What was seen, for the host alone; at most `maxDiagnosticBytes`.
        detail: String,
        /// True if the detail was cut.
        truncated: bool,
    },
    /// The server gave up a request that was handed out and not yet answered.
    RequestCancelled {
        /// The request's token; `respond` ignores it from now on.
        token: u32,
    },
    /// The server sent an error with `id: null`.
    UncorrelatedError {
        /// Its number.
        rpc_code: i64,
    },
    /// The host must start the process again and call `connect`.
    Respawn,
    /// A message that was taken by itself is given up: what waits for its answer can be closed.
    Abandoned {
        /// The message's handle.
        handle: Handle,
    },
    /// The session is over.
    Closed {
        /// Why; nothing after `close`.
        error: Option<Error>,
    },
}

/// The good end of a request.
#[derive(Clone, Debug)]
pub enum Settlement {
    /// A tool call's result.
    Tool(ToolOutcome),
    /// Any other request's result, as JSON text.
    Value(String),
    /// A notification left, or a catalog was refreshed.
    Done,
}

/// Text of a line that was read, where it stands: a result may be long, and is not copied. Keeps the
/// line's bytes as long as it lives.
#[derive(Clone)]
pub struct LineText {
    line: Rc<Vec<u8>>,
    range: Range<usize>,
}

impl LineText {
    /// The reader found the range to be a JSON text.
    pub(super) fn new(line: &Rc<Vec<u8>>, range: Range<usize>) -> Self {
        LineText { line: Rc::clone(line), range }
    }

    /// The text's bytes, which are UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        self.line.get(self.range.clone()).unwrap_or_default()
    }
}

impl Deref for LineText {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl std::fmt::Debug for LineText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&**self, formatter)
    }
}

/// A tool call's result and what was found about it.
#[derive(Clone, Debug)]
pub struct ToolOutcome {
    /// The `result` member exactly as it arrived.
    pub json: LineText,
    /// Indices of content blocks that are not handed out.
    pub dropped: Vec<u32>,
    /// True if `_meta` is handed out when it is present and an object.
    pub keep_meta: bool,
    /// True if `structuredContent` is handed out; false also for a `null` that counts as absent.
    pub structured: bool,
    /// `valid`, `invalid`, `unknown` or `unchecked`.
    pub verdict: &'static str,
    /// Why the verdict is unknown or unchecked.
    pub verdict_reason: Option<&'static str>,
    /// Violations under `validation: "report"`.
    pub violations: Vec<Violation>,
    /// True if there were more violations than are listed.
    pub truncated: bool,
    /// What kind of violation it is: `schema`, `missing_structured_content`,
    /// `non_object_structured_content`, `bad_content_block` or `malformed_result`. All but the
    /// first come without `violations`.
    pub violation: Option<&'static str>,
    /// Content blocks with a problem: index and reason.
    pub content_problems: Vec<(u32, &'static str)>,
}

/// A JSON-RPC error that the host answers a request of the server with.
#[derive(Clone, Debug)]
pub struct RpcFault {
    /// Its number.
    pub code: i64,
    /// Its words, which go to the server.
    pub message: String,
    /// JSON text of its data.
    pub data: Option<String>,
}
