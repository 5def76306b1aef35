/**
 * Scripts of sessions: one input a line, `[@milliseconds] verb arguments`. A run writes itself as a
 * script too, so a run can be edited, shared and lived again.
 */

export type Action =
  | { verb: "connect" | "refresh" | "end" | "close" }
  | { verb: "in"; text: string }
  /** Text without a line end. */
  | { verb: "part"; text: string }
  | { verb: "stderr"; text: string }
  | { verb: "call"; name: string; args: unknown }
  | { verb: "request" | "notify"; method: string; params: object | undefined }
  | { verb: "cancel"; call: number }
  | { verb: "answer"; result: unknown }
  | { verb: "exit"; code: number };

export interface ScriptLine {
  at: number | undefined;
  action: Action;
  /** From 0. */
  line: number;
}

/** Lines beyond this many are not read. */
const MAX_LINES = 2_000;

function parsedJson(text: string): unknown {
  return text.trim() === "" ? undefined : JSON.parse(text);
}

function actionOf(text: string): Action {
  if (text.startsWith("<")) return { verb: "in", text: text.slice(1).trimStart() };
  const [, verb = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(text) ?? [];
  const [, name = "", json = ""] = /^(\S*)\s*(.*)$/s.exec(rest) ?? [];
  switch (verb) {
    case "connect":
    case "refresh":
    case "end":
    case "close":
      return { verb };
    case "stderr":
      return { verb, text: rest.startsWith('"') ? String(JSON.parse(rest)) : rest };
    case "raw":
      return { verb: "in", text: String(JSON.parse(rest)) };
    case "part":
      return { verb, text: String(JSON.parse(rest)) };
    case "call":
      return { verb, name, args: parsedJson(json) ?? {} };
    case "request":
    case "notify":
      return { verb, method: name, params: parsedJson(json) as object | undefined };
    case "answer":
      return { verb, result: parsedJson(rest) ?? {} };
    case "cancel":
      return { verb, call: Number(rest) };
    case "exit":
      return { verb, code: Number(rest) || 0 };
    default:
      throw new Error("begins with none of: < raw part connect call request notify answer cancel refresh stderr end exit close");
  }
}

/** Reads a script. Blank lines and those that begin with # count for nothing. */
export function readScript(script: string): {
  lines: ScriptLine[];
  faults: { line: number; message: string }[];
} {
  const lines: ScriptLine[] = [];
  const faults: { line: number; message: string }[] = [];
  for (const [line, text] of script.split("\n").entries()) {
    const trimmed = text.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    if (lines.length === MAX_LINES) {
      faults.push({ line: line + 1, message: `a script has at most ${MAX_LINES} inputs` });
      break;
    }
    const [, time, rest = ""] = /^(?:@(\d+(?:\.\d+)?)\s+)?(.*)$/s.exec(trimmed) ?? [];
    try {
      lines.push({ at: time === undefined ? undefined : Number(time), action: actionOf(rest), line });
    } catch (error) {
      const why = error instanceof SyntaxError ? "the JSON in it cannot be read" : String((error as Error).message);
      faults.push({ line: line + 1, message: why });
    }
  }
  return { lines, faults };
}

/** The action as it stands in a script. */
export function writeAction(action: Action): string {
  switch (action.verb) {
    case "in": {
      // What reading a script would trim is written as a JSON string.
      const plain = action.text !== "" && action.text === action.text.trim();
      return plain ? `< ${action.text}` : `raw ${JSON.stringify(action.text)}`;
    }
    case "part":
      return `part ${JSON.stringify(action.text)}`;
    case "stderr": {
      const plain = action.text === action.text.trim() && !action.text.startsWith('"');
      return `stderr ${plain ? action.text : JSON.stringify(action.text)}`;
    }
    case "call":
      return `call ${action.name} ${JSON.stringify(action.args)}`;
    case "request":
    case "notify":
      return `${action.verb} ${action.method} ${JSON.stringify(action.params ?? {})}`;
    case "answer":
      return `answer ${JSON.stringify(action.result)}`;
    case "cancel":
      return `cancel ${action.call}`;
    case "exit":
      return `exit ${action.code}`;
    default:
      return action.verb;
  }
}
