/**
 * Owns `OperationRegistry`: the core holds the specifications and lets calls in; here are the
 * handlers, and the texts from which the core's half is made anew after a trap. Invariant: what the
 * core knows and what is kept here change together, or not at all.
 */

import { identityText } from "./access.js";
import { numberOf, refused, signalOf } from "./arguments.js";
import { CallError, mapError } from "./call-error.js";
import { disposable, guard, mainInstance, own } from "./core.js";
import { openDoor } from "./doors.js";
import { handlerContext } from "./env.js";
import { mcpEnvelope, runPipeline } from "./envelope.js";
import { randomId } from "./ids.js";
import { importClient } from "./import-client.js";
import { deepFreeze, parseJson } from "./json.js";
import { Lifetime } from "./lifetime.js";
import { pick } from "./options.js";
import { compileSchema } from "./schema.js";
import { errorFor, freedError } from "./sentences.js";
import { copyJson } from "./snapshot.js";
import { fitsType, specText } from "./spec.js";

/** Copies of input for judging: as large and deep as the host's own values may be. */
const INPUT = { budget: 134_217_728, maxDepth: 65_536, omitUndefined: true, bigintDigits: true };

const CONTEXT = ["requestId", "parentRequestId", "identity", "metadata", "deadline", "env"];

class OperationRegistry {
  /** By id, in order: `{ text, owner, id, kind, readsInput, spec, handler, output }`. */
  #records = new Map();
  #core;
  #listeners = new Set();
  #imports = new Set();
  #discovery = new Set();
  #isFreed = false;
  #now;
  #newId;
  #pipeline;

  constructor(options) {
    const { now = Date.now, newId = randomId, ...pipeline } = pick(options, [
      "now",
      "newId",
      "normalize",
      "wrapAlways",
    ]);
    for (const [option, value] of Object.entries({ now, newId })) {
      if (typeof value !== "function") {
        throw refused(option);
      }
    }
    this.#now = now;
    this.#newId = newId;
    this.#pipeline = pipeline;
    openDoor(this, {
      executeOutside: (id, input, context) =>
        this.#execute(id, input, () => this.#readAs(context, { outside: true })),
      executeInside: (id, input, context, identity) =>
        this.#execute(id, input, () => this.#readAs(context, { outside: false, identity })),
      visible: (identity) => this.#visible(identity),
      specFor: (id, identity) => this.#specFor(id, identity),
      search: (identity, text, limits) => this.#search(identity, text, limits),
      discovery: this.#discovery,
      newId,
      now,
      warn: (event) => this.#warn(event),
      add: (entries, settings) => this.#add(entries, settings),
      remove: (ids) => this.#remove(ids),
      owns: (owner, id) => this.#records.get(id)?.owner === owner,
      imports: this.#imports,
    });
  }

  register(spec, handler, options) {
    this.#add([entryOf(spec, handler)], { replace: replaces(options) });
  }

