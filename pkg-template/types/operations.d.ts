/// <reference lib="esnext.disposable" />

import type { Client } from "./client.js";
import type { PipelineOptions, ResponseEnvelope } from "./envelope.js";
import type { Change, JsonSchema, ValidationError } from "./schema.js";

/** An error that an operation declares. */
export interface ErrorDefinition {
  code: string;
  description: string;
  /** Judges the `details` of an error with this code. */
  schema: JsonSchema;
  /** For hosts that serve operations over HTTP; not used here. */
  httpStatus?: number;
}

/** What any call may end with; every other code is an operation's own. */
export type CallErrorCode =
  /** There is no such operation, it has no handler, or this caller may not know of it. */
  | "OPERATION_NOT_FOUND"
  /** The caller may not use the operation. */
  | "ACCESS_DENIED"
  /** The input does not satisfy the operation's schema; `details.errors` says where. */
  | "VALIDATION_ERROR"
  /** A deadline passed. The one code that is retryable when nothing else is said. */
  | "TIMEOUT"
  /** The call was given up. */
  | "ABORTED"
  /** The handler failed, or the MCP server behind it. */
  | "EXECUTION_ERROR"
  /** Something that is no error was thrown. */
  | "UNKNOWN_ERROR"
  /** `execute` of a subscription, or `subscribe` of anything else. */
  | "INVALID_OPERATION_TYPE"
  /** A bound was met: a consumer that is too slow, too many open requests. */
  | "LIMIT";

/** What `new CallError` takes. */
export interface CallErrorInit {
  code: CallErrorCode | (string & {});
  message?: string | undefined;
  /** Copied as JSON: what JSON cannot say becomes what `JSON.stringify` makes of it, or text. */
  details?: unknown;
  /** Whether trying again can help; by default only for `TIMEOUT`. */
  retryable?: boolean | undefined;
  /** What was thrown. Not enumerable; crosses no wire. */
  cause?: unknown;
}

/** A `CallError` as a plain object. */
export interface CallErrorJson {
  code: string;
  message: string;
  retryable: boolean;
  details?: unknown;
}

/**
 * What a call of an operation fails with. `instanceof` knows errors of other copies, versions and
 * realms of this package.
 */
export class CallError extends Error {
  constructor(init: CallErrorInit);
  constructor(code: string, message?: string, details?: unknown, retryable?: boolean);
  readonly code: string;
  readonly retryable: boolean;
  /** JSON, always: a copy of what was given. Absent when there is none. */
  readonly details?: any;
  toJSON(): CallErrorJson;
  /** The error that `toJSON` wrote: for crossing threads, where `structuredClone` drops members. */
  static fromJSON(json: CallErrorJson): CallError;
  /** The seven codes that any call may end with. */
  static readonly codes: string[];
}

/**
 * Anything thrown as a call error. A call error stays itself. An exception whose message is a
 * declared code, or begins with one before a colon, has that code (the first declared wins), else
 * `EXECUTION_ERROR`; its own `details` are kept, otherwise they name the kind of exception. What is
 * no error is `UNKNOWN_ERROR`. Of a `ToolwireError`, `timeout` becomes `TIMEOUT`, `aborted`
 * `ABORTED`, refused arguments `VALIDATION_ERROR`, all else `EXECUTION_ERROR`, retryable only if the
 * request provably never left; its facts are the details.
 */
export function mapError(error: unknown, errorSchemas?: readonly ErrorDefinition[]): CallError;

/** Who calls. Established by the host; nothing here authenticates. */
export interface Identity {
  id: string;
  scopes: readonly string[];
  /** Granted actions by resource, `type:id`. */
  resources?: { readonly [resource: string]: readonly string[] } | undefined;
}

/** What an operation demands of its callers. Without a demand everyone may call, named or not. */
export interface AccessControl {
  /** All must be held. */
  requiredScopes: readonly string[];
  /** One must be held. An empty list adds no demand. */
  requiredScopesAny?: readonly string[] | null;
  /**
   * A resource of this type must be granted: the one whose id stands at `resourceIdPath` of the
   * input, or any if the operation declares no such path.
   */
  resourceType?: string | null;
  /** The action that must be granted; without it any will do. Without a type, on any resource. */
  resourceAction?: string | null;
}

/**
 * Decides whether an identity meets an access control. `resourceId` is compared with the ids of
 * grants; without it a grant on any resource of the type suffices. What is no identity is denied
 * everything. Throws `invalid_arguments` if the access control is none; a member it does not know
 * makes it none.
 */
export function checkAccess(
  accessControl: Partial<AccessControl>,
  identity: Identity | null | undefined,
  options?: { resourceId?: string },
): boolean;

