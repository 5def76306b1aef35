//! Calls of operations: their errors and who may make them.

pub mod access;
pub mod error;
