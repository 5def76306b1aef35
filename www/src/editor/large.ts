/**
 * What keeps the editor quick with texts of megabytes: work on the whole text is done in slices, with
 * timers and input in between.
 */

import { type Extension, type EditorState, Text } from "@codemirror/state";
import { EditorView } from "@codemirror/view";

/** Characters done at a time: a few milliseconds of work. */
const SLICE = 131_072;

/** Characters from which on a text is not coloured: the page has less to draw when one types or scrolls. */
export const LARGE = 500_000;

/** Characters of a line from which on it is neither coloured nor typed into through the page: see `typing`. */
export const LONG_LINE = 50_000;

const nextTask = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Where a slice from here ends; what belongs together (`\r\n`, surrogates) is not cut. */
function endOfSlice(from: number, length: number, unitAt: (position: number) => number): number {
  let to = Math.min(from + SLICE, length);
  for (let last = unitAt(to - 1); to < length && (last === 0x0d || (last >= 0xd800 && last < 0xdc00)); to += 1) last = unitAt(to);
  return to;
}

/** The text in UTF-8, put together in slices. */
export async function encoded(doc: Text, signal: AbortSignal): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let from = 0; from < doc.length; ) {
    const to = endOfSlice(from, doc.length, (at) => doc.sliceString(at, at + 1).charCodeAt(0));
    const part = encoder.encode(doc.sliceString(from, to));
    parts.push(part);
    length += part.length;
    from = to;
    if (from < doc.length) {
      await nextTask();
      signal.throwIfAborted();
    }
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A text as the editor holds it, read in slices. */
async function readInSlices(text: string, signal: AbortSignal): Promise<Text> {
  let whole = Text.empty;
  for (let from = 0; from < text.length; ) {
    const to = endOfSlice(from, text.length, (at) => text.charCodeAt(at));
    whole = whole.append(Text.of(text.slice(from, to).split(/\r\n?|\n/)));
    from = to;
    await nextTask();
    signal.throwIfAborted();
  }
  return whole;
}

/**
 * Takes large pasted texts in slices: splitting a text of megabytes into lines takes half a second. What
 * was selected is replaced when the text is there, wherever it stands by then. A second
 * text that is pasted before the first is there replaces it.
 */
export class Pasting {
  readonly #told: (underWay: boolean) => void;
  #reading = new AbortController();
  #target: { from: number; to: number } | undefined;
  /** Settles when nothing is being pasted. */
  done: Promise<void> = Promise.resolve();

  /** `told` is told when a text begins to be read, and when it is there or given up. */
  constructor(told: (underWay: boolean) => void) {
    this.#told = told;
  }

  readonly extension: Extension = [
    EditorView.domEventHandlers({
      paste: (event, view) => {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        if (text.length <= SLICE || view.state.readOnly) return false;
        event.preventDefault();
        const { from, to } = this.#target ?? view.state.selection.main;
        this.stop();
        this.done = this.#take(view, text, { from, to });
        return true;
      },
    }),
    EditorView.updateListener.of(({ changes, docChanged }) => {
      if (!docChanged || this.#target === undefined) return;
      // What is typed at an end of it is not part of it.
      const to = changes.mapPos(this.#target.to, -1);
      this.#target = { from: Math.min(to, changes.mapPos(this.#target.from, 1)), to };
    }),
  ];

  /** Gives up what is being read. */
  stop(): void {
    if (this.#target === undefined) return;
    this.#reading.abort();
    this.#target = undefined;
    this.#told(false);
  }

  async #take(view: EditorView, text: string, target: { from: number; to: number }): Promise<void> {
    const { signal } = (this.#reading = new AbortController());
    this.#target = target;
    // As after any other paste: what is typed from now on stands behind it.
    view.dispatch({ selection: { anchor: target.to } });
    this.#told(true);
    const insert = await readInSlices(text, signal).catch(() => undefined);
    if (insert === undefined || signal.aborted || this.#target === undefined) return;
    const changes = { ...this.#target, insert };
    this.#target = undefined;
    this.#told(false);
    const { empty, head } = view.state.selection.main;
    const selection = empty && head === changes.to ? { anchor: changes.from + insert.length } : undefined;
    view.dispatch({ changes, ...(selection && { selection }), scrollIntoView: true, userEvent: "input.paste" });
  }
}

const isLong = (state: EditorState): boolean =>
  state.selection.ranges.some(({ head }) => state.doc.lineAt(head).length > LONG_LINE);

/**
 * Typing in long lines. Elsewhere the browser puts a character into the page, where the editor finds it
 * by comparing the line with its own: in a line of megabytes that takes a tenth of a second a key.
 */
export const typing: Extension = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { data, inputType, isComposing } = event;
    if (inputType !== "insertText" || data === null || isComposing || view.composing || view.state.readOnly) return false;
    if (!isLong(view.state)) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), { scrollIntoView: true, userEvent: "input.type" });
    return true;
  },
});