  registerAll(list, options) {
    if (!Array.isArray(list)) {
      throw refused("list");
    }
    this.#add(
      list.map((spec) => entryOf(spec)),
      { replace: replaces(options) },
    );
  }

  registerSpec(spec, options) {
    this.#add([{ spec, handler: undefined }], { replace: replaces(options) });
  }

  registerHandler(id, handler, options) {
    const record = this.#find(id);
    if (record === undefined) {
      const operation = typeof id === "string" ? id : undefined;
      throw errorFor({ code: "invalid_arguments", reason: "operation_unknown", operation });
    }
    checkHandler(record.kind, handler, record.id);
    if (record.handler !== undefined && !replaces(options)) {
      const { id: operation } = record;
      throw errorFor({ code: "invalid_arguments", reason: "operation_bound", operation });
    }
    record.handler = handler;
  }

  unregister(id) {
    const record = this.#find(id);
    if (record === undefined) {
      return false;
    }
    this.#remove([record.id]);
    return true;
  }

  get(id) {
    const record = this.#find(id);
    return record === undefined ? undefined : { ...record.spec, handler: record.handler };
  }

  getByName(namespace, name) {
    const found = this.get(`${namespace}.${name}`);
    return found?.namespace === namespace ? found : undefined;
  }

  getSpec(id) {
    return this.#find(id)?.spec;
  }

  getHandler(id) {
    return this.#find(id)?.handler;
  }

  list(options) {
    // A caller that is named but unknown is nobody, not the host.
    if (has(options, "identity")) {
      return this.#visible(options.identity);
    }
    this.#live();
    return [...this.#records.values()].map(({ spec }) => spec);
  }

  execute(id, input, context) {
    return this.#execute(id, input, () => this.#read(context));
  }

  subscribe(id, input, context) {
    return this.#subscribe(id, input, () => this.#read(context));
  }

  importClient(client, options) {
    return importClient(this, client, options);
  }

  onWarning(listener) {
    if (typeof listener !== "function") {
      throw refused("listener");
    }
    const entry = (event) => listener(event);
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  free() {
    this.#isFreed = true;
    this.#core?.release();
    this.#core = undefined;
    for (const { output } of this.#records.values()) {
      output?.free();
    }
    for (const imported of this.#imports) {
      imported.stop();
    }
    this.#imports.clear();
    this.#records.clear();
    this.#listeners.clear();
  }

  /** Adds entries `{ spec, handler }`, whole or not at all; gives their ids. Imports own theirs. */
  #add(entries, { replace, owner }) {
    const isImported = owner !== undefined;
    const read = entries.map(({ spec, handler }, index) => {
      const { id, type, ...rest } = specText(spec, index, isImported);
      if (handler !== undefined) {
        checkHandler(type, handler, id, index);
      }
      return rest;
    });
    const list = `[${read.map(({ text }) => text).join(",")}]`;
    const { instance, operations } = this.#live();
    const registered = guard(instance, () =>
      operations.register(list, isImported, replace),
    );
    const records = registered.map(({ id, kind, readsInput }, index) => {
      const { text, output: schema } = read[index];
      // What a session gives was judged there.
      const output = schema === undefined || isImported ? undefined : compileSchema(schema);
      const spec = deepFreeze(JSON.parse(text));
      const { handler } = entries[index];
      return { text, owner, id, kind, readsInput, spec, handler, output };
    });
    for (const record of records) {
      this.#records.set(record.id, record);
      this.#discovery.delete(record.id);
    }
    return registered.map(({ id }) => id);
  }

  #remove(ids) {
    const { instance, operations } = this.#live();
    guard(instance, () => operations.remove(ids));
    for (const id of ids) {
      this.#records.delete(id);
      this.#discovery.delete(id);
    }
  }

  /** The core's half, made anew if its instance trapped. */
  #live() {
    if (this.#isFreed) {
      throw freedError();
    }
    if (this.#core === undefined || this.#core.instance.failure !== undefined) {
      this.#core?.release();
      this.#core = undefined;
      const instance = mainInstance();
      const operations = guard(instance, ({ Operations }) => new Operations());
      const release = own(this, instance, operations);
      for (const { text, owner } of this.#records.values()) {
        guard(instance, () => operations.register(`[${text}]`, owner !== undefined, false));
      }
      this.#core = { instance, operations, release };
    }
    return this.#core;
  }

  #find(id) {
    if (this.#isFreed) {
      throw freedError();
    }
    if (typeof id !== "string") {
      return undefined;
    }
    const record = this.#records.get(id);
    if (record !== undefined) {
      return record;
    }
    return this.#records.get(guard(mainInstance(), (glue) => glue.canonicalId(id)));
  }

  #visible(identity) {
    const caller = identityText(identity);
    const { instance, operations } = this.#live();
    const ids = guard(instance, () => operations.visible(caller));
    return ids.map((id) => this.#records.get(id).spec);
  }

  #search(identity, text, limits) {
    const caller = identityText(identity);
    const but = [...this.#discovery];
    const { instance, operations } = this.#live();
    return guard(instance, () => operations.search(caller, but, text, limits));
  }

  #specFor(id, identity) {
    const asked = String(id);
    const caller = identityText(identity);
    const { instance, operations } = this.#live();
    refuse(guard(instance, () => operations.show(asked, caller)));
    return this.#find(asked).spec;
  }

  /** A call as its context says, every member read once. */
  #read(context) {
    const call = pick(context, CONTEXT);
    for (const name of CONTEXT) {
      call[name] ??= undefined;
    }
    // A caller that is named but unknown is nobody, not the host.
    call.isNamed = has(context, "identity");
    call.outside = call.isNamed;
    call.requestId ??= this.#newId();
    call.signal = signalOf(context);
    if (call.deadline !== undefined && Number.isNaN(numberOf(call.deadline, "deadline"))) {
      throw refused("deadline");
    }
    return call;
  }

  /** A call of this package's own: what it says holds, whatever the context names. */
  #readAs(context, known) {
    return { ...this.#read(context), isNamed: true, ...known };
  }

  /** Lets a call in; gives the operation and its input as it was judged. */
  #admit(id, input, call, subscribe) {
    const asked = String(id);
    const record = this.#find(asked);
    const given = record?.owner !== undefined && input === undefined ? {} : input;
    const { text, bigints } = record?.readsInput ? copyJson(given, INPUT) : {};
    const caller = identityText(call.identity);
    // Reading the input runs what a proxy wants: another operation may stand here by now.
    const isBound = record?.handler !== undefined && this.#find(asked) === record;
    const request = { subscribe, outside: call.outside, bound: isBound };
    const { instance, operations } = this.#live();
    refuse(guard(instance, () => operations.admit(asked, request, caller, text)));
    // What was judged is what is delivered.
    const isCopied = text !== undefined && typeof given === "object" && given !== null;
    return {
      record,
      input: isCopied ? parseJson(text, bigints ? "bigint" : "number") : given,
    };
  }

  async #execute(id, input, read) {
    try {
      const call = read();
      const { record, input: admitted } = this.#admit(id, input, call, false);
      const life = new Lifetime(call.signal, call.deadline, this.#now);
      try {
        const returned = await life.race(async () =>
          record.handler(admitted, handlerContext(this, record.spec, call, life.signal)),
        );
        return this.#conclude(record, returned, call);
      } catch (error) {
        throw life.stopped ?? this.#failed(record, error, call);
      } finally {
        life.over();
      }
    } catch (error) {
      throw mapError(error);
    }
  }

  /** Items one by one; whoever stops iterating stops the handler, also while it is waited for. */
  #subscribe(id, input, read) {
    const leaving = new AbortController();
    const items = this.#items(id, input, read, leaving.signal);
    const leave = (settle) => {
      leaving.abort();
      return settle();
    };
    const iterator = {
      next: () => items.next(),
      return: (value) => leave(() => items.return(value)),
      throw: (error) =>
        leave(async () => {
          await items.return();
          throw error;
        }),
      [Symbol.asyncIterator]: () => iterator,
    };
    if (typeof Symbol.asyncDispose === "symbol") {
      iterator[Symbol.asyncDispose] = async () => {
        await iterator.return();
      };
    }
    return iterator;
  }

  async *#items(id, input, read, leaving) {
    try {
      const call = read();
      const { record, input: admitted } = this.#admit(id, input, call, true);
      const life = new Lifetime(call.signal, call.deadline, this.#now);
      const onLeave = () => life.stop(LEFT);
      leaving.addEventListener("abort", onLeave, { once: true });
      let source;
      let isPending = true;
      try {
        const produced = await life.race(async () =>
          record.handler(admitted, handlerContext(this, record.spec, call, life.signal)),
        );
        source = iteratorOf(produced, record.id);
        for (;;) {
          isPending = true;
          const step = await life.race(async () => source.next());
          isPending = false;
          if (typeof step !== "object" || step === null) {
            throw new TypeError("an iterator must give objects");
          }
          const { done, value } = step;
          if (done) {
            source = undefined;
            return;
          }
          yield this.#conclude(record, value, call);
        }
      } catch (error) {
        if (life.stopped === LEFT) {
          return;
        }
        throw life.stopped ?? this.#failed(record, error, call);
      } finally {
        life.over();
        leaving.removeEventListener("abort", onLeave);
        await close(source, isPending);
      }
    } catch (error) {
      throw mapError(error);
    }
  }

  /** What a handler returned, as an envelope. */
  #conclude(record, returned, call) {
    const { id, output: outputSchema } = record;
    if (record.owner !== undefined) {
      return this.#concludeTool(id, returned, call);
    }
    const operation = outputSchema === undefined ? { id } : { id, outputSchema };
    const { envelope, verdict, changes } = runPipeline(returned, operation, {
      now: this.#now(),
      ...this.#pipeline,
    });
    if (verdict.verdict === "invalid" || verdict.verdict === "unknown" || changes.length > 0) {
      this.#warn({
        type: "output",
        operationId: id,
        requestId: call.requestId,
        verdict: verdict.verdict,
        errors: verdict.errors,
        truncated: verdict.truncated,
        changes,
      });
    }
    return envelope;
  }

  /** The session judged the result by the tool's own schema already, on the bytes that arrived. */
  #concludeTool(id, result, call) {
    const { structuredContent, _meta, verdict, violations = [] } = result;
    const isError = result.isError === true;
    const content = Array.isArray(result.content) ? result.content : [];
    if (verdict === "invalid" || verdict === "unknown") {
      this.#warn({
        type: "output",
        operationId: id,
        requestId: call.requestId,
        verdict,
        errors: violations,
        truncated: result.truncated === true,
        changes: [],
      });
    }
    const data = structuredContent === undefined ? content : structuredContent;
    return mcpEnvelope(data, { isError, content, structuredContent, _meta });
  }

  /** What a handler threw, as a call error; its details are judged if it is a declared one. */
  #failed(record, thrown, call) {
    const { id, spec } = record;
    const error = mapError(thrown, spec.errorSchemas);
    const isDeclared = spec.errorSchemas?.some(({ code }) => code === error.code);
    if (isDeclared && record.owner === undefined) {
      const details = error.details === undefined ? undefined : JSON.stringify(error.details);
      const { instance, operations } = this.#live();
      const found = guard(instance, () => operations.judgeDetails(id, error.code, details));
      if (found !== undefined) {
        this.#warn({
          type: "error_details",
          operationId: id,
          requestId: call.requestId,
          code: error.code,
          verdict: found.verdict,
          errors: found.errors.map((violation) => ({
            ...violation,
            params: JSON.parse(violation.params),
          })),
          truncated: found.truncated,
        });
      }
    }
    return error;
  }

  #warn(event) {
    for (const listener of [...this.#listeners]) {
      try {
        listener(event);
      } catch {
        // A listener's failure is its own affair.
      }
    }
  }
}

