//! The tool gateway: any number of operations shown to a model through four tools.
//!
//! `search` finds operations, `schema` shows one, `call` runs one, `batch` runs several. This layer
//! owns what the tools are called and promise ([`descriptions`]), what they are given
//! ([`read_arguments`]), the order in which operations are found ([`search`]) and the shape of what
//! is answered ([`object_text`]). Who may see and call what is the registry's to say; handlers,
//! time and concurrency are the host's.

mod answer;
mod arguments;
mod search;
mod tools;

pub use answer::object_text;
pub use arguments::{Entry, Limits, Refusal, Request, Tool, read_arguments};
pub use search::{Found, Operation, Query, search};
pub use tools::{INSTRUCTIONS, descriptions};
