/** Places in an editor with something to say about them: drawn, told by a tooltip, walked by key. */

import { type Extension, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, hoverTooltip, keymap } from "@codemirror/view";
import { h } from "../dom.js";

/** A place with something to say about it. */
export interface Mark {
  from: number;
  to: number;
  tone: "invalid" | "unknown" | "note";
  message: string;
}

/** Shows these marks until the text changes. */
export const setMarks = StateEffect.define<readonly Mark[]>();

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

function walk(view: EditorView, forwards: boolean): boolean {
  const starts = view.state.field(markField).marks.map(({ from }) => from).sort((a, b) => a - b);
  const here = view.state.selection.main.from;
  const next = forwards ? starts.find((from) => from > here) : starts.findLast((from) => from < here);
  const target = next ?? (forwards ? starts[0] : starts.at(-1));
  if (target === undefined) return false;
  view.dispatch({ selection: { anchor: target }, effects: EditorView.scrollIntoView(target, { y: "center" }) });
  return true;
}

/** F8 and Shift-F8 walk the marks. */
export const marking: Extension = [
  markField,
  markTooltip,
  keymap.of([
    { key: "F8", run: (view) => walk(view, true) },
    { key: "Shift-F8", run: (view) => walk(view, false) },
  ]),
];
