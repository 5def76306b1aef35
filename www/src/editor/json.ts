/**
 * JSON in the editor, without a parser. No token of JSON crosses a line, so each line on show is read
 * alone, whatever stands before it. It is read from its start, so a long one is not read.
 */

import { type EditorState, type Extension, type Line, type Range, RangeSet, type StateCommand } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { LARGE, LONG_LINE } from "./large.js";

/** Characters that are searched for the other bracket of a pair. */
const MAX_SEARCHED = 20_000;

const TOKEN = /"(?:[^"\\]|\\.)*"?|-?\d[\w.+-]*|(?:true|false|null)\b|[[\]{},:]/g;
const NAME = /\s*:/y;

const classes = Object.fromEntries(
  ["name", "string", "number", "atom", "point"].map((kind) => [kind, Decoration.mark({ class: `tw-${kind}` })]),
) as Record<"name" | "string" | "number" | "atom" | "point", Decoration>;
const pair = Decoration.mark({ class: "tw-pair" });

function decorationOf(token: string, text: string, end: number): Decoration {
  const first = token.charCodeAt(0);
  if (first === 0x22) {
    NAME.lastIndex = end;
    return NAME.test(text) ? classes.name : classes.string;
  }
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) return classes.number;
  return token.length > 1 ? classes.atom : classes.point;
}

/** Adds the colours of what is on show; gives why there are none, or not everywhere. */
function colour({ state, visibleRanges }: EditorView, into: Range<Decoration>[]): "" | "large" | "long line" {
  if (state.doc.length > LARGE) return "large";
  let plain: "" | "long line" = "";
  let done = 0;
  for (const { from, to } of visibleRanges) {
    for (let line = state.doc.lineAt(from); line.from <= to; line = state.doc.line(line.number + 1)) {
      if (line.length > LONG_LINE) plain = "long line";
      else {
        for (const { index, 0: token } of line.text.matchAll(TOKEN)) {
          const start = line.from + index;
          const end = start + token.length;
          if (start >= to) break;
          if (end <= from || start < done) continue;
          into.push(decorationOf(token, line.text, index + token.length).range(start, end));
          done = end;
        }
      }
      if (line.number === state.doc.lines) break;
    }
  }
  return plain;
}

interface Bracket {
  at: number;
  bracket: string;
}

/** The brackets of a line that are not part of a string. */
function bracketsOf(line: Line): Bracket[] {
  const found: Bracket[] = [];
  if (line.length > LONG_LINE) return found;
  for (const { index, 0: token } of line.text.matchAll(TOKEN)) {
    if (token.length === 1 && "[]{}".includes(token)) found.push({ at: line.from + index, bracket: token });
  }
  return found;
}

const opens = (bracket: string): boolean => bracket === "[" || bracket === "{";

/**
 * Goes over the brackets from a position on, or back from it, and gives the first that closes more than
 * was opened on the way.
 */
function unbalanced(state: EditorState, position: number, forwards: boolean): Bracket | undefined {
  let depth = 0;
  for (let line = state.doc.lineAt(position); ; line = state.doc.line(line.number + (forwards ? 1 : -1))) {
    const all = bracketsOf(line);
    for (const each of forwards ? all : all.reverse()) {
      if (forwards ? each.at < position : each.at >= position) continue;
      depth += opens(each.bracket) === forwards ? 1 : -1;
      if (depth < 0) return each;
    }
    const end = forwards ? line.to : line.from;
    const last = line.number === (forwards ? state.doc.lines : 1);
    if (last || line.length > LONG_LINE || Math.abs(end - position) > MAX_SEARCHED) return undefined;
  }
}

/** The pair with a bracket on either side of the position; the former is the one that stands there. */
function pairAt(state: EditorState, position: number): [number, number] | undefined {
  const here = bracketsOf(state.doc.lineAt(position)).filter(({ at }) => at === position - 1 || at === position);
  for (const { at, bracket } of here) {
    const open = opens(bracket);
    const other = unbalanced(state, open ? at + 1 : at, open);
    const both = open ? bracket + other?.bracket : other?.bracket + bracket;
    if (other !== undefined && (both === "[]" || both === "{}")) return [at, other.at];
  }
  return undefined;
}

/** Selects what the brackets around the selection hold, and then the brackets too. */
export const selectAround: StateCommand = ({ state, dispatch }) => {
  const { from, to } = state.selection.main;
  const start = unbalanced(state, from, false);
  const end = unbalanced(state, to, true);
  if (start === undefined || end === undefined) return false;
  const held = from === start.at + 1 && to === end.at ? 1 : 0;
  dispatch(state.update({ selection: { anchor: start.at + 1 - held, head: end.at + held }, userEvent: "select" }));
  return true;
};

/** Goes to the other bracket of the pair at the cursor. */
export const toPartner: StateCommand = ({ state, dispatch }) => {
  const found = pairAt(state, state.selection.main.head);
  if (found === undefined) return false;
  dispatch(state.update({ selection: { anchor: found[1] }, scrollIntoView: true, userEvent: "select" }));
  return true;
};

/** Colours, and the pair of brackets at the cursor. `plain` is told why something has no colours, or "". */
export function jsonLook(plain: (why: string) => void): Extension {
  const colours = ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = this.#made(view);
      }
      update({ docChanged, viewportChanged, view }: ViewUpdate): void {
        if (docChanged || viewportChanged) this.decorations = this.#made(view);
      }
      #made(view: EditorView): DecorationSet {
        const found: Range<Decoration>[] = [];
        plain(colour(view, found));
        return RangeSet.of(found);
      }
    },
    { decorations: ({ decorations }) => decorations },
  );
  const pairs = EditorView.decorations.compute(["doc", "selection"], (state) => {
    const { empty, head } = state.selection.main;
    const found = empty ? pairAt(state, head) : undefined;
    return found === undefined ? Decoration.none : RangeSet.of(found.map((at) => pair.range(at, at + 1)), true);
  });
  return [colours, pairs];
}
