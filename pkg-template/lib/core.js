/**
 * Owns the WebAssembly side: one compiled module a process, the instances made of it, and what a
 * trap does to them. Invariants: wasm code runs only inside `guard`; an instance that trapped is
 * never entered again, not even to free something; no code of the host runs inside `guard`.
 *
 * The main instance holds everything that is no session. Each session has an instance of its own;
 * past `INSTANCE_LIMIT` live ones sessions share one.
 */

import { createGlue } from "./glue.js";
import { ToolwireError, errorOfCore, isCoreFault, trappedError } from "./errors.js";

/** Chromium refuses the 125th WebAssembly.Memory of a realm; hosts have modules of their own. */
const INSTANCE_LIMIT = 64;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

let loadBytes;
let compiled;
let starting;
let main;
let shared;
let restarts = 0;
const instances = new Set();

class Instance {
  constructor(module) {
    this.glue = createGlue();
    this.exports = this.glue.initSync({ module });
    this.notePointer = this.glue.panicNote();
    this.bytes = undefined;
    this.failure = undefined;
    this.handles = 0;
    this.onRetire = new Set();
    instances.add(this);
  }

  /** Numbers in the core's memory. Growing it takes the view away, so it is asked for each time. */
  numbersAt(address, count) {
    return new Float64Array(this.exports.memory.buffer, address, count);
  }

  /** A text in the core's memory. */
  textAt(address, length) {
    const { buffer } = this.exports.memory;
    if (this.bytes?.buffer !== buffer) {
      this.bytes = bytesOver(buffer);
    }
    return typeof Buffer === "function" && this.bytes instanceof Buffer
      ? this.bytes.toString("utf8", address, address + length)
      : decoder.decode(this.bytes.subarray(address, address + length));
  }

  /** Writes bytes to the core's memory, where it made room for them. */
  write(bytes, address) {
    const { buffer } = this.exports.memory;
    if (this.bytes?.buffer !== buffer) {
      this.bytes = bytesOver(buffer);
    }
    this.bytes.set(bytes, address);
  }

  /** Gives back what keeps the instance alive; its memory goes with it. */
  dispose() {
    instances.delete(this);
  }
}

/** A view of a whole memory, the host's own kind where that is faster at reading texts. */
function bytesOver(buffer) {
  return typeof Buffer === "function" && typeof Buffer.from === "function"
    ? Buffer.from(buffer)
    : new Uint8Array(buffer);
}

/** Says where bytes or a compiled module come from when the core is first used. */
function setBytes(loader) {
  loadBytes = loader;
}

function decodeBase64(text) {
  if (typeof Buffer === "function" && typeof Buffer.from === "function") {
    return Buffer.from(text, "base64");
  }
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) {
    bytes[index] = binary.charCodeAt(index);
  }
  return bytes;
}

function compiledModule() {
  if (compiled === undefined) {
    if (loadBytes === undefined) {
      throw new ToolwireError({
        code: "invalid_arguments",
        reason: "not_initialised",
        message: "toolwire has no WebAssembly yet: call init(urlOrBytesOrModule) first",
      });
    }
    compiled = moduleOf(loadBytes());
  }
  return compiled;
}

function moduleOf(source) {
  return isModule(source) ? source : new WebAssembly.Module(source);
}

/** True for a compiled module, also one of another realm: hosts compile outside of the program's. */
function isModule(value) {
  try {
    WebAssembly.Module.exports(value);
    return true;
  } catch {
    return false;
  }
}

/** The instance for everything that is no session; made anew after a trap. */
function mainInstance() {
  if (main === undefined || main.failure !== undefined) {
    main = new Instance(compiledModule());
  }
  return main;
}

/** An instance for one more session. Give it back with `leave`. */
function sessionInstance() {
  let instance;
  if (instances.size < INSTANCE_LIMIT) {
    instance = new Instance(compiledModule());
  } else {
    if (shared === undefined || shared.failure !== undefined) {
      shared = new Instance(compiledModule());
    }
    instance = shared;
  }
  instance.handles += 1;
  return instance;
}

function leave(instance) {
  instance.handles -= 1;
  if (instance.handles === 0) {
    instance.dispose();
    if (instance === shared) {
      shared = undefined;
    }
  }
}

/**
 * Runs wasm code. What the core throws on purpose comes out as a ToolwireError; anything else means
 * that Rust code was left half way, so the instance is retired and `core_trapped` is thrown.
 */
function guard(instance, action) {
  if (instance.failure !== undefined) {
    throw instance.failure;
  }
  try {
    return action(instance.glue);
  } catch (thrown) {
    if (isCoreFault(thrown)) {
      throw errorOfCore(thrown);
    }
    retire(instance, thrown);
    throw instance.failure;
  }
}

