/**
 * From JSON Pointers to places in a text. Invariant: as for the core, the last of repeated members
 * is the one that is meant. One pass over the text, however many pointers.
 */

import { visit } from "jsonc-parser";

/** Where a value stands; of a member also its name. */
export interface Place {
  from: number;
  to: number;
}

interface Wanted {
  children: Map<string, Wanted>;
  /** The pointers that end here. */
  pointer: string | undefined;
}

interface Frame {
  wanted: Wanted | undefined;
  /** Index of the next element; undefined in an object. */
  index: number | undefined;
  /** What the member that was just named is wanted for, and where its name stands. */
  member: Wanted | undefined;
}

const unescape = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~");
const escape = (token: string): string => token.replaceAll("~", "~0").replaceAll("/", "~1");

/** The tokens of a pointer. */
export function tokensOf(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescape);
}

function treeOf(pointers: Iterable<string>): Wanted {
  const root: Wanted = { children: new Map(), pointer: undefined };
  for (const pointer of pointers) {
    let node = root;
    for (const token of tokensOf(pointer)) {
      let next = node.children.get(token);
      if (next === undefined) node.children.set(token, (next = { children: new Map(), pointer: undefined }));
      node = next;
    }
    node.pointer = pointer;
  }
  return root;
}

/**
 * The places of the pointers, by pointer; those that lead nowhere are left out. Of a container the
 * bracket that opens it, of a member its name up to there. `fault` is where the text stops being JSON.
 */
export function locate(
  text: string,
  pointers: Iterable<string>,
): { places: Map<string, Place>; fault: number | undefined } {
  const places = new Map<string, Place>();
  const stack: Frame[] = [];
  const root = treeOf(pointers);
  let name: number | undefined;
  let fault: number | undefined;

  const meet = (offset: number, length: number): Wanted | undefined => {
    const top = stack.at(-1);
    let wanted: Wanted | undefined = root;
    if (top !== undefined) {
      wanted = top.index === undefined ? top.member : top.wanted?.children.get(String(top.index));
    }
    if (wanted?.pointer !== undefined) {
      places.set(wanted.pointer, { from: name ?? offset, to: offset + length });
    }
    name = undefined;
    return wanted;
  };
  const opening = (index: number | undefined) => (offset: number, length: number) => {
    stack.push({ wanted: meet(offset, length), index, member: undefined });
  };
  const closing = (): void => {
    stack.pop();
  };
  visit(
    text,
    {
      onObjectBegin: opening(undefined),
      onArrayBegin: opening(0),
      onObjectEnd: closing,
      onArrayEnd: closing,
      onObjectProperty(property, offset) {
        const top = stack.at(-1);
        if (top !== undefined) top.member = top.wanted?.children.get(property);
        name = offset;
      },
      onLiteralValue: (_value, offset, length) => {
        meet(offset, length);
      },
      onSeparator(character) {
        const top = stack.at(-1);
        if (character === "," && top?.index !== undefined) top.index += 1;
      },
      onError(_code, offset) {
        fault ??= offset;
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  );
  return { places, fault };
}

/** References followed on the way along one path. */
const MAX_REFERENCES = 64;

/**
 * A path through references as a pointer into the document. Where a reference leads out of the
 * document, the pointer ends at the reference.
 */
export function throughReferences(document: unknown, path: string): string {
  let node = document;
  let pointer = "";
  let followed = 0;
  const tokens = tokensOf(path);
  for (const [position, token] of tokens.entries()) {
    const next = memberOf(node, token);
    const last = position === tokens.length - 1;
    const reference = token === "$ref" || token === "$dynamicRef" || token === "$recursiveRef";
    if (reference && typeof next === "string" && !last) {
      const target = targetOf(document, next);
      followed += 1;
      if (target === undefined || followed > MAX_REFERENCES) return `${pointer}/${escape(token)}`;
      pointer = target.pointer;
      node = target.node;
      continue;
    }
    pointer = `${pointer}/${escape(token)}`;
    node = next;
  }
  return pointer;
}

function memberOf(node: unknown, token: string): unknown {
  return typeof node === "object" && node !== null && Object.hasOwn(node, token)
    ? (node as Record<string, unknown>)[token]
    : undefined;
}

function targetOf(document: unknown, reference: string): { node: unknown; pointer: string } | undefined {
  if (!reference.startsWith("#")) return undefined;
  let fragment;
  try {
    fragment = decodeURIComponent(reference.slice(1));
  } catch {
    return undefined;
  }
  if (fragment !== "" && !fragment.startsWith("/")) return anchored(document, fragment);
  let node = document;
  for (const token of tokensOf(fragment)) {
    node = memberOf(node, token);
    if (node === undefined) return undefined;
  }
  return { node, pointer: fragment };
}

/** Looks a named anchor up, without recursion: documents may be deep. */
function anchored(document: unknown, anchor: string): { node: unknown; pointer: string } | undefined {
  const open: { node: unknown; pointer: string }[] = [{ node: document, pointer: "" }];
  for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
    const { node, pointer } = entry;
    if (typeof node !== "object" || node === null) continue;
    if (memberOf(node, "$anchor") === anchor || memberOf(node, "$dynamicAnchor") === anchor) return entry;
    for (const [name, child] of Object.entries(node)) {
      open.push({ node: child, pointer: `${pointer}/${escape(name)}` });
    }
  }
  return undefined;
}
