/** The Session panel. Invariant: the steps on show are those of one run of one script. */

import { Cancelled, Core } from "../core/client.js";
import type { SessionInput, SessionOutput, SessionSettings, Step } from "../core/protocol.js";
import { choice, flag, h, milliseconds } from "../dom.js";
import { editor } from "../editor.js";
import { type Panel, fenced, restoreBox, restoreSelect, textOf } from "../panel.js";
import { serverChoices } from "../servers/catalog.js";

const TRANSCRIPT = "transcript";
const REVISIONS = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** Characters of a frame shown before one asks for the rest. */
const SHORT = 400;

const PASTED = `# One input a line: "@milliseconds" if it matters when, then
# "<" and a line of the server's, or what the host does:
# connect, call NAME {…}, request METHOD {…}, answer {…}, cancel N, end, exit CODE.
connect
< {"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}
< {"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"pasted","version":"1"}}}
< {"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"hello","inputSchema":{"type":"object"}}]}}
call hello {}
< DEBUG this is no message
< {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"hi"}]}}
`;

const ARROWS = {
  out: ["→", "to the server"],
  in: ["←", "from the server"],
  host: ["•", "the host"],
  time: ["◷", "time"],
} as const;

/** What makes two steps of different runs the same. */
const signature = (step: Step): string =>
  JSON.stringify([step.kind, step.text, step.reading, step.notes]);

