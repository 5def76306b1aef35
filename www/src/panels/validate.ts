/** The Validate panel. Invariant: an outcome on show belongs to the texts as they are, or is marked stale. */

import { Cancelled, Core } from "../core/client.js";
import type { Place } from "../core/locate.js";
import type { Dialect, FitInput, FitOutput, Judgement, Keywords, ValidateInput, ValidateOutput } from "../core/protocol.js";
import { choice, h, milliseconds } from "../dom.js";
import { type Editor, type Mark, editor, titled } from "../editor.js";
import { type Panel, fenced, restoreSelect, textOf } from "../panel.js";
import { examples } from "./examples.js";

/** Milliseconds of silence before judging; longer for texts that take longer to hand over. */
const PAUSE_MS = 120;
const PAUSE_LARGE_MS = 400;
/** Characters from which on a value is large: it is not made to fit as one types. */
const LARGE = 262_144;
/** Milliseconds after which judging is shown to be under way. */
const SLOW_MS = 400;

const DIALECTS: Dialect[] = ["2020-12", "2019-09", "draft-07", "draft-06", "draft-04"];

const WORDS = {
  valid: "The value satisfies the schema.",
  unknown: "The core cannot judge this.",
  unchecked: "Nothing was judged.",
} as const;

function count(number: number, noun: string, truncated = false): string {
  return `${number}${truncated ? " or more" : ""} ${noun}${number === 1 && !truncated ? "" : "s"}`;
}

function sentence(judgement: Judgement): string {
  if (judgement.state === "refused") {
    const at = judgement.at === undefined ? "" : ` At ${judgement.at || "the root"}.`;
    return `${judgement.message}.${at}`.replace("..", ".");
  }
  if (judgement.verdict === "invalid") return `${count(judgement.errors.length, "violation", judgement.truncated)}.`;
  const reason = judgement.reason === undefined ? "" : ` Reason: ${judgement.reason}.`;
  return WORDS[judgement.verdict] + reason;
}

const verdictOf = (judgement: Judgement): string => (judgement.state === "refused" ? "refused" : judgement.verdict);

function timeOf(judgement: Judgement): string {
  if (judgement.state === "refused") return "";
  return `compiled in ${milliseconds(judgement.compileMs)}, judged in ${milliseconds(judgement.judgeMs)}`;
}

