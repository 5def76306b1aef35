/**
 * A worker that is an MCP server: newline JSON-RPC in, newline JSON-RPC out. Time in it is the
 * playground's: what it wants to say later it says at once, with how much later it is to count.
 */

import { servers } from "./servers.js";

/** Something the server did, `after` simulated milliseconds. */
export type ServerOutput = { after: number } & ({ stdout: string } | { stderr: string } | { exit: number });

export type ToServer = { start: string } | { stdin: string };

/** What a server is made with. */
export interface ServerProcess {
  /** Writes a message and its line end. */
  send(message: object, after?: number): void;
  /** Writes text as it is. */
  write(text: string, after?: number): void;
  complain(text: string): void;
  exit(code: number, after?: number): void;
}

let outputs: ServerOutput[] = [];
let onLine: ((line: string) => void) | undefined;
let rest = "";
let running = false;

const process: ServerProcess = {
  send: (message, after = 0) => outputs.push({ after, stdout: `${JSON.stringify(message)}\n` }),
  write: (text, after = 0) => outputs.push({ after, stdout: text }),
  complain: (text) => outputs.push({ after: 0, stderr: text }),
  exit: (code, after = 0) => {
    outputs.push({ after, exit: code });
    running = false;
  },
};

self.addEventListener("message", ({ data }: MessageEvent<ToServer>) => {
  outputs = [];
  if ("start" in data) {
    running = true;
    onLine = servers[data.start]?.start(process);
  } else {
    const lines = (rest + data.stdin).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (running) onLine?.(line);
    }
  }
  self.postMessage(outputs);
});
