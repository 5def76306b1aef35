/**
 * Owns the server behind one connection, over restarts: at most one process at a time is fed to the
 * session, and each is taken down with everything it started.
 *
 * Invariant: when `close` has resolved nothing is left: no process, pipe, timer or listener.
 */
import { Redacted } from "../lib/redacted.js";
import { forget, guard } from "./exit-hook.js";
import { spawnError, spawnOf } from "./launch.js";
import { startProcess } from "./server-process.js";
import { shutDown } from "./shutdown.js";
import { treeOf } from "./tree.js";

/** A transport for `openClient`, which documents what it may call and when. */
class StdioTransport {
  #plan;
  #onDiagnostic;
  #server;
  #tree;
  #starting;
  #closing;

  constructor(plan, onDiagnostic) {
    this.#plan = plan;
    this.#onDiagnostic = onDiagnostic;
  }

  /** The process that runs now, if one does. */
  get pid() {
    return this.#server?.pid;
  }

  start(sink) {
    this.#starting = this.#startAnew(sink);
    return this.#starting;
  }

  write(frame) {
    return this.#server?.write(frame);
  }

  /**
   * Notes what the server has started so far. What is in a group of its own could not be told from
   * others any more if the server died by itself.
   */
  observe() {
    return this.#tree?.observe();
  }

  close() {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #startAnew(sink) {
    // A server that is started again has closed its pipe: there is nothing to wait for.
    await this.#takeDown(0);
    if (this.#closing !== undefined) {
      return;
    }
    const onStderr = typeof this.#plan.stderr === "function" ? this.#plan.stderr : undefined;
    let server;
    try {
      server = await startProcess(spawnOf(this.#plan), sink, onStderr);
    } catch (cause) {
      this.#report(cause);
      throw spawnError(this.#plan, cause);
    }
    const tree = treeOf(server.pid, this.#plan.platform);
    server.whenExited.then(() => tree.leaderExited());
    guard(tree);
    this.#server = server;
    this.#tree = tree;
  }

  async #finish() {
    try {
      await this.#starting;
    } catch {
      // The one who started it knows.
    }
    await this.#takeDown(this.#plan.graceMs);
  }

  async #takeDown(graceMs) {
    const server = this.#server;
    const tree = this.#tree;
    if (server === undefined) {
      return;
    }
    this.#server = undefined;
    this.#tree = undefined;
    server.mute();
    try {
      await shutDown(server, tree, graceMs);
    } finally {
      server.dispose();
      forget(tree);
    }
  }

  #report(cause) {
    const detail = { code: cause?.code, syscall: cause?.syscall };
    try {
      this.#onDiagnostic?.({
        server: this.#plan.server,
        source: "spawn",
        code: "spawn",
        detail: new Redacted(JSON.stringify(detail)),
        truncated: false,
      });
    } catch {
      // What an observer throws is its own affair (row R72).
    }
  }
}

export { StdioTransport };
