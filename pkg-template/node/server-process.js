/**
 * Owns one child process and its three pipes: what it writes goes to a sink, frames go to its
 * input, and its end is told in the order a session wants (exit before the end of output).
 *
 * Invariant: no pipe is left without a reader or an error listener, so that neither a full pipe
 * stops the server nor a broken one the host.
 */
import { spawn } from "node:child_process";

// How long one sign of a server's end waits for the others: the exit code says more than the end
// of output, and replies may still be in the pipe after the exit.
const TOGETHER_MS = 250;
// A pipe that others hold open and keep filling must not put off the report for ever.
const TOGETHER_MAX_MS = 2000;

/** Starts a process. Rejects with the system's error if it cannot be started. */
function startProcess(launch, sink, onStderr) {
  return new Promise((resolve, reject) => {
    const child = spawn(launch.file, launch.args, launch.options);
    child.once("error", reject);
    child.once("spawn", () => {
      child.off("error", reject);
      resolve(new ServerProcess(child, sink, onStderr));
    });
  });
}

class ServerProcess {
  #child;
  #sink;
  #onStderr;
  #exited = false;
  #exitCode = null;
  #outputEnded = false;
  #outputIdle = true;
  #inputFailed = false;
  #inputEnded = false;
  #told = new Set();
  #timer;
  #firstSign;
  #writable;
  #wake;
  #whenExited;

  constructor(child, sink, onStderr) {
    this.#child = child;
    this.#sink = sink;
    this.#onStderr = onStderr;
    this.#whenExited = new Promise((resolve) => {
      child.once("exit", (code) => {
        this.#exited = true;
        this.#exitCode = code;
        resolve();
        this.#sign();
      });
    });
    // Node reports a failed kill here; the tree's own checks tell the same.
    child.on("error", () => {});
    this.#listenToInput(child.stdin);
    this.#readOutput(child.stdout);
    this.#readErrors(child.stderr);
  }

  get pid() {
    return this.#child.pid;
  }

  get hasExited() {
    return this.#exited;
  }

  /** Resolves when the process itself has ended. */
  get whenExited() {
    return this.#whenExited;
  }

  /** Writes one frame. A promise is returned while the pipe is full, one for all who wait. */
  write(frame) {
    if (this.#sink === undefined || this.#told.size > 0) {
      return undefined; // The session has been told that this is over.
    }
    if (this.#inputFailed) {
      return this.#waitForRoom(); // It is about to be.
    }
    return this.#child.stdin.write(frame) ? undefined : this.#waitForRoom();
  }

  /** From now on nothing is told any more; the pipes are still emptied. */
  mute() {
    this.#sink = undefined;
    this.#onStderr = undefined;
    clearTimeout(this.#timer);
    this.#release();
  }

  endInput() {
    this.#inputEnded = true;
    this.#child.stdin.end();
  }

  /** Lets go of the pipes, which a process that got away may hold open, and of the event loop. */
  dispose() {
    this.mute();
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.stderr?.destroy();
    this.#child.unref();
  }

  #listenToInput(stdin) {
    const failed = () => {
      this.#inputFailed = true;
      if (!this.#inputEnded) {
        this.#sign();
      }
    };
    stdin.on("error", failed);
    stdin.once("close", failed);
    stdin.on("drain", () => this.#release());
  }

  #waitForRoom() {
    this.#writable ??= new Promise((resolve) => {
      this.#wake = resolve;
    });
    return this.#writable;
  }

  #release() {
    this.#wake?.();
    this.#wake = undefined;
    this.#writable = undefined;
  }

  async #readOutput(stdout) {
    try {
      for await (const chunk of stdout) {
        const sink = this.#sink;
        if (sink !== undefined) {
          this.#outputIdle = false;
          sink.receive(chunk);
          // The pipe holds the server back while the session has not caught up.
          await sink.ready();
          this.#outputIdle = true;
        }
      }
    } catch {
      // A read that fails, or a pipe let go of: no more output either way.
    }
    this.#outputIdle = true;
    this.#outputEnded = true;
    this.#sign();
  }

  #readErrors(stderr) {
    if (stderr === null) {
      this.#sink.stderrEnded();
      return;
    }
    stderr.on("data", (chunk) => {
      this.#sink?.stderr(chunk);
      try {
        this.#onStderr?.(chunk);
      } catch {
        // The host's listener is told, not asked: what it throws must not end the host.
      }
    });
    stderr.on("error", () => {});
    stderr.once("close", () => this.#sink?.stderrEnded());
  }

  /** A sign that the server ends. The first opens a short wait for the others. */
  #sign() {
    if (this.#sink === undefined) {
      return;
    }
    if (this.#told.size > 0 || (this.#exited && this.#outputEnded)) {
      this.#tell();
    } else if (this.#timer === undefined) {
      this.#firstSign = performance.now();
      this.#wait();
    }
  }

  #wait() {
    this.#timer = setTimeout(() => {
      const waited = performance.now() - this.#firstSign;
      if (this.#outputIdle || waited >= TOGETHER_MAX_MS) {
        this.#tell();
      } else {
        this.#wait();
      }
    }, TOGETHER_MS);
  }

  #tell() {
    clearTimeout(this.#timer);
    this.#tellOnce(this.#exited, "exited", this.#exitCode);
    this.#tellOnce(this.#outputEnded, "end");
    // The pipes of a process that ended break too; that is no news.
    const inputAlone = this.#inputFailed && !this.#exited && !this.#outputEnded;
    this.#tellOnce(inputAlone, "writeFailed");
    this.#release();
  }

  #tellOnce(known, report, argument) {
    if (known && !this.#told.has(report)) {
      this.#told.add(report);
      this.#sink?.[report](argument);
    }
  }
}

export { startProcess };
