//! Operations and MCP tools as flows.
