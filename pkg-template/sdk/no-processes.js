/**
 * Owns what `ToolwireStdioTransport` is where no process can be started: pages, workers, edge
 * functions. Programs for several hosts may name it there; starting it fails.
 */

import { errorFor } from "../lib/sentences.js";

class ToolwireStdioTransport {
  #server;

  constructor(options) {
    this.#server = options?.server;
  }

  get pid() {
    return null;
  }

  get ignored() {
    return { noise: 0, malformed: 0, tooLong: 0 };
  }

  async start() {
    throw this.#error();
  }

  async send() {
    throw this.#error();
  }

  async close() {}

  #error() {
    return errorFor({ code: "spawn_failed", reason: "no_processes", server: this.#server });
  }
}

export { ToolwireStdioTransport };
