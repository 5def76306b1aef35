/** The Pipeline panel: what came in, step by step, and the envelope it became. */

import { Cancelled, Core } from "../core/client.js";
import type { PipelineInput, PipelineOutput } from "../core/protocol.js";
import { choice, flag, h } from "../dom.js";
import { editor, titled } from "../editor.js";
import { type Panel, fenced, restoreBox, restoreSelect, textOf } from "../panel.js";

interface Example {
  name: string;
  kind: PipelineInput["kind"];
  value: string;
  schema: string;
}

const forecast = `{
  "type": "object",
  "properties": {
    "city": { "type": "string" },
    "celsius": { "type": "number" },
    "unit": { "enum": ["celsius", "fahrenheit"], "default": "celsius" }
  },
  "required": ["city", "celsius", "unit"]
}
`;

const examples: readonly Example[] = [
  { name: "Handler: data that almost fits", kind: "handler", value: `{\n  "city": "Lisbon",\n  "celsius": "21",\n  "seen": true\n}\n`, schema: forecast },
  { name: "Handler: an envelope of HTTP", kind: "handler", value: `{\n  "data": { "city": "Lisbon", "celsius": "21" },\n  "meta": {\n    "source": "http",\n    "statusCode": 200,\n    "headers": { "content-type": "application/json" },\n    "contentType": "application/json"\n  }\n}\n`, schema: forecast },
  { name: "Handler: a schema that makes nothing up", kind: "handler", value: `{\n  "id": 7\n}\n`, schema: `{\n  "type": "object",\n  "properties": { "id": { "type": "string", "pattern": "^[A-Z]{3}$" } },\n  "required": ["id"]\n}\n` },
  { name: "Tool: structured content that fits", kind: "tool", value: `{\n  "content": [{ "type": "text", "text": "21 degrees in Lisbon" }],\n  "structuredContent": { "city": "Lisbon", "celsius": 21, "unit": "celsius" }\n}\n`, schema: forecast },
  { name: "Tool: structured content that does not", kind: "tool", value: `{\n  "content": [{ "type": "text", "text": "21 degrees" }, { "type": "text" }],\n  "structuredContent": { "city": "Lisbon", "celsius": "21" }\n}\n`, schema: forecast },
  { name: "Tool: JSON in its text alone", kind: "tool", value: `{\n  "content": [{ "type": "text", "text": "{\\"city\\": \\"Lisbon\\", \\"celsius\\": 21, \\"unit\\": \\"celsius\\"}" }]\n}\n`, schema: forecast },
  { name: "Tool: it says that it failed", kind: "tool", value: `{\n  "content": [{ "type": "text", "text": "the station is down" }],\n  "isError": true\n}\n`, schema: forecast },
];

const TITLES = { detect: "Detect", wrap: "Wrap", normalize: "Normalize", validate: "Validate" } as const;

