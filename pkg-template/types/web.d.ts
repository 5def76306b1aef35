/**
 * `toolwire/web`: MCP over Streamable HTTP, by the `fetch` API alone: browsers, workers, Node, Deno,
 * Bun.
 *
 * Times are milliseconds, sizes bytes. Everything here rejects and throws `ToolwireError` only.
 */
export { init, initSync, ToolwireError } from "./index.js";
