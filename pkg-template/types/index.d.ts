/**
 * `toolwire`: the protocol, envelope and validator core of a Model Context Protocol (MCP) host.
 *
 * Times are milliseconds, sizes bytes. Everything here throws and rejects with
 * `ToolwireError`, calls of operations with `CallError`.
 */
export * from "./calls.js";
export * from "./client.js";
export * from "./envelope.js";
export * from "./errors.js";
export * from "./flows.js";
export * from "./gateway.js";
export * from "./operations.js";
export * from "./parts.js";
export * from "./schema.js";
export * from "./server.js";
export * from "./session.js";