export function sessionPanel(changed: () => void): Panel {
  const core = new Core();
  let running: AbortController | undefined;
  let output: SessionOutput | undefined;
  let before: SessionOutput | undefined;
  let fresh = new Set<Step>();
  let times: number[] = [0];
  let started = false;

  const again = (): void => {
    changed();
    void run();
  };
  const script = editor({ label: "Script of the session", text: "", language: "text", changed });
  const source = choice("Server", [...serverChoices.map(({ name, title }) => [name, title] as const), [TRANSCRIPT, "None: a transcript"]], "quickstart", () => useSource());
  const profile = choice("Profile", ["contain", "strict"], "contain", again);
  const validation = choice("Validation", ["enforce", "report", "off"], "enforce", again);
  const era = choice("Era", ["auto", "legacy", "modern"], "auto", again);
  const revision = choice("Revision", [["", "all known"], ...REVISIONS.map((name) => [name, name] as const)], "", again);
  const lenient = flag("Lenient ids", false, again);
  const timeout = h("input", { type: "number", min: "1", max: "600000", step: "1000", value: "20000", onchange: again });
  const timeoutField = h("label", { className: "field" }, h("span", {}, "Request timeout, ms"), timeout);

  const about = h("p", { className: "about" });
  const runButton = h("button", { type: "button", className: "primary", onclick: () => void run() }, "Run");
  const fix = h("button", { type: "button", onclick: () => asTranscript(), title: "Puts the whole run into the script, to be edited" }, "Edit the run");
  const faults = h("p", { className: "fault", role: "alert", hidden: true });

  const slider = h("input", { type: "range", min: "0", value: "0", step: "1", id: "time-slider", oninput: () => showAt() });
  const clock = h("output", { id: "clock" });
  const deadline = h("button", { type: "button", onclick: () => toDeadline() }, "To the next deadline");
  const phase = h("strong", { id: "phase" }, "idle");
  const pending = h("ul", { className: "pending", id: "pending", "aria-label": "Pending requests" });
  const due = h("p", { id: "due", className: "empty" });
  const comparison = h("div", { id: "comparison", className: "comparison" });
  const timeline = h("ol", { className: "timeline", id: "timeline", "aria-label": "Timeline", tabIndex: 0 });
  const summary = h("p", { className: "empty", id: "run-summary", role: "status" }, "Not run yet.");

  const element = h(
    "div",
    { className: "panel" },
    h("div", { className: "toolbar" }, source.element, profile.element, validation.element, era.element, revision.element, timeoutField, lenient.element),
    about,
    h(
      "div",
      { className: "session" },
      h(
        "div",
        { className: "session-side" },
        h(
          "section",
          { className: "editor short" },
          h("div", { className: "editor-title" }, h("h3", {}, "Script"), script.note, fix, runButton),
          script.element,
        ),
        faults,
        h(
          "section",
          { className: "card" },
          h("div", { className: "card-head" }, h("label", { for: "time-slider" }, h("h3", {}, "Simulated time")), clock),
          slider,
          h("div", { className: "phase" }, "Session: ", phase, deadline),
          due,
          h("h4", {}, "Pending requests"),
          pending,
        ),
        h("section", { className: "card" }, h("h3", {}, "Against the run before"), comparison),
      ),
      h("section", { className: "card timeline-card" }, h("div", { className: "card-head" }, h("h3", {}, "Timeline"), summary), timeline),
    ),
  );

  function useSource(): void {
    const choiceOfServer = serverChoices.find(({ name }) => name === source.select.value);
    script.text = choiceOfServer?.script ?? PASTED;
    describe();
    before = undefined;
    output = undefined;
    again();
  }

  function describe(): void {
    const known = serverChoices.find(({ name }) => name === source.select.value);
    about.textContent = known?.about ?? "The script has the server's lines too; nothing runs but the core. Paste any transcript.";
  }

  function settings(): SessionSettings {
    return {
      profile: profile.select.value as SessionSettings["profile"],
      validation: validation.select.value as SessionSettings["validation"],
      era: era.select.value as SessionSettings["era"],
      revision: revision.select.value,
      lenientIds: lenient.box.checked,
      requestTimeoutMs: Math.max(1, Math.min(600_000, Math.round(Number(timeout.value)) || 20_000)),
    };
  }

  async function run(): Promise<void> {
    running?.abort();
    const controller = (running = new AbortController());
    const input: SessionInput = {
      settings: settings(),
      server: source.select.value === TRANSCRIPT ? undefined : source.select.value,
      script: script.text,
    };
    timeline.setAttribute("aria-busy", "true");
    try {
      const next = await core.ask("session", input, controller.signal);
      if (controller.signal.aborted) return;
      before = output;
      output = next;
      show(next);
    } catch (error) {
      if (error instanceof Cancelled) return;
      output = undefined;
      timeline.replaceChildren();
      summary.textContent = (error as Error).message;
      phase.textContent = "not made";
      pending.replaceChildren(h("li", { className: "empty" }, "None."));
      due.textContent = "";
    } finally {
      if (running === controller) timeline.removeAttribute("aria-busy");
    }
  }

  function show(run: SessionOutput): void {
    faults.hidden = run.faults.length === 0;
    faults.textContent = run.faults.map(({ line, message }) => `Line ${line}: ${message}.`).join(" ");
    times = [...new Set(run.steps.map(({ t }) => t))];
    if (times.length === 0) times = [0];
    slider.max = String(times.length - 1);
    slider.value = slider.max;
    const frames = run.steps.filter(({ kind }) => kind === "in" || kind === "out").length;
    summary.textContent = `${frames} frames in ${milliseconds(times.at(-1) ?? 0)} of simulated time; run in ${milliseconds(run.ms)}${run.truncated ? "; cut at its bound" : ""}.`;
    compare(run);
    timeline.replaceChildren(...run.steps.map((step) => row(step)));
    showAt();
  }

  function compare(run: SessionOutput): void {
    fresh = new Set();
    if (before === undefined) {
      comparison.replaceChildren(h("p", { className: "empty" }, "Change a setting or a line, and what differs is marked."));
      return;
    }
    const left = new Map<string, Step[]>();
    for (const step of before.steps) {
      const key = signature(step);
      left.set(key, [...(left.get(key) ?? []), step]);
    }
    for (const step of run.steps) {
      const same = left.get(signature(step));
      if (same === undefined || same.length === 0) fresh.add(step);
      else same.pop();
    }
    const gone = [...left.values()].flat().sort((a, b) => a.t - b.t);
    if (fresh.size === 0 && gone.length === 0) {
      comparison.replaceChildren(h("p", { className: "empty" }, "The same, step for step."));
      return;
    }
    comparison.replaceChildren(
      h("p", { className: "empty" }, `${fresh.size} steps are new or different (marked in the timeline); ${gone.length} of the run before are gone.`),
      h("ul", { className: "gone" }, ...gone.slice(0, 20).map((step) => h("li", {}, h("code", {}, `${ARROWS[step.kind][0]} ${step.text.slice(0, 120)}`), ...step.notes.map(({ kind, text }) => h("div", {}, `${kind}: ${text.slice(0, 200)}`))))),
    );
  }

  function row(step: Step): HTMLElement {
    const [arrow, words] = ARROWS[step.kind];
    const long = step.text.length > SHORT;
    const text = h("code", { className: "frame" }, long ? `${step.text.slice(0, SHORT)} …` : step.text || "(an empty line)");
    const body = h("div", { className: "step-body" }, text);
    if (long) {
      const more = h("button", { type: "button", className: "quiet", onclick: () => {
        text.textContent = step.text;
        more.remove();
      } }, "Show all");
      body.append(more);
    }
    const decisions = h("ul", { className: "decisions" });
    if (step.reading !== undefined) {
      const { kind, reason } = step.reading;
      const tone = kind === "noise" ? "unknown" : kind === "malformed" ? "invalid" : "plain";
      const spelled = kind === "noise" ? "noise: no message at all" : kind === "malformed" ? `malformed: ${reason ?? ""}` : `message: ${kind}`;
      decisions.append(h("li", { "data-tone": tone }, h("span", { className: "tag" }, spelled)));
    }
    for (const { kind, tone, text: said } of step.notes) {
      decisions.append(h("li", { "data-tone": tone }, h("span", { className: "tag" }, kind), said === "" ? undefined : h("span", {}, said)));
    }
    if (decisions.childElementCount > 0) body.append(decisions);
    const item = h("li", { className: "step", "data-kind": step.kind, "data-fresh": String(fresh.has(step)) }, h("span", { className: "step-time" }, `${Math.round(step.t).toLocaleString("en")} ms`), h("span", { className: "arrow", title: words, role: "img", "aria-label": words }, arrow), body);
    if (fresh.has(step)) body.prepend(h("span", { className: "tag fresh" }, "differs"));
    if (step.line !== undefined) {
      const edit = h("button", { type: "button", className: "quiet edit", "aria-label": `Edit the line at ${step.t} ms`, onclick: () => editLine(step, body, edit) }, "Edit");
      item.append(edit);
    }
    return item;
  }

  function editLine(step: Step, body: HTMLElement, button: HTMLButtonElement): void {
    button.hidden = true;
    const area = h("textarea", { value: step.text, rows: 4, spellcheck: false, "aria-label": "The line, to be edited" });
    const close = (): void => {
      form.remove();
      button.hidden = false;
      button.focus();
    };
    const form = h(
      "form",
      {
        className: "edit-line",
        onsubmit: (event: Event) => {
          event.preventDefault();
          runWith(step, area.value.replaceAll("\n", " "));
        },
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === "Escape") close();
        },
      },
      area,
      h("button", { type: "submit", className: "primary" }, "Run with this line"),
      h("button", { type: "button", onclick: close }, "Leave it"),
    );
    body.append(form);
    area.focus();
  }

  /** The run as a script without a server, one line of it changed. */
  function runWith(step: Step, text: string): void {
    if (output === undefined || step.line === undefined) return;
    const lines = output.transcript.split("\n");
    lines[step.line] = `@${step.t} ${text === "" || text !== text.trim() ? `raw ${JSON.stringify(text)}` : `< ${text}`}`;
    source.select.value = TRANSCRIPT;
    describe();
    script.text = lines.join("\n");
    again();
  }

  function asTranscript(): void {
    if (output === undefined) return;
    source.select.value = TRANSCRIPT;
    describe();
    script.text = output.transcript;
    again();
  }

  function showAt(): void {
    const t = times[Number(slider.value)] ?? 0;
    const steps = output?.steps ?? [];
    for (const [index, item] of [...timeline.children].entries()) {
      (item as HTMLElement).hidden = (steps[index]?.t ?? 0) > t;
    }
    const last = steps.findLast((step) => step.t <= t);
    clock.textContent = `${Math.round(t).toLocaleString("en")} ms`;
    slider.setAttribute("aria-valuetext", `${Math.round(t)} milliseconds`);
    phase.textContent = last?.state ?? "idle";
    phase.dataset["state"] = phase.textContent;
    due.textContent = last?.deadline === undefined ? "No deadline is set." : `Next deadline at ${Math.round(last.deadline).toLocaleString("en")} ms, in ${milliseconds(last.deadline - t)}.`;
    deadline.disabled = last?.deadline === undefined || Number(slider.value) === times.length - 1;
    const open = last?.pending ?? [];
    pending.replaceChildren(
      ...(open.length === 0
        ? [h("li", { className: "empty" }, "None.")]
        : open.map(({ id, method, since }) => h("li", {}, h("code", {}, `${id} ${method}`), ` for ${milliseconds(t - since)}`))),
    );
  }

  function toDeadline(): void {
    const now = times[Number(slider.value)] ?? 0;
    const wanted = output?.steps.findLast((step) => step.t <= now)?.deadline;
    if (wanted === undefined) return;
    const at = times.findIndex((t) => t >= wanted);
    slider.value = String(at < 0 ? times.length - 1 : at);
    showAt();
  }

  script.text = serverChoices[0]?.script ?? "";
  describe();

  return {
    element,
    state: () => ({ source: source.select.value, script: script.text, ...settings(), requestTimeoutMs: String(settings().requestTimeoutMs) }),
    restore(state) {
      restoreSelect(source.select, state, "source");
      for (const [name, { select }] of Object.entries({ profile, validation, era, revision })) restoreSelect(select, state, name);
      restoreBox(lenient.box, state, "lenientIds");
      timeout.value = textOf(state, "requestTimeoutMs") ?? timeout.value;
      script.text = textOf(state, "script") ?? script.text;
      describe();
      output = undefined;
      void run();
    },
    report() {
      const steps = (output?.steps ?? []).map((step) => {
        const notes = step.notes.map(({ kind, text }) => `\n      ${kind}: ${text}`).join("");
        return `${Math.round(step.t)} ms ${ARROWS[step.kind][0]} ${step.text}${step.reading === undefined ? "" : `  [${step.reading.kind}${step.reading.reason === undefined ? "" : `: ${step.reading.reason}`}]`}${notes}`;
      });
      return ["### Settings\n", fenced(JSON.stringify(settings(), null, 2)), "### Script\n", fenced(output?.transcript ?? script.text, "text"), "### Timeline\n", fenced(steps.join("\n"), "text")].join("\n");
    },
    shown() {
      if (started) return;
      started = true;
      void run();
    },
  };
}