disposable(OperationRegistry);

/** What ends a subscription whose consumer is gone. */
const LEFT = new Error("the consumer left");

function replaces(options) {
  return pick(options, ["replace"]).replace === true;
}

/** A specification that may bring its handler along. */
function entryOf(spec, handler) {
  return { spec, handler: handler ?? pick(spec, ["handler"]).handler };
}

function checkHandler(type, handler, operation, index) {
  if (typeof handler !== "function" || !fitsType(type, handler)) {
    const option = "handler";
    const reason = "operation_handler";
    throw errorFor({ code: "invalid_arguments", reason, option, operation, index });
  }
}

/** Throws what the core refuses a call with. */
function refuse(refusal) {
  if (refusal !== undefined) {
    const { code, message, details } = refusal;
    throw new CallError({ code, message, details: JSON.parse(details) });
  }
}

function iteratorOf(produced, operationId) {
  const start = produced?.[Symbol.asyncIterator];
  if (typeof start !== "function") {
    throw new CallError({
      code: "EXECUTION_ERROR",
      message: "the handler of a subscription must return an async iterable",
      details: { operationId },
    });
  }
  return start.call(produced);
}

/** Ends what the handler made. While it owes an item it may never answer: nobody waits then. */
async function close(source, isPending) {
  try {
    const closing = Promise.resolve(source?.return?.());
    if (isPending) {
      closing.catch(() => {});
    } else {
      await closing;
    }
  } catch {
    // The subscription is over either way.
  }
}

/** True if the object says something of this name, be it undefined. */
function has(object, name) {
  if (object === undefined || object === null) {
    return false;
  }
  try {
    return name in object;
  } catch {
    throw refused(name);
  }
}

export { OperationRegistry };
