/**
 * The page's side of the core's worker. Invariant: each promise settles; a question that is given up
 * and not let go within `PATIENCE_MS` costs the worker its life, and the next one gets a new worker.
 */

import type { FromWorker, Info, Question, Questions } from "./protocol.js";

/** Milliseconds a worker has to let go of a question that was given up. */
const PATIENCE_MS = 250;

interface Open {
  question: { id: number; question: Question; input: unknown };
  resolve(answer: unknown): void;
  reject(error: Error): void;
  sent: boolean;
  givenUp: boolean;
}

export class Cancelled extends Error {}

/** Who wants to know what the core says of itself, or why it could not be loaded. */
let listener: ((info: Info | string) => void) | undefined;

/** Calls back each time a worker has loaded the core, or could not. */
export function onCore(told: (info: Info | string) => void): void {
  listener = told;
}

/** A worker with the core in it. Each panel has its own, so that none waits for another. */
export class Core {
  #worker: Worker | undefined;
  #next = 0;
  readonly #open = new Map<number, Open>();

  /** Asks; rejects with `Cancelled` when the signal fires. */
  ask<Name extends Question>(
    question: Name,
    input: Questions[Name][0],
    signal?: AbortSignal,
  ): Promise<Questions[Name][1]> {
    if (signal?.aborted) return Promise.reject(new Cancelled("cancelled"));
    const id = (this.#next += 1);
    const promise = new Promise<unknown>((resolve, reject) => {
      const asked = { id, question, input };
      this.#open.set(id, { question: asked, resolve, reject, sent: false, givenUp: false });
    });
    signal?.addEventListener("abort", () => this.#giveUp(id), { once: true });
    this.#send();
    return promise as Promise<Questions[Name][1]>;
  }

  /** Sends what waits, unless a question that was given up still has the worker. */
  #send(): void {
    const open = [...this.#open.values()];
    if (open.some(({ givenUp }) => givenUp)) return;
    for (const entry of open) {
      if (entry.sent) continue;
      const worker = (this.#worker ??= this.#start());
      entry.sent = true;
      worker.postMessage(entry.question, handedOver(entry.question.input));
    }
  }

  #giveUp(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.reject(new Cancelled("cancelled"));
    if (!open.sent) {
      this.#open.delete(id);
      return;
    }
    open.givenUp = true;
    this.#worker?.postMessage({ cancel: id });
    setTimeout(() => {
      if (this.#open.get(id) === open) this.#restart();
    }, PATIENCE_MS);
  }

  /** Ends the worker. What it was asked is asked anew, but for what was given up or handed over. */
  #restart(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const [id, open] of this.#open) {
      if (open.givenUp || (open.sent && handedOver(open.question.input).length > 0)) {
        this.#open.delete(id);
        open.reject(new Cancelled("the core was started anew"));
      }
      open.sent = false;
    }
    this.#send();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      if ("info" in data || "down" in data) {
        listener?.("info" in data ? data.info : data.down);
        return;
      }
      const open = this.#open.get(data.id);
      this.#open.delete(data.id);
      if ("answer" in data) open?.resolve(data.answer);
      else if ("fault" in data) open?.reject(new Error(data.fault));
      else open?.reject(new Cancelled("cancelled"));
      this.#send();
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      const open = [...this.#open.values()];
      this.#open.clear();
      this.#worker = undefined;
      for (const { reject } of open) reject(new Error("the core's worker could not be started"));
    });
    return worker;
  }
}

/** The memory of byte members: it moves to the worker. */
function handedOver(input: unknown): Transferable[] {
  const members = Object.values((input ?? {}) as Record<string, unknown>);
  return members.filter((member) => member instanceof Uint8Array).map(({ buffer }) => buffer as ArrayBuffer);
}
