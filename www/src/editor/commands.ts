/**
 * Commands on lines and their indentation, by blanks and brackets alone. CodeMirror's own ask a syntax
 * tree, which the editors do not have.
 */

import { type ChangeSpec, EditorSelection, type EditorState, type Line, type StateCommand, findClusterBreak } from "@codemirror/state";

const UNIT = "  ";

/** Characters beside the cursor that are looked at: a line may be megabytes long. */
const NEAR = 200;

/** A new line as deep as this one; deeper after an opening bracket, whose closing one moves down. */
export const newline: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const changes = state.changeByRange(({ from, to }) => {
    const line = state.doc.lineAt(from);
    const before = state.sliceDoc(Math.max(line.from, from - NEAR), from);
    const after = state.sliceDoc(to, Math.min(state.doc.lineAt(to).to, to + NEAR));
    const indent = indentOf(state, line, from);
    const opened = /[[{]\s*$/.test(before);
    const inner = `\n${indent}${opened ? UNIT : ""}`;
    const insert = opened && /^\s*[\]}]/.test(after) ? `${inner}\n${indent}` : inner;
    // Blanks around the break would stand at the end of one line and displace the next.
    const blank = /^\s*/.exec(after)?.[0].length ?? 0;
    const start = from - line.from === indent.length ? line.from : from;
    return { changes: { from: start, to: to + blank, insert }, range: EditorSelection.cursor(start + inner.length) };
  });
  dispatch(state.update(changes, { scrollIntoView: true, userEvent: "input" }));
  return true;
};

/** A new line below this one, as deep. */
export const blankLine: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const changes = state.changeByRange(({ head }) => {
    const line = state.doc.lineAt(head);
    const insert = `\n${indentOf(state, line)}`;
    return { changes: { from: line.to, insert }, range: EditorSelection.cursor(line.to + insert.length) };
  });
  dispatch(state.update(changes, { scrollIntoView: true, userEvent: "input" }));
  return true;
};

/** Where the text to be deleted ends, seen from a cursor. */
type Reach = (state: EditorState, cursor: number) => number;

function deleting(direction: "backward" | "forward", reach: Reach): StateCommand {
  return ({ state, dispatch }) => {
    if (state.readOnly) return false;
    const changes = state.changeByRange(({ empty, from, to }) => {
      const end = empty ? reach(state, from) : to;
      const start = Math.min(from, end);
      return { changes: { from: start, to: Math.max(from, end) }, range: EditorSelection.cursor(start) };
    });
    if (changes.changes.empty) return false;
    const kind = state.selection.ranges.every(({ empty }) => empty) ? direction : "selection";
    dispatch(state.update(changes, { scrollIntoView: true, userEvent: `delete.${kind}` }));
    return true;
  };
}

/** Deletes what is selected, or a character; in front of a line's text, a level of its indentation. */
export const deleteBackward = deleting("backward", (state, cursor) => {
  const line = state.doc.lineAt(cursor);
  const column = cursor - line.from;
  if (column === 0) return Math.max(0, cursor - 1);
  const indented = column <= NEAR && /^ +$/.test(state.sliceDoc(line.from, cursor));
  return indented ? cursor - (column % UNIT.length || UNIT.length) : line.from + findClusterBreak(line.text, column, false);
});

/** Deletes what is selected, or a character. */
export const deleteForward = deleting("forward", (state, cursor) => {
  const line = state.doc.lineAt(cursor);
  if (cursor === line.to) return Math.min(state.doc.length, cursor + 1);
  return line.from + findClusterBreak(line.text, cursor - line.from, true);
});

function indentOf(state: EditorState, line: Line, before = line.to): string {
  return /^\s*/.exec(state.sliceDoc(line.from, Math.min(before, line.from + NEAR)))?.[0] ?? "";
}

/** Changes each line that the selection touches; a line below it counts if more than its start is selected. */
function changingLines(state: EditorState, change: (line: Line) => ChangeSpec | undefined): { changes: ChangeSpec[] } {
  const changes: ChangeSpec[] = [];
  let done = 0;
  for (const { from, to, empty } of state.selection.ranges) {
    for (let line = state.doc.lineAt(from); line.from < to || (empty && line.from <= to); line = state.doc.line(line.number + 1)) {
      const made = line.number > done ? change(line) : undefined;
      if (made !== undefined) changes.push(made);
      done = Math.max(done, line.number);
      if (line.number === state.doc.lines) break;
    }
  }
  return { changes };
}

export const indentMore: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const changed = changingLines(state, (line) => ({ from: line.from, insert: UNIT }));
  dispatch(state.update(changed, { userEvent: "input.indent" }));
  return true;
};

export const indentLess: StateCommand = ({ state, dispatch }) => {
  if (state.readOnly) return false;
  const changed = changingLines(state, (line) => {
    const width = /^(?: {1,2}|\t)/.exec(state.sliceDoc(line.from, Math.min(line.to, line.from + UNIT.length)))?.[0].length;
    return width === undefined ? undefined : { from: line.from, to: line.from + width };
  });
  dispatch(state.update(changed, { userEvent: "delete.dedent" }));
  return true;
};
