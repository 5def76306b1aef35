/**
 * Owns `ToolGateway`: the operations of a registry behind the four tools `search`, `schema`, `call`
 * and `batch`. The core reads what they are given, ranks what is found and shapes what is answered;
 * here the operations run, each with its deadline. Invariants: every call goes through the
 * registry as one from outside, for the identity that the host names; `handleCall` never rejects.
 */

import { refused, signalOf } from "./arguments.js";
import { CallError, gatewayCode, mapError } from "./call-error.js";
import { guard, mainInstance } from "./core.js";
import { described } from "./discovery.js";
import { doorOf } from "./doors.js";
import { deepFreeze } from "./json.js";
import { documentText, pick } from "./options.js";
import { copyJson } from "./snapshot.js";

/** Copies of outputs and arguments: bounded like a frame's contents, but for the host's own size. */
const COPY = { budget: 134_217_728, maxDepth: 65_536, omitUndefined: true, bigintDigits: true };

/** Options that count something: whole, at least 1. */
const COUNTS = { maxBatch: 100, batchConcurrency: 8, pageSize: 100 };

/** Options that are milliseconds: positive; Infinity is none. */
const TIMES = { callTimeoutMs: 30_000, batchTimeoutMs: 120_000 };

class ToolGateway {
  #door;
  #limits;
  #settings;
  #now;
  #newId;

  constructor(config) {
    const { registry, serverInfo, instructions, now, newId, ...given } = pick(config, [
      "registry",
      "serverInfo",
      "instructions",
      "now",
      "newId",
      ...Object.keys(COUNTS),
      ...Object.keys(TIMES),
    ]);
    this.#door = doorOf(registry);
    this.#now = functionOf(now ?? this.#door.now, "now");
    this.#newId = functionOf(newId ?? this.#door.newId, "newId");
    this.#settings = {
      ...settingsOf(given, COUNTS, (value) => value >= 1 && (Number.isInteger(value) || value === Infinity)),
      ...settingsOf(given, TIMES, (value) => value > 0),
    };
    const { maxBatch, pageSize } = this.#settings;
    this.#limits = { maxBatch, pageSize };
    this.serverInfo = serverInfo === undefined ? undefined : plain(serverInfo, "serverInfo");
    this.instructions = instructions ?? guard(mainInstance(), (glue) => glue.gatewayInstructions());
    if (typeof this.instructions !== "string") {
      throw refused("instructions");
    }
    this.tools = deepFreeze(
      JSON.parse(guard(mainInstance(), (glue) => glue.gatewayTools(this.#limits))),
    );
    Object.freeze(this);
  }

  async handleCall(tool, args, identity, options) {
    try {
      return await this.#answer(tool, args, identity, signalOf(options));
    } catch (error) {
      return failed(error);
    }
  }

  async #answer(tool, args, identity, signal) {
    const { text, fault } = args === undefined ? {} : copyJson(args, COPY);
    if (fault !== undefined) {
      throw invalid("invalid arguments: they must be a JSON object");
    }
    const name = typeof tool === "string" ? tool : "";
    const request = guard(mainInstance(), (glue) =>
      glue.gatewayArguments(name, text, this.#limits),
    );
    if (request === undefined) {
      throw new CallError({ code: "NOT_FOUND", message: "unknown gateway tool" });
    }
    if (request.refusal !== undefined) {
      throw invalid(request.refusal);
    }
    const caller = { identity, signal };
    switch (name) {
      case "search":
        return this.#search(text, identity);
      case "schema":
        return shown(this.#schema(request.operation, identity));
      case "call": {
        const { input } = JSON.parse(text);
        return resultOf(await this.#run(request.operation, input, caller, Infinity));
      }
      default:
        return shown({ results: await this.#batch(request.calls, JSON.parse(text).calls, caller) });
    }
  }

  #search(text, identity) {
    const page = this.#door.search(identity, text, this.#limits);
    if (page === undefined) {
      throw invalid("invalid arguments: unknown cursor");
    }
    return shownText(page);
  }

  /** The specification as callers see it, under its id. */
  #schema(id, identity) {
    const spec = this.#door.specFor(id, identity);
    return { ...described(spec), name: `${spec.namespace}.${spec.name}` };
  }

  /** Runs an operation; gives its envelope, or throws a call error. */
  #run(operation, input, { identity, signal }, remaining) {
    const timeout = Math.min(this.#settings.callTimeoutMs, remaining);
    const deadline = timeout === Infinity ? undefined : this.#door.now() + timeout;
    const requestId = this.#newId();
    return this.#door.executeOutside(operation, input ?? {}, {
      identity,
      signal,
      deadline,
      requestId,
    });
  }

  /** Runs calls side by side, so many at a time; gives an entry for each, in their order. */
  async #batch(requests, calls, caller) {
    const { batchConcurrency, batchTimeoutMs } = this.#settings;
    const end = this.#now() + batchTimeoutMs;
    const results = new Array(requests.length);
    let next = 0;
    const worker = async () => {
      while (next < requests.length) {
        const index = next;
        next += 1;
        try {
          results[index] = await this.#entry(requests[index], calls[index].input, caller, end);
        } catch (error) {
          results[index] = { isError: true, error: errorOf(error) };
        }
      }
    };
    const workers = Math.min(batchConcurrency, requests.length);
    await Promise.all(Array.from({ length: workers }, worker));
    return results;
  }

  async #entry({ refusal, operation }, input, caller, end) {
    if (refusal !== undefined) {
      throw invalid(refusal);
    }
    const remaining = end - this.#now();
    if (remaining <= 0) {
      throw new CallError({
        code: "TIMEOUT",
        message: "the batch's time was up before this call began",
      });
    }
    const { data, meta } = await this.#run(operation, input, caller, remaining);
    if (meta.source === "mcp" && meta.isError) {
      throw new CallError({
        code: "EXECUTION_ERROR",
        message: "the tool behind the operation reports an error",
        retryable: false,
        details: { content: meta.content, structuredContent: meta.structuredContent },
      });
    }
    return { isError: false, output: JSON.parse(objectText(data)) };
  }
}

