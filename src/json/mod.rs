//! JSON texts: bytes to a tape in one pass, and what can be asked of a tape.
//!
//! This layer knows RFC 8259 and nothing else: no protocol, no schema. It accepts exactly the
//! texts that `JSON.parse` accepts, up to bounds the caller gives, and keeps what `JSON.parse`
//! loses: number text, repeated members, `__proto__` as an ordinary name. Nothing here recurses,
//! so the peer's nesting costs memory (bounded) and never stack.

mod deep;
mod equal;
mod meter;
pub(crate) mod multiple;
pub(crate) mod number;
pub(crate) mod pointer;
mod reader;
mod scan;
mod sprint;
mod tape;
mod text;

pub(crate) use equal::{A_HASH, Hashing, scalars_equal, string as hash_string};
pub use equal::{Numbers, equal, hash};
pub(crate) use meter::Meter;
pub use pointer::resolve as resolve_pointer;
pub use reader::{Fault, Limits, Progress, Reader, read};
pub use tape::{Elements, Kind, Members, Tape, Value};
pub(crate) use tape::{Tag, Word};
pub(crate) use text::push_wtf8;
pub use text::{Points, Text, quote};
