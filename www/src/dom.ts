/** Making elements. Text is always set as text: nothing here reads markup. */

type Child = Node | string | undefined | false;
type Properties = Record<string, unknown>;

/** An element; `on…` members are listeners, `data-`, `aria-` and `role` attributes, others properties. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, String(value));
    else Reflect.set(element, name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** A select with its label. `choices` are values, or pairs of value and text. */
export function choice(
  label: string,
  choices: readonly (string | readonly [string, string])[],
  value: string,
  changed: () => void,
): { element: HTMLElement; select: HTMLSelectElement } {
  const select = h("select", { onchange: changed });
  for (const entry of choices) {
    const [name, text] = typeof entry === "string" ? [entry, entry] : entry;
    select.append(new Option(text, name));
  }
  select.value = value;
  return { element: h("label", { className: "field" }, h("span", {}, label), select), select };
}

/** A check box with its label. */
export function flag(
  label: string,
  checked: boolean,
  changed: () => void,
): { element: HTMLElement; box: HTMLInputElement } {
  const box = h("input", { type: "checkbox", checked, onchange: changed });
  return { element: h("label", { className: "flag" }, box, label), box };
}

/** Puts text on the clipboard; false where the browser refuses. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds for people. */
export function milliseconds(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(1)} s`;
}

/** The value as text with two spaces of indentation. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "undefined";
}
