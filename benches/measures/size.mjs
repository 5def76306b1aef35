// What the WebAssembly file weighs.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fileOf } from "../support/packages.mjs";
import { table } from "../support/report.mjs";

function run() {
  const bytes = readFileSync(fileOf("pkg/toolwire.wasm"));
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotli.length };
}

function report({ toolwire }) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} KB`;
  return table(
    ["toolwire.wasm", "gzip -9", "brotli 11"],
    [[kilobytes(toolwire.raw), kilobytes(toolwire.gzip), kilobytes(toolwire.brotli)]],
  );
}

function targets({ toolwire }) {
  return [
    { what: "toolwire.wasm", value: toolwire.raw / 1000, most: 340, unit: "KB" },
    { what: "toolwire.wasm, brotli", value: toolwire.brotli / 1000, most: 120, unit: "KB" },
  ];
}

const title = "Size";
const engines = ["toolwire"];

export { engines, report, run, targets, title };
