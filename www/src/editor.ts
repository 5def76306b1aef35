/**
 * An editor of JSON or text. It lives in a shadow root: the page's policy refuses style elements,
 * and in a shadow root CodeMirror uses constructed style sheets, which are no elements.
 */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { HighlightStyle, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { Annotation, Compartment, EditorState, type Extension, RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  drawSelection,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { h } from "./dom.js";

/** A place with something to say about it. */
export interface Mark {
  from: number;
  to: number;
  tone: "invalid" | "unknown" | "note";
  message: string;
}

export interface Editor {
  element: HTMLElement;
  text: string;
  /** Characters of the text, without putting it together. */
  readonly length: number;
  /** The text in UTF-8, put together in slices so that typing is not held up. */
  bytes(signal: AbortSignal): Promise<Uint8Array>;
  /** Shows these marks until the text changes. */
  mark(marks: readonly Mark[]): void;
  /** Selects a range, scrolls it into view and puts the focus there. */
  reveal(from: number, to: number): void;
}

/** The text in UTF-8. Between two slices timers and input run. */
async function encoded(doc: Text, signal: AbortSignal): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let from = 0; from < doc.length; ) {
    let to = Math.min(from + SLICE, doc.length);
    let text = doc.sliceString(from, to);
    const last = text.charCodeAt(text.length - 1);
    // A pair of surrogates is encoded as a whole.
    if (to < doc.length && last >= 0xd800 && last < 0xdc00) {
      to += 1;
      text = doc.sliceString(from, to);
    }
    const part = encoder.encode(text);
    parts.push(part);
    length += part.length;
    from = to;
    if (from < doc.length) {
      await new Promise((resolve) => setTimeout(resolve));
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

const setMarks = StateEffect.define<readonly Mark[]>();
const byProgram = Annotation.define<boolean>();

/** Characters from which on a text is not coloured: parsing it would hold up typing. */
const MAX_COLOURED = 500_000;

/** Characters put together at a time: about two milliseconds of work. */
const SLICE = 131_072;

/** Marks beyond this many are listed but not drawn. */
const MAX_DRAWN = 200;

interface Marked {
  marks: readonly Mark[];
  drawn: DecorationSet;
}

const NOTHING: Marked = { marks: [], drawn: Decoration.none };

function draw(marks: readonly Mark[], length: number): Marked {
  const within = (position: number): number => Math.max(0, Math.min(position, length));
  const inside = marks
    .slice(0, MAX_DRAWN)
    .map((mark) => ({ ...mark, from: Math.min(within(mark.from), Math.max(0, length - 1)), to: within(mark.to) }));
  const drawn = inside
    .filter(({ from, to }) => from < to)
    .map(({ from, to, tone }) => Decoration.mark({ class: `tw-${tone}` }).range(from, to));
  return { marks: inside, drawn: RangeSet.of(drawn, true) };
}

const markField = StateField.define<Marked>({
  create: () => NOTHING,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) return draw(effect.value, transaction.newDoc.length);
    }
    // A mark belongs to the text it was made for.
    return transaction.docChanged ? NOTHING : value;
  },
  provide: (field) => EditorView.decorations.from(field, ({ drawn }) => drawn),
});

const markTooltip = hoverTooltip((view, position) => {
  const { marks } = view.state.field(markField);
  const here = marks.filter(({ from, to }) => from <= position && position <= to);
  const first = here[0];
  if (first === undefined) return null;
  return {
    pos: first.from,
    end: first.to,
    create: () => ({
      dom: h("div", { className: "tw-tip" }, ...here.slice(0, 5).map(({ message }) => h("div", {}, message))),
    }),
  };
});

/** F8 and Shift-F8 walk the marks. */
function walk(view: EditorView, forwards: boolean): boolean {
  const starts = view.state.field(markField).marks.map(({ from }) => from).sort((a, b) => a - b);
  const here = view.state.selection.main.from;
  const next = forwards ? starts.find((from) => from > here) : starts.findLast((from) => from < here);
  const target = next ?? (forwards ? starts[0] : starts.at(-1));
  if (target === undefined) return false;
  view.dispatch({ selection: { anchor: target }, effects: EditorView.scrollIntoView(target, { y: "center" }) });
  return true;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--syntax-name)" },
  { tag: tags.string, color: "var(--syntax-string)" },
  { tag: tags.number, color: "var(--syntax-number)" },
  { tag: [tags.bool, tags.null], color: "var(--syntax-atom)" },
  { tag: tags.punctuation, color: "var(--faint)" },
]);

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
  ".cm-placeholder": { color: "var(--faint)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--selection)" },
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
  const language = new Compartment();
  const languageFor = (length: number): Extension =>
    options.language === "text" || length > MAX_COLOURED ? [] : [json(), bracketMatching()];
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
        indentUnit.of("  "),
        language.of(languageFor(options.text.length)),
        EditorState.transactionExtender.of(({ docChanged, startState, newDoc }) =>
          docChanged && startState.doc.length > MAX_COLOURED !== newDoc.length > MAX_COLOURED
            ? { effects: language.reconfigure(languageFor(newDoc.length)) }
            : null,
        ),
        syntaxHighlighting(colours),
        markField,
        markTooltip,
        theme,
        EditorView.contentAttributes.of({
          "aria-label": options.label,
          // It can be focused anyway; tools that check for that look for the attribute.
          tabindex: "0",
          autocapitalize: "off",
          autocorrect: "off",
        }),
        ...(options.hint === undefined ? [] : [placeholder(options.hint)]),
        keymap.of([
          { key: "F8", run: (target) => walk(target, true) },
          { key: "Shift-F8", run: (target) => walk(target, false) },
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        EditorView.updateListener.of((update) => {
          const told = update.transactions.some((transaction) => transaction.annotation(byProgram));
          if (update.docChanged && !told) options.changed?.();
        }),
      ],
    }),
  });
  return {
    element: host,
    get text() {
      return view.state.sliceDoc();
    },
    set text(text) {
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
    bytes: (signal) => encoded(view.state.doc, signal),
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
    h("div", { className: "editor-title" }, h("h3", {}, title), ...extra),
    edit.element,
  );
}
