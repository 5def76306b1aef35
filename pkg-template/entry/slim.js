/**
 * `toolwire/slim`: the same names without the bytes. Call `init(urlOrBytesOrModule)` first.
 */

export * from "../lib/index.js";
