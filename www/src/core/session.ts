/**
 * One session in simulated time, by the drain contract. Invariant: time is what the script, the
 * server's delays and the session's own deadlines say; no clock is read, so the same inputs give the
 * same steps.
 */

import {
  ClientSession,
  type SessionEvent,
  type ToolResult,
  type ToolwireError,
  classifyLine,
  limits,
} from "toolwire/slim";
import type { ServerOutput, ToServer } from "../servers/runtime.js";
import type { Note, PendingRequest, SessionInput, SessionOutput, SessionSettings, Step } from "./protocol.js";
import { type Action, readScript, writeAction } from "./script.js";

/** Milliseconds a line takes from one side to the other. */
const LATENCY_MS = 2;
/** Milliseconds between actions of a script that names no times. */
const PAUSE_MS = 10;
/** What a run has at most: steps, and simulated milliseconds. */
const MAX_STEPS = 600;
const MAX_TIME_MS = 3_600_000;
/** Characters of one note. */
const MAX_NOTE = 600;

interface Queued {
  t: number;
  action: Action;
}

/** A server in a worker of its own, asked one thing at a time. */
class PageServer {
  readonly #worker = new Worker(new URL("../servers/runtime.ts", import.meta.url), { type: "module" });

  give(message: ToServer): Promise<ServerOutput[]> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }: MessageEvent<ServerOutput[]>) => resolve(data);
      this.#worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error("the server's worker failed"));
      };
      this.#worker.postMessage(message);
    });
  }

  stop(): void {
    this.#worker.terminate();
  }
}

const clip = (text: string): string => (text.length <= MAX_NOTE ? text : `${text.slice(0, MAX_NOTE)} …`);

function optionsOf(settings: SessionSettings, answers: boolean): ConstructorParameters<typeof ClientSession>[0] {
  return {
    server: "page",
    clientInfo: { name: "playground", version: "1.0.0" },
    profile: settings.profile,
    validation: settings.validation,
    requestTimeoutMs: settings.requestTimeoutMs,
    ...(settings.era === "auto" ? {} : { era: settings.era }),
    ...(settings.revision === "" ? {} : { revisions: [settings.revision] }),
    ...(settings.lenientIds ? { lenientIds: true } : {}),
    ...(answers ? { capabilities: { elicitation: {} } } : {}),
  };
}

class Run {
  readonly steps: Step[] = [];
  readonly #session: ClientSession;
  readonly #queue: Queued[] = [];
  /** Actions without a time: they wait until the session is ready. */
  readonly #waiting: Action[];
  readonly #answers: Action[];
  readonly #live: string | undefined;
  #server: PageServer | undefined;
  readonly #written: string[] = [];
  readonly #pending = new Map<string, PendingRequest>();
  /** Calls by handle: their number in the run, what they are, and the id of their frame. */
  readonly #calls = new Map<number, { number: number; what: string; id: string | undefined }>();
  readonly #unsent: number[] = [];
  readonly #handles: number[] = [];
  readonly #questions: number[] = [];
  readonly #profile: "contain" | "strict";
  #rest = "";
  #now = 0;

  constructor(input: SessionInput, lines: ReturnType<typeof readScript>["lines"]) {
    this.#live = input.server;
    this.#profile = input.settings.profile;
    const untimed = lines.filter(({ at }) => at === undefined).map(({ action }) => action);
    const isAnswer = ({ verb }: Action): boolean => verb === "answer";
    const live = this.#live !== undefined;
    this.#answers = live ? untimed.filter(isAnswer) : [];
    this.#waiting = live ? untimed.filter((action) => !isAnswer(action)) : [];
    let time = 0;
    const connects = lines.some(({ action }) => action.verb === "connect");
    if (!connects) this.#queue.push({ t: 0, action: { verb: "connect" } });
    for (const { at, action } of lines) {
      if (at === undefined && live) continue;
      time = at ?? time + PAUSE_MS;
      this.#put(time, action);
    }
    this.#session = new ClientSession(optionsOf(input.settings, lines.some(({ action }) => isAnswer(action))));
  }

