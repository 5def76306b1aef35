/**
 * The worker that holds the core. Invariant: each question is answered once; one that was given up
 * is answered by "cancelled".
 */

import { coreInfo, init } from "toolwire/slim";
import wasm from "toolwire/toolwire.wasm?url";
import type { FromWorker, Question, Questions, ToWorker } from "./protocol.js";
import { fit, validate } from "./validate.js";

type Answering = {
  [Name in Question]: (input: Questions[Name][0], signal: AbortSignal) => Promise<Questions[Name][1]>;
};

/** What another panel than the first asks is loaded when it asks. */
const answering: Answering = {
  validate,
  fit,
  session: async (input, signal) => (await import("./session.js")).runSession(input, signal),
  pipeline: async (input) => (await import("./pipeline.js")).runThroughPipeline(input),
  overview: async () => (await import("./gateway.js")).overview(),
  gateway: async (input, signal) => (await import("./gateway.js")).answerGateway(input, signal),
};

const open = new Map<number, AbortController>();
const post = (message: FromWorker): void => self.postMessage(message);
const ready = init(new URL(wasm, import.meta.url));
ready.then(
  () => {
    const { version, dialects, revisions, unicode } = coreInfo();
    post({ info: { version, dialects, revisions, unicode } });
  },
  (error: unknown) => post({ down: error instanceof Error ? error.message : String(error) }),
);

async function answer(id: number, question: Question, input: unknown): Promise<void> {
  const controller = new AbortController();
  open.set(id, controller);
  try {
    await ready;
    const run = answering[question] as (input: unknown, signal: AbortSignal) => Promise<unknown>;
    post({ id, answer: await run(input, controller.signal) });
  } catch (thrown) {
    if (controller.signal.aborted) post({ id, cancelled: true });
    else post({ id, fault: thrown instanceof Error ? thrown.message : String(thrown) });
  } finally {
    open.delete(id);
  }
}

self.addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  if ("cancel" in data) open.get(data.cancel)?.abort();
  else void answer(data.id, data.question, data.input);
});
