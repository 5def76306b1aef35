//! What differs by protocol revision: one table, so that no other file compares revision names.

use super::options::Profile;

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
};

/// Every known revision, newest first.
pub static REVISIONS: [Revision; 5] = [
    Revision {
        name: "2026-07-28",
        family: Family::Modern,
        any_structured: true,
        peer_requests: false,
        served: &["server/discover", "tools/list", "tools/call", "subscriptions/listen"],
        ..LEGACY
    },
    LEGACY,
    Revision { name: "2025-06-18", strict: true, ..LEGACY },
    Revision { name: "2025-03-26", strict: true, batch: true, ..LEGACY },
    Revision { name: "2024-11-05", strict: true, progress_message: false, ..LEGACY },
];

/// The revisions a profile offers in a handshake, newest first.
pub fn of_profile(profile: Profile) -> Vec<&'static Revision> {
    with_handshake().filter(|revision| profile == Profile::Contain || revision.strict).collect()
}

/// The revisions whose sessions begin with a handshake, newest first.
pub fn with_handshake() -> impl Iterator<Item = &'static Revision> {
    REVISIONS.iter().filter(|revision| revision.family == Family::Legacy)
}

/// The revision of that name.
pub fn named(name: &str) -> Option<&'static Revision> {
    REVISIONS.iter().find(|revision| revision.name == name)
}

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
