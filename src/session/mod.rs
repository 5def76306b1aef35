//! MCP state machines. Sans-IO: bytes and times in; frames, events and the next deadline out.

pub mod event;
pub mod options;