export function validatePanel(changed: () => void): Panel {
  const core = new Core();
  let judging: AbortController | undefined;
  let fitting: AbortController | undefined;
  let outcome: ValidateOutput | undefined;
  let fitted: FitOutput | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let slow: ReturnType<typeof setTimeout> | undefined;
  let fitText: string | undefined;

  const edited = (): void => {
    changed();
    soon();
  };
  const schema = editor({ label: "Schema", text: "", changed: edited });
  const value = editor({ label: "Value", text: "", changed: edited });
  const example = choice("Example", [["", "choose …"], ...examples.map(({ name }, index) => [String(index), name] as const)], "", () => useExample());
  const dialect = choice("Default dialect", DIALECTS, "2020-12", edited);
  const keywords = choice("Keywords", ["full", "structural"], "full", () => {
    changed();
    show();
  });
  const formats = choice("Formats", [["annotate", "annotate"], ["assert", "assert"]], "annotate", edited);
  const mode = choice("Make it fit", [["cast", "cast"], ["cast-0.34", "cast as TypeBox 0.34"], ["defaults", "defaults alone"]], "cast", () => {
    changed();
    void fit(true);
  });

  const cancel = h("button", { type: "button", className: "cancel", onclick: () => stop("Cancelled.") }, "Cancel");
  const verdict = h("strong", { id: "verdict" }, "loading");
  const summary = h("span", { id: "summary" }, "Fetching the core.");
  const time = h("span", { className: "time", id: "time" });
  const banner = h("div", { className: "banner", id: "answer", role: "status", "data-verdict": "loading" }, h("div", {}, verdict, " ", summary), h("div", { className: "banner-side" }, cancel, time));
  const twins = h("div", { className: "twins", id: "twins" });
  const errors = h("ol", { className: "findings", id: "errors", "aria-label": "Violations" });
  const problems = h("ol", { className: "findings", id: "problems", "aria-label": "Problems of the schema" });
  const noErrors = h("p", { className: "empty" });
  const noProblems = h("p", { className: "empty" });
  const fitOutcome = h("div", { id: "fit" });
  const take = h("button", { type: "button", disabled: true, onclick: () => takeFitted() }, "Use as the value");
  const anyway = h("button", { type: "button", hidden: true, onclick: () => void fit(true) }, "Make it fit");

  const element = h(
    "div",
    { className: "panel" },
    h("div", { className: "toolbar" }, example.element, dialect.element, keywords.element, formats.element),
    h("div", { className: "pair" }, titled("Schema", schema), titled("Value", value)),
    banner,
    twins,
    h(
      "div",
      { className: "pair" },
      h("section", { className: "card" }, h("h3", {}, "Violations"), noErrors, errors),
      h("section", { className: "card" }, h("h3", {}, "Lint of the schema"), noProblems, problems),
    ),
    h("section", { className: "card" }, h("div", { className: "card-head" }, h("h3", {}, "Made to fit"), mode.element, anyway, take), fitOutcome),
  );

  function useExample(): void {
    const chosen = examples[Number(example.select.value)];
    if (example.select.value === "" || chosen === undefined) return;
    schema.text = typeof chosen.schema === "string" ? chosen.schema : `${JSON.stringify(chosen.schema, null, 2)}\n`;
    value.text = chosen.value;
    dialect.select.value = chosen.dialect ?? "2020-12";
    formats.select.value = chosen.formats ?? "annotate";
    changed();
    void judge();
  }

  /** What is on show is of older texts from now on. */
  function soon(): void {
    banner.dataset["pending"] = "";
    clearTimeout(timer);
    stopJudging();
    timer = setTimeout(() => void judge(), value.length > LARGE ? PAUSE_LARGE_MS : PAUSE_MS);
  }

  function stopJudging(): void {
    judging?.abort();
    fitting?.abort();
    clearTimeout(slow);
    banner.classList.remove("busy");
  }

  function stop(why: string): void {
    clearTimeout(timer);
    stopJudging();
    delete banner.dataset["pending"];
    say("cancelled", why, "");
    outcome = undefined;
  }

  function say(name: string, words: string, timing: string): void {
    banner.dataset["verdict"] = name;
    verdict.textContent = name;
    summary.textContent = words;
    time.textContent = timing;
  }

  async function input(signal: AbortSignal): Promise<ValidateInput> {
    return {
      schema: await schema.bytes(signal),
      value: await value.bytes(signal),
      dialect: dialect.select.value as Dialect,
      formats: formats.select.value as "annotate" | "assert",
    };
  }

  async function judge(): Promise<void> {
    clearTimeout(timer);
    stopJudging();
    const controller = (judging = new AbortController());
    banner.dataset["pending"] = "";
    try {
      const asking = await input(controller.signal);
      slow = setTimeout(() => {
        banner.classList.add("busy");
        say("judging", "The core is at work; the page is not.", "");
      }, SLOW_MS);
      outcome = await core.ask("validate", asking, controller.signal);
      if (controller.signal.aborted) return;
      clearTimeout(slow);
      banner.classList.remove("busy");
      show();
      await fit(false);
    } catch (error) {
      if (error instanceof Cancelled || controller.signal.aborted) return;
      clearTimeout(slow);
      banner.classList.remove("busy");
      delete banner.dataset["pending"];
      say("failed", (error as Error).message, "");
    }
  }

  function show(): void {
    if (outcome === undefined) return;
    const judgement = outcome[keywords.select.value as Keywords];
    delete banner.dataset["pending"];
    say(verdictOf(judgement), sentence(judgement), timeOf(judgement));
    twins.replaceChildren(twin("full", outcome.full), twin("structural", outcome.structural));
    showErrors(judgement);
    showProblems(judgement);
  }

  function twin(name: Keywords, judgement: Judgement): HTMLElement {
    const chosen = keywords.select.value === name;
    return h(
      "div",
      { className: "twin", "data-verdict": verdictOf(judgement), "data-chosen": String(chosen) },
      h("span", { className: "twin-name" }, name),
      h("strong", {}, verdictOf(judgement)),
      h("span", { className: "twin-words" }, sentence(judgement)),
    );
  }

  function link(label: string, target: Editor, place: Place | undefined, where: string): HTMLElement {
    if (place === undefined) return h("code", { className: "where" }, where || "(root)");
    return h("button", { type: "button", className: "where", "aria-label": `${label}: ${where || "root"}`, onclick: () => target.reveal(place.from, place.to) }, where || "(root)");
  }

  function showErrors(judgement: Judgement): void {
    const found = judgement.state === "judged" ? judgement.errors : [];
    const valueMarks: Mark[] = [];
    const schemaMarks: Mark[] = [];
    for (const { value: inValue, schema: inSchema, message, keyword } of found) {
      if (inValue) valueMarks.push({ ...inValue, tone: "invalid", message });
      if (inSchema) schemaMarks.push({ ...inSchema, tone: "note", message: `${keyword} is not satisfied by the value` });
    }
    const odd = judgement.state === "judged" ? judgement.problems : [];
    for (const { place, message } of odd) if (place) schemaMarks.push({ ...place, tone: "unknown", message });
    if (judgement.state === "refused" && judgement.place) {
      schemaMarks.push({ ...judgement.place, tone: "invalid", message: judgement.message });
    }
    value.mark(valueMarks);
    schema.mark(schemaMarks);
    errors.replaceChildren(
      ...found.map((error) =>
        h(
          "li",
          {},
          h("div", { className: "finding" }, link("Show in the value", value, error.value, error.instancePath), h("span", {}, error.message)),
          h("div", { className: "finding-schema" }, h("code", {}, error.keyword), " in ", link("Show in the schema", schema, error.schema, error.schemaPath)),
        ),
      ),
    );
    noErrors.textContent =
      judgement.state === "refused" ? "The schema does not compile." : found.length === 0 ? "None." : "";
    noErrors.hidden = noErrors.textContent === "";
  }

  function showProblems(judgement: Judgement): void {
    const found: { at: string; message: string; code: string; place: Place | undefined }[] =
      judgement.state === "refused"
        ? [{ at: judgement.at ?? "", message: judgement.message, code: judgement.reason ?? judgement.code, place: judgement.place }]
        : judgement.problems;
    problems.replaceChildren(
      ...found.map(({ at, message, code, place }) =>
        h("li", {}, h("div", { className: "finding" }, link("Show in the schema", schema, place, at), h("span", {}, message)), h("div", { className: "finding-schema" }, h("code", {}, code))),
      ),
    );
    noProblems.textContent = found.length === 0 ? "Nothing odd." : "";
    noProblems.hidden = found.length > 0;
  }

  async function fit(asked: boolean): Promise<void> {
    fitting?.abort();
    fitted = undefined;
    fitText = undefined;
    take.disabled = true;
    const large = value.length > LARGE && !asked;
    anyway.hidden = !large;
    if (large) {
      fitOutcome.replaceChildren(h("p", { className: "empty" }, "The value is large: ask, and it is made to fit."));
      return;
    }
    const controller = (fitting = new AbortController());
    try {
      const asking = { ...(await input(controller.signal)), mode: mode.select.value as FitInput["mode"] };
      fitted = await core.ask("fit", asking, controller.signal);
      if (!controller.signal.aborted) showFitted();
    } catch (error) {
      if (error instanceof Cancelled || controller.signal.aborted) return;
      fitOutcome.replaceChildren(h("p", { className: "empty" }, (error as Error).message));
    }
  }

  function showFitted(): void {
    if (fitted === undefined) return;
    if (fitted.state === "refused") {
      fitOutcome.replaceChildren(h("p", { className: "empty" }, fitted.message));
      return;
    }
    const { changes, same, ms } = fitted;
    fitText = fitted.text;
    take.disabled = same;
    const list = h(
      "ul",
      { className: "changes" },
      ...changes.slice(0, 200).map(({ path, kind }) => h("li", { "data-kind": kind }, h("span", { className: "tag" }, kind), h("code", {}, path || "(root)"))),
    );
    const text = fitted.text.length > 4_000 ? `${fitted.text.slice(0, 4_000)}\n…` : fitted.text;
    fitOutcome.replaceChildren(
      h("p", { className: "empty" }, same ? `Nothing to change; it is the very value that was given. (${milliseconds(ms)})` : `${count(changes.length, "change")} in ${milliseconds(ms)}.`),
      h("div", { className: "pair" }, list, h("pre", { tabIndex: 0, "aria-label": "The value as made to fit" }, text)),
    );
  }

  function takeFitted(): void {
    if (fitText === undefined) return;
    value.text = `${fitText}\n`;
    changed();
    void judge();
  }

  example.select.value = "0";
  useExample();

  return {
    element,
    state: () => ({
      schema: schema.text,
      value: value.text,
      dialect: dialect.select.value,
      keywords: keywords.select.value,
      formats: formats.select.value,
      mode: mode.select.value,
    }),
    restore(state) {
      schema.text = textOf(state, "schema") ?? schema.text;
      value.text = textOf(state, "value") ?? value.text;
      example.select.value = "";
      for (const [name, { select }] of Object.entries({ dialect, keywords, formats, mode })) restoreSelect(select, state, name);
      void judge();
    },
    report() {
      const lines = ["### Schema\n", fenced(schema.text), "### Value\n", fenced(value.text), "### Outcome\n"];
      lines.push(`- dialect without \`$schema\`: ${dialect.select.value}; formats: ${formats.select.value}`);
      for (const name of ["full", "structural"] as const) {
        const judgement = outcome?.[name];
        if (judgement === undefined) continue;
        lines.push(`- keywords ${name}: **${verdictOf(judgement)}**. ${sentence(judgement)}`);
        if (judgement.state !== "judged") continue;
        for (const { instancePath, schemaPath, message } of judgement.errors) {
          lines.push(`  - \`${instancePath || "(root)"}\` ${message} (\`${schemaPath}\`)`);
        }
      }
      return lines.join("\n");
    },
    shown: () => undefined,
  };
}
