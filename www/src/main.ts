/**
 * The frame: panels behind tabs, light and dark, links and reports. The first panel comes with it; what
 * the others need, and what links need, is loaded when it is wanted.
 */

import { onCore } from "./core/client.js";
import { copy, h } from "./dom.js";
import type { Panel } from "./panel.js";
import { validatePanel } from "./panels/validate.js";

type Make = (changed: () => void) => Panel;

const makers: Record<string, { title: string; load: () => Make | Promise<Make> }> = {
  validate: { title: "Validate", load: () => validatePanel },
  session: { title: "Session", load: async () => (await import("./panels/session.js")).sessionPanel },
  pipeline: { title: "Pipeline", load: async () => (await import("./panels/pipeline.js")).pipelinePanel },
  gateway: { title: "Gateway", load: async () => (await import("./panels/gateway.js")).gatewayPanel },
};
const names = Object.keys(makers);

const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const panels = new Map<string, Panel>();
const tabs = new Map<string, HTMLButtonElement>();
const sheets = new Map<string, HTMLElement>();
let current = "validate";
let version = "";
let noticeTimer: ReturnType<typeof setTimeout> | undefined;

function notify(text: string, tone: "good" | "bad" = "good"): void {
  const notice = element("notice");
  notice.textContent = text;
  notice.dataset["tone"] = tone;
  notice.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (notice.hidden = true), tone === "good" ? 4_000 : 10_000);
}

/** The makers of panels that are there, and those on their way. One that failed may be tried again. */
const loaded = new Map<string, Make>();
const loading = new Map<string, Promise<Make>>();

function load(name: string): Promise<Make> {
  let made = loading.get(name);
  if (made === undefined) {
    made = Promise.resolve((makers[name] as (typeof makers)[string]).load());
    loading.set(name, made);
    made.then(
      (make) => loaded.set(name, make),
      () => loading.delete(name),
    );
  }
  return made;
}

function panelBy(name: string, make: Make): Panel {
  let panel = panels.get(name);
  if (panel === undefined) {
    // A link holds what was on show when it was made; after a change it would lie.
    panel = make(() => {
      if (location.hash.includes(".")) history.replaceState(null, "", `#${current}`);
    });
    panels.set(name, panel);
    sheets.get(name)?.append(panel.element);
  }
  return panel;
}

/** The panel; undefined if it could not be loaded, which is said. */
async function panelOf(name: string): Promise<Panel | undefined> {
  const sheet = sheets.get(name) as HTMLElement;
  let make = loaded.get(name);
  if (make === undefined) {
    sheet.setAttribute("aria-busy", "true");
    make = await load(name).catch(() => undefined);
    sheet.removeAttribute("aria-busy");
  }
  if (make !== undefined) return panelBy(name, make);
  notify(`The panel ${makers[name]?.title} could not be loaded. Reload the page to try again.`, "bad");
  return undefined;
}

/** Shows the sheet at once, and the panel in it in the same turn if it is there. */
async function show(name: string): Promise<Panel | undefined> {
  current = name;
  for (const [other, tab] of tabs) {
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    (sheets.get(other) as HTMLElement).hidden = other !== name;
  }
  const panel = await panelOf(name);
  panel?.shown();
  return panel;
}

function choose(name: string): void {
  history.replaceState(null, "", `#${name}`);
  void show(name);
}

function layOut(): void {
  for (const [name, { title }] of Object.entries(makers)) {
    const tab = h("button", { type: "button", id: `tab-${name}`, role: "tab", "aria-controls": `panel-${name}`, onclick: () => choose(name) }, title);
    tabs.set(name, tab);
    element("tabs").append(tab);
    const sheet = h("div", { id: `panel-${name}`, role: "tabpanel", "aria-labelledby": `tab-${name}`, hidden: true }, h("h2", { className: "hidden" }, title));
    sheets.set(name, sheet);
    element("panels").append(sheet);
  }
  // Who comes near the tabs will choose one: it is loaded by then.
  for (const near of ["pointerenter", "focusin", "touchstart"]) {
    element("tabs").addEventListener(near, () => names.forEach((name) => void load(name).catch(() => undefined)), { once: true, passive: true });
  }
  element("tabs").addEventListener("keydown", (event) => {
    const at = names.indexOf(current);
    const target = { ArrowRight: at + 1, ArrowLeft: at - 1 + names.length, Home: 0, End: names.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const name = names[target % names.length] as string;
    choose(name);
    tabs.get(name)?.focus();
  });
}

async function share(): Promise<void> {
  const name = current;
  const [panel, links] = await Promise.all([panelOf(name), import("./share.js").catch(() => undefined)]);
  if (panel === undefined) return;
  if (links === undefined) {
    notify("What makes links could not be loaded. Reload the page to try again.", "bad");
    return;
  }
  const { MAX_LINK, toHash } = links;
  const { hash, fits } = await toHash(name, panel.state());
  if (!fits) {
    notify(`This is too large for a link (at most ${MAX_LINK.toLocaleString("en")} characters). A bug report holds it.`, "bad");
    return;
  }
  history.replaceState(null, "", hash);
  const copied = await copy(location.href);
  notify(copied ? `Link copied: ${location.href.length} characters, no server involved.` : "The link is in the address bar.");
}

async function report(): Promise<void> {
  const name = current;
  const panel = await panelOf(name);
  if (panel === undefined) return;
  const title = makers[name]?.title;
  const head = `## toolwire playground: ${title}\n\ntoolwire ${version}; ${navigator.userAgent}\n\n`;
  const copied = await copy(head + panel.report());
  notify(copied ? "Bug report copied as Markdown." : "The browser does not let the page copy.", copied ? "good" : "bad");
}

const THEMES = ["auto", "light", "dark"];

/** A remembered setting; where storage is refused, there is none. */
function remembered(): string {
  try {
    return localStorage.getItem("theme") ?? "auto";
  } catch {
    return "auto";
  }
}

function setTheme(theme: string): void {
  document.documentElement.dataset["theme"] = theme;
  element("theme").textContent = `Theme: ${theme}`;
  try {
    localStorage.setItem("theme", theme);
  } catch {
    // The choice holds for this visit.
  }
}

async function fromLink(): Promise<void> {
  const [, name = "", text] = /^#([a-z]+)(?:\.([\w-]*))?/.exec(location.hash) ?? [];
  const chosen = names.includes(name) ? name : "validate";
  const reading = text === undefined ? undefined : import("./share.js").then(({ stateIn }) => stateIn(text));
  const [panel, state] = await Promise.all([
    show(chosen),
    reading?.catch(() => notify("The link cannot be read; it may have been cut off.", "bad")),
  ]);
  if (state !== undefined) panel?.restore(state);
}

async function start(): Promise<void> {
  setTheme(THEMES.includes(remembered()) ? remembered() : "auto");
  layOut();
  element("theme").addEventListener("click", () => {
    const at = THEMES.indexOf(document.documentElement.dataset["theme"] ?? "auto");
    setTheme(THEMES[(at + 1) % THEMES.length] as string);
  });
  element("share").addEventListener("click", () => void share());
  element("report").addEventListener("click", () => void report());
  window.addEventListener("hashchange", () => void fromLink());
  onCore((info) => {
    if (typeof info !== "string") version = info.version;
    element("core").textContent =
      typeof info === "string" ? `The core could not be loaded: ${info}` : `toolwire ${info.version}, Unicode ${info.unicode}`;
  });
  await fromLink();
}

void start();
