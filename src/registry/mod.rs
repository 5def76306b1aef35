//! The registry: specifications of operations, who is let in, and MCP tools as flows.

pub mod admit;
pub mod flows;
mod id;
mod spec;
mod specs;

pub use id::canonical;
pub use spec::{Kind, Origin, Spec, Summary};
pub use specs::Specs;
