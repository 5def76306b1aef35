/** What the frame knows of a panel. */

export interface Panel {
  element: HTMLElement;
  /** What a link holds: JSON. */
  state(): unknown;
  /** Takes such a state back; what is missing or of another kind keeps its default. */
  restore(state: unknown): void;
  /** Inputs and outcome as Markdown. */
  report(): string;
  /** The panel is shown: time to ask the core. */
  shown(): void;
}

/** The member if it is text. */
export function textOf(state: unknown, name: string): string | undefined {
  const value = typeof state === "object" && state !== null ? (state as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** Sets a select to the state's member, if that is one of its choices. */
export function restoreSelect(select: HTMLSelectElement, state: unknown, name: string): void {
  const value = textOf(state, name);
  if ([...select.options].some((option) => option.value === value)) select.value = value ?? "";
}

/** Sets a check box to the state's member, if that is a boolean. */
export function restoreBox(box: HTMLInputElement, state: unknown, name: string): void {
  const value = typeof state === "object" && state !== null ? (state as Record<string, unknown>)[name] : undefined;
  if (typeof value === "boolean") box.checked = value;
}

/** A fenced block of Markdown, whatever the text holds; long text is cut. */
export function fenced(text: string, language = "json"): string {
  const cut = text.length > 20_000 ? `${text.slice(0, 20_000)}\n… ${text.length} characters in all` : text;
  const ticks = "`".repeat(Math.max(3, ...[...cut.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return `${ticks}${language}\n${cut}\n${ticks}\n`;
}
