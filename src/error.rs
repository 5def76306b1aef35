//! Errors: a closed set of codes, a stable reason, and one fixed sentence for each reason.
//!
//! Invariant: a sentence quotes only numbers, option names, method names, the configured server
//! name and constants of this crate. What the peer sent travels in [`Error::private`] alone.

use std::borrow::Cow;
use std::rc::Rc;

mod sentences;

/// What kind of failure it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// The server's process could not be started.
    SpawnFailed,
    /// The connection ended.
    ConnectionClosed,
    /// A deadline passed.
    Timeout,
    /// The peer or the caller broke the protocol.
    ProtocolError,
    /// The server has no such tool.
    ToolNotFound,
    /// The server answered a tool call with a JSON-RPC error.
    ToolFailed,
    /// A result does not have the shape it must have.
    InvalidResponse,
    /// A schema does not compile.
    SchemaError,
    /// The caller's arguments, options or configuration are refused.
    InvalidArguments,
    /// The caller gave up.
    Aborted,
    /// A bound of the caller's was met.
    Limit,
    /// The WebAssembly instance trapped.
    CoreTrapped,
    /// The object was freed.
    Freed,
}

impl Code {
    /// The code as JavaScript sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Code::SpawnFailed => "spawn_failed",
            Code::ConnectionClosed => "connection_closed",
            Code::Timeout => "timeout",
            Code::ProtocolError => "protocol_error",
            Code::ToolNotFound => "tool_not_found",
            Code::ToolFailed => "tool_failed",
            Code::InvalidResponse => "invalid_response",
            Code::SchemaError => "schema_error",
            Code::InvalidArguments => "invalid_arguments",
            Code::Aborted => "aborted",
            Code::Limit => "limit",
            Code::CoreTrapped => "core_trapped",
            Code::Freed => "freed",
        }
    }
}

/// Facts an error carries as members of its own: numbers, constants of this crate and the host's
/// own pointers, never prose of the peer.
#[derive(Clone, Default, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Facts {
    /// The number of a JSON-RPC error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpc_code: Option<i64>,
    /// The exit code of the server's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The name of an option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub option: Option<Cow<'static, str>>,
    /// The method of a request of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Milliseconds of the bound that was met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// A limit that was met, in its own unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Index of an entry or content block, zero-based within its list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<u32>,
    /// A JSON Pointer into the caller's own document, or into the message's envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What is supported: revisions known to this crate that the server named, or dialects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported: Option<Vec<String>>,
    /// The status of an HTTP response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the caller named: a command, a URL, a file, a reference in a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The name of an environment variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The id of an operation of the host's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
}

/// A failure. Cheap to clone: one failure may settle many calls.
#[derive(Clone, Debug)]
pub struct Error(Rc<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    code: Code,
    reason: &'static str,
    retryable: bool,
    server: Option<Rc<str>>,
    facts: Facts,
    why: Option<String>,
    stderr_withheld: bool,
    private: Option<String>,
}

impl Error {
    /// An error of this code and reason, not retryable, without server or facts.
    pub fn new(code: Code, reason: &'static str) -> Self {
        Error(Rc::new(Inner {
            code,
            reason,
            retryable: false,
            server: None,
            facts: Facts::default(),
            why: None,
            stderr_withheld: false,
            private: None,
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Rc::make_mut(&mut self.0));
        self
    }

    /// Names the configured server.
    #[must_use]
    pub fn at_server(self, server: &Rc<str>) -> Self {
        self.with(|inner| inner.server = Some(Rc::clone(server)))
    }

    /// Says whether trying again can help.
    #[must_use]
    pub fn retryable(self, retryable: bool) -> Self {
        self.with(|inner| inner.retryable = retryable)
    }

    /// Adds facts, replacing earlier ones.
    #[must_use]
    pub fn facts(self, facts: Facts) -> Self {
        self.with(|inner| inner.facts = facts)
    }

    /// Adds what completes the sentence of `output_schema_violation`: constants of this crate.
    #[must_use]
    pub fn why(self, why: String) -> Self {
        self.with(|inner| inner.why = Some(why))
    }

    /// Says that the server wrote to its stderr, which the sentence withholds (row R67).
    #[must_use]
    pub fn stderr_withheld(self) -> Self {
        self.with(|inner| inner.stderr_withheld = true)
    }

    /// Adds what only the host may see, as the text of a JSON object.
    #[must_use]
    pub fn private(self, json: String) -> Self {
        self.with(|inner| inner.private = Some(json))
    }

    /// True if both are one failure, not merely alike: what ends many calls is one error.
    pub fn is(&self, other: &Error) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The stable slug.
    pub fn reason(&self) -> &'static str {
        self.0.reason
    }

    /// The configured name of the server, if the error concerns one.
    pub fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// True if trying again can help.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The facts.
    pub fn get_facts(&self) -> &Facts {
        &self.0.facts
    }

    /// What only the host may see: the text of a JSON object.
    pub fn private_json(&self) -> Option<&str> {
        self.0.private.as_deref()
    }

    /// The fixed sentence for this reason.
    pub fn message(&self) -> String {
        let inner = &*self.0;
        let why = inner.why.as_deref();
        let mut text = sentences::fill(inner.reason, inner.server.as_deref(), &inner.facts, why);
        if inner.stderr_withheld {
            text.push_str(sentences::STDERR_WITHHELD);
        }
        of_operation(text, &inner.facts)
    }
}

/// The sentence for a reason that arises in the host: one table serves both sides. Reasons that the
/// table does not know read as a general failure.
pub fn sentence(reason: &str, server: Option<&str>, facts: &Facts) -> String {
    of_operation(sentences::fill(reason, server, facts, None), facts)
}

/// Says which operation a sentence concerns, and which part of its specification.
fn of_operation(text: String, facts: &Facts) -> String {
    match facts {
        Facts { operation: Some(id), option: Some(member), .. } => {
            format!("Operation \"{id}\", {member}: {text}")
        }
        Facts { operation: Some(id), .. } => format!("Operation \"{id}\": {text}"),
        _ => text,
    }
}
