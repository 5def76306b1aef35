/// <reference lib="esnext.disposable" />

import type { ResponseEnvelope } from "./envelope.js";
import type { Identity, OperationRegistry } from "./operations.js";

/** An operation is to be called. */
export interface CallRequestedEvent {
  /** At most 1,024 bytes, as every id. Events of this request carry it. */
  requestId: string;
  operationId: string;
  /** The operation's own; JSON where the event crosses a wire. */
  input?: unknown;
  /** The request in whose service this one is made: given up with it, no later than it. */
  parentRequestId?: string;
  /** Epoch milliseconds. One that has passed already, 0 for example, fails with `TIMEOUT`. */
  deadline?: number;
  /** Milliseconds of silence that end a subscription. */
  idleTimeout?: number;
  identity?: Identity;
  metadata?: { readonly [name: string]: unknown };
}

/** An answer, or one item of a subscription. */
export interface CallRespondedEvent {
  requestId: string;
  /** Data that is `undefined` is sent as null: events are JSON. */
  output: ResponseEnvelope;
}

/** A subscription has ended. */
export interface CallCompletedEvent {
  requestId: string;
}

/** Either side gave the request up. */
export interface CallAbortedEvent {
  requestId: string;
}

/** The request failed. */
export interface CallErrorEvent {
  requestId: string;
  code: string;
  message: string;
  details?: unknown;
  /** By default what the code says: `TIMEOUT` is. */
  retryable?: boolean;
}

/** The five events of the call protocol, by name. Unknown members of an event are ignored. */
export interface CallEvents {
  "call.requested": CallRequestedEvent;
  "call.responded": CallRespondedEvent;
  "call.completed": CallCompletedEvent;
  "call.aborted": CallAbortedEvent;
  "call.error": CallErrorEvent;
}

/** Options of `PendingRequestMap`. */
export interface PendingRequestMapOptions {
  /**
   * Sends an event to the other side. What it throws, or rejects with, fails the call whose
   * `call.requested` it is; is thrown by `respond`, `emitError` and `complete` if thrown; and is
   * ignored for `call.aborted`. A promise it returns for an item of a subscription is waited for
   * before the handler takes the next one. It may use the map.
   */
  onEvent?: (type: string, event: any) => unknown;
  /** Epoch milliseconds; default `Date.now`. A smaller value counts as the last one. */
  now?: () => number;
  /** Makes the ids of requests; default 128 random bits as 32 hexadecimal digits. */
  newId?: () => string;
  /**
   * Requests open at once, sent and served each: default 65,536. One more fails with `LIMIT`,
   * retryable. `Infinity` is 4,294,967,295.
   */
  maxPending?: number;
}

/** Options of a request that this side makes. */
export interface CallRequestOptions {
  /**
   * The request that this one is made for. If that one, as far as it is open in this map, has an
   * earlier deadline, it holds here too; when it is given up, so is this one.
   */
  parentRequestId?: string | null;
  /**
   * Epoch milliseconds; none, null and Infinity are no deadline. When it has passed, at once if it
   * has already (0 for example, and then nothing is sent), the request fails with `TIMEOUT` and the
   * other side is sent `call.aborted`.
   */
  deadline?: number | null;
  identity?: Identity | null;
  /** Handed to the operation's handler in its context. */
  metadata?: { readonly [name: string]: unknown } | null;
  /** Gives the request up: it fails with `ABORTED`, the signal's reason as `cause`. */
  signal?: AbortSignal | null;
}

/** Options of one subscription through a `PendingRequestMap`. */
export interface SubscribeRequestOptions extends CallRequestOptions {
  /** Milliseconds of silence, anew after each item, that end it with `TIMEOUT`; none by default. */
  idleTimeout?: number | null;
  /**
   * Items that may wait to be taken: default 1,024. One more ends the subscription: those that wait
   * come, then `LIMIT` is thrown, and the other side is sent `call.aborted`.
   */
  highWaterMark?: number | null;
}

/**
 * The requests that are open between this side and another: what is called is sent as an event by
 * `onEvent`; events that arrive are given to `dispatch`. Both ends have one, or both are the same.
 *
 * A request settles exactly once. Calls reject with `CallError`, or with a `ToolwireError`:
 * `invalid_arguments` for options that cannot be used, `freed`, and `core_trapped` if the
 * WebAssembly instance failed.
 *
 * An open request with a deadline keeps a Node.js process alive until it settles; serving does not.
 */
