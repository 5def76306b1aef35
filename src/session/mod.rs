//! MCP state machines. Sans-IO: bytes and times in; frames, events and the next deadline out.
//!
//! [`ClientSession`] is the client. Behind it, one state (`core`) and a file for each thing that
//! is decided:
//!
//! | file | decides |
//! |---|---|
//! | `options`, `revision` | what the host may set; what differs by protocol revision |
//! | `core` | in which order inputs are handled, and how work is sliced |
//! | `negotiate`, `handshake` | of which era a server is, and whether it is accepted |
//! | `walk`, `catalog`, `names`, `document`, `compile`, `tool` | which tools there are |
//! | `call`, `pending`, `timers`, `outbound` | when a request is sent, and when it is too late |
//! | `stamp` | what travels in `_meta` of a request |
//! | `exchange`, `headers` | messages one by one, for HTTP |
//! | `intake` | what is a message |
//! | `reply`, `result`, `content`, `verdict` | what a reply comes to |
//! | `peer`, `rounds`, `listen` | what the server may ask and tell |
//! | `lifecycle` | how it ends |
//! | `event`, `report` | what the host is told |
//!
//! [`server::ServerSession`] is the other side, a tool server: the same framing, queue and revision
//! table, and a state of its own.

mod call;
mod catalog;
mod client;
mod compile;
pub mod content;
mod core;
mod document;
pub mod event;
mod exchange;
mod handshake;
mod headers;
mod intake;
mod lifecycle;
mod listen;
mod names;
mod negotiate;
pub mod options;
mod outbound;
mod peer;
mod pending;
mod reply;
mod report;
pub mod result;
pub mod revision;
mod rounds;
pub mod server;
mod stamp;
mod timers;
mod tool;
mod verdict;
mod walk;

pub use client::{ClientSession, State};
pub use exchange::{REPLY_REASONS, ReplyOutcome};