/** The result of one operation: what an MCP tool answered as it is, anything else as an object. */
function resultOf({ data, meta }) {
  if (meta.source !== "mcp") {
    return shownText(objectText(data));
  }
  const { content, isError, structuredContent } = meta;
  return {
    content,
    isError,
    structuredContent:
      structuredContent === undefined ? undefined : JSON.parse(objectText(structuredContent)),
  };
}

/** An output as the JSON text of an object. */
function objectText(output) {
  const { text, fault } = output === undefined ? {} : copyJson(output, COPY);
  if (fault !== undefined) {
    throw new CallError({
      code: "EXECUTION_ERROR",
      message: "the operation's output cannot be written as JSON",
      retryable: false,
      details: fault,
    });
  }
  return guard(mainInstance(), (glue) => glue.gatewayObject(text));
}

function shown(structuredContent) {
  return shownText(documentText(structuredContent));
}

/** A structured result and, for peers that read text only, the same as text. */
function shownText(text, isError = false) {
  return { content: [{ type: "text", text }], isError, structuredContent: JSON.parse(text) };
}

function failed(error) {
  return shownText(documentText(errorOf(error)), true);
}

/** What was thrown, as callers of the gateway read it. */
function errorOf(error) {
  const { code, ...rest } = mapError(error).toJSON();
  return { code: gatewayCode(code), ...rest };
}

function invalid(message) {
  return new CallError({ code: "INVALID_INPUT", message, retryable: false });
}

function functionOf(value, option) {
  if (typeof value !== "function") {
    throw refused(option);
  }
  return value;
}

function settingsOf(given, defaults, fits) {
  return Object.fromEntries(
    Object.entries(defaults).map(([option, fallback]) => {
      const value = given[option] ?? fallback;
      if (typeof value !== "number" || !fits(value)) {
        throw refused(option);
      }
      return [option, value];
    }),
  );
}

/** A plain copy of a document of the host's. */
function plain(value, option) {
  const failure = { code: "invalid_arguments", reason: "option_invalid", option };
  return deepFreeze(JSON.parse(documentText(value, failure)));
}

export { ToolGateway };
