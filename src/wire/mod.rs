//! The wire: newline-delimited frames and JSON-RPC 2.0 messages.
