//! JSON texts: bytes to a tape in one pass, and what can be asked of a tape.
//!
//! This layer knows RFC 8259 and nothing else: no protocol, no schema. It accepts exactly the
//! texts that `JSON.parse` accepts, up to bounds the caller gives, and keeps what `JSON.parse`
//! loses: number text, repeated members, `__proto__` as an ordinary name. Nothing here recurses,
//! so the peer's nesting costs memory (bounded) and never stack.

mod number;
mod reader;
mod tape;
mod text;

pub use reader::{Fault, Limits, Progress, Reader, read};
pub use tape::{Elements, Kind, Members, Tape, Value};
pub use text::{Points, Text};
