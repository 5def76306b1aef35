/**
 * Owns the writing of recordings: one JSON line for each input of a session, in the order the core
 * gets them. docs/recordings.md has the format. Invariants: every text was masked before it is
 * written; what fails ends the recording and never the session; the host's function is never called
 * while an input is under way, so what it does to the session comes after what it was told.
 */

import { guard, mainInstance, own } from "./core.js";
import { errorFor } from "./sentences.js";

/** Records of the session's own doing: they tell the time of nothing. */
const UNTIMED = new Set(["take", "takeMessage"]);

class Recorder {
  #write;
  #onFailure;
  #mask;
  #lines = [];
  #masked = false;
  /** When stderr last brought bytes, while some of them may be held. */
  #stderrAt;

  /** `write` gets each line, without its end; `onFailure` is called once if that fails. */
  constructor(write, onFailure) {
    this.#write = write;
    this.#onFailure = onFailure;
  }

  /** The header. `options` are those of the session, as they cross into the core. */
  begin(options) {
    this.#attempt(() => {
      const { capabilities, tools, clientInfo, prior, server, ...plain } = options;
      const strict = plain.profile === "strict";
      const instance = mainInstance();
      const { version, limits } = guard(instance, (glue) => ({
        version: glue.coreInfo().version,
        limits: glue.limits().session,
      }));
      const { maxFrameBytes = limits[strict ? "strict" : "contain"].maxFrameBytes } = plain;
      const mask = guard(instance, (glue) => new glue.RecordingMask(maxFrameBytes, strict));
      this.#mask = { instance, mask, release: own(this, instance, mask) };
      this.#masked = false;
      const info = clientInfo ?? { name: "toolwire", version };
      const written = members([
        ["server", this.#text(server)],
        ...Object.entries(plain).map(([name, value]) => [name, this.#json(small(value))]),
        ["clientInfo", this.#json(JSON.stringify(info))],
        ["prior", prior && this.#json(JSON.stringify(prior))],
        ["capabilities", capabilities && this.#json(capabilities)],
        ["tools", tools && this.#json(tools)],
      ]);
      this.#add([
        ["toolwire", "1"],
        ["version", JSON.stringify(version)],
        ["paced", "true"],
        ["options", written],
      ]);
    });
  }

  /**
   * An input, before the core gets it. `done` says how far work had come, if some is left. `facts`
   * are those of the input; texts in them are JSON unless the input has them as words.
   */
  note(kind, at, done, facts = {}) {
    this.#attempt(() => {
      if (kind !== "stderr") {
        this.#stderrSoFar(done);
      }
      this.#masked = false;
      const prepared = this.#prepare(kind, at, done, facts);
      if (prepared !== undefined) {
        this.#record(kind, at, done, prepared);
      }
    });
  }

  /** The session is over: what is left is written, nothing follows. */
  end() {
    this.#flush();
    this.#write = undefined;
    this.#mask?.release();
  }

  /** The members of one input; undefined if it leaves nothing to write. */
  #prepare(kind, at, done, facts) {
    switch (kind) {
      case "connect":
        this.#masker((mask) => mask.reset());
        return [];
      case "chunk":
        return [["data", this.#bytes((mask) => mask.chunk(facts.data))]];
      case "message":
        return [
          ["text", this.#messageText(facts.data)],
          ["inReplyTo", facts.handle === undefined ? undefined : String(facts.handle)],
        ];
      case "replyEnded":
        return [
          ["handle", String(facts.handle)],
          ["outcome", members(Object.entries(facts.outcome).map(([n, v]) => [n, small(v)]))],
        ];
      case "end": {
        const rest = this.#masker((mask) => mask.chunkEnd());
        if (rest.length > 0) {
          this.#record("chunk", at, done, [["data", base64Text(rest)]]);
          this.#masked = false;
        }
        return [];
      }
      case "stderr":
        this.#stderrAt = at;
        return [["data", this.#bytes((mask) => mask.stderr(facts.data))]];
      case "exited":
        return [["code", String(facts.code ?? null)]];
      case "call":
        return [
          ["name", this.#text(facts.name)],
          facts.refusal === undefined
            ? ["arguments", this.#json(facts.text)]
            : ["refused", this.#json(facts.refusal)],
          ...this.#callOptions(facts.options),
        ];
      case "request":
        return [
          ["method", this.#text(facts.method)],
          ["params", this.#json(facts.params)],
          ...this.#callOptions(facts.options),
        ];
      case "notify":
        return [
          ["method", this.#text(facts.method)],
          ["params", this.#json(facts.params)],
        ];
      case "respond":
        return [["token", String(facts.token)], this.#outcome(facts)];
      case "cancel":
        return [
          ["handle", String(facts.handle)],
          ["reason", this.#text(facts.reason)],
        ];
      default:
        return [];
    }
  }

  #callOptions({ meta, ...options }) {
    const written = Object.entries(options).map(([name, value]) => [name, small(value)]);
    written.push(["meta", this.#json(meta)]);
    const text = members(written);
    return text === "{}" ? [] : [["options", text]];
  }

  #outcome({ result, code, message, data }) {
    if (result !== undefined) {
      return ["result", this.#json(result)];
    }
    const error = [
      ["code", small(code)],
      ["message", this.#text(message)],
      ["data", this.#json(data)],
    ];
    return ["error", members(error)];
  }

  /** What an unfinished line of stderr shows counts in errors, so it is written before others. */
  #stderrSoFar(done) {
    if (this.#stderrAt === undefined) {
      return;
    }
    const at = this.#stderrAt;
    this.#stderrAt = undefined;
    this.#masked = false;
    const rest = this.#masker((mask) => mask.stderrPending());
    if (rest.length > 0) {
      this.#record("stderr", at, done, [["data", base64Text(rest)]]);
    }
  }

  #record(kind, at, done, facts) {
    this.#add([
      ["t", UNTIMED.has(kind) ? undefined : small(at)],
      ["in", JSON.stringify(kind)],
      ["done", done === undefined ? undefined : String(done)],
      ...facts,
    ]);
  }

  #add(written) {
    this.#lines.push(members([...written, ["masked", this.#masked ? "true" : undefined]]));
    if (this.#lines.length === 1) {
      queueMicrotask(() => this.#flush());
    }
  }

  #flush() {
    const lines = this.#lines;
    this.#lines = [];
    for (const line of lines) {
      this.#attempt(() => {
        const returned = this.#write(line);
        if (typeof returned?.then === "function") {
          returned.then(undefined, () => this.#fail());
        }
      });
    }
  }

  #attempt(action) {
    if (this.#write === undefined) {
      return;
    }
    try {
      action();
    } catch {
      this.#fail();
    }
  }

  /** A recording with a hole is none: it ends here. */
  #fail() {
    if (this.#write !== undefined) {
      this.#write = undefined;
      this.#lines = [];
      this.#onFailure();
    }
  }

  #masker(action) {
    const { instance, mask } = this.#mask;
    return guard(instance, () => {
      const bytes = action(mask);
      this.#masked ||= mask.masked();
      return bytes;
    });
  }

  #bytes(action) {
    return base64Text(this.#masker(action));
  }

  /** A message by itself, as base64: it may be anything, and nothing may be lost. */
  #messageText(data) {
    let text;
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
    } catch {
      // What is not UTF-8 is refused by the core as it is; nothing of it is kept here.
      this.#masked = true;
      return base64Text(Uint8Array.of(0xff));
    }
    return base64Text(new TextEncoder().encode(this.#hide(text, "maskJson")));
  }

  #text(words) {
    return words === undefined ? undefined : JSON.stringify(this.#hide(words, "maskText"));
  }

  #json(text) {
    return text === undefined ? undefined : this.#hide(text, "maskJson");
  }

  #hide(text, how) {
    const hidden = guard(this.#mask.instance, (glue) => glue[how](text));
    this.#masked ||= hidden !== text;
    return hidden;
  }
}

/** What records the session of these options, if that is wanted. */
function recorderOf({ record, server }, onFailure) {
  if (record === undefined) {
    return undefined;
  }
  if (typeof record !== "function") {
    const refused = { code: "protocol_error", reason: "option_invalid", server, option: "record" };
    throw errorFor(refused);
  }
  return new Recorder(record, onFailure);
}

/** A JSON object of names and JSON texts, without those that are undefined. */
function members(list) {
  const written = list.filter(([, text]) => text !== undefined);
  return `{${written.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

/** A small value of the host's. JSON has no infinity; what is neither text nor number is no option. */
function small(value) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return JSON.stringify(String(value));
  }
  if (Array.isArray(value)) {
    return `[${value.map(small).join(",")}]`;
  }
  return ["string", "number", "boolean"].includes(typeof value) ? JSON.stringify(value) : "null";
}

function base64Text(bytes) {
  return `"${encodeBase64(bytes)}"`;
}

function encodeBase64(bytes) {
  if (typeof Buffer === "function" && typeof Buffer.from === "function") {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  }
  const pieces = [];
  // A multiple of three, and fewer arguments than any host refuses.
  for (let start = 0; start < bytes.length; start += 12_288) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(start, start + 12_288))));
  }
  return pieces.join("");
}

export { recorderOf };
