//! Calls of operations: their errors, their events, the requests that are open, and who may make
//! them.

pub mod access;
pub mod error;
pub mod event;
pub mod pending;
