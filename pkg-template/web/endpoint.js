/**
 * Owns one `ServerSession` that is given messages one by one: its drain, where its messages go and
 * whose its calls are. Invariants: every exchange's reply ends; after the end of the session all of
 * them have.
 */

import { CallRunner } from "../lib/call-runner.js";
import { Driver } from "../lib/driver.js";
import { ServerSession } from "../lib/server-session.js";
import { nextTask } from "../lib/slices.js";
import { plainError } from "./request-guard.js";

/** A session whose output are messages with their exchange. */
class MessageSession extends ServerSession {
  takeOutput() {
    return this.takeMessage();
  }
}

class Endpoint {
  #session;
  #driver;
  #runner;
  #replies = new Map();
  #identities = new Map();
  #onClosed;
  #onDiagnostic;

  /**
   * `onNotice` gets messages that belong to no exchange; `onClosed` is called once, also when the
   * core trapped.
   */
  constructor(gateway, options, { onNotice = () => {}, onClosed, onDiagnostic }) {
    this.#onClosed = onClosed;
    this.#onDiagnostic = onDiagnostic;
    const onTrap = () => nextTask(() => this.#driver.drain());
    this.#session = new MessageSession(options, onTrap);
    const write = (message) => {
      if (message.exchange === undefined) {
        onNotice(message.json);
      } else {
        this.#deliver(message);
      }
    };
    this.#driver = new Driver(this.#session, { write }, (event) => this.#handle(event));
    this.#runner = new CallRunner(gateway, (input) => this.#driver.feed(input));
    this.closed = false;
  }

  /** The agreed revision, if there was a handshake. */
  get protocolVersion() {
    return this.closed ? undefined : this.#session.protocolVersion;
  }

  get isBusy() {
    return this.#replies.size > 0;
  }

  /**
   * Gives a message to the session and has its answers go to the reply. Gives the function that is
   * to be called when the client leaves.
   */
  accept(body, headers, identity, reply) {
    let exchange;
    this.#driver.feed((session, at) => {
      exchange = session.receiveMessage(body, at, headers);
      this.#replies.set(exchange, reply);
      this.#identities.set(exchange, identity);
    });
    if (this.closed) {
      reply.fail(plainError(500, "The server failed", {}, -32603));
    }
    return () => {
      this.#forget(exchange);
      this.#driver.feed((session, at) => session.abandon(exchange, at));
    };
  }

  /** Lets a client leave whose calls go on. */
  forgetter(reply) {
    return () => {
      for (const [exchange, open] of this.#replies) {
        if (open === reply) {
          this.#replies.delete(exchange);
        }
      }
    };
  }

  setTools(tools) {
    this.#driver.feed((session, at) => session.setTools(tools, at));
  }

  /** Ends the session: listeners are told, open calls are given up. */
  close() {
    this.#driver.feed((session, at) => session.end(at));
    this.#driver.feed((session, at) => session.close(at));
  }

  #forget(exchange) {
    this.#replies.delete(exchange);
    this.#identities.delete(exchange);
  }

  #deliver(message) {
    const reply = this.#replies.get(message.exchange);
    if (message.ends) {
      this.#forget(message.exchange);
    }
    reply?.push(message);
  }

  #handle(event) {
    switch (event.type) {
      case "call":
        this.#runner.call(event, this.#identities.get(event.exchange));
        return;
      case "cancelled":
        this.#runner.cancel(event.token);
        return;
      case "diagnostic": {
        const { source, code, detail, truncated } = event;
        try {
          this.#onDiagnostic?.({ source, code, detail, truncated });
        } catch {
          // What an observer throws is its own affair.
        }
        return;
      }
      case "closed":
        this.#finish();
    }
  }

  #finish() {
    this.closed = true;
    this.#driver.stop();
    this.#runner.abortAll();
    this.#session.free();
    for (const reply of this.#replies.values()) {
      reply.fail(plainError(503, "The server was closed", {}, -32603));
    }
    this.#replies.clear();
    this.#identities.clear();
    this.#onClosed();
  }
}

export { Endpoint };
