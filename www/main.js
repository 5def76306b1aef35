/**
 * The page: two texts go to the core, its verdict comes back. Invariant: what is shown belongs to
 * the texts as they are now or is marked as pending; an answer to older texts is dropped.
 */

import { compileSchemaAsync, coreInfo, init } from "../pkg/esm/entry/slim.js";
import { examples } from "./examples.js";

const element = (id) => document.getElementById(id);

/** Shows one verdict: its name, a sentence, and the violations or problems behind it. */
function show(verdict, summary, { errors = [], problems = [] } = {}) {
  element("answer").dataset.verdict = verdict;
  delete element("answer").dataset.pending;
  element("verdict").textContent = verdict;
  element("summary").textContent = summary;
  element("errors").hidden = errors.length === 0;
  const rows = errors.map((error) => {
    const row = document.createElement("tr");
    const cells = [error.instancePath || "(root)", error.keyword, error.message, error.schemaPath];
    for (const text of cells) {
      row.insertCell().textContent = text;
    }
    return row;
  });
  element("errors").tBodies[0].replaceChildren(...rows);
  element("problems").hidden = problems.length === 0;
  element("problems").replaceChildren(
    ...problems.map((problem) => {
      const item = document.createElement("li");
      const at = document.createElement("code");
      at.textContent = problem.at || "(root)";
      item.append(`Schema, ${problem.code}: ${problem.message} at `, at);
      return item;
    }),
  );
}

function sentenceOf(verdict, milliseconds) {
  const time = `Compiled and judged in ${milliseconds.toFixed(1)} ms.`;
  if (verdict.verdict === "valid") return `The value satisfies the schema. ${time}`;
  if (verdict.verdict === "unknown") return `The core cannot judge this: ${verdict.reason}. ${time}`;
  const count = verdict.errors.length;
  const more = verdict.truncated ? " or more" : "";
  return `${count}${more} ${count === 1 && more === "" ? "violation" : "violations"}. ${time}`;
}

let current = new AbortController();

/** Judges the texts as they are; a later call makes this one's answer void. */
async function judge() {
  current.abort();
  current = new AbortController();
  element("answer").dataset.pending = "";
  const { signal } = current;
  const options = { dialect: element("dialect").value, formats: element("formats").value, signal };
  const started = performance.now();
  let schema;
  try {
    schema = await compileSchemaAsync(element("schema").value, options);
    const verdict = await schema.validateJsonAsync(element("value").value, { signal });
    if (signal.aborted) return;
    const sentence = sentenceOf(verdict, performance.now() - started);
    show(verdict.verdict, sentence, { errors: verdict.errors, problems: schema.problems });
  } catch (error) {
    if (signal.aborted) return;
    const at = error.at === undefined ? "" : ` At ${error.at || "the root"}.`;
    show("error", `${error.message}.${at}`.replace("..", "."));
  } finally {
    schema?.free();
  }
}

function useExample() {
  const example = examples[element("example").selectedIndex];
  element("schema").value = example.schema;
  element("value").value = example.value;
}

async function start() {
  element("example").replaceChildren(...examples.map(({ name }) => new Option(name)));
  useExample();
  try {
    await init(new URL("../pkg/toolwire.wasm", import.meta.url));
  } catch (error) {
    show("error", `The core could not be loaded: ${error.message}`);
    return;
  }
  const { version, dialects, unicode } = coreInfo();
  element("core").textContent = `toolwire ${version}, Unicode ${unicode}`;
  element("dialect").replaceChildren(...dialects.map((name) => new Option(name)));
  for (const id of ["schema", "value"]) element(id).addEventListener("input", judge);
  for (const id of ["dialect", "formats"]) element(id).addEventListener("change", judge);
  element("example").addEventListener("change", () => {
    useExample();
    judge();
  });
  await judge();
}

start();
