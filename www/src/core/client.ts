/**
 * The page's side of the core's worker. Invariant: each promise settles; a question that is given up
 * and not let go within `PATIENCE_MS` costs the worker its life, and the next one gets a new worker.
 */

import type { FromWorker, Info, Question, Questions } from "./protocol.js";

/** Milliseconds a worker has to let go of a question that was given up. */
const PATIENCE_MS = 250;

interface Open {
  resolve(answer: unknown): void;
  reject(error: Error): void;
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
    const worker = (this.#worker ??= this.#start());
    const id = (this.#next += 1);
    const { promise, resolve, reject } = withResolvers();
    this.#open.set(id, { resolve, reject });
    if (signal?.aborted) this.#giveUp(id);
    else {
      worker.postMessage({ id, question, input }, handedOver(input));
      signal?.addEventListener("abort", () => this.#giveUp(id), { once: true });
    }
    return promise as Promise<Questions[Name][1]>;
  }

  #giveUp(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.reject(new Cancelled("cancelled"));
    const worker = this.#worker;
    worker?.postMessage({ cancel: id });
    setTimeout(() => {
      if (this.#open.has(id) && this.#worker === worker) this.#end("the core was started anew");
    }, PATIENCE_MS);
  }

  /** Ends the worker; what is open is rejected. */
  #end(why: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { reject } of open) reject(new Cancelled(why));
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

function withResolvers(): { promise: Promise<unknown> } & Open {
  let resolve!: Open["resolve"];
  let reject!: Open["reject"];
  const promise = new Promise<unknown>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
