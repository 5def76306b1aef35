/** The Gateway panel: four tools over a registry of examples, as a model sees them, as each caller. */

import { Cancelled, Core } from "../core/client.js";
import type { GatewayAnswer, GatewayOverview } from "../core/protocol.js";
import { choice, h, milliseconds, pretty } from "../dom.js";
import { editor, titled } from "../editor.js";
import { type Panel, fenced, restoreSelect, textOf } from "../panel.js";

const IDENTITIES = [
  { name: "nobody", json: "" },
  { name: "reader", json: pretty({ id: "rita", scopes: ["notes:read"], resources: { "note:n1": ["read"] } }) },
  { name: "writer", json: pretty({ id: "wim", scopes: ["notes:read", "notes:write"], resources: { "note:n1": ["read"], "note:n2": ["read"] } }) },
  { name: "admin", json: pretty({ id: "ann", scopes: ["notes:read", "notes:write", "admin"], resources: {} }) },
];

const EXAMPLES: readonly (readonly [string, string, unknown])[] = [
  ["What is there?", "search", {}],
  ["Search for notes", "search", { query: "note" }],
  ["The schema of one operation", "schema", { name: "notes.read" }],
  ["Count words", "call", { operation: "text.count", input: { text: "three small words" } }],
  ["Input that does not fit", "call", { operation: "text.count", input: { text: 7 } }],
  ["Output that is made to fit", "call", { operation: "weather.now", input: { city: "Lisbon" } }],
  ["Read a note one may not have", "call", { operation: "notes.read", input: { id: "n2" } }],
  ["An error the operation declares", "call", { operation: "notes.erase", input: { id: "n9" } }],
  ["An operation that calls others", "call", { operation: "notes.digest", input: {} }],
  ["A hidden operation", "call", { operation: "admin.secrets", input: {} }],
  ["Too slow", "call", { operation: "jobs.slow", input: {} }],
  ["A batch", "batch", { calls: [{ operation: "text.slug", input: { text: "Hello, World" } }, { operation: "notes.list" }, { operation: "admin.reindex" }, { operation: "notes.burn" }] }],
];