/** How an operation is called: `execute` for the first two, `subscribe` for the third. */
export type OperationType =
  | "query"
  | "mutation"
  | "subscription"
  /** Takes many inputs. Registered as a specification only: nothing here runs it. */
  | "publish";

/** What an operation is. Its id is `namespace.name`. */
export interface OperationSpec {
  /** Neither empty nor with a dot or slash. */
  namespace: string;
  /** Not empty; may have dots. */
  name: string;
  version: string;
  type: OperationType;
  title?: string;
  description: string;
  tags?: readonly string[];
  /** Judges the input before the handler sees it. `true` and `{}` judge nothing. */
  inputSchema: JsonSchema;
  /** Output is made to fit it and judged by it. Absent, `true` and `{}` are unknown. */
  outputSchema?: JsonSchema;
  errorSchemas?: readonly ErrorDefinition[];
  accessControl: AccessControl;
  /** "internal": unknown to callers from outside, there for nested calls. Default "external". */
  visibility?: "external" | "internal";
  /**
   * JSON Pointer to the id of the resource in the input. An input without it, or with one that is
   * no string, is denied. Needs `resourceType` or `resourceAction`.
   */
  resourceIdPath?: string;
  /** As whom nested calls of this operation run. Without it they run as nobody. */
  authority?: {
    label: string;
    scopes: readonly string[];
    resources?: { readonly [resource: string]: readonly string[] };
  };
  /** Hints about behaviour, as MCP tools have them. */
  annotations?: object;
  _meta?: { readonly [name: string]: unknown };
}

/** What a call carries beside its input. Nothing in it grants anything but `identity`. */
export interface OperationContext {
  /** Default: a new id. */
  requestId?: string | undefined;
  parentRequestId?: string | undefined;
  /**
   * Who calls. A context that has this member, be it undefined, is that of a caller from outside,
   * to whom internal operations are unknown; undefined is nobody. Without the member the host calls
   * for itself: internal operations are known, and it holds no scope.
   */
  identity?: Identity | null | undefined;
  metadata?: { readonly [name: string]: unknown } | undefined;
  /** Gives the call up: `ABORTED` at once, or the signal's reason if that is a `CallError`. */
  signal?: AbortSignal | undefined;
  /** A time of the registry's clock, epoch milliseconds by default. When it passes: `TIMEOUT`. */
  deadline?: number | undefined;
  /** Nested calls. Of one that `buildEnv` made the handler gets its like, with its own authority. */
  env?: OperationEnv | undefined;
}

/** What a handler gets beside its input. */
export interface HandlerContext extends OperationContext {
  requestId: string;
  /** Fires when the call is given up or its deadline passes: nobody waits for the handler then. */
  signal: AbortSignal;
  /** Calls other operations with the authority this one declares. Not enumerable. */
  env: OperationEnv;
}

/**
 * Runs an operation. Input that was judged is a copy, as it was judged; other input is the caller's
 * own. What it throws becomes a `CallError` as `mapError` says. For a subscription it returns an
 * async iterable: an async generator, or any function that gives one; an `async` function is refused.
 */
export type Handler = (input: any, context: HandlerContext) => unknown;

/** The operations an operation may call: namespace, then name. */
export interface OperationEnv {
  readonly [namespace: string]: {
    readonly [name: string]: (input?: unknown) => Promise<ResponseEnvelope>;
  };
}

/** What is worth an operator's notice. */
export type OperationWarning =
  /** Output that was changed to fit its schema, violates it, or cannot be judged. */
  | {
      type: "output";
      operationId: string;
      requestId: string;
      verdict: "valid" | "invalid" | "unknown";
      errors: ValidationError[];
      truncated: boolean;
      changes: Change[];
    }
  /** The details of a declared error violate its schema. The error went to the caller as it was. */
  | {
      type: "error_details";
      operationId: string;
      requestId: string;
      code: string;
      verdict: "invalid" | "unknown";
      errors: ValidationError[];
      truncated: boolean;
    }
  /** A tool that cannot be an operation, and why. `tool` is what the server calls it. */
  | { type: "import"; server: string; tool: string; operationId: string; error: unknown };

/** Options of `OperationRegistry`. */
export interface RegistryOptions {
  /** The clock of envelopes and deadlines, in milliseconds; default `Date.now`. */
  now?: () => number;
  /** Makes request ids; default 128 random bits as 32 hexadecimal digits. */
  newId?: () => string;
  /** How output is made to fit; see `runPipeline`. */
  normalize?: PipelineOptions["normalize"];
  /** Wraps what only looks like an envelope. */
  wrapAlways?: boolean;
}

