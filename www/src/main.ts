/** The frame: panels behind tabs, light and dark, links and reports. */

import { onCore } from "./core/client.js";
import { copy, h } from "./dom.js";
import type { Panel } from "./panel.js";
import { gatewayPanel } from "./panels/gateway.js";
import { pipelinePanel } from "./panels/pipeline.js";
import { sessionPanel } from "./panels/session.js";
import { validatePanel } from "./panels/validate.js";
import { MAX_LINK, fromHash, toHash } from "./share.js";

const makers: Record<string, { title: string; make: (changed: () => void) => Panel }> = {
  validate: { title: "Validate", make: validatePanel },
  session: { title: "Session", make: sessionPanel },
  pipeline: { title: "Pipeline", make: pipelinePanel },
  gateway: { title: "Gateway", make: gatewayPanel },
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

function panelOf(name: string): Panel {
  let panel = panels.get(name);
  if (panel === undefined) {
    // A link holds what was on show when it was made; after a change it would lie.
    panel = (makers[name] as (typeof makers)[string]).make(() => {
      if (location.hash.includes(".")) history.replaceState(null, "", `#${current}`);
    });
    panels.set(name, panel);
    sheets.get(name)?.append(panel.element);
  }
  return panel;
}

function show(name: string): Panel {
  current = name;
  for (const [other, tab] of tabs) {
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    (sheets.get(other) as HTMLElement).hidden = other !== name;
  }
  const panel = panelOf(name);
  panel.shown();
  return panel;
}

function choose(name: string): void {
  history.replaceState(null, "", `#${name}`);
  show(name);
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
  const { hash, fits } = await toHash(current, panelOf(current).state());
  if (!fits) {
    notify(`This is too large for a link (at most ${MAX_LINK.toLocaleString("en")} characters). A bug report holds it.`, "bad");
    return;
  }
  history.replaceState(null, "", hash);
  const copied = await copy(location.href);
  notify(copied ? `Link copied: ${location.href.length} characters, no server involved.` : "The link is in the address bar.");
}

async function report(): Promise<void> {
  const title = makers[current]?.title;
  const head = `## toolwire playground: ${title}\n\ntoolwire ${version}; ${navigator.userAgent}\n\n`;
  const copied = await copy(head + panelOf(current).report());
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
  let link: Awaited<ReturnType<typeof fromHash>>;
  try {
    link = await fromHash(location.hash);
  } catch {
    notify("The link cannot be read; it may have been cut off.", "bad");
    link = { panel: location.hash.slice(1).split(".")[0] ?? "", state: undefined };
  }
  const panel = show(names.includes(link.panel) ? link.panel : "validate");
  if (link.state !== undefined) panel.restore(link.state);
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
