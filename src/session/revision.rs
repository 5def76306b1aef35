//! What differs by protocol revision: one table, so that no other file compares revision names.

/// The two ways a session can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// `initialize`, then one revision for the whole session.
    Legacy,
    /// No handshake; every request names its revision.
    Modern,
}

/// One protocol revision and what it changes for a client and for a tool server.
#[derive(PartialEq, Eq, Debug)]
pub struct Revision {
    /// Its name on the wire.
    pub name: &'static str,
    /// How its sessions begin.
    pub family: Family,
    /// True if system C speaks it.
    pub strict: bool,
    /// True if a line may be an array of messages.
    pub batch: bool,
    /// True if `structuredContent` may be any JSON value.
    pub any_structured: bool,
    /// True if the server may send requests, which the client answers.
    pub peer_requests: bool,
    /// True if progress may carry words.
    pub progress_message: bool,
    /// The methods that a tool server answers.
    pub served: &'static [&'static str],
    /// True if every request says in `_meta` which revision, which client and which capabilities.
    pub stamped: bool,
    /// True if results say of what type they are.
    pub typed_results: bool,
    /// The methods whose result may be a question back to the client.
    pub asks_back: &'static [&'static str],
    /// The notifications a client may send; none where any may be sent.
    pub client_notifications: Option<&'static [&'static str]>,
    /// The request that subscribes to changes of lists, where they do not come unasked.
    pub listen: Option<&'static str>,
    /// True if the log level travels with each request in the place of `logging/setLevel`.
    pub log_level_in_meta: bool,
    /// True if closing the response of an HTTP request is what gives it up.
    pub closing_cancels: bool,
}

impl Revision {
    /// True if a tool server answers requests of this method.
    pub fn serves(&self, method: &str) -> bool {
        self.served.contains(&method)
    }
}

const LEGACY: Revision = Revision {
    name: "2025-11-25",
    family: Family::Legacy,
    strict: false,
    batch: false,
    any_structured: false,
    peer_requests: true,
    progress_message: true,
    served: &["initialize", "ping", "tools/list", "tools/call", "logging/setLevel"],
    stamped: false,
    typed_results: false,
    asks_back: &[],
    client_notifications: None,
    listen: None,
    log_level_in_meta: false,
    closing_cancels: false,
};

/// Every known revision, newest first.
pub static REVISIONS: [Revision; 5] = [
    Revision {
        name: "2026-07-28",
        family: Family::Modern,
        any_structured: true,
        peer_requests: false,
        served: &["server/discover", "tools/list", "tools/call", "subscriptions/listen"],
        stamped: true,
        typed_results: true,
        asks_back: &["tools/call", "prompts/get", "resources/read"],
        client_notifications: Some(&["notifications/cancelled"]),
        listen: Some("subscriptions/listen"),
        log_level_in_meta: true,
        closing_cancels: true,
        ..LEGACY
    },
    LEGACY,
    Revision { name: "2025-06-18", strict: true, ..LEGACY },
    Revision { name: "2025-03-26", strict: true, batch: true, ..LEGACY },
    Revision { name: "2024-11-05", strict: true, progress_message: false, ..LEGACY },
];

impl Family {
    /// The era as JavaScript sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Family::Legacy => "legacy",
            Family::Modern => "modern",
        }
    }
}

/// Names in `_meta` that the protocol gives a meaning.
pub mod meta {
    /// The revision of a request.
    pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Who the client says it is.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// What the client can do.
    pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// From which level on the server may log.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Who the server says it is.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The request that a notification belongs to.
    pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
    /// What progress notifications name a request by.
    pub const PROGRESS: &str = "progressToken";
}

/// The revision of that name.
pub fn named(name: &str) -> Option<&'static Revision> {
    REVISIONS.iter().find(|revision| revision.name == name)
}

/// The capabilities that [`capability_of`] gives.
pub(crate) const ASKING_CAPABILITIES: [&str; 4] = ["sampling", "roots", "elicitation", "tasks"];

/// The capability a client must declare before a server may send a request of this method.
pub fn capability_of(method: &str) -> Option<&'static str> {
    match method {
        "sampling/createMessage" => Some("sampling"),
        "roots/list" => Some("roots"),
        "elicitation/create" => Some("elicitation"),
        "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel" => Some("tasks"),
        _ => None,
    }
}
