//! The wire: newline-delimited frames and JSON-RPC 2.0 messages.
//!
//! Bytes become lines ([`LineReader`]), a line becomes a tape ([`LineReading`]), a tape becomes a
//! message ([`classify`]). Nothing here knows methods, sessions or time.

mod classify;
pub mod encode;
mod line;
mod reading;
mod salvage;

use serde::{Deserialize, Serialize};

pub use classify::{Classified, Id, Malformed, Message, Remote, Rules, classify};
pub(crate) use classify::{MAX_DEPTH, safe_integer};
pub use line::{Frame, FrameTooLong, HEAD_BYTES, LineReader, trim};
pub use reading::{LineReading, Read, classify_line};
pub use salvage::{reply_id, request_id};

/// How faults of the peer are met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Faults are contained to the smallest thing they concern.
    #[default]
    Contain,
    /// System C's contract, row by row.
    Strict,
}