/** Options of `importClient`. */
export interface ImportOptions {
  /** Default: the server's name, with `_` for each dot, slash and space. */
  namespace?: string;
  /** Names of the tools to import; all by default. */
  include?: readonly string[];
  /** Names of tools to leave out. */
  exclude?: readonly string[];
  /** Default "internal": for nested calls only. */
  visibility?: "internal" | "external";
  /** For each tool; default open. */
  accessControl?: Partial<AccessControl>;
}

/**
 * Operations by id. An id may also be written `namespace/name`, with or without a leading slash.
 *
 * `execute` and `subscribe` fail with `CallError`, everything else throws `ToolwireError`.
 */
export class OperationRegistry {
  constructor(options?: RegistryOptions);
  /**
   * Registers an operation. Refuses an id that is taken unless `replace`, a specification that is
   * none (`invalid_arguments`, reason `spec_member` or `spec_unknown`), a schema that does not
   * compile (`schema_error`), a handler that does not fit the type (`operation_handler`). A refusal
   * names `operation` and `option`, and leaves the registry as it was. A specification that
   * replaces another drops its handler.
   */
  register(
    spec: OperationSpec & { handler?: Handler },
    handler?: Handler,
    options?: { replace?: boolean },
  ): void;
  /** Registers all, in order, or none; an error's `index` says which is at fault. */
  registerAll(
    list: readonly (OperationSpec & { handler?: Handler })[],
    options?: { replace?: boolean },
  ): void;
  /** Registers a specification without a handler. */
  registerSpec(spec: OperationSpec, options?: { replace?: boolean }): void;
  /** Gives an operation its handler; another one only with `replace`. */
  registerHandler(id: string, handler: Handler, options?: { replace?: boolean }): void;
  /** Takes an operation out; false if there is none. Calls that run go on. */
  unregister(id: string): boolean;
  get(id: string): (OperationSpec & { handler: Handler | undefined }) | undefined;
  getByName(
    namespace: string,
    name: string,
  ): (OperationSpec & { handler: Handler | undefined }) | undefined;
  /** The specification as it was registered, frozen. */
  getSpec(id: string): OperationSpec | undefined;
  getHandler(id: string): Handler | undefined;
  /**
   * All specifications, in order of registration. With the member `identity`, be it undefined, only
   * what that caller may call.
   */
  list(options?: { identity?: Identity | null | undefined }): OperationSpec[];
  /**
   * Runs a query or mutation. In this order: the operation exists and is not hidden, the caller may
   * call it, it has a handler, the input satisfies its schema, it is of this type; then the handler
   * runs and its result goes through `runPipeline`.
   */
  execute(id: string, input?: unknown, context?: OperationContext): Promise<ResponseEnvelope>;
  /**
   * Runs a subscription, from the first pull on: the checks of `execute`, then each item through
   * the pipeline. Leaving it fires the handler's signal and closes what the handler returned.
   */
  subscribe(
    id: string,
    input?: unknown,
    context?: OperationContext,
  ): AsyncGenerator<ResponseEnvelope, void, void>;
  /**
   * Registers the tools of an MCP server as mutations, and keeps them in step with its catalog.
   * Gives their ids. A tool that cannot be one (its name has a slash or white space, its id is
   * taken) is reported as a warning and costs the others nothing. Schemas that do not compile are
   * left to the server. A result becomes an envelope, also with `isError`; what the session rejects
   * with becomes a `CallError`. The client stays the caller's to close; its operations then fail,
   * until another client is imported in their place.
   */
  importClient(client: Client, options?: ImportOptions): string[];
  /** Gives its memory back and follows no catalog any more. Using it then fails with `freed`. */
  free(): void;
  [Symbol.dispose](): void;
  /** Tells of warnings. What the listener throws is ignored. The function given back ends it. */
  onWarning(listener: (warning: OperationWarning) => void): () => void;
}

/**
 * The queries and mutations of a registry as functions, as they are now. With the very context that
 * a handler was given, calls run as the authority its operation declares; with any other, as
 * `context.identity`. Calls are linked by `parentRequestId` and inherit metadata, signal and
 * deadline; internal operations are there. With `callMap` they go through it.
 */
export function buildEnv(config: {
  registry: OperationRegistry;
  context: OperationContext;
  /** Only these namespaces. */
  allowedNamespaces?: readonly string[];
  /** What carries the calls: a `PendingRequestMap`. */
  callMap?: {
    call(operationId: string, input: unknown, options: any): Promise<ResponseEnvelope>;
  };
}): OperationEnv;

/**
 * Registers `services.list` and `services.schema`; gives their ids. The first answers
 * `{operations: [{name, namespace, type, description?}]}`, `name` being the id, with what its caller
 * may call; the second, given `{name}`, the specification, what it leaves open filled in and
 * without its authority. To both, hidden operations are unknown.
 */
export function registerDiscovery(
  registry: OperationRegistry,
  options?: { accessControl?: AccessControl; replace?: boolean },
): string[];
