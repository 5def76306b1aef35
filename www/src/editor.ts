/**
 * An editor of JSON or text. It lives in a shadow root: the page's policy refuses style elements,
 * and in a shadow root CodeMirror uses constructed style sheets, which are no elements.
 */

import { history } from "@codemirror/commands";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers, placeholder } from "@codemirror/view";
import { h } from "./dom.js";
import { jsonLook } from "./editor/json.js";
import { keys } from "./editor/keys.js";
import { Pasting, encoded, typing } from "./editor/large.js";
import { type Mark, marking, setMarks } from "./editor/marks.js";

export type { Mark };

export interface Editor {
  element: HTMLElement;
  /** Says what is special about a large text; empty as a rule. */
  note: HTMLElement;
  text: string;
  /** Characters of the text, without putting it together. */
  readonly length: number;
  /**
   * The text in UTF-8, put together in slices so that typing is not held up. A text that is being
   * pasted is waited for.
   */
  bytes(signal: AbortSignal): Promise<Uint8Array>;
  /** Shows these marks until the text changes. */
  mark(marks: readonly Mark[]): void;
  /** Selects a range, scrolls it into view and puts the focus there. */
  reveal(from: number, to: number): void;
}

const byProgram = Annotation.define<boolean>();

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "0.8125rem", color: "var(--ink)", backgroundColor: "var(--card)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "none", paddingLeft: "0.25rem" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--hover)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--selection)",
  },
  ".cm-placeholder, .tw-point": { color: "var(--faint)" },
  ".tw-name": { color: "var(--syntax-name)" },
  ".tw-string": { color: "var(--syntax-string)" },
  ".tw-number": { color: "var(--syntax-number)" },
  ".tw-atom": { color: "var(--syntax-atom)" },
  "&.cm-focused .tw-pair": { backgroundColor: "var(--selection)" },
  ".tw-invalid": { textDecoration: "underline wavy var(--invalid) 1px", textUnderlineOffset: "3px", backgroundColor: "var(--invalid-wash)" },
  ".tw-unknown": { textDecoration: "underline wavy var(--unknown) 1px", textUnderlineOffset: "3px", backgroundColor: "var(--unknown-wash)" },
  ".tw-note": { textDecoration: "underline dotted var(--accent) 2px", textUnderlineOffset: "3px" },
  ".cm-tooltip": { backgroundColor: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".tw-tip": { padding: "0.3rem 0.6rem", maxWidth: "24rem", fontFamily: "system-ui, sans-serif", fontSize: "0.8rem" },
});

/** Makes an editor; `changed` is called when a person changed the text, not when a program did. */
export function editor(options: {
  label: string;
  text: string;
  language?: "json" | "text";
  /** Shown while there is no text. */
  hint?: string;
  changed?: () => void;
}): Editor {
  const host = h("div", { className: "editor-host" });
  const root = host.attachShadow({ mode: "open" });
  const inner = document.createElement("div");
  root.append(inner);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":host { display: block; } div:first-child { height: 100%; } ");
  root.adoptedStyleSheets = [sheet];

  const note = h("span", { className: "editor-note", role: "status" });
  let plain = "";
  let reading = false;
  const say = (): void => {
    const words = reading ? "reading …" : plain && `${plain}: no colours`;
    if (note.textContent !== words) note.textContent = words;
  };
  const pasting = new Pasting((underWay) => {
    reading = underWay;
    say();
    // What is on show elsewhere is of the older text from now on.
    if (underWay) options.changed?.();
  });
  const look = jsonLook((why) => {
    plain = why;
    say();
  });
  const view = new EditorView({
    root,
    parent: inner,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        ...(options.language === "text" ? [] : [look]),
        marking,
        pasting.extension,
        typing,
        theme,
        EditorView.contentAttributes.of({
          "aria-label": options.label,
          // It can be focused anyway; tools that check for that look for the attribute.
          tabindex: "0",
          autocapitalize: "off",
          autocorrect: "off",
        }),
        ...(options.hint === undefined ? [] : [placeholder(options.hint)]),
        keymap.of(keys),
        EditorView.updateListener.of((update) => {
          const told = update.transactions.some((transaction) => transaction.annotation(byProgram));
          if (update.docChanged && !told) options.changed?.();
        }),
      ],
    }),
  });
  return {
    element: host,
    note,
    get text() {
      return view.state.sliceDoc();
    },
    set text(text) {
      pasting.stop();
      if (text === view.state.sliceDoc()) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        selection: { anchor: 0 },
        annotations: byProgram.of(true),
      });
    },
    get length() {
      return view.state.doc.length;
    },
    async bytes(signal) {
      await pasting.done;
      signal.throwIfAborted();
      return encoded(view.state.doc, signal);
    },
    mark(marks) {
      view.dispatch({ effects: setMarks.of(marks) });
    },
    reveal(from, to) {
      const end = Math.min(to, view.state.doc.length);
      const start = Math.min(from, end);
      view.dispatch({
        selection: { anchor: start, head: end },
        effects: EditorView.scrollIntoView(start, { y: "center" }),
      });
      view.focus();
    },
  };
}

/** The editor with a heading over it, in a frame. */
export function titled(title: string, edit: Editor, ...extra: Node[]): HTMLElement {
  return h(
    "section",
    { className: "editor" },
    h("div", { className: "editor-title" }, h("h3", {}, title), edit.note, ...extra),
    edit.element,
  );
}