function retire(instance, thrown) {
  restarts += 1;
  instance.failure = trappedError({ trap: String(thrown), panic: readNote(instance) });
  instance.dispose();
  for (const listener of instance.onRetire) {
    listener(instance.failure);
  }
  instance.onRetire.clear();
}

/** What the panic hook left in memory: text up to a NUL. No wasm code runs to read it. */
function readNote(instance) {
  const bytes = new Uint8Array(instance.exports.memory.buffer, instance.notePointer);
  const text = bytes.subarray(0, bytes.indexOf(0));
  return text.length === 0 ? undefined : new TextDecoder().decode(text);
}

/**
 * Makes the core ready. Without a source it uses the bytes the entry brought; harmless when the
 * core is ready. Calls that overlap share one promise, and a failure can be tried again.
 */
function init(input) {
  if (compiled !== undefined) {
    return Promise.resolve();
  }
  if (starting === undefined) {
    starting = compileFrom(input).then(
      (module) => {
        compiled = module;
        starting = undefined;
      },
      (error) => {
        starting = undefined;
        throw error;
      },
    );
  }
  return starting;
}

async function compileFrom(input) {
  let source = await input;
  if (isOptions(source)) {
    source = await (source.module ?? source.module_or_path);
  }
  if (source === undefined) {
    return compiledModule();
  }
  if (typeof source === "string" || (typeof URL === "function" && source instanceof URL)) {
    source = await fetch(source);
  }
  if (typeof Response === "function" && source instanceof Response) {
    source = await bytesOf(source);
  }
  return isModule(source) ? source : WebAssembly.compile(source);
}

async function bytesOf(response) {
  if (!response.ok) {
    throw new ToolwireError({
      code: "invalid_arguments",
      reason: "wasm_http_status",
      message: `the WebAssembly file was answered with HTTP status ${response.status}`,
    });
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  // A server's fallback page is the common mistake; its MIME type alone may be wrong and harmless.
  if (bytes[0] !== 0 || bytes[1] !== 0x61 || bytes[2] !== 0x73 || bytes[3] !== 0x6d) {
    throw new ToolwireError({
      code: "invalid_arguments",
      reason: "wasm_not_wasm",
      message: "the address given to init() does not answer with a WebAssembly file",
    });
  }
  return bytes;
}

function initSync(input) {
  if (compiled !== undefined) {
    return;
  }
  const source = isOptions(input) ? input.module : input;
  compiled = source === undefined ? compiledModule() : moduleOf(source);
}

/** True for an object that names its module; one of another realm has another prototype. */
function isOptions(value) {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  return Object.getPrototypeOf(value) === Object.prototype || Object.hasOwn(value, "module");
}

/**
 * Frees core objects whose facades were forgotten. The held value must not refer to the facade.
 * wasm-bindgen's own finalizers are off: they would enter an instance that trapped.
 */
const forgotten =
  typeof FinalizationRegistry === "function"
    ? new FinalizationRegistry((letGo) => letGo())
    : { register() {}, unregister() {} };

/**
 * Ties a core object to its facade. Gives the function that releases it, once; also called when the
 * facade is forgotten. Nothing it does can throw: finalizers have no caller.
 */
function own(facade, instance, object, released) {
  let done = false;
  const letGo = () => {
    if (done) {
      return;
    }
    done = true;
    forgotten.unregister(letGo);
    try {
      release(instance, object);
    } catch {
      // A trap while freeing retires the instance; that is all that is left to do.
    }
    released?.();
  };
  forgotten.register(facade, letGo, letGo);
  return letGo;
}

/** Gives a class its `[Symbol.dispose]`, where the host has the symbol. */
function disposable(constructor) {
  if (typeof Symbol.dispose === "symbol") {
    Object.defineProperty(constructor.prototype, Symbol.dispose, {
      value: constructor.prototype.free,
      configurable: true,
      writable: true,
    });
  }
}

/** Frees what one operation needed. In an instance that trapped nothing is touched. */
function release(instance, object) {
  if (instance.failure === undefined) {
    guard(instance, () => object.free());
  }
}

function memoryBytes() {
  let total = 0;
  for (const instance of instances) {
    total += instance.exports.memory.buffer.byteLength;
  }
  return total;
}

function restartCount() {
  return restarts;
}

export {
  decodeBase64,
  disposable,
  guard,
  init,
  initSync,
  instances,
  leave,
  mainInstance,
  memoryBytes,
  own,
  release,
  restartCount,
  sessionInstance,
  setBytes,
};
