// Owns a session that is driven by hand: connected, with one tool, so that what is timed is what a
// host's read of one reply costs.
import { internal, requireOwn } from "./packages.mjs";

const REVISION = "2025-06-18";

const HANDSHAKE = {
  jsonrpc: "2.0",
  id: 1,
  result: {
    protocolVersion: REVISION,
    capabilities: { tools: {} },
    serverInfo: { name: "bench", version: "1.0.0" },
  },
};

function toolOf(outputSchema) {
  return { name: "query", inputSchema: { type: "object" }, outputSchema };
}

function bytesOf(message) {
  return Buffer.from(`${JSON.stringify(message)}\n`);
}

/** What both ways of driving a session share. `poll` gives the next event or undefined. */
class Driven {
  #session;

  constructor(session, hasWork) {
    this.#session = session;
    this.hasWork = hasWork;
    session.connect(0);
    session.takeOutput();
    this.receive(bytesOf(HANDSHAKE));
    while (session.takeOutput() !== undefined);
    while (session.pollEvent() !== undefined);
  }

  receive(bytes) {
    this.#session.receive(bytes, 0);
    while (this.hasWork()) {
      this.#session.work(1e9, 0);
    }
  }

  poll() {
    return this.#session.pollEvent();
  }

  /** The id on the wire of a call that was just made. */
  takeCall() {
    return Number(/"id":(\d+)/.exec(Buffer.from(this.#session.takeOutput()).toString())[1]);
  }
}

/** The public session: results are objects. `call` makes a call and gives its id on the wire. */
function publicSession(schema) {
  const { ClientSession } = requireOwn("toolwire");
  const session = new ClientSession({ server: "bench", era: "legacy", tools: [toolOf(schema)] });
  const driven = new Driven(session, () => session.hasWork);
  driven.call = () => {
    session.callTool("query", {}, undefined, 0);
    return driven.takeCall();
  };
  return driven;
}

/** The session below the facade: results stay texts. */
function textSession(schema) {
  // The entry is what brings the bytes.
  requireOwn("toolwire");
  const { guard, sessionInstance } = internal("core");
  const options = { server: "bench", era: "legacy", tools: JSON.stringify([toolOf(schema)]) };
  const instance = sessionInstance();
  const session = guard(instance, ({ Session }) => new Session(options));
  const driven = new Driven(session, () => session.hasWork());
  const { memory } = instance.exports;
  driven.poll = () => {
    const event = session.pollEvent();
    if (event !== true) {
      return event;
    }
    // The ninth number says what was found; 0 is `valid`.
    const finding = new Float64Array(memory.buffer, session.statusAddress(), 9)[8];
    return { verdict: finding === 0 ? "valid" : "unchecked" };
  };
  driven.call = () => {
    session.callTool("query", "{}", undefined, undefined, 0);
    return driven.takeCall();
  };
  return driven;
}

export { bytesOf, publicSession, textSession, toolOf };
