//! toolwire: the protocol, envelope and validator core of a Model Context Protocol (MCP) host.
//!
//! The core opens nothing, reads no clock and draws no randomness: bytes, times and ids come in;
//! bytes, events and the next deadline go out. Same inputs, same outputs.
//!
//! Layers, lowest first; a module never imports one further down this list:
//!
//! | module | owns |
//! |---|---|
//! | `sorted` | ordered maps, and sorting |
//! | `table` | maps and sets by hash |
//! | [`error`] | the closed set of error codes, and one sentence for each reason |
//! | [`json`] | bytes to a tape, exact numbers, pointers, equality |
//! | [`redact`] | masking of credentials |
//! | [`schema`] | JSON Schema to a program, a program over a tape, values made to fit |
//! | [`wire`] | newline framing and JSON-RPC 2.0 messages |
//! | [`session`] | MCP state machines, revisions table, catalog, calls |
//! | [`envelope`] | response envelopes and the result pipeline |
//! | [`call`] | call errors, who may call, call events, open requests |
//! | [`registry`] | specifications of operations, who is let in; MCP tools as flows |
//! | [`gateway`] | the four tools over a registry |
//! | `js` | the JavaScript classes; the only place that knows wasm-bindgen |

pub mod call;
pub mod envelope;
pub mod error;
pub mod gateway;
pub mod json;
pub mod redact;
pub mod registry;
pub mod schema;
pub mod session;
mod sorted;
mod table;
pub mod wire;

#[cfg(target_family = "wasm")]
mod js;

// The unit tests run natively and, through `wasm-pack test --headless --chrome`, in a browser.
#[cfg(all(test, target_family = "wasm"))]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