export class PendingRequestMap {
  constructor(options?: PendingRequestMapOptions);

  /**
   * Sends `call.requested` before it returns. Resolves with the envelope of the first
   * `call.responded`; rejects with the code of `call.error`, with `ABORTED` on `call.aborted` and
   * on `call.completed` without a response, with `TIMEOUT` at its deadline, with
   * `EXECUTION_ERROR` if the answer is malformed.
   */
  call(
    operationId: string,
    input?: unknown,
    options?: CallRequestOptions,
  ): Promise<ResponseEnvelope>;

  /**
   * Items in order. Nothing is sent before the first pull, and it can be iterated once. Ends on
   * `call.completed`, on `call.aborted` and on `abort`; throws on everything a call rejects with.
   * A consumer that stops early sends `call.aborted`.
   */
  subscribe(
    operationId: string,
    input?: unknown,
    options?: SubscribeRequestOptions,
  ): AsyncIterableIterator<ResponseEnvelope>;

  /**
   * Sends `call.responded`, and settles the request if it waits in this map. Throws
   * `invalid_arguments`, reason "not_an_envelope", on anything else than an envelope; then nothing
   * is sent and nothing settles.
   */
  respond(requestId: string, output: ResponseEnvelope): void;

  /** Sends `call.error`, and fails the request if it waits in this map. */
  emitError(
    requestId: string,
    code: string,
    message: string,
    details?: unknown,
    retryable?: boolean,
  ): void;

  /** Sends `call.completed`, and ends the request if it waits in this map. */
  complete(requestId: string): void;

  /**
   * Gives up a request that waits or is served in this map, and everything made for it: calls reject
   * with `ABORTED`, subscriptions end without an error, signals of handlers fire, and for each
   * request `call.aborted` is sent. Nothing happens for an unknown id.
   */
  abort(requestId: string): void;

  /**
   * An event that arrived from the other side. Never throws. Events of requests that are not open
   * (late, repeated, unknown) are ignored, and so is `call.requested`, which is for a call handler;
   * `ignored` counts them. A malformed event fails the request it names with `EXECUTION_ERROR`,
   * `details.at` a JSON Pointer into the event, and sends `call.aborted`; without a usable id it is
   * ignored and counted. No accessor of the event is run.
   */
  dispatch(type: string, event: unknown): void;

  /**
   * The other side is gone: every request that waits here fails with this error (as `mapError` reads
   * it), what is served here is given up, and nothing is sent. The map can be used on.
   */
  failAll(error: unknown): void;

  /** Calls and subscriptions that are open. */
  getPendingCount(): number;

  /** How many events meant nothing so far. */
  readonly ignored: { unknown: number; malformed: number };

  /** What is open fails with `freed`. */
  free(): void;
  [Symbol.dispose](): void;
}

/** What `buildCallHandler` is given. */
export interface CallHandlerConfig {
  registry: OperationRegistry;
  /** Where answers go. */
  callMap?: PendingRequestMap;
}

/** Serves one `call.requested`. */
export type CallHandler = (event: CallRequestedEvent) => Promise<ResponseEnvelope | void>;

/**
 * Makes the serving side of the call protocol. The operation gets a context with the event's
 * `requestId`, `parentRequestId`, `identity`, `metadata` and `deadline`, as far as they are there,
 * and a `signal` that fires when the request is given up: by `call.aborted` (given to
 * `callMap.dispatch`), by its deadline or idle timeout, or because a request it was made for is.
 * Callers are from outside: nothing in an event makes it trusted, and hidden operations are unknown.
 *
 * With a `callMap` it publishes and never rejects: `call.responded` for a query or mutation;
 * `call.responded` for each item of a subscription, then `call.completed`; `call.error` for
 * whatever is thrown, for results that are not JSON, and `TIMEOUT` when the deadline has passed.
 * A request that was aborted is not answered, one whose id is being served is ignored.
 *
 * Without one it returns the envelope and throws a `CallError`; subscriptions need a map.
 */
export function buildCallHandler(config: CallHandlerConfig): CallHandler;
