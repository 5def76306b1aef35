//! Response envelopes `{data, meta}` and the pipeline that makes them.
//!
//! An envelope says where data came from: a local handler, an HTTP response or an MCP tool. This
//! layer detects envelopes ([`is_response_envelope`]), makes them ([`ResponseEnvelope`]), and runs
//! what a handler or a tool returned through detect, wrap, normalize, validate ([`run_pipeline`],
//! [`envelope_of_tool_result`]). Values are JSON texts, read and never changed: an outcome says
//! where in the given text its data stands, so that a host hands out the value it holds.

mod document;
mod guard;
mod meta;
mod pipeline;
mod tool_result;
mod view;

pub use document::{RESPONSE_ENVELOPE_SCHEMA, RESPONSE_META_SCHEMA};
pub use guard::{Source, is_response_envelope, source_of_meta};
pub use meta::{ResponseEnvelope, http_meta, local_meta, mcp_meta};
pub use pipeline::{
    Conclusion, Data, Diagnostic, Normalize, Operation, OutputSchema, OutputVerdict,
    PipelineOptions, PipelineOutcome, Returned, run_pipeline,
};
pub use tool_result::{ToolOptions, envelope_of_tool_result};
pub use view::{View, view_of_tool_result};