export function gatewayPanel(changed: () => void): Panel {
  const core = new Core();
  let running: AbortController | undefined;
  let answers: GatewayAnswer[] = [];
  let started = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const soon = (): void => {
    changed();
    clearTimeout(timer);
    timer = setTimeout(() => void run(), 200);
  };
  const example = choice("Example", EXAMPLES.map(([name], index) => [String(index), name] as const), "1", () => useExample());
  const tool = choice("Tool", ["search", "schema", "call", "batch"], "search", soon);
  const who = choice("As", [...IDENTITIES.map(({ name }) => name), "custom"], "nobody", () => {
    changed();
    useIdentity();
  });
  const args = editor({ label: "Arguments of the tool", text: "", changed: soon });
  const identity = editor({ label: "Identity", text: "", hint: "Nobody: the caller has no identity.", changed: () => {
    who.select.value = "custom";
    soon();
  } });
  const heading = h("strong", { id: "gateway-verdict" }, "…");
  const facts = h("span", { className: "time" });
  const banner = h("div", { className: "banner", role: "status", id: "gateway-answer", "data-verdict": "loading" }, h("div", {}, heading), facts);
  const seen = h("pre", { id: "model-sees", tabIndex: 0, "aria-label": "What the model sees" });
  const structured = h("pre", { id: "structured", tabIndex: 0, "aria-label": "Structured content" });
  const rows = h("tbody", { id: "each" });
  const operations = h("tbody", { id: "operations" });
  const tools = h("div", { className: "tools", id: "gateway-tools" });
  const cost = h("p", { className: "empty" });

  const element = h(
    "div",
    { className: "panel" },
    h("div", { className: "toolbar" }, example.element, tool.element, who.element),
    h("div", { className: "pair short" }, titled("Arguments", args), titled("Identity", identity)),
    banner,
    h("div", { className: "pair" }, h("section", { className: "card" }, h("h3", {}, "What the model sees"), seen), h("section", { className: "card" }, h("h3", {}, "Structured content"), structured)),
    h("section", { className: "card each" }, h("h3", {}, "The same as each identity"), h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Outcome for each identity" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Identity"), h("th", { scope: "col" }, "Outcome"), h("th", { scope: "col" }, "In short"))), rows))),
    h(
      "div",
      { className: "pair" },
      h("section", { className: "card" }, h("h3", {}, "The four tools"), cost, tools),
      h("section", { className: "card" }, h("h3", {}, "Operations behind them"), h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Operations" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Operation"), h("th", { scope: "col" }, "Who may"))), operations))),
    ),
  );

  function useExample(): void {
    const chosen = EXAMPLES[Number(example.select.value)];
    if (chosen === undefined) return;
    tool.select.value = chosen[1];
    args.text = `${pretty(chosen[2])}\n`;
    soon();
  }

  function useIdentity(): void {
    const chosen = IDENTITIES.find(({ name }) => name === who.select.value);
    if (chosen !== undefined) identity.text = chosen.json;
    soon();
  }

  async function run(): Promise<void> {
    clearTimeout(timer);
    running?.abort();
    const controller = (running = new AbortController());
    banner.dataset["pending"] = "";
    const custom = { name: "custom", json: identity.text.trim() };
    try {
      const mine = who.select.value === "custom" ? [custom] : [];
      answers = await core.ask("gateway", { tool: tool.select.value, args: args.text, identities: [...IDENTITIES, ...mine] }, controller.signal);
      delete banner.dataset["pending"];
      show();
    } catch (error) {
      if (error instanceof Cancelled) return;
      delete banner.dataset["pending"];
      banner.dataset["verdict"] = "invalid";
      heading.textContent = `The arguments cannot be read: ${(error as Error).message}`;
      facts.textContent = "";
      seen.textContent = structured.textContent = "";
      rows.replaceChildren();
    }
  }

  function outcome({ result, refusal }: GatewayAnswer): { tone: string; word: string; short: string } {
    if (result === undefined) return { tone: "invalid", word: "not asked", short: refusal ?? "" };
    const found = result.structuredContent as { code?: string; message?: string } | undefined;
    if (result.isError) return { tone: "invalid", word: found?.code ?? "failed", short: found?.message ?? "" };
    return { tone: "valid", word: "answered", short: inShort(found) };
  }

  function inShort(content: unknown): string {
    const { operations: listed, results } = (content ?? {}) as { operations?: { name: string }[]; results?: { isError: boolean; error?: { code: string } }[] };
    if (Array.isArray(listed)) return listed.map(({ name }) => name).join(", ") || "nothing found";
    if (Array.isArray(results)) return results.map(({ isError, error }) => (isError ? (error?.code ?? "failed") : "answered")).join(", ");
    const text = JSON.stringify(content) ?? "";
    return text.length > 160 ? `${text.slice(0, 160)} …` : text;
  }

  function show(): void {
    const mine = answers.find(({ name }) => name === who.select.value);
    if (mine !== undefined) {
      const { tone, word, short } = outcome(mine);
      banner.dataset["verdict"] = tone;
      heading.textContent = tone === "valid" ? "answered" : `${word}: ${short}`;
      facts.textContent = `${mine.bytes.toLocaleString("en")} bytes, ${milliseconds(mine.ms)}`;
      const blocks = mine.result?.content ?? [];
      seen.textContent = blocks.map((block) => ("text" in block && typeof block.text === "string" ? block.text : pretty(block))).join("\n") || (mine.refusal ?? "");
      structured.textContent = pretty(mine.result?.structuredContent);
    }
    rows.replaceChildren(
      ...answers.map((answer) => {
        const { tone, word, short } = outcome(answer);
        return h("tr", { "data-tone": tone }, h("th", { scope: "row" }, answer.name), h("td", {}, h("span", { className: "tag" }, word)), h("td", { className: "wrap" }, short));
      }),
    );
  }

  function showOverview({ tools: four, operations: all, bytes }: GatewayOverview): void {
    const listed = all.filter(({ visibility }) => visibility !== "internal").length;
    const even = Math.ceil((bytes.gateway / bytes.direct) * listed);
    cost.textContent = `A model reads ${bytes.gateway.toLocaleString("en")} bytes of tools, however many operations there are. These ${listed}, listed one by one, take ${bytes.direct.toLocaleString("en")}: it pays from about ${even} on.`;
    tools.replaceChildren(...four.map(({ name, description, inputSchema }) => h("details", {}, h("summary", {}, h("code", {}, name)), h("p", {}, description), h("pre", { tabIndex: 0, "aria-label": `Input schema of ${name}` }, pretty(inputSchema)))));
    operations.replaceChildren(...all.map(({ id, description, access, type }) => h("tr", {}, h("td", { className: "wrap" }, h("code", {}, id), h("div", { className: "faint" }, `${description} (${type})`)), h("td", { className: "wrap" }, access))));
  }

  useExample();

  return {
    element,
    state: () => ({ tool: tool.select.value, args: args.text, who: who.select.value, identity: identity.text }),
    restore(state) {
      restoreSelect(tool.select, state, "tool");
      restoreSelect(who.select, state, "who");
      args.text = textOf(state, "args") ?? args.text;
      identity.text = textOf(state, "identity") ?? identity.text;
      void run();
    },
    report() {
      const told = answers.map((answer) => {
        const { word, short } = outcome(answer);
        return `- ${answer.name}: **${word}** ${short}`;
      });
      return [`### ${tool.select.value}\n`, fenced(args.text), "### As each identity\n", ...told, "\n### Answer\n", fenced(structured.textContent ?? "")].join("\n");
    },
    shown() {
      if (started) return;
      started = true;
      void core.ask("overview", undefined).then(showOverview, () => undefined);
    },
  };
}
