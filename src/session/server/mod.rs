//! The tool server's state machine, over the same framing, queue and revision table as the client.
//!
//! [`ServerSession`] serves both eras on one pipe: each request is judged by what it carries. A
//! request whose `_meta` names a revision is answered under that one; every other under the one that
//! `initialize` agreed on.
//!
//! | file | decides |
//! |---|---|
//! | `options` | what the host may set |
//! | `tools`, `wrap` | what is listed, page by page, and in which form |
//! | `core` | in which order inputs are handled, and how work is sliced |
//! | `inbound` | what a line is, and what is answered when it is no message |
//! | `request` | what a request comes to |
//! | `envelope`, `param_headers` | under which revision a request is judged, and whether its headers agree |
//! | `answer`, `result` | how an answer is put together and where it goes |
//! | `calls` | calls that the host works on: results, progress, cancellation, deadlines |
//! | `notice` | what is told without being asked: list changes and log messages |
//! | `event` | what the host is told |

mod answer;
mod calls;
mod core;
mod envelope;
pub mod event;
mod inbound;
mod notice;
pub mod options;
mod param_headers;
mod request;
mod result;
mod session;
mod tools;
mod wrap;

pub use envelope::Headers;
pub use session::{Outgoing, ServerSession};
