// What the WebAssembly file weighs.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fileOf } from "../support/packages.mjs";
import { LABEL, built } from "../support/rival.mjs";
import { table } from "../support/report.mjs";

const FILES = {
  toolwire: { label: "toolwire.wasm", file: "pkg/toolwire.wasm" },
  ...(built && { jsonschema: { label: LABEL, file: "target/bench/rival/pkg/rival_bg.wasm" } }),
};

function run(engine) {
  const bytes = readFileSync(fileOf(FILES[engine].file));
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length };
}

function report(medians) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  const rows = engines.map((engine) => {
    const { raw, gzip, brotli } = medians[engine];
    return [FILES[engine].label, kilobytes(raw), kilobytes(gzip), kilobytes(brotli)];
  });
  return table(["file", "bytes", "gzip -9", "brotli 11"], rows);
}

function targets({ toolwire }) {
  return [
    { what: "toolwire.wasm", value: toolwire.raw / 1000, most: 340, unit: "KB" },
    { what: "toolwire.wasm, brotli", value: toolwire.brotli / 1000, most: 120, unit: "KB" },
  ];
}

const title = "Size";
const engines = Object.keys(FILES);

export { engines, report, run, targets, title };