export function pipelinePanel(changed: () => void): Panel {
  const core = new Core();
  let running: AbortController | undefined;
  let output: PipelineOutput | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let started = false;

  const soon = (): void => {
    changed();
    clearTimeout(timer);
    timer = setTimeout(() => void run(), 120);
  };
  const value = editor({ label: "What came in", text: "", changed: soon });
  const schema = editor({ label: "Output schema", text: "", changed: soon });
  const example = choice("Example", examples.map(({ name }, index) => [String(index), name] as const), "0", () => useExample());
  const kind = choice("What came in", [["handler", "a handler's return"], ["tool", "a tool's result"]], "handler", () => {
    arrange();
    soon();
  });
  const normalize = choice("Normalize", [["", "by default"], "cast", "cast-0.34", "defaults", "off"], "", soon);
  const validation = choice("Validation", ["enforce", "report", "off"], "enforce", soon);
  const version = choice("Revision", [["", "newest with a handshake"], "2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05"], "", soon);
  const always = flag("Wrap always", false, soon);
  const require = flag("Require structured content", false, soon);
  const fallback = flag("Parse text as a fallback", false, soon);
  const steps = h("ol", { className: "steps", id: "steps", "aria-label": "Steps" });
  const envelope = h("pre", { id: "envelope", tabIndex: 0, "aria-label": "Envelope" });
  const fault = h("p", { className: "fault", id: "pipeline-fault", role: "alert", hidden: true });

  const element = h(
    "div",
    { className: "panel" },
    h("div", { className: "toolbar" }, example.element, kind.element, normalize.element, validation.element, version.element, always.element, require.element, fallback.element),
    h("div", { className: "pair short" }, titled("What came in", value), titled("Output schema", schema)),
    h(
      "div",
      { className: "pair" },
      h("section", { className: "card" }, h("h3", {}, "Step by step"), steps, fault),
      h("section", { className: "card" }, h("h3", {}, "Envelope"), envelope),
    ),
  );

  /** Shows the options that mean something for what came in. */
  function arrange(): void {
    const tool = kind.select.value === "tool";
    always.element.hidden = tool;
    for (const { element: field } of [validation, version, require, fallback]) field.hidden = !tool;
  }

  function useExample(): void {
    const chosen = examples[Number(example.select.value)];
    if (chosen === undefined) return;
    value.text = chosen.value;
    schema.text = chosen.schema;
    kind.select.value = chosen.kind;
    arrange();
    soon();
  }

  const input = (): PipelineInput => ({
    kind: kind.select.value as PipelineInput["kind"],
    value: value.text,
    schema: schema.text,
    normalize: normalize.select.value as PipelineInput["normalize"],
    wrapAlways: always.box.checked,
    validation: validation.select.value as PipelineInput["validation"],
    requireStructured: require.box.checked,
    parseTextFallback: fallback.box.checked,
    protocolVersion: version.select.value,
  });

  async function run(): Promise<void> {
    clearTimeout(timer);
    running?.abort();
    const controller = (running = new AbortController());
    try {
      output = await core.ask("pipeline", input(), controller.signal);
      show(output);
    } catch (error) {
      if (error instanceof Cancelled) return;
      show({ steps: [], envelope: undefined, error: (error as Error).message });
    }
  }

  function show({ steps: taken, envelope: made, error }: PipelineOutput): void {
    steps.replaceChildren(
      ...taken.map(({ name, tone, headline, details }) =>
        h("li", { "data-tone": tone, "data-step": name }, h("span", { className: "step-name" }, TITLES[name]), h("strong", {}, headline), details.length > 0 && h("ul", {}, ...details.map((text) => h("li", {}, text)))),
      ),
    );
    fault.hidden = error === undefined;
    fault.textContent = error ?? "";
    envelope.textContent = made ?? "There is no envelope.";
  }

  useExample();

  return {
    element,
    state: input,
    restore(state) {
      value.text = textOf(state, "value") ?? value.text;
      schema.text = textOf(state, "schema") ?? schema.text;
      for (const [name, { select }] of Object.entries({ kind, normalize, validation, protocolVersion: version })) restoreSelect(select, state, name);
      for (const [name, { box }] of Object.entries({ wrapAlways: always, requireStructured: require, parseTextFallback: fallback })) restoreBox(box, state, name);
      arrange();
      void run();
    },
    report() {
      const { value: came, schema: wanted, ...options } = input();
      const told = (output?.steps ?? []).map(({ name, headline, details }) => `- ${name}: **${headline}**${details.map((text) => `\n  - ${text}`).join("")}`);
      return ["### What came in\n", fenced(came), "### Output schema\n", fenced(wanted), "### Options\n", fenced(JSON.stringify(options, null, 2)), "### Outcome\n", ...told, output?.error ?? "", fenced(output?.envelope ?? "none")].join("\n");
    },
    shown() {
      if (started) return;
      started = true;
      void run();
    },
  };
}