  /** Runs until nothing is left to happen; false if a bound ended it. */
  async run(signal: AbortSignal): Promise<boolean> {
    try {
      for (;;) {
        signal.throwIfAborted();
        const next = this.#queue[0];
        const deadline = this.#session.nextDeadline;
        if (next === undefined && deadline === undefined) return true;
        if (this.steps.length >= MAX_STEPS) return false;
        const due = Math.min(next?.t ?? Infinity, deadline ?? Infinity);
        if (due > MAX_TIME_MS) return false;
        this.#now = Math.max(this.#now, due);
        if (next === undefined || (deadline !== undefined && deadline <= next.t)) {
          this.#session.advance(this.#now);
          await this.#drained({ kind: "time", text: "a deadline passed" });
        } else {
          this.#queue.shift();
          await this.#perform(next.action);
        }
      }
    } finally {
      this.#server?.stop();
      this.#session.free();
    }
  }

  get transcript(): string {
    return `${this.#written.join("\n")}\n`;
  }

  /** Keeps the queue in the order of times; equals stay in the order in which they came. */
  #put(t: number, action: Action): void {
    const place = this.#queue.findLastIndex((queued) => queued.t <= t);
    this.#queue.splice(place + 1, 0, { t, action });
  }

  #note(action: Action): number {
    this.#written.push(`@${this.#now} ${writeAction(action)}`);
    return this.#written.length - 1;
  }

  async #perform(action: Action): Promise<void> {
    if (action.verb === "in") {
      await this.#arrived(action.text);
      return;
    }
    this.#note(action);
    const step = { kind: "host" as const, text: writeAction(action) };
    const session = this.#session;
    const now = this.#now;
    switch (action.verb) {
      case "connect":
        session.connect(now);
        if (this.#live !== undefined) await this.#startServer(this.#live);
        break;
      case "call":
        this.#opened(session.callTool(action.name, action.args, undefined, now), action.name);
        break;
      case "request":
        this.#opened(session.request(action.method, action.params, undefined, now), action.method);
        break;
      case "notify":
        this.#calls.set(session.notify(action.method, action.params, now), { number: 0, what: action.method, id: undefined });
        break;
      case "refresh":
        this.#calls.set(session.refreshTools(now), { number: 0, what: "refresh", id: undefined });
        break;
      case "cancel": {
        const handle = this.#handles[action.call - 1];
        if (handle !== undefined) session.cancel(handle, "the host gave up", now);
        break;
      }
      case "answer": {
        const token = this.#questions.shift();
        if (token !== undefined) session.respond(token, { result: action.result }, now);
        break;
      }
      case "stderr":
        session.stderr(new TextEncoder().encode(`${action.text}\n`), now);
        break;
      case "part":
        session.receive(new TextEncoder().encode(action.text), now);
        break;
      case "end":
        session.end(now);
        break;
      case "exit":
        session.exited(action.code, now);
        break;
      case "close":
        session.close(now);
        break;
    }
    await this.#drained(step);
  }

  #opened(handle: number, what: string): void {
    this.#handles.push(handle);
    this.#unsent.push(handle);
    this.#calls.set(handle, { number: this.#handles.length, what, id: undefined });
  }

  async #startServer(name: string): Promise<void> {
    this.#server?.stop();
    this.#server = new PageServer();
    this.#rest = "";
    this.#happened(await this.#server.give({ start: name }));
  }

  /** Puts what a server did into the queue, its text split into lines. */
  #happened(outputs: readonly ServerOutput[]): void {
    for (const output of outputs) {
      const t = this.#now + LATENCY_MS + output.after;
      if ("stdout" in output) {
        const lines = (this.#rest + output.stdout).split("\n");
        this.#rest = lines.pop() ?? "";
        for (const text of lines) this.#put(t, { verb: "in", text });
      } else if ("stderr" in output) {
        for (const text of output.stderr.split("\n").filter(Boolean)) this.#put(t, { verb: "stderr", text });
      } else {
        if (this.#rest !== "") this.#put(t, { verb: "part", text: this.#rest });
        this.#rest = "";
        this.#put(t, { verb: "exit", code: output.exit });
        this.#put(t, { verb: "end" });
      }
    }
  }

  async #arrived(text: string): Promise<void> {
    const line = this.#note({ verb: "in", text });
    const bytes = new TextEncoder().encode(`${text}\n`);
    const { kind, reason, id } = classifyLine(bytes.subarray(0, bytes.length - 1), { profile: this.#profile });
    if ((kind === "result" || kind === "error") && id !== undefined) this.#pending.delete(JSON.stringify(id));
    this.#session.receive(bytes, this.#now);
    await this.#drained({ kind: "in", text, reading: { kind, reason }, line });
  }

  /** Drains the session; what it did belongs to `cause`, what it sent is a step of its own. */
  async #drained(cause: Pick<Step, "kind" | "text"> & Partial<Step>): Promise<void> {
    const frames: string[] = [];
    const notes: Note[] = [];
    const session = this.#session;
    do {
      while (session.hasWork) session.work(100_000, this.#now);
      for (let frame = session.takeOutput(); frame !== undefined; frame = session.takeOutput()) {
        frames.push(new TextDecoder().decode(frame));
      }
      for (let event = session.pollEvent(); event !== undefined; event = session.pollEvent()) {
        notes.push(...this.#read(event));
      }
    } while (session.hasWork);
    for (const frame of frames) this.#sent(frame);
    this.#forget();
    this.#step({ ...cause, notes });
    for (const frame of frames) {
      this.#step({ kind: "out", text: frame.trimEnd() });
      if (this.#server !== undefined) this.#happened(await this.#server.give({ stdin: frame }));
    }
    if (session.state === "ready") {
      for (const [index, action] of this.#waiting.entries()) this.#put(this.#now + PAUSE_MS * (index + 1), action);
      this.#waiting.length = 0;
    }
  }

  /** Takes out what is waited for no longer: everything when no deadline is left, the probe after its own. */
  #forget(): void {
    if (this.#session.state === "closed" || this.#session.nextDeadline === undefined) this.#pending.clear();
    for (const [key, { method, since }] of this.#pending) {
      if (method === "server/discover" && since + limits.contain.probeTimeoutMs <= this.#now) this.#pending.delete(key);
    }
  }

  #step(step: Pick<Step, "kind" | "text"> & Partial<Step>): void {
    this.steps.push({
      t: this.#now,
      reading: undefined,
      notes: [],
      line: undefined,
      pending: [...this.#pending.values()],
      state: this.#session.state,
      deadline: this.#session.nextDeadline,
      ...step,
    });
  }

  /** Keeps count of open requests by the frames that open and give them up. */
  #sent(frame: string): void {
    const { id, method, params } = JSON.parse(frame) as { id?: unknown; method?: string; params?: { requestId?: unknown } };
    if (method === "notifications/cancelled") this.#pending.delete(JSON.stringify(params?.requestId));
    if (id === undefined || method === undefined) return;
    const key = JSON.stringify(id);
    this.#pending.set(key, { id: key, method, since: this.#now });
    const handle = this.#unsent[0];
    const call = handle === undefined ? undefined : this.#calls.get(handle);
    if (call !== undefined && (method === "tools/call" || method === call.what)) {
      call.id = key;
      this.#unsent.shift();
    }
  }

  #read(event: SessionEvent): Note[] {
    switch (event.type) {
      case "ready":
        return [{ kind: "ready", tone: "valid", text: `${event.protocolVersion}, ${event.era} era` }];
      case "tools": {
        const names = event.tools.map(({ name }) => name).join(", ");
        const notes: Note[] = [{ kind: "catalog", tone: "plain", text: clip(`${event.tools.length} tools: ${names}`) }];
        for (const { index, part, code, skipped } of event.problems) {
          const text = `entry ${index}, ${part}: ${code}${skipped ? ", not listed" : ""}`;
          notes.push({ kind: "tool problem", tone: "unknown", text });
        }
        return notes;
      }
      case "settled":
        return [this.#settled(event)];
      case "progress":
        return [{ kind: "progress", tone: "plain", text: `${event.progress}${event.total === undefined ? "" : ` of ${event.total}`}` }];
      case "notification":
        return [{ kind: "notification", tone: "plain", text: event.method }];
      case "request":
        this.#questions.push(event.token);
        if (this.#answers.length > 0) this.#put(this.#now + PAUSE_MS, this.#answers.shift() as Action);
        return [{ kind: "question", tone: "plain", text: `${event.method}: the host is asked` }];
      case "diagnostic":
        return [{ kind: event.code, tone: "unknown", text: clip(event.detail.reveal()) }];
      case "uncorrelated_error":
        return [{ kind: "error without id", tone: "unknown", text: `code ${event.rpcCode}` }];
      case "respawn":
        if (this.#live !== undefined) this.#put(this.#now + LATENCY_MS, { verb: "connect" });
        return [{ kind: "respawn", tone: "unknown", text: "the server is to be started again" }];
      case "closed":
        return [event.error === undefined
          ? { kind: "closed", tone: "plain", text: "by the host" }
          : { kind: "closed", tone: "invalid", text: failure(event.error) }];
      default:
        return [{ kind: event.type, tone: "plain", text: "" }];
    }
  }

  #settled(event: SessionEvent & { type: "settled" }): Note {
    const call = this.#calls.get(event.handle);
    if (call?.id !== undefined) this.#pending.delete(call.id);
    if (call !== undefined && this.#unsent.includes(event.handle)) {
      this.#unsent.splice(this.#unsent.indexOf(event.handle), 1);
    }
    const who = call === undefined ? "request" : `${call.number === 0 ? "" : `call ${call.number}, `}${call.what}`;
    if (!event.ok) return { kind: "failed", tone: "invalid", text: `${who}: ${failure(event.error)}` };
    const result = event.result as Partial<ToolResult> | undefined;
    if (result?.verdict === undefined) return { kind: "settled", tone: "valid", text: who };
    const verdict = `verdict ${result.verdict}${result.verdictReason === undefined ? "" : ` (${result.verdictReason})`}`;
    const violation = result.violation === undefined ? "" : `, ${result.violation}`;
    const errors = (result.violations ?? []).map(({ instancePath, message }) => `; ${instancePath || "the root"} ${message}`);
    const text = `${who}: ${result.isError ? "the tool says it failed, " : ""}${verdict}${violation}${errors.join("")}`;
    const bad = result.violation !== undefined || result.verdict === "invalid";
    return { kind: "settled", tone: bad ? "invalid" : result.verdict === "unknown" ? "unknown" : "valid", text: clip(text) };
  }
}

/** An error's sentence and its stable names. What the peer wrote is for the person's eyes alone. */
function failure(error: ToolwireError): string {
  const facts = [error.code, error.reason, error.rpcCode === undefined ? undefined : `code ${error.rpcCode}`];
  return clip(`${facts.filter(Boolean).join(", ")}: ${error.message}`);
}

/** Runs a script against a server in the page, or by itself. */
export async function runSession(input: SessionInput, signal: AbortSignal): Promise<SessionOutput> {
  const started = performance.now();
  const { lines, faults } = readScript(input.script);
  const run = new Run(input, lines);
  const whole = await run.run(signal);
  return {
    steps: run.steps,
    transcript: run.transcript,
    faults,
    truncated: !whole,
    ms: performance.now() - started,
  };
}
