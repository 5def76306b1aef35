//! Operations and MCP tools as flows.

pub mod flows;
